"""The classes of others that ours are made of; ``base.pyi`` has their types, which they lack."""

from anywidget import AnyWidget
from ipywidgets import ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple

__all__ = ["AnyWidget", "TypedTuple", "ValueWidget"]
