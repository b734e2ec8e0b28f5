"""Configuration of the documentation (Sphinx)."""

from importlib.metadata import version as installed_version

project = "lasthop"
author = "the lasthop authors"
version = release = installed_version("lasthop")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_design"]
exclude_patterns = ["_build", "generated/README.md"]
html_theme = "pydata_sphinx_theme"
html_title = "lasthop"
html_show_copyright = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False


def _examples_as_code(_app, _context, lines):
    """Examples in the help of commands, which click keeps as lines, become code."""
    text = []
    for line in lines:
        if line.startswith("| "):
            if not (text and text[-1].startswith("    ")):
                text += [".. code-block:: sh", ""]
            text.append("    " + line.removeprefix("| "))
        else:
            text.append(line)
    lines[:] = text


def setup(app):
    """Hooks."""
    app.connect("sphinx-click-process-description", _examples_as_code)
