"""Everything the window can be told to do, once: menus, shortcuts and the palette show the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QKeySequence

from gym_gui.core.errors import without_capital

COMMAND = "command"
"""Property of a menu's action: the id of the command that does the same."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do.

    Attributes:
        id: Unique, ``page.verb`` (``operators.run``).
        title: What menus and the palette say.
        run: Does it; called without arguments in the GUI thread.
        shortcut: As Qt writes it (``Ctrl+N``), or empty.
        menu: ``File``, ``View``, ``Run``, ``Help``, or empty for the palette alone.
        icon: Name in :mod:`gym_gui.ui.icons`.
        enabled: Asked when a menu or the palette opens.
        detail: Said beside it in the palette.
    """

    id: str
    title: str
    run: Callable[[], object]
    shortcut: str = ""
    menu: str = ""
    icon: str = ""
    enabled: Callable[[], bool] = _always
    detail: str = ""


class CommandRegistry(QObject):
    """The commands that are available now: the window's, and those of the page that is shown."""

    changed = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: dict[str, Command] = {}

    def add(self, *commands: Command) -> None:
        """Make commands available; one of the same id is replaced."""
        for command in commands:
            self._commands[command.id] = command
        if commands:
            self.changed.emit()

    def remove(self, ids: Iterable[str]) -> None:
        """Take commands away; unknown ids are passed over."""
        gone = [self._commands.pop(each, None) for each in ids]
        if any(gone):
            self.changed.emit()

    def get(self, command_id: str) -> Command | None:
        """A command by its id."""
        return self._commands.get(command_id)

    def all(self) -> tuple[Command, ...]:
        """All of them, in the order they were added."""
        return tuple(self._commands.values())

    def shortcut(self, command: Command) -> str:
        """The keys that run a command now; none where a later one (the page's) has taken them."""
        same = [each for each in self._commands.values() if each.shortcut == command.shortcut]
        return command.shortcut if same and same[-1] is command else ""

    def run(self, command_id: str) -> bool:
        """Do one; ``False`` where there is none or it is not enabled."""
        command = self._commands.get(command_id)
        if command is None or not command.enabled():
            return False
        command.run()
        return True


def entry(commands: CommandRegistry, command_id: str, menu: QObject, text: str = "") -> QAction:
    """A menu's action for a command, as the command stands now.

    Args:
        commands: Where it is registered.
        command_id: Which.
        menu: Qt owner.
        text: What the menu says, where its place says the rest; the command's title by default.
    """
    command = commands.get(command_id)
    action = QAction(text or (command.title if command is not None else command_id), menu)
    action.setProperty(COMMAND, command_id)
    if command is not None:
        action.setShortcut(QKeySequence(commands.shortcut(command)))
        # Seen in the menu; the window's own action has the keys, and two would be ambiguous.
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.setEnabled(command is not None and command.enabled())
    action.triggered.connect(lambda _checked=False: commands.run(command_id))
    return action


def commands_of(
    actions: Iterable[QAction],
    prefix: str,
    heading: str,
    can: Callable[[QAction], bool] = QAction.isEnabled,
) -> list[Command]:
    """Commands that do what a menu's own actions do, so that these are found by their names, too.

    Args:
        actions: A menu's; separators are passed over.
        prefix: Of the ids.
        heading: Put before what the menu says.
        can: Whether an action can be done now.
    """
    result: list[Command] = []
    for action in actions:
        if action.isSeparator():
            continue
        command_id = f"{prefix}.{action.objectName()}"
        action.setProperty(COMMAND, command_id)
        title = f"{heading}{without_capital(action.text())}" if heading else action.text()
        result.append(Command(command_id, title, action.trigger, enabled=partial(can, action)))
    return result
