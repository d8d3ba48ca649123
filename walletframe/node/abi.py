"""Encoding of contract calls and decoding of their answers: ERC-20, and Multicall3.

https://eips.ethereum.org/EIPS/eip-20 and https://github.com/mds1/multicall3. Contracts are written
by strangers: whatever they answer, nothing here raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from walletframe.wire import MAX_DECIMALS

if TYPE_CHECKING:
    from collections.abc import Sequence

MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
WORD = 32
_LONGEST_SYMBOL = 1_000

# The first four bytes of the hash of what is called.
DECIMALS = bytes.fromhex("313ce567")  # decimals()
SYMBOL = bytes.fromhex("95d89b41")  # symbol()
_BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address)
_COIN_BALANCE_OF = bytes.fromhex("4d2301cc")  # getEthBalance(address)
_AGGREGATE = bytes.fromhex("82ad56cb")  # aggregate3((address,bool,bytes)[])


def balance_of(owner: str) -> bytes:
    """Return the data that asks an ERC-20 contract what a hex address in lower case holds."""
    return _BALANCE_OF + encode(["address"], [owner])


def coin_balance_of(owner: str) -> bytes:
    """Return the data that asks Multicall3 what somebody holds of the native coin."""
    return _COIN_BALANCE_OF + encode(["address"], [owner])


def aggregate(calls: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the data that has Multicall3 make calls, contract and data of each; any may fail."""
    tolerant = [(contract, True, data) for contract, data in calls]
    return _AGGREGATE + encode(["(address,bool,bytes)[]"], [tolerant])


def read_aggregate(data: bytes, count: int) -> list[tuple[bool, bytes]] | None:
    """Read for each call whether it went well, and what it returned; None is no such answer."""
    results = _decoded("(bool,bytes)[]", data)
    return list(results) if results is not None and len(results) == count else None


def read_integer(data: bytes) -> int | None:
    """Read a uint256; None where there is none."""
    value = _decoded("uint256", data)
    return None if value is None else int(value)


def read_decimals(data: bytes) -> int | None:
    """Read the decimals of a token; None where the contract has none, or absurd ones."""
    value = read_integer(data)
    return value if value is not None and value <= MAX_DECIMALS else None


def read_symbol(data: bytes) -> str | None:
    """Read the symbol of a token, however hostile: a string, or bytes32 as in the first tokens.

    None where there is none, or one of more than 1,000 characters; what is not UTF-8 is
    replaced.
    """
    text = data.rstrip(b"\0") if len(data) == WORD else _decoded("bytes", data)
    symbol = None if text is None else text.decode("utf-8", "replace")
    return symbol if symbol is not None and len(symbol) <= _LONGEST_SYMBOL else None


def _decoded(kind: str, data: bytes) -> Any:
    try:
        [value] = decode([kind], data)
    except (DecodingError, OverflowError):  # the latter where a length is beyond all memory
        return None
    return value
