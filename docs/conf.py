"""Configuration of the documentation (Sphinx)."""

from importlib.metadata import version as installed_version

from latex2mathml.converter import convert

project = "lasthop"
author = "the lasthop authors"
version = release = installed_version("lasthop")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_design"]
# What pages include is no page of its own.
exclude_patterns = ["_build", "generated", "snapshots", "studies/does-not-follow"]
html_theme = "pydata_sphinx_theme"
html_title = "lasthop"
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static", "generated/static"]
html_css_files = ["lasthop.css"]
html_sidebars = {"index": [], "**": ["globaltoc.html"]}
html_theme_options = {"navbar_center": [], "show_prev_next": True}
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Notebooks are run when the site is built; a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False
# `--full` is an option, not a dash.
smartquotes = False
# The members of a class are found on its page.
toc_object_entries = False


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


def _formula(display):
    """Writes a formula as MathML, which browsers show without a script and without a network."""
    from docutils.nodes import SkipNode

    def visit(writer, node):
        writer.body.append(convert(node.astext(), display=display))
        raise SkipNode

    return visit


def setup(app):
    """Hooks."""
    app.connect("sphinx-click-process-description", _examples_as_code)
    app.add_html_math_renderer("mathml", (_formula("inline"), None), (_formula("block"), None))
