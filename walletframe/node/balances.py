"""`token_balance`: the frame of many wallets' balances of one token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address import distinct_wallets
from walletframe.amounts import AmountArray
from walletframe.frameless import frameless
from walletframe.frames import HOLDING_DTYPES, category_of, typed_frame
from walletframe.node.request import (
    COIN_DECIMALS,
    Chains,
    Holder,
    Terms,
    parse_contract,
    parse_evm_wallets,
    require_extra,
)
from walletframe.node.status import NodeStatus, Trouble, tell_unknown
from walletframe.settings import NodeUrl, require_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.node.lookup import Found, TokenFacts

_TEXT = HOLDING_DTYPES["symbol"]
BALANCE_DTYPES: Final = {
    **HOLDING_DTYPES,
    "block": pd.Int64Dtype(),
    "status": category_of(NodeStatus),
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
    """Ask a blockchain's node what wallets hold of one token.

    The service that `fetch_wallets` asks enumerates every token of a wallet, which is slow. If one
    token is enough, ask a node of its blockchain. For EVM blockchains: the native coin, and ERC-20
    tokens. Needs the extra ``node``.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them
        As for `fetch_wallets`; each distinct wallet is asked for once.
    token : str or None
        The address of the token's contract; None for the native coin.
    rpc_url : str, optional
        Where the node's JSON-RPC is: https, or http on this machine. It is as secret as the API
        key, so it is better in the environment variable ``WALLETFRAME_RPC_URL``, which is used
        where this is not given, than in a cell.
    block : int, optional
        The number of the block at which to read; the latest where not given, the same for all.
    chain_ids : mapping of str to int, optional
        Chain ids of blockchains that walletframe does not know, such as ``{"HYPEREVM": 999}``.
    timeout_s : float, default 30
        How long one request may take as a whole, in seconds.

    Returns
    -------
    DataFrame
        One row for each distinct wallet, in the order of the first mention: the columns of
        ``holdings`` (``blockchain``, ``address``, ``symbol``, ``token_address``, ``amount``,
        ``decimals``, ``raw_amount``, ``token_blockchain``, ``price``, which is NA), then ``block``
        (Int64, the block that was asked about; NA where it came to none), ``status`` and
        ``error``. Where the status is not ``ok`` the amount is NA, never 0, and ``error`` says
        why: ``reverted`` (the contract refused), ``invalid`` (what was answered is no balance),
        ``no_block`` (the node lacks the block), ``other_chain`` (it is of another blockchain),
        ``node_error``, ``rate_limited``, ``timeout``, ``unreachable``, ``rejected``. Where the
        contract has no usable decimals, ``raw_amount`` alone is known.

    Raises
    ------
    AddressError
        Naming every wallet that can't be read or is of no EVM blockchain.
    SettingsError
        If no node is named, or a chain id, the token, the block or the time can't be used.
    MissingExtraError
        If the extra ``node`` is not installed.

    Warns
    -----
    FetchWarning
        If balances are not known.

    Notes
    -----
    The number of a block names another block after a reorganisation: for what has to be final, ask
    at a block that is some minutes old. 1,000 wallets take 6 requests where the contract Multicall3
    is deployed, as on nearly all public blockchains, else 14, and at most 17 where a contract
    refuses.

    Examples
    --------
    >>> token_balance([], None, rpc_url="http://127.0.0.1:8545").shape
    (0, 12)
    """
    rpc_url = NodeUrl.of(rpc_url)
    parsed = distinct_wallets(parse_evm_wallets(wallets))
    contract = parse_contract(token)
    terms = Terms(block, Chains(chain_ids), timeout_s)
    terms.chains.require(wallet.blockchain for wallet in parsed)
    require_node(rpc_url)
    require_extra()
    rows = _rows(parsed, contract, rpc_url, terms) if parsed else []
    frame = _frame(rows, token and token.strip())
    tell_unknown(frame["error"])
    return frame


@dataclass(frozen=True, slots=True)
class _Row:
    wallet: WalletAddress
    found: Found
    symbol: str | None
    decimals: int | None
    trouble: Trouble | None


def _rows(
    wallets: Sequence[WalletAddress], contract: str | None, url: NodeUrl, terms: Terms
) -> list[_Row]:
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi
    from walletframe.node.rpc import Node  # noqa: PLC0415 - the same

    holders = [Holder(each.blockchain, each.canonical.address, contract) for each in wallets]
    with Node(url, terms.timeout_s) as node:
        found, facts = look_up(node, holders, terms, contract)
    pairs = zip(wallets, found, strict=True)
    if contract is None:
        return [_coin_row(wallet, found, terms.chains) for wallet, found in pairs]
    return [_token_row(wallet, found, facts) for wallet, found in pairs]


def _coin_row(wallet: WalletAddress, found: Found, chains: Chains) -> _Row:
    chain = chains.find(wallet.blockchain)
    trouble = found.balance if isinstance(found.balance, Trouble) else None
    return _Row(wallet, found, chain.coin if chain else None, COIN_DECIMALS, trouble)


def _token_row(wallet: WalletAddress, found: Found, facts: TokenFacts) -> _Row:
    if isinstance(found.balance, Trouble):
        symbol, decimals = (None, None) if found.block is None else (facts.symbol, facts.decimals)
        return _Row(wallet, found, symbol, decimals, found.balance)
    return _Row(wallet, found, facts.symbol, facts.decimals, facts.trouble)


def _frame(rows: list[_Row], token: str | None) -> pd.DataFrame:
    raw = [None if isinstance(row.found.balance, Trouble) else row.found.balance for row in rows]
    decimals = [row.decimals for row in rows]
    blockchains = [row.wallet.blockchain for row in rows]
    columns: dict[str, Any] = {
        "blockchain": blockchains,
        "address": [row.wallet.address for row in rows],
        "symbol": [row.symbol for row in rows],
        "token_address": [token] * len(rows),
        "amount": AmountArray.from_raw(raw, decimals),
        "decimals": decimals,
        "raw_amount": [None if value is None else str(value) for value in raw],
        "token_blockchain": blockchains,
        "price": [None] * len(rows),
        "block": [row.found.block for row in rows],
        "status": [str(row.trouble.status if row.trouble else NodeStatus.OK) for row in rows],
        "error": [row.trouble.error if row.trouble else None for row in rows],
    }
    return typed_frame(columns, BALANCE_DTYPES)
