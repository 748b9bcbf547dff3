"""Sphinx builds the Markdown of this folder; every warning is an error (scripts/test.sh)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ROOT = Path(__file__).resolve().parent.parent
_VERSION = _ROOT / "gym_gui" / "version.py"

project = "MOSAIC"
author = "The MOSAIC developers"
release = re.findall(r'^__version__ = "(.+)"$', _VERSION.read_text(encoding="utf-8"), re.MULTILINE)[0]

sys.path.insert(0, str(_ROOT / "scripts" / "pages"))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "glossary_links"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_use_ivar = True
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "examples"]
html_static_path = ["static"]
html_css_files = ["pages.css"]
nitpicky = True
# Of what the API reference names, other packages have their own.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_show_copyright = False
html_title = f"MOSAIC {release}"
html_copy_source = False


def write_prompts(app: Sphinx) -> None:
    """Write the pages on prompts: of ``-D prompt_families=crafter,mpe2``, by default of all families."""
    named = [name for name in app.config.prompt_families.split(",") if name]
    command = [sys.executable, str(_ROOT / "scripts" / "pages" / "prompts.py"), *named]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_config_value("prompt_families", "", "", types=[str])
    app.connect("builder-inited", write_prompts)
