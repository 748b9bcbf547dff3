"""Commands of the window, defined once for menus, shortcuts and the palette."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QKeySequence

from gym_gui.core.errors import without_capital

COMMAND = "command"
"""Property of a menu's action: the id of the command that it runs."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        id: Unique, ``page.verb`` (``operators.run``).
        title: Text in menus and the palette.
        run: Function that runs the command, without arguments, in the GUI thread.
        shortcut: Keys as Qt writes them (``Ctrl+N``), or empty.
        menu: ``File``, ``View``, ``Run``, ``Help``, or empty for the palette alone.
        icon: Name in :mod:`gym_gui.ui.icons`.
        enabled: Returns whether the command can run; called when a menu or the palette opens.
        detail: Additional text in the palette.
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
    """The commands available now: the window's, and those of the page that is shown."""

    changed = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: dict[str, Command] = {}

    def add(self, *commands: Command) -> None:
        """Add commands; one with the same id is replaced."""
        for command in commands:
            self._commands[command.id] = command
        if commands:
            self.changed.emit()

    def remove(self, ids: Iterable[str]) -> None:
        """Remove commands; unknown ids are ignored."""
        gone = [self._commands.pop(each, None) for each in ids]
        if any(gone):
            self.changed.emit()

    def get(self, command_id: str) -> Command | None:
        """Return a command by its id; ``None`` if there is none."""
        return self._commands.get(command_id)

    def all(self) -> tuple[Command, ...]:
        """Return all commands, in the order they were added."""
        return tuple(self._commands.values())

    def shortcut(self, command: Command) -> str:
        """Return the keys that run a command now; ``""`` if a later command (the page's) uses them."""
        same = [each for each in self._commands.values() if each.shortcut == command.shortcut]
        return command.shortcut if same and same[-1] is command else ""

    def run(self, command_id: str) -> bool:
        """Run a command; return ``False`` if it does not exist or is not enabled."""
        command = self._commands.get(command_id)
        if command is None or not command.enabled():
            return False
        command.run()
        return True


def entry(commands: CommandRegistry, command_id: str, menu: QObject, text: str = "") -> QAction:
    """Return a menu action for a command in its current state.

    Args:
        commands: Registry of the command.
        command_id: Id of the command.
        menu: Qt owner.
        text: Text in the menu, if it can be shorter than the command's title.
    """
    command = commands.get(command_id)
    action = QAction(text or (command.title if command is not None else command_id), menu)
    action.setProperty(COMMAND, command_id)
    if command is not None:
        action.setShortcut(QKeySequence(commands.shortcut(command)))
        # The menu only shows the keys: the window's own action has them, and two would be ambiguous.
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
    """Return commands that trigger a menu's actions, so that the palette finds the actions by name.

    Args:
        actions: Actions of a menu; separators are skipped.
        prefix: Prefix of the ids.
        heading: Text before an action's own text.
        can: Returns whether an action can be triggered now.
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
