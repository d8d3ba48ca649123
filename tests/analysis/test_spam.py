"""Spam flags: detection, overrides, and robustness to any text."""

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
    """Each kind of bait has its reason."""
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
    """A dot, a sign, another script, an emoji or padding alone flags nothing."""
    assert not holdings(symbol, chain="NOWHERE").wf.flag_spam()["is_spam"].item()


@pytest.mark.parametrize("symbol", ["HuobiAirdrop", "ARBCLAIM", "stETH-Reward", "SPAM-TOKEN"])
def test_bait_words_flag_longer_symbols(symbol):
    """A real symbol may be one bait word alone: CLAIM and BONUS are tokens."""
    assert reasons(symbol) == ["claim", "phrase"]
    assert holdings(symbol).wf.flag_spam()["is_spam"].item()


@pytest.mark.parametrize("symbol", ["Buy Polydoge", "Try Mushrooms Finance", "$ Earn more TON"])
def test_a_command_is_bait(symbol):
    """A symbol that begins with a verb and an object is bait."""
    assert {"claim", "phrase"} <= set(reasons(symbol))


@pytest.mark.parametrize("symbol", ["BUY", "EARN", "TryHards", "DISCLAIMER", "proclaim"])
def test_words_that_resemble_bait_are_harmless(symbol):
    """One word is no command, and a disclaimer is no claim."""
    assert "claim" not in reasons(symbol)


def test_domains_need_a_boundary():
    """A street is no domain; a common ending is one even before a hyphen."""
    assert "domain" not in reasons("REALTOKEN-S-128-E.WEBER-ST-TOLEDO-OH")
    assert "domain" in reasons("some.com-USDT")


@pytest.mark.parametrize("symbol", ["USDC", "usdc", "$USDC", "(USDC)", "USDC \u2705", "U S D C"])
def test_another_contract_under_a_known_symbol_is_an_imitation(symbol):
    """On the same blockchain, in any case and decoration; elsewhere the symbol is borrowed."""
    assert "impersonation" in reasons(symbol)
    assert {"borrowed", "impersonation"} & set(reasons(symbol, chain="NOWHERE")) == {"borrowed"}


@pytest.mark.parametrize(
    "symbol", ["USD\u0421", "L1NK", "LlNK", "\u00dcSDC", "U S D C", "U$DT", "USD\u20ae"]
)
def test_disguised_symbols_are_detected(symbol):
    """Letters of another script, ASCII lookalikes, accents, spaces, and signs for letters."""
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
def test_bridged_tokens_and_namesakes_are_known(blockchain, contract, symbol):
    """A bridge's token under the same symbol is known, and so are other projects' namesakes."""
    assert reasons(symbol, chain=blockchain, contracts=[contract]) == [""]


def test_one_contract_on_two_blockchains_is_one_project():
    """Nobody else can deploy there; under another symbol it is unknown."""
    usde = "0x5d3a1Ff2b6BAb83b63cd9AD0787074081a52ef34"
    frame = holdings("USDe", chain="METIS", contracts=[usde])
    assert frame.wf.explain_spam("USDe")["reason"].tolist() == ["same_contract"]
    assert reasons("SHIB", chain="METIS", contracts=[usde]) == ["borrowed"]


def test_many_borrowers_of_a_symbol_are_flagged():
    """Three unlisted contracts under one symbol are no bridge's; two may be."""
    crowd = holdings("SHIB", "SHIB", "$SHIB", "BONK", chain="GNOSIS").wf.flag_spam()
    assert crowd["is_spam"].tolist() == [True, True, True, False]
    assert not holdings("SHIB", "SHIB", chain="GNOSIS").wf.flag_spam()["is_spam"].any()
    others = [f"T{place}" for place in range(2000)]
    by_chance = holdings(*["SHIB"] * 3, *others, chain="GNOSIS").wf.flag_spam()
    assert not by_chance["is_spam"].any()


def priced(*symbols, prices, **options):
    """Return the flags of rows with the service's prices."""
    return holdings(*symbols, **options).assign(price=prices).wf.flag_spam()


def test_a_price_clears_a_token():
    """An imitation with a price is cleared; the price has a negative weight."""
    frame = holdings("USDC", "USDC").assign(price=[1.0, None])
    assert frame.wf.flag_spam()["is_spam"].tolist() == [False, True]
    explained = frame.wf.explain_spam(("ETH", f"0x{1:040x}"))
    assert explained["reason"].tolist() == ["impersonation", "priced"]
    assert explained["weight"].tolist() == [0.6, -0.3]
    assert explained["spam_score"].tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    "symbol",
    ["www.a.com", "usdcgift.com", "Claim now", "USD\u0421", "US\u200bDC", "<script>x</script>"],
)
def test_a_price_does_not_clear_bait(symbol):
    """Anybody can make a market: links, claims and disguises stay flagged."""
    flagged = priced(symbol, prices=[5.0])
    assert flagged["is_spam"].item()
    assert "priced" not in flagged["spam_reasons"].item()


def test_a_missing_price_weighs_a_little():
    """It counts beside another finding, if the service has prices on that blockchain."""
    both = priced("CLAIM", "FOO", "BAR", prices=[None, None, 2.0])
    assert both["spam_reasons"].tolist() == ["claim, unpriced", "", ""]
    assert both["is_spam"].tolist() == [True, False, False]
    assert priced("CLAIM", prices=[None])["spam_reasons"].tolist() == ["claim"]
    zero = priced("CLAIM", "BAR", prices=[0.0, 2.0])
    assert zero["spam_reasons"].tolist() == ["claim, unpriced", ""]
    elsewhere = priced("SHIB", "BAR", prices=[None, 2.0], chain="GNOSIS")  # it may be a bridge's
    assert elsewhere["spam_score"].tolist() == [0.45, 0.0]


def test_a_coin_s_symbol_is_rarely_a_token_s():
    """No bridge uses BTC; other coins' symbols it does, and unpriced ones are flagged."""
    assert reasons("BTC") == ["impersonation"]
    assert reasons("SOL", chain="BASE") == reasons("DOGE") == ["coin"]
    flagged = priced("DOGE", "DOGE", "BAR", prices=[None, 0.1, 2.0])
    assert flagged["is_spam"].tolist() == [True, False, False]
    assert reasons("BTC", chain="METIS") == reasons("SOL", chain="METIS") == ["borrowed"]


@pytest.mark.parametrize(
    "symbol,chain",
    [("USDC", "MOONBEAM"), ("WBTC", "MOONBEAM"), ("SOL", "ARBITRUM"), ("WETH", "AVAX_CCHAIN")],
)
def test_one_listed_bridge_is_no_evidence_against_another(symbol, chain):
    """Beside one bridge's listed token, another contract is no imitation."""
    assert reasons(symbol, chain=chain)[0] in ("borrowed", "coin")
    assert not holdings(symbol, chain=chain).wf.flag_spam()["is_spam"].item()


def test_bridges_copy_symbols_exactly():
    """A known symbol in other case on an EVM blockchain is suspicious; elsewhere it isn't."""
    assert reasons("Ethfi", chain="BASE") == ["borrowed", "recased"]
    assert reasons("ETHFI", chain="BASE") == reasons("ethfi", chain="BASE") == ["borrowed"]
    assert reasons("Ethfi", chain="SOLANA", contracts=["So1"]) == ["borrowed"]


def test_lookalikes_are_strict():
    """L is not I: DAL is not DAI, nor IDO LDO; a share of a pool with WETH is not WETH."""
    assert reasons("/WETH") == [""]
    assert reasons("IDO") == reasons("DAL", chain="BSC") == [""]


def test_a_token_with_the_native_coin_s_symbol_is_an_imitation():
    """Except contracts that represent the coin itself."""
    assert reasons("ETH", chain="BASE") == ["impersonation"]
    stands_for_it = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
    assert reasons("ETH", chain="BASE", contracts=[stands_for_it]) == [""]


@pytest.mark.parametrize("contract", [USDC, USDC.lower(), None])
def test_known_contracts_and_native_coins_are_never_flagged(contract):
    """No symbol flags them."""
    frame = holdings("Visit https://a.example", contracts=[contract], raw=[2**256 - 1])
    assert frame.wf.flag_spam()[ADDED].iloc[0].tolist() == [0.0, "", False]


def test_an_absurd_balance_flags_all_rows_of_its_token():
    """2**256-1 in one wallet is enough; other tokens of that symbol are not flagged."""
    frame = holdings("A", "A", "A", contracts=["0x1", "0X1", "0x2"], raw=[2**256 - 1, 1, 1])
    assert frame.wf.flag_spam()["is_spam"].tolist() == [True, True, False]


def test_absurd_balances_without_decimals():
    """If the amount is NA the base units count."""
    frame = holdings("A", "B", raw=[2**256 - 1, 10**30], decimals=[None, None])
    assert frame["amount"].isna().all()
    assert frame.wf.flag_spam()["spam_reasons"].tolist() == ["absurd_balance", ""]


def test_supply_is_the_sum_of_all_wallets():
    """A quadrillion in two halves is extreme, and not enough to flag a token alone."""
    half = 5 * 10**14 * 10**18
    frame = holdings("A", "A", "B", contracts=["0x1", "0x1", "0x2"], raw=[half, half, half])
    flagged = frame.wf.flag_spam()
    assert flagged["spam_reasons"].tolist() == ["extreme_supply", "extreme_supply", ""]
    assert not flagged["is_spam"].any()


def test_scores_are_sums_up_to_one():
    """The weights of the reasons are added."""
    scores = holdings("CLAIM", "Claim now", "Visit https://a.com to claim").wf.flag_spam()
    assert scores["spam_score"].tolist() == [REASONS["claim"][0], 0.5, 1.0]


def test_the_threshold_decides():
    """Scores from the threshold on are flagged; an impossible threshold is refused."""
    frame = holdings("CLAIM")
    assert frame.wf.flag_spam(threshold=0.3)["is_spam"].item()
    for wrong in (0, -1, 1.01, float("nan")):
        with pytest.raises(SettingsError, match="threshold"):
            frame.wf.flag_spam(threshold=wrong)


def test_allow_and_deny_override_everything():
    """Contracts are compared without case."""
    frame = holdings("Visit https://a.com", "FOO", "USDC", contracts=["0xAB", "0xCD", USDC])
    flagged = frame.wf.flag_spam(allow=[("eth", "0xab")], deny=[("ETH", "0XCD"), ("ETH", USDC)])
    assert flagged["is_spam"].tolist() == [False, True, True]
    assert flagged["spam_reasons"].tolist() == ["", "deny_list", "deny_list"]


def test_flagged_rows_can_be_denied_or_allowed():
    """A frame of flagged rows is a list."""
    frame = holdings("www.a.com", "FOO")
    spam = frame.wf.flag_spam().query("is_spam")
    assert not frame.wf.flag_spam(allow=spam)["is_spam"].any()
    renamed = frame.assign(symbol="X")
    assert renamed.wf.flag_spam(deny=spam)["is_spam"].tolist() == [True, False]


def test_symbols_of_an_allowed_list_are_protected():
    """Another contract with one of them is an imitation."""
    entry = {"chainId": 1, "address": "0xAB", "symbol": "FOO", "decimals": 18, "name": "Foo"}
    frame = holdings("FOO", "F\u041eO", contracts=["0xab", "0xcd"])
    flagged = frame.wf.flag_spam(allow={"name": "Mine", "tokens": [entry]})
    assert flagged["spam_reasons"].tolist() == ["", "lookalike, impersonation"]


def test_a_token_on_both_lists_is_an_error():
    """Neither list wins silently."""
    with pytest.raises(TokenListError, match=r"'0xab'.*both the allow list and the deny list"):
        holdings("A").wf.flag_spam(allow=[("ETH", "0xAB")], deny=[("eth", "0xab")])


def test_spam_is_dropped_on_request_only():
    """The remaining rows keep their columns and their index."""
    frame = holdings("FOO", "www.a.com", "BAR")
    left = frame.wf.without_spam()  # warnings are errors here, and this one never is
    assert left.equals(frame.iloc[[0, 2]])
    assert len(frame.wf.without_spam(allow=[("ETH", f"0x{2:040x}")])) == 3


def test_spam_is_decided_once():
    """Calls without lists use the flags, or drop nothing after spam was dropped."""
    frame = holdings("FOO", "www.a.com", "www.b.com").assign(
        blockchain="ETH", address="0x1", value=1
    )
    allowed = [("ETH", f"0x{2:040x}")]
    cleaned = frame.wf.without_spam(allow=allowed)
    for first in (frame.wf.flag_spam(allow=allowed), cleaned, cleaned.wf.where(search="www")):
        expected = [symbol for symbol in first["symbol"] if symbol != "www.b.com"]
        for left in (first.wf.without_spam(), first.wf.where(spam=False)):
            assert left["symbol"].tolist() == expected
            assert left.wf.explain_spam().empty
        explained = first.wf.explain_spam(everything=True).set_index("symbol")["is_spam"]
        assert not explained["www.a.com"].any()
        assert "www.a.com" not in set(first.wf.without_spam(threshold=0.5)["symbol"])
    assert len(cleaned[1:].wf.without_spam()) == 0  # pandas selected other rows
    assert len(frame.wf.where(spam=True).wf.where(small=1).wf.without_spam()) == 0
    assert len(frame.assign(is_spam=[True, None, False]).wf.without_spam()) == 2


@pytest.mark.filterwarnings("always::walletframe.errors.SpamWarning")
def test_dropped_spam_is_reported():
    """One warning at the caller's line; none without spam."""
    frame = holdings("www.a.com", "www.a.com", "BAR", contracts=["0x1", "0X1", "0x2"])
    with pytest.warns(wf.errors.SpamWarning, match=r"^2 rows of 1 token .* left out") as caught:
        frame.wf.without_spam()
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings(record=True) as caught:
        frame.tail(1).wf.without_spam()
    assert not caught


def test_explanations_have_reasons_and_weights():
    """Each reason of a token has its weight and a text with the finding."""
    frame = holdings("USD\u0421", "www.a.com", "FOO")
    explained = frame.wf.explain_spam()
    assert explained.columns.tolist()[3:] == ["spam_score", "is_spam", "reason", "weight", "text"]
    assert explained["reason"].tolist() == ["lookalike", "impersonation", "link", "domain"]
    assert USDC.lower() in explained["text"][1]
    assert "www[.]a.com" in explained["text"][2]
    sums = explained.groupby("token_address")["weight"].sum().clip(upper=1)
    flagged = frame.wf.flag_spam().set_index("token_address")["spam_score"]
    assert sums.equals(flagged[sums.index].rename("weight"))


def test_explanations_begin_with_flagged_tokens():
    """The highest score comes first; unflagged tokens are there on request only."""
    frame = holdings("CLAIM", "some.com", "USDC", "FOO", "www.a.com")
    explained = frame.wf.explain_spam()
    assert explained["symbol"].unique().tolist() == ["www.a.com", "USDC", "some.com"]
    assert explained["is_spam"].all()
    whole = frame.wf.explain_spam(everything=True)
    assert whole.iloc[: len(explained)].equals(explained)
    assert whole["symbol"].tolist()[len(explained) :] == ["CLAIM"]
    assert not whole["is_spam"].tolist()[-1]
    assert frame.wf.explain_spam(threshold=0.3)["symbol"].tolist()[-1] == "CLAIM"
    with pytest.raises(SettingsError, match="threshold"):
        frame.wf.explain_spam(threshold=0)


def test_one_token_is_explained():
    """A token is named by its contract or its symbol; exonerating reasons have no weight."""
    frame = holdings("USDC", "FOO", "FOO", contracts=[USDC, "0x1", "0x2"])
    assert frame.wf.explain_spam("USDC")["reason"].tolist() == ["known_token"]
    assert frame.wf.explain_spam("USDC")["weight"].tolist() == [0]
    assert frame.wf.explain_spam(("ETH", "0x1"), deny=[("ETH", "0x1")])["weight"].item() == 1
    assert frame.wf.explain_spam(("ETH", "0x1")).empty
    with pytest.raises(AmbiguousTokenError):
        frame.wf.explain_spam("FOO")
    with pytest.raises(UnknownTokenError):
        frame.wf.explain_spam("BAR")


def test_explanations_quote_untrusted_text_safely():
    """It is on one line, without invisible characters."""
    symbol = "https://a\u202eb\x1b[31m\n" + "x" * 1000
    texts = holdings(symbol).wf.explain_spam()["text"]
    assert texts.str.len().max() < 150
    assert not texts.str.contains("[\u202e\x1b\n]").any()


def test_no_rows_are_no_error():
    """An empty frame gets the columns."""
    flagged = holdings("A").head(0).wf.flag_spam()
    assert flagged[ADDED].dtypes.astype(str).tolist() == ["float64", str(TEXT), "bool"]
    assert holdings("A").head(0).wf.explain_spam().empty


def test_missing_and_mistyped_columns_are_named():
    """The errors are those of every method of a frame."""
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
def test_any_symbol_has_a_score(symbols):
    """Scores lie between 0 and 1, agree with the words, and don't depend on other rows."""
    frame = holdings(*symbols)
    flagged = frame.wf.flag_spam()
    assert flagged["spam_score"].between(0, 1).all()
    assert ((flagged["spam_score"] > 0) == (flagged["spam_reasons"] != "")).all()
    assert {word for row in flagged["spam_reasons"] for word in row.split(", ")} <= {"", *REASONS}
    for place in range(len(frame)):
        alone = frame.iloc[[place]].wf.flag_spam()
        assert alone[ADDED].equals(flagged.iloc[[place]][ADDED])


def test_sandbox_spam_is_detected(service):
    """None of its real tokens, which alone have prices, is flagged; most others are."""
    wallets = [f"ETH.0x{number:040x}" for number in range(60)]
    with service.client(cache=False) as client:
        held = wf.fetch_wallets(wallets, client=client, on_failure="ignore").holdings
    flagged = held.wf.flag_spam()["is_spam"]
    assert not flagged[held["price"].notna()].any()
    assert flagged[held["price"].isna()].mean() > 0.8
