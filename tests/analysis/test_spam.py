"""Flags for spam: what is found, what settles the matter, and what nothing can break."""

import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import walletframe as wf
from walletframe.analysis.spam.reasons import REASONS
from walletframe.errors import (
    AmbiguousTokenError,
    AmountError,
    ColumnsError,
    SettingsError,
    TokenListError,
    UnknownTokenError,
)
from walletframe.pandas_versions import TEXT

USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
ADDED = ["spam_score", "spam_reasons", "is_spam"]


def holdings(*symbols, chain="ETH", contracts=None, raw=None, decimals=18):
    """Return rows of unknown tokens, one for each symbol."""
    count = len(symbols)
    raw = raw or [10**18] * count
    return pd.DataFrame(
        {
            "symbol": pd.Series(symbols, dtype="object"),
            "token_blockchain": pd.array([chain] * count, dtype=TEXT),
            "token_address": contracts or [f"0x{place:040x}" for place in range(1, count + 1)],
            "amount": wf.AmountArray.from_raw(raw, decimals),
            "raw_amount": [str(number) for number in raw],
        }
    )


def reasons(symbol, **options):
    """Return the words for one unknown token."""
    return holdings(symbol, **options).wf.flag_spam()["spam_reasons"].item().split(", ")


def test_columns_are_added_and_nothing_else_changes():
    """The rows, their order, their index and their other columns stay."""
    frame = holdings("USDC.e", "$ usdcgift.com <- Visit to claim").set_axis(["b", "a"])
    before = frame.copy()
    flagged = frame.wf.flag_spam()
    assert frame.equals(before)
    assert flagged.drop(columns=ADDED).equals(before)
    assert flagged[ADDED].dtypes.astype(str).tolist() == ["float64", str(TEXT), "bool"]
    assert flagged["is_spam"].tolist() == [False, True]


@pytest.mark.parametrize(
    "symbol,word",
    [
        ("Visit https://a.example now", "link"),
        ("www.2base.cfd", "link"),
        ("ARB | t.me/s/CLAIMARB", "link"),
        ("UniswapLP.com", "domain"),
        ("getether .net", "domain"),
        ("DAONEXT. COM", "domain"),
        ("usdc[.]com", "domain"),
        ("USD-SWAP\u02f3COM", "domain"),
        ("trumped.ai", "dotted_name"),
        ("HuobiAirdrop", "claim"),
        ("! 5000 USDT", "prize"),
        ("Randomly You Won", "claim"),
        ("You Won $53,250", "prize"),
        ("5000\uff04Reward", "prize"),
        ("beefy.finance", "domain"),
        ("wPGX.app", "domain"),
        ("some.world", "domain"),
        ("some.cash", "domain"),
        ("some.exchange", "domain"),
        ("a1.b2.fun", "domain"),
        ("USD\u0325com", "domain"),
        ("Visit usdcgift.c\u2026", "domain"),
        ("10USD kshield io refID", "domain"),
        ("10USD www kshield refID", "link"),
        ("Telegram @Somebody_bot", "link"),
        ("Randomly chosen wal\u2026", "cut_off"),
        ("! ACX", "foremost"),
        ("0x69D732F50e248D4B825d524fEDEB0D7Ce3d76352", "address"),
        ("\u514d\u8d39 X", "claim"),
        ("Rewards Pass", "phrase"),
        ("<script>alert(1)</script>", "markup"),
        ('=HYPERLINK("x","y")', "markup"),
        ("US\u200bDC", "hidden"),
        ("\u0421LAIM", "lookalike"),
        ("\uff35\uff33\uff24\uff23", "lookalike"),
        ("x" * 101, "long_text"),
    ],
)
def test_symbols_give_reasons(symbol, word):
    """Each kind of bait has its word."""
    assert word in reasons(symbol)


ODD = """
    fomo3d.fun COMP 1INCH 1ETH 99BTC B-50USDC-50WETH /WETH $WIF G$ CVX USD+
    xSUSHI aUSDC UNI-V2 USD\u20ae0 USDC.e BTC.b stETH $MYRO CLAIM
    gm.ai D.O.G.E USDC.axl yDAI+yUSDC+yUSDT+yTUSD PT-weETH-27JUN2024 SUSHI.multichain \u03b1ETH
    HarryPotterObamaSonic10Inu \u0394BTC \u20bfTC T\u00dcRK \u6bd4\u7279\u5e01 \u2764\ufe0f
    1\ufe0f\u20e3 MKR\0\0\0 \U0001f468\u200d\U0001f469
"""


@pytest.mark.parametrize("symbol", [*ODD.split(), "Bridged USDC (PoS)", ""])
def test_odd_names_alone_are_no_spam(symbol):
    """A dot, a sign, another script, an emoji or padding flags nothing."""
    assert not holdings(symbol, chain="NOWHERE").wf.flag_spam()["is_spam"].item()


@pytest.mark.parametrize("symbol", ["HuobiAirdrop", "ARBCLAIM", "stETH-Reward", "SPAM-TOKEN"])
def test_a_word_of_bait_beside_anything_else_is_enough(symbol):
    """Real symbols have none but alone: CLAIM and BONUS are tokens."""
    assert reasons(symbol) == ["claim", "phrase"]
    assert holdings(symbol).wf.flag_spam()["is_spam"].item()


@pytest.mark.parametrize("symbol", ["Buy Polydoge", "Try Mushrooms Finance", "$ Earn more TON"])
def test_a_command_is_bait(symbol):
    """A symbol that begins with a verb, and says of what."""
    assert {"claim", "phrase"} <= set(reasons(symbol))


@pytest.mark.parametrize("symbol", ["BUY", "EARN", "TryHards", "DISCLAIMER", "proclaim"])
def test_words_that_only_resemble_bait_are_none(symbol):
    """One word is no command, and a claim is not what is disclaimed."""
    assert "claim" not in reasons(symbol)


def test_a_domain_ends_where_its_name_goes_on():
    """A street is no domain; a common ending is one even before a hyphen."""
    assert "domain" not in reasons("REALTOKEN-S-128-E.WEBER-ST-TOLEDO-OH")
    assert "domain" in reasons("some.com-USDT")


@pytest.mark.parametrize("symbol", ["USDC", "usdc", "$USDC", "(USDC)", "USDC \u2705", "U S D C"])
def test_another_contract_under_a_known_symbol_is_an_imitation(symbol):
    """On the same blockchain, whatever the case and the decoration; elsewhere it is borrowed."""
    assert "impersonation" in reasons(symbol)
    assert {"borrowed", "impersonation"} & set(reasons(symbol, chain="NOWHERE")) == {"borrowed"}


@pytest.mark.parametrize(
    "symbol", ["USD\u0421", "L1NK", "LlNK", "\u00dcSDC", "U S D C", "U$DT", "USD\u20ae"]
)
def test_a_disguised_symbol_is_told(symbol):
    """Letters of another script, twins in ASCII, accents, spaces, and signs for letters."""
    assert {"impersonation", "lookalike"} <= set(reasons(symbol))


@pytest.mark.parametrize(
    "blockchain,contract,symbol",
    [
        ("BSC", "0x4db5a66e937a9f4473fa95b1caf1d1e1d62e29ea", "ETH"),
        ("POLYGON", "0x11cd37bb86f65419713f30673a480ea33c826872", "WETH"),
        ("POLYGON", "0x5d49c278340655b56609fdf8976eb0612af3a0c3", "WBTC"),
        ("OPTIMISM", "0x9560e827af36c94d2ac33a39bce1fe78631088db", "VELO"),
        ("BSC", "0xf486ad071f3bee968384d2e39e2d8af0fcf6fd46", "VELO"),
        ("BASE", "0x236aa50979d5f3de3bd1eeb40e81137f22ab794b", "tBTC"),
        ("POLYGON", "0x18ec0a6e18e5bc3784fdd3a3634b31245ab704f6", "EURe"),
        ("POLYGON", "0xb0897686c545045afc77cf20ec7a532e3120e0f1", "LINK"),
        ("BSC", "0x3413a030ef81a3dd5a302f4b4d11d911e12ed337", "DAI"),
        ("ETH", "0xd79f43113b22d1ea9f29cfcc7bb287489f8ee5e0", "ZRO"),
    ],
)
def test_bridged_twins_and_namesakes_are_known(blockchain, contract, symbol):
    """Tokens that a bridge gives out under the same symbol, and other projects' of that name."""
    assert reasons(symbol, chain=blockchain, contracts=[contract]) == [""]


def test_the_same_contract_on_another_blockchain_is_the_same_project_s():
    """Nobody else can deploy there; under another symbol it is no known token."""
    usde = "0x5d3a1Ff2b6BAb83b63cd9AD0787074081a52ef34"
    frame = holdings("USDe", chain="METIS", contracts=[usde])
    assert frame.wf.explain_spam("USDe")["reason"].tolist() == ["same_contract"]
    assert reasons("SHIB", chain="METIS", contracts=[usde]) == ["borrowed"]


def test_many_that_borrow_one_symbol_are_a_crowd():
    """Nobody bridges a token three times under contracts that no list has; of many some may."""
    crowd = holdings("SHIB", "SHIB", "$SHIB", "BONK", chain="GNOSIS").wf.flag_spam()
    assert crowd["is_spam"].tolist() == [True, True, True, False]
    assert not holdings("SHIB", "SHIB", chain="GNOSIS").wf.flag_spam()["is_spam"].any()
    others = [f"T{place}" for place in range(2000)]
    by_chance = holdings(*["SHIB"] * 3, *others, chain="GNOSIS").wf.flag_spam()
    assert not by_chance["is_spam"].any()


def priced(*symbols, prices, **options):
    """Return the flags of rows with the service's prices."""
    return holdings(*symbols, **options).assign(price=prices).wf.flag_spam()


def test_a_price_speaks_for_a_token():
    """It clears a twin, and is named; the weight is negative."""
    frame = holdings("USDC", "USDC").assign(price=[1.0, None])
    assert frame.wf.flag_spam()["is_spam"].tolist() == [False, True]
    told = frame.wf.explain_spam(("ETH", f"0x{1:040x}"))
    assert told["reason"].tolist() == ["impersonation", "priced"]
    assert told["weight"].tolist() == [0.6, -0.3]
    assert told["spam_score"].tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    "symbol",
    ["www.a.com", "usdcgift.com", "Claim now", "USD\u0421", "US\u200bDC", "<script>x</script>"],
)
def test_a_price_alone_clears_no_bait(symbol):
    """Anybody can make a market for a token: a link, a claim and a disguise stay what they are."""
    flagged = priced(symbol, prices=[5.0])
    assert flagged["is_spam"].item()
    assert "priced" not in flagged["spam_reasons"].item()


def test_no_price_beside_priced_ones_weighs_a_little():
    """Beside another finding only, and where the service has prices on that blockchain."""
    both = priced("CLAIM", "FOO", "BAR", prices=[None, None, 2.0])
    assert both["spam_reasons"].tolist() == ["claim, unpriced", "", ""]
    assert both["is_spam"].tolist() == [True, False, False]
    assert priced("CLAIM", prices=[None])["spam_reasons"].tolist() == ["claim"]
    zero = priced("CLAIM", "BAR", prices=[0.0, 2.0])
    assert zero["spam_reasons"].tolist() == ["claim, unpriced", ""]
    elsewhere = priced("SHIB", "BAR", prices=[None, 2.0], chain="GNOSIS")  # may be a bridge's
    assert elsewhere["spam_score"].tolist() == [0.45, 0.0]


def test_a_coin_s_symbol_is_seldom_a_token_s():
    """No bridge calls anything BTC; other coins' it does, and where none has a price is none."""
    assert reasons("BTC") == ["impersonation"]
    assert reasons("SOL", chain="BASE") == reasons("DOGE") == ["coin"]
    flagged = priced("DOGE", "DOGE", "BAR", prices=[None, 0.1, 2.0])
    assert flagged["is_spam"].tolist() == [True, False, False]
    assert reasons("BTC", chain="METIS") == reasons("SOL", chain="METIS") == ["borrowed"]


@pytest.mark.parametrize(
    "symbol,chain",
    [("USDC", "MOONBEAM"), ("WBTC", "MOONBEAM"), ("SOL", "ARBITRUM"), ("WETH", "AVAX_CCHAIN")],
)
def test_one_bridge_says_nothing_of_another(symbol, chain):
    """Where the list has some bridge's token only, another contract is no imitation of it."""
    assert reasons(symbol, chain=chain)[0] in ("borrowed", "coin")
    assert not holdings(symbol, chain=chain).wf.flag_spam()["is_spam"].item()


def test_a_bridge_copies_a_symbol_as_it_is():
    """An EVM token with a known symbol as a word is somebody else's; elsewhere anybody's joke."""
    assert reasons("Ethfi", chain="BASE") == ["borrowed", "recased"]
    assert reasons("ETHFI", chain="BASE") == reasons("ethfi", chain="BASE") == ["borrowed"]
    assert reasons("Ethfi", chain="SOLANA", contracts=["So1"]) == ["borrowed"]


def test_twins_are_not_stretched():
    """L is not I: DAL is not DAI, nor IDO LDO; a share of a pool with WETH is not WETH."""
    assert reasons("/WETH") == [""]
    assert reasons("IDO") == reasons("DAL", chain="BSC") == [""]


def test_a_token_that_bears_the_native_coin_s_symbol_is_an_imitation():
    """But for the contracts that stand for the coin itself."""
    assert reasons("ETH", chain="BASE") == ["impersonation"]
    stands_for_it = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
    assert reasons("ETH", chain="BASE", contracts=[stands_for_it]) == [""]


@pytest.mark.parametrize("contract", [USDC, USDC.lower(), None])
def test_known_contracts_and_native_coins_are_never_flagged(contract):
    """Whatever their symbol says."""
    frame = holdings("Visit https://a.example", contracts=[contract], raw=[2**256 - 1])
    assert frame.wf.flag_spam()[ADDED].iloc[0].tolist() == [0.0, "", False]


def test_absurd_balances_flag_a_token_wherever_it_is_held():
    """One wallet's 2**256-1 speaks against all rows of the token; equal symbols don't share it."""
    frame = holdings("A", "A", "A", contracts=["0x1", "0X1", "0x2"], raw=[2**256 - 1, 1, 1])
    assert frame.wf.flag_spam()["is_spam"].tolist() == [True, True, False]


def test_absurd_balances_are_seen_without_decimals():
    """Where the amount is NA the base units are counted."""
    frame = holdings("A", "B", raw=[2**256 - 1, 10**30], decimals=[None, None])
    assert frame["amount"].isna().all()
    assert frame.wf.flag_spam()["spam_reasons"].tolist() == ["absurd_balance", ""]


def test_supply_is_what_the_wallets_hold_together():
    """A quadrillion in two halves is extreme, and no reason to flag a token alone."""
    half = 5 * 10**14 * 10**18
    frame = holdings("A", "A", "B", contracts=["0x1", "0x1", "0x2"], raw=[half, half, half])
    flagged = frame.wf.flag_spam()
    assert flagged["spam_reasons"].tolist() == ["extreme_supply", "extreme_supply", ""]
    assert not flagged["is_spam"].any()


def test_scores_are_sums_and_end_at_one():
    """The weights of the reasons are added."""
    scores = holdings("CLAIM", "Claim now", "Visit https://a.com to claim").wf.flag_spam()
    assert scores["spam_score"].tolist() == [REASONS["claim"][0], 0.5, 1.0]


def test_the_threshold_decides():
    """From the score on; a threshold that no score can meet is refused."""
    frame = holdings("CLAIM")
    assert frame.wf.flag_spam(threshold=0.3)["is_spam"].item()
    for wrong in (0, -1, 1.01, float("nan")):
        with pytest.raises(SettingsError, match="threshold"):
            frame.wf.flag_spam(threshold=wrong)


def test_allowed_and_denied_tokens_are_settled():
    """Whatever else speaks for or against them; contracts are compared without case."""
    frame = holdings("Visit https://a.com", "FOO", "USDC", contracts=["0xAB", "0xCD", USDC])
    flagged = frame.wf.flag_spam(allow=[("eth", "0xab")], deny=[("ETH", "0XCD"), ("ETH", USDC)])
    assert flagged["is_spam"].tolist() == [False, True, True]
    assert flagged["spam_reasons"].tolist() == ["", "deny_list", "deny_list"]


def test_what_was_flagged_can_be_denied_or_allowed_later():
    """A frame of flagged rows is a list."""
    frame = holdings("www.a.com", "FOO")
    spam = frame.wf.flag_spam().query("is_spam")
    assert not frame.wf.flag_spam(allow=spam)["is_spam"].any()
    renamed = frame.assign(symbol="X")
    assert renamed.wf.flag_spam(deny=spam)["is_spam"].tolist() == [True, False]


def test_symbols_of_an_allowed_list_are_protected():
    """Another contract that bears one of them is an imitation."""
    entry = {"chainId": 1, "address": "0xAB", "symbol": "FOO", "decimals": 18, "name": "Foo"}
    frame = holdings("FOO", "F\u041eO", contracts=["0xab", "0xcd"])
    flagged = frame.wf.flag_spam(allow={"name": "Mine", "tokens": [entry]})
    assert flagged["spam_reasons"].tolist() == ["", "lookalike, impersonation"]


def test_a_token_on_both_lists_is_an_error():
    """Neither wins in silence."""
    with pytest.raises(TokenListError, match=r"'0xab'.*allow and as deny"):
        holdings("A").wf.flag_spam(allow=[("ETH", "0xAB")], deny=[("eth", "0xab")])


def test_spam_is_dropped_only_when_asked():
    """The rows that are left have the columns they had, and their index."""
    frame = holdings("FOO", "www.a.com", "BAR")
    left = frame.wf.without_spam()  # warnings are errors here, and this one never is
    assert left.equals(frame.iloc[[0, 2]])
    assert len(frame.wf.without_spam(allow=[("ETH", f"0x{2:040x}")])) == 3


@pytest.mark.filterwarnings("always::walletframe.errors.SpamWarning")
def test_it_is_said_what_was_left_out():
    """Once, at the caller's line; nothing where nothing was."""
    frame = holdings("www.a.com", "www.a.com", "BAR", contracts=["0x1", "0X1", "0x2"])
    with pytest.warns(wf.errors.SpamWarning, match=r"^2 rows of 1 token .* left out") as caught:
        frame.wf.without_spam()
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings(record=True) as caught:
        frame.tail(1).wf.without_spam()
    assert not caught


def test_explanations_say_it_in_words():
    """Each reason of a token has its weight and a text that names what was found."""
    frame = holdings("USD\u0421", "www.a.com", "FOO")
    told = frame.wf.explain_spam()
    assert told.columns.tolist()[3:] == ["spam_score", "is_spam", "reason", "weight", "text"]
    assert told["reason"].tolist() == ["lookalike", "impersonation", "link", "domain"]
    assert USDC.lower() in told["text"][1]
    assert "www[.]a.com" in told["text"][2]
    sums = told.groupby("token_address")["weight"].sum().clip(upper=1)
    flagged = frame.wf.flag_spam().set_index("token_address")["spam_score"]
    assert sums.equals(flagged[sums.index].rename("weight"))


def test_explanations_begin_with_what_is_flagged():
    """The highest score first; the others only where they are asked for."""
    frame = holdings("CLAIM", "some.com", "USDC", "FOO", "www.a.com")
    told = frame.wf.explain_spam()
    assert told["symbol"].unique().tolist() == ["www.a.com", "USDC", "some.com"]
    assert told["is_spam"].all()
    whole = frame.wf.explain_spam(everything=True)
    assert whole.iloc[: len(told)].equals(told)
    assert whole["symbol"].tolist()[len(told) :] == ["CLAIM"]
    assert not whole["is_spam"].tolist()[-1]
    assert frame.wf.explain_spam(threshold=0.3)["symbol"].tolist()[-1] == "CLAIM"
    with pytest.raises(SettingsError, match="threshold"):
        frame.wf.explain_spam(threshold=0)


def test_one_token_is_explained():
    """By its contract or its symbol; what speaks for it weighs nothing."""
    frame = holdings("USDC", "FOO", "FOO", contracts=[USDC, "0x1", "0x2"])
    assert frame.wf.explain_spam("USDC")["reason"].tolist() == ["known_token"]
    assert frame.wf.explain_spam("USDC")["weight"].tolist() == [0]
    assert frame.wf.explain_spam(("ETH", "0x1"), deny=[("ETH", "0x1")])["weight"].item() == 1
    assert frame.wf.explain_spam(("ETH", "0x1")).empty
    with pytest.raises(AmbiguousTokenError):
        frame.wf.explain_spam("FOO")
    with pytest.raises(UnknownTokenError):
        frame.wf.explain_spam("BAR")


def test_explanations_are_harmless():
    """What strangers wrote is quoted on one line, without what is not seen."""
    symbol = "https://a\u202eb\x1b[31m\n" + "x" * 1000
    texts = holdings(symbol).wf.explain_spam()["text"]
    assert texts.str.len().max() < 150
    assert not texts.str.contains("[\u202e\x1b\n]").any()


def test_no_rows_are_no_error():
    """The columns are there all the same."""
    flagged = holdings("A").head(0).wf.flag_spam()
    assert flagged[ADDED].dtypes.astype(str).tolist() == ["float64", str(TEXT), "bool"]
    assert holdings("A").head(0).wf.explain_spam().empty


def test_missing_and_mistyped_columns_are_named():
    """As for every method of a frame."""
    with pytest.raises(ColumnsError, match="'raw_amount'"):
        holdings("A").drop(columns="raw_amount").wf.flag_spam()
    with pytest.raises(AmountError, match="astype"):
        holdings("A").assign(amount=1.5).wf.flag_spam()


def test_huge_and_broken_symbols_are_read():
    """Ten megabytes, a lone surrogate, none, and a number."""
    frame = holdings("www." + "x" * 10_000_000, "\ud800 claim now", None, 5)
    flagged = frame.wf.flag_spam()
    assert flagged["is_spam"].tolist() == [True, True, False, False]
    assert len(frame.wf.explain_spam()) == 4


@given(st.lists(st.text(st.characters()) | st.none(), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_no_symbol_breaks_anything(symbols):
    """Scores lie between 0 and 1, agree with the words, and don't depend on the other rows."""
    frame = holdings(*symbols)
    flagged = frame.wf.flag_spam()
    assert flagged["spam_score"].between(0, 1).all()
    assert ((flagged["spam_score"] > 0) == (flagged["spam_reasons"] != "")).all()
    assert {word for row in flagged["spam_reasons"] for word in row.split(", ")} <= {"", *REASONS}
    for place in range(len(frame)):
        alone = frame.iloc[[place]].wf.flag_spam()
        assert alone[ADDED].equals(flagged.iloc[[place]][ADDED])


def test_the_sandbox_holds_what_is_found(service):
    """Of its real tokens, which alone have prices, none is flagged; of the others most are."""
    wallets = [f"ETH.0x{number:040x}" for number in range(60)]
    with service.client(cache=False) as client:
        held = wf.fetch_wallets(wallets, client=client, on_failure="ignore").holdings
    flagged = held.wf.flag_spam()["is_spam"]
    assert not flagged[held["price"].notna()].any()
    assert flagged[held["price"].isna()].mean() > 0.8
