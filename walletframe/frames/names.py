"""Names of tokens and wallets: display names, lookups by name, and shared symbols.

All tables, charts, widgets and reports use the names of this module, so that a token has the same
name everywhere. The module `identity` decides whether two rows have the same token.
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
    is_unknown,
    token_identities,
    token_key,
    wallet_identities,
)
from walletframe.frames.schema import require_columns
from walletframe.pandas_versions import TEXT, factorized
from walletframe.text import safe_line, shortened, token_text
from walletframe.tokens import known_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.identity import Codes, KeyCodes, Mask
    from walletframe.tokens import KnownToken

TokenLike: TypeAlias = str | TokenKey
WalletLike: TypeAlias = "str | tuple[str, str] | WalletAddress"

_SYMBOL, _CHAIN, _NAME, _FULL = 24, 20, 24, 500
_NAME_COLUMN, _SEPARATOR = "name", " · "  # the column with the user's names; the text after a name
_NATIVE, _UNKNOWN = "native coin", "unknown token"
_NOT_LISTED = "not on the packaged list: may be an imitation"


def token_names(
    holdings: pd.DataFrame,
    tokens: KeyCodes,
    places: Codes,
    *,
    by_chain: bool = False,
    taken: Container[str] = (),
) -> list[str]:
    """Return names of tokens that are unique in the frame, readable and safe to show.

    With `by_chain`, names are only unique on each blockchain, which must be shown beside the name.
    The contract is added to a symbol that is in `taken`, ignoring case.
    """
    # A symbol alone is not used as the name if another token has the same symbol, or if the symbol
    # has non-ASCII characters, which may look like others, or a bracket, which precedes a contract.
    symbols = np.asarray(holdings["symbol"].array.take(tokens.first), dtype=object)
    by_symbol = {symbol: safe_line(cell_text(symbol), _SYMBOL) for symbol in {*symbols}}
    names, chosen = [by_symbol[symbol] for symbol in symbols], places.tolist()
    wanted = {names[place] for place in chosen}
    same = [place for place, name in enumerate(names) if name in wanted]
    pairs = [(names[place], tokens.keys[place][0] if by_chain else "") for place in same]
    counts, labels, rest = Counter(pairs), {}, []
    for place, pair in zip(same, pairs, strict=True):
        name, key = pair[0], tokens.keys[place]
        is_plain = name.isascii() and "(" not in name and not is_unknown(key)
        if name and is_plain and counts[pair] == 1 and name.casefold() not in taken:
            labels[place] = name
        else:
            rest.append((place, name, key))
    short = [_qualified_name(name, key) for _, name, key in rest]
    unique = unique_names(short, lambda number: _qualified_name(*rest[number][1:], is_full=True))
    labels |= zip((place for place, _, _ in rest), unique, strict=True)
    return [labels[place] for place in chosen]


def user_wallet_names(frame: pd.DataFrame, wallets: pd.DataFrame | None) -> list[str]:
    """Return the user's name for the wallet in each row, or "" if the wallet has no name.

    The names are in the column ``name`` of `wallets`. They are not escaped: `short_wallet` and
    `full_wallet_name` make names safe to show.
    """
    if wallets is None or _NAME_COLUMN not in wallets:
        return [""] * len(frame)
    require_columns(wallets, ["address"])
    own, listed = (
        [*each["address"].astype(TEXT).str.strip().str.lower()] for each in (frame, wallets)
    )
    needed = {*own}  # Series.isin of Arrow's text would take seconds
    marks = np.array([address in needed for address in listed], dtype=bool)
    marks &= wallets[_NAME_COLUMN].notna().to_numpy()
    named = wallets[marks]
    owners, rows = wallet_identities(named), wallet_identities(frame)
    texts = [cell_text(name) for name in named[_NAME_COLUMN].array.take(owners.first)]
    by_key = dict(zip(owners.keys, texts, strict=True))
    names = [by_key.get(key, "") for key in rows.keys]
    return [names[code] for code in rows.codes.tolist()]


def wallet_names(wallets: pd.DataFrame, places: Codes, names: Sequence[str]) -> list[str]:
    """Return short names of wallets, or full names for wallets whose short names are equal.

    `wallets` is like `Positions.wallets`. `names` are the user's names for all wallets.
    """
    names_of = (wallets[name].array.take(places) for name in ("blockchain", "address"))
    columns = [np.asarray(each, dtype=object) for each in names_of]
    chosen = [names[place] for place in places]
    parts = [*zip(*(map(cell_text, column) for column in columns), chosen, strict=True)]
    short = [short_wallet(*each) for each in parts]
    return unique_names(short, lambda number: full_wallet_name(*parts[number]))


def wallet_label_lines(label: str, name: str) -> list[str]:
    """Split a label from `wallet_names` into lines: the user's name, if any, and the wallet."""
    called = safe_line(name, _NAME)
    return [called, label.removeprefix(f"{called}{_SEPARATOR}")] if called else [label]


def label_lines_without_chain(label: str, name: str) -> list[str]:
    """Split a label from `wallet_names` into lines, and remove the blockchain."""
    *called, wallet = wallet_label_lines(label, name)
    return [*called, wallet.partition(".")[2]]


def unique_names(short: list[str], full_name: Callable[[int], str]) -> list[str]:
    """Replace equal short names by full names, and number full names that are still equal."""
    count = Counter(short)
    taken: dict[str, None] = {}
    for place, name in enumerate(short):
        label = name if count[name] == 1 else full_name(place)
        free, number = label, 2
        while free in taken:
            free, number = f"{label} #{number}", number + 1
        taken[free] = None
    return list(taken)


def _qualified_name(name: str, key: TokenKey, *, is_full: bool = False) -> str:
    chain, contract = key
    if is_unknown(key):
        return f"{name} ({_UNKNOWN})".lstrip()
    if contract is None:
        where = _NATIVE
    else:
        where = safe_line(contract, _FULL) if is_full else shortened(contract)
    return f"{name} ({safe_line(chain, _CHAIN)} {where})".lstrip()


def symbol_and_contract(
    holdings: pd.DataFrame, tokens: KeyCodes, place: int, *, limit: int = _FULL
) -> tuple[str, str]:
    """Return two texts: the symbol of a token, and its blockchain and full contract."""
    row, key = tokens.first[place], tokens.keys[place]
    name = safe_line(cell_text(holdings["symbol"].array[row])) or "no symbol"
    if is_unknown(key):
        return name, _UNKNOWN
    contract = safe_line(cell_text(holdings["token_address"].array[row]), limit)
    return name, f"{safe_line(key[0])} {contract or _NATIVE}"


def short_wallet(blockchain: str, address: str, name: str = "") -> str:
    """Return a short name of a wallet: ``ETH.0x1111…1111``, or ``Ada · ETH.0x1111…1111``."""
    return _prepend_name(name, f"{safe_line(blockchain, _CHAIN)}.{shortened(address)}")


def full_wallet_name(blockchain: str, address: str, name: str = "", *, limit: int = _FULL) -> str:
    """Return the full name of a wallet: the user's name, if any, and ``<BLOCKCHAIN>.<ADDRESS>``."""
    return _prepend_name(name, f"{safe_line(blockchain)}.{safe_line(address, limit)}")


def _prepend_name(name: str, wallet: str) -> str:
    called = name and safe_line(name, _NAME)
    return f"{called}{_SEPARATOR}{wallet}" if called else wallet


def short_contract(blockchain: object, address: object) -> str:
    """Return a token's contract address, shortened in the middle. Both arguments may be NA."""
    short = shortened(address) if isinstance(address, str) else ""
    if not isinstance(blockchain, str):
        return f"{short} ({_UNKNOWN})" if short else _UNKNOWN
    return short or _NATIVE


def contract_hint(first: TokenKey) -> str:
    """Return a hint to pass a token as blockchain and contract, with an example."""
    return f"pass blockchain and contract, such as token={token_text(first)}"


def token_index(
    holdings: pd.DataFrame,
    tokens: KeyCodes,
    token: TokenLike,
    *,
    hint: Callable[[TokenKey], str] = contract_hint,
) -> int:
    """Return the index in `tokens` of a token, which is (blockchain, contract) or a symbol.

    A symbol must match exactly, and must belong to only one known token.
    """
    if isinstance(token, str):
        rows = (holdings["symbol"] == token).to_numpy(bool, na_value=False)
        codes = pd.unique(tokens.codes[rows]).tolist()
        places = [place for place in codes if not is_unknown(tokens.keys[place])]
    else:
        key = token_key(token)
        places = [tokens.keys.index(key)] if key in tokens.keys else []
    if not places:
        raise UnknownTokenError(token)
    if len(places) > 1:
        raise ambiguous_token_error({str(token): [tokens.keys[place] for place in places]}, hint)
    return places[0]


def mask_of_token(holdings: pd.DataFrame, token: TokenLike) -> Mask:
    """Return a mask of the rows of a token: (blockchain, contract) or an unambiguous symbol."""
    require_columns(holdings, ["symbol", "token_blockchain", "token_address"])
    tokens = token_identities(holdings)
    return np.asarray(tokens.codes == token_index(holdings, tokens, token))


def mask_of_wallet(frame: pd.DataFrame, wallet: WalletLike) -> Mask:
    """Return a mask of the rows of a wallet: ``"ETH.0x…"`` or (blockchain, address)."""
    [named] = parse_wallets(wallet)
    wallets = wallet_identities(frame)
    key = canonical_key(named.blockchain, named.address)
    if key not in wallets.keys:
        raise UnknownWalletError(str(named))
    return np.asarray(wallets.codes == wallets.keys.index(key))


def tokens_by_shared_symbol(holdings: pd.DataFrame, tokens: KeyCodes) -> dict[str, list[TokenKey]]:
    """Return a dict that maps each symbol of several known tokens to these tokens."""
    codes, symbols = factorized(holdings["symbol"])
    stride = len(tokens.keys) + 1
    rows = (codes >= 0) & ~tokens.unknown[tokens.codes]
    names, places = np.divmod(pd.unique(codes[rows] * stride + tokens.codes[rows]), stride)
    shared = (np.bincount(names, minlength=len(symbols)) > 1)[names]
    result: dict[str, list[TokenKey]] = {}
    for name, place in zip(names[shared], places[shared], strict=True):
        result.setdefault(str(symbols[name]), []).append(tokens.keys[place])
    return result


def ambiguous_token_error(
    shared: Mapping[str, Sequence[TokenKey]], hint: Callable[[TokenKey], str]
) -> AmbiguousTokenError:
    """Return the error for symbols that several tokens share, with a hint for the first of them.

    Tokens on the packaged list come first, and bridged versions last among them.
    """
    listed = known_token_by_key()
    issued = sorted(listed, key=lambda key: listed[key].kind == "bridged")
    ranks = {key: rank for rank, key in enumerate(issued)}
    ordered = {
        symbol: sorted(tokens, key=lambda key: ranks.get(key, len(ranks)))
        for symbol, tokens in shared.items()
    }
    notes = {key: _token_note(listed.get(key)) for tokens in ordered.values() for key in tokens}
    if listed.keys().isdisjoint(notes):
        notes = {}  # a note on every token would not help
    first = next(iter(ordered.values()))[0]
    return AmbiguousTokenError(ordered, hint(first), notes=notes)


def _token_note(known: KnownToken | None) -> str:
    if known is None:
        return _NOT_LISTED
    if known.shares_symbol:
        return f"known: {known.asset}, another project"
    notes = {"native": "the coin itself", "canonical": f"known: the {known.symbol} of its issuer"}
    return notes.get(known.kind, f"known: {known.kind} {known.asset}")


@cache
def known_token_by_key() -> dict[TokenKey, KnownToken]:
    """Return a dict that maps canonical keys to the tokens of the packaged list, in order."""
    by_key: dict[TokenKey, KnownToken] = {}
    for token in known_tokens():
        by_key.setdefault(token_key((token.blockchain, token.contract)), token)
    return by_key
