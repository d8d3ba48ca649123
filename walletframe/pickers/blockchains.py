"""Pick blockchains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from walletframe.address import canonical_key
from walletframe.errors import ArgumentError, UnknownBlockchainError
from walletframe.frames import details_given, is_details, require_columns
from walletframe.pickers.chooser import Chooser, Option, Options
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames import DetailsLike
    from walletframe.pickers.chooser import Value

BlockchainsLike: TypeAlias = "DetailsLike | pd.DataFrame | str | Iterable[str]"


class BlockchainPicker(Chooser):
    """Pick blockchains from a frame or a list.

    Parameters
    ----------
    blockchains : WalletDetails, DataFrame with a column blockchain, str, or iterable of str
        What to choose from; of a frame, those with the most rows first.
    value : str or sequence of str
        What is chosen at first, in any case.
    description : str, default "Blockchains"
        The label.

    Attributes
    ----------
    value : tuple of str
        The identifiers that are chosen, as first written, in the order chosen. Can be set,
        observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `blockchains` is of another type, or a frame without the column.
    UnknownBlockchainError
        If `value` names a blockchain that is not there, now or when it is set later.

    Examples
    --------
    >>> picker = BlockchainPicker(["ETH", "BSC"], value=["eth"])
    >>> picker.value
    ('ETH',)
    >>> picker.offer(["BSC", "NEAR"])
    >>> picker.value
    ()
    >>> picker.close()
    """

    def __init__(
        self,
        blockchains: BlockchainsLike,
        *,
        value: str | Sequence[str] = (),
        description: str = "Blockchains",
    ) -> None:
        super().__init__(
            _offered(blockchains), value=value, description=description, hint="identifier"
        )

    def offer(self, blockchains: BlockchainsLike) -> None:
        """Offer other blockchains; of those chosen, those that are not among them are removed.

        Parameters
        ----------
        blockchains : WalletDetails, DataFrame with a column blockchain, str, or iterable of str
            What to choose from.

        Raises
        ------
        ArgumentError, ColumnsError
            If `blockchains` is of another type, or a frame without the column.
        """
        self._offer(_offered(blockchains))

    def _resolve(self, value: Any) -> Value:
        option = self._options.by_key.get(_folded(value)) if isinstance(value, str) else None
        if option is None:
            raise UnknownBlockchainError(str(value), [*map(str, self._options)])
        return option.value


def _offered(source: BlockchainsLike) -> Options:
    """Return the blockchains of a frame or of a list; those with the most rows come first."""
    if is_details(source):
        details = details_given(source, "blockchains")
        pairs = [*_counts(details.holdings), *_counts(details.wallets)]
    elif isinstance(source, pd.DataFrame):
        pairs = _counts(source)
    else:
        given: object = [source] if isinstance(source, str) else source
        named: list[Any] = list(given) if isinstance(given, Iterable) else [None]
        pairs = [(name, 1) for name in named]
        if not all(isinstance(name, str) for name, _ in pairs):
            raise ArgumentError(
                "blockchains is not a list of identifiers",
                hint='give a list of text, such as ["ETH", "BSC"], or what fetch_wallets returned',
            )
    spelling: dict[str, str] = {}
    totals: Counter[str] = Counter()
    for name, count in pairs:
        totals[spelling.setdefault(_folded(name), name)] += count
    return Options(
        Option(name, shown(name), shown(name, 24), name.casefold(), _folded(name))
        for name, _ in totals.most_common()
    )


def _counts(frame: pd.DataFrame) -> list[tuple[str, int]]:
    require_columns(frame, ["blockchain"])
    counts = frame["blockchain"].dropna().value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items()]


def _folded(name: str) -> str:
    return canonical_key(name, "")[0]
