"""Charts as pictures, drawn by a browser on this machine, for pages without any script."""

from __future__ import annotations

import os
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walletframe.errors import MissingExtraError
from walletframe.settings import PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.reports.content import Chart, View

_WIDE, _NARROW, _SCALE = 960, 360, 2
_LEGEND_LINE = 19


def drawn_images(charts: Sequence[Chart]) -> list[list[str]]:
    """Draw each view of charts, offline, as a ``data:`` URL of a PNG."""
    if not charts:
        return []
    if find_spec("kaleido") is None:
        raise MissingExtraError("images", "drawing charts as pictures")
    import kaleido  # noqa: PLC0415 - an extra

    browser = _browser_class()
    found = browser.find_browser(skip_local=False)
    if not found or not Path(found).is_file():  # kaleido's thread would end, and be waited for
        raise MissingExtraError("images", "drawing charts as pictures, which takes a Chromium,")
    page = kaleido.PageGenerator(mathjax=False)  # else it is asked for on the web
    kaleido.start_sync_server(n=1, page_generator=page, browser_cls=browser, silence_warnings=True)
    try:
        return [[_image(view) for view in chart.views] for chart in charts]
    finally:
        kaleido.stop_sync_server(silence_warnings=True)


def _browser_class() -> Any:
    from choreographer.browsers.chromium import Chromium  # noqa: PLC0415 - comes with kaleido

    class Unknowing(Chromium):
        """A browser whose processes inherit none of walletframe's settings: one is the key."""

        def get_env(self) -> dict[str, str]:
            return {name: text for name, text in os.environ.items() if not _is_setting(name)}

    return Unknowing


def _is_setting(name: str) -> bool:
    return name.upper().startswith(PREFIX)  # Windows knows no case


def _image(view: View) -> str:
    from kaleido import calc_fig_sync  # noqa: PLC0415 - an extra

    figure, high = view.figure, view.figure.layout.height
    narrow = view.name == "narrow"
    if narrow and figure.layout.showlegend:
        high += _LEGEND_LINE * len(figure.data)
    size = {"width": _NARROW if narrow else _WIDE, "height": high, "scale": _SCALE}
    png: bytes = calc_fig_sync(figure, opts={"format": "png", **size})
    return f"data:image/png;base64,{b64encode(png).decode()}"
