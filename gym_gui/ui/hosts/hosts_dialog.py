"""A dialog that adds, changes, removes and checks the user's hosts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from gym_gui.core.errors import MosaicError
from gym_gui.services.submissions.hosts_file import HostsFile, inspect_host
from gym_gui.services.submissions.ssh.ssh_profile import Host, SshProfile, ssh_profile_of
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.icons import icon
from gym_gui.ui.widgets import (
    FormRows,
    InlineMessage,
    PrimaryButton,
    QuietButton,
    muted_label,
    title_label,
)
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row, row_layout
from gym_gui.ui.widgets.message_panels import MessageKind
from gym_gui.workers.discovery import known_workers

_ABOUT = (
    "Machines for operators and for mosaic run --executor ssh. ssh must reach them without a password, and "
    "they need this version of MOSAIC. Ports, keys and gateways belong in\u00a0~/\u2060.ssh/\u2060config."
)
_SETUP_LINES = 3
_LIST_WIDTH, _MARK = 230, 16


class HostsDialog(Dialog):
    """Shows the list of hosts, and a form for the selected host or a new one.

    Args:
        context: Runs background tasks.
        parent: The window.
    """

    changed = pyqtSignal()
    """Emitted after the hosts file was written."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__("hosts-dialog", "Hosts", parent, width=680)
        self._context = context
        self._profile: SshProfile | None = None
        self._message: InlineMessage | None = None
        self._messages: dict[str, tuple[MessageKind, str]] = {}
        """Kind and text of the last message about each host, by the host's name."""
        self._build()
        context.spawn(self._read(), "Reading the hosts")

    def _build(self) -> None:
        self._list = QListWidget(self)
        self._list.setObjectName("hosts-list")
        self._list.setAccessibleName("Hosts")
        self._list.setProperty("role", "field")
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setIconSize(QSize(_MARK, _MARK))
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.currentItemChanged.connect(self._on_selected)
        self._new = QuietButton("New host", icon_name="add", name="hosts-new", on_click=self._on_new)
        self._remove = QuietButton(
            "Remove", icon_name="remove", name="hosts-remove", on_click=self._on_remove
        )
        self._remove.setToolTip("Remove this host from the list; nothing changes on the machine")
        self._list_column = QWidget(self)
        self._list_column.setFixedWidth(_LIST_WIDTH)
        self._list_column.hide()  # shown once there are hosts; until then the form adds the first host
        left = column_layout(self._list_column)
        left.addWidget(self._list, 1)
        below = row_layout()
        below.addWidget(self._new, 1)
        below.addWidget(self._remove)
        left.addLayout(below)
        self._middle = row_layout(spacing=theme.PAGE)
        self._middle.addWidget(self._list_column)
        self._middle.addWidget(self._form(), 1)
        self._close = QuietButton("Close", name="hosts-close", on_click=self.accept)
        self._save = PrimaryButton("Save and check", name="hosts-save", on_click=self._on_save)
        self._save.setToolTip("Save the host, connect to it, and check which workers it has")
        self._column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        self._column.addWidget(title_label("Hosts"))
        self._column.addWidget(muted_label(_ABOUT, wrap=True))
        self._column.addLayout(self._middle, 1)
        self._column.addLayout(right_row(self._close, self._save))

    def _form(self) -> QWidget:
        form = FormRows(parent=self)
        self._host = form.add_row(
            "Host",
            _line("host-name", "such as me@two.example.org"),
            tooltip="Name or address, as for ssh",
        )
        self._mosaic = form.add_row(
            "Command", _line("host-mosaic", "mosaic"), tooltip="Command that starts MOSAIC on the host"
        )
        self._setup = form.add_row(
            "Setup",
            QPlainTextEdit(self),
            tooltip="Shell lines that run before the command, in the home directory on the host",
        )
        self._setup.setObjectName("host-setup")
        self._setup.setPlaceholderText("such as: . mosaic/.venv/bin/activate")
        self._setup.setTabChangesFocus(True)
        self._setup.setFixedHeight(_SETUP_LINES * self._setup.fontMetrics().lineSpacing() + 2 * theme.ROW)
        self._keys = form.add_row(
            "Keys file",
            _line("host-keys", "none"),
            tooltip="File on the host with API keys as lines NAME=VALUE, "
            "readable by its owner alone (chmod 600). "
            "MOSAIC sends no keys of this machine",
        )
        place = QWidget(self)
        column = column_layout(place, spacing=None)
        column.addWidget(form)
        column.addStretch(1)
        return place

    # -- selection -------------------------------------------------------------------

    async def _read(self, select: str = "") -> None:
        first = self._profile is None
        try:
            self._profile = await asyncio.to_thread(HostsFile().load)
        except MosaicError as error:
            self._show_message("error", error.sentence)
            for part in (self._save, self._new, self._remove):
                part.setEnabled(False)
            return
        blocked = self._list.blockSignals(True)
        self._list.clear()
        names = [host.name for host in self._profile.hosts]
        for name in names:
            self._list.addItem(QListWidgetItem(name))
            self._mark(name)
        self._list_column.setVisible(bool(names))
        if names:
            self._list.setCurrentRow(names.index(select) if select in names else 0)
        self._list.blockSignals(blocked)
        if names or not first:  # keep what the user has typed for the first host
            self._show_selected()

    @property
    def _selected(self) -> Host | None:
        item = self._list.currentItem()
        if item is None or self._profile is None:
            return None
        return next((host for host in self._profile.hosts if host.name == item.text()), None)

    def _show_selected(self) -> None:
        host = self._selected
        how = host.command if host is not None else None
        self._host.setText(host.name if host is not None else "")
        self._mosaic.setText(how.mosaic if how is not None and how.mosaic != "mosaic" else "")
        self._setup.setPlainText("\n".join(how.setup) if how is not None else "")
        self._keys.setText(how.keys if how is not None else "")
        self._remove.setEnabled(host is not None)
        if host is None:
            self._host.setFocus()

    def _on_selected(self, now: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        self._show_message(*self._messages.get(now.text() if now is not None else "", (None, "")))
        self._show_selected()

    def _on_new(self) -> None:
        self._list.setCurrentItem(None)
        self._show_message(None)
        self._show_selected()

    # -- actions on the selected host ------------------------------------------------

    def _on_save(self) -> None:
        self._begin(self._save_and_check())

    def _on_remove(self) -> None:
        host = self._selected
        if host is not None:
            self._begin(self._forget(host.name))

    def _begin(self, work: object) -> None:
        assert asyncio.iscoroutine(work)
        self.set_task(self._context.spawn(work, "Checking a host"))

    async def _forget(self, name: str) -> None:
        try:
            await asyncio.to_thread(HostsFile().remove, name)
        except MosaicError as error:
            self._show_message("error", error.sentence)
            return
        self._messages.pop(name, None)
        await self._read()
        self._show_message("info", f"{name} was removed.")
        self.changed.emit()

    async def _save_and_check(self) -> None:
        before = self._selected
        written: dict[str, object] = {
            "host": self._host.text().strip(),
            "mosaic": self._mosaic.text().strip() or "mosaic",
            "setup": [line for line in self._setup.toPlainText().splitlines() if line.strip()],
        }
        if keys := self._keys.text().strip():
            written["keys"] = keys
        try:
            (host,) = ssh_profile_of({"hosts": [written]}).hosts
            if before is not None:  # keep settings from the file that the form has no field for
                kept = replace(host.command, processes=before.command.processes)
                host = replace(before, name=host.name, command=kept)
            await asyncio.to_thread(HostsFile().put, host, before.name if before is not None else "")
            self._messages.pop(before.name if before is not None else "", None)
            await self._read(host.name)
            self.changed.emit()
        except MosaicError as error:
            self._show_message("error", error.sentence)
        else:
            await self._check_host(host)

    async def _check_host(self, host: Host) -> None:
        self._set_message(host.name, "info", f"Connecting to {host.name}…")
        try:
            known = [worker.type_id for worker in await asyncio.to_thread(known_workers)]
            config = self._profile.ssh_config if self._profile is not None else ""
            report = await inspect_host(host, config, known)
            self._set_message(host.name, "warning" if report.missing else "ok", report.sentence)
        except MosaicError as error:
            self._set_message(host.name, "error", error.sentence)
        except asyncio.CancelledError:  # the check of another host replaced this one
            self._messages.pop(host.name, None)
            raise

    def _set_message(self, name: str, kind: MessageKind, text: str) -> None:
        """Store a host's message, and show it while the host is selected."""
        self._messages[name] = kind, text
        self._mark(name)
        selected = self._list.currentItem()
        if selected is not None and selected.text() == name:
            self._show_message(kind, text)

    def _mark(self, name: str) -> None:
        kind, text = self._messages.get(name, ("info", "Not checked yet"))
        for item in self._list.findItems(name, Qt.MatchFlag.MatchExactly):
            item.setIcon(icon("circle", "muted") if kind == "info" else icon(kind, kind))
            item.setToolTip(text)
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, text)

    def _show_message(self, kind: MessageKind | None, text: str = "") -> None:
        if self._message is not None:
            self._message.hide()
            self._message.deleteLater()
            self._message = None
        if kind is not None:
            self._message = InlineMessage(kind, text, parent=self)
            self._column.insertWidget(self._column.count() - 1, self._message)


def _line(name: str, placeholder: str) -> QLineEdit:
    line = QLineEdit()
    line.setObjectName(name)
    line.setPlaceholderText(placeholder)
    return line
