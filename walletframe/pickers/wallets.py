"""Pick wallets, or paste them, and fetch them without Python code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
from ipywidgets import HTML, Button, Checkbox, Layout, Textarea
from traitlets import Instance, default, observe

from walletframe.address import parse_wallets, read_pasted, read_wallet, shorten
from walletframe.client import require_client
from walletframe.errors import AddressError
from walletframe.frames import (
    WalletDetails,
    assemble,
    details_given,
    given_names,
    is_details,
    short_wallet,
    summary_html,
    table_html,
    wallets_table,
    whole_wallet,
)
from walletframe.numerals import many
from walletframe.pickers.chooser import Chooser, Option, Options
from walletframe.pickers.fetching import FetchBar, renewed
from walletframe.pickers.pane import Pane, guarded
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.address import Pasted, WalletAddress, WalletLike, WalletsLike
    from walletframe.client import Client
    from walletframe.frames import DetailsLike
    from walletframe.pickers.chooser import Value

KnownWallets: TypeAlias = "DetailsLike | WalletsLike"
_NAME, _PROBLEMS, _REASON, _FAILURES = 100, 10, 120, 50


class WalletPicker(Chooser):
    """Pick wallets from a fetch or a list, and paste others.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        The wallets to choose from, found by ``name``, too, where frames have it. Default: none.
    value : str, or sequence of str, of (str, str), of mappings or of WalletAddress
        What is chosen at first.
    description : str, default "Wallets"
        The label.
    paste : bool, default True
        Whether others can be pasted: one or several a line, or two columns of a table. Lines that
        can't be read stay in the box, with the reason for each.

    Attributes
    ----------
    value : tuple of str
        The wallets that are chosen, each once, as ``"<BLOCKCHAIN>.<ADDRESS>"``, as first written,
        in the order chosen. Can be set, observed and linked; `fetch_wallets` takes it.

    Raises
    ------
    AddressError
        If a wallet can't be read.

    Examples
    --------
    >>> picker = WalletPicker(["NEAR.alice.near", "ETH.0xAB"])
    >>> picker.value = ["eth.0xab", "NEAR.bob.near"]
    >>> picker.value
    ('ETH.0xAB', 'NEAR.bob.near')
    >>> picker.offer(["NEAR.carol.near"])
    >>> picker.choose_all()
    >>> picker.take_pasted(), picker.value
    (True, ('NEAR.carol.near',))
    >>> picker.close()
    """

    _hint = "name, blockchain or address"

    def __init__(
        self,
        wallets: KnownWallets = (),
        *,
        value: str | Sequence[WalletLike] = (),
        description: str = "Wallets",
        paste: bool = True,
    ) -> None:
        self._text: Textarea | None = None
        super().__init__(_offered(wallets), value=value, description=description)
        if paste:
            self._text = Textarea(
                description="Paste wallets",
                placeholder="ETH.0x52…\nNEAR.alice.near",
                rows=4,
                layout=Layout(width="auto"),
                style=self._search.style,
            )
            self._problems = HTML(layout=Layout(display="none"))
            add = Button(description="Add wallets", icon="plus")
            add.on_click(lambda _: self._add())
            self.children: tuple[Any, ...] = (self._text, add, self._problems, *self.children)

    def offer(self, wallets: KnownWallets) -> None:
        """Offer other wallets; of those chosen, those that are not among them are removed.

        Parameters
        ----------
        wallets : WalletDetails, or whatever `fetch_wallets` takes
            What to choose from.

        Raises
        ------
        ArgumentError, AddressError
            If `wallets` is neither a DataFrame nor a fetch, or a wallet can't be read.
        """
        self._offer(_offered(wallets))

    @guarded
    def choose_all(self) -> None:
        """Choose all that is offered."""
        self.value = [*self._options]

    def take_pasted(self) -> bool:
        """Choose what was pasted; what can't be read stays where it is, with the reason.

        Returns
        -------
        bool
            Whether all of it could be read.
        """
        if self._text is None:
            return True
        found = read_pasted(self._text.value)
        self.value = (*self.value, *map(str, found.wallets))
        self._text.value = found.unread
        self._problems.value = _problems_html(read_pasted(found.unread))
        self._problems.layout.display = None if found.problems else "none"
        self._show()
        return not found.problems

    @guarded
    def _add(self) -> None:
        self.take_pasted()

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str) and value in self._options:
            return value
        wallet = read_wallet(value)
        if isinstance(wallet, str):
            raise AddressError([(0, shorten(value), wallet)])
        return self._options.add(_option(wallet))


def _offered(source: KnownWallets) -> Options:
    given: Any = details_given(source, "wallets").wallets if is_details(source) else source
    wallets = parse_wallets(given)
    if not isinstance(given, pd.DataFrame) or "blockchain" not in given:
        return Options(map(_option, wallets))
    asked = [(wallet.blockchain, wallet.address) for wallet in wallets]
    names = given_names(pd.DataFrame(asked, columns=["blockchain", "address"]), given)
    return Options(map(_option, wallets, names))


def _option(wallet: WalletAddress, name: str = "") -> Option:
    label = whole_wallet(wallet.blockchain, wallet.address, name)
    short = short_wallet(wallet.blockchain, wallet.address, name)
    words = f"{name[:_NAME]} {wallet}".strip().casefold()
    return Option(str(wallet), label, short, words, str(wallet.canonical))


def _problems_html(found: Pasted) -> str:
    """Say of each line what is wrong with it; a line may hold several pieces."""
    wrong: dict[int, dict[str, list[str]]] = {}
    for line, text, reason in found.problems:
        wrong.setdefault(line, {}).setdefault(reason, []).append(text)
    if not wrong:
        return ""
    items = []
    for line, reasons in list(wrong.items())[:_PROBLEMS]:
        parts = [
            f"{as_html(', '.join(texts))}: {as_html(reason, _REASON)}"
            for reason, texts in reasons.items()
        ]
        items.append(f"<li>Line {line}: {'; '.join(parts)}</li>")
    rest = len(wrong) - _PROBLEMS
    more = f"<li>and {many(rest, 'more line')}</li>" if rest > 0 else ""
    said = f"{many(len(wrong), 'line')} can't be read, and stay above to be mended:"
    listed = f'<ul style="margin: 0; padding-left: 1.5em">{"".join(items)}{more}</ul>'
    return f'<div role="alert" style="line-height: 1.5">{said}{listed}</div>'


class FetchPanel(Pane):
    """Fetch wallets in the background: the notebook stays usable, and Cancel works.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        The wallets to choose from, besides pasted ones; all are chosen at first.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.

    Attributes
    ----------
    details : WalletDetails
        What was fetched last; before that the fetch given as `wallets`, or an empty one. Can be
        observed and linked. After a cancelled fetch the rest has the status ``cancelled``; what was
        known of a wallet that can't be asked anew is kept, with the source ``stale``.

    Raises
    ------
    ArgumentError, AddressError
        If `client` is not a `Client`, or a wallet can't be read.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     panel = FetchPanel(["NEAR.alice.near"], client=client)
    ...     panel.fetch()
    ...     panel.cancel()
    ...     panel.retry()
    ...     panel.close()
    """

    details = Instance(WalletDetails)

    def __init__(self, wallets: KnownWallets = (), *, client: Client | None = None) -> None:
        require_client(client)
        self._picker = WalletPicker(wallets)
        super().__init__()
        self._picker.choose_all()
        anew = "Ask anew even where an answer is kept on this machine"
        self._refresh = Checkbox(description=anew, indent=False, layout=Layout(width="auto"))
        start = Button(description="Fetch", icon="download", button_style="primary")
        hint = "paste some, or choose from the list"
        self._bar = FetchBar(start, self.fetch, client, hint=hint)
        self._found = HTML(layout=Layout(display="none"))
        self.children = (self._picker, self._refresh, self._alert, self._bar, self._found)
        self._bar.observe(self._take, "details")
        if is_details(wallets):
            self.details = details_given(wallets)

    @default("details")
    def _nothing(self) -> WalletDetails:
        return assemble([])

    @guarded
    def fetch(self) -> None:
        """Fetch what is pasted and what is chosen; where a line can't be read, ask for none.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if self._picker.take_pasted():
            self._bar.fetch(self._picker.value, refresh=self._refresh.value)

    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        self._bar.cancel()

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self._bar.retry()

    @guarded
    def _take(self, change: dict[str, Any]) -> None:
        self.details = renewed(self.details, change["new"])

    @observe("details")
    def _show(self, change: dict[str, Any]) -> None:
        details = change["new"]
        troubled = details.wallets[details.wallets["error"].notna()]
        table = table_html(wallets_table(troubled, _FAILURES)) if len(troubled) else ""
        self._found.value = f'<div role="status">{summary_html(*details)}</div>{table}'
        self._found.layout.display = None
