"""Tables token by token, of holdings that stay on the disk: some tokens' rows are read at a time.

Each token's rows are all there when it is asked; only names need to know of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from walletframe.analysis.matrix import IN_COLUMNS, pivot, ranked_tokens
from walletframe.analysis.parted import InBlocks, totals_of_blocks, written_ways
from walletframe.analysis.shares import IN_ROWS, MEASURES, OF_ONE, concentration, share
from walletframe.analysis.valuation import refuse_prices, unusable, value
from walletframe.errors import Either, SettingsError, Spelled
from walletframe.frames import (
    UNKNOWN,
    among,
    held_names,
    held_place,
    is_unknown,
    named_token,
    read_names,
    require_columns,
    token_identities,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from walletframe.analysis.valuation import PricesLike
    from walletframe.frames import (
        AssetsLike,
        Block,
        By,
        Codes,
        Mask,
        Positions,
        TokenKey,
        TokenLike,
    )

T = TypeVar("T")
_ROWS = 500_000  # that are read at a time


class OnDisk(InBlocks, Protocol):
    """Holdings of which some tokens can be read at a time."""

    def read(self, tokens: Collection[TokenKey], names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, in their order, with some more columns."""

    def each(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Do something with the rows of some tokens at a time, and at least their wallets."""


@dataclass(frozen=True, slots=True)
class _Tokens:
    """All tokens, or the assets in their place, in the order of their first rows."""

    positions: Positions  # a row for each way in which one is written, of no wallet in particular
    balances: Codes  # of each token or asset

    def keys(self, places: Codes) -> set[TokenKey]:
        """Return the contracts of some of them."""
        contracts = self.positions.contracts
        rows = np.isin(self.positions.tokens.codes, places)
        keys = [contracts.keys[code] for code in np.unique(contracts.codes[rows]).tolist()]
        return {UNKNOWN if is_unknown(key) else key for key in keys}

    def names(self, places: Codes) -> list[str]:
        """Name some of them."""
        return held_names(self.positions, places)


def _tokens(
    held: OnDisk, by: By, apart: str, assets: AssetsLike | None, *, bridged: bool
) -> tuple[_Tokens, list[str]]:
    """Read which tokens, or assets, there are, and by which names to cut: as `read_names` does."""
    ways, rows = written_ways(held)
    positions, names = read_names(ways, by, apart=apart, assets=assets, bridged=bridged)
    balances = np.zeros(len(positions.tokens.keys), dtype=np.intp)
    np.add.at(balances, positions.tokens.codes, rows)
    return _Tokens(positions, balances), names


def units_on_disk(
    held: InBlocks,
    prices: PricesLike | None = None,
    *,
    currency: str | None = None,
    by_symbol: bool = False,
    assets: pd.DataFrame | None = None,
    bridged: bool = False,
) -> tuple[dict[Any, float] | None, str | None]:
    """Check prices as `value` does: give those of tokens or symbols, None for those sent."""
    if prices is None:
        require_columns(held.whole.holdings, ["price"])
        problems = [problem for found in held.over(_unusable, ["price"]) for problem in found]
        if problems:
            places = np.sort(np.concatenate([*held.over(attrgetter("rows"))]))
            rows = np.searchsorted(places, [row for row, *_ in problems]).tolist()
            told = [(row, *rest) for row, (_, *rest) in zip(rows, problems, strict=True)]
            refuse_prices(sorted(told))
        return None, currency
    rows = written_ways(held)[0].holdings
    more: dict[str, Any] = {"assets": assets, "bridged": bridged}
    valued = value(rows, prices, currency=currency, by_symbol=by_symbol, **more)
    tokens = token_identities(rows)
    names = rows["symbol"] if by_symbol else [tokens.keys[code] for code in tokens.codes]
    units = zip(names, valued["unit_price"], strict=True)
    said = valued["currency"].dropna().tolist()
    return {name: unit for name, unit in units if not np.isnan(unit)}, (said or [currency])[0]


def _unusable(block: Block) -> list[tuple[int, str, str]]:
    """Give the prices sent that can't be used, as `unusable` does."""
    sent = block.positions.holdings
    known = sent["price"].where(sent["token_blockchain"].notna())
    return unusable(known.to_numpy(dtype=np.float64, na_value=np.nan), block.rows)


def share_on_disk(
    held: OnDisk,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    by: By = "wallet",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return what `share` does, given the wallets."""
    named, cut = named_token(token, asset, by)
    rows = held.whole
    if named is not None:
        tokens, names = _tokens(held, cut, OF_ONE, assets, bridged=bridged)
        place = held_place(tokens.positions, named)
        rows = among(held.whole, held.read(tokens.keys(np.array([place])), names))
    return share(rows, token, asset=asset, by=by, assets=assets, bridged=bridged)


def concentration_on_disk(  # noqa: PLR0913 - what a caller may wish
    held: OnDisk,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    top: int = 10,
    by: By = "wallet",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return what `concentration` does, given the wallets."""
    named, cut = named_token(token, asset, by)
    tokens, names = _tokens(held, cut, IN_ROWS, assets, bridged=bridged)
    kind = tokens.positions.kind
    places = np.arange(len(tokens.balances))
    if named is not None:
        places = np.array([held_place(tokens.positions, named)])
    given: dict[str, Any] = {"assets": assets, "bridged": bridged} if kind == "asset" else {}
    found = totals_of_blocks(held, kind, **given)
    measured = found.assign(**dict.fromkeys(MEASURES, np.nan))
    slices = [*_slices(tokens, places)]
    work = partial(concentration, top=top, by=cut, **given)
    parts = held.each(work, [tokens.keys(some) for some in slices], names)
    for some, part in zip(slices, parts, strict=True):
        for name in MEASURES:
            measured.loc[some, name] = part[name].to_numpy()
    return measured if named is None else measured.iloc[places].reset_index(drop=True)


def _slices(tokens: _Tokens, places: Codes) -> Iterator[Codes]:
    """Cut tokens so that the rows of some fit into memory; unknown ones stay together."""
    unknown = _unknown(tokens)
    for some in (places[~unknown[places]], places[unknown[places]]):
        before = np.cumsum(tokens.balances[some]) - tokens.balances[some]
        edges = np.flatnonzero(np.diff(before // _ROWS))
        if unknown[some].any():
            edges = edges[:0]
        yield from (each for each in np.split(some, edges + 1) if len(each))


def _unknown(tokens: _Tokens) -> Mask:
    return np.array([is_unknown(key) for key in tokens.positions.tokens.keys], dtype=bool)


def pivot_on_disk(
    held: OnDisk,
    n: int | None = 50,
    *,
    by: By = "wallet",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return what `pivot` does, given the wallets; by what is known of these."""
    if n is not None and n < 1:
        return pivot(held.whole, n)  # which refuses it
    tokens, names = _tokens(held, by, IN_COLUMNS, assets, bridged=bridged)
    told = held.whole.holdings.columns.drop("blockchain")
    if of_rows := [name for name in names if name in told]:
        raise SettingsError(
            f"by: {of_rows[0]!r} is a column of balances, which are not in memory",
            hint=Spelled("read them for that", Either(": read_wallets(folder), or .compute()")),
        )
    kind = tokens.positions.kind
    given: dict[str, Any] = {"assets": assets, "bridged": bridged} if kind == "asset" else {}
    totals = totals_of_blocks(held, kind, **given)
    chosen = ranked_tokens(totals)[:n]
    keys = tokens.keys(chosen)
    read = np.isin(np.arange(len(totals)), chosen) | (_unknown(tokens) & (UNKNOWN in keys))
    found = pivot(among(held.whole, held.read(keys, ())), None, by=by, **given)
    ranked = ranked_tokens(totals.drop(columns="value", errors="ignore"))  # no values are read
    columns = pd.Index(ranked[read[ranked]]).get_indexer(pd.Index(chosen))
    named = pd.Index(tokens.names(chosen), dtype="str", name=kind)
    return found.iloc[:, columns].set_axis(named, axis=1)
