"""The table of known blockchains, and the one spelling of each in frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address import canonical_blockchain
from walletframe.chains import known_blockchains, spelled
from walletframe.frames.contract import WALLET_DTYPES, typed_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPELLED = ("blockchain", "token_blockchain")
_TEXT = WALLET_DTYPES["blockchain"]
_DTYPES: Final[Mapping[str, Any]] = {
    "blockchain": _TEXT,
    "name": _TEXT,
    "coin": _TEXT,
    "chain_id": pd.Int64Dtype(),
}


def blockchains() -> pd.DataFrame:
    """List the blockchains that the service is known to support.

    Returns
    -------
    DataFrame
        One row for each of the 107, on an index from 0: ``blockchain``, the identifier, as it is
        written in front of an address; ``name`` and ``coin``, str, what people call it and the
        symbol of its native coin; ``chain_id``, Int64, its id where it is an EVM blockchain. NA
        where the public lists below don't have it.

    Notes
    -----
    The identifiers are those of the service's own Python client of April 2026. The service may know
    more by now: any identifier is sent as it is written.

    Names, coins and chain ids are from https://github.com/ethereum-lists/chains (MIT licence) and
    https://github.com/cosmos/chain-registry (CC BY 4.0), both of August 2026; those of Dash, IOTA
    and NEAR from SLIP-0044.

    Examples
    --------
    >>> known = blockchains().set_index("blockchain")
    >>> known.loc["AVAX_CCHAIN", ["name", "coin"]].tolist()
    ['Avalanche C-Chain', 'AVAX']
    """
    chains = known_blockchains().values()
    columns = {
        "blockchain": [chain.identifier for chain in chains],
        "name": [chain.name for chain in chains],
        "coin": [chain.coin for chain in chains],
        "chain_id": [chain.chain_id for chain in chains],
    }
    return typed_frame(columns, _DTYPES)


def respelled(*frames: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Write each blockchain alike in some frames: in capitals where it is known, else as first."""
    first: dict[str, str] = {}
    return tuple(_respelled(frame, first) for frame in frames)


def _respelled(frame: pd.DataFrame, first: dict[str, str]) -> pd.DataFrame:
    changed = {}
    for name in _SPELLED:
        if name not in frame.columns:
            continue
        written = frame[name].dropna().unique().tolist()
        names = {
            each: first.setdefault(canonical_blockchain(each), spelled(each)) for each in written
        }
        if any(names[each] != each for each in written):
            changed[name] = frame[name].map(names).astype(frame[name].dtype)
    return frame.assign(**changed) if changed else frame
