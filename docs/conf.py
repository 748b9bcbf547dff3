"""Sphinx builds the Markdown of this folder; every warning is an error (scripts/test.sh)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ROOT = Path(__file__).resolve().parent.parent
_SCRIPTS = _ROOT / "scripts" / "pages"
_VERSION = _ROOT / "gym_gui" / "version.py"

project = "MOSAIC"
author = "The MOSAIC developers"
release = re.findall(r'^__version__ = "(.+)"$', _VERSION.read_text(encoding="utf-8"), re.MULTILINE)[0]

sys.path.insert(0, str(_SCRIPTS))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "glossary_links"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_use_ivar = True
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Pages include these parts; the pages on prompts are written whole.
exclude_patterns = ["_build", "examples", "_written/families", "_written/balrog_texts.md"]
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_js_files = ["versions.js"]
nitpicky = True
# Of what the API reference names, other packages have their own.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_show_copyright = False
html_title = f"MOSAIC {release}"
html_copy_source = False


def write_pages(app: Sphinx) -> None:
    """Write what scripts contribute to pages, into ``_written``.

    The pages on prompts are those of ``-D prompt_families=crafter,mpe2``, by default of all families.
    """
    named = [name for name in app.config.prompt_families.split(",") if name]
    commands = (("family_pages",), ("balrog_texts",), ("release_pages",), ("prompts", *named))
    # All import the same packages first: side by side, the build waits for the longest alone.
    begun = [
        subprocess.Popen([sys.executable, str(_SCRIPTS / f"{name}.py"), *rest], stdout=subprocess.DEVNULL)
        for name, *rest in commands
    ]
    failed = [each.args for each in begun if each.wait()]
    if failed:
        raise ExtensionError(f"These commands failed, with the errors above: {failed}")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_config_value("prompt_families", "", "", types=[str])
    app.connect("builder-inited", write_pages)
