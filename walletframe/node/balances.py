"""`token_balance`: balances of one token; `crosscheck`: balances compared with the service's."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address.forms import canonical_key
from walletframe.address.lists import distinct_wallets
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.errors import SettingsError
from walletframe.frameless import frameless
from walletframe.frames.contract import HOLDING_DTYPES, category_of, require_columns, typed_frame
from walletframe.frames.details import as_holdings_frame
from walletframe.node import request
from walletframe.node.request import BalanceQuery, NodeBalance, NodeOptions, TokenMetadata
from walletframe.node.rpc import NodeFailure, NodeStatus
from walletframe.settings.key import NodeUrl, require_node
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.address.lists import WalletsLike
    from walletframe.frames.details import DetailsLike


class Agreement(StrEnum):
    """Results of comparing a balance of the service with the node's; categories of ``status``."""

    AGREE = "agree"
    DIFFER = "differ"
    UNKNOWN = "unknown"


_TEXT = HOLDING_DTYPES["symbol"]
_MAX_DIGITS = 1_000  # far beyond uint256, well within what int() reads
_COPIED_COLUMNS = ("blockchain", "address", "symbol", "token_address", "raw_amount")
BALANCE_DTYPES: Final[dict[str, Any]] = {
    **HOLDING_DTYPES,
    "block": pd.Int64Dtype(),
    "status": category_of(NodeStatus),
    "error": _TEXT,
}
AGREEMENT_DTYPES: Final[dict[str, Any]] = {
    **{name: HOLDING_DTYPES[name] for name in _COPIED_COLUMNS},
    "node_raw_amount": _TEXT,
    "difference": AmountDtype(),
    "block": pd.Int64Dtype(),
    "status": category_of(Agreement),
    "error": _TEXT,
}


@frameless
def token_balance(
    wallets: WalletsLike,
    token: str | None,
    *,
    rpc_url: str | NodeUrl | None = None,
    block: int | None = None,
    chain_ids: Mapping[str, int] | None = None,
    timeout_s: float = 30.0,
) -> pd.DataFrame:
    """Read the balances of one token from a blockchain's node.

    The service behind `fetch_wallets` enumerates every token of a wallet, which is slow. If one
    token is enough, ask a node of its blockchain. For EVM blockchains: the native coin, and ERC-20
    tokens. Needs the extra ``node``.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them
        As for `fetch_wallets`; each distinct wallet is requested once.
    token : str or None
        The address of the token's contract; None for the native coin.
    rpc_url : str, optional
        The URL of the node's JSON-RPC: https, or http on this machine. It is as secret as the API
        key: rather set the environment variable ``WALLETFRAME_RPC_URL``, the default, than write
        it into a cell.
    block : int, optional
        The number of the block to read, for all wallets. Default: the latest block.
    chain_ids : mapping of str to int, optional
        Chain ids of blockchains that walletframe does not know, such as ``{"HYPEREVM": 999}``.
    timeout_s : float, default 30
        The time limit of one whole request, in seconds.

    Returns
    -------
    DataFrame
        One row for each distinct wallet, in the order of the first mention: the columns of
        ``holdings`` (``blockchain``, ``address``, ``symbol``, ``token_address``, ``amount``,
        ``decimals``, ``raw_amount``, ``token_blockchain``, ``price``, which is NA), then ``block``
        (Int64, the block that was read; NA if none was), ``status`` and ``error``. If the status
        is not ``ok``, the amount is NA, never 0, and ``error`` says why: ``reverted`` (the
        contract refused), ``invalid`` (the answer is not a balance), ``no_block`` (the node lacks
        the block), ``other_chain`` (the node is of another blockchain), ``node_error``,
        ``rate_limited``, ``timeout``, ``unreachable``, ``rejected``. If the contract has no usable
        decimals, only ``raw_amount`` is known.

    Raises
    ------
    AddressError
        Lists every wallet that can't be read, or has no address of an EVM blockchain.
    SettingsError
        If no node is named, a blockchain's chain id is not known, or an argument can't be used.
    MissingExtraError
        If the extra ``node`` is not installed.

    Warns
    -----
    FetchWarning
        If balances are not known.

    Notes
    -----
    After a reorganisation, a block number stands for another block: for final balances, choose a
    block that is some minutes old. 1,000 wallets take 6 requests if the contract Multicall3 is
    deployed, as on nearly all public blockchains, else 14, and at most 17 if a contract refuses.

    Examples
    --------
    >>> token_balance([], None, rpc_url="http://127.0.0.1:8545").shape
    (0, 12)
    """
    rpc_url = NodeUrl.of(rpc_url)
    parsed = distinct_wallets(request.parse_evm_wallets(wallets))
    contract = request.parse_contract(token)
    options = NodeOptions(block, chain_ids, timeout_s)
    blockchains = [wallet.blockchain for wallet in parsed]
    if unknown := sorted({repr(name) for name in blockchains if options.id_of(name) is None}):
        raise SettingsError(
            f"no chain id is known for {', '.join(unknown)}", hint=request.CHAIN_HINT
        )
    require_node(rpc_url)
    request.require_extra()
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi

    queries = [BalanceQuery(each.blockchain, each.canonical.address, contract) for each in parsed]
    by_query, metadata = look_up(rpc_url, queries, options, contract)
    balances = [by_query[query] for query in queries]
    if contract is None:
        coins = [options.coins.get(each.canonical.blockchain) for each in parsed]
        tokens = [TokenMetadata(coin, request.COIN_DECIMALS) for coin in coins]
    else:
        tokens = [TokenMetadata() if each.block is None else metadata for each in balances]
    raw = [each.balance for each in balances]
    decimals = [each.decimals for each in tokens]
    failures = [each.failure or of.failure for each, of in zip(balances, tokens, strict=True)]
    columns: dict[str, Any] = {
        "blockchain": blockchains,
        "address": [wallet.address for wallet in parsed],
        "symbol": [each.symbol for each in tokens],
        "token_address": [token and token.strip()] * len(parsed),
        "amount": AmountArray.from_raw(raw, decimals),
        "decimals": decimals,
        "raw_amount": [None if value is None else str(value) for value in raw],
        "token_blockchain": blockchains,
        "price": [None] * len(parsed),
        "block": [each.block for each in balances],
        "status": [str(each.status if each else NodeStatus.OK) for each in failures],
        "error": [each.error if each else None for each in failures],
    }
    request.warn_unknown(columns["error"])
    return typed_frame(columns, BALANCE_DTYPES)


@frameless
def crosscheck(
    holdings: pd.DataFrame | DetailsLike,
    *,
    rpc_url: str | NodeUrl | None = None,
    block: int | None = None,
    chain_ids: Mapping[str, int] | None = None,
    timeout_s: float = 30.0,
) -> pd.DataFrame:
    """Compare the service's balances with those of a blockchain's node.

    Decimals, symbols and prices are not compared, and a token that the service left out is not
    noticed. Needs the extra ``node``.

    Parameters
    ----------
    holdings : DataFrame or WalletDetails
        The ``holdings`` of `fetch_wallets`, or the whole fetch, on any blockchains; the balances
        on the node's own blockchain are compared.
    rpc_url, block, chain_ids, timeout_s : optional
        As for `token_balance`. Balances change: they may differ only because the service read
        another block.

    Returns
    -------
    DataFrame
        One row for each of `holdings`, in its order and on its index: ``blockchain``,
        ``address``, ``symbol``, ``token_address``, ``raw_amount`` (the service's, in base units),
        ``node_raw_amount`` (the node's), ``difference`` (amount, in base units: the service's less
        the node's), ``block`` (Int64, NA if none was read), ``status`` (``agree``, ``differ``, or
        ``unknown`` if the node's balance is not known), and ``error``, which says why.

    Raises
    ------
    ArgumentError
        If `holdings` is of another type.
    ColumnsError
        If a column is missing.
    SettingsError
        If no node is named, or `block`, `chain_ids` or `timeout_s` can't be used.
    MissingExtraError
        If the extra ``node`` is not installed.

    Warns
    -----
    FetchWarning
        If balances could not be compared.

    Examples
    --------
    >>> from walletframe.frames.assembly import assemble
    >>> crosscheck(assemble([]).holdings, rpc_url="http://127.0.0.1:8545").shape
    (0, 10)
    """
    rpc_url = NodeUrl.of(rpc_url)
    frame = as_holdings_frame(holdings)
    require_columns(frame, _COPIED_COLUMNS)
    options = NodeOptions(block, chain_ids, timeout_s)
    require_node(rpc_url)
    request.require_extra()
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi

    names = [*_COPIED_COLUMNS, *({"token_blockchain"} & set(frame.columns))]
    cells = [frame[name].astype(object).where(frame[name].notna(), None) for name in names]
    rows = (dict(zip(names, values, strict=True)) for values in zip(*cells, strict=True))
    requested = [_query_of(row, options) for row in rows]
    queries = list(dict.fromkeys(each for each in requested if isinstance(each, BalanceQuery)))
    by_query, _ = look_up(rpc_url, queries, options)
    results = [
        by_query[each]
        if isinstance(each, BalanceQuery)
        else NodeBalance(failure=NodeFailure(NodeStatus.INVALID, each))
        for each in requested
    ]
    balances = [each.balance for each in results]
    differences = [
        None if balance is None else int(sent) - balance
        for sent, balance in zip(frame["raw_amount"], balances, strict=True)
    ]
    agreements = [
        Agreement.UNKNOWN if each is None else Agreement.DIFFER if each else Agreement.AGREE
        for each in differences
    ]
    columns: dict[str, Any] = {
        **{name: frame[name].array for name in _COPIED_COLUMNS},
        "node_raw_amount": [None if value is None else str(value) for value in balances],
        "difference": AmountArray.from_raw(differences, 0),
        "block": [each.block for each in results],
        "status": list(map(str, agreements)),
        "error": [each.failure and each.failure.error for each in results],
    }
    request.warn_unknown(columns["error"])
    return typed_frame(columns, AGREEMENT_DTYPES, frame.index)


def _query_of(row: dict[str, Any], options: NodeOptions) -> BalanceQuery | str:
    """Return the query for a row of holdings, or the reason why there is none."""
    blockchain, token_chain = str(row["blockchain"]), row.get("token_blockchain")
    holder, sent = request.evm_address(str(row["address"])), row["token_address"]
    contract = None if sent is None else request.evm_address(str(sent))
    raw_amount = str(row["raw_amount"])
    if options.id_of(blockchain) is None:
        return f"no chain id is known for {shown(blockchain)}; {request.CHAIN_HINT}"
    if token_chain is not None and canonical_key(token_chain, "") != canonical_key(blockchain, ""):
        return "the token is of another blockchain than the wallet"
    if token_chain is None and "token_blockchain" in row:
        return "the token is unknown"
    if holder is None or (contract is None and sent is not None):
        return "no address of an EVM blockchain"
    if not (raw_amount.isascii() and raw_amount.isdigit() and len(raw_amount) <= _MAX_DIGITS):
        return "the raw_amount to compare with is not a number"
    return BalanceQuery(blockchain, holder, contract)
