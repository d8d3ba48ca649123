"""The content of a report as plain values: first screen, tables, and notes on the methods."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe import charts
from walletframe.amounts import AmountDtype
from walletframe.analysis.distribution import argsort_totals
from walletframe.analysis.selection import where
from walletframe.analysis.spam.flags import ensure_spam_columns, spam_mask
from walletframe.analysis.sums import compute_totals, totals
from walletframe.analysis.valuation import has_default_prices, has_only_service_prices, value
from walletframe.frames import coverage
from walletframe.frames.asset_list import combine_single_asset
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.groups import add_default_asset, by_as_list, make_groups
from walletframe.frames.identity import encode_tokens, encode_wallets
from walletframe.frames.known import is_simulated, known_mask, summarize_value, summary_lines
from walletframe.frames.positions import HOLDERS, read_positions
from walletframe.frames.results import coverage_from_attrs
from walletframe.frames.schema import concat_frames
from walletframe.frames.tables import (
    UNKNOWN,
    Cell,
    Table,
    text_cells,
    time_cells,
    value_cells,
    wallet_cells,
)
from walletframe.history.changes import compare, result_time
from walletframe.history.values import diff_values
from walletframe.numerals import (
    counted_noun,
    full_amount,
    known_count_suffix,
    money,
    percent,
    rounded_money,
    signed_money,
)
from walletframe.pandas_versions import TEXT
from walletframe.settings.tables import table_defaults
from walletframe.text import safe_line, url_if_safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from plotly.graph_objects import Figure

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.positions import Positions
    from walletframe.frames.results import Coverage
    from walletframe.history.values import ComparedValues

_EXACT = (
    "Amounts are exact: each amount is the integer of base units that the service sent, divided by "
    "10 to the power of the token's decimals. No digit was rounded."
)
_TOKENS = (
    "A token is identified by blockchain and contract. The maker of a token chooses its symbol, so "
    "several tokens may have the same symbol. An asset combines its coin or its issuer's contracts "
    "on several blockchains; a token that is not in the list of assets is an asset of its own. "
    "Amounts of different assets are never added."
)
_FAILED = "A wallet is unknown if the service returned no balances for it. Unknown is not zero."
_VALUES = "A value is an amount times a price, rounded once."
_OWN_PRICES = "The author of this report chose the prices."
_SENT_PRICES = "The service sent the prices with the balances, without stating their currency."
_NAMED_CURRENCY = "The author of this report chose the currency."
_NO_PRICES = "There were no prices, so charts show amounts, counts or shares."
_SPAM = (
    "Tokens were marked as spam by rules about their symbols, contracts and amounts. The table "
    "lists the reasons. The rules miss some spam, and may mark a genuine token."
)
_CHANGES = (
    "Changes compare the wallets that are known at both times. If a known wallet's answer does not "
    "list a token, the token counts as 0. The change due to prices is the earlier amount times the "
    "change of the price; the rest is due to amounts."
)
_TIMES = "Times are in UTC. All numbers are from the time of the answers, not from today."
_MAX_BARS, _MAX_COLORS = 8, 7
_STYLE = {
    "template": "plotly_white",
    "font": {"family": "system-ui, sans-serif", "color": "#1b1b1b", "size": 12},
}
_TOKEN_LABELS = {"token_blockchain", "token_address", "symbol", "asset"}  # missing labels are empty
_MAX_NAMED, _ASSET_LENGTH = 3, 40
_MAX_GROUPS, _MAX_ROWS, _NAME_LENGTH, _TEXT_LENGTH, _ADDRESS_LENGTH = 8, 25, 60, 90, 120
_NUMBER_LENGTH = 200  # no amount is longer
_HEADINGS = {"difference": "change", "from_prices": "from prices", "from_amounts": "from amounts"}
_COLUMNS = {  # heading: column, text for a missing value, maximum number of characters
    "token": ("symbol", "", 24),
    "on": ("token_blockchain", "", _TEXT_LENGTH),
    "name": ("name", "", _NAME_LENGTH),
    "reason": ("error", "", 160),
    "balances": ("tokens", UNKNOWN, _TEXT_LENGTH),
    "source": ("source", "", _TEXT_LENGTH),
    "why": ("why", "", _TEXT_LENGTH),
}


class Content(NamedTuple):
    """The content of a report, from top to bottom. The texts are not escaped."""

    title: str
    made_at: str  # the time of the report
    simulated: bool
    scope: str  # the number of wallets, and their statuses
    total: str  # the value, the amount of a single asset, or the number of balances
    currency_note: str  # a note if the currency of the total is unknown, otherwise ""
    change: str  # a sentence about the change; "" without an earlier fetch
    notes: tuple[str, ...]  # sentences about uncounted wallets and balances
    groups: Listing
    charts: tuple[Chart, ...]
    listings: tuple[Listing, ...]
    methods: tuple[str, ...]  # sentences about the sources and the methods


class Listing(NamedTuple):
    """A table with a heading and a note."""

    heading: str
    note: str
    table: Table


class Chart(NamedTuple):
    """A figure, and the title and the note beside it."""

    title: str
    note: str
    figure: Figure


class GroupChanges(NamedTuple):
    """The change of each group, and the total change."""

    groups: pd.DataFrame  # columns: labels, after, difference, wallets_known, wallets
    change: Any  # a value or an amount; NaN or NA if unknown
    known: int  # the number of wallets that are known at both times
    wallets: int  # the number of wallets that could hold the tokens


class Grouping(NamedTuple):
    """Arguments of `totals`."""

    by: By | None = None
    assets: AssetsLike | None = None
    bridged: bool = False

    def asset_arguments(self, names: Sequence[str] = ("asset",)) -> dict[str, Any]:
        """Return the arguments `assets` and `bridged`, or {} if `names` lacks "asset"."""
        return {"assets": self.assets, "bridged": self.bridged} if "asset" in names else {}


def compose(
    details: WalletDetails,
    before: WalletDetails | None,
    *,
    title: str,
    made_at: datetime,
    grouping: Grouping,
) -> Content:
    """Return the content of a report on a fetch, with the changes since an earlier fetch."""
    wallets, holdings = details.wallets, ensure_spam_columns(add_values_if_priced(details.holdings))
    spam, remaining = holdings[holdings["is_spam"]], where(holdings, spam=False)
    default_by = "owner" if "owner" in wallets else "wallet"
    names = by_as_list(default_by if grouping.by is None else grouping.by)
    change, notes, changes, group_changes = "", list[str](), None, None
    total_value = summarize_value(remaining)
    currency = total_value.currency if total_value else ""
    positions, groups = make_groups(remaining, names, wallets, **grouping.asset_arguments(names))
    frame = compute_totals(positions, groups)
    by_asset = totals(remaining, wallets=wallets, **grouping.asset_arguments())
    is_single = len(by_asset) == 1 and combine_single_asset(positions) is not None
    asset = by_asset["asset"].iloc[0] if is_single else ""
    if by_asset.empty:
        asset = remaining.attrs.get(HOLDERS, {}).get("asset", "")
    if before is not None:
        results = before, details._replace(holdings=holdings)
        unit = currency if total_value else asset
        change, notes, changes, group_changes = _describe_changes(*results, groups, grouping, unit)
    lines = summary_lines(wallets, holdings)
    listings = [] if changes is None else [changes]
    if {*names} - {"wallet", "asset", "token"}:
        listings.append(_subtotals_listing(remaining, wallets, add_default_asset(names), grouping))
    listings.append(_totals_listing(by_asset))
    listings.append(_wallets_listing(remaining, wallets))
    listings.append(_holdings_listing(remaining, wallets))
    if len(spam):
        listings.append(_spam_listing(spam))
    has_own = "value" in details.holdings or table_defaults().prices is not None
    sent = f"{_SENT_PRICES} {_NAMED_CURRENCY}" if currency else _SENT_PRICES
    prices = sent if has_only_service_prices(holdings) else _OWN_PRICES
    prices = f"{_VALUES} {prices}" if "value" in holdings else _NO_PRICES
    methods = [_EXACT, _TOKENS, _FAILED, prices]
    methods += [_SPAM] * bool(len(spam)) + [_CHANGES] * (changes is not None)
    balances = f"{counted_noun(len(remaining), 'balance')} of "
    balances += counted_noun(len(encode_tokens(remaining).keys), "token")
    total, measure = balances, "balances"
    if total_value:
        total, measure = total_value.total, "value"
    elif asset:
        amounts = [*by_asset["amount"].dropna()]
        if by_asset.empty and coverage_from_attrs(frame).wallets_ok:
            amounts = [Decimal(0)]
        total = f"{full_amount(amounts[0] if amounts else None)} {asset}"
        measure = "amount"
    note = "currency not stated" if has_own else "the service's prices, currency not stated"
    return Content(
        title=title,
        made_at=f"{made_at:%Y-%m-%d %H:%M} UTC",
        simulated=is_simulated(wallets),
        scope=lines[0].replace("_", " "),
        total=UNKNOWN if not known_mask(wallets).any() and len(wallets) else total,
        currency_note=f"({note})" if "value" in holdings and not currency else "",
        change=change,
        notes=(str(coverage_from_attrs(frame)), *filter(None, notes)),
        groups=_groups_listing(positions, groups, frame, measure, group_changes),
        charts=tuple(_draw_charts(remaining, wallets, names, grouping)),
        listings=tuple(listings),
        methods=(*_source_sentences(wallets, lines[1], spam), *methods, _TIMES),
    )


def _describe_changes(
    before: WalletDetails, after: WalletDetails, groups: Groups, grouping: Grouping, unit: str
) -> tuple[str, list[str], Listing | None, GroupChanges | None]:
    if text := coverage.differing_selections_text(before, after):
        return f"Not comparable: {text}. To compare them, {coverage.SELECT_HINT}.", [], None, None
    if "value" not in before.holdings and _has_default_values(after.holdings):
        before = before._replace(holdings=add_values_if_priced(before.holdings))
    results = before, after = without_spam(before, after)
    time = result_time(before.wallets)
    since = "an unknown time" if pd.isna(time) else f"{time:%Y-%m-%d %H:%M} UTC"
    earlier = coverage.table_coverage(read_positions(before.holdings, before.wallets))
    possible = {"wallet", "blockchain", "token", "asset", *extra_names(after.wallets)}
    names = add_default_asset(groups.names)
    by = [name for name in names if name in possible]
    amounts = compare(*results, by=by, **grouping.asset_arguments(by))
    if "value" not in after.holdings:
        earlier = replace(earlier, unpriced=0)
        listing, once = _changes_listing(amounts, after.wallets), coverage_from_attrs(amounts)
        note = f"Not compared: {once.unknown_once} not known at both times."
        notes = [note * bool(once.unknown_once), *_sentences_on_unshared_wallets(*results)]
        notes.append(_not_counted_sentence(earlier))
        summed = compare(*results, by="asset", **grouping.asset_arguments())
        if unit and (summed["asset"] == unit).all() and {*groups.columns} <= {*amounts}:
            change, *total = _amount_change_and_counts(summed, since)
            return change, notes, listing, GroupChanges(amounts, *total)
        counts = amounts["change"].value_counts(sort=False)
        counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        return f"Amounts since {since}: {counted or 'unchanged'}.", notes, listing, None
    values = diff_values(*results, groups.names)
    change = _change_sentence(values, grouping, unit, since)
    if values.incomplete.startswith("The earlier"):  # don't repeat dropped balances
        earlier = replace(earlier, filtered=0)
    if values.at_later_prices:  # the later prices replace missing prices
        earlier = replace(earlier, unpriced=0)
    table = values.changes_by_group(names, grouping.asset_arguments(names), known_part=True)
    listing = _changes_listing(table, after.wallets)
    by_group = values.changes_by_group(groups.names, grouping.asset_arguments(groups.names))
    changes = GroupChanges(by_group, values.change, *values.known_and_all_possible)
    notes = [f"{values.notes_text(unit)} {_not_counted_sentence(earlier)}".strip()]
    return change, notes, listing, changes


def _not_counted_sentence(earlier: Coverage) -> str:
    left_out = earlier.not_counted
    return f"Not counted in the earlier fetch: {left_out}." if left_out else ""


def add_values_if_priced(holdings: pd.DataFrame) -> pd.DataFrame:
    """Add values to the holdings if there are prices."""
    is_ready = "value" in holdings or not has_default_prices(holdings)
    return holdings if is_ready else value(holdings)


def _has_default_values(holdings: pd.DataFrame) -> bool:
    if "value" not in holdings or not has_default_prices(holdings):
        return False
    values = holdings["value"].astype("float64")
    return np.allclose(values, value(holdings)["value"], equal_nan=True)


def _sentences_on_unshared_wallets(before: WalletDetails, after: WalletDetails) -> list[str]:
    keys = [{*encode_wallets(wallets).keys} for wallets, _ in (before, after)]
    counts = len(keys[0] - keys[1]), len(keys[1] - keys[0])
    pairs = zip(("earlier", "later"), counts, strict=True)
    return [f"Only in the {name} list: {counted_noun(n, 'wallet')}." for name, n in pairs if n]


def _source_sentences(wallets: pd.DataFrame, answers: str, spam: pd.DataFrame) -> list[str]:
    lines = [f"{answers.replace('_', ' ')}."]
    if len(spam):
        tokens = counted_noun(len(encode_tokens(spam).keys), "token")
        verbs = "looks like spam and is" if len(spam) == 1 else "look like spam and are"
        lines.append(f"{counted_noun(len(spam), 'balance')} of {tokens} {verbs} listed separately.")
    services = [safe_line(name) for name in wallets["service"].dropna().unique()]
    return [*lines, f"Service: {', '.join(services)}."] if services else lines


def _draw_charts(
    holdings: pd.DataFrame, wallets: pd.DataFrame, names: list[str], grouping: Grouping
) -> list[Chart]:
    positions = read_positions(holdings[(holdings["amount"] > 0).fillna(value=True)])
    if not positions.wallet_keys:
        return []
    kind = "token" if "token" in names else "asset"  # of both charts, so that colours agree
    by = [names, [kind] if names != [kind] else ["wallet", kind]]
    drawn_charts = []
    for each in by[len(positions.wallet_keys) == 1 :]:
        figure = charts.bar(
            positions if "value" in holdings else positions.holdings,  # to draw amounts
            by=each,
            top=_MAX_BARS,
            top_tokens=_MAX_COLORS,
            wallets=wallets,
            **grouping.asset_arguments([kind]),
        )
        note = charts.markup_to_text(figure.layout.meta["line"])
        title, _ = charts.pop_title_and_notes(figure)
        if not charts.has_custom_template():
            figure.update_layout(**_STYLE)
        # A phone is too narrow for a title of the rows and many ticks.
        figure.update_xaxes(nticks=3, tickangle=0).update_yaxes(title=None)
        figure.for_each_annotation(lambda each: each.update(text=each.text.replace(", ", "<br>")))
        drawn_charts.append(Chart(title, note, figure))
    return drawn_charts


def _groups_listing(
    positions: Positions,
    groups: Groups,
    frame: pd.DataFrame,
    measure: str,
    changes: GroupChanges | None,
) -> Listing:
    labels, requested = [*groups.columns], coverage_from_attrs(frame).wallets_asked
    write = money if measure == "value" else full_amount if measure == "amount" else "{:,}".format
    if changes:
        names = ["after", "difference", "wallets_known", "wallets"]
        kinds = groups.labels.columns.intersection(["asset", "token_blockchain"])
        frame = frame.merge(changes.groups[labels + names], "outer", labels)
        is_earlier = frame["wallets_asked"].isna()
        is_blank = is_earlier & frame["difference"].isna() & frame[kinds].isna().any(axis=1)
        is_gone = is_earlier & (frame["after"] == 0)
        frame[measure] = frame[measure].mask(is_gone, 0)
        frame = frame[~is_blank]
        if measure == "amount":  # `compare` leaves out unchanged groups
            frame["difference"] = frame["difference"].mask(frame["wallets"].isna(), 0)
            frame = frame.assign(
                **{name: frame[name].fillna(frame["wallets_asked"]) for name in names[2:]}
            )
    frame = frame.sort_values(measure, ascending=False, kind="stable")
    sizes = frame.reindex(columns=[measure, "difference"]).astype("float64")
    frame["share"] = sizes[measure] / (sizes[measure].sum() or np.nan)
    ranks = sizes.abs().max(axis=1).rank(method="first", ascending=False, na_option="bottom")
    head, rest = frame[ranks <= _MAX_GROUPS], frame[ranks > _MAX_GROUPS]
    named = _label_cells(head, labels, positions.wallet_frame)
    counts = [head[name].fillna(0) for name in ("wallets_ok", "wallets_asked", measure)]
    cells = []
    for known, asked, size, *parts in zip(*counts, *named.values(), strict=True):
        texts = [safe_line(part.text, _ADDRESS_LENGTH) for part in parts if part.text]
        suffix = known_count_suffix(known, asked) * bool(known or size)
        cells.append(Cell(" · ".join(texts) + suffix, _NUMBER_LENGTH))
    others = f"{len(rest):,} other{'s' * (len(rest) > 1)}"
    if frame["wallets_asked"].sum() == requested:  # no wallet is in two groups
        others += known_count_suffix(rest["wallets_ok"].sum(), rest["wallets_asked"].sum())
    ends = [others] * bool(len(rest)) + ["Total"]
    columns = {", ".join(named): [*cells, *map(Cell, ends)]}

    def cells_with_sums(name: str, write: Callable[[Any], str]) -> list[Cell]:
        sums = [each[name] for each in (rest, frame)[-len(ends) :]]
        column = [each.sum(min_count=1) for each in sums]
        return text_cells([*head[name], *column], UNKNOWN, _NUMBER_LENGTH, write)

    if measure == "balances":
        numbers = _select_cells(head, "amount", "tokens").items()
        _add_columns(columns, {name: [*each, *[Cell("")] * len(ends)] for name, each in numbers})
    _add_columns(columns, {measure: cells_with_sums(measure, write)})
    if changes:
        _add_columns(columns, {"change": _change_cells(changes, head, rest, write)})
    if measure != "balances":
        share = cells_with_sums("share", lambda share: percent(round(share, 9)))
        _add_columns(columns, {"share": share})
    heading = f"By {' and '.join(map(safe_line, groups.names))}"
    return Listing(heading, "", Table("groups", columns, len(head) + len(ends)))


def _change_cells(
    changes: GroupChanges, head: pd.DataFrame, rest: pd.DataFrame, write: Callable[[Any], str]
) -> list[Cell]:
    known, asked = (head[name].astype("float64") for name in ("wallets_known", "wallets"))
    rows = [*zip(head["difference"], known, asked, strict=True)]
    if len(rest):
        counts = rest[["wallets_known", "wallets"]].astype("float64").sum()
        is_split = counts["wallets"] + asked.sum() == changes.wallets  # no wallet is in two
        known_rest = counts["wallets_known" if is_split else "wallets"]
        rows.append((rest["difference"].sum(min_count=1), known_rest, counts["wallets"]))
    texts = (
        UNKNOWN
        if pd.isna(change)
        else "+" * bool(change > 0) + write(change) + known_count_suffix(known, asked)
        for change, known, asked in [*rows, changes[1:]]
    )
    return [Cell(text, _NUMBER_LENGTH) for text in texts]


def _label_cells(
    frame: pd.DataFrame, labels: list[str], wallets: pd.DataFrame
) -> dict[str, list[Cell]]:
    columns: dict[str, list[Cell]] = {}
    if {"blockchain", "address"} <= {*labels}:
        columns["wallet"] = wallet_cells(frame, wallets)
        labels = [name for name in labels if name not in {"blockchain", "address", "name"}]
    for label in labels:
        if label not in {"token_blockchain", "token_address"}:
            missing = "" if label in _TOKEN_LABELS else f"no {label}"
            _add_columns(columns, {label: text_cells(frame[label], missing, _NAME_LENGTH)})
    return columns | (_contract_column(frame) if "token_address" in labels else {})


def _totals_listing(frame: pd.DataFrame) -> Listing:
    head = frame.iloc[argsort_totals(frame)].head(_MAX_ROWS)
    columns = _select_cells(head, "asset", "amount", "contracts", "blockchains", "value", "holders")
    columns["wallets known"] = _wallet_count_cells(head)
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = text_cells(head["amount_na"])
    note = (
        "Exact sums of each asset's amounts over its contracts. “Wallets known” counts wallets "
        "whose whole amount is known, out of all that could hold the asset. Others may hold more."
    )
    return Listing("Totals by asset", note, Table("totals", columns, len(frame)))


def _subtotals_listing(
    holdings: pd.DataFrame, wallets: pd.DataFrame, names: list[str], grouping: Grouping
) -> Listing:
    positions, groups = make_groups(holdings, names, wallets, **grouping.asset_arguments(names))
    frame, labels = compute_totals(positions, groups), [*groups.columns]
    codes = pd.factorize(frame[labels[0]], use_na_sentinel=False)[0]
    rows, is_subtotal = codes.argsort(kind="stable"), np.zeros(len(frame), dtype=bool)
    if "value" in frame:
        subtotals = frame["value"].groupby(codes).sum(min_count=1).to_numpy()
        ranks = pd.Series(-subtotals).rank(method="first", na_option="bottom").to_numpy()
        rows = np.lexsort((-frame["value"].fillna(-1), ranks[codes]))
        starts = np.flatnonzero(np.diff(codes[rows], prepend=-1))
        is_subtotal = np.insert(is_subtotal, starts, True)
        rows = np.insert(rows, starts, rows[starts])
        values = np.where(is_subtotal, subtotals[codes[rows]], frame["value"].to_numpy()[rows])
        frame = frame.iloc[rows].assign(value=values)
    else:
        frame = frame.iloc[rows]
    head = frame.head(_MAX_ROWS)
    cells = _select_cells(head, "amount", "value", "holders")
    columns = _add_columns(_label_cells(head, labels, wallets), cells)
    columns["wallets known"] = _wallet_count_cells(head)
    first = next(iter(columns))
    columns = {
        name: [
            Cell("subtotal" if index == 1 else "")
            if is_sum and name not in {first, "value"}
            else cell
            for is_sum, cell in zip(is_subtotal, cells, strict=False)
        ]
        for index, (name, cells) in enumerate(columns.items())
    }
    note = (
        "Exact sums of the amounts that can be read. “Wallets known” counts wallets whose whole "
        "amount is known. Rows without a label form a group of their own."
    )
    heading = f"Totals by {' and '.join(map(safe_line, groups.names))}"
    return Listing(heading, note, Table("subtotals", columns, len(frame)))


def _wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    head = wallets.iloc[known_mask(wallets).argsort(kind="stable")].head(_MAX_ROWS)
    columns = _select_cells(head, "name", "blockchain") | {
        "wallet": [
            Cell(
                address, _ADDRESS_LENGTH, link=url_if_safe(link) if isinstance(link, str) else None
            )
            for address, link in zip(head["address"], head["explorer_url"], strict=True)
        ],
        "status": text_cells(head["status"].astype(TEXT).str.replace("_", " ")),
    }
    columns |= _select_cells(head, *["reason"] * bool(head["error"].notna().any()), "balances")
    if "value" in holdings:
        values = totals(holdings, by="wallet", wallets=wallets)["value"].set_axis(wallets.index)
        columns["value"] = value_cells(values.loc[head.index], UNKNOWN)
    columns["answered (UTC)"] = time_cells(head["fetched_at"], missing="")
    columns |= _select_cells(head, "source")
    extra = [name for name in extra_names(wallets) if name != "name"]
    _add_columns(columns, {name: text_cells(head[name], "", _NAME_LENGTH) for name in extra})
    note = "Unknown wallets come first. An unknown wallet is not an empty wallet."
    return Listing("Wallets", note, Table("wallets", columns, len(wallets)))


def _holdings_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    note, head = "Balances are in the order of the answers.", holdings
    if "value" in holdings:
        note = "The most valuable balances come first."
        head = holdings.sort_values("value", ascending=False, kind="stable")
    head = head.head(_MAX_ROWS)
    columns = {"wallet": wallet_cells(head, wallets)}
    columns |= _select_cells(head, "token", "on", "amount", "value") | _contract_column(head)
    return Listing("Balances", note, Table("holdings", columns, len(holdings)))


def _spam_listing(spam: pd.DataFrame) -> Listing:
    reasons = spam["spam_reasons"].iloc[encode_tokens(spam).first]
    frame = totals(spam, "token").assign(why=reasons.str.replace("_", " ").to_numpy())
    head = frame.sort_values("holders", ascending=False, kind="stable").head(_MAX_ROWS)
    columns = _select_cells(head, "token", "on", "why", "holders", "amount")
    note = (
        "Strangers send these tokens to advertise. Don't follow the instructions in symbols. The "
        "charts and the totals above leave out these tokens, but the data still contains them."
    )
    columns |= _contract_column(head)
    return Listing("Tokens that look like spam", note, Table("spam", columns, len(frame)))


def without_spam(
    before: WalletDetails, after: WalletDetails
) -> tuple[WalletDetails, WalletDetails]:
    """Drop spam from both fetches. For a token in both, the flag in `after` decides."""
    frames = [before.holdings, after.holdings]
    names = ["token_blockchain", "token_address"]
    tokens = encode_tokens(concat_frames(frame[names] for frame in frames))
    tokens_before, tokens_after = np.split(tokens.codes, [len(frames[0])])
    is_spam = np.zeros(len(tokens.keys), dtype=bool)
    flags = [spam_mask(frame) for frame in frames]
    is_spam[tokens_before[flags[0]]] = True
    is_spam[tokens_after] = False
    is_spam[tokens_after[flags[1]]] = True
    kept = []
    for frame, codes, marked in zip(frames, (tokens_before, tokens_after), flags, strict=True):
        mask = is_spam[codes]
        text = coverage.count_and_value_text(int(mask.sum()), "spam balance", frame[mask])
        text += " marked in either fetch" * bool((mask != marked).any())
        kept.append(coverage.drop_rows(frame, ~mask, {"spam": (mask, text)}))
    return before._replace(holdings=kept[0]), after._replace(holdings=kept[1])


def _change_sentence(values: ComparedValues, grouping: Grouping, currency: str, since: str) -> str:
    not_compared = f" Not compared: {values.left_out}." * bool(values.left_out)
    if np.isnan(values.change):
        return f"The change since {since} is unknown.{not_compared}"
    by_asset = values.changes_by_group(["asset"], grouping.asset_arguments(), known_part=True)
    changed = by_asset[by_asset["difference"].fillna(0) != 0]
    if not len(changed):
        return f"Unchanged since {since}.{not_compared}"
    total, earlier = changed["difference"].sum(), by_asset["before"].sum()
    named, rest = changed.head(_MAX_NAMED), changed["difference"].iloc[_MAX_NAMED:]
    columns = (named[name] for name in ("asset", "difference", "from_prices", "from_amounts"))
    parts = []
    for asset, change, prices, amounts in zip(*columns, strict=True):
        origin = f" (from prices {rounded_money(prices)}, from amounts {rounded_money(amounts)})"
        if not (prices and amounts):
            origin = " (from prices)" if prices else " (from amounts)"
        parts.append(f"{safe_line(asset, _ASSET_LENGTH)} {rounded_money(change, '+')}{origin}")
    if len(rest):
        parts.append(f"{counted_noun(len(rest), 'other asset')} {rounded_money(rest.sum(), '+')}")
    direction = "Up" if total >= 0 else "Down"
    is_part = money(earlier) != money(values.earlier_total)
    part = f" of the compared {rounded_money(earlier)}" * is_part
    share = f" ({total / earlier:+.1%}{part})" if earlier else ""
    head = f"{direction} {rounded_money(abs(total))}{currency}{share} since {since}"
    return f"{head}: {'; '.join(parts)}.{not_compared}"


def _amount_change_and_counts(changes: pd.DataFrame, since: str) -> tuple[str, Any, int, int]:
    if changes.empty:
        return f"Unchanged since {since}.", changes["difference"].sum(), 0, 0
    row: Any = next(changes.itertuples())
    numbers = row.difference, row.wallets_known, row.wallets
    if pd.isna(row.difference):
        return f"The change since {since} is unknown.", *numbers
    size = f"{'Up' if row.difference > 0 else 'Down'} {full_amount(abs(row.difference))}"
    sides = f"from {full_amount(row.before)} to {full_amount(row.after)}"
    size += f" {safe_line(row.asset, _ASSET_LENGTH)} since {since}, {sides}"
    return f"{size}{known_count_suffix(*numbers[1:])}.", *numbers


def _changes_listing(changes: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    labels = [*changes.columns[: changes.columns.get_loc("before")]]
    if "from_prices" in changes:
        note = (
            "Values of the balances that are known at both times. The largest change comes first."
        )
        changes = changes[changes["difference"].fillna(0) != 0]
        head = changes.head(_MAX_ROWS)
        cells = {
            heading: text_cells(head[name], write=signed_money)
            for name, heading in _HEADINGS.items()
        }
        cells |= {name: value_cells(head[name]) for name in ("before", "after")}
    else:
        note = (
            "Exact differences of amounts. A change is unknown if a wallet is unknown at one of "
            "the times, and the other wallets have no change."
        )
        order = (changes["change"] == "unknown").to_numpy().argsort(kind="stable")
        head = changes.iloc[order].head(_MAX_ROWS)
        counts = zip(head["wallets_known"], head["wallets"], strict=True)
        cells = {"kind": text_cells(head["change"])}
        cells |= _select_cells(head, "difference", "before", "after")
        cells["wallets known"] = [Cell(f"{known:,} of {count:,}") for known, count in counts]
    table = Table("changes", _add_columns(_label_cells(head, labels, wallets), cells), len(changes))
    return Listing("Changes", note, table)


def _wallet_count_cells(frame: pd.DataFrame) -> list[Cell]:
    parts = (frame[name] for name in ("wallets_ok", "wallets_stale", "wallets_asked"))
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in zip(*parts, strict=True)
    ]


def _add_columns(
    columns: dict[str, list[Cell]], added: Mapping[str, list[Cell]]
) -> dict[str, list[Cell]]:
    for name, cells in added.items():
        heading = safe_line(name, _NAME_LENGTH)
        while heading in columns:
            heading += " (2)"
        columns[heading] = cells
    return columns


def _select_cells(frame: pd.DataFrame, *headings: str) -> dict[str, list[Cell]]:
    columns = {}
    for heading in headings:
        name, missing, limit = _COLUMNS.get(heading, (heading, UNKNOWN, _TEXT_LENGTH))
        if heading == "value" and name in frame:
            columns[heading] = value_cells(frame[name], missing)
        elif name in frame:
            is_amount = isinstance(frame[name].dtype, AmountDtype)
            write = full_amount if is_amount else str
            limit = _NUMBER_LENGTH if is_amount else limit
            columns[heading] = text_cells(frame[name], missing, limit, write)
    return columns


def _contract_column(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    is_native = frame["token_address"].isna() & frame["token_blockchain"].notna()
    contracts = frame["token_address"].mask(is_native, "native coin")
    return {"contract": text_cells(contracts, missing="", limit=_ADDRESS_LENGTH)}
