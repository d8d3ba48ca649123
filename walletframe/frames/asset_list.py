"""Assets: the packaged list, contracts added by the user, and holdings grouped by asset."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import is_blank
from walletframe.amounts.sums import positive_mask
from walletframe.chains import normalize_blockchain
from walletframe.disk import read_parquet
from walletframe.errors import (
    ArgumentError,
    InputWarning,
    SettingsError,
    TokenListError,
    UnknownTokenError,
)
from walletframe.frames.identity import KeyCodes, contract_key, factorize_values
from walletframe.frames.names import pass_contract_hint, token_index, token_names
from walletframe.frames.positions import HOLDERS, Assets, Positions
from walletframe.frames.results import bridged_text
from walletframe.frames.schema import require_columns, text_array
from walletframe.notice import notify
from walletframe.pandas_versions import TEXT
from walletframe.settings.tables import table_defaults
from walletframe.text import safe_line
from walletframe.tokens import ASSET_KINDS, AssetContract, asset_contracts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from walletframe.frames.identity import Codes, Mask, TokenKey
    from walletframe.frames.names import TokenLike

AssetsLike: TypeAlias = str | Path | pd.DataFrame
_AssetByKey: TypeAlias = "dict[TokenKey, TokenKey]"
_Lookups: TypeAlias = "tuple[_AssetByKey, _AssetByKey, dict[TokenKey, set[str]], frozenset[str]]"

BRIDGED: Final = "bridged"  # key in ``attrs`` that marks a selection with bridged=True
_ASSET = "asset"  # the first part of an asset's key; blockchains are never lower case
_REQUIRED = ("asset", "token_blockchain", "token_address")
_COLUMNS = (*_REQUIRED, "symbol", "kind")
_FORMS = (
    "pass a DataFrame, or the path of a .csv or .parquet file, with the columns asset, "
    "token_blockchain and token_address (empty for a native coin); optional columns: symbol, kind "
    f"({', '.join(ASSET_KINDS)})"
)
_NO_CONTRACTS = pd.DataFrame(columns=[*_REQUIRED])


def assets(more: AssetsLike | None = None) -> pd.DataFrame:
    """List the contracts of each asset on all blockchains.

    Parameters
    ----------
    more : DataFrame, str or Path, optional
        Your contracts: a DataFrame, or the path of a ``.csv`` or ``.parquet`` file. Default: the
        setting ``assets``. Your contracts override the packaged list. The columns are:

        - ``asset``, ``token_blockchain`` and ``token_address`` (missing for a native coin);
        - ``symbol``, optional;
        - ``kind``, optional. Default: native for a coin, canonical for a contract.

    Returns
    -------
    DataFrame
        One row for each contract, with an index from 0. Yours are last. All columns are str:

        - ``asset``: the name of the asset, such as USDC;
        - ``token_blockchain`` and ``token_address``: the contract (NA for a native coin);
        - ``symbol``: the symbol of the contract;
        - ``kind``: ``native``, ``canonical`` or ``bridged``.

        ``native`` is the coin of a blockchain. ``canonical`` contracts belong to the issuer of the
        asset. ``bridged`` contracts belong to a bridge, a custodian or a wrapping contract (USDC.e,
        WETH, WBTC). All other packaged contracts are also ``bridged``.

        ``totals(by="asset")`` and ``share(asset=…)`` add up native and canonical contracts. To add
        bridged contracts, pass ``bridged=True``.

    Raises
    ------
    TokenListError
        If the file can't be read, or if rows are invalid. An invalid row has no asset, no
        blockchain or an unknown kind, or contradicts another row of the same contract. The error
        lists all invalid rows.
    ArgumentError, ColumnsError, OSError
        If `more` has an unsupported type or lacks a column, or if the file does not exist.

    Notes
    -----
    The packaged list dates from November 2026. USDC and EURC are as in Circle's Bridge Kit 1.15.1
    (September 2026). Native coins are as in `walletframe.blockchains`, without test networks. All
    other contracts are from freely licensed lists. ``walletframe/tokens/sources.toml`` has the
    version and month of each list; ``walletframe/tokens/known.csv`` names each contract's list.

    One unit of each contract represents one unit of the asset. The values may differ: a bridged
    unit may be worth less if the bridge's reserves are incomplete. The list omits BTT (an old unit
    equals 1,000 new units), EURe (two contracts show the same balance), FRAX and FXS (they changed
    symbols), and all former contracts.

    Examples
    --------
    >>> listed = assets()
    >>> dollars = listed[(listed["asset"] == "USDC") & (listed["kind"] == "canonical")]
    >>> dollars["token_blockchain"].head(3).tolist()
    ['ETH', 'POLYGON', 'ARBITRUM']
    """
    columns = zip(_COLUMNS, zip(*_contracts_by_key(more).values(), strict=True), strict=True)
    return pd.DataFrame({name: text_array(list(column)) for name, column in columns})


def read_user_assets(more: AssetsLike | None) -> pd.DataFrame:
    """Read the user's contracts from `more`. If `more` is None, use the setting `assets`."""
    more = table_defaults().assets if more is None else more
    return _NO_CONTRACTS if more is None else _read_assets(more)


def reject_assets(assets: AssetsLike | None = None, *, bridged: bool = False) -> None:
    """Raise an error if `assets` or `bridged` is passed."""
    if assets is not None or bridged:
        option = "bridged" if assets is None else "assets"
        problem = f"{option}=… applies only to tables of assets"
        raise SettingsError(problem, hint=f"group by asset, or leave out {option}=…")


def tokens_to_assets(
    positions: Positions, assets: AssetsLike | None = None, *, bridged: bool = False
) -> Positions:
    """Replace listed contracts by assets. By default, keep bridged contracts separate."""
    bridged = bridged or BRIDGED in positions.holdings.attrs
    listed = _contracts_by_key(assets)
    make = _packaged_lookups if listed is _packaged_contracts() else partial(_asset_lookups, listed)
    asset_by_key, others, blockchains, names = make(bridged=bridged)
    tokens = positions.contracts
    asset_codes, keys = factorize_values(map(asset_by_key.get, tokens.keys, tokens.keys))
    merged = KeyCodes(asset_codes[tokens.codes], keys)
    selected = positions.holdings.attrs.get(HOLDERS, {}).get("blockchains")
    if selected is not None:  # a selected token may be on fewer blockchains than its asset
        blockchains = {key: chains.intersection(selected) for key, chains in blockchains.items()}
    return replace(positions, tokens=merged, assets=Assets(tokens, names, blockchains, others))


def count_bridged_rows(positions: Positions) -> int:
    """Return how many fewer rows a table of assets would have with ``bridged=True``."""
    listed = {} if BRIDGED in positions.holdings.attrs else _contracts_by_key(None)
    held = [listed[key] for key in positions.contracts.keys if key in listed]
    separate = {row if row.kind == ASSET_KINDS[-1] else row.asset for row in held}
    return len(separate) - len({row.asset for row in held})


def combine_single_asset(positions: Positions) -> Positions | None:
    """Return the positions by asset if all tokens belong to one asset, else None."""
    combined = positions if positions.assets else tokens_to_assets(positions)
    is_single = len(combined.tokens.keys) == 1 and not combined.tokens.unknown.any()
    return combined if is_single else None


def count_and_sum_omitted_bridged(
    positions: Positions, asset_index: int, mask: Mask | np.bool_ = np.True_
) -> tuple[int, str]:
    """Count and sum an asset's bridged versions above 0. The sum is "" for several snapshots."""
    if not positions.assets:
        return 0, "0"
    bridged, contracts = positions.assets.bridged, positions.contracts
    asset = positions.tokens.keys[asset_index]
    is_version = np.array([bridged.get(key) == asset for key in contracts.keys], dtype=bool)
    indices = np.flatnonzero(is_version[contracts.codes] & mask)
    indices = indices[positive_mask(positions.amounts[indices].exact())]
    snapshots = positions.holdings.get("snapshot")
    is_added = snapshots is None or len(snapshots.array[indices].unique()) <= 1
    amount = format(positions.amounts[indices].sum(), "f") if is_added else ""
    return len(np.unique(contracts.codes[indices])), amount


def warn_about_omitted_bridged(versions: int, *amounts: str) -> None:
    """If `versions` is above 0, warn that the result lacks bridged versions."""
    if versions:
        text = bridged_text(versions, *amounts)
        notify(f"the result lacks {text}; pass bridged=True to include all versions", InputWarning)


def count_bridged_versions(positions: Positions, contracts: Codes) -> int:
    """Count the distinct bridged contracts in `contracts` that are left out of assets."""
    bridged = positions.assets.bridged if positions.assets else {}
    is_bridged = np.array([*map(bridged.__contains__, positions.contracts.keys)], dtype=bool)
    return int(np.count_nonzero(np.bincount(contracts, minlength=len(is_bridged))[is_bridged]))


def token_or_asset_names(positions: Positions, indices: Codes) -> list[str]:
    """Return the names of the tokens or assets with these indices."""
    holdings, tokens, assets = positions.holdings, positions.tokens, positions.assets
    if assets is None:
        return token_names(holdings, tokens, indices)
    keys = [tokens.keys[index] for index in indices.tolist()]
    first = tokens.first[indices[[key[0] != _ASSET for key in keys]]]
    # Add the contract to the symbol of a token if an asset has the same name.
    codes = assets.contracts.codes[first]
    names = iter(token_names(holdings, assets.contracts, codes, taken=assets.names))
    return [safe_line(key[1] or "") if key[0] == _ASSET else next(names) for key in keys]


def find_token_or_asset(positions: Positions, name: TokenLike) -> int:
    """Return the index of the token or asset with this name or contract."""
    keys, contracts = positions.tokens.keys, positions.contracts
    if positions.assets is None or not isinstance(name, str):

        def contract_or_asset_hint(token: TokenKey) -> str:
            hint = pass_contract_hint(token)
            if not any(row.asset == name for row in _packaged_contracts().values()):
                return hint
            return f"{hint}, or add up all contracts of the asset with asset={name!a}"

        index = token_index(positions.holdings, contracts, name, hint=contract_or_asset_hint)
        return int(positions.tokens.codes[contracts.first[index]])
    if (_ASSET, name) in keys:
        return keys.index((_ASSET, name))
    wanted = name.strip().casefold()
    if not any(str(asset).casefold() == wanted for _, asset in positions.assets.blockchains):
        index = token_index(positions.holdings, contracts, name)  # the symbol of an unlisted token
        return int(positions.tokens.codes[contracts.first[index]])
    for position, (chain, asset) in enumerate(keys):
        if chain == _ASSET and str(asset).casefold() == wanted:
            return position
    advice = (
        "pass bridged=True to include bridged versions of the asset, or token=… for a token with "
        "this symbol"
    )
    raise UnknownTokenError(name, "asset", advice)


def asset_key_by_contract() -> dict[TokenKey, TokenKey]:
    """Return a dict from the key of each listed contract to the key of its asset."""
    return {key: (_ASSET, row.asset) for key, row in _contracts_by_key(None).items()}


@cache
def _packaged_contracts() -> Mapping[TokenKey, AssetContract]:
    return {contract_key(row.blockchain, row.contract): row for row in asset_contracts()}


@cache
def _packaged_lookups(*, bridged: bool) -> _Lookups:
    return _asset_lookups(_packaged_contracts(), bridged=bridged)


def _asset_lookups(listed: Mapping[TokenKey, AssetContract], *, bridged: bool) -> _Lookups:
    kinds = ASSET_KINDS if bridged else ASSET_KINDS[:2]
    assets: _AssetByKey = {key: (_ASSET, row.asset) for key, row in listed.items()}
    counted = {key: asset for key, asset in assets.items() if listed[key].kind in kinds}
    others = {key: asset for key, asset in assets.items() if key not in counted}
    blockchains: dict[TokenKey, set[str]] = {}
    for (blockchain, _), asset in counted.items():
        blockchains.setdefault(asset, set()).add(blockchain)
    return counted, others, blockchains, frozenset(row.asset.casefold() for row in listed.values())


def _contracts_by_key(more: AssetsLike | None) -> Mapping[TokenKey, AssetContract]:
    frame = read_user_assets(more)
    if frame.empty:
        return _packaged_contracts()
    user_contracts: dict[TokenKey, tuple[int, AssetContract]] = {}
    problems = []
    for position, row, fault in _parse_contracts(frame):
        if fault:
            problems.append((position, row, fault))
            continue
        key = contract_key(row.blockchain, row.contract)
        number, first = user_contracts.setdefault(key, (position, row))
        if (first.asset, first.kind) != (row.asset, row.kind):
            problems.append((position, row, f"row {number} lists it as {first.kind} {first.asset}"))
    if problems:
        rows = [
            (position, safe_line(ascii((row.asset, row.blockchain, row.contract))), fault)
            for position, row, fault in problems
        ]
        raise TokenListError(rows, hint=_FORMS)
    packaged = {key: row for key, row in _packaged_contracts().items() if key not in user_contracts}
    return packaged | {key: row for key, (_, row) in user_contracts.items()}


def _parse_contracts(frame: pd.DataFrame) -> Iterator[tuple[int, AssetContract, str]]:
    columns = [frame.get(name, [None] * len(frame)) for name in _COLUMNS]
    for position, cells in enumerate(zip(*columns, strict=True)):
        if all(map(is_blank, cells)):
            continue
        asset, chain, contract, symbol, kind = (
            None if is_blank(cell) else str(cell).strip() for cell in cells
        )
        default_kind = ASSET_KINDS[0] if contract is None else ASSET_KINDS[1]
        chain = normalize_blockchain(chain or "")
        row = AssetContract(asset or "", chain, contract, symbol, kind or default_kind)
        fault = "" if asset else "it has no asset"
        if not chain:
            fault = "it has no blockchain"
        elif row.kind not in ASSET_KINDS:
            fault = f"its kind is {safe_line(row.kind)!r}, not one of {', '.join(ASSET_KINDS)}"
        yield position, row, fault


def _read_assets(more: Any) -> pd.DataFrame:
    if isinstance(more, str | Path):
        path = Path(more).expanduser()
        try:
            if path.suffix.lower() == ".parquet":
                more = read_parquet(path).to_pandas()
            else:
                more = pd.read_csv(path, dtype=TEXT, keep_default_na=False, encoding="utf-8-sig")
        except ValueError as error:  # raised by pandas and Arrow
            fault = f"it can't be read: {error}"
            raise TokenListError([(0, safe_line(str(path)), fault)], hint=_FORMS) from None
        more = more.rename(columns=lambda name: str(name).strip())
    if not isinstance(more, pd.DataFrame):
        raise ArgumentError(f"assets of type {type(more).__name__} are not supported", hint=_FORMS)
    require_columns(more, _REQUIRED, _FORMS)
    return more
