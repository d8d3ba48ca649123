"""`token_balance`: many wallets' balances of one token; `crosscheck`: balances compared."""

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
from walletframe.frames.details import holdings_given
from walletframe.node import request
from walletframe.node.request import CHAIN_HINT, Found, Holder, Terms, TokenFacts, tell_unknown
from walletframe.node.rpc import NodeStatus, Trouble
from walletframe.settings.key import NodeUrl, require_node
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.address.lists import WalletsLike
    from walletframe.frames.details import DetailsLike


class Agreement(StrEnum):
    """Whether service and node agree on a balance; the categories of ``status``."""

    AGREE = "agree"
    DIFFER = "differ"
    UNKNOWN = "unknown"


_TEXT = HOLDING_DTYPES["symbol"]
_MOST_DIGITS = 1_000  # far beyond uint256, well within what int() reads
_KEPT = ("blockchain", "address", "symbol", "token_address", "raw_amount")
BALANCE_DTYPES: Final[dict[str, Any]] = {
    **HOLDING_DTYPES,
    "block": pd.Int64Dtype(),
    "status": category_of(NodeStatus),
    "error": _TEXT,
}
AGREEMENT_DTYPES: Final[dict[str, Any]] = {
    **{name: HOLDING_DTYPES[name] for name in _KEPT},
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
    parsed = distinct_wallets(request.parse_evm_wallets(wallets))
    contract = request.parse_contract(token)
    terms = Terms(block, chain_ids, timeout_s)
    blockchains = [wallet.blockchain for wallet in parsed]
    if unknown := sorted({repr(name) for name in blockchains if terms.id_of(name) is None}):
        raise SettingsError(f"no chain id is known for {', '.join(unknown)}", hint=CHAIN_HINT)
    require_node(rpc_url)
    request.require_extra()
    from walletframe.node.lookup import look_up  # noqa: PLC0415 - loads eth_abi

    holders = [Holder(each.blockchain, each.canonical.address, contract) for each in parsed]
    by_holder, facts = look_up(rpc_url, holders, terms, contract)
    found = [by_holder[holder] for holder in holders]
    if contract is None:
        coins = [terms.coins.get(each.canonical.blockchain) for each in parsed]
        said = [TokenFacts(coin, request.COIN_DECIMALS) for coin in coins]
    else:
        said = [TokenFacts() if each.block is None else facts for each in found]
    raw = [each.balance for each in found]
    decimals = [each.decimals for each in said]
    troubles = [each.trouble or of.trouble for each, of in zip(found, said, strict=True)]
    columns: dict[str, Any] = {
        "blockchain": blockchains,
        "address": [wallet.address for wallet in parsed],
        "symbol": [each.symbol for each in said],
        "token_address": [token and token.strip()] * len(parsed),
        "amount": AmountArray.from_raw(raw, decimals),
        "decimals": decimals,
        "raw_amount": [None if value is None else str(value) for value in raw],
        "token_blockchain": blockchains,
        "price": [None] * len(parsed),
        "block": [each.block for each in found],
        "status": [str(each.status if each else NodeStatus.OK) for each in troubles],
        "error": [each.error if each else None for each in troubles],
    }
    tell_unknown(columns["error"])
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
    """Compare the balances that the service reports with what a blockchain's node has.

    Decimals, symbols and prices are not compared, and a token that the service left out is not
    found. Needs the extra ``node``.

    Parameters
    ----------
    holdings : DataFrame or WalletDetails
        The ``holdings`` of `fetch_wallets`, or the whole fetch, on any blockchains; those of the
        node's own are compared.
    rpc_url, block, chain_ids, timeout_s : optional
        As for `token_balance`. Balances change: at another block than the service's they may differ
        for that reason alone.

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
    >>> from walletframe.frames.assembly import assemble
    >>> crosscheck(assemble([]).holdings, rpc_url="http://127.0.0.1:8545").shape
    (0, 10)
    """
    rpc_url = NodeUrl.of(rpc_url)
    frame = holdings_given(holdings)
    require_columns(frame, _KEPT)
    terms = Terms(block, chain_ids, timeout_s)
    require_node(rpc_url)
    request.require_extra()
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
    balances = [each.balance for each in found]
    differences = [
        None if balance is None else int(sent) - balance
        for sent, balance in zip(frame["raw_amount"], balances, strict=True)
    ]
    agreements = [
        Agreement.UNKNOWN if each is None else Agreement.DIFFER if each else Agreement.AGREE
        for each in differences
    ]
    columns: dict[str, Any] = {
        **{name: frame[name].array for name in _KEPT},
        "node_raw_amount": [None if value is None else str(value) for value in balances],
        "difference": AmountArray.from_raw(differences, 0),
        "block": [each.block for each in found],
        "status": list(map(str, agreements)),
        "error": [each.trouble and each.trouble.error for each in found],
    }
    tell_unknown(columns["error"])
    return typed_frame(columns, AGREEMENT_DTYPES, frame.index)


def _asked(row: dict[str, Any], terms: Terms) -> Holder | str:
    """Return whom to ask the node for, or why nobody."""
    blockchain, token_chain = str(row["blockchain"]), row.get("token_blockchain")
    owner, sent = request.evm_address(str(row["address"])), row["token_address"]
    contract = None if sent is None else request.evm_address(str(sent))
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
