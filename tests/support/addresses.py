"""Valid addresses that are easy to distinguish."""

from hashlib import sha256

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VERSIONS = {"BTC": 5, "LTC": 48, "DOGE": 30, "TRON": 65}  # first bytes of addresses


def whole(digits):
    """Return the EVM address that ends in these hex digits, after zeros."""
    return f"0x{digits:0>40}"


def of_chain(chain, number):
    """Return the address with this number on any blockchain of the sandbox."""
    if version := _VERSIONS.get(chain):
        payload = bytes([version]) + number.to_bytes(20, "big")
        return _base58(payload + sha256(sha256(payload).digest()).digest()[:4])
    match chain:
        case "SOLANA":
            return _base58(number.to_bytes(32, "big"))
        case "NEAR":
            return f"{number:0>40}.near"
        case "COSMOS":
            return f"cosmos1{number:q>38}".replace("1", "l").replace("cosmosl", "cosmos1")
    return whole(f"{number:x}")


def _base58(payload):
    number, text = int.from_bytes(payload, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(payload) - len(payload.lstrip(b"\0"))) + text


def base58(text):
    """Return a Solana address that repeats a text."""
    return (text * 43)[:43]


A, B, C, D, E = map(whole, "abcde")
UPPER_A, UPPER_B, UPPER_C, UPPER_D = map(whole, "ABCD")
ZERO, ONE, TWO, THREE, FOUR, SEVEN, NINE = map(whole, "0123479")
