"""The register of surfaces: each has a name, and a function that returns its content."""

from functools import partial

SURFACES = {}


def surface(look):
    """Register a function by its module and its docstring."""
    _add(_name(look), look)
    return look


def surfaces(variants):
    """Register a function once for each variant, which it gets as its second argument."""

    def register(look):
        for variant in variants:
            _add(f"{_name(look)}: {variant}", partial(look, variant=variant))
        return look

    return register


def _add(name, look):
    if name in SURFACES:
        raise ValueError(name)
    SURFACES[name] = look


def _name(look):
    text = look.__doc__.splitlines()[0].rstrip(".")
    return f"{look.__module__.removeprefix('leaks_in_')}: {text}"
