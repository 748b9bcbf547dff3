"""Button of a message about an unexpected error: opens the crash report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QDesktopServices

from gym_gui.processes.crash_reports import write_crash_report

if TYPE_CHECKING:
    from gym_gui.ui.widgets.message_panels import Action


def report_action(error: BaseException) -> Action | None:
    """Write a crash report, and return the button that opens it; ``None`` if no report was written."""
    file = write_crash_report(error)
    if file is None:
        return None
    return ("Show report", partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(file))))
