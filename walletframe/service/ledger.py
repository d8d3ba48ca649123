"""The interface of ledgers, and the simulated ledger. A ledger contains balances of wallets.

The simulated prices are invented. Random numbers are equal on all machines and Python versions,
since they come from a hash. Escape symbols before display, since some contain HTML markup.
"""

from __future__ import annotations

import tomllib
from enum import Enum, auto
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable
from urllib.parse import quote

from walletframe.address.formats import BASE58, malformed_reason
from walletframe.address.forms import WalletAddress
from walletframe.tokens import known_tokens, native_coin
from walletframe.wire.schemas import Amount, Asset, AssetAndAmount, WalletDetail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

GENERATOR_VERSION = 2
_DEFAULT_EXPLORER = "https://blockscan.com/address/"  # supports many blockchains
_EMPTY_SHARE, _NULL_SHARE = 0.03, 0.01
_MAX_DIGITS = 59
_PROBABILITY_STEPS = 1_000_000
_UINT256_MAX = 2**256 - 1


class _LedgerToken(NamedTuple):
    symbol: str
    contract: str | None  # None for the native coin
    decimals: int
    price: float | None = None


class _Chain(NamedTuple):
    name: str
    coin: _LedgerToken
    explorer: str  # the URL prefix of wallet pages
    form: str  # format of contracts: hex, solana, tron or near; none if there are no tokens


_DATA = tomllib.loads(files(__package__).joinpath("simulated.toml").read_text(encoding="utf-8"))
CHAINS = {
    name: _Chain(name, coin, data["explorer"], data["form"])
    for name, data in _DATA["chains"].items()
    for known in [native_coin(name)]
    for coin in [_LedgerToken(known.symbol, None, known.decimals, data["price"])]
}
# If two contracts share a symbol, the first in the list is used.
_KNOWN = {(each.blockchain, each.symbol): each for each in known_tokens()[::-1] if each.contract}
TOKENS = {
    name: tuple(
        _LedgerToken(each.symbol, each.contract, each.decimals, float(_DATA["prices"][each.symbol]))
        for each in (_KNOWN[name, symbol] for symbol in data["tokens"].split())
    )
    for name, data in _DATA["chains"].items()
    if "tokens" in data
}


class ShowcaseKind(Enum):
    """The kinds of showcase wallets. A wallet has the same kind for every seed."""

    ORDINARY = auto()  # holds the native coin, and tokens if the blockchain has tokens
    FAILING = auto()  # always fails
    EMPTY = auto()  # holds nothing
    UNKNOWN = auto()  # its `balances` are null
    EXTREME = auto()  # also holds 2**256 - 1 units of a spam token


SHOWCASE: tuple[WalletAddress, ...] = tuple(map(WalletAddress.parse, _DATA["showcase"]))
SHOWCASE_KINDS = {each.canonical: ShowcaseKind[_DATA["showcase"][str(each)]] for each in SHOWCASE}


@runtime_checkable
class Ledger(Protocol):
    """The interface of a ledger, from which the sandbox reads balances."""

    @property
    def fingerprint(self) -> str:
        """A text for file names. Ledgers with the same text have the same answers."""

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return the wallet's entry in an answer, in the requested spelling."""


def make_wallet_detail(
    wallet: WalletAddress, balances: list[AssetAndAmount] | None, *, failed: bool = False
) -> WalletDetail:
    """Return a wallet's entry in an answer, with the URL of its block explorer page."""
    chain = CHAINS.get(wallet.blockchain.upper())
    page = (chain.explorer if chain else _DEFAULT_EXPLORER) + quote(wallet.address, safe="")
    return WalletDetail(failed, wallet.blockchain, wallet.address, balances, page)


class HashRandom:
    """A random number generator. It hashes a subject, such as a wallet, and a counter."""

    def __init__(self, *subject: object) -> None:
        self._subject = repr([str(part) for part in subject]).encode("utf-8", "replace")
        self._count = 0

    def random_below(self, stop: int) -> int:
        """Return an integer from 0 to `stop` - 1; `stop` is at most 2**200."""
        self._count += 1
        salt = self._count.to_bytes(8, "big")
        return int.from_bytes(blake2b(self._subject, salt=salt, digest_size=32).digest()) % stop

    def bernoulli(self, probability: float) -> bool:
        """Return True with this probability, which is rounded to millionths."""
        return self.random_below(_PROBABILITY_STEPS) < round(probability * _PROBABILITY_STEPS)

    def choice(self, options: Sequence[T]) -> T:
        """Return a random option. All options are equally likely."""
        return options[self.random_below(len(options))]


class SimulatedLedger:
    """Plausible random holdings for any wallet on a known blockchain, derived from a seed.

    A wallet holds the native coin, known tokens, tokens with copied symbols, and spam. Some wallets
    are empty, and a few have null as `balances`. Malformed addresses fail.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        """The generator's version and the seed, which determine all answers."""
        return f"v{GENERATOR_VERSION}-seed{self._seed}"

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return the entry for a wallet. All spellings of a wallet have equal balances."""
        chain = CHAINS.get(wallet.canonical.blockchain)
        kind = SHOWCASE_KINDS.get(wallet.canonical)
        if chain is None or kind is ShowcaseKind.FAILING or malformed_reason(wallet):
            return make_wallet_detail(wallet, None, failed=True)
        rng = HashRandom("holdings", self._seed, wallet.canonical)
        fraction = rng.random_below(10_000) / 10_000
        empty, unknown = fraction < _EMPTY_SHARE, 0 <= fraction - _EMPTY_SHARE < _NULL_SHARE
        if kind is not None:
            empty, unknown = kind is ShowcaseKind.EMPTY, kind is ShowcaseKind.UNKNOWN
        if unknown:
            return make_wallet_detail(wallet, None)
        balances = [] if empty else list(_random_balances(rng, chain))
        if kind is ShowcaseKind.EXTREME:
            largest = _invented_token(chain, "largest", "MAX <i>claim at max.example</i>", 18)
            balances.append(_make_balance(chain, largest, _UINT256_MAX))
        return make_wallet_detail(wallet, balances)


def _random_balances(rng: HashRandom, chain: _Chain) -> Iterator[AssetAndAmount]:
    yield _make_balance(chain, chain.coin, _random_raw_amount(rng, chain.coin))
    known = TOKENS.get(chain.name, ())
    if not known:
        return
    share = rng.choice((0.15, 0.3, 0.3, 0.5, 0.8))
    chosen = [token for token in known if rng.bernoulli(share)] or [known[0]]
    if rng.bernoulli(0.12):
        symbol = rng.choice(("USDC", "USDT", "ETH", "WBTC", *(token.symbol for token in known)))
        chosen.append(_invented_token(chain, "stolen", symbol, rng.choice((6, 8, 18))))
    for token in chosen:
        yield _make_balance(chain, token, _random_raw_amount(rng, token))
    spam_tokens = [
        _invented_token(chain, "spam", rng.choice(_DATA["spam"]), rng.choice((0, 9, 18)))
        for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2, 4)))
    ]
    for token in {token.contract: token for token in spam_tokens}.values():
        huge = chain.form == "hex" and rng.bernoulli(0.05)
        yield _make_balance(chain, token, _UINT256_MAX if huge else _random_raw_amount(rng, token))


def _random_raw_amount(rng: HashRandom, token: _LedgerToken) -> int:
    """Return a random amount, whose value is about 1,000 * 10**n for a random n."""
    integer_digits = 5 if token.price is None else int(f"{1000 / token.price:e}".split("e")[1]) + 1
    tail = rng.choice((-4, -3, -2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 2, 3))
    digits = min(max(token.decimals + integer_digits + tail, 1), _MAX_DIGITS)
    lowest: int = 10 ** (digits - 1)
    raw_amount = lowest + rng.random_below(9 * lowest)
    rounding = 10 ** max(digits - 2, 0)
    return raw_amount - raw_amount % rounding if rng.bernoulli(0.15) else raw_amount


def _make_balance(chain: _Chain, token: _LedgerToken, raw_amount: int) -> AssetAndAmount:
    asset = Asset(blockchain=chain.name, address=token.contract, symbol=token.symbol)
    amount = Amount(amount=str(raw_amount), decimals=token.decimals)
    return AssetAndAmount(asset, amount, token.price)


def _invented_token(chain: _Chain, contract_salt: str, symbol: str, decimals: int) -> _LedgerToken:
    """Return a token with an invented contract. Equal arguments give equal contracts."""
    subject = f"{chain.name}|{contract_salt}|{symbol}".encode()
    digest = blake2b(subject, digest_size=20, person=b"made-up").digest()
    if chain.form == "near":
        contract = f"{digest.hex()}.made-up.near"
    elif chain.form == "hex":
        contract = f"0x{digest.hex()}"
    else:
        number, letters = int.from_bytes(digest * 2), ""
        while number:
            number, digit = divmod(number, len(BASE58))
            letters += BASE58[digit]
        contract = letters[:43] if chain.form == "solana" else f"T{letters[:33]}"
    return _LedgerToken(symbol, contract, decimals)
