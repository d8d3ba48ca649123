"""Base class of the accessors for holdings in a folder or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from walletframe.accessor import FrameAccessor
from walletframe.accessor.delegation import Delegate, LazyPackage, signature_of
from walletframe.errors import FramesNeededError

if TYPE_CHECKING:
    from collections.abc import Callable

    from walletframe.analysis import chunked, distribution, sums, valuation
    from walletframe.analysis.spam import flags
    from walletframe.frames.groups import By
else:
    distribution, chunked = map(LazyPackage, ("analysis.distribution", "analysis.chunked"))
    flags, sums = map(LazyPackage, ("analysis.spam.flags", "analysis.sums"))
    valuation = LazyPackage("analysis.valuation")

FetchT = TypeVar("FetchT")
P = ParamSpec("P")
R = TypeVar("R")


def delegate_chunked(
    load: Callable[[], Callable[Concatenate[Any, P], R]], load_chunked: Callable[[], Any]
) -> Delegate[P, R]:
    """Return a method like ``load()``'s function that calls ``load_chunked()``'s function."""

    def call(accessor: PartitionedAccessor[Any], function: Any, *args: Any, **kwargs: Any) -> R:
        options = _arguments_by_name(function, *args, **kwargs)
        if "wallets" in options:
            by = options.get("by", "blockchain")
            source = accessor._holdings_with_wallets(options.pop("wallets"), by)  # noqa: SLF001 - internal to this package
        else:
            source = accessor._holdings_without_wallets()  # noqa: SLF001 - internal to this package
        result: R = load_chunked()(source, **options)
        return result

    return Delegate(load, call)


def _arguments_by_name(function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    bound = signature_of(function).bind(None, *args, **kwargs)
    bound.apply_defaults()
    _, *named = bound.arguments.items()
    return dict(named)


class PartitionedAccessor(ABC, Generic[FetchT]):
    """Methods of ``details.wf`` that compute their tables from chunks of the holdings."""

    _location: str
    _read_example: str
    _wrap_holdings: Callable[[Any], FetchT]  # converts holdings to the methods' result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(FrameAccessor, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise self._frames_needed_error(name)

    def _frames_needed_error(self, name: str, argument: str = "") -> FramesNeededError:
        return FramesNeededError(
            f"{name}{argument} needs balances in memory, but they are {self._location}",
            hint=f"first read the balances into memory: {self._read_example}.wf.{name}",
        )

    @abstractmethod
    def _holdings_with_wallets(self, wallets: Any, by: By) -> Any:
        """Return the holdings with the wallets, for a table that has counts of wallets."""

    @abstractmethod
    def _holdings_without_wallets(self) -> Any:
        """Return the holdings alone, for a table that has no counts of wallets."""

    def _add_value_columns(self, function: Any, /, *args: Any, **kwargs: Any) -> FetchT:
        options = _arguments_by_name(function, *args, **kwargs)
        if options.pop("at") is not None:
            raise self._frames_needed_error("value", "(at=…)")
        source = self._holdings_without_wallets()
        return self._wrap_holdings(source.with_prices(chunked.chunked_prices(source, **options)))

    def _flag_or_drop_spam(self, function: Any, /, *args: Any, **kwargs: Any) -> FetchT:
        options = _arguments_by_name(function, *args, **kwargs)
        drop_spam = function is flags.without_spam
        source = self._holdings_without_wallets()
        apply_flags = source.without_spam if drop_spam else source.with_spam_flags
        result = flags.flags_and_unknown_token_positions(source, drop_spam=drop_spam, **options)
        return self._wrap_holdings(apply_flags(*result))

    totals: Final = delegate_chunked(lambda: sums.totals, lambda: chunked.chunked_totals)
    coverage: Final = delegate_chunked(lambda: sums.coverage, lambda: chunked.chunked_coverage)
    share: Final = delegate_chunked(lambda: distribution.share, lambda: chunked.chunked_share)
    concentration: Final = delegate_chunked(
        lambda: distribution.concentration, lambda: chunked.chunked_concentration
    )
    pivot: Final = delegate_chunked(lambda: distribution.pivot, lambda: chunked.chunked_pivot)
    explain_spam: Final = delegate_chunked(lambda: flags.explain_spam, lambda: flags.explain_spam)
    value: Final = Delegate(lambda: valuation.value, _add_value_columns)
    flag_spam: Final = Delegate(lambda: flags.flag_spam, _flag_or_drop_spam)
    without_spam: Final = Delegate(lambda: flags.without_spam, _flag_or_drop_spam)
