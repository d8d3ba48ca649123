"""When two spellings are of one wallet, or of one token contract.

Blockchain identifiers are compared without case, hex addresses too; every other address keeps its
case, since base58 addresses differ by it. White space around either counts for nothing.
"""


def canonical_address(address: str) -> str:
    """Return the form of an address, or of a token contract, in which two are compared.

    Parameters
    ----------
    address : str
        An address as written.

    Returns
    -------
    str
        In lower case where it is ASCII and begins with ``0x`` or ``0X``, else as written; without
        white space around it.

    Examples
    --------
    >>> canonical_address(" 0xAB"), canonical_address("9xQe")
    ('0xab', '9xQe')
    """
    address = address.strip()
    return address.lower() if address[:2] in ("0x", "0X") and address.isascii() else address


def canonical_blockchain(blockchain: str) -> str:
    """Return the form of a blockchain's identifier in which two are compared.

    Parameters
    ----------
    blockchain : str
        An identifier as written.

    Returns
    -------
    str
        In upper case where it is ASCII, else as written; without white space around it.
    """
    blockchain = blockchain.strip()
    return blockchain.upper() if blockchain.isascii() else blockchain


def canonical_key(blockchain: str, address: str) -> tuple[str, str]:
    """Return what is equal for two spellings of one wallet, or of one token.

    Parameters
    ----------
    blockchain, address : str
        The two parts, as written by anybody; they need not be a valid address.

    Returns
    -------
    tuple of (str, str)
        The identifier in upper case where it is ASCII, and the address as in
        `canonical_address`.

    Examples
    --------
    >>> canonical_key("eth", "0xAB")
    ('ETH', '0xab')
    """
    return canonical_blockchain(blockchain), canonical_address(address)
