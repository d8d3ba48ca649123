"""Read wallets from lists, tables and pasted text, and select the distinct wallets to request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from walletframe.address import forms
from walletframe.address.formats import has_wrong_checksum, malformed_reason
from walletframe.address.forms import WalletAddress, WalletLike, canonical_key
from walletframe.chains import unknown_blockchain_message
from walletframe.errors import (
    POSITIONS_NOTE,
    AddressError,
    ArgumentError,
    ColumnsError,
    InputWarning,
    SettingsError,
)
from walletframe.notice import notify, warn_never_raise
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT, factorize
from walletframe.text import abbreviate, safe_line

if TYPE_CHECKING:
    import numpy.typing as npt

    Indices = npt.NDArray[np.intp]

WalletsLike: TypeAlias = "WalletLike | Iterable[WalletLike] | pd.Series | pd.DataFrame"
RaiseOrDrop: TypeAlias = Literal["raise", "drop"]
OnUnreadable: TypeAlias = Literal["raise", "drop", "ask"]
Problem: TypeAlias = tuple[int, str, str]
T = TypeVar("T")

_MAX_LISTED = 3
_NUMBERING = re.compile(r"^\s*[(\[]?\d{1,4}[.)\]](?:\s+(?=\S)|(?=[A-Z][A-Z0-9_]*\.))")
_BULLET = re.compile(r"[-–—*•‣▪·+:=]+")  # noqa: RUF001 - lists in chats have these dashes
_ADDRESSES = ("address", "walletaddress", "wallet", "wallets")
_HEADERS = (*([name] for name in _ADDRESSES), *(["blockchain", name] for name in _ADDRESSES[:2]))
_IDENTIFIER = re.compile(r"(?!0x)[A-Za-z][\w-]*|[A-Z][A-Z0-9_]*:")
_ADDRESS = re.compile(r"(?![A-Z][A-Z0-9_]*\.).*[\d.].*")  # neither a dotted wallet nor a word
_COLON = re.compile(r"(?!\w+://)[^.]*:[^.]*\.")
_COLON_REASON = 'it has a colon before the first dot: write a wallet such as "ETH.0x52…"'
_LONG_WORD = re.compile(r"\w{20,}")  # an address
_QUOTES_AND_BRACKETS = "\"'`“”‘’[](){}<>"  # noqa: RUF001 - text from chats has curly quotes


class ParsedWallets(NamedTuple):
    """The wallets of a list, including duplicates, and the problems of the list."""

    wallets: list[WalletAddress]  # aliases of blockchains are replaced by identifiers
    positions: list[int]  # the position of each wallet in the list
    row_count: int  # including empty rows
    empty_count: int
    problems: list[Problem]
    aliases: list[Problem]  # position, alias, identifier; an error unless `fix` is set
    positions_note: str = POSITIONS_NOTE  # explains the positions in messages
    labels: pd.DataFrame | None = None  # the extra columns, with one row for each of `wallets`
    has_malformed: bool = False  # whether `problems` contains malformed addresses


def read_numbered(
    numbered_wallets: Iterable[tuple[int, object]], positions_note: str = POSITIONS_NOTE
) -> ParsedWallets:
    """Parse pairs (position, wallet), and collect the problems."""
    wallets: list[WalletAddress] = []
    positions: list[int] = []
    problems: list[Problem] = []
    aliases: list[Problem] = []
    count = empty = 0
    for position, item in numbered_wallets:
        count += 1
        if forms.is_blank(item):
            empty += 1
            continue
        wallet, alias = forms.wallet_or_reason_and_alias(item)
        if isinstance(wallet, str):
            problems.append((position, forms.truncated_text(item), wallet))
            continue
        wallets.append(wallet)
        positions.append(position)
        if alias:
            aliases.append((position, forms.truncated_text(alias), wallet.blockchain))
    wallets = [*unify_unknown_blockchain_spellings(wallets)]
    return ParsedWallets(wallets, positions, count, empty, problems, aliases, positions_note)


def read_list(wallets: WalletsLike) -> ParsedWallets:
    """Read wallets in any form. Skip empty rows of a list, but report a single empty wallet."""
    if isinstance(wallets, pd.DataFrame):
        return read_numbered(enumerate(unparsed_wallets(wallets)))
    if isinstance(wallets, np.ndarray):
        return read_numbered(enumerate(wallets.tolist()))
    # No blockchain contains a dot. So a tuple with a dot in the first text is a list of wallets.
    is_pair = (
        isinstance(wallets, tuple)
        and len(wallets) == len(forms.COLUMNS)
        and all(isinstance(part, str) for part in wallets)
        and "." not in wallets[0]
    )
    is_single = is_pair or isinstance(wallets, str | bytes | Mapping | WalletAddress)
    if isinstance(wallets, Iterable) and not is_single:
        return read_numbered(enumerate(wallets))
    if forms.is_blank(wallets):
        reason = forms.wallet_or_reason(wallets)
        return ParsedWallets([], [], 1, 0, [(0, forms.truncated_text(wallets), str(reason))], [])
    return read_numbered([(0, wallets)])


def parse_wallets(wallets: WalletsLike, on_unreadable: OnUnreadable = "ask") -> list[WalletAddress]:
    """Read wallets, including duplicates. Raise one error for all unreadable rows."""
    parsed = move_malformed_to_problems(read_list(wallets), on_unreadable)
    _raise_if_unreadable(parsed, "raise")
    return parsed.wallets


def distinct_wallets(wallets: Iterable[WalletAddress]) -> list[WalletAddress]:
    """Drop duplicates. Keep the first spelling of each wallet, and the order."""
    first: dict[tuple[str, str], WalletAddress] = {}
    for wallet in wallets:
        first.setdefault(canonical_key(wallet.blockchain, wallet.address), wallet)
    return list(first.values())


def unify_unknown_blockchain_spellings(wallets: Iterable[WalletAddress]) -> Iterator[WalletAddress]:
    """Yield all wallets. Spell each unknown blockchain as in its first wallet."""
    first: dict[str, str] = {}
    for wallet in wallets:
        name = first.setdefault(forms.canonical_blockchain(wallet.blockchain), wallet.blockchain)
        yield wallet if name == wallet.blockchain else WalletAddress(name, wallet.address)


def rename_wallet_columns(frame: T) -> T:
    """Rename the wallet columns of a pandas or Dask frame to blockchain and address."""
    table: Any = frame
    names = zip(table.columns, forms.standard_column_names(table.columns), strict=True)
    renamed: T = table.rename(columns=dict(names))
    return renamed


def unparsed_wallets(frame: pd.DataFrame) -> Iterable[object]:
    """Return the wallet of each row. Raise an error if a column is missing or occurs twice."""
    frame = rename_wallet_columns(frame)
    missing = [name for name in forms.COLUMNS if name not in frame.columns]
    if len(frame.columns) == 1 and len(missing) == len(forms.COLUMNS):
        return frame.iloc[:, 0]
    if missing:
        raise ColumnsError(
            missing,
            [str(name) for name in frame.columns],
            hint='rename the columns, or pass a single column of "<BLOCKCHAIN>.<ADDRESS>" strings; '
            "if all wallets are on one blockchain, add a column with .assign(blockchain=…)",
        )
    for name in forms.COLUMNS:
        if frame[name].ndim > 1:
            raise duplicate_column_error(name)
    return zip(frame["blockchain"], frame["address"], strict=True)


def distinct_wallets_and_labels(
    parsed: ParsedWallets, on_unreadable: OnUnreadable, *, position_text: Callable[[int], str] = str
) -> tuple[list[WalletAddress], pd.DataFrame | None]:
    """Return the distinct wallets and their extra columns. Warn once about omitted rows."""
    _raise_if_unreadable(parsed, on_unreadable)
    wallets = distinct_wallets(parsed.wallets)
    labels, conflicts = first_and_conflicting_labels(parsed)
    if len(wallets) < len(parsed.wallets) or parsed.problems:
        _warn_about_left_out_rows(parsed, len(wallets), conflicts, position_text)
    return wallets, labels


def wallets_and_extra_columns(
    parsed: ParsedWallets, on_unreadable: OnUnreadable, *, fix: bool
) -> tuple[list[WalletAddress], pd.DataFrame | None]:
    """Return the distinct wallets and their extra columns. Warn about possible typos."""
    check_on_unreadable(on_unreadable)
    parsed = replace_aliases_and_unify_labels(parsed) if fix else parsed
    parsed = move_malformed_to_problems(parsed, on_unreadable)
    wallets, labels = distinct_wallets_and_labels(parsed, on_unreadable)
    warn_about_typos(wallets)
    if labels is not None and (spellings := _label_replacements_by_column(labels)):
        text = f"labels differ only in case; wf.clean replaces {_replacements_text(spellings)}"
        notify(text, InputWarning)
    return wallets, labels


def move_malformed_to_problems(parsed: ParsedWallets, on_unreadable: OnUnreadable) -> ParsedWallets:
    """Treat malformed addresses as problems, unless ``on_unreadable="ask"``."""
    reasons = [on_unreadable != "ask" and malformed_reason(each) for each in parsed.wallets]
    if not any(reasons):
        return parsed
    rows = [row for row, reason in enumerate(reasons) if not reason]
    checked = zip(parsed.positions, parsed.wallets, reasons, strict=True)
    malformed = [(n, forms.truncated_text(each), reason) for n, each, reason in checked if reason]
    labels = parsed.labels
    return parsed._replace(
        wallets=[parsed.wallets[row] for row in rows],
        positions=[parsed.positions[row] for row in rows],
        problems=sorted(chain(parsed.problems, malformed)),
        labels=None if labels is None else labels.iloc[rows].reset_index(drop=True),
        has_malformed=True,
    )


def replace_aliases_and_unify_labels(parsed: ParsedWallets) -> ParsedWallets:
    """Replace aliases of blockchains. Unify the case in extra columns. Warn about both."""
    lines = alias_replacement_texts(parsed.aliases)
    labels = parsed.labels
    if labels is not None and (spellings := _label_replacements_by_column(labels)):
        lines.append(_replacements_text(spellings))
        labels = labels.copy()
        for name, first in spellings.items():
            cells = labels[name]
            replaced = [first.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
            labels[name] = pd.Series(replaced, cells.index, dtype=cells.dtype)
    if lines:
        warn_never_raise(f"replaced {'; '.join(lines)}", InputWarning)
    return parsed._replace(aliases=[], labels=labels)


def alias_replacement_texts(aliases: Iterable[Problem]) -> list[str]:
    """Return a text for each alias, with the replacement and the number of rows."""
    counts = Counter((alias, identifier) for _, alias, identifier in aliases)
    return [
        f"{safe_line(alias)!r} with {identifier} ({counted_noun(count, 'row')})"
        for (alias, identifier), count in counts.items()
    ]


def labels_differing_in_case(parsed: ParsedWallets) -> Iterator[tuple[str, int, str, str]]:
    """Yield (column, position, label, first spelling) where labels differ only in case."""
    labels = pd.DataFrame() if parsed.labels is None else parsed.labels
    for name, first in _label_replacements_by_column(labels).items():
        for position, cell in zip(parsed.positions, labels[name], strict=True):
            if isinstance(cell, str) and cell in first:
                yield name, position, cell, first[cell]


def _label_replacements_by_column(labels: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return {column: {label: first spelling}} for labels that differ only in case."""
    by_column: dict[str, dict[str, str]] = {}
    for name, column in labels.items():
        first: dict[str, str] = {}
        for label in dict.fromkeys(cell for cell in column if isinstance(cell, str)):
            if (spelling := first.setdefault(label.casefold(), label)) != label:
                by_column.setdefault(str(name), {})[label] = spelling
    return by_column


def _replacements_text(spellings: Mapping[str, Mapping[str, str]]) -> str:
    pairs = [
        f"{safe_line(label)!r} with {safe_line(first)!r} in {safe_line(name)!r}"
        for name, by_label in spellings.items()
        for label, first in by_label.items()
    ]
    rest = len(pairs) - _MAX_LISTED
    more = [f"and {counted_noun(rest, 'more label')}"] if rest > 0 else []
    return ", ".join([*pairs[:_MAX_LISTED], *more])


def readable_wallets(parsed: ParsedWallets, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return the wallets, including duplicates. Warn or raise if wallets are unreadable."""
    _raise_if_unreadable(parsed, on_unreadable)
    if parsed.problems:
        distinct = distinct_wallets(parsed.wallets)
        _warn_about_left_out_rows(parsed, len(distinct), {}, str, duplicates="kept")
    return parsed.wallets


def _unknown_blockchains_message(wallets: Iterable[WalletAddress]) -> str:
    names = dict.fromkeys(wallet.blockchain for wallet in wallets)
    messages = [each for each in map(unknown_blockchain_message, names) if each]
    if not messages:
        return ""
    listed = [each if each.endswith("?") else f"{each};" for each in messages[:_MAX_LISTED]]
    if len(messages) > _MAX_LISTED:
        listed.append(f"and {len(messages) - _MAX_LISTED:,} more;")
    return f"{' '.join(listed)} wf.blockchains() lists the known blockchains"


def _wrong_checksums_message(wallets: Iterable[WalletAddress]) -> str:
    wrong = [str(wallet) for wallet in wallets if has_wrong_checksum(wallet)]
    listed = ", ".join(wrong[:_MAX_LISTED])
    more = f" and {len(wrong) - _MAX_LISTED:,} more" if len(wrong) > _MAX_LISTED else ""
    return f"the checksum of {listed}{more} is wrong: copy the address again" if wrong else ""


TYPO_CHECKS = (_unknown_blockchains_message, _wrong_checksums_message)


def warn_about_typos(wallets: Sequence[WalletAddress]) -> None:
    """Warn about unknown blockchains and wrong checksums."""
    for message in filter(None, (check(wallets) for check in TYPO_CHECKS)):
        notify(message, InputWarning)


def check_on_unreadable(value: str | None, valid: Sequence[str] = ("raise", "drop", "ask")) -> None:
    """Raise an error if the value is not supported."""
    if value not in valid:
        hint = f"use on_unreadable={' or '.join(map(repr, valid))}".replace("'", '"')
        raise SettingsError(f"on_unreadable={value!r} is not supported", hint)


def _raise_if_unreadable(parsed: ParsedWallets, on_unreadable: OnUnreadable) -> None:
    if parsed.aliases or (parsed.problems and on_unreadable != "drop"):
        raise AddressError(
            parsed.problems, parsed.positions_note, parsed.aliases, malformed=parsed.has_malformed
        )


def _warn_about_left_out_rows(
    parsed: ParsedWallets,
    distinct_count: int,
    conflicts: Mapping[str, list[Problem]],
    position_text: Callable[[int], str],
    duplicates: str = "left out",
) -> None:
    counts = (
        (duplicates, "duplicate", len(parsed.wallets) - distinct_count),
        ("left out", "empty", parsed.empty_count),
        ("left out", "unreadable", len(parsed.problems)),
    )
    rows = counted_noun(parsed.row_count, "row")
    text = f"found {counted_noun(distinct_count, 'wallet')} in {rows}"
    for state, kinds in groupby((each for each in counts if each[2]), itemgetter(0)):
        text += f"; {state}: {', '.join(counted_noun(n, f'{kind} row') for _, kind, n in kinds)}"
    for label, others in ((repr(safe_line(name)), each) for name, each in conflicts.items()):
        sentence = f". In {counted_noun(len(others), 'row')}, {label} differs from an earlier row "
        text += f"{sentence}of the same wallet; the first is kept" * bool(others)
    if problems := [*sorted(parsed.problems), *sorted(chain(*conflicts.values()))]:
        listed = "; ".join(
            f"{position_text(position)}: "
            f"{_LONG_WORD.sub(lambda word: abbreviate(word[0]), safe_line(value))!r}: {reason}"
            for position, value, reason in problems[:_MAX_LISTED]
        )
        rest = len(problems) - _MAX_LISTED
        more = f"; and {rest:,} more in the warning's attribute problems" if rest > 0 else ""
        text = f"{text} ({parsed.positions_note}): {listed}{more}"
    notify(text, InputWarning, problems)


def read_frame(frame: object, keep: Sequence[str]) -> ParsedWallets:
    """Read the wallets of a DataFrame, and the extra columns in `keep`."""
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(
            f"keep= is not supported for wallets of type {type(frame).__name__}",
            hint="pass a DataFrame, or the path of a CSV file",
        )
    if missing := [name for name in keep if name not in frame.columns]:
        raise ColumnsError(missing, [str(name) for name in frame.columns])
    labels = frame[[*keep]]
    if labels.shape[1] > len(keep):
        raise duplicate_column_error(labels.columns[labels.columns.duplicated()][0])
    parsed = read_numbered(enumerate(unparsed_wallets(frame.drop(columns=[*keep]))))
    return add_extra_columns(parsed, labels.iloc[parsed.positions].reset_index(drop=True))


def add_extra_columns(parsed: ParsedWallets, labels: pd.DataFrame) -> ParsedWallets:
    """Add extra columns. Blank text becomes a missing value."""
    stripped = {name: _trim_labels(column) for name, column in labels.items()}
    return parsed._replace(labels=pd.DataFrame(stripped))


def _trim_labels(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = [label for label in column.cat.categories if isinstance(label, str)]
        if all(label and label == label.strip() for label in labels):
            return column
    elif column.dtype.kind not in "OU":
        return column
    cells = [cell.strip() or None if isinstance(cell, str) else cell for cell in column]
    is_text = all(isinstance(cell, str) for cell in cells if not forms.is_empty_cell(cell))
    if is_text:  # a text column can't contain lone surrogates
        texts = (cell if isinstance(cell, str) else None for cell in cells)
        cells = [text and text.encode("utf-8", "replace").decode() for text in texts]
    return pd.Series(cells, index=column.index, dtype=TEXT if is_text else object)


def first_and_conflicting_labels(
    parsed: ParsedWallets,
) -> tuple[pd.DataFrame | None, dict[str, list[Problem]]]:
    """Return each wallet's first values in the extra columns, and the conflicts by column."""
    conflicts: dict[str, list[Problem]] = {}
    if parsed.labels is None:
        return None, conflicts
    keys: dict[tuple[str, str], int] = {}
    all_keys = (canonical_key(wallet.blockchain, wallet.address) for wallet in parsed.wallets)
    codes = np.array([keys.setdefault(key, len(keys)) for key in all_keys], dtype=np.intp)
    columns = {}
    for name, column in parsed.labels.items():
        rows, conflicting = first_and_conflicting_label_rows(str(name), codes, column)
        conflicts[str(name)] = []
        for row in conflicting:
            first, later = (safe_line(str(column.iloc[n])) for n in (rows[codes[row]], row))
            reason = f"{later!r}, but {first!r} in an earlier row"
            conflicts[str(name)].append((parsed.positions[row], str(parsed.wallets[row]), reason))
        columns[name] = column.array.take(rows, allow_fill=bool((rows < 0).any()))
    return pd.DataFrame(columns, index=range(len(keys))), conflicts


def first_and_conflicting_label_rows(
    column_name: str, wallet_codes: Indices, column: Any
) -> tuple[Indices, list[int]]:
    """Return each wallet's first row with a label (-1: none), and the conflicting rows."""
    try:
        labels, _ = factorize(column)
    except TypeError:
        raise unhashable_column_error(column_name) from None
    present = np.flatnonzero(labels >= 0)
    rows = np.full(int(wallet_codes.max(initial=-1)) + 1, -1)
    rows[wallet_codes[present[::-1]]] = present[::-1]  # the last write wins
    conflicts = present[labels[present] != labels[rows[wallet_codes[present]]]]
    return rows, conflicts.tolist()


def duplicate_column_error(name: object) -> SettingsError:
    """Return the error for columns with the same name."""
    hint = "keep one of these columns, or rename the others"
    shown = safe_line(str(name))
    return SettingsError(f"the DataFrame has several columns with the name {shown!r}", hint)


def unhashable_column_error(name: str) -> SettingsError:
    """Return the error for a column with unhashable values."""
    text = f"the column {safe_line(name)!r} contains lists or other unhashable values"
    return SettingsError(text, "convert the column to text with .astype('str')")


class PastedWallets(NamedTuple):
    """The wallets and the problems of a pasted text, in the order of the text."""

    wallets: list[WalletAddress]
    problems: list[Problem]  # line number (from 1), unreadable text, reason
    aliases: list[Problem]  # line number, alias and identifier, if `fix` replaces aliases
    unreadable_lines: str  # the complete lines, for the user to correct


def read_pasted(
    text: str, *, on_unreadable: OnUnreadable = "raise", fix: bool = False
) -> PastedWallets:
    """Read the wallets of a text. Skip each line that contains an unreadable wallet."""
    wallets: list[WalletAddress] = []
    problems: list[Problem] = []
    aliases: list[Problem] = []
    unreadable: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            parsed = move_malformed_to_problems(_read_line(line.partition("#")[0]), on_unreadable)
            _raise_if_unreadable(parsed._replace(aliases=[]) if fix else parsed, "raise")
        except AddressError as error:
            problems += [(number, value, reason) for _, value, reason in error.problems]
            unreadable.append(line)
        else:
            wallets += parsed.wallets
            aliases += [(number, alias, name) for _, alias, name in parsed.aliases]
    return PastedWallets(wallets, problems, aliases, "\n".join(unreadable))


def _read_line(line: str) -> ParsedWallets:
    split = re.split(r"[\s,;|]+", _NUMBERING.sub("", line))
    stripped = (part.strip(_QUOTES_AND_BRACKETS) for part in split)
    pieces = [piece for piece in stripped if piece and not _BULLET.fullmatch(piece)]
    if [piece.casefold() for piece in pieces] in _HEADERS:
        return read_list([])
    match pieces:  # a line with a blockchain and an address is one wallet
        case (first, second) if _IDENTIFIER.fullmatch(first) and _ADDRESS.fullmatch(second):
            return read_list([(first.rstrip(":"), second)])
    if wrong := [(0, piece, _COLON_REASON) for piece in pieces if _COLON.match(piece)]:
        raise AddressError(wrong)
    return read_list(pieces)
