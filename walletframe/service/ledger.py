"""Ledgers, which hold the balances of wallets: their interface, and the simulated ledger.

Simulated prices are invented, and no explorer is ever called. Random numbers are integers from a
hash, so that all machines and Python versions draw the same. Symbols must be escaped for display.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable
from urllib.parse import quote

from walletframe.address.forms import WalletAddress
from walletframe.tokens import known_tokens, native_coin
from walletframe.wire.shapes import Amount, Asset, AssetAndAmount, WalletDetail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

GENERATOR_VERSION = 1
_ANY_EXPLORER = "https://blockscan.com/address/"  # for many blockchains
_EMPTY_SHARE, _NULL_SHARE = 0.03, 0.01
_LONGEST_DRAW = 59
_PARTS = 1_000_000
_UINT256_MAX = 2**256 - 1
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SPAM = (
    "Visit https://claim-usdc.example to claim",
    "! 5000 USDT airdrop: usdt-reward.example",
    "$ 1000 Voucher (claim at t.me/wf_example)",
    "FREE MINT ✅ nft-drop.example",
    "<b>GIFT</b> <a href='https://gift.example'>open</a>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("https://claim.example","Claim")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "$E=mc^2$ \\frac{1}{0}",
    "\N{RIGHT-TO-LEFT OVERRIDE}CDSU reward",
    "US\N{ZERO WIDTH SPACE}DC",
    "\N{CYRILLIC CAPITAL LETTER ES}LAIM **now** | `rm`",
    "",
)
_STOLEN = ("USDC", "USDT", "ETH", "WBTC")


@dataclass(frozen=True, slots=True)
class Token:
    """A token on one blockchain; the native coin has no contract, and a token may lack a price."""

    symbol: str
    contract: str | None
    decimals: int
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A blockchain, its coin, and the URL of its explorer's pages up to the address."""

    name: str
    coin: Token
    explorer: str
    form: str  # of contracts: hex, solana, tron, near, or none if there are no tokens


_CHAINS = [
    ("ETH", 3100.0, "https://etherscan.io/address/", "hex"),
    ("BSC", 640.0, "https://bscscan.com/address/", "hex"),
    ("POLYGON", 0.42, "https://polygonscan.com/address/", "hex"),
    ("ARBITRUM", 3100.0, "https://arbiscan.io/address/", "hex"),
    ("OPTIMISM", 3100.0, "https://optimistic.etherscan.io/address/", "hex"),
    ("BASE", 3100.0, "https://basescan.org/address/", "hex"),
    ("AVAX_CCHAIN", 31.0, "https://snowtrace.io/address/", "hex"),
    ("GNOSIS", 1.0, "https://gnosisscan.io/address/", "hex"),
    ("SOLANA", 170.0, "https://solscan.io/account/", "solana"),
    ("TRON", 0.24, "https://tronscan.org/#/address/", "tron"),
    ("NEAR", 4.2, "https://nearblocks.io/address/", "near"),
    ("BTC", 64000.0, "https://mempool.space/address/", "none"),
    ("LTC", 82.0, "https://litecoinspace.org/address/", "none"),
    ("DOGE", 0.16, "https://blockchair.com/dogecoin/address/", "none"),
    ("COSMOS", 6.5, "https://www.mintscan.io/cosmos/address/", "none"),
]
CHAINS = {
    name: Chain(name, Token(coin.symbol, None, coin.decimals, price), explorer, form)
    for name, price, explorer, form in _CHAINS
    for coin in [native_coin(name)]
}

_PRICED = (  # by symbol, invented
    "WBTC=64000 BTCB=64000 cbBTC=64000 BTC.b=64000 cbETH=3350 WETH=3100 stETH=3100 ETH=3100 "
    "WETH.e=3100 WBNB=640 GNO=240 mSOL=205 JitoSOL=195 WSOL=170 AAVE=160 WAVAX=31 GMX=28 LINK=14 "
    "UNI=8 wNEAR=4.2 ORCA=2.6 CAKE=2.3 RAY=2.2 WIF=1.9 OP=1.7 LDO=1.2 AERO=1.1 USDC=1 USDT=1 "
    "DAI=1 GUSD=1 BUSD=1 USDC.e=1 USDt=1 WXDAI=1 JUP=0.9 ARB=0.8 CRV=0.4 JOE=0.4 WTRX=0.24 "
    "REF=0.07 JST=0.03 DEGEN=0.009 Bonk=2e-05 SHIB=1.8e-05 PEPE=1e-05 BTT=9e-07"
)
_PRICES = dict(each.split("=") for each in _PRICED.split())

_WELL_KNOWN = {  # symbols of tokens by blockchain
    "ETH": "USDC USDT DAI GUSD WETH stETH WBTC LINK UNI AAVE CRV LDO SHIB PEPE",
    "BSC": "USDT USDC BUSD WBNB BTCB ETH CAKE",
    "POLYGON": "USDC USDC.e USDT DAI WETH WBTC LINK",
    "ARBITRUM": "USDC USDC.e USDT DAI WETH WBTC ARB GMX",
    "OPTIMISM": "USDC USDC.e USDT DAI WETH WBTC OP",
    "BASE": "USDC DAI WETH cbETH cbBTC AERO DEGEN",
    "AVAX_CCHAIN": "USDC USDt WAVAX WETH.e BTC.b JOE",
    "GNOSIS": "USDC WXDAI GNO",
    "SOLANA": "USDC USDT WSOL mSOL JitoSOL JUP RAY ORCA WIF Bonk",
    "TRON": "USDT USDC WTRX JST BTT",
    "NEAR": "USDC USDt wNEAR REF",
}
# If two contracts share a symbol, the first in the list is used.
_KNOWN = {(each.blockchain, each.symbol): each for each in known_tokens()[::-1] if each.contract}
TOKENS = {
    chain: tuple(
        Token(token.symbol, token.contract, token.decimals, float(_PRICES[token.symbol]))
        for token in (_KNOWN[chain, symbol] for symbol in symbols.split())
    )
    for chain, symbols in _WELL_KNOWN.items()
}


class Promise(Enum):
    """The simulated ledger's guarantee for a wallet, with any seed."""

    ORDINARY = auto()  # it holds the native coin and, where the blockchain has any, tokens
    FAILING = auto()  # it always fails
    EMPTY = auto()  # it holds nothing
    UNKNOWN = auto()  # its balances are null
    EXTREME = auto()  # it also holds 2**256 - 1 units of a spam token


# Well-formed, invented addresses: patterns, and the name in NEAR's own manual.
_PROMISES = {
    "ETH.0x1111111111111111111111111111111111111111": Promise.ORDINARY,
    "ETH.0x2222222222222222222222222222222222222222": Promise.EXTREME,
    "BSC.0x1111111111111111111111111111111111111111": Promise.ORDINARY,
    "POLYGON.0x3333333333333333333333333333333333333333": Promise.ORDINARY,
    "ARBITRUM.0x4444444444444444444444444444444444444444": Promise.ORDINARY,
    "OPTIMISM.0x5555555555555555555555555555555555555555": Promise.EMPTY,
    "BASE.0x6666666666666666666666666666666666666666": Promise.UNKNOWN,
    "AVAX_CCHAIN.0x7777777777777777777777777777777777777777": Promise.FAILING,
    "SOLANA.29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2": Promise.ORDINARY,
    "TRON.TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV": Promise.ORDINARY,
    "NEAR.alice.near": Promise.ORDINARY,
    "BTC.bc1qzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3h8ffkz": Promise.ORDINARY,
    "COSMOS.cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0": Promise.ORDINARY,
    "ETH.0x8888888888888888888888888888888888888888": Promise.ORDINARY,
}
SHOWCASE: tuple[WalletAddress, ...] = tuple(map(WalletAddress.parse, _PROMISES))
PROMISES = {wallet.canonical: _PROMISES[str(wallet)] for wallet in SHOWCASE}


@runtime_checkable
class Ledger(Protocol):
    """The interface that the sandbox needs."""

    @property
    def fingerprint(self) -> str:
        """A text for file names, equal for two ledgers only if their answers are equal."""

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return a wallet's balances, with the blockchain and the address as requested."""


class Holding(AssetAndAmount, frozen=True, gc=False, omit_defaults=True):
    """A balance whose JSON omits an unknown price."""


def detail_of(
    wallet: WalletAddress, balances: list[AssetAndAmount] | None, *, failed: bool = False
) -> WalletDetail:
    """Return the answer for a wallet, with its explorer URL."""
    chain = CHAINS.get(wallet.blockchain.upper())
    return WalletDetail(
        failed=failed,
        block_chain=wallet.blockchain,
        address=wallet.address,
        balances=balances,
        explorer_url=(chain.explorer if chain else _ANY_EXPLORER) + quote(wallet.address, safe=""),
    )


class HashRandom:
    """A random number generator that hashes its subject and a counter."""

    def __init__(self, *subject: object) -> None:
        self._subject = repr([str(part) for part in subject]).encode("utf-8", "replace")
        self._drawn = 0

    def below(self, stop: int) -> int:
        """Draw an integer from 0 to `stop` - 1; `stop` is at most 2**200."""
        self._drawn += 1
        salt = self._drawn.to_bytes(8, "big")
        return int.from_bytes(blake2b(self._subject, salt=salt, digest_size=32).digest()) % stop

    def bernoulli(self, probability: float) -> bool:
        """Draw True with this probability, rounded to millionths."""
        return self.below(_PARTS) < round(probability * _PARTS)

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of several equally likely options."""
        return options[self.below(len(options))]


class SimulatedLedger:
    """Plausible random holdings for any wallet on a known blockchain, from a seed.

    They have the native coin first, well-known tokens, long-tailed amounts, spam, stolen symbols. A
    few wallets are empty or unknown; wallets on unknown blockchains fail.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        """The generator's version and the seed."""
        return f"v{GENERATOR_VERSION}-seed{self._seed}"

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return a wallet's balances, the same for every spelling of its address."""
        chain = CHAINS.get(wallet.canonical.blockchain)
        promise = PROMISES.get(wallet.canonical)
        if chain is None or promise is Promise.FAILING:
            return detail_of(wallet, None, failed=True)
        rng = HashRandom("holdings", self._seed, wallet.canonical)
        draw = rng.below(10_000) / 10_000
        empty, unknown = draw < _EMPTY_SHARE, 0 <= draw - _EMPTY_SHARE < _NULL_SHARE
        if promise is not None:
            empty, unknown = promise is Promise.EMPTY, promise is Promise.UNKNOWN
        if unknown:
            return detail_of(wallet, None)
        balances = [] if empty else list(_balances(rng, chain))
        if promise is Promise.EXTREME:
            largest = _invented_token(chain, "largest", "MAX <i>claim at max.example</i>", 18)
            balances.append(_holding(chain, largest, _UINT256_MAX))
        return detail_of(wallet, balances)


def _balances(rng: HashRandom, chain: Chain) -> Iterator[AssetAndAmount]:
    """Draw balances: the coin, well-known tokens, sometimes a stolen symbol, and spam."""
    yield _holding(chain, chain.coin, _raw_amount(rng, chain.coin))
    known = TOKENS.get(chain.name, ())
    if not known:
        return
    share = rng.pick((0.15, 0.3, 0.3, 0.5, 0.8))
    chosen = [token for token in known if rng.bernoulli(share)] or [known[0]]
    if rng.bernoulli(0.12):
        symbol = rng.pick(_STOLEN + tuple(token.symbol for token in known))
        chosen.append(_invented_token(chain, "stolen", symbol, rng.pick((6, 8, 18))))
    for token in chosen:
        yield _holding(chain, token, _raw_amount(rng, token))
    drawn = [
        _invented_token(chain, "spam", rng.pick(_SPAM), rng.pick((0, 9, 18)))
        for _ in range(rng.pick((0, 0, 0, 0, 1, 1, 2, 4)))
    ]
    for token in {token.contract: token for token in drawn}.values():
        huge = chain.form == "hex" and rng.bernoulli(0.05)
        yield _holding(chain, token, _UINT256_MAX if huge else _raw_amount(rng, token))


def _raw_amount(rng: HashRandom, token: Token) -> int:
    """Draw an amount worth about 1000, or some powers of ten less or more."""
    whole_digits = 5 if token.price is None else int(f"{1000 / token.price:e}".split("e")[1]) + 1
    tail = rng.pick((-4, -3, -2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 2, 3))
    digits = min(max(token.decimals + whole_digits + tail, 1), _LONGEST_DRAW)
    lowest: int = 10 ** (digits - 1)
    raw_amount = lowest + rng.below(9 * lowest)
    rounding = 10 ** max(digits - 2, 0)
    return raw_amount - raw_amount % rounding if rng.bernoulli(0.15) else raw_amount


def _holding(chain: Chain, token: Token, raw_amount: int) -> Holding:
    return Holding(
        asset=Asset(blockchain=chain.name, address=token.contract, symbol=token.symbol),
        amount=Amount(amount=str(raw_amount), decimals=token.decimals),
        price=token.price,
    )


def _invented_token(chain: Chain, role: str, symbol: str, decimals: int) -> Token:
    """Return a token with an invented contract in its blockchain's form, always the same."""
    subject = f"{chain.name}|{role}|{symbol}".encode()
    digest = blake2b(subject, digest_size=20, person=b"made-up").digest()
    if chain.form == "near":
        contract = f"{digest.hex()}.made-up.near"
    elif chain.form == "hex":
        contract = f"0x{digest.hex()}"
    else:
        number, letters = int.from_bytes(digest * 2), ""
        while number:
            number, digit = divmod(number, len(_BASE58))
            letters += _BASE58[digit]
        contract = letters[:43] if chain.form == "solana" else f"T{letters[:33]}"
    return Token(symbol, contract, decimals)
