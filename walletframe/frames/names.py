"""Names of tokens and wallets: display names, lookups by name, and shared symbols.

All tables, charts, widgets and reports use these names, so a token has the same name everywhere.
The module `identity` decides whether two rows have the same token.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_key
from walletframe.address.lists import parse_wallets
from walletframe.errors import AmbiguousTokenError, UnknownTokenError, UnknownWalletError
from walletframe.frames.identity import (
    TokenKey,
    cell_text,
    contract_key,
    encode_tokens,
    encode_wallets,
    is_unknown,
    token_key,
)
from walletframe.frames.schema import require_columns
from walletframe.pandas_versions import TEXT, factorize
from walletframe.text import abbreviate, safe_line, token_repr
from walletframe.tokens import known_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.identity import Codes, KeyCodes, Mask
    from walletframe.tokens import KnownToken

TokenLike: TypeAlias = str | TokenKey
WalletLike: TypeAlias = "str | tuple[str, str] | WalletAddress"

_MAX_SYMBOL, _MAX_CHAIN, _MAX_NAME, _LIMIT = 24, 20, 24, 500
_NAME_COLUMN, _SEPARATOR = "name", " · "  # the column of names; the text between name and wallet
_NATIVE, _UNKNOWN = "native coin", "unknown token"
_NOT_LISTED = "not on walletframe's list: may be an imitation"


def token_names(
    holdings: pd.DataFrame,
    tokens: KeyCodes,
    indices: Codes,
    *,
    by_chain: bool = False,
    taken: Container[str] = (),
) -> list[str]:
    """Return unique, readable and safe names of tokens.

    With `by_chain`, tokens on different blockchains may have equal names. The contract is added to
    each symbol in `taken`, which contains names in lower case.
    """
    # The contract is also added to shared symbols, to symbols with a bracket (which may imitate a
    # contract), and to symbols with non-ASCII characters (which may look like ASCII).
    symbols = np.asarray(holdings["symbol"].array.take(tokens.first), dtype=object).tolist()
    names = [safe_line(cell_text(symbol), _MAX_SYMBOL) for symbol in symbols]
    chosen, keys, unknown = indices.tolist(), tokens.keys, tokens.unknown.tolist()
    wanted = {names[index] for index in chosen}
    candidates = [index for index, name in enumerate(names) if name in wanted]
    scoped = [(names[index], keys[index][0]) if by_chain else names[index] for index in candidates]
    counts = Counter(scoped)
    plain = {
        name
        for name in wanted
        if name and name.isascii() and "(" not in name and name.casefold() not in taken
    }
    rest = [
        index
        for index, each in zip(candidates, scoped, strict=True)
        if names[index] not in plain or counts[each] > 1 or unknown[index]
    ]
    pairs = [(names[index], keys[index]) for index in rest]
    short = [name_with_contract(*pair) for pair in pairs]
    unique = unique_names(short, lambda number: name_with_contract(*pairs[number], is_full=True))
    labels = dict(zip(rest, unique, strict=True))
    return [labels.get(index, names[index]) for index in chosen]


def user_wallet_names(frame: pd.DataFrame, wallets: pd.DataFrame | None) -> list[str]:
    """Return the unescaped name of each row's wallet, or "" if the wallet has no name."""
    if wallets is None or _NAME_COLUMN not in wallets:
        return [""] * len(frame)
    require_columns(wallets, ["address"])
    addresses, listed = (
        [*each["address"].astype(TEXT).str.strip().str.lower()] for each in (frame, wallets)
    )
    needed = {*addresses}  # Series.isin of Arrow's text would take seconds
    mask = np.array([address in needed for address in listed], dtype=bool)
    named = wallets[mask & wallets[_NAME_COLUMN].notna().to_numpy()]
    named_wallets, rows = encode_wallets(named), encode_wallets(frame)
    texts = [cell_text(name) for name in named[_NAME_COLUMN].array.take(named_wallets.first)]
    by_key = dict(zip(named_wallets.keys, texts, strict=True))
    names = [by_key.get(key, "") for key in rows.keys]
    return [names[code] for code in rows.codes.tolist()]


def wallet_names(wallets: pd.DataFrame, indices: Codes, user_names: Sequence[str]) -> list[str]:
    """Return distinct names. Wallets with the same short name get their full names."""
    arrays = (wallets[name].array.take(indices) for name in ("blockchain", "address"))
    columns = [np.asarray(array, dtype=object) for array in arrays]
    chosen = [user_names[index] for index in indices]
    parts = [*zip(*(map(cell_text, column) for column in columns), chosen, strict=True)]
    short = [short_wallet_name(*each) for each in parts]
    return unique_names(short, lambda number: full_wallet_name(*parts[number]))


def split_wallet_label(label: str, name: str) -> list[str]:
    """Split a label into lines: the user's name, if any, and the wallet."""
    shown = safe_line(name, _MAX_NAME)
    return [shown, label.removeprefix(f"{shown}{_SEPARATOR}")] if shown else [label]


def name_and_address_lines(label: str, name: str) -> list[str]:
    """Split a label into lines: the user's name, if any, and the address."""
    *named, wallet = split_wallet_label(label, name)
    return [*named, wallet.partition(".")[2]]


def unique_names(short: list[str], full_name: Callable[[int], str]) -> list[str]:
    """Replace equal short names by full names, and number equal full names."""
    count = Counter(short)
    taken: dict[str, None] = {}
    for index, name in enumerate(short):
        label = name if count[name] == 1 else full_name(index)
        free, number = label, 2
        while free in taken:
            free, number = f"{label} #{number}", number + 1
        taken[free] = None
    return list(taken)


def name_with_contract(name: str, key: TokenKey, *, is_full: bool = False) -> str:
    """Return a symbol with its contract, such as ``USDC (ETH 0xa0b8…eb48)``."""
    chain, contract = key
    if is_unknown(key):
        return f"{name} ({_UNKNOWN})".lstrip()
    if contract is None:
        shown = _NATIVE
    else:
        shown = safe_line(contract, _LIMIT) if is_full else abbreviate(contract)
    return f"{name} ({safe_line(chain, _MAX_CHAIN)} {shown})".lstrip()


def symbol_and_identity(
    holdings: pd.DataFrame, tokens: KeyCodes, index: int, *, limit: int = _LIMIT
) -> tuple[str, str]:
    """Return a token's symbol, and a text with its blockchain and full contract."""
    row, key = tokens.first[index], tokens.keys[index]
    name = safe_line(cell_text(holdings["symbol"].array[row])) or "no symbol"
    if is_unknown(key):
        return name, _UNKNOWN
    contract = safe_line(cell_text(holdings["token_address"].array[row]), limit)
    return name, f"{safe_line(key[0])} {contract or _NATIVE}"


def short_wallet_name(blockchain: str, address: str, name: str = "") -> str:
    """Return a short name of a wallet: ``ETH.0x1111…1111``, or ``Ada · ETH.0x1111…1111``."""
    return _prepend_name(name, f"{safe_line(blockchain, _MAX_CHAIN)}.{abbreviate(address)}")


def full_wallet_name(blockchain: str, address: str, name: str = "", *, limit: int = _LIMIT) -> str:
    """Return ``<BLOCKCHAIN>.<ADDRESS>`` or ``<name> · <BLOCKCHAIN>.<ADDRESS>``."""
    return _prepend_name(name, f"{safe_line(blockchain)}.{safe_line(address, limit)}")


def _prepend_name(name: str, wallet: str) -> str:
    shown = name and safe_line(name, _MAX_NAME)
    return f"{shown}{_SEPARATOR}{wallet}" if shown else wallet


def short_contract(blockchain: object, address: object) -> str:
    """Return a token's shortened contract address. Both arguments may be NA."""
    short = abbreviate(address) if isinstance(address, str) else ""
    if not isinstance(blockchain, str):
        return f"{short} ({_UNKNOWN})" if short else _UNKNOWN
    return short or _NATIVE


def pass_contract_hint(token: TokenKey) -> str:
    """Return a hint to pass blockchain and contract, with an example."""
    return f"pass blockchain and contract, such as token={token_repr(token)}"


def token_index(
    holdings: pd.DataFrame,
    tokens: KeyCodes,
    token: TokenLike,
    *,
    hint: Callable[[TokenKey], str] = pass_contract_hint,
) -> int:
    """Return the index of a token in `tokens`. Raise an error for an ambiguous symbol."""
    if isinstance(token, str):
        rows = (holdings["symbol"] == token).to_numpy(bool, na_value=False)
        codes = pd.unique(tokens.codes[rows]).tolist()
        indices = [code for code in codes if not is_unknown(tokens.keys[code])]
    else:
        key = token_key(token)
        indices = [tokens.keys.index(key)] if key in tokens.keys else []
    if not indices:
        raise UnknownTokenError(token)
    if len(indices) > 1:
        raise ambiguous_token_error({str(token): [tokens.keys[index] for index in indices]}, hint)
    return indices[0]


def mask_of_token(holdings: pd.DataFrame, token: TokenLike) -> Mask:
    """Return a mask of the rows of a token. Raise an error for an ambiguous symbol."""
    require_columns(holdings, ["symbol", "token_blockchain", "token_address"])
    tokens = encode_tokens(holdings)
    return np.asarray(tokens.codes == token_index(holdings, tokens, token))


def mask_of_wallet(frame: pd.DataFrame, wallet: WalletLike) -> Mask:
    """Return a mask of the rows of a wallet."""
    [named] = parse_wallets(wallet)
    wallets = encode_wallets(frame)
    key = canonical_key(named.blockchain, named.address)
    if key not in wallets.keys:
        raise UnknownWalletError(str(named))
    return np.asarray(wallets.codes == wallets.keys.index(key))


def tokens_by_shared_symbol(holdings: pd.DataFrame, tokens: KeyCodes) -> dict[str, list[TokenKey]]:
    """Return a dict from each shared symbol to the known tokens with this symbol."""
    codes, symbols = factorize(holdings["symbol"])
    stride = len(tokens.keys) + 1
    rows = (codes >= 0) & ~tokens.unknown[tokens.codes]
    names, indices = np.divmod(pd.unique(codes[rows] * stride + tokens.codes[rows]), stride)
    shared = (np.bincount(names, minlength=len(symbols)) > 1)[names]
    result: dict[str, list[TokenKey]] = {}
    for name, index in zip(names[shared], indices[shared], strict=True):
        result.setdefault(str(symbols[name]), []).append(tokens.keys[index])
    return result


def ambiguous_token_error(
    shared: Mapping[str, Sequence[TokenKey]], hint: Callable[[TokenKey], str]
) -> AmbiguousTokenError:
    """Return an error that lists the tokens of shared symbols. Well-known tokens are first."""
    listed = known_token_by_key()
    bridged_last = sorted(listed, key=lambda key: listed[key].kind == "bridged")
    ranks = {key: rank for rank, key in enumerate(bridged_last)}
    ordered = {
        symbol: sorted(tokens, key=lambda key: ranks.get(key, len(ranks)))
        for symbol, tokens in shared.items()
    }
    notes = {key: _listing_note(listed.get(key)) for tokens in ordered.values() for key in tokens}
    if listed.keys().isdisjoint(notes):
        notes = {}  # the same note on every token would not help
    first = next(iter(ordered.values()))[0]
    return AmbiguousTokenError(ordered, hint(first), notes=notes)


def _listing_note(known: KnownToken | None) -> str:
    if known is None:
        return _NOT_LISTED
    if known.has_symbol_of_other_project:
        return f"known: {known.asset}; another project uses this symbol too"
    notes = {"native": "the native coin", "canonical": f"known: the {known.symbol} of its issuer"}
    return notes.get(known.kind, f"known: {known.kind} {known.asset}")


@cache
def known_token_by_key() -> dict[TokenKey, KnownToken]:
    """Return the tokens of the packaged list by canonical key, in the order of the list."""
    return {contract_key(token.blockchain, token.contract): token for token in known_tokens()}
