"""Run data in HTML and SVG."""

from __future__ import annotations

from html import escape

from gym_gui.analysis.words.report_text import clean


def safe(text: str) -> str:
    """Run data for HTML: nothing in it is markup, nothing turns the text around."""
    return escape(clean(text))


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
