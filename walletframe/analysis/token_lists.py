"""Users' token lists: files in the Uniswap token-list format, DataFrames, or pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from walletframe.address.forms import is_blank
from walletframe.chains import known_blockchains
from walletframe.errors import TokenListError
from walletframe.frames.identity import TokenKey
from walletframe.frames.schema import require_columns
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line, unescape_cell

TokensLike: TypeAlias = str | Path | Mapping[str, Any] | pd.DataFrame | Iterable[TokenKey]

_SOLANA = {101: "SOLANA"}  # the chainId of Solana in token lists
_COLUMNS = ["token_blockchain", "token_address", "symbol"]


def read_token_list(
    source: str | Path | Mapping[str, Any], *, blockchains: Mapping[int, str] | None = None
) -> pd.DataFrame:
    """Read a token list in the JSON format of https://uniswap.org/tokenlist.schema.json.

    Parameters
    ----------
    source : str, Path or mapping
        The path of a file, or its parsed content. URLs are not supported.
    blockchains : mapping of int to str, optional
        The identifier of the blockchain for each ``chainId``. Other IDs are looked up in
        ``walletframe.blockchains()``; 101 is ``SOLANA``. An unknown ID becomes text.

    Returns
    -------
    DataFrame
        One row for each token, in the order of the list. The columns are ``token_blockchain``,
        ``token_address`` and ``symbol`` (str).

    Raises
    ------
    TokenListError
        If the file is not a token list, or if entries can't be read. The error lists them.
    OSError
        If the file can't be read.

    Examples
    --------
    >>> dai = "0x6B175474E89094C44Da98b954EedeAC495271d0F"
    >>> entry = {"chainId": 1, "address": dai, "symbol": "DAI", "decimals": 18, "name": "Dai"}
    >>> read_token_list({"name": "Mine", "tokens": [entry]}).iloc[0].tolist()
    ['ETH', '0x6B175474E89094C44Da98b954EedeAC495271d0F', 'DAI']
    """
    content: Any = source
    if not isinstance(source, Mapping):
        path = Path(source)
        try:
            content = json.loads(path.read_bytes())
        except ValueError as error:
            raise TokenListError([(0, str(path), f"the file is not valid JSON: {error}")]) from None
    entries = content.get("tokens") if isinstance(content, Mapping) else None
    if not isinstance(entries, list):
        raise TokenListError([(0, _short_repr(content), 'the token list has no array "tokens"')])
    problems = [
        (position, _short_repr(entry), problem)
        for position, entry in enumerate(entries)
        if (problem := _entry_problem(entry))
    ]
    if problems:
        raise TokenListError(problems)
    chains = known_blockchains().values()
    identifiers = {chain.chain_id: chain.identifier for chain in chains if chain.chain_id}
    names = identifiers | _SOLANA | dict(blockchains or {})
    fields = map(itemgetter("chainId", "address", "symbol"), entries)
    rows = [(names.get(chain, str(chain)), address, symbol) for chain, address, symbol in fields]
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=TEXT)


def parse_tokens(tokens: TokensLike | None) -> list[tuple[TokenKey, str | None]]:
    """Return the key and the symbol of each token. An unknown symbol is None."""
    if tokens is None:
        return []
    if isinstance(tokens, str | Path) and Path(tokens).suffix.lower() == ".csv":
        tokens = _read_csv(Path(tokens).expanduser())
    if isinstance(tokens, str | Path | Mapping):
        tokens = read_token_list(tokens)
    if isinstance(tokens, pd.DataFrame):
        require_columns(tokens, _COLUMNS[:2])
        distinct = tokens[[name for name in _COLUMNS if name in tokens.columns]].drop_duplicates()
        return [
            ((_text_or_none(chain) or "", _text_or_none(contract)), _text_or_none(*symbol))
            for chain, contract, *symbol in distinct.itertuples(index=False, name=None)
            if not is_blank((chain, contract))
        ]
    pairs: Iterable[Any] = tokens
    keys: list[tuple[TokenKey, str | None]] = []
    problems = []
    for position, pair in enumerate(pairs):
        match pair:
            case _ if is_blank(pair):
                continue
            case (str() as chain, str() | None as contract):
                keys.append(((chain, contract), None))
            case _:
                problem = "it is not a pair (blockchain, contract)"
                problems.append((position, _short_repr(pair), problem))
    if problems:
        raise TokenListError(problems)
    return keys


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=TEXT, keep_default_na=False, encoding="utf-8-sig")
    except ValueError as error:  # from the parser
        problem = f"the file is not valid CSV: {error}"
        raise TokenListError([(0, safe_line(str(path)), problem)]) from None
    columns = [name for name in _COLUMNS if name in table.columns]
    return table.assign(**{name: table[name].map(unescape_cell) for name in columns})


def _text_or_none(cell: Any = None) -> str | None:
    return None if pd.isna(cell) else str(cell)


def _entry_problem(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "it is not a JSON object"
    chain = entry.get("chainId")
    if not isinstance(chain, int) or isinstance(chain, bool):
        return f"its chainId is {chain!r}, not an integer"
    for name in ("address", "symbol"):
        if not isinstance(entry.get(name), str):
            return f"its {name} is {entry.get(name)!r}, not text"
    return "" if entry["address"] else "its address is empty"


def _short_repr(entry: Any) -> str:
    return safe_line(ascii(entry))
