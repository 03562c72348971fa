"""How Sphinx makes the site of these pages: `python -m sphinx -W -b html docs docs/_build`.

The pages are plain Markdown that is read on a code host as well, so they hold no directives: the
site's table of contents is made of the tables of index.md, one part for each of its headings, and
blocks that are files are captioned with their titles.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import exactref

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pytest-exactref"
author = "the authors of pytest-exactref"
version = release = exactref.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build", "_static", "examples", "pictures"]
myst_heading_anchors = 3
# A link to a heading that is not there is a warning, and so an error.
nitpicky = True

html_theme = "furo"
html_title = f"pytest-exactref {release}"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
highlight_language = "none"

PART = re.compile(r"^## (?P<caption>.+)\n(?P<body>(?:(?!## ).*\n)*)", re.M)
ROW = re.compile(r"^\| \[(?P<title>[^]]+)\]\((?P<page>[\w/-]+)\.md\) \|", re.M)

FILE = re.compile(r"^```(?P<language>\w+) title=(?P<file>\S+)$", re.M)


def contents(index: str) -> str:
    """A hidden table of contents of the pages that the tables of ``index`` name."""
    parts = []
    for part in PART.finditer(index):
        pages = "".join(f"{row['title']} <{row['page']}>\n" for row in ROW.finditer(part["body"]))
        if pages:
            parts.append(f"```{{toctree}}\n:hidden:\n:caption: {part['caption']}\n\n{pages}```\n")
    return "\n".join(parts)


def captioned(page: str) -> str:
    """A page whose blocks ``title=FILE`` are named by their files."""
    return FILE.sub(r"```{code-block} \g<language>\n:caption: \g<file>\n", page)


def setup(app: Sphinx) -> None:
    """When Sphinx reads a page, give the index its table of contents, and files their names."""

    def read(app: Sphinx, name: str, source: list[str]) -> None:
        source[0] = captioned(source[0])
        if name == "index":
            source[0] += "\n" + contents(source[0])

    app.connect("source-read", read)
