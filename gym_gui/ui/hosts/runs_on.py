"""The choice of the machine on which an operator runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.core import paths
from gym_gui.core.errors import UsageError
from gym_gui.ui.widgets.combo_box import SteadyComboBox

if TYPE_CHECKING:
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.hosts.hosts_dialog import HostsDialog

_HERE: Final = "This machine"
_HOSTS: Final = "Hosts…"


def open_hosts(context: AppContext, parent: QWidget | None) -> HostsDialog:
    """Open the dialog with the user's hosts, and return the dialog."""
    from gym_gui.ui.hosts.hosts_dialog import HostsDialog

    dialog = HostsDialog(context, parent)
    dialog.open()
    return dialog


class RunsOn(SteadyComboBox):
    """Drop-down list with this machine, the user's hosts, and an entry that opens the hosts dialog.

    Args:
        context: Runs background tasks.
        parent: Qt owner.
    """

    host_chosen = pyqtSignal(str)
    """Emits the name of the chosen host, or ``""`` for this machine."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-host")
        self._context = context
        self._host, self._names = "", tuple[str, ...]()
        self.activated.connect(self._on_activated)
        self._fill()

    def set_host(self, host: str) -> None:
        """Show an operator's host, and read the list of hosts again.

        Args:
          host: Name of the host; empty for this machine.
        """
        self._host = host
        self._fill()
        self._read()

    def _read(self) -> None:
        if not self._names and not paths.hosts_file().exists():
            return  # a user without hosts does not import the host modules
        self._context.spawn(self._show_names(), "Reading the hosts")

    async def _show_names(self) -> None:
        names = tuple(await asyncio.to_thread(_host_names))
        if names != self._names:
            self._names = names
            self._fill()

    def _fill(self) -> None:
        self.clear()
        self.addItem(_HERE, "")
        unknown = () if self._host in ("", *self._names) else (self._host,)
        for name in (*self._names, *unknown):
            self.addItem(name, name)
        self.addItem(_HOSTS, None)
        self._show_host()

    def _show_host(self) -> None:
        self.setCurrentIndex(max(self.findData(self._host), 0))

    def _on_activated(self, index: int) -> None:
        host = self.itemData(index)
        if host is None:
            self._show_host()
            self._open_hosts()
        elif host != self._host:
            self._host = str(host)
            self.host_chosen.emit(self._host)

    def _open_hosts(self) -> None:
        dialog = open_hosts(self._context, self.window())
        dialog.changed.connect(self._read)


def _host_names() -> Sequence[str]:
    from gym_gui.services.submissions.hosts_file import HostsFile

    try:
        return [host.name for host in HostsFile().load().hosts]
    except UsageError:  # the hosts dialog shows this error
        return ()
