"""Names of tokens and wallets: to display, to look up, and symbols that several tokens share.

Every table, chart, widget and report takes its names from here, so that a token is called the same
everywhere. `identity` knows when two rows are of one token; here is how it is written.
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
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import (
    TokenKey,
    cell_text,
    is_unknown,
    token_identities,
    token_key,
    wallet_identities,
)
from walletframe.pandas_versions import TEXT, factorized
from walletframe.text import shortened, shown, token_text
from walletframe.tokens import known_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.identity import Codes, Identities, Mask
    from walletframe.tokens import KnownToken

TokenLike: TypeAlias = str | TokenKey
WalletLike: TypeAlias = "str | tuple[str, str] | WalletAddress"

_SYMBOL, _CHAIN, _NAME, _WHOLE = 24, 20, 24, 500
_GIVEN, _BETWEEN = "name", " · "  # the column of `wallets` that names them, and what follows a name
_NATIVE, _UNKNOWN = "native coin", "unknown token"
_NOT_LISTED = "not on the packaged list: may be a twin that anybody made"


def token_names(
    holdings: pd.DataFrame,
    tokens: Identities,
    places: Codes,
    *,
    by_chain: bool = False,
    taken: Container[str] = (),
) -> list[str]:
    """Name tokens by text that is unique in the frame, readable and harmless.

    With `by_chain` it is unique on the token's blockchain, for where that is written beside it.
    The symbols in `taken`, without case, are never enough for a name.
    """
    # A symbol alone is not enough where another token has it, too, where letters beyond ASCII may
    # look like others, and where it looks like a name with a contract already.
    spelled, symbols = factorized(
        holdings["symbol"].array.take(tokens.first), use_na_sentinel=False
    )
    texts = np.array([shown(cell_text(each), _SYMBOL) for each in symbols], dtype=object)
    codes, names = pd.factorize(texts)
    spelled = codes[spelled]
    alike = np.flatnonzero(np.isin(spelled, spelled[places])).tolist()
    scopes = [(spelled[place], tokens.keys[place][0] if by_chain else "") for place in alike]
    bearers = Counter(scopes)
    found, rest = {}, []
    for place, scope in zip(alike, scopes, strict=True):
        name, key = names[spelled[place]], tokens.keys[place]
        is_plain = name.isascii() and "(" not in name and not is_unknown(key)
        if name and is_plain and bearers[scope] == 1 and name.casefold() not in taken:
            found[place] = name
        else:
            rest.append((place, name, key))
    short = [_qualified(name, key) for _, name, key in rest]
    unique = unique_names(short, lambda number: _qualified(*rest[number][1:], whole=True))
    found |= zip((place for place, _, _ in rest), unique, strict=True)
    return [found[place] for place in places]


def given_names(frame: pd.DataFrame, wallets: pd.DataFrame | None) -> list[str]:
    """Return for each row what its wallet is called in the column ``name`` of `wallets`, if at all.

    It is as the user wrote it: who shows it has it named by `short_wallet` or `whole_wallet`.
    """
    if wallets is None or _GIVEN not in wallets:
        return [""] * len(frame)
    require_columns(wallets, ["address"])
    here, there = (
        [*each["address"].astype(TEXT).str.strip().str.lower()] for each in (frame, wallets)
    )
    shown_here = {*here}  # few of many; Series.isin of Arrow's text would take seconds
    near = np.array([address in shown_here for address in there], dtype=bool)
    near &= wallets[_GIVEN].notna().to_numpy()
    named = wallets[near]
    asked, rows = wallet_identities(named), wallet_identities(frame)
    texts = [cell_text(name) for name in named[_GIVEN].array.take(asked.first)]
    found = dict(zip(asked.keys, texts, strict=True))
    names = [found.get(key, "") for key in rows.keys]
    return [names[code] for code in rows.codes.tolist()]


def wallet_names(wallets: pd.DataFrame, places: Codes, names: Sequence[str]) -> list[str]:
    """Name wallets as `short_wallet` does, with the whole address where that is not unique.

    `wallets` has one row for each, as `Positions.wallets` does, and `names` what each is called.
    """
    columns = (wallets[name].array.take(places) for name in ("blockchain", "address"))
    called = [names[place] for place in places]
    named = [*zip(*(map(cell_text, column) for column in columns), called, strict=True)]
    short = [short_wallet(*each) for each in named]
    return unique_names(short, lambda number: whole_wallet(*named[number]))


def wallet_lines(label: str, name: str) -> list[str]:
    """Break what `wallet_names` calls a wallet into lines: its name if any, and where it is."""
    called = shown(name, _NAME)
    return [called, label.removeprefix(f"{called}{_BETWEEN}")] if called else [label]


def without_chain(label: str, name: str) -> list[str]:
    """Break what `wallet_names` calls a wallet into lines, without its blockchain."""
    *called, where = wallet_lines(label, name)
    return [*called, where.partition(".")[2]]


def unique_names(short: list[str], whole: Callable[[int], str]) -> list[str]:
    """Write at length what is short for several, and number what is equal all the same."""
    count = Counter(short)
    taken: dict[str, None] = {}
    for place, name in enumerate(short):
        label = name if count[name] == 1 else whole(place)
        free, number = label, 2
        while free in taken:
            free, number = f"{label} #{number}", number + 1
        taken[free] = None
    return list(taken)


def _qualified(name: str, key: TokenKey, *, whole: bool = False) -> str:
    chain, contract = key
    if is_unknown(key):
        return f"{name} ({_UNKNOWN})".lstrip()
    if contract is None:
        where = _NATIVE
    else:
        where = shown(contract, _WHOLE) if whole else shortened(contract)
    return f"{name} ({shown(chain, _CHAIN)} {where})".lstrip()


def whole_token(
    holdings: pd.DataFrame, tokens: Identities, place: int, *, limit: int = _WHOLE
) -> tuple[str, str]:
    """Name a token at length: its symbol; its blockchain with the whole contract, as written."""
    row, key = tokens.first[place], tokens.keys[place]
    name = shown(cell_text(holdings["symbol"].iloc[row])) or "no symbol"
    if is_unknown(key):
        return name, _UNKNOWN
    contract = shown(cell_text(holdings["token_address"].iloc[row]), limit)
    return name, f"{shown(key[0])} {contract or _NATIVE}"


def short_wallet(blockchain: str, address: str, name: str = "") -> str:
    """Name a wallet in a line of its own: ``<BLOCKCHAIN>.<ADDRESS>``, of that its two ends.

    What the user calls it stands before that: ``Ada · ETH.0x1111…1111``.
    """
    return _called(name, f"{shown(blockchain, _CHAIN)}.{shortened(address)}")


def whole_wallet(blockchain: str, address: str, name: str = "", *, limit: int = _WHOLE) -> str:
    """Name a wallet at length: its name if any, the blockchain, a dot and the whole address."""
    return _called(name, f"{shown(blockchain)}.{shown(address, limit)}")


def _called(name: str, where: str) -> str:
    called = shown(name, _NAME)
    return f"{called}{_BETWEEN}{where}" if called else where


def short_contract(blockchain: object, address: object) -> str:
    """Write the contract of a token by its two ends; NA where a frame has NA."""
    written = shortened(address) if isinstance(address, str) else ""
    if not isinstance(blockchain, str):
        return f"{written} ({_UNKNOWN})" if written else _UNKNOWN
    return written or _NATIVE


def _one_token(first: TokenKey) -> str:
    return f"name the one token, such as token={token_text(first)}"


def token_place(
    holdings: pd.DataFrame,
    tokens: Identities,
    token: TokenLike,
    *,
    hint: Callable[[TokenKey], str] = _one_token,
) -> int:
    """Return the place among `tokens` of the one that a caller names.

    A symbol is compared as written, and has to be that of one known token alone.
    """
    if isinstance(token, str):
        bearers = pd.unique(
            tokens.codes[(holdings["symbol"] == token).to_numpy(bool, na_value=False)]
        )
        places = [place for place in bearers.tolist() if not is_unknown(tokens.keys[place])]
    else:
        key = token_key(token)
        places = [tokens.keys.index(key)] if key in tokens.keys else []
    if not places:
        raise UnknownTokenError(token)
    if len(places) > 1:
        raise ambiguous({str(token): [tokens.keys[place] for place in places]}, hint)
    return places[0]


def find_token(holdings: pd.DataFrame, token: TokenLike) -> Mask:
    """Mark the rows of one token, named by (blockchain, contract) or by a symbol of its own."""
    require_columns(holdings, ["symbol", "token_blockchain", "token_address"])
    tokens = token_identities(holdings)
    return np.asarray(tokens.codes == token_place(holdings, tokens, token))


def find_wallet(frame: pd.DataFrame, wallet: WalletLike) -> Mask:
    """Mark the rows of one wallet, named as ``"ETH.0x…"`` or (blockchain, address)."""
    [named] = parse_wallets(wallet)
    wallets = wallet_identities(frame)
    key = canonical_key(named.blockchain, named.address)
    if key not in wallets.keys:
        raise UnknownWalletError(str(named))
    return np.asarray(wallets.codes == wallets.keys.index(key))


def shared_symbols(holdings: pd.DataFrame, tokens: Identities) -> dict[str, list[TokenKey]]:
    """Find the symbols that several known tokens have, and these in the order of first rows."""
    codes, symbols = factorized(holdings["symbol"])
    wide = len(tokens.keys) + 1
    nameless = tokens.unknown
    rows = (codes >= 0) & ~nameless[tokens.codes]
    named, bearers = np.divmod(pd.unique(codes[rows] * wide + tokens.codes[rows]), wide)
    shared = (np.bincount(named, minlength=len(symbols)) > 1)[named]
    found: dict[str, list[TokenKey]] = {}
    for name, bearer in zip(named[shared], bearers[shared], strict=True):
        found.setdefault(str(symbols[name]), []).append(tokens.keys[bearer])
    return found


def ambiguous(
    shared: Mapping[str, Sequence[TokenKey]], hint: Callable[[TokenKey], str]
) -> AmbiguousTokenError:
    """Make the error for symbols that several tokens share: known ones first, twins marked.

    The hint may name the first token, as it is to be pasted.
    """
    listed = known_by_key()
    ranks = {key: rank for rank, key in enumerate(listed)}
    ordered = {
        symbol: sorted(tokens, key=lambda key: ranks.get(key, len(ranks)))
        for symbol, tokens in shared.items()
    }
    notes = {key: _note(listed.get(key)) for tokens in ordered.values() for key in tokens}
    if listed.keys().isdisjoint(notes):
        notes = {}  # then nothing tells a twin from the real one
    first = next(iter(ordered.values()))[0]
    return AmbiguousTokenError(ordered, hint(first), notes=notes)


def _note(known: KnownToken | None) -> str:
    if known is None:
        return _NOT_LISTED
    if known.is_namesake:
        return f"known: {known.asset}, another project"
    said = {"native": "the coin itself", "canonical": f"known: the {known.symbol} of its issuer"}
    return said.get(known.kind, f"known: {known.kind} {known.asset}")


@cache
def known_by_key() -> dict[TokenKey, KnownToken]:
    """Return the tokens of the packaged list by their canonical keys, in its order."""
    found: dict[TokenKey, KnownToken] = {}
    for token in known_tokens():
        found.setdefault(token_key((token.blockchain, token.contract)), token)
    return found
