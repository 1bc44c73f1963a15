"""Sphinx: Markdown pages in four drawers; the rule pages and the command reference are made from the program itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from rule_pages import write_rule_pages

project = "mindferry"
copyright = "the mindferry developers"
extensions = ["myst_parser", "sphinx_click"]
html_theme = "furo"
html_title = "mindferry"
exclude_patterns = ["_*"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # notebook magics and diffs inside other blocks


def setup(app):
    app.connect("builder-inited", lambda app: write_rule_pages(Path(app.srcdir) / "reference" / "rules"))
