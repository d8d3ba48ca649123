"""Methods made from functions. A method passes the data of its accessor to the function."""

from __future__ import annotations

import inspect
import re
from functools import cache, cached_property, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from walletframe.errors import ArgumentError
from walletframe.tracebacks import strip_address_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


class LazyPackage:
    """A package of walletframe that is imported when one of its attributes is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(f"walletframe.{self._name}"), name)


class Delegate(Generic[P, R]):
    """A method that loads a function when used, and returns ``call(accessor, function, …)``."""

    def __init__(
        self, load: Callable[[], Callable[Concatenate[Any, P], Any]], call: Callable[..., R]
    ) -> None:
        self._load, self._call = load, call

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    @overload
    def __get__(self, accessor: None, owner: type) -> Callable[Concatenate[Any, P], R]: ...

    @overload
    def __get__(self, accessor: object, owner: type) -> Callable[P, R]: ...

    def __get__(self, accessor: object, owner: type) -> Any:
        return self._method if accessor is None else self._method.__get__(accessor)

    @cached_property
    def _method(self) -> Any:
        function, call = self._load(), self._call
        signature = signature_of(function)
        data, *others = signature.parameters.values()

        @wraps(function, updated=())  # if `function` is a class, don't copy its attributes
        def method(accessor: Any, /, *args: Any, **kwargs: Any) -> Any:
            try:
                signature.bind(None, *args, **kwargs)
            except TypeError as error:
                hint = f"the arguments are {', '.join(each.name for each in others)}"
                raise ArgumentError(f"{self._name}: {error}", hint) from None
            return call(accessor, function, *args, **kwargs)

        wrapped: Any = strip_address_tracebacks(method)
        wrapped.__module__, wrapped.__name__ = self._owner.__module__, self._name
        wrapped.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        self_parameter = data.replace(name="self", annotation=inspect.Parameter.empty)
        wrapped.__signature__ = inspect.Signature([self_parameter, *others])
        entry = rf"(?m)^( *){data.name} : .*\n(?:\1    .*\n)+"  # the accessor passes this argument
        wrapped.__doc__ = re.sub(entry, "", function.__doc__ or "")
        return wrapped


signature_of: Callable[[Callable[..., Any]], inspect.Signature] = cache(inspect.signature)


def call_with_data(accessor: Any, function: Callable[..., R], /, *args: Any, **kwargs: Any) -> R:
    """Call a function with the accessor's data and, by default, with the accessor's wallets."""
    wallets = signature_of(function).parameters.get("wallets")
    if wallets and wallets.kind is inspect.Parameter.KEYWORD_ONLY:
        kwargs["wallets"] = accessor._wallets_or_own(kwargs.get("wallets"))  # noqa: SLF001 - internal to this package
    return function(accessor._data, *args, **kwargs)  # noqa: SLF001 - internal to this package


def delegate(load: Callable[[], Callable[Concatenate[Any, P], R]]) -> Delegate[P, R]:
    """Return a method that passes its accessor's data to the function that `load` returns."""
    return Delegate(load, call_with_data)
