"""The third-party base classes of the widgets. The stub file ``base.pyi`` adds type hints."""

from anywidget import AnyWidget
from ipywidgets import ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple

__all__ = ["AnyWidget", "TypedTuple", "ValueWidget"]
