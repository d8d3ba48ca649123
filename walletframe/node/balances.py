"""`token_balance`: the frame of many wallets' balances of one token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from walletframe.address import distinct_wallets
from walletframe.amounts import AmountArray
from walletframe.frameless import frameless
from walletframe.frames import HOLDING_DTYPES, category_of, typed_frame
from walletframe.node.request import (
    COIN_DECIMALS,
    Holder,
    Terms,
    TokenFacts,
    parse_contract,
    parse_evm_wallets,
    require_extra,
    tell_unknown,
)
from walletframe.node.rpc import NodeStatus
from walletframe.settings import NodeUrl, require_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.node.request import Found

_TEXT = HOLDING_DTYPES["symbol"]
BALANCE_DTYPES: Final[dict[str, Any]] = {
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
    terms = Terms(block, chain_ids, timeout_s)
    terms.require_ids(wallet.blockchain for wallet in parsed)
    require_node(rpc_url)
    require_extra()
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi

    holders = [Holder(each.blockchain, each.canonical.address, contract) for each in parsed]
    by_holder, facts = look_up(rpc_url, holders, terms, contract)
    found = [by_holder[holder] for holder in holders]
    if contract is None:
        said = [TokenFacts(terms.coin_of(each.blockchain), COIN_DECIMALS) for each in parsed]
    else:
        said = [TokenFacts() if each.block is None else facts for each in found]
    frame = _frame(parsed, token and token.strip(), found, said)
    tell_unknown(frame["error"])
    return frame


def _frame(
    wallets: Sequence[WalletAddress],
    token: str | None,
    found: Sequence[Found],
    said: Sequence[TokenFacts],
) -> pd.DataFrame:
    raw = [each.balance for each in found]
    decimals = [each.decimals for each in said]
    troubles = [each.trouble or of.trouble for each, of in zip(found, said, strict=True)]
    blockchains = [wallet.blockchain for wallet in wallets]
    columns: dict[str, Any] = {
        "blockchain": blockchains,
        "address": [wallet.address for wallet in wallets],
        "symbol": [each.symbol for each in said],
        "token_address": [token] * len(wallets),
        "amount": AmountArray.from_raw(raw, decimals),
        "decimals": decimals,
        "raw_amount": [None if value is None else str(value) for value in raw],
        "token_blockchain": blockchains,
        "price": [None] * len(wallets),
        "block": [each.block for each in found],
        "status": [str(each.status if each else NodeStatus.OK) for each in troubles],
        "error": [each.error if each else None for each in troubles],
    }
    return typed_frame(columns, BALANCE_DTYPES)
