"""Accessibility violations of a page, found by axe-core, which npm installs."""

import os
from pathlib import Path

import pytest

_AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_RUN = """async ([root, rules]) => {
    const { violations } = await axe.run(root, { runOnly: rules });
    return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}"""


def violations(page, root="main"):
    """Return the WCAG 2.2 AA violations in a part of a page."""
    if not _AXE.exists():
        missing = "no axe: npm install --prefix tests/page (.ci/run does it, and skips nothing)"
        if "WF_TEST_NO_SKIP" in os.environ:
            pytest.fail(missing)
        pytest.skip(missing)
    page.evaluate(_AXE.read_text())
    return page.evaluate(_RUN, [root, [*_RULES]])
