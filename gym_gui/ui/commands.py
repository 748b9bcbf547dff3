"""Commands of the window, declared once for menus, shortcuts and the palette."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QKeySequence

from gym_gui.core.errors import without_capital

COMMAND = "command"
"""Property of a menu action that holds the id of its command."""


def _enabled() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """An action of the window, for menus, shortcuts and the palette.

    Attributes:
        id: Unique id, ``page.verb``, such as ``operators.run``.
        title: Text in menus and the palette.
        run: Function that runs the command, without arguments, in the GUI thread.
        shortcut: Shortcut as Qt writes it, such as ``Ctrl+N``; empty for none.
        menu: Menu of the command: ``File``, ``View``, ``Run``, ``Help``; empty for the palette alone.
        icon: Name of an icon in :mod:`gym_gui.ui.icons`.
        enabled: Returns whether the command can run; called when a menu or the palette opens.
        detail: Additional text in the palette.
    """

    id: str
    title: str
    run: Callable[[], object]
    shortcut: str = ""
    menu: str = ""
    icon: str = ""
    enabled: Callable[[], bool] = _enabled
    detail: str = ""


class CommandRegistry(QObject):
    """Registry of the available commands: those of the window and of the shown page."""

    changed = pyqtSignal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: dict[str, Command] = {}

    def add(self, *commands: Command) -> None:
        """Add commands; a command replaces one with the same id."""
        for command in commands:
            self._commands[command.id] = command
        if commands:
            self.changed.emit()

    def remove(self, ids: Iterable[str]) -> None:
        """Remove commands by their ids; unknown ids are ignored."""
        gone = [self._commands.pop(each, None) for each in ids]
        if any(gone):
            self.changed.emit()

    def get(self, command_id: str) -> Command | None:
        """Return a command by its id, or ``None``."""
        return self._commands.get(command_id)

    def all(self) -> tuple[Command, ...]:
        """Return all commands, in the order in which they were added."""
        return tuple(self._commands.values())

    def shortcut(self, command: Command) -> str:
        """Return the shortcut that runs a command now; ``""`` if a later command has the same shortcut."""
        same = [each for each in self._commands.values() if each.shortcut == command.shortcut]
        return command.shortcut if same and same[-1] is command else ""

    def run(self, command_id: str) -> bool:
        """Run a command; return ``False`` if it does not exist or is disabled."""
        command = self._commands.get(command_id)
        if command is None or not command.enabled():
            return False
        command.run()
        return True


def entry(commands: CommandRegistry, command_id: str, menu: QObject, text: str = "") -> QAction:
    """Return a menu action that runs a command, with the command's current state.

    Args:
        commands: Registry that has the command.
        command_id: Id of the command.
        menu: Qt owner.
        text: Text in the menu; empty for the command's title.
    """
    command = commands.get(command_id)
    action = QAction(text or (command.title if command is not None else command_id), menu)
    action.setProperty(COMMAND, command_id)
    if command is not None:
        action.setShortcut(QKeySequence(commands.shortcut(command)))
        # The menu only displays the shortcut, which the window's own action handles; two would be ambiguous.
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
    """Return commands that trigger the actions of a menu, so that the palette finds them by name.

    Args:
        actions: Actions of a menu; separators are skipped.
        prefix: Prefix of the commands' ids.
        heading: Text in front of each action's text.
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
