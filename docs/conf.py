"""How the site is built: ``python tools/build_site.py``.

The source folder is the root of the repository, not this one, so that guides, README, CONTRIBUTING
and the README of every package are pages of one site and link to each other by the same relative
paths that work on disk.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "Anonloom"
author = "Anonloom contributors"
copyright = "Anonloom contributors, Apache License 2.0"  # Sphinx's own name
release = (ROOT / "VERSION").read_text(encoding="utf-8").strip()

root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/reference/*.md",
    "docs/tutorial/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "benchmarks/README.md",
    "core/README.md",
    "docs/tutorial/*/README.md",
    "examples/README.md",
    "examples/hierarchies/README.md",
    "libs/*/*.md",
    "papers/*/README.md",
    "plugins/*/*/*.md",
]
exclude_patterns = ["**/.venv*", "**/node_modules"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
napoleon_google_docstring = False
# The facade looks its names up when they are used; autodoc asks for each of `__all__`.
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "Anonloom"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#5fd3a6", "color-brand-content": "#5fd3a6"},
}
html_static_path: list[str] = []
# No font, script or picture from anywhere else; pages can be read without a network.
html_copy_source = False
html_show_sphinx = False

# Examples that are shown as text (YAML with a placeholder, console output) are not all valid in
# their language; they are shown plainly then, which is not worth a failed build.
suppress_warnings = ["misc.highlighting_failure"]
