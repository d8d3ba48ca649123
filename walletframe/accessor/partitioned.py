"""Tables of holdings that are never in memory as a whole: in a folder, or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from walletframe.accessor import FrameAccessor
from walletframe.accessor.delegation import Delegate, LazyPackage, signature_of
from walletframe.bulk import Flags, Units
from walletframe.errors import FramesNeededError

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe import analysis
    from walletframe.frames.groups import By
else:
    analysis = LazyPackage("analysis")

FetchT = TypeVar("FetchT")
P = ParamSpec("P")
R = TypeVar("R")


def delegate_parts(
    load: Callable[[], Callable[Concatenate[Any, P], R]], load_of_parts: Callable[[], Any]
) -> Delegate[P, R]:
    """Return a method that reads in parts what the documented function takes from memory."""

    def call(accessor: PartitionedAccessor[Any], function: Any, *args: Any, **kwargs: Any) -> R:
        options = _options(function, *args, **kwargs)
        if "wallets" in options:
            held = accessor._held(options.pop("wallets"), options["by"])  # noqa: SLF001 - of the accessor whose method calls
        else:
            held = accessor._rows()  # noqa: SLF001 - the same
        result: R = load_of_parts()(held, **options)
        return result

    return Delegate(load, call)


def _options(function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return all arguments of a call by name, but for the data."""
    given = signature_of(function).bind(None, *args, **kwargs)
    given.apply_defaults()
    _, *named = given.arguments.items()
    return dict(named)


class PartitionedAccessor(ABC, Generic[FetchT]):
    """Calls of ``details.wf`` whose tables are worked out a part at a time, to the same values."""

    _place: str
    _read_into_memory: str
    _again: Callable[[Any], FetchT]  # makes a fetch of other holdings

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(FrameAccessor, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise self._frames_needed(name)

    def _frames_needed(self, name: str, argument: str = "") -> FramesNeededError:
        return FramesNeededError(
            f"{name}{argument} takes balances that are in memory, and these are {self._place}",
            hint=f"read those that it needs, such as {self._read_into_memory}.wf.{name}",
        )

    @abstractmethod
    def _held(self, wallets: Any, by: By) -> Any:
        """Return the holdings with the wallets of the same fetch."""

    @abstractmethod
    def _rows(self) -> Any:
        """Return the holdings, whosever they are."""

    def _value(self, function: Any, /, *args: Any, **kwargs: Any) -> FetchT:
        options = _options(function, *args, **kwargs)
        if options.pop("at") is not None:
            raise self._frames_needed("value", "(at=…)")
        units, currency = analysis.units_on_disk(self._rows(), **options)
        return self._again(self._rows().valued(Units(units, options["by_symbol"], currency)))

    def _flag(self, function: Any, /, *args: Any, **kwargs: Any) -> FetchT:
        options, dropped = _options(function, *args, **kwargs), function is analysis.without_spam
        of, of_rows, unknown = analysis.flags_on_disk(self._rows(), dropped=dropped, **options)
        flags = Flags(of, of_rows, options["threshold"])
        mark = self._rows().without if dropped else self._rows().flagged
        return self._again(mark(flags, unknown))

    totals: Final = delegate_parts(lambda: analysis.totals, lambda: analysis.totals_of_blocks)
    share: Final = delegate_parts(lambda: analysis.share, lambda: analysis.share_on_disk)
    concentration: Final = delegate_parts(
        lambda: analysis.concentration, lambda: analysis.concentration_on_disk
    )
    pivot: Final = delegate_parts(lambda: analysis.pivot, lambda: analysis.pivot_on_disk)
    explain_spam: Final = delegate_parts(
        lambda: analysis.explain_spam, lambda: analysis.explain_spam
    )
    value: Final = Delegate(lambda: analysis.value, _value)
    flag_spam: Final = Delegate(lambda: analysis.flag_spam, _flag)
    without_spam: Final = Delegate(lambda: analysis.without_spam, _flag)
