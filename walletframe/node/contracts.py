"""Questions to contracts, encoded, and the decoding of their answers: ERC-20, and Multicall3.

https://eips.ethereum.org/EIPS/eip-20 and https://github.com/mds1/multicall3. Contracts are written
by strangers: whatever they answer, nothing here raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from walletframe.node.rpc import NodeStatus, Trouble
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.node.request import Holder

_MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
_WORD = 32
_LONGEST_SYMBOL = 1_000

# The first four bytes of the hash of what is called.
_DECIMALS = bytes.fromhex("313ce567")  # decimals()
_SYMBOL = bytes.fromhex("95d89b41")  # symbol()
_BALANCE_OF = bytes.fromhex("70a08231")  # balanceOf(address)
_COIN_BALANCE_OF = bytes.fromhex("4d2301cc")  # getEthBalance(address)
_AGGREGATE = bytes.fromhex("82ad56cb")  # aggregate3((address,bool,bytes)[])


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a contract; one for the native coin of an owner can do without Multicall3."""

    contract: str
    data: bytes
    coin_owner: str | None = None

    def asked(self, block: str) -> tuple[str, list[Any]]:
        """Return method and parameters for JSON-RPC."""
        if self.coin_owner is not None:
            return "eth_getBalance", [self.coin_owner, block]
        return "eth_call", [{"to": self.contract, "data": f"0x{self.data.hex()}"}, block]

    def read(self, result: Any) -> bytes | Trouble:
        """Read the result, hex digits: a quantity becomes what a contract would have answered."""
        if isinstance(result, Trouble):
            return result
        try:
            if self.coin_owner is not None:
                return int(result, 16).to_bytes(_WORD, "big")
            return bytes.fromhex(result.removeprefix("0x"))
        except (AttributeError, TypeError, ValueError, OverflowError):
            needed = "bytes" if self.coin_owner is None else "a balance"
            return Trouble(NodeStatus.INVALID, f"not {needed}: {shown(str(result), 60)!r}")


def balance_question(holder: Holder) -> Question:
    """Return the question what somebody holds."""
    owner = encode(["address"], [holder.owner])
    if holder.contract is None:
        return Question(_MULTICALL3, _COIN_BALANCE_OF + owner, holder.owner)
    return Question(holder.contract, _BALANCE_OF + owner)


def token_questions(contract: str) -> list[Question]:
    """Return the questions for a token's decimals and symbol."""
    return [Question(contract, _DECIMALS), Question(contract, _SYMBOL)]


def aggregate(questions: Sequence[Question]) -> Question:
    """Return the question that has Multicall3 ask others, of which any may fail."""
    calls = [(each.contract, True, each.data) for each in questions]
    return Question(_MULTICALL3, _AGGREGATE + encode(["(address,bool,bytes)[]"], [calls]))


def read_aggregate(data: bytes, count: int) -> list[tuple[bool, bytes]] | None:
    """Read for each question whether it went well, and the answer; None is no such answer."""
    results = _decoded("(bool,bytes)[]", data)
    return list(results) if results is not None and len(results) == count else None


def read_integer(data: bytes) -> int | None:
    """Read a uint256; None where there is none."""
    value = _decoded("uint256", data)
    return None if value is None else int(value)


def read_symbol(data: bytes) -> str | None:
    """Read the symbol of a token, however hostile: a string, or bytes32 as in the first tokens.

    None where there is none, or one of more than 1,000 characters; what is not UTF-8 is replaced.
    """
    text = data.rstrip(b"\0") if len(data) == _WORD else _decoded("bytes", data)
    symbol = None if text is None else text.decode("utf-8", "replace")
    return symbol if symbol is not None and len(symbol) <= _LONGEST_SYMBOL else None


def _decoded(kind: str, data: bytes) -> Any:
    try:
        [value] = decode([kind], data)
    except (DecodingError, OverflowError):  # the latter where a length is beyond all memory
        return None
    return value
