"""Check the formats of addresses on the known blockchains, and recognize names such as ENS names.

The checksum of mixed-case hex (EIP-55) needs Keccak-256, which the extra ``checksums`` installs. No
known blockchain uses checksums that depend on the chain id (EIP-1191).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, reduce
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING

from walletframe.chains import known_blockchains
from walletframe.text import safe_line

if TYPE_CHECKING:
    from types import ModuleType

    from walletframe.address.forms import WalletAddress

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_SUMS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)  # of BIP-173
_BECH32M = 0x2BC830A3  # of BIP-350
_EVM = re.compile(r"0[xX][0-9a-fA-F]{40}")
_HEX = b"0123456789abcdefABCDEF"
_LETTERS = bytes.maketrans(_HEX, b"0" * 10 + b"8" * 12)
_CAPITALS = bytes.maketrans(_HEX, b"0" * 16 + b"8" * 6)
_NEAR = re.compile(r"(?=.{2,64}$)[a-z\d]+([._-][a-z\d]+)*", re.ASCII)
_SEGWIT = ("bc1", "ltc1")
_DESCRIPTIONS = {
    "evm": "0x and 40 hex digits",
    "near": "2 to 64 lower-case letters, digits and separators",
    "solana": "32 bytes in base58 (32 to 44 characters)",
}
_UNSTOPPABLE_DOMAINS = ("an Unstoppable Domains name", "ud.me")
_NAME_SERVICES = {
    "eth": ("an ENS name", "app.ens.domains"),
    "sol": ("an SNS name", "sns.id"),
    "bnb": ("a SPACE ID name", "space.id"),
    **dict.fromkeys(("blockchain", "crypto", "dao", "nft", "wallet"), _UNSTOPPABLE_DOMAINS),
}


def problem_and_remedy(wallet: WalletAddress) -> tuple[str, str]:
    """Return (problem, remedy). Both texts are empty if the address is well-formed."""
    known = known_blockchains().get(wallet.blockchain)
    format_names = known.address_formats if known else ()
    if any(_matches_format(format_name, wallet.address) for format_name in format_names):
        return "", ""
    name = wallet.address if known else str(wallet)  # the name alice.eth was split at the dot
    label, _, ending = name.rpartition(".")
    if label and (service := _NAME_SERVICES.get(ending.casefold())):
        return f"{safe_line(name)} is {service[0]}", f"resolve it first, at {service[1]}"
    needed = ", or ".join(map(_describe_format, format_names))
    return needed and f"an address on {wallet.blockchain} is {needed}", ""


def malformed_reason(wallet: WalletAddress) -> str:
    """Return the problem and the remedy as one text, empty if the address is well-formed."""
    return "; ".join(filter(None, problem_and_remedy(wallet)))


def has_wrong_checksum(wallet: WalletAddress) -> bool:
    """Return whether a well-formed bech32 or mixed-case hex address has a wrong checksum."""
    known = known_blockchains().get(wallet.blockchain)
    for format_name in known.address_formats if known else ():
        if format_name == "evm" and _matches_format(format_name, wallet.address):
            return _has_wrong_eip55_case(wallet.address[2:])
        if format_name.endswith("1") and _matches_format(format_name, wallet.address):
            return not _is_valid_bech32(format_name, wallet.address.lower()[len(format_name) :])
    return False


def _matches_format(format_name: str, address: str) -> bool:
    if format_name == "evm":
        return _EVM.fullmatch(address) is not None
    if format_name == "near":
        return _NEAR.fullmatch(address) is not None
    if format_name == "solana":
        return len(_decode_base58(address)) == 32  # noqa: PLR2004 - a public key
    kind, _, starts = format_name.partition("-")
    if kind == "base58":  # a version, a hash of 20 bytes, and a checksum
        payload = _decode_base58(address)
        checksum = sha256(sha256(payload[:-4]).digest()).digest()[:4]
        return address[0] in starts and len(payload) == 25 and payload[-4:] == checksum  # noqa: PLR2004 - 1 + 20 + 4
    text = address.lower() if address.isupper() else address
    data = text.removeprefix(format_name)
    length = len(data) - (format_name in _SEGWIT)  # a version precedes the 20 or 32 bytes
    return data != text and length in (38, 58) and {*data} <= {*_BECH32}


def _describe_format(format_name: str) -> str:
    kind, _, starts = format_name.partition("-")
    if kind == "base58":
        return f"a base58 address that begins with {' or '.join(starts)} and has a valid checksum"
    return _DESCRIPTIONS.get(format_name, f"a bech32 address that begins with {format_name}")


def _decode_base58(text: str) -> bytes:
    if not {*text} <= {*BASE58}:
        return b""
    number = reduce(lambda value, digit: value * 58 + BASE58.index(digit), text, 0)
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _is_valid_bech32(prefix: str, data: str) -> bool:
    values = [_BECH32.index(char) for char in data]
    letters = [ord(char) for char in prefix[:-1]]
    checksum = 1
    for value in (*(each >> 5 for each in letters), 0, *(each & 31 for each in letters), *values):
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(_BECH32_SUMS):
            checksum ^= term if top >> bit & 1 else 0
    return checksum == (_BECH32M if prefix in _SEGWIT and values[0] else 1)


@lru_cache(maxsize=2**17)  # a hash takes 10 µs, and users fetch the same wallets again
def _has_wrong_eip55_case(digits: str) -> bool:
    keccak = None if digits in (digits.lower(), digits.upper()) else _keccak_or_none()
    if keccak is None:
        return False
    text = digits.encode()
    digest = keccak.new(digest_bits=256, data=text.lower()).hexdigest()
    # A letter must be upper case if the hash has a digit above 7 at the letter's position. A
    # comparison of two integers is faster than a loop over the letters.
    expected = int(digest[: len(text)], 16) & int(text.translate(_LETTERS), 16)
    return expected != int(text.translate(_CAPITALS), 16)


@cache
def _keccak_or_none() -> ModuleType | None:
    try:
        return import_module("Crypto.Hash.keccak")
    except ImportError:
        return None
