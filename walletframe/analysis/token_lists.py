"""Token lists of a caller: files in the Uniswap token-list format, frames, pairs."""

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
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import TokenKey
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line

TokensLike: TypeAlias = str | Path | Mapping[str, Any] | pd.DataFrame | Iterable[TokenKey]

_SOLANA = {101: "SOLANA"}  # its chainId in token lists
_COLUMNS = ["token_blockchain", "token_address", "symbol"]


def read_token_list(
    source: str | Path | Mapping[str, Any], *, blockchains: Mapping[int, str] | None = None
) -> pd.DataFrame:
    """Read a token list in the JSON format of https://uniswap.org/tokenlist.schema.json.

    Parameters
    ----------
    source : str, Path or mapping
        A file, or its parsed content. A web address is not accepted: nothing is fetched.
    blockchains : mapping of int to str, optional
        The service's identifiers by ``chainId``, which override those of
        ``walletframe.blockchains()`` and ``SOLANA`` for 101; any other chain has its number.

    Returns
    -------
    DataFrame
        One row for each token, in order: ``token_blockchain``, ``token_address``, ``symbol``, str.

    Raises
    ------
    TokenListError
        If it is not such a list; every entry that can't be read is named.
    OSError
        If the file can't be read.

    Examples
    --------
    >>> dai = "0x6B175474E89094C44Da98b954EedeAC495271d0F"
    >>> entry = {"chainId": 1, "address": dai, "symbol": "DAI", "decimals": 18, "name": "Dai"}
    >>> read_token_list({"name": "Mine", "tokens": [entry]}).iloc[0].tolist()
    ['ETH', '0x6B175474E89094C44Da98b954EedeAC495271d0F', 'DAI']
    """
    whole: Any = source
    if not isinstance(source, Mapping):
        path = Path(source)
        try:
            whole = json.loads(path.read_bytes())
        except ValueError as error:
            raise TokenListError([(0, str(path), f"it is not JSON: {error}")]) from None
    entries = whole.get("tokens") if isinstance(whole, Mapping) else None
    if not isinstance(entries, list):
        raise TokenListError([(0, _short(whole), "it has no list named tokens")])
    faults = [(place, entry, _fault(entry)) for place, entry in enumerate(entries)]
    problems = [(place, _short(entry), fault) for place, entry, fault in faults if fault]
    if problems:
        raise TokenListError(problems)
    chains = known_blockchains().values()
    usual = {chain.chain_id: chain.identifier for chain in chains if chain.chain_id}
    names = usual | _SOLANA | dict(blockchains or {})
    facts = map(itemgetter("chainId", "address", "symbol"), entries)
    rows = [(names.get(chain, str(chain)), *rest) for chain, *rest in facts]
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=TEXT)


def listed_tokens(tokens: TokensLike | None) -> list[tuple[TokenKey, str | None]]:
    """Return the key and the symbol, if any, of each token in a caller's list."""
    if tokens is None:
        return []
    if isinstance(tokens, str | Path | Mapping):
        tokens = read_token_list(tokens)
    if isinstance(tokens, pd.DataFrame):
        require_columns(tokens, _COLUMNS[:2])
        distinct = tokens[[name for name in _COLUMNS if name in tokens.columns]].drop_duplicates()
        return [
            ((_text(chain) or "", _text(contract)), _text(*symbol))
            for chain, contract, *symbol in distinct.itertuples(index=False, name=None)
            if not is_blank((chain, contract))
        ]
    pairs: Iterable[Any] = tokens
    keys: list[tuple[TokenKey, str | None]] = []
    problems = []
    for place, pair in enumerate(pairs):
        match pair:
            case _ if is_blank(pair):
                continue
            case (str() as chain, str() | None as contract):
                keys.append(((chain, contract), None))
            case _:
                problems.append((place, _short(pair), "it is not (blockchain, contract)"))
    if problems:
        raise TokenListError(problems)
    return keys


def _text(cell: Any = None) -> str | None:
    return None if pd.isna(cell) else str(cell)


def _fault(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "it is not a JSON object"
    chain = entry.get("chainId")
    if not isinstance(chain, int) or isinstance(chain, bool):
        return f"its chainId is {chain!r}, not a whole number"
    for name in ("address", "symbol"):
        if not isinstance(entry.get(name), str):
            return f"its {name} is {entry.get(name)!r}, not text"
    return "" if entry["address"] else "its address is empty"


def _short(entry: Any) -> str:
    return safe_line(ascii(entry))
