"""A folder of a bulk run as the explorer shows it: sums of what is selected, and rows where few.

What is asked and was not read yet is noted, and read by `Folder.load`, part by part.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.address import canonical_blockchain
from walletframe.analysis import flags_on_disk, sums_of_blocks, units_on_disk
from walletframe.bulk import Flags, StoredHoldings, Units
from walletframe.charts import token_colors
from walletframe.errors import PricesError
from walletframe.frames import (
    HOLDING_DTYPES,
    WalletDetails,
    given_names,
    is_unknown,
    token_identities,
    token_names,
    wallet_identities,
    worth_of,
)
from walletframe.pickers.cut import Cut
from walletframe.pickers.kept import KeptSums, Opening, Sums
from walletframe.pickers.options import Fact, Options
from walletframe.pickers.portfolio import (
    MOST_ROWS,
    Judged,
    Portfolio,
    Selected,
    Selection,
    Summed,
)
from walletframe.pickers.table import HoldingsTable, SumsTable
from walletframe.pickers.widget import LOCK, NotReadError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import TypeAlias

    import pandas as pd

    from walletframe.frames import Block, Positions, TokenKey
    from walletframe.frames.known import Worth
    from walletframe.pickers.kept import By

    Seen: TypeAlias = Callable[[], None]

_ALL = Selection(spam=True)
_CELLS = ("blockchain", "token")
_USUAL: tuple[By, ...] = (("token",), ("wallet",), ("blockchain",), _CELLS)
_ROWS: By = ()  # in the place of a table
_NAMES = {"tokens": ("token",), "wallets": ("wallet",), "blockchains": ("blockchain",)}
_FLAGS = ("spam_score", "spam_reasons", "is_spam")
ADDED = ("unit_price", "value", "currency", *_FLAGS)
READ = "wallets, holdings = wf.read_wallets({})"
_KEPT, _KEPT_ROWS = 24, 6  # more than one page asks for at a time
_THRESHOLD, _NAMED = 0.5, 200


def reading_of(held: StoredHoldings, line: str, **some: list[Any]) -> str:
    """Write how it is read again; what was done to it is a line to fill in."""
    chosen = "".join(f", {name}={values!a}" for name, values in some.items() if values)
    read = f"{line.format(ascii(str(held.root)) + chosen)}\n"
    done = held.units or held.flags or held.left_out
    return read + "# fill in: what was done to the folder, such as .wf.value(…)\n" * bool(done)


class Folder(Portfolio):
    """A folder of more balances than are read, of which sums are kept."""

    def __init__(self, stored: StoredHoldings, *, cache: bool = False) -> None:
        whole = WalletDetails(stored.wallets, stored.whole.holdings)
        super().__init__(whole, reading=reading_of(stored, "stored = wf.open_wallets({})"))
        self._given, self._held = stored, stored
        self._kept: dict[tuple[Selection, By], Any] = {}
        self._wanted: dict[tuple[Selection, By], None] = {}
        self._is_open = self._has_spam = False
        self._beside = KeptSums(stored, asked=cache)

    @property
    def parts(self) -> int:
        """How many files there are, each of which is read in turn."""
        return len(self._held.contents.parts)

    def select(self, selection: Selection) -> Selected:
        """Return what is selected, in memory where it is little."""
        few = self._few(selection)
        if few is not None:
            return few.select(selection)
        self._need(selection, _USUAL)
        found, counts = self._of(selection, _CELLS), self._of(selection, ("blockchain",)).table
        wallets = self.details.wallets[self.asked_marks(selection)]
        return Selected(
            portfolio=self,
            selection=selection,
            wallets=wallets,
            held=replace(found.rows, asked=False),
            marks=np.ones(len(found.rows.holdings), dtype=bool),
            spam_tokens=found.spam_tokens,
            dust_balances=found.dust_balances,
            dust_value=found.dust_value,
            summed=Summed(
                int(counts["balances"].sum()),
                _worth(counts),
                lambda name: replace(self._of(selection, (name, *_CELLS)).rows, asked=False),
            ),
        )

    def facts(self, selection: Selection, kind: str) -> dict[Any, Fact]:
        """Return of what is held of a kind how many balances there are, and of what value."""
        selection = replace(selection, dust=True)
        few = self._few(selection)
        if few is not None:
            return few.facts(selection, kind)
        sums = self._of(selection, _NAMES[kind]).table
        keys: list[Any]
        if kind == "tokens":
            keys = token_identities(sums).keys
        elif kind == "wallets":
            keys = [f"{chain}.{address}" for chain, address in wallet_identities(sums).keys]
        else:
            keys = [canonical_blockchain(name) for name in sums["blockchain"]]
        counts = sums["balances"].fillna(0).astype(int).tolist()
        values = sums["value"] if "value" in sums else [np.nan] * len(sums)
        found = zip(keys, map(Fact, counts, values), strict=True)
        return {key: fact for key, fact in found if fact.balances and not is_unknown(key)}

    def options(self, kind: str, made: Options) -> Options:
        """Return what there is to choose from, with what is held of each."""
        if kind == "labels":
            return made
        known = {**made.known, **self.facts(_ALL, kind)}
        return Options(made.hint, made.values(), known, made.sorted_by)

    def table(self, selected: Selected) -> HoldingsTable:
        """Return a table of what is selected; of much, its sums alone."""
        if selected.portfolio is not self:
            return selected.portfolio.table(selected)
        whole = self._of(selected.selection, _CELLS).whole
        return SumsTable(whole, lambda by: self._of(selected.selection, (by,)).table)

    def _few(self, selection: Selection) -> Portfolio | None:
        """Return the rows of a selection if they are few, with others that are hidden now."""
        if not self._is_open:
            self._need(_ALL, _USUAL)
        count = self._held.counts[self.asked_marks(selection)].sum()
        if selection.tokens:
            found = self.facts(_ALL, "tokens")
            balances = (found[token].balances for token in selection.tokens if token in found)
            count = min(count, sum(balances))
        if count > MOST_ROWS:
            return None
        rows: Portfolio = self._of(replace(selection, spam=True, dust=True), _ROWS)
        return rows

    def _of(self, selection: Selection, by: By) -> Any:
        """Return what was read; the last that was asked for stays longest."""
        [key] = self._need(selection, [by])
        found = self._kept[key] = self._kept.pop(key)
        return found

    def _need(self, selection: Selection, cuts: Collection[By]) -> list[tuple[Selection, By]]:
        if self._is_open and not self._has_spam:
            selection = replace(selection, spam=True)  # which is the same, and known more often
        keys = [(selection, by) for by in cuts]
        missing = dict.fromkeys(key for key in keys if key not in self._kept)
        if missing:
            self._wanted |= missing
            raise NotReadError
        return keys

    @property
    def is_wanted(self) -> bool:
        """Whether anything was asked that was not read yet."""
        return bool(self._wanted)

    def forget_wanted(self) -> None:
        """Read nothing of what was asked so far."""
        self._wanted = {}

    def load(self, seen: Seen) -> None:
        """Read what was asked, once for each selection; `seen` is called part by part."""
        with LOCK:
            wanted = [*self._wanted]
        if not self._is_open:
            self._open(seen)
        wanted = [key for key in wanted if key not in self._kept]
        for selection in dict.fromkeys(selection for selection, _ in wanted):
            cuts = [by for each, by in wanted if each == selection]
            found = self._read(selection, cuts, seen)
            with LOCK:
                self._keep(found)
        with LOCK:
            known = {**self._kept}
        self._beside.write(self._opening, known)

    def _keep(self, found: Mapping[tuple[Selection, By], Any]) -> None:
        self._kept |= found
        self._wanted = {key: None for key in self._wanted if key not in found}
        old = [key for key in self._kept if key[0] != _ALL]
        of_rows = [key for key in old if key[1] == _ROWS]  # which are large
        for key in {*old[:-_KEPT], *of_rows[:-_KEPT_ROWS]}:
            del self._kept[key]

    def _open(self, seen: Seen) -> None:
        """Find what is spam, what the service's prices are worth, and what there is in all."""
        kept, held = self._beside.read(), self._given
        opening = kept[0] if kept else _opening(self._given, seen)
        if opening.judged:
            flags, unknown = opening.judged
            held = held.flagged(flags, np.array(unknown, dtype=np.intp))
        if opening.is_priced:
            held = held.valued(Units(None, by_symbol=False, currency=None))
        self._opening, self._held = opening, held
        sums = kept[1] if kept else self._read(_ALL, [*_USUAL], seen)
        rows = sums[_ALL, _CELLS].rows
        with LOCK:
            self.priced_by: str = "service" if opening.is_priced else self.priced_by
            self.problem: str = opening.problem
            self.held: Positions = rows
            self.colors: dict[TokenKey, str] = token_colors(rows)
            self.details: WalletDetails = WalletDetails(self.details.wallets, rows.holdings)
            self.names: list[str] = given_names(rows.wallets, self.details.wallets)
            self._is_open, self._has_spam = True, sums[_ALL, _CELLS].spam_tokens > 0
            self._keep(sums)

    def _read(
        self, selection: Selection, cuts: list[By], seen: Seen
    ) -> dict[tuple[Selection, By], Any]:
        places = np.flatnonzero(self.asked_marks(selection))
        held = self._held if len(places) == len(self._held.counts) else self._held.some(places)
        if _ROWS in cuts:
            return {(selection, _ROWS): self._rows(selection, held, seen)}
        cut, found = Cut(held, selection, seen), {}
        for by, sums in zip(cuts, sums_of_blocks(cut, cuts), strict=True):
            spam, dust = len(cut.spam) + cut.unknown_spam, math.fsum(cut.dust_values)
            found[selection, by] = Sums(held.whole, *sums, spam, cut.dust, dust)
        return found

    def _rows(self, selection: Selection, held: StoredHoldings, seen: Seen) -> Portfolio:
        seen()
        rows = held.read(selection.tokens or None, [*HOLDING_DTYPES, *ADDED])
        judged = Judged(
            rows["is_spam"].to_numpy(bool),
            self._names_of(token_identities(rows).keys),
            self.colors,
            self.priced_by,
            self.problem,
        )
        if self._given.flags is None:
            rows = rows.drop(columns=[*_FLAGS])
        wallets = self.details.wallets[self.asked_marks(selection)]
        names = [".".join(pair) for pair in wallets[["blockchain", "address"]].to_numpy()]
        named = names if len(names) < min(_NAMED, len(self.details.wallets)) else []
        some: dict[str, list[Any]] = {"wallets": named, "tokens": [*selection.tokens]}
        reading = reading_of(self._given, READ, **some)
        return Portfolio(WalletDetails(wallets, rows), reading=reading, judged=judged)

    def _names_of(self, keys: list[TokenKey]) -> dict[TokenKey, str]:
        """Name tokens so that no other of the folder is called the same."""
        tokens, wanted = self.held.tokens, {key for key in keys if not is_unknown(key)}
        places = [place for place, key in enumerate(tokens.keys) if key in wanted]
        names = token_names(self.held.holdings, tokens, np.array(places, dtype=np.intp))
        return dict(zip([tokens.keys[place] for place in places], names, strict=True))


def _opening(held: StoredHoldings, seen: Seen) -> Opening:
    """Find in all rows what nobody has said of them."""
    cut, judged, is_priced, problem = Cut(held, _ALL, seen), None, False, ""
    if held.flags is None:
        found = flags_on_disk(cut)
        judged = Flags(found.of, found.of_rows, _THRESHOLD), found.unknown.tolist()
    if held.units is None and any(cut.over(_is_priced, ["price"])):
        try:
            units_on_disk(cut)  # which refuses prices that are none
            is_priced = True
        except PricesError as error:
            problem = str(error)
    return Opening(judged, is_priced, problem)


def _is_priced(block: Block) -> bool:
    return bool(block.positions.holdings["price"].notna().any())


def _worth(counts: pd.DataFrame) -> Worth | None:
    """Add up values of blockchains, as `worth` does those of balances."""
    if "value" not in counts:
        return None
    unpriced, unread = int(counts["unpriced"].sum()), int(counts["amount_na"].sum())
    known = int(counts["balances"].sum()) - unpriced - unread
    currency = counts["currency"].iloc[0] if len(counts) else None
    return worth_of(counts["value"].dropna(), currency, known, unpriced, unread)
