"""Read balances from a node, and compare the service's balances with a node."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address.forms import canonical_key
from walletframe.address.lists import WalletsLike, distinct_wallets
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.errors import MissingExtraError, SettingsError
from walletframe.frames.details import DetailsLike, extract_frame
from walletframe.frames.schema import HOLDING_DTYPES, category_dtype, require_columns, typed_frame
from walletframe.node import request
from walletframe.node.request import BalanceQuery, NodeBalance, NodeOptions, TokenMetadata
from walletframe.node.rpc import NodeFailure, NodeStatus
from walletframe.settings.key import RpcUrl, require_rpc_url
from walletframe.text import safe_line
from walletframe.tracebacks import strip_tracebacks

if TYPE_CHECKING:
    from collections.abc import Mapping


class Agreement(StrEnum):
    """The results of comparing balances, in the column ``status``."""

    AGREE = "agree"
    DIFFER = "differ"
    UNKNOWN = "unknown"


_TEXT = HOLDING_DTYPES["symbol"]
_MAX_DIGITS = 1_000  # more than any uint256 has, but less than the limit of int()
_COPIED_COLUMNS = ("blockchain", "address", "symbol", "token_address", "raw_amount")
BALANCE_DTYPES: Final[dict[str, Any]] = {
    **HOLDING_DTYPES,
    "block": pd.Int64Dtype(),
    "status": category_dtype(NodeStatus),
    "error": _TEXT,
}
AGREEMENT_DTYPES: Final[dict[str, Any]] = {
    **{name: HOLDING_DTYPES[name] for name in _COPIED_COLUMNS},
    "node_raw_amount": _TEXT,
    "difference": AmountDtype(),
    "block": pd.Int64Dtype(),
    "status": category_dtype(Agreement),
    "error": _TEXT,
}


@strip_tracebacks
def token_balance(
    wallets: WalletsLike,
    token: str | None,
    *,
    rpc_url: str | RpcUrl | None = None,
    block: int | None = None,
    chain_ids: Mapping[str, int] | None = None,
    timeout_s: float = 30.0,
) -> pd.DataFrame:
    """Read the balances of one token from a node of a blockchain.

    This is faster than `fetch_wallets`, which reads all tokens of a wallet. Only native coins and
    ERC-20 tokens of EVM blockchains are supported. The function requires the extra ``node``.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them
        The wallets, as for `fetch_wallets`. Each distinct wallet is requested once.
    token : str or None
        The address of the token's contract, or None for the native coin.
    rpc_url : str, optional
        The URL of the node's JSON-RPC endpoint, with https, or with http on this machine. Default:
        the environment variable ``WALLETFRAME_RPC_URL``, which keeps the URL out of your code.
    block : int, optional
        The block number at which all balances are read. Default: the latest block.
    chain_ids : mapping of str to int, optional
        Chain ids of blockchains that walletframe does not know, such as ``{"HYPEREVM": 999}``.
    timeout_s : float, default 30
        The time limit of one request from start to end, in seconds.

    Returns
    -------
    DataFrame
        One row per distinct wallet, in the order of the input. The columns are those of
        ``holdings`` (``blockchain``, ``address``, ``symbol``, ``token_address``, ``amount``,
        ``decimals``, ``raw_amount``, ``token_blockchain`` and ``price``, which is always NA),
        followed by

        - ``block`` (Int64): the block that was read, NA if no block was read;
        - ``status`` (category): ``ok``, ``reverted`` (the contract reverted the call), ``invalid``
          (the answer is not a balance), ``no_block`` (the node does not have the block),
          ``other_chain`` (the node belongs to another blockchain), ``node_error``,
          ``rate_limited``, ``timeout``, ``unreachable`` or ``rejected``;
        - ``error`` (str): the reason if the status is not ``ok``.

        If the status is not ``ok``, the amount is NA, never 0. If the contract does not report
        valid decimals, the amount is NA as well, and only ``raw_amount`` is known.

    Raises
    ------
    AddressError
        If a wallet is not valid or has no EVM address. The error lists all such wallets.
    SettingsError
        If the URL of the node is not set, a chain id is not known, or an argument is not valid.
    MissingExtraError
        If the extra ``node`` is not installed.

    Warns
    -----
    FetchWarning
        If balances are not known.

    Notes
    -----
    After a reorganisation of the blockchain, a block number refers to another block. To read final
    balances, choose a block that is some minutes old.

    1,000 wallets take 6 requests with the contract Multicall3, and 14 without it. Nearly all public
    blockchains have this contract. If the token's contract reverts, at most 17 requests are sent.

    Examples
    --------
    >>> token_balance([], None, rpc_url="http://127.0.0.1:8545").shape
    (0, 12)
    """
    rpc_url = RpcUrl.from_argument(rpc_url)
    parsed = distinct_wallets(request.parse_evm_wallets(wallets))
    contract = request.parse_contract(token)
    options = NodeOptions(block, chain_ids, timeout_s)
    blockchains = [wallet.blockchain for wallet in parsed]
    if unknown := sorted({repr(name) for name in blockchains if options.chain_id_of(name) is None}):
        raise SettingsError(f"no chain id is known for {', '.join(unknown)}", request.CHAIN_HINT)
    queries = [BalanceQuery(each.blockchain, each.canonical.address, contract) for each in parsed]
    by_query, metadata = _look_up_balances(rpc_url, queries, options, contract)
    balances = [by_query[query] for query in queries]
    if contract is None:
        coins = [options.coins.get(each.canonical.blockchain) for each in parsed]
        tokens = [TokenMetadata(coin, request.COIN_DECIMALS) for coin in coins]
    else:
        tokens = [TokenMetadata() if each.block is None else metadata for each in balances]
    raw = [each.balance for each in balances]
    decimals = [each.decimals for each in tokens]
    pairs = zip(balances, tokens, strict=True)
    failures = [balance.failure or token_data.failure for balance, token_data in pairs]
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
    request.warn_of_unknown_balances(columns["error"])
    return typed_frame(columns, BALANCE_DTYPES)


@strip_tracebacks
def crosscheck(
    holdings: pd.DataFrame | DetailsLike,
    *,
    rpc_url: str | RpcUrl | None = None,
    block: int | None = None,
    chain_ids: Mapping[str, int] | None = None,
    timeout_s: float = 30.0,
) -> pd.DataFrame:
    """Compare the service's balances with the balances that a node reports.

    Decimals, symbols and prices are not compared. Tokens that the service left out are not
    detected. The function requires the extra ``node``.

    Parameters
    ----------
    holdings : DataFrame or WalletDetails
        The ``holdings`` of `fetch_wallets`, or the complete result. Only holdings on the node's
        blockchain are compared. Other holdings have the status ``unknown``.
    rpc_url, block, chain_ids, timeout_s : optional
        As for `token_balance`. Balances can differ if the service read another block.

    Returns
    -------
    DataFrame
        One row per row of `holdings`, in the same order and with the same index. The columns are

        - ``blockchain``, ``address``, ``symbol``, ``token_address``: the wallet and the token;
        - ``raw_amount``: the balance of the service, in base units;
        - ``node_raw_amount``: the balance of the node, in base units;
        - ``difference`` (dtype amount): the service's balance minus the node's, in base units;
        - ``block`` (Int64): the block that was read, NA if no block was read;
        - ``status`` (category): ``agree``, ``differ``, or ``unknown`` if the node's balance is not
          known;
        - ``error``: the reason if the status is ``unknown``.

    Raises
    ------
    ArgumentError
        If `holdings` has another type.
    ColumnsError
        If a column is missing.
    SettingsError
        If the URL of the node is not set, or if `block`, `chain_ids` or `timeout_s` is not valid.
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
    rpc_url = RpcUrl.from_argument(rpc_url)
    frame = extract_frame(holdings, "holdings")
    require_columns(frame, _COPIED_COLUMNS)
    options = NodeOptions(block, chain_ids, timeout_s)
    names = [*_COPIED_COLUMNS, *({"token_blockchain"} & set(frame.columns))]
    rows: Any = frame[names].astype(object).where(frame[names].notna(), None).to_dict("records")
    requested = [_query_or_failure_reason(row, options) for row in rows]
    queries = list(dict.fromkeys(each for each in requested if isinstance(each, BalanceQuery)))
    by_query, _ = _look_up_balances(rpc_url, queries, options)
    results = [
        by_query[each]
        if isinstance(each, BalanceQuery)
        else NodeBalance(failure=NodeFailure(NodeStatus.INVALID, each))
        for each in requested
    ]
    balances = [each.balance for each in results]
    differences = [
        None if balance is None else int(raw_amount) - balance
        for raw_amount, balance in zip(frame["raw_amount"], balances, strict=True)
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
    request.warn_of_unknown_balances(columns["error"])
    return typed_frame(columns, AGREEMENT_DTYPES, frame.index)


def _look_up_balances(url: RpcUrl, *arguments: Any) -> Any:
    require_rpc_url(url)
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "reading balances from a node")
    from walletframe.node import lookup  # noqa: PLC0415 - imports eth_abi, which only the extra `node` installs

    return lookup.look_up_balances(url, *arguments)


def _query_or_failure_reason(row: dict[str, Any], options: NodeOptions) -> BalanceQuery | str:
    blockchain, token_chain = str(row["blockchain"]), row.get("token_blockchain")
    holder, token_address = request.parse_evm_address(str(row["address"])), row["token_address"]
    contract = None if token_address is None else request.parse_evm_address(str(token_address))
    raw_amount = str(row["raw_amount"])
    if options.chain_id_of(blockchain) is None:
        return f"no chain id is known for {safe_line(blockchain)}; {request.CHAIN_HINT}"
    if token_chain is not None and canonical_key(token_chain, "") != canonical_key(blockchain, ""):
        return "the token and the wallet are on different blockchains"
    if token_chain is None and "token_blockchain" in row:
        return "the token is unknown"
    if holder is None or (contract is None and token_address is not None):
        return "the wallet or the token does not have an EVM address"
    if not (raw_amount.isascii() and raw_amount.isdigit() and len(raw_amount) <= _MAX_DIGITS):
        return "the service's raw_amount is not a number"
    return BalanceQuery(blockchain, holder, contract)
