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
