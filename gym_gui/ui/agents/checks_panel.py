"""The panel that shows the findings of a configuration's checks as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QWidget

from gym_gui.controllers.setup.check_message import ConfigurationMessage, Level
from gym_gui.controllers.setup.installing import Installable, missing_in
from gym_gui.ui import theme
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.widgets import Card, LinkButton
from gym_gui.ui.widgets.layouts import column_layout, empty, row_layout
from gym_gui.ui.widgets.message_panels import Action, IconLabel

_TOKENS = {Level.ERROR: "error", Level.WARNING: "warning", Level.OK: "ok", Level.NOTE: "muted"}
_ICONS = {Level.ERROR: "error", Level.WARNING: "warning", Level.OK: "ok", Level.NOTE: "info"}
"""Icon of each finding level: icons differ in shape, not only in color."""
_WORDS = {Level.ERROR: "Error", Level.WARNING: "Warning", Level.OK: "Passed", Level.NOTE: "Note"}
_USUAL_WIDTH = 600
LinkOf = Callable[[str], Action | None]
MOST = 8
"""Largest number of findings that are shown; the panel only counts further ones."""


_WIDEST = 1100
"""Largest width of a line, in pixels, so that a link stays near its sentence."""


class ChecksPanel(Card):
    """Shows the findings of a configuration's checks, one per line, errors first.

    Args:
        model: The edited configuration.
        link_of: Returns a link to the line of a file that an error names, or ``None``.
        parent: Qt owner.
    """

    install_asked = pyqtSignal(object)
    """Emits the missing environments or the missing worker that the user wants to install."""

    def __init__(self, model: ConfigurationModel, link_of: LinkOf, parent: QWidget | None = None) -> None:
        super().__init__("Checks", margin=theme.PAGE, parent=parent)
        self.setObjectName("checks_panel")
        self.setAccessibleName("Checks")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._model, self._link_of = model, link_of
        self._shown: tuple[ConfigurationMessage, ...] | None = None
        self._cancel = LinkButton("Cancel", name="cancel_looking", on_click=model.cancel_requests)
        self._cancel.setToolTip("Stop reading this environment")
        self.add_to_heading(self._cancel)
        self._lines = column_layout()
        self.body.addLayout(self._lines)
        model.report_changed.connect(self._refresh)
        model.looking_changed.connect(self._refresh)
        self._refresh()

    @property
    def sentences(self) -> list[str]:
        """Texts of the findings that the panel shows."""
        return [finding.text for finding in self._shown or ()]

    def _refresh(self, *_: object) -> None:
        looking = self._model.is_reading
        self._cancel.setVisible(looking)
        if looking:
            findings: tuple[ConfigurationMessage, ...] = (
                ConfigurationMessage(
                    Level.NOTE, f"Reading {self._model.draft.task}… The first time takes a while"
                ),
            )
        elif self._model.report is None and not self._model.trouble:
            findings = (ConfigurationMessage(Level.NOTE, "Choose an environment to check the configuration"),)
        else:
            findings = self._model.findings
        if findings != self._shown:
            self._shown = findings
            self._show(findings)

    def _show(self, findings: Sequence[ConfigurationMessage]) -> None:
        empty(self._lines)
        for finding in findings[:MOST]:
            line = _line(finding)
            line.setMaximumWidth(_WIDEST)
            link = self._link_of(finding.text) if finding.level is Level.ERROR else None
            if link is not None:
                _add_link(line, *link)
            missing = [Installable("workers", worker) for worker in finding.workers]
            if not missing and (named := missing_in(finding.text)) is not None:
                missing = [named]
            if missing:
                self._add_install(line, missing)
            self._lines.addWidget(line)
        more = len(findings) - MOST
        if more > 0:
            self._lines.addWidget(_line(ConfigurationMessage(Level.NOTE, f"and {more} more")))

    def _add_install(self, line: QWidget, missing: Sequence[Installable]) -> None:
        """Add a link that installs the packages that a finding names, with a menu if there are several."""
        button = LinkButton("Install…", name="finding_install")
        button.setToolTip("Install the missing package")
        if len(missing) == 1:
            button.clicked.connect(partial(self.install_asked.emit, missing[0]))
        else:
            menu = QMenu(button)
            menu.setObjectName("finding_install_menu")
            for each in missing:
                menu.addAction(f"{each.title}…", partial(self.install_asked.emit, each))
            button.setMenu(menu)
        row = line.layout()
        assert isinstance(row, QHBoxLayout)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)


def _add_link(line: QWidget, words: str, on_click: Callable[[], object]) -> None:
    """Add a link to the file and line that a finding names."""
    row = line.layout()
    assert isinstance(row, QHBoxLayout)
    row.addWidget(LinkButton(words, name="finding_place", on_click=on_click), 0, Qt.AlignmentFlag.AlignTop)


class _Sentence(QLabel):
    """Label that wraps its text and requests the height for its current width.

    A plain label requests the height for a very small width, which would make a page scroll without need.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(_USUAL_WIDTH, self.heightForWidth(self._text_width()))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(self._text_width()))

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        if a0 is not None and a0.oldSize().width() != a0.size().width():
            self.updateGeometry()

    def _text_width(self) -> int:
        return self.width() if self.testAttribute(Qt.WidgetAttribute.WA_Resized) else _USUAL_WIDTH


def _line(finding: ConfigurationMessage) -> QWidget:
    line = QWidget()
    line.setObjectName(f"finding_{finding.level}")
    line.setAccessibleName(f"{_WORDS[finding.level]}: {finding.text}")
    row = row_layout(line, spacing=6)
    dot = IconLabel(_ICONS[finding.level], _TOKENS[finding.level], 14)
    dot.setAccessibleName(_WORDS[finding.level])
    dot.setToolTip(_WORDS[finding.level])
    text = _Sentence(finding.text)
    text.setProperty("role", "muted" if finding.level is Level.NOTE else "")
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    # Align the icon with the first line, however many lines follow.
    marked = column_layout(margin=(0, 2, 0, 0), spacing=None)
    marked.addWidget(dot)
    marked.addStretch(1)
    row.addLayout(marked)
    row.addWidget(text, 1)
    return line
