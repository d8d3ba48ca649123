"""Pick wallets, or paste them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
from traitlets import Bool, List, TraitType, Unicode

from walletframe.address import parse_wallets, read_pasted, read_wallet, shorten
from walletframe.errors import AddressError
from walletframe.frames import (
    details_given,
    given_names,
    is_details,
    known_wallets,
    short_wallet,
    wallet_identities,
)
from walletframe.numerals import many
from walletframe.pickers.options import Fact, Option, Options, facts, row_values
from walletframe.pickers.picker import Picker
from walletframe.pickers.widget import handler
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from walletframe.address import Pasted, WalletAddress, WalletLike, WalletsLike
    from walletframe.frames import DetailsLike
    from walletframe.pickers.options import Value

KnownWallets: TypeAlias = "DetailsLike | WalletsLike"
_NAME, _WHOLE, _PROBLEMS, _REASON = 24, 500, 10, 120


class WalletPicker(Picker):
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

    value: TraitType[tuple[str, ...], str | Sequence[WalletLike]]
    _pastes = Bool().tag(sync=True)
    _pasted = Unicode().tag(sync=True)  # what stands in the field
    _problems = List(Unicode()).tag(sync=True)  # what is wrong with it, and with which lines

    def __init__(
        self,
        wallets: KnownWallets = (),
        *,
        value: str | Sequence[WalletLike] = (),
        description: str = "Wallets",
        paste: bool = True,
    ) -> None:
        super().__init__(wallets, value=value, description=description)
        self._pastes = paste
        self._handlers["paste"] = lambda _: self.take_pasted()

    @handler
    def choose_all(self) -> None:
        """Choose all that is offered."""
        self.value = [*map(str, self._options)]

    def take_pasted(self) -> bool:
        """Choose what was pasted; what can't be read stays where it is, with the reason.

        Returns
        -------
        bool
            Whether all of it could be read.
        """
        found = read_pasted(self._pasted)
        self.value = (*self.value, *map(str, found.wallets))
        self._pasted = found.unread
        self._problems = _problems(read_pasted(found.unread))
        return not found.problems

    def _read(self, source: KnownWallets) -> Options:
        return wallet_options(source)

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str) and value in self._options:
            return value
        wallet = read_wallet(value)
        if isinstance(wallet, str):
            raise AddressError([(0, shorten(value), wallet)])
        return self._options.add(_option(wallet))


def wallet_options(source: KnownWallets) -> Options:
    """Return the wallets of a fetch, a frame or a list, with what each is known to hold."""
    hint, holdings, known = "Name, blockchain, address", source, {}
    if is_details(source):
        source, holdings = details_given(source, "wallets")
        empty = wallet_identities(source[known_wallets(source)]).keys
        known = {f"{chain}.{address}": Fact(0, math.nan) for chain, address in empty}
    if not isinstance(holdings, pd.DataFrame) or "token_blockchain" not in holdings:
        return Options(hint, _options(source))
    owners = wallet_identities(holdings)
    values, unit = row_values(holdings)
    keys = [f"{chain}.{address}" for chain, address in owners.keys]
    return Options(hint, _options(source), known | facts(keys, owners.codes, values), unit)


def _options(source: Any) -> Iterator[Option]:
    wallets = parse_wallets(source)
    if not isinstance(source, pd.DataFrame) or "blockchain" not in source:
        return map(_option, wallets)
    asked = [(wallet.blockchain, wallet.address) for wallet in wallets]
    names = given_names(pd.DataFrame(asked, columns=["blockchain", "address"]), source)
    return map(_option, wallets, names)


def _option(wallet: WalletAddress, name: str = "") -> Option:
    chain, address = wallet.blockchain, wallet.address
    return Option(
        value=str(wallet),
        key=str(wallet.canonical),
        name=shown(name, _NAME) if name else "",
        chain=shown(chain),
        whole=shown(address, _WHOLE),
        short=short_wallet(chain, address, name),
        words=name[:_WHOLE] if len(name) > _NAME else "",
    )


def _problems(found: Pasted) -> list[str]:
    """Say what is wrong with what was pasted, and with each line; one may hold several pieces."""
    wrong: dict[int, dict[str, list[str]]] = {}
    for line, text, reason in found.problems:
        wrong.setdefault(line, {}).setdefault(reason, []).append(text)
    if not wrong:
        return []
    stay = "stays" if len(wrong) == 1 else "stay"
    said = [f"{many(len(wrong), 'line')} can't be read, and {stay} above to be mended:"]
    for line, reasons in list(wrong.items())[:_PROBLEMS]:
        parts = [
            f"{shown(', '.join(texts))}: {shown(reason, _REASON)}"
            for reason, texts in reasons.items()
        ]
        said.append(f"Line {line}: {'; '.join(parts)}")
    rest = len(wrong) - _PROBLEMS
    return [*said, f"and {many(rest, 'more line')}"] if rest > 0 else said
