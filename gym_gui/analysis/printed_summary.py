"""Defines a summary that prints as a table, and displays as HTML in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis.findings.summary import Summary


@dataclass(frozen=True)
class PrintedSummary(Summary):
    """Summary that prints as a table and displays as HTML in a notebook.

    Its attributes are those of :class:`~gym_gui.analysis.findings.summary.Summary`.
    """

    def __str__(self) -> str:
        """Return the table that ``mosaic report`` prints."""
        from gym_gui.analysis.terminal_report import text_of  # imports rich

        return text_of(self)

    def _repr_html_(self) -> str:
        from gym_gui.analysis.pages.notebook import notebook_html

        return notebook_html(self)
