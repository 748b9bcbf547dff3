"""Sphinx builds the Markdown of this folder; every warning is an error (scripts/test.sh)."""

from __future__ import annotations

import re
from pathlib import Path

_VERSION = Path(__file__).resolve().parent.parent / "gym_gui" / "version.py"

project = "MOSAIC"
author = "The MOSAIC developers"
release = re.findall(r'^__version__ = "(.+)"$', _VERSION.read_text(encoding="utf-8"), re.MULTILINE)[0]

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "examples"]
html_static_path = ["static"]
html_css_files = ["pages.css"]
nitpicky = True

html_theme = "furo"
html_show_copyright = False
html_title = f"MOSAIC {release}"
html_copy_source = False
