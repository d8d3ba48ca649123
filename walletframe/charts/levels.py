"""What bars, boxes, rows and lines of a chart stand for: groups of balances, and their names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.charts.balances import read_balances
from walletframe.charts.notes import other
from walletframe.frames import (
    completeness_among,
    group,
    named_token,
    names_of,
    read_names,
    short_wallet,
    unique_names,
)
from walletframe.frames.identity import first_rows
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.charts.balances import Balances, Grid
    from walletframe.charts.measures import Places
    from walletframe.frames import (
        AssetsLike,
        By,
        Codes,
        FetchLike,
        Groups,
        Mask,
        Positions,
        PositionsLike,
        TokenLike,
    )

_BUILT_IN = {"wallet", "blockchain", "token", "asset"}  # these say what they are
_LABEL, _WHOLE, _NAME, _BETWEEN = 32, 100, 24, " · "
_GAPS = 8


@dataclass(frozen=True, slots=True)
class Groupings:
    """The rows that are drawn, and the names by which they are cut."""

    names: list[str]  # as they were asked for, each once
    balances: Balances
    positions: Positions  # the same, with assets in the place of tokens if these are asked for

    @property
    def title(self) -> str:
        """What the chart is of."""
        return self.balances.measure.title(f"by {listed(self.names)}")

    def level(self, names: list[str]) -> Level:
        """Cut the rows by some of the names."""
        groups = group(self.positions, names)
        starts = first_rows(groups.owner_codes, groups.owned)
        counted = {}
        if "wallet" not in names and not {*names}.isdisjoint(self._of_wallets()):
            counted = completeness_among(self.positions, groups, self._able())
        known, asked = (
            counted[name].to_numpy(np.intp) if counted else np.zeros(len(groups), dtype=np.intp)
            for name in ("wallets_ok", "wallets_asked")
        )
        return Level(names, self.balances, groups, starts, known, asked)

    def _of_wallets(self) -> list[str]:
        """Return the names that put wallets together, where it is told which were asked."""
        if not self.positions.asked:
            return []
        return [name for name in self.names if name in {"blockchain", *self.positions.kept}]

    def _able(self) -> Mask:
        """Tell which wallets could hold the one token that is drawn, if it is one."""
        held, token = self.positions, self.balances.token_codes[:1]
        if not self.balances.measure.one_token or not len(token):
            return np.ones(len(held.wallets), dtype=bool)
        tokens, chains = self.balances.positions.could_hold()
        return np.isin(held.chain_codes, chains[tokens == token])

    def gaps(self) -> list[str]:
        """Say of which groups not all wallets are known, those with the fewest known first."""
        names = self._of_wallets()
        if not names or "wallet" in self.names:
            return []
        level = self.level(names)
        lacking = np.flatnonzero(level.wallets_known < level.wallets_asked)
        shares = level.wallets_known[lacking] / level.wallets_asked[lacking]
        places = lacking[np.argsort(shares, kind="stable")].tolist()
        said = [f"{level.known(place, level.whole(place))}." for place in places[:_GAPS]]
        more = f"Of {many(len(places) - _GAPS, f'more {level.noun}')} not all wallets are known."
        return [*said, *[more] * (len(places) > _GAPS)]


@dataclass(frozen=True, slots=True)
class Level:
    """Groups of rows, by one or several names."""

    names: list[str]
    balances: Balances
    groups: Groups
    starts: Places  # of each set of wallets, the first
    wallets_known: Codes  # how many of each group; 0 where that is not told
    wallets_asked: Codes

    @property
    def codes(self) -> Places:
        """The group of each row that is drawn."""
        return np.asarray(self.groups.codes[self.balances.rows])

    @property
    def noun(self) -> str:
        """What a group is called; "group" where an s would not make a plural."""
        [name, *more] = self.names
        is_word = name.isascii() and name.isalpha() and not name.endswith(("s", "y", "x", "h"))
        return name if is_word and not more and len(name) <= _NAME else "group"

    def short(self, places: Sequence[int]) -> list[str]:
        """Name groups so that all of these differ, in one line each."""
        if self.names == ["wallet"]:
            return self.balances.wallet_names(places)
        chosen = np.array(places, dtype=np.intp)
        called = [self._texts(name, chosen) for name in self._told]
        whole = [self._texts(name, chosen, limit=_WHOLE) for name in self._told]
        short, long = ([*map(_BETWEEN.join, zip(*each, strict=True))] for each in (called, whole))
        return unique_names(short, long.__getitem__)

    def whole(self, place: int) -> str:
        """Name a group at length, by the names of columns, too: ``owner Ada``."""
        parts = []
        for name in self._told:
            [text] = self._texts(name, np.array([place]), limit=_WHOLE)
            says_it = name in _BUILT_IN or text == no_label(name)
            parts.append(text if says_it else f"{shown(name, _NAME)} {text}")
        return _BETWEEN.join(parts)

    def known(self, place: int, whose: str = "") -> str:
        """Say how many of a group's wallets are known; nothing where that is not told."""
        known, asked = int(self.wallets_known[place]), int(self.wallets_asked[place])
        of = f" of {whose}" if whose else ""
        return f"{known:,} of {many(asked, 'wallet')}{of} known" if asked else ""

    def told(self, place: int) -> list[str]:
        """Say in lines what a group is, and how many of its wallets are known."""
        return [line for line in (self.whole(place), self.known(place)) if line]

    def rows(self, grid: Grid) -> tuple[list[str], list[list[str]]]:
        """Name the rows of a grid, in short and in lines; the last is Other where there is one."""
        places = grid.rows.tolist()
        rest = [other(grid.other_rows, self.noun)] * bool(grid.other_rows)
        return self.short(places) + rest, [*map(self.told, places), *([each] for each in rest)]

    @property
    def _told(self) -> list[str]:
        """The names that say anything: a wallet says its blockchain."""
        return [name for name in self.names if name != "blockchain" or "wallet" not in self.names]

    def _texts(self, name: str, places: Places, *, limit: int = _LABEL) -> list[str]:
        """Write what some groups are by one of the names."""
        positions = self.balances.positions
        wallets = self.starts[self.groups.owners[places]].tolist()
        if name == "wallet":
            if limit == _WHOLE:
                return [*map(self.balances.whole_wallet, wallets)]
            parts = (
                positions.wallets[part].array.take(wallets) for part in ("blockchain", "address")
            )
            names = [self.balances.names[wallet] for wallet in wallets]
            return [short_wallet(*each) for each in zip(*parts, names, strict=True)]
        if name == "blockchain":
            chains = [*positions.chain_places]
            return [shown(chains[positions.chain_codes[wallet]]) for wallet in wallets]
        if name == "token":
            return self.balances.token_names(self.groups.tokens[places].tolist())
        labels = pd.Series(self.groups.columns[name].take(places), dtype=object)
        missing = labels.isna().tolist()
        return [
            no_label(name) if gap else label_text(label, limit) or no_label(name)
            for label, gap in zip(labels.tolist(), missing, strict=True)
        ]


def read_groupings(  # noqa: PLR0913 - what a caller may wish
    holdings: PositionsLike,
    by: By,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    shares: bool = False,
    everyone: bool = False,
) -> Groupings:
    """Tell what there is to draw, perhaps of one token or asset, and by which names to cut it.

    With `everyone`, all wallets asked are told apart; else only where a name needs it.
    """
    given, (one, asked) = names_of(by), named_token(token, asset, by)
    usual = ("wallet", "blockchain", "token")  # of which holdings know enough
    everyone = everyone or any(name not in usual for name in given)
    positions, names = read_names(
        holdings,
        asked,
        wallets if everyone else None,
        assets=assets,
        bridged=bridged,
    )
    balances = read_balances(positions, token=one, wallets=wallets, shares=shares)
    if "token" in names:
        balances = replace(balances, positions=positions.by_contract())
    told = [name for name in names if name != "asset" or name in given]
    found = Groupings(told, balances, positions)
    said = [*found.gaps(), *balances.left_out]
    return replace(found, balances=replace(balances, left_out=said))


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence lists them."""
    *first, last = [shown(name, _NAME) for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def no_label(name: str) -> str:
    """Name a group that has no label."""
    return f"no {shown(name, _NAME)}"


def label_text(label: Any, limit: int) -> str:
    """Write the label of a group: harmless, and numbers as people do."""
    if isinstance(label, Decimal):
        return f"{label:f}"
    if isinstance(label, pd.Timestamp):
        return f"{label:%Y-%m-%d %H:%M}"
    return shown(str(label), limit)
