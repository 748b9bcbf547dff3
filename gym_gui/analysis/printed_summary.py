"""A summary that shows itself: as a table where it is printed, as a page in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from gym_gui.analysis.findings.summary import Summary


@dataclass(frozen=True)
class PrintedSummary(Summary):
    """See the module; what it holds is documented with
    :class:`~gym_gui.analysis.findings.summary.Summary`."""

    def __str__(self) -> str:
        """The table that ``mosaic report`` prints."""
        from gym_gui.analysis.terminal_report import text_of  # rich: not before something is printed

        return text_of(self)

    def _repr_html_(self) -> str:
        from gym_gui.analysis.pages.notebook import notebook_html

        return notebook_html(self)
