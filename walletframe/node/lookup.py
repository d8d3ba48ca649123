"""Balances at one block, read in few round trips after a check of the chain id.

Contracts (https://eips.ethereum.org/EIPS/eip-20, https://github.com/mds1/multicall3) are untrusted:
no answer of a contract raises an error here.
"""
# Nearly all public blockchains have the contract Multicall3. It bundles 300 calls into one, which a
# provider's rate limit counts once. On other blockchains, the calls are sent in JSON-RPC batches of
# 100, the default limit of nodes. If a call in a bundle reverts, it may have used up the gas of the
# later calls. Then this call and all later calls of the bundle are sent again in batches.

from __future__ import annotations

import re
from contextlib import closing, suppress
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from walletframe.amounts.integers import MAX_DECIMALS
from walletframe.node.request import BalanceQuery, NodeBalance, NodeOptions, TokenMetadata
from walletframe.node.rpc import Node, NodeFailure, NodeStatus
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.settings.key import RpcUrl

_MULTICALL_SIZE, _BATCH_SIZE = 300, 100
_MAX_SYMBOL_LENGTH = 1_000
_WORD_BYTES = 32
_HEX = re.compile("0x[0-9a-fA-F]*")
_MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"

# Selectors: the first four bytes of the hash of a function's signature.
_DECIMALS = bytes.fromhex("313ce567")  # decimals()
_SYMBOL = bytes.fromhex("95d89b41")  # symbol()
_BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address)
_GET_ETH_BALANCE = bytes.fromhex("4d2301cc")  # getEthBalance(address)
_AGGREGATE = bytes.fromhex("82ad56cb")  # aggregate3((address,bool,bytes)[])

_FALLBACK = (NodeStatus.REVERTED, NodeStatus.INVALID, NodeStatus.NODE_ERROR)
_NO_BALANCE = NodeFailure(
    NodeStatus.INVALID,
    "the answer is not a balance: is the contract a token, and did it exist at this block?",
)


class _ContractCall(NamedTuple):
    contract: str
    data: bytes
    coin_holder: str | None = None  # the wallet, to read a native balance without Multicall3

    def method_and_params(self, block: str) -> tuple[str, list[Any]]:
        if self.coin_holder is not None:
            return "eth_getBalance", [self.coin_holder, block]
        return "eth_call", [{"to": self.contract, "data": f"0x{self.data.hex()}"}, block]

    def decode(self, result: Any) -> bytes | NodeFailure:
        """Decode hex. A native balance becomes a uint256 of 32 bytes, like a token's balance."""
        if isinstance(result, NodeFailure):
            return result
        try:
            if self.coin_holder is not None:
                return int(_hex_digits(result), 16).to_bytes(_WORD_BYTES, "big")
            return bytes.fromhex(_hex_digits(result))
        except (ValueError, OverflowError):
            return _invalid_result("bytes" if self.coin_holder is None else "a balance", result)


def look_up_balances(
    url: RpcUrl, queries: Sequence[BalanceQuery], options: NodeOptions, token: str | None = None
) -> tuple[dict[BalanceQuery, NodeBalance], TokenMetadata]:
    """Return the balance or the failure of each query, and the metadata of `token`."""
    if not queries:
        return {}, TokenMetadata()
    with closing(Node(url, options.timeout_s)) as node:
        chain_id = _parse_quantity(node.call("eth_chainId"))
        faults = {query: _chain_mismatch(query, chain_id, options) for query in queries}
        results = {query: NodeBalance(failure=fault) for query, fault in faults.items() if fault}
        requested = [query for query, fault in faults.items() if not fault]
        if not requested:
            return results, TokenMetadata()
        calls = []
        for query in requested:
            holder = encode(["address"], [query.holder])
            if query.contract is None:
                calls.append(_ContractCall(_MULTICALL3, _GET_ETH_BALANCE + holder, query.holder))
            else:
                calls.append(_ContractCall(query.contract, _BALANCE_OF + holder))
        if token is not None:
            calls += [_ContractCall(token, _DECIMALS), _ContractCall(token, _SYMBOL)]
        block = _read_block_number(node, options.block)
        if isinstance(block, NodeFailure):
            return results | dict.fromkeys(requested, NodeBalance(failure=block)), TokenMetadata()
        answers = _CallerAtBlock(node, hex(block)).call_all(calls)
    # The last answers are the token's metadata.
    for query, answer in zip(requested, answers, strict=False):
        if isinstance(answer, NodeFailure):
            results[query] = NodeBalance(block=block, failure=answer)
        else:
            balance = _decode_or_none("uint256", answer)
            results[query] = NodeBalance(balance, block, _NO_BALANCE if balance is None else None)
    metadata = TokenMetadata() if token is None else _decode_metadata(*answers[len(requested) :])
    return results, metadata


def _hex_digits(result: Any) -> str:
    if not isinstance(result, str) or not _HEX.fullmatch(result):
        raise ValueError
    return result.removeprefix("0x")


def _parse_quantity(result: Any) -> int | NodeFailure:
    if isinstance(result, NodeFailure):
        return result
    with suppress(ValueError):
        if (number := int(_hex_digits(result), 16)) < 2**63:
            return number
    return _invalid_result("a number", result)


def _invalid_result(expected: str, result: Any) -> NodeFailure:
    quoted = safe_line(str(result), 60)
    return NodeFailure(NodeStatus.INVALID, f"the node's result is not {expected}: {quoted!r}")


def _chain_mismatch(
    query: BalanceQuery, chain_id: int | NodeFailure, options: NodeOptions
) -> NodeFailure | None:
    if isinstance(chain_id, NodeFailure):
        return chain_id
    if (expected := options.chain_id_of(query.blockchain)) == chain_id:
        return None
    reason = f"the node has chain id {chain_id}, but {query.blockchain} has chain id {expected}"
    return NodeFailure(NodeStatus.OTHER_CHAIN, reason)


def _read_block_number(node: Node, block: int | None) -> int | NodeFailure:
    tag = "latest" if block is None else hex(block)
    header = node.call("eth_getBlockByNumber", tag, False)  # noqa: FBT003 - nodes accept parameters only by position
    if header is None:
        return NodeFailure(NodeStatus.NO_BLOCK, f"the node has no block {block}")
    number = _parse_quantity(header.get("number") if isinstance(header, dict) else header)
    if block is None or number == block or isinstance(number, NodeFailure):
        return number
    reason = f"the node answered for block {number} instead of {block}"
    return NodeFailure(NodeStatus.NO_BLOCK, reason)


class _CallerAtBlock:
    def __init__(self, node: Node, block: str) -> None:
        self._node, self._block = node, block
        self._has_multicall = True

    def call_all(self, calls: Sequence[_ContractCall]) -> list[bytes | NodeFailure]:
        results: list[bytes | NodeFailure] = []
        for first in range(0, len(calls), _MULTICALL_SIZE):
            chunk = calls[first : first + _MULTICALL_SIZE]
            bundled = self._send_multicall(chunk)
            results += self._send_without_multicall(chunk) if bundled is None else bundled
        return results

    def _send_multicall(self, chunk: Sequence[_ContractCall]) -> list[bytes | NodeFailure] | None:
        """Return the results, or None if Multicall3 can't be used for these calls."""
        if len(chunk) == 1 or not self._has_multicall:
            return None
        calls = [(each.contract, True, each.data) for each in chunk]  # True: this call may fail
        encoded = encode(["(address,bool,bytes)[]"], [calls])
        [data] = self._send_without_multicall([_ContractCall(_MULTICALL3, _AGGREGATE + encoded)])
        if isinstance(data, NodeFailure):
            return None if data.status in _FALLBACK else [data] * len(chunk)
        results = _decode_or_none("(bool,bytes)[]", data)
        self._has_multicall = results is not None and len(results) == len(chunk)
        if not self._has_multicall:
            return None
        succeeded = [value for _, value in takewhile(itemgetter(0), results)]
        return succeeded + self._send_without_multicall(chunk[len(succeeded) :])

    def _send_without_multicall(self, chunk: Sequence[_ContractCall]) -> list[bytes | NodeFailure]:
        decoded: list[bytes | NodeFailure] = []
        for first in range(0, len(chunk), _BATCH_SIZE):
            batch = chunk[first : first + _BATCH_SIZE]
            results = self._node.call_batch([each.method_and_params(self._block) for each in batch])
            decoded += map(_ContractCall.decode, batch, results)
        return decoded


def _decode_metadata(decimals: bytes | NodeFailure, symbol: bytes | NodeFailure) -> TokenMetadata:
    """Decode a token's metadata. If the contract reverts, the decimals are unknown."""
    name = None if isinstance(symbol, NodeFailure) else _decode_symbol(symbol)
    if not isinstance(decimals, NodeFailure):
        number = _decode_or_none("uint256", decimals)
        return TokenMetadata(name, None if number is None or number > MAX_DECIMALS else number)
    if decimals.status is NodeStatus.REVERTED:
        return TokenMetadata(name)
    return TokenMetadata(name, failure=NodeFailure(decimals.status, f"decimals: {decimals.error}"))


def _decode_symbol(data: bytes) -> str | None:
    """Decode a symbol from a string or bytes32. Return None for other data or a long symbol."""
    text = data.rstrip(b"\0") if len(data) == _WORD_BYTES else _decode_or_none("bytes", data)
    symbol = None if text is None else text.decode("utf-8", "replace")
    return symbol if symbol is not None and len(symbol) <= _MAX_SYMBOL_LENGTH else None


def _decode_or_none(abi_type: str, data: bytes) -> Any:
    with suppress(DecodingError, OverflowError):  # a decoded length can exceed the memory
        return decode([abi_type], data)[0]
    return None
