"""How Sphinx builds the site: `sphinx-build -W docs build/site`. Rule pages and references are generated first."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _generate import generate

import scenlint

project = "scenlint"
version = release = scenlint.__version__
copyright = "the scenlint authors, Apache License 2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
myst_heading_anchors = 3
# Examples show broken files too, and comments where JSON has none.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = "scenlint"
html_copy_source = False
html_show_sphinx = False


def list_the_rest(app, docname, source):
    """A page that the index does not name goes to the end of its last list, so that none is forgotten."""
    if docname == "index":
        pages = sorted(path.stem for path in Path(app.srcdir).glob("*.md") if path.stem != "index")
        rest = [page for page in pages if f"\n{page}\n" not in source[0]]
        head, fence, _ = source[0].rpartition("```")
        source[0] = head + "".join(f"{page}\n" for page in rest) + fence + "\n"


def setup(app):
    app.connect("builder-inited", lambda app: generate(Path(app.srcdir) / "generated"))
    app.connect("source-read", list_the_rest)
