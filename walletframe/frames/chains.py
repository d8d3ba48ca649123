"""The blockchains that the service is known to know, as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.chains import known_blockchains
from walletframe.frames.contract import WALLET_DTYPES, typed_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT = WALLET_DTYPES["blockchain"]
_DTYPES: Final[Mapping[str, Any]] = {
    "blockchain": _TEXT,
    "name": _TEXT,
    "coin": _TEXT,
    "chain_id": pd.Int64Dtype(),
}


def blockchains() -> pd.DataFrame:
    """List the blockchains that the service is known to know.

    Returns
    -------
    DataFrame
        One row for each of the 107, on an index from 0: ``blockchain``, the identifier, as it is
        written in front of an address; ``name`` and ``coin``, str, what people call it and the
        symbol of its native coin; ``chain_id``, Int64, its id where it is an EVM blockchain. NA
        where the public lists below don't have it.

    Notes
    -----
    The identifiers are those of the service's own Python client of April 2026. The service may
    know more by now: any identifier is asked for as it is written.

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
