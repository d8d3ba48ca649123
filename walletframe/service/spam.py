"""Tokens that nobody asked for: hostile symbols, stolen symbols, amounts as large as they go.

The contracts are made up, fixed for each symbol and blockchain, so that the same spam reaches many
wallets, as it does in reality. Whoever shows these symbols has to escape them.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from walletframe.service.tokens import TOKENS, Token

if TYPE_CHECKING:
    from walletframe.service.chains import Chain
    from walletframe.service.chance import Chance

UINT256_MAX = 2**256 - 1
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SYMBOLS = (
    "Visit https://claim-usdc.example to claim",
    "! 5000 USDT airdrop: usdt-reward.example",
    "$ 1000 Voucher (claim at t.me/wf_example)",
    "FREE MINT ✅ nft-drop.example",
    "<b>GIFT</b> <a href='https://gift.example'>open</a>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("https://claim.example","Claim")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "$E=mc^2$ \\frac{1}{0}",
    "\N{RIGHT-TO-LEFT OVERRIDE}CDSU reward",
    "US\N{ZERO WIDTH SPACE}DC",
    "\N{CYRILLIC CAPITAL LETTER ES}LAIM **now** | `rm`",
    "",
)
_STOLEN = ("USDC", "USDT", "ETH", "WBTC")


def spam_token(chance: Chance, chain: Chain) -> Token:
    """Draw a spam token.

    Parameters
    ----------
    chance : Chance
        Where to draw from.
    chain : Chain
        The blockchain; it must have tokens.

    Returns
    -------
    Token
        With a made-up contract and no price.
    """
    symbol = chance.pick(_SYMBOLS)
    return Token(symbol, made_up_contract(chain, "spam", symbol), chance.pick((0, 9, 18)))


def largest_spam(chain: Chain) -> Token:
    """Return the spam token that is always held in the largest amount there can be.

    Parameters
    ----------
    chain : Chain
        The blockchain; it must have tokens.

    Returns
    -------
    Token
        With a made-up contract and no price.
    """
    symbol = "MAX <i>claim at max.example</i>"
    return Token(symbol, made_up_contract(chain, "largest", symbol), 18)


def stolen_symbol(chance: Chance, chain: Chain) -> Token:
    """Draw a token that bears the symbol of a real one but has another contract.

    Parameters
    ----------
    chance : Chance
        Where to draw from.
    chain : Chain
        The blockchain; it must have tokens.

    Returns
    -------
    Token
        With a made-up contract and no price.
    """
    symbol = chance.pick(_STOLEN + tuple(token.symbol for token in TOKENS[chain.name]))
    return Token(symbol, made_up_contract(chain, "stolen", symbol), chance.pick((6, 8, 18)))


def made_up_contract(chain: Chain, *subject: str) -> str:
    """Return a contract address that looks like those of a blockchain and is nobody's.

    Parameters
    ----------
    chain : Chain
        The blockchain.
    *subject : str
        What it is for; equal subjects have equal contracts.

    Returns
    -------
    str
        The address.
    """
    text = "|".join((chain.name, *subject))
    digest = blake2b(text.encode(), digest_size=20, person=b"made-up").digest()
    if chain.form == "near":
        return f"{digest.hex()}.made-up.near"
    if chain.form == "hex":
        return "0x" + digest.hex()
    number, letters = int.from_bytes(digest * 2), ""
    while number:
        number, place = divmod(number, len(_BASE58))
        letters += _BASE58[place]
    return letters[:43] if chain.form == "solana" else f"T{letters[:33]}"
