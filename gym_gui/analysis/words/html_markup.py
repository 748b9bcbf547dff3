"""Escapes and shortens text from run data for HTML and SVG."""

from __future__ import annotations

from html import escape

from gym_gui.analysis.words.report_text import clean


def safe(text: str) -> str:
    """Return run data as HTML text without markup and without characters that change the text direction."""
    return escape(clean(text))


def shorten(text: str, length: int) -> str:
    """Return a text with at most ``length`` characters, ending in an ellipsis if it was shortened."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
