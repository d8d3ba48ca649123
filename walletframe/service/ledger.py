"""Who holds what: the question every ledger answers, and the simulated one's answers.

Nothing here knows of HTTP, keys, latency or failures by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from walletframe.service.chains import CHAINS, Chain, explorer_url
from walletframe.service.chance import Chance
from walletframe.service.showcase import PROMISES, Promise
from walletframe.service.spam import UINT256_MAX, largest_spam, spam_token, stolen_symbol
from walletframe.service.tokens import TOKENS, Token
from walletframe.wire.shapes import Amount, Asset, AssetAndAmount, WalletDetail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from walletframe.address import WalletAddress

GENERATOR_VERSION = 1
_EMPTY_SHARE = 0.03
_NULL_SHARE = 0.01
_LONGEST_DRAW = 59


class Holding(AssetAndAmount, frozen=True, gc=False, omit_defaults=True):
    """A balance that leaves the price out of the JSON where it is not known.

    Attributes
    ----------
    asset, amount, price
        As in `AssetAndAmount`.
    """


@runtime_checkable
class Ledger(Protocol):
    """What the sandbox asks of a ledger.

    Attributes
    ----------
    fingerprint : str
        Equal for two ledgers only if they answer the same; part of a file's name.
    """

    @property
    def fingerprint(self) -> str:
        """What tells this ledger from others."""

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return what a wallet holds.

        Parameters
        ----------
        wallet : WalletAddress
            The wallet as asked for.

        Returns
        -------
        WalletDetail
            With the blockchain and the address as asked for.
        """


class SimulatedLedger:
    """Holdings drawn from a seed: any wallet on a known blockchain holds something plausible.

    Real tokens with their real contracts and decimals, the native coin first, long-tailed
    amounts, spam, stolen symbols, amounts of uint256's full size; a few wallets are empty, in a
    few the balances are unknown. On a blockchain that is not known every wallet fails.

    Parameters
    ----------
    seed : int, default 0
        Equal seeds give equal holdings, on every machine.

    Examples
    --------
    >>> from walletframe.address import WalletAddress
    >>> detail = SimulatedLedger().detail(WalletAddress.parse("NEAR.alice.near"))
    >>> detail.balances[0].asset.symbol
    'NEAR'
    """

    __slots__ = ("_seed",)

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    @property
    def fingerprint(self) -> str:
        """What tells this ledger from others.

        Returns
        -------
        str
            The generator's version and the seed.
        """
        return f"v{GENERATOR_VERSION}-seed{self._seed}"

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return what a wallet holds.

        Parameters
        ----------
        wallet : WalletAddress
            The wallet as asked for.

        Returns
        -------
        WalletDetail
            Equal for every spelling of one wallet, but for the spelling itself.
        """
        chain = CHAINS.get(wallet.canonical.blockchain)
        promise = PROMISES.get(wallet.canonical)
        if chain is None or promise is Promise.FAILING:
            return failed_detail(wallet)
        chance = Chance("holdings", self._seed, wallet.canonical)
        lot = chance.below(10_000) / 10_000
        empty, unknown = lot < _EMPTY_SHARE, 0 <= lot - _EMPTY_SHARE < _NULL_SHARE
        if promise is not None:
            empty, unknown = promise is Promise.EMPTY, promise is Promise.UNKNOWN
        if unknown:
            return known_detail(wallet, None)
        balances = [] if empty else list(_balances(chance, chain))
        if promise is Promise.EXTREME:
            balances.append(_holding(chain, largest_spam(chain), UINT256_MAX))
        return known_detail(wallet, balances)


def known_detail(wallet: WalletAddress, balances: list[AssetAndAmount] | None) -> WalletDetail:
    """Return the answer for a wallet that did not fail.

    Parameters
    ----------
    wallet : WalletAddress
        The wallet as asked for.
    balances : list of AssetAndAmount or None
        What it holds.

    Returns
    -------
    WalletDetail
        With its explorer's page.
    """
    return _detail(wallet, balances, failed=False)


def failed_detail(wallet: WalletAddress) -> WalletDetail:
    """Return the answer for a wallet that failed.

    Parameters
    ----------
    wallet : WalletAddress
        The wallet as asked for.

    Returns
    -------
    WalletDetail
        Without balances, with its explorer's page.
    """
    return _detail(wallet, None, failed=True)


def _detail(
    wallet: WalletAddress, balances: list[AssetAndAmount] | None, *, failed: bool
) -> WalletDetail:
    return WalletDetail(
        failed=failed,
        block_chain=wallet.blockchain,
        address=wallet.address,
        balances=balances,
        explorer_url=explorer_url(wallet.blockchain, wallet.address),
    )


def _balances(chance: Chance, chain: Chain) -> Iterator[AssetAndAmount]:
    coin = Token(chain.coin, None, chain.decimals, chain.price)
    yield _holding(chain, coin, _raw_amount(chance, coin))
    known = TOKENS.get(chain.name, ())
    if not known:
        return
    share = chance.pick((0.15, 0.3, 0.3, 0.5, 0.8))
    chosen = [token for token in known if chance.hits(share)] or [known[0]]
    if chance.hits(0.12):
        chosen.append(stolen_symbol(chance, chain))
    for token in chosen:
        yield _holding(chain, token, _raw_amount(chance, token))
    yield from _spam(chance, chain)


def _spam(chance: Chance, chain: Chain) -> Iterator[AssetAndAmount]:
    count = chance.pick((0, 0, 0, 0, 1, 1, 2, 4))
    spam = {token.contract: token for token in (spam_token(chance, chain) for _ in range(count))}
    for token in spam.values():
        huge = chain.form == "hex" and chance.hits(0.05)
        raw_amount = UINT256_MAX if huge else _raw_amount(chance, token)
        yield _holding(chain, token, raw_amount)


def _raw_amount(chance: Chance, token: Token) -> int:
    """Draw an amount around a thousand in money, with tails of some powers of ten on both sides."""
    whole_digits = 5 if token.price is None else int(f"{1000 / token.price:e}".split("e")[1]) + 1
    tail = chance.pick((-4, -3, -2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 2, 3))
    digits = min(max(token.decimals + whole_digits + tail, 1), _LONGEST_DRAW)
    raw_amount = chance.digits(digits)
    rounding = 10 ** max(digits - 2, 0)
    return raw_amount - raw_amount % rounding if chance.hits(0.15) else raw_amount


def _holding(chain: Chain, token: Token, raw_amount: int) -> Holding:
    return Holding(
        asset=Asset(blockchain=chain.name, address=token.contract, symbol=token.symbol),
        amount=Amount(amount=str(raw_amount), decimals=token.decimals),
        price=token.price,
    )
