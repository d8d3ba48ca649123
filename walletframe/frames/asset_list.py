"""Assets: the packaged list, a caller's own contracts, and holdings with assets for tokens."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import is_blank
from walletframe.chains import normalize_blockchain
from walletframe.disk import read_parquet
from walletframe.errors import ArgumentError, SettingsError, TokenListError, UnknownTokenError
from walletframe.frames.contract import require_columns, text_array
from walletframe.frames.identity import KeyCodes, token_key
from walletframe.frames.names import token_names, token_place
from walletframe.frames.positions import Assets, Positions
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line, token_text, unlinked
from walletframe.tokens import ASSET_KINDS, AssetContract, asset_contracts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from walletframe.frames.identity import Codes, TokenKey
    from walletframe.frames.names import TokenLike

AssetsLike: TypeAlias = str | Path | pd.DataFrame

_ASSET = "asset"  # an asset's key has it in place of a blockchain, which is never in lower case
_NEEDED = ("asset", "token_blockchain", "token_address")
_COLUMNS = (*_NEEDED, "symbol", "kind")
_FORMS = (
    "give a frame, a .csv or a .parquet with the columns asset, token_blockchain and "
    "token_address (empty for a native coin), and, if you like, symbol and kind "
    f"({', '.join(ASSET_KINDS)})"
)


def assets(more: AssetsLike | None = None) -> pd.DataFrame:
    """List the contracts of each asset on all blockchains.

    Parameters
    ----------
    more : DataFrame, str or Path, optional
        Contracts of your own, as a frame, a ``.csv`` or a ``.parquet``: the columns ``asset``,
        ``token_blockchain`` and ``token_address`` (missing for a native coin), and optionally
        ``symbol`` and ``kind``, by default native for a coin and canonical for a contract. Its
        contracts replace those of the packaged list.

    Returns
    -------
    DataFrame
        One row for each contract, those of `more` last, on an index from 0: ``asset``, such as
        USDC; ``token_blockchain``; ``token_address``, NA for a native coin; ``symbol``; ``kind``:

        - ``native``, the coin of a blockchain;
        - ``canonical``, issued by the asset's own issuer;
        - ``bridged``, issued for the asset by a bridge, a custodian or a wrapping contract
          (USDC.e, WETH, WBTC), or in no list as the issuer's.

        All are str. ``totals(by="asset")`` and ``share(asset=…)`` add up native and canonical
        contracts, and with ``bridged=True`` bridged ones, too.

    Raises
    ------
    TokenListError
        If the file can't be read, or rows have no asset or blockchain, an unknown kind, or the
        contract of another row with another asset or kind. All these rows are named.
    ArgumentError, ColumnsError, OSError
        If `more` is of another type, lacks a column, or there is no such file.

    Notes
    -----
    The packaged list is of November 2026. USDC and EURC are as in Circle's Bridge Kit 1.15.1
    (September 2026); native coins as in `walletframe.blockchains`, without test networks. Each
    other contract is in one of the freely licensed lists that ``walletframe.tokens.SOURCES`` names
    with their versions and months; ``walletframe/tokens/known.csv`` has the list of each contract.

    One unit of each contract represents one unit of the asset, but its value may differ: a bridged
    version is worth what its bridge still holds. These are not listed, since adding them up would
    be wrong: BTT, whose old unit is 1,000 of the new ones; EURe, which shows a balance in two
    contracts; FRAX and FXS, which changed symbols; former contracts.

    Examples
    --------
    >>> listed = assets()
    >>> dollars = listed[(listed["asset"] == "USDC") & (listed["kind"] == "canonical")]
    >>> dollars["token_blockchain"].head(3).tolist()
    ['ETH', 'POLYGON', 'ARBITRUM']
    """
    rows = [astuple(row) for row in _listed(more).values()]
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
    return pd.DataFrame({name: text_array(list(column)) for name, column in columns.items()})


def refuse_assets(assets: AssetsLike | None, *, bridged: bool) -> None:
    """Raise an error if `assets` or `bridged` is given, for calls without assets."""
    if assets is not None or bridged:
        option = "bridged" if assets is None else "assets"
        raise SettingsError(f"{option} is for assets alone", hint='add by="asset"')


def with_assets(
    positions: Positions, more: AssetsLike | None = None, *, bridged: bool = False
) -> Positions:
    """Replace tokens by assets, except unlisted ones, and bridged ones unless `bridged`."""
    listed = _listed(more)
    tokens, kinds = positions.contracts, ASSET_KINDS if bridged else ASSET_KINDS[:2]
    counted = {key: row.asset for key, row in listed.items() if row.kind in kinds}
    keys = [(_ASSET, counted[key]) if key in counted else key for key in tokens.keys]
    places: dict[TokenKey, int] = {}
    of_tokens = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.intp)
    blockchains: dict[TokenKey, set[str]] = {}
    for (chain, _), asset in counted.items():
        blockchains.setdefault((_ASSET, asset), set()).add(chain)
    first = np.full(len(places), len(positions.holdings), dtype=np.intp)
    np.minimum.at(first, of_tokens, tokens.first)
    whole = KeyCodes(of_tokens[tokens.codes], list(places), first)
    taken = frozenset(row.asset.casefold() for row in listed.values())
    own = np.flatnonzero([key[0] != _ASSET for key in whole.keys])
    # A token with the symbol of an asset is named with its contract.
    named = iter(
        token_names(positions.holdings, tokens, tokens.codes[whole.first[own]], taken=taken)
    )
    names = {
        key: safe_line(key[1] or "") if key[0] == _ASSET else next(named) for key in whole.keys
    }
    return replace(positions, tokens=whole, assets=Assets(tokens, names, blockchains))


def token_or_asset_names(positions: Positions, places: Codes) -> list[str]:
    """Return the names of tokens, or assets, by their indices in ``positions.tokens``."""
    if positions.assets is None:
        return token_names(positions.holdings, positions.tokens, places)
    return [positions.assets.names[positions.tokens.keys[place]] for place in places.tolist()]


def token_or_asset_index(positions: Positions, named: TokenLike) -> int:
    """Return the index of the token, or asset, that a caller names by name or contract."""
    keys, contracts = positions.tokens.keys, positions.contracts
    if positions.assets is None or not isinstance(named, str):

        def hint_for(first: TokenKey) -> str:
            one = f"name the one token, such as token={token_text(first)}"
            if not any(row.asset == named for row in _packaged().values()):
                return one
            return f"{one}, or all contracts of the asset together: asset={named!a}"

        place = token_place(positions.holdings, contracts, named, hint=hint_for)
        return int(positions.tokens.codes[contracts.first[place]])
    if (_ASSET, named) in keys:
        return keys.index((_ASSET, named))
    wanted = named.strip().casefold()
    similar = [name for chain, name in keys if chain == _ASSET and str(name).casefold() == wanted]
    meant = f"did you mean {similar[0]!r}? " if similar else ""
    advice = "pass bridged=True to count bridged versions; for an unlisted token, pass token=…"
    raise UnknownTokenError(named, "asset", f"{unlinked(meant)}{advice}")


@cache
def _packaged() -> Mapping[TokenKey, AssetContract]:
    return {token_key((row.blockchain, row.contract)): row for row in asset_contracts()}


def _listed(more: AssetsLike | None) -> Mapping[TokenKey, AssetContract]:
    """Return the listed contracts by token key, the caller's own last."""
    if more is None:
        return _packaged()
    own: dict[TokenKey, AssetContract] = {}
    places: dict[TokenKey, int] = {}
    problems = []
    for place, row, fault in _rows(_frame(more)):
        if fault:
            problems.append((place, row, fault))
            continue
        key = token_key((row.blockchain, row.contract))
        first = own.setdefault(key, row)
        if (first.asset, first.kind) != (row.asset, row.kind):
            contradiction = f"it is {first.kind} {first.asset} already, at {places[key]}"
            problems.append((place, row, contradiction))
        places.setdefault(key, place)
    if problems:
        named = [
            (place, safe_line(ascii((row.asset, row.blockchain, row.contract))), fault)
            for place, row, fault in problems
        ]
        raise TokenListError(named, hint=_FORMS)
    return {key: row for key, row in _packaged().items() if key not in own} | own


def _rows(frame: pd.DataFrame) -> Iterator[tuple[int, AssetContract, str]]:
    """Yield the position, from 0, the contract and the fault, if any, of each row of a frame."""
    absent = [None] * len(frame)
    columns = [frame[name] if name in frame.columns else absent for name in _COLUMNS]
    for place, cells in enumerate(zip(*columns, strict=True)):
        if all(map(is_blank, cells)):
            continue
        asset, chain, contract, symbol, kind = (
            None if is_blank(cell) else str(cell).strip() for cell in cells
        )
        usual = ASSET_KINDS[0] if contract is None else ASSET_KINDS[1]
        chain = normalize_blockchain(chain or "")
        row = AssetContract(asset or "", chain, contract, symbol, kind or usual)
        fault = "" if asset else "it has no asset"
        if not chain:
            fault = "it has no blockchain"
        elif row.kind not in ASSET_KINDS:
            fault = f"its kind is {safe_line(row.kind)!r}, not one of {', '.join(ASSET_KINDS)}"
        yield place, row, fault


def _frame(more: Any) -> pd.DataFrame:
    """Read a caller's frame or file, and check that it has the needed columns."""
    if isinstance(more, str | Path):
        path = Path(more).expanduser()
        try:
            if path.suffix.lower() == ".parquet":
                more = read_parquet(path).to_pandas()
            else:
                more = pd.read_csv(path, dtype=TEXT, keep_default_na=False, encoding="utf-8-sig")
        except ValueError as error:  # from parsers and Arrow
            fault = f"it can't be read: {error}"
            raise TokenListError([(0, safe_line(str(path)), fault)], hint=_FORMS) from None
        more = more.rename(columns=lambda name: str(name).strip())
    if not isinstance(more, pd.DataFrame):
        raise ArgumentError(f"assets can't be of type {type(more).__name__}", hint=_FORMS)
    require_columns(more, _NEEDED, _FORMS)
    return more
