"""What was read of all of a folder, kept in a file beside its parts where that was asked."""
# The file has a digest, and behind it MessagePack, with tables as Parquet. The digest is of these
# and of what they were made of: a file that is damaged, or of other balances, is as good as none.

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pandas as pd
import pyarrow.parquet as pq

from walletframe.bulk import Flags  # noqa: TC001 - msgspec reads the types
from walletframe.bulk.files import Layout
from walletframe.disk import replaced
from walletframe.errors import CacheWarning
from walletframe.frames import among
from walletframe.notice import mention_once
from walletframe.pickers.portfolio import Selection

if TYPE_CHECKING:
    from walletframe.bulk import StoredHoldings
    from walletframe.frames import Positions

By: TypeAlias = tuple[str, ...]
_FORMAT = 1
_MADE_WITH = ("walletframe", "pandas", "pyarrow")
_DIGEST = 32  # bytes


@dataclass(frozen=True, slots=True)
class Sums:
    """What the selected rows add up to in groups, and how many were left out."""

    whole: Positions  # the selected wallets, without rows
    table: pd.DataFrame
    rows: Positions | None  # one for each group of a token
    spam_tokens: int
    dust_balances: int
    dust_value: float


class Opening(msgspec.Struct, frozen=True, array_like=True):
    """What nobody had said of a folder."""

    judged: tuple[Flags, list[int]] | None  # behind flags the places of rows of unknown tokens
    is_priced: bool  # whether the prices sent are those of the values
    problem: str  # with these prices


class KeptSums:
    """The file, by whoever reads the folder; none where that was not asked."""

    def __init__(self, held: StoredHoldings, *, asked: bool) -> None:
        self._held, self._asked, self._stamp = held, asked, b""
        self._path = Layout(held.root).explorer
        self._there: set[tuple[Selection, By]] = set()

    def read(self) -> tuple[Opening, dict[tuple[Selection, By], Any]] | None:
        """Return what was kept of just these balances; to be called before they are read."""
        if not self._asked:
            return None
        self._stamp = ascii([_FORMAT, *map(version, _MADE_WITH)]).encode() + self._held.stamp()
        try:
            content = self._path.read_bytes()
        except OSError:
            return None
        if content[:_DIGEST] != self._digest(content[_DIGEST:]):
            return None
        opening, packed = _DECODE(content[_DIGEST:])
        found, whole = {}, self._held.whole
        for spam, dust, by, none, table, rows, left in packed:
            held = None if rows is None else among(whole, rows)
            found[Selection(spam=spam, dust=dust), by] = Sums(
                among(whole, none), table, held, *left
            )
        self._there = {*found}
        return opening, found

    def write(self, opening: Opening, known: dict[tuple[Selection, By], Any]) -> None:
        """Keep what is known of all wallets; where that can't be written, it is said once."""
        found = [key for key in known if key[0] == Selection(spam=key[0].spam, dust=key[0].dust)]
        if not self._asked or self._there.issuperset(found):
            return
        self._there = {*found}
        packed = [(key[0].spam, key[0].dust, key[1], *_packed(known[key])) for key in found]
        body = _ENCODE((opening, packed))
        try:
            with replaced(self._path, private=True) as file:
                file.write(self._digest(body) + body)
        except OSError as fault:
            text = f"{self._held.root}: what was read can't be kept there: {fault.strerror}"
            mention_once(text, CacheWarning)

    def _digest(self, body: bytes) -> bytes:
        return sha256(self._stamp + body).digest()


def _packed(sums: Sums) -> tuple[Any, ...]:
    left = sums.spam_tokens, sums.dust_balances, sums.dust_value
    return sums.whole.holdings, sums.table, sums.rows and sums.rows.holdings, left


def _parquet(frame: Any) -> bytes:
    file = BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def _frame(_kind: object, content: Any) -> pd.DataFrame:
    with pq.ParquetFile(BytesIO(content)) as file:  # pandas's way may abort a process that ends
        frame: pd.DataFrame = file.read().to_pandas()
    return frame


_Left: TypeAlias = tuple[int, int, float]
_Packed: TypeAlias = tuple[bool, bool, By, pd.DataFrame, pd.DataFrame, pd.DataFrame | None, _Left]
_ENCODE = msgspec.msgpack.Encoder(enc_hook=_parquet).encode
_DECODE = msgspec.msgpack.Decoder(tuple[Opening, list[_Packed]], dec_hook=_frame).decode
