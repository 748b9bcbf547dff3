"""Escapes and shortens run data for HTML and SVG."""

from __future__ import annotations

from html import escape

from gym_gui.analysis.words.report_text import clean


def safe(text: str) -> str:
    """Escape run data for HTML: it contains no markup and cannot reverse the text direction."""
    return escape(clean(text))


def shorten(text: str, length: int) -> str:
    """Shorten a text to at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
