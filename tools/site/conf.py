# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the site; make.py runs Sphinx."""
import os

from sphinx.addnodes import desc_name
from sphinx.domains.c import CDomain, CObject

project = "LightNet"
copyright = "the authors of LightNet"  # noqa: A001: Sphinx's name
version = release = os.environ.get("LIGHTNET_VERSION", "")
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
primary_domain = None
default_role = None
highlight_language = "text"
smartquotes = False
nitpicky = False
toc_object_entries_show_parents = "hide"
suppress_warnings = ["misc.highlighting_failure"]  # code of pages that a lexer does not know in full
myst_heading_anchors = 6
myst_enable_extensions = []

html_theme = "furo"
html_title = "LightNet"
html_short_title = "LightNet"
html_static_path = ["static", os.environ["LIGHTNET_STATIC"]]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static", "scorer.js")
html_copy_source = False
html_show_search_summary = False  # by requests, which files may not make; site.js shows the places
html_show_sphinx = False
html_show_copyright = True
html_last_updated_fmt = None
html_domain_indices = True
html_use_index = True
pygments_style = "friendly"
pygments_dark_style = "one-dark"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2558a8", "color-brand-content": "#2558a8",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif",
        "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#7fb2f5", "color-brand-content": "#7fb2f5"},
    "footer_icons": [],
}


# Text without prompts and output, from blocks of commands.
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "EOF"


class CWithoutParameters(CDomain):
    """The C domain of Sphinx, but a search does not find parameters of functions."""

    def get_objects(self):
        return (entry for entry in super().get_objects() if entry[2] != "functionParam")


def entry_parts(_, node):
    """The name of an entry of C, for the contents of its page: Sphinx has none for C."""
    return tuple(name.astext() for name in list(node.findall(desc_name))[:1])


def entry_name(self, node):
    """Constants of an enum are too many."""
    return "".join(entry_parts(self, node)) if self.objtype != "enumerator" else ""


def setup(app):
    CObject._object_hierarchy_parts, CObject._toc_entry_name = entry_parts, entry_name
    app.add_domain(CWithoutParameters, override=True)
