"""Configuration of Sphinx for ``hatch run docs`` and ``.ci/docs``; it requests no other host."""

import atexit
import os
import sys
from pathlib import Path
from shutil import copy2, rmtree
from tempfile import mkdtemp

import plotly
from nbclient import NotebookClient
from sphinx.application import Sphinx

import walletframe
from walletframe import bulk, history
from walletframe.amounts.arrow import AmountType
from walletframe.amounts.scalar import Amount
from walletframe.service import ledger
from walletframe.transport import store

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "ext"))

project = "walletframe"
author = "The walletframe developers"
version = release = walletframe.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_click",
    "definitions",
    "charts",
]
exclude_patterns = ["_build", "ext"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(decimal|pandas)\..*"),  # documented on hosts that are not requested
    ("py:obj", r"[a-z_]+"),  # in docstrings: parameters, which share names with modules
]
default_role = "autolink"  # in docstrings, `name` links to the name if it is documented

autodoc_typehints = "none"  # the docstrings describe the types
autodoc_member_order = "alphabetical"
_PUBLIC = [Amount]
_PUBLIC += [
    getattr(each, name) for each in (walletframe, walletframe.errors) for name in each.__all__
]
_BASES = {base for each in _PUBLIC if isinstance(each, type) for base in each.__mro__}
_FOREIGN = {base.__name__ for base in _BASES if not base.__module__.startswith("walletframe.")}
# Members that are inherited from these classes of other libraries are not listed.
autodoc_default_options = {"inherited-members": ",".join(sorted(_FOREIGN))}
autosummary_ignore_module_all = False
numpydoc_show_class_members = False  # the templates list the members
numpydoc_xref_param_type = False

myst_enable_extensions = ["substitution"]
myst_substitutions = {
    "amount_type": AmountType().extension_name,
    "cache_format": store.SCHEMA_VERSION,
    "folder_format": bulk.files.FORMAT,
    "history_format": history.folder.FORMAT,
    "sandbox_version": ledger.GENERATOR_VERSION,
}
myst_heading_anchors = 3

# Each build runs the notebooks against the sandbox, with folders that only this build uses.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds per cell, since the machine may be busy
NotebookClient.startup_timeout.default_value = nb_execution_timeout
nb_ipywidgets_js = {}  # the default scripts would be loaded from other hosts
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
nb_merge_streams = True
nb_render_markdown_format = "gfm"

html_theme = "pydata_sphinx_theme"
html_title = "walletframe"
html_static_path = ["_static", str(Path(plotly.__file__).parent / "package_data/plotly.min.js")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "navbar_persistent": ["search-button"],
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
}


def setup(_app: Sphinx) -> None:
    """Copy the notebooks into the site, and create folders for their kernels."""
    rmtree(HERE / "reference" / "api", ignore_errors=True)  # autosummary leaves old pages there
    notebooks = HERE.parent / "notebooks"
    for each in [*notebooks.glob("*.ipynb"), *notebooks.glob("*.csv")]:
        copy2(each, HERE / "tutorials")
    folder = Path(mkdtemp(prefix="walletframe-site-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    copy2(HERE / "ext" / "startup.py", startup)
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = str(folder)
