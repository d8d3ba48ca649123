"""What rows of holdings are grouped by, decided here alone: a code for each row, and labels.

Some names tell wallets apart, those without rows too: ``wallet``, ``blockchain``, ``snapshot``, and
what ``wallets`` keeps. The others tell rows apart: ``token``, ``asset``, the columns of holdings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.lists import unnameable
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import held_names, refuse_assets, with_assets
from walletframe.frames.contract import require_columns, text_array
from walletframe.frames.identity import first_rows
from walletframe.frames.kept import RESULTS, kept_labels
from walletframe.frames.names import ambiguous, shared_symbols
from walletframe.frames.positions import Positions, read_positions, snapshot_times, token_columns
from walletframe.pandas_versions import factorized
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import PositionsLike

By: TypeAlias = "str | Sequence[str]"
"""What to group by: one name or several."""

SNAPSHOT: Final = "snapshot"
ADDED: Final = frozenset({"token", "asset"})  # only by these are amounts added up
_OF_WALLETS = ("wallet", "blockchain", SNAPSHOT)
_TO_CHOOSE = "wallet, blockchain, asset, snapshot, a column of holdings or one that wallets keeps"
_APART = 'by="token" keeps contracts apart; or leave out the rows of all but one'


@dataclass(frozen=True, slots=True)
class Groups:
    """g groups of n rows: in the order of their wallets, then of their first rows."""

    names: list[str]  # what was asked for, each once, in this order
    codes: Codes  # the group of each row
    owners: Codes  # of each group, the place of its set of wallets
    owner_codes: Codes  # of each wallet, the place of the set that it is in
    owned: int  # how many sets there are
    tokens: Codes  # of each group, the place of its token, else of its asset, -1 for none
    columns: dict[str, Any]  # what names the groups: arrays with one label for each

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def labels(self) -> pd.DataFrame:
        """The columns that name the groups, one row for each; NA where a label is missing."""
        return pd.DataFrame(self.columns)


def names_of(by: By) -> list[str]:
    """List the names to group by."""
    return [by] if isinstance(by, str) else [*by]


def named_token(
    token: TokenLike | None, asset: TokenLike | None, by: By
) -> tuple[TokenLike | None, list[str]]:
    """Name the one token that is asked for, or the asset, which is then among what to group by."""
    if asset is None:
        return token, names_of(by)
    if token is not None:
        raise SettingsError("token=… and asset=… contradict")
    return asset, [*names_of(by), "asset"]


def read_groups(
    holdings: PositionsLike,
    by: By,
    wallets: FetchLike | None = None,
    *,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> tuple[Positions, Groups]:
    """Read holdings, and cut them into groups; each set of wallets asked has one, even if empty.

    By asset, these stand in the place of tokens, unless tokens are asked for, too.
    """
    return cut(*read_names(holdings, by, wallets, assets=assets, bridged=bridged))


def cut(positions: Positions, names: list[str]) -> tuple[Positions, Groups]:
    """Cut holdings by names that were checked, as `read_groups` does."""
    groups = group(positions, names)
    return positions.by_contract() if "token" in names else positions, groups


def read_names(
    holdings: PositionsLike,
    by: By,
    wallets: FetchLike | None = None,
    *,
    apart: str = "",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> tuple[Positions, list[str]]:
    """Read holdings, and check by which names to cut them; with assets, if these are among them.

    `apart` says why tokens, or assets in their place, make no groups: the rest of the names does,
    or wallets.
    """
    timed = SNAPSHOT in names_of(by)
    if timed and isinstance(holdings, Positions) and not holdings.timed:
        wallets = holdings.given if wallets is None and holdings.asked else wallets
        holdings = holdings.holdings
    positions = read_positions(holdings, wallets, timed=timed)
    names = _checked(by, positions)
    if apart and "token" in names:
        raise SettingsError(f"by: 'token', but {apart}", hint=f"choose from: {_TO_CHOOSE}")
    if "asset" in names:
        positions = with_assets(positions, assets, bridged=bridged)
    else:
        refuse_assets(assets, bridged=bridged)
    if apart:
        names = [name for name in names if name != "asset"] or ["wallet"]
    return positions, names


def group(positions: Positions, names: list[str]) -> Groups:
    """Cut holdings into groups by names that were checked, as `read_groups` does."""
    told = {"wallet", "blockchain", *positions.kept}
    if SNAPSHOT in positions.given.columns:  # else it is of the rows alone
        told.add(SNAPSHOT)
    of_wallets = [name for name in names if name in told]
    of_rows = [name for name in names if name not in told]
    if "token" in names:  # which the asset only follows
        of_rows = [name for name in of_rows if name != "asset"]
    owner_codes, owned = _wallet_codes(positions, of_wallets)
    row_codes, first = _row_codes(positions, of_rows)
    if not of_wallets:
        codes, owners, things = row_codes, np.zeros(len(first), np.intp), np.arange(len(first))
    elif not of_rows:
        codes, owners = owner_codes[positions.wallet_codes], np.arange(owned)
        things = np.full(owned, -1)
    else:
        row_owners = owner_codes[positions.wallet_codes]
        codes, owners, things = _crossed(row_owners, owned, row_codes, len(first))
    rows = np.append(first, -1)[things]
    tokens = np.full(len(rows), -1)
    if of_rows in (["token"], ["asset"]):  # then kinds of rows are tokens already
        tokens = things
    elif not ADDED.isdisjoint(of_rows):
        held = positions.contracts if "token" in of_rows else positions.tokens
        tokens = np.append(held.codes, -1)[rows]
    starts = first_rows(owner_codes, owned)[owners] if of_wallets else rows
    columns: dict[str, Any] = {}
    for name in names:
        if name in told:
            found = _labels_of_wallets(positions, name, names, starts)
        else:
            found = _labels_of_rows(positions, name, rows, tokens)
        if twice := found.keys() & columns.keys() - {"symbol"}:  # which nobody else can ask for
            raise SettingsError(f"by: {names!r} has {min(twice)!r} twice", hint="leave out one")
        columns |= found
    return Groups(names, codes, owners, owner_codes, owned, tokens, columns)


def _labels_of_wallets(
    positions: Positions, name: str, names: list[str], places: Codes
) -> dict[str, Any]:
    """Return the columns that one of the names for wallets makes, for some of them."""
    if name == "wallet":
        parts = ("blockchain", "address")
        return {part: positions.wallets[part].array.take(places) for part in parts}
    if name == "blockchain" and "wallet" in names:
        return {}  # which has it
    return {name: _of_wallets(positions, name).take(places)}


def _labels_of_rows(positions: Positions, name: str, rows: Codes, tokens: Codes) -> dict[str, Any]:
    """Return the columns that a name for rows makes, for some rows or tokens; NA at -1."""
    if name == "token":
        return token_columns(positions.holdings, positions.contracts, tokens)
    if name == "asset":
        names = held_names(positions, np.arange(len(positions.tokens.keys)))
        assets = np.append(positions.tokens.codes, -1)[rows]
        return {name: text_array(names).take(assets, allow_fill=True)}
    return {name: _of_rows(positions, name).take(rows, allow_fill=True)}


def _checked(by: By, positions: Positions) -> list[str]:
    """Check what to group by; "symbol" is "token" where no symbol is shared."""
    given: list[Any] = names_of(by)
    kept = positions.kept
    known = {"token", "asset", *_OF_WALLETS, *kept, *positions.holdings.columns} - RESULTS
    strange = [name for name in given if not isinstance(name, str) or name not in known]
    if strange or not given:
        more = f" ({', '.join(shown(name) for name in kept)})" if kept else ""
        without = "" if positions.asked else "; what a fetch keeps is in its wallets: give "
        hint = f"token, {_TO_CHOOSE}{more}{without}{('' if positions.asked else 'wallets=…')}"
        raise SettingsError(f"by: {strange[0] if strange else by!r}", hint=hint)
    if "symbol" in given and (shared := shared_symbols(positions.holdings, positions.tokens)):
        raise ambiguous(shared, lambda _: _APART)
    return list(dict.fromkeys("token" if name == "symbol" else name for name in given))


def _wallet_codes(positions: Positions, names: list[str]) -> tuple[Codes, int]:
    """Return each wallet's set, in the order of the first, and the number of sets."""
    count = len(positions.wallets)
    if "wallet" in names:  # which the others only follow
        return np.arange(count), count
    of_chains = positions.chain_codes, len(positions.chains)
    parts = (
        of_chains if name == "blockchain" else _coded(name, _of_wallets(positions, name))
        for name in names
    )
    return _combined(parts, count)


def _row_codes(positions: Positions, names: list[str]) -> tuple[Codes, Codes]:
    """Code rows by names that are none of wallets, and return the first row of each code."""
    tokens = positions.contracts if "token" in names else positions.tokens
    if names in ([], ["token"], ["asset"]):  # without any, they are not looked at
        return tokens.codes, tokens.first
    of_tokens = tokens.codes, len(tokens.keys)
    parts = (
        of_tokens if name in ADDED else _coded(name, _of_rows(positions, name)) for name in names
    )
    codes, count = _combined(parts, len(positions.holdings))
    return codes, first_rows(codes, count)


def _combined(parts: Iterable[tuple[Codes, int]], rows: int) -> tuple[Codes, int]:
    """Join codes to one for each combination; each comes with how many there are of it."""
    codes, count = np.zeros(rows, dtype=np.intp), 1
    for more, wide in parts:
        codes, kinds = (more, range(wide)) if count == 1 else pd.factorize(codes * wide + more)
        count = len(kinds)
    return codes, count


def _crossed(
    row_owners: Codes, owned: int, row_codes: Codes, kinds: int
) -> tuple[Codes, Codes, Codes]:
    """Return the group of each row, and each group's owner and kind of row, -1 for none."""
    first, pairs = pd.factorize(row_owners * kinds + row_codes)
    owners, things = np.divmod(pairs, max(kinds, 1))
    idle = np.flatnonzero(np.bincount(owners, minlength=owned) == 0)
    owners, things = np.append(owners, idle), np.append(things, np.full(len(idle), -1))
    order = np.argsort(owners, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[first], owners[order], things[order]


def _coded(name: str, column: Any) -> tuple[Codes, int]:
    """Return the code of each value of a column; one that is missing is a value, too."""
    try:
        codes, values = factorized(column)
    except TypeError:
        raise unnameable(name) from None
    if (codes < 0).any():
        codes, values = pd.factorize(np.where(codes < 0, len(values), codes))
    return codes, len(values)


def _of_rows(positions: Positions, name: str) -> Any:
    """Return a column of holdings; integers and booleans in dtypes that can be missing."""
    require_columns(positions.holdings, [name])
    column = positions.holdings[name]
    if column.ndim > 1:
        raise SettingsError(f"by: {shown(name)!r} is the name of two columns", hint="rename one")
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return column.array


def _of_wallets(positions: Positions, name: str) -> Any:
    """Return what `wallets` says of each wallet."""
    if name == "blockchain":
        return text_array(np.array(positions.chains, dtype=object)[positions.chain_codes])
    if name == SNAPSHOT:
        return snapshot_times(positions.given).array.take(positions.first)
    return kept_labels(positions.given, name, positions.first)
