"""How tokens are written in rows that are read part by part: each text and each token has a number.

A token's blockchain, contract and symbol are one way to write it. Frames compare text; here Arrow's
dictionaries are compared, part by part, which are a hundredth of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.frames.contract import (
    ARROW_TEXT,
    respelled,
    spellings,
    text_array,
    text_of,
)
from walletframe.frames.identity import (
    UNKNOWN,
    Identities,
    first_rows,
    is_unknown,
    token_identities,
    unknown_apart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames.identity import Codes, Mask, TokenKey

TOKEN: Final = ("token_blockchain", "token_address", "symbol")


@dataclass(frozen=True, slots=True)
class Ways:
    """How the tokens of n rows are written: k ways, in the order of their first rows."""

    codes: Codes  # of each row, its way
    first: Codes  # of each way, its first row
    texts: dict[str, Codes]  # of each way, by column, the number of its text in the book, -1: none
    tokens: Codes  # of each way, the number of its token in the book
    book: TokenBook

    @property
    def keys(self) -> list[TokenKey]:
        """The token of each way; `UNKNOWN` for all that are unknown."""
        return [self.book.keys[number] for number in self.tokens.tolist()]

    @property
    def unknown(self) -> Mask:
        """Whether the token of a way is unknown."""
        return np.asarray(self.tokens == 0)

    def take(self, rows: Codes) -> Ways:
        """Return those of some rows."""
        codes, kept = pd.factorize(self.codes[rows])
        texts = {name: numbers[kept] for name, numbers in self.texts.items()}
        return Ways(codes, first_rows(codes, len(kept)), texts, self.tokens[kept], self.book)

    def moved(self, book: TokenBook) -> Ways:
        """Return the same with the numbers of another book."""
        if self.book is book:
            return self
        numbers, tokens = book.numbers_of(self.book)
        texts = {name: numbers[name][own] for name, own in self.texts.items()}
        return replace(self, texts=texts, tokens=tokens[self.tokens], book=book)

    def written(self) -> pd.DataFrame:
        """Write each way out."""
        return pd.DataFrame({name: self.book.taken(name, self.texts[name]) for name in TOKEN})

    def identities(self) -> Identities:
        """Tell the tokens of the rows apart."""
        of_ways, kept = pd.factorize(self.tokens)
        keys = [self.book.keys[number] for number in kept.tolist()]
        first = self.first[first_rows(of_ways, len(keys))]
        found = Identities(of_ways[self.codes], keys, first)
        return unknown_apart(found) if (kept == 0).any() else found

    def columns(self, *frames: pd.DataFrame) -> dict[str, Any]:
        """Give the rows their text, numbered.

        Where the book respells, blockchains are written as they were first in these frames.
        """
        found: dict[str, Any] = {}
        for name in TOKEN[1:] if self.book.respells else TOKEN:
            found[name] = _numbered_text(self.texts[name], self.codes, self.book.kind(name))
        chain, first = TOKEN[0], dict[str, str]()
        if chain in found:
            return found
        few, kinds = pd.factorize(self.texts[chain])
        for frame in frames:
            spellings(frame["blockchain"].unique().tolist(), first)
        names = self.book.taken(chain, kinds).tolist()
        alike = spellings([name for name in names if isinstance(name, str)], first)
        numbers, told = pd.factorize(np.array([alike.get(name) for name in names], dtype=object))
        kind = pd.CategoricalDtype(text_array(told))
        return {chain: _numbered_text(numbers[few], self.codes, kind), **found}


def _numbered_text(numbers: Codes, ways: Codes, kind: pd.CategoricalDtype) -> pd.Categorical:
    """Give rows the text of their ways; its numbers are made short while they are few."""
    short = numbers.astype(np.min_scalar_type(-1 - len(kind.categories)))  # signed: -1 is missing
    return pd.Categorical.from_codes(short[ways], dtype=kind, validate=False)


def ways_found(ways: Ways, rows: Codes) -> pd.DataFrame:
    """Write out each way in which rows have a token, and each row of an unknown token.

    With the place among all of the ``first`` such row, whose position here is the index, and how
    many there are: ``balances``. ``apart`` has the place of a row of an unknown token, else -1.
    """
    unknown = np.flatnonzero(ways.unknown[ways.codes])
    kept = np.unique(np.append(ways.first, unknown))
    is_apart = np.isin(kept, unknown)
    balances = np.bincount(ways.codes, minlength=len(ways.first))[ways.codes[kept]]
    return (
        ways.written()
        .iloc[ways.codes[kept]]
        .set_axis(kept)
        .assign(
            balances=np.where(is_apart, 1, balances),
            first=rows[kept],
            apart=np.where(is_apart, rows[kept], -1),
        )
    )


def ways_together(found: Sequence[pd.DataFrame], respell: pd.DataFrame | None) -> pd.DataFrame:
    """Put what was found in parts together, in the order of the first rows.

    Blockchains are written as in a frame of wallets, if one is given.
    """
    joined = pd.concat(found, ignore_index=True).sort_values("first", ignore_index=True)
    if respell is not None:
        _, joined = respelled(respell, joined)
    grouped = joined.groupby([*TOKEN, "apart"], sort=False, dropna=False)["balances"]
    return grouped.sum().reset_index().drop(columns="apart")


def text_dictionaries(frame: pd.DataFrame) -> dict[str, pa.DictionaryArray]:
    """Give how the tokens of a frame are written as Arrow's dictionaries."""
    texts = pa.table({name: pa.array(text_array(frame[name].array)) for name in TOKEN})
    return {name: texts[name].combine_chunks().dictionary_encode() for name in TOKEN}


def joined_ways(parts: Sequence[Ways], order: Codes, apart: tuple[Codes, int]) -> Ways:
    """Put rows behind each other, in an order, and tell them apart as `ways` does."""
    parts = [part.moved(parts[0].book) for part in parts]
    texts = {
        name: np.concatenate([part.texts[name][part.codes] for part in parts])[order]
        for name in TOKEN
    }
    codes, count = apart
    for numbers in texts.values():
        codes, kinds = pd.factorize(codes * (int(numbers.max(initial=0)) + 2) + numbers + 1)
        count = len(kinds)
    first = first_rows(codes, count)
    tokens = np.concatenate([part.tokens[part.codes] for part in parts])[order][first]
    of_ways = {name: numbers[first] for name, numbers in texts.items()}
    return Ways(codes, first, of_ways, tokens, parts[0].book)


class TokenBook:
    """The text and the tokens that were met so far, numbered in the order in which they came."""

    def __init__(self, *, respells: bool = True) -> None:
        self.respells = respells
        self.keys: list[TokenKey] = [UNKNOWN]
        self._texts = {name: pa.array([], ARROW_TEXT) for name in TOKEN}
        self._kinds: dict[str, pd.CategoricalDtype] = {}
        self._places: dict[TokenKey, int] = {UNKNOWN: 0}
        self._pairs = pa.array([], pa.int64())  # of the numbers of a blockchain and a contract
        self._tokens_of_pairs: Codes = np.empty(0, dtype=np.intp)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kinds": {}}  # the texts once more

    def ways(
        self,
        columns: Mapping[str, pa.DictionaryArray],
        order: Codes | None = None,
        apart: tuple[Codes, int] | None = None,
    ) -> Ways:
        """Tell how tokens are written in rows, or in these in another order.

        `apart` has codes below a number, by which rows are told apart as well.
        """
        rows = np.zeros(len(columns[TOKEN[0]]), dtype=np.int64)
        for name in TOKEN:
            wide, places = len(columns[name].dictionary), columns[name].indices
            if places.null_count:
                places = places.fill_null(wide)
            rows *= wide + 1
            rows += places.to_numpy()
        if order is not None:
            rows = rows[order]
        if apart is not None:
            rows *= apart[1]
            rows += apart[0]
        codes, kinds = pd.factorize(rows)
        if apart is not None:
            kinds = kinds // apart[1]
        texts = {}
        for name in reversed(TOKEN):
            dictionary = columns[name].dictionary
            kinds, places = np.divmod(kinds, len(dictionary) + 1)
            texts[name] = np.append(self._numbers(name, dictionary), -1)[places]
        tokens = self._tokens(texts["token_blockchain"], texts["token_address"])
        return Ways(codes, first_rows(codes, len(tokens)), texts, tokens, self)

    def numbers_of(self, other: TokenBook) -> tuple[dict[str, Codes], Codes]:
        """Give each text of another book its number here, with -1 behind them, and each token."""
        texts = {
            name: np.append(self._numbers(name, texts), -1) for name, texts in other._texts.items()
        }
        tokens = np.zeros(len(other.keys), dtype=np.intp)
        chains, contracts = _texts_of(other._pairs.to_numpy())
        written = texts["token_blockchain"][chains], texts["token_address"][contracts]
        tokens[other._tokens_of_pairs] = self._tokens(*written)
        return texts, tokens

    def taken(self, name: str, numbers: Codes) -> Any:
        """Give text by its numbers in one column."""
        places = pa.array(numbers, mask=numbers < 0)
        return text_of([self._texts[name].take(places)])

    def kind(self, name: str) -> pd.CategoricalDtype:
        """Give the dtype of numbered text of one column."""
        known = self._kinds.get(name)
        if known is None or len(known.categories) < len(self._texts[name]):
            known = self._kinds[name] = pd.CategoricalDtype(text_of([self._texts[name]]))
        return known

    def _numbers(self, name: str, dictionary: pa.Array) -> Codes:
        texts = dictionary.cast(ARROW_TEXT)
        found = pc.index_in(texts, self._texts[name])
        if found.null_count:
            new = texts.filter(found.is_null())
            self._texts[name] = pa.concat_arrays([self._texts[name], new])
            found = pc.index_in(texts, self._texts[name])
        numbers: Codes = found.to_numpy().astype(np.intp)
        return numbers

    def _tokens(self, chains: Codes, contracts: Codes) -> Codes:
        pairs = ((chains + 1) << 32) + contracts + 1
        found = pc.index_in(pa.array(pairs), self._pairs)
        if found.null_count:
            self._meet(np.unique(pairs[np.asarray(found.is_null())]))
            found = pc.index_in(pa.array(pairs), self._pairs)
        tokens: Codes = self._tokens_of_pairs[found.to_numpy()]
        return tokens

    def _meet(self, pairs: Codes) -> None:
        """Give tokens that are written in a new way their numbers."""
        written = zip(TOKEN[:2], _texts_of(pairs), strict=True)
        found = token_identities(
            pd.DataFrame({name: self.taken(name, numbers) for name, numbers in written})
        )
        keys = (UNKNOWN if is_unknown(key) else key for key in found.keys)
        numbers = np.array([self._number(key) for key in keys], dtype=np.intp)
        self._pairs = pa.concat_arrays([self._pairs, pa.array(pairs)])
        self._tokens_of_pairs = np.append(self._tokens_of_pairs, numbers[found.codes])

    def _number(self, key: TokenKey) -> int:
        """Give a token its number, a new one where it was not met before."""
        number = self._places.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return number


def _texts_of(pairs: Codes) -> tuple[Codes, Codes]:
    """Give the numbers of the blockchains and of the contracts in pairs."""
    return (pairs >> 32) - 1, (pairs & 0xFFFFFFFF) - 1
