"""The third-party base classes of the widgets; ``base.pyi`` adds the types that they lack."""

from anywidget import AnyWidget
from ipywidgets import ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple

__all__ = ["AnyWidget", "TypedTuple", "ValueWidget"]
