"""The third-party base classes of the widgets. Their type hints are in ``base.pyi``."""

from anywidget import AnyWidget
from ipywidgets import ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple

__all__ = ["AnyWidget", "TypedTuple", "ValueWidget"]
