"""Find problems in a list of wallets (`check`), and fix some of the problems (`clean`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from walletframe.address.formats import has_wrong_checksum, problem_and_remedy
from walletframe.address.forms import canonical_key
from walletframe.address.lists import (
    check_on_unreadable,
    first_and_conflicting_labels,
    labels_differing_in_case,
    move_malformed_to_problems,
    readable_wallets,
    replace_aliases_and_unify_labels,
)
from walletframe.chains import find_blockchain, suggest_blockchains
from walletframe.errors import InputWarning
from walletframe.frames.extra_columns import check_keep
from walletframe.frames.joining import frame_of_wallets
from walletframe.frames.schema import typed_frame
from walletframe.notice import notify
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line
from walletframe.walletfile import read_input

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import OnUnreadable, WalletsLike

_Problem: TypeAlias = tuple[str, str]  # a problem, and how to fix it
_DTYPES = {"row": "int64", **dict.fromkeys(("blockchain", "address", "problem", "fix"), TEXT)}


def check(
    wallets: WalletsLike | os.PathLike[str], *, keep: str | Sequence[str] = ()
) -> pd.DataFrame:
    """Check a list of wallets, without sending requests.

    The function can't find out whether a wallet exists: only the service knows.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, Path, or iterable of them
        The wallets, in any form that `fetch_wallets` accepts.
    keep : str or list of str, optional
        Extra columns to check as well, such as ``["owner"]``.

    Returns
    -------
    DataFrame
        One row for each nonempty row of the list, in order, with an index from 0 and these columns:

        - ``row`` (int64): the position in the list, counted from 0, or the line number in a file;
        - ``blockchain`` (str): the blockchain, with known identifiers in upper case. NA if the row
          can't be read;
        - ``address`` (str): the address. If the row can't be read, the beginning of the row;
        - ``problem`` (str): the problem. NA if the row has none;
        - ``fix`` (str): a suggestion, or NA. `clean` applies fixes that begin with "write".

    Raises
    ------
    ArgumentError
        If `keep` is passed, but `wallets` has no columns.
    AddressError
        If a file can't be read.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``, or a column to keep.
    SettingsError
        If a column occurs twice, or if a column to keep has a name that walletframe uses.

    See Also
    --------
    clean : Fix names of blockchains, and the upper and lower case of values in your own columns.

    Notes
    -----
    The length and the alphabet of an address are checked for EVM blockchains, Bitcoin, Litecoin,
    Dogecoin, Dash, Solana, TRON, NEAR and Cosmos blockchains. Checksums are checked in base58 and
    bech32. With the extra ``checksums``, EIP-55 checksums are also checked in EVM addresses.

    Examples
    --------
    >>> check(["Ethereum.0x" + "1" * 40, "ETH.vitalik.eth"]).problem.tolist()
    ["'Ethereum' is another name of ETH", 'vitalik.eth is an ENS name']
    """
    parsed = read_input(wallets, check_keep(keep))
    aliases = {position: alias for position, alias, _ in parsed.aliases}
    first_rows: dict[tuple[str, str], int] = {}
    pairs: dict[int, tuple[str | None, str]] = {}
    problems: dict[int, list[_Problem]] = {}
    for position, text, reason in parsed.problems:
        pairs[position], problems[position] = (None, safe_line(text)), [(reason, "")]
    for position, wallet in zip(parsed.positions, parsed.wallets, strict=True):
        alias = aliases.get(position, "")
        pairs[position] = alias or wallet.blockchain, wallet.address
        problems[position] = [*_wallet_problems(wallet, alias)]
        first = first_rows.setdefault(canonical_key(wallet.blockchain, wallet.address), position)
        if first != position:
            problems[position].append((f"the same wallet as in row {first}", ""))
    for name, position, label, spelling in labels_differing_in_case(parsed):
        problem = f"{safe_line(label)!r} in {safe_line(name)!r} has another spelling"
        problems[position].append((problem, f"write {safe_line(spelling)!r}"))
    for name, conflicts in first_and_conflicting_labels(parsed)[1].items():
        for position, _, reason in conflicts:
            problems[position].append((f"{safe_line(name)!r} is {reason}", ""))
    rows = sorted(pairs)
    columns = {
        "row": rows,
        "blockchain": [pairs[row][0] for row in rows],
        "address": [pairs[row][1] for row in rows],
        "problem": [_join_or_none(problem for problem, _ in problems[row]) for row in rows],
        "fix": [_join_or_none(fix for _, fix in problems[row]) for row in rows],
    }
    return typed_frame(columns, _DTYPES)


def _join_or_none(texts: Iterable[str]) -> str | None:
    return "; ".join(filter(None, texts)) or None


def _wallet_problems(wallet: WalletAddress, replaced_alias: str) -> Iterator[_Problem]:
    if replaced_alias:
        yield (
            f"{safe_line(replaced_alias)!r} is another name of {wallet.blockchain}",
            f"write {wallet.blockchain}",
        )
    problem, fix = problem_and_remedy(wallet)
    if problem:
        yield problem, fix
    elif has_wrong_checksum(wallet):
        yield "its checksum is wrong", "copy the address again"
    elif not find_blockchain(wallet.blockchain):
        near = " or ".join(suggest_blockchains(wallet.blockchain))
        yield "this blockchain is not known", near and f"did you mean {near}?"


def clean(
    wallets: WalletsLike | os.PathLike[str],
    *,
    keep: str | Sequence[str] = (),
    on_unreadable: OnUnreadable = "raise",
) -> pd.DataFrame:
    """Replace blockchain names by identifiers, and unify the case of values in your own columns.

    No requests are sent. An identifier that `blockchains()` lists is never replaced.

    Parameters
    ----------
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, Path, or iterable of them
        The wallets, in any form that `fetch_wallets` accepts.
    keep : str or list of str, optional
        Extra columns to return, such as ``["owner"]``. White space around values is removed.
        Values that differ only in case become equal to the first value.
    on_unreadable : {"raise", "drop", "ask"}, default "raise"
        Raise an error for unreadable rows and malformed addresses, or drop these rows. ``"ask"``
        raises an error for unreadable rows, but keeps malformed addresses, so that a fetch can ask
        the service about them. Empty rows are always skipped.

    Returns
    -------
    DataFrame
        One row for each row that is not dropped, including duplicates. The index of a
        DataFrame or Series is kept. Other lists get an index from 0. The columns are:

        - ``blockchain`` (str): the service's identifier. An unknown blockchain is unchanged;
        - ``address`` (str): the address, without surrounding white space;
        - the columns to keep.

    Raises
    ------
    ArgumentError
        If `keep` is passed, but `wallets` has no columns.
    AddressError
        If unreadable or malformed rows are not allowed. The error lists these rows and the reasons.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``, or a column to keep.
    SettingsError
        If `on_unreadable` is not supported, if a column occurs twice, or if walletframe uses the
        name of a column to keep.

    Warns
    -----
    InputWarning
        - If names or values are replaced. There is one warning for all replacements.
        - If rows are dropped, or if a wallet has several values in a column to keep.

    See Also
    --------
    check : List all problems without changing anything.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     clean([("Arbitrum One", "0x" + "1" * 40)]).blockchain.tolist()
    ['ARBITRUM']
    """
    check_on_unreadable(on_unreadable)
    parsed = replace_aliases_and_unify_labels(read_input(wallets, check_keep(keep)))
    parsed = move_malformed_to_problems(parsed, on_unreadable)
    for name, conflicts in first_and_conflicting_labels(parsed)[1].items():
        if conflicts:
            rows = counted_noun(len(conflicts), "row")
            text = f"in {rows}, {safe_line(name)!r} differs from an earlier row of the same wallet"
            notify(f"{text}; walletframe.check lists all rows", InputWarning, conflicts)
    cleaned = frame_of_wallets(readable_wallets(parsed, on_unreadable))
    if parsed.labels is not None:
        cleaned = cleaned.join(parsed.labels)
    if isinstance(wallets, pd.DataFrame | pd.Series):
        cleaned.index = wallets.index[parsed.positions]
    return cleaned
