"""The service's balances compared with the node's: whether each agrees, and the difference."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address import canonical_key
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.frameless import frameless
from walletframe.frames import (
    HOLDING_DTYPES,
    category_of,
    holdings_given,
    require_columns,
    typed_frame,
)
from walletframe.node.request import (
    CHAIN_HINT,
    Found,
    Holder,
    Terms,
    evm_address,
    require_extra,
    tell_unknown,
)
from walletframe.node.rpc import NodeStatus, Trouble
from walletframe.settings import NodeUrl, require_node
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames import DetailsLike


class Agreement(StrEnum):
    """Whether service and node agree on a balance; the categories of ``status``."""

    AGREE = "agree"
    DIFFER = "differ"
    UNKNOWN = "unknown"


_TEXT = HOLDING_DTYPES["symbol"]
_MOST_DIGITS = 1_000  # far beyond uint256, well within what int() reads
_KEPT = ("blockchain", "address", "symbol", "token_address", "raw_amount")
AGREEMENT_DTYPES: Final[dict[str, Any]] = {
    **{name: HOLDING_DTYPES[name] for name in _KEPT},
    "node_raw_amount": _TEXT,
    "difference": AmountDtype(),
    "block": pd.Int64Dtype(),
    "status": category_of(Agreement),
    "error": _TEXT,
}


@frameless
def crosscheck(
    holdings: pd.DataFrame | DetailsLike,
    *,
    rpc_url: str | NodeUrl | None = None,
    block: int | None = None,
    chain_ids: Mapping[str, int] | None = None,
    timeout_s: float = 30.0,
) -> pd.DataFrame:
    """Compare the balances that the service reports with what a blockchain's node has.

    Decimals, symbols and prices are not compared, and a token that the service left out is not
    found. Needs the extra ``node``.

    Parameters
    ----------
    holdings : DataFrame or WalletDetails
        The ``holdings`` of `fetch_wallets`, or the whole fetch, on any blockchains; those of the
        node's own are compared.
    rpc_url : str, optional
        Where the node's JSON-RPC is, as for `token_balance`; since it is secret, better in the
        environment variable ``WALLETFRAME_RPC_URL`` than in a cell.
    block : int, optional
        The number of the block at which to read; the latest where not given, the same for all.
        Balances change: what the service reported some blocks ago may differ for that reason alone.
    chain_ids : mapping of str to int, optional
        Chain ids of blockchains that walletframe does not know, such as ``{"HYPEREVM": 999}``.
    timeout_s : float, default 30
        How long one request may take as a whole, in seconds.

    Returns
    -------
    DataFrame
        One row for each of `holdings`, in its order and on its index: ``blockchain``,
        ``address``, ``symbol``, ``token_address``, ``raw_amount`` (the service's, in base units),
        ``node_raw_amount`` (the node's), ``difference`` (amount, in base units: the service's less
        the node's), ``block`` (Int64, NA where none was asked about), ``status`` (``agree``,
        ``differ``, or ``unknown`` where the node could not say), and ``error``, which says why.

    Raises
    ------
    ArgumentError
        If `holdings` is of another type.
    ColumnsError
        If a column is missing.
    SettingsError
        If no node is named, or a chain id, the block or the time can't be used.
    MissingExtraError
        If the extra ``node`` is not installed.

    Warns
    -----
    FetchWarning
        If balances could not be compared.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> crosscheck(assemble([]).holdings, rpc_url="http://127.0.0.1:8545").shape
    (0, 10)
    """
    rpc_url = NodeUrl.of(rpc_url)
    frame = holdings_given(holdings)
    require_columns(frame, _KEPT)
    terms = Terms(block, chain_ids, timeout_s)
    require_node(rpc_url)
    require_extra()
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi

    names = [*_KEPT, *({"token_blockchain"} & set(frame.columns))]
    cells = [frame[name].astype(object).where(frame[name].notna(), None) for name in names]
    rows = (dict(zip(names, values, strict=True)) for values in zip(*cells, strict=True))
    asked = [_asked(row, terms) for row in rows]
    holders = list(dict.fromkeys(each for each in asked if isinstance(each, Holder)))
    by_holder, _ = look_up(rpc_url, holders, terms)
    found = [
        by_holder[each]
        if isinstance(each, Holder)
        else Found(trouble=Trouble(NodeStatus.INVALID, each))
        for each in asked
    ]
    compared = _compared(frame, found)
    tell_unknown(compared["error"])
    return compared


def _asked(row: dict[str, Any], terms: Terms) -> Holder | str:
    """Return whom to ask the node for, or why nobody."""
    blockchain, token_chain = str(row["blockchain"]), row.get("token_blockchain")
    owner, sent = evm_address(str(row["address"])), row["token_address"]
    contract = None if sent is None else evm_address(str(sent))
    raw_amount = str(row["raw_amount"])
    if terms.id_of(blockchain) is None:
        return f"no chain id is known for {shown(blockchain)}; {CHAIN_HINT}"
    if token_chain is not None and canonical_key(token_chain, "") != canonical_key(blockchain, ""):
        return "the token is of another blockchain than the wallet"
    if token_chain is None and "token_blockchain" in row:
        return "the token is unknown"
    if owner is None or (contract is None and sent is not None):
        return "no address of an EVM blockchain"
    if not (raw_amount.isascii() and raw_amount.isdigit() and len(raw_amount) <= _MOST_DIGITS):
        return "the raw_amount to compare with is not a number"
    return Holder(blockchain, owner, contract)


def _compared(holdings: pd.DataFrame, found: Sequence[Found]) -> pd.DataFrame:
    balances = [each.balance for each in found]
    differences = [
        None if balance is None else int(sent) - balance
        for sent, balance in zip(holdings["raw_amount"], balances, strict=True)
    ]
    agreements = [
        Agreement.UNKNOWN if each is None else Agreement.DIFFER if each else Agreement.AGREE
        for each in differences
    ]
    columns: dict[str, Any] = {
        **{name: holdings[name].array for name in _KEPT},
        "node_raw_amount": [None if value is None else str(value) for value in balances],
        "difference": AmountArray.from_raw(differences, 0),
        "block": [each.block for each in found],
        "status": list(map(str, agreements)),
        "error": [each.trouble and each.trouble.error for each in found],
    }
    return typed_frame(columns, AGREEMENT_DTYPES, holdings.index)
