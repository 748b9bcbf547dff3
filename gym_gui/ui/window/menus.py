"""The menus, made from the registered commands; hidden until Alt is pressed, unless a setting shows them."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtGui import QAction, QKeyEvent, QKeySequence, QWindow
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QMainWindow,
    QMenu,
    QMenuBar,
    QWidget,
)

from gym_gui.ui.commands import COMMAND, Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.icons import icon

LAST = "file.quit"
TITLES = {"File": "&File", "View": "&View", "Run": "&Run", "Help": "&Help"}


class Menus(QObject):
    """Keeps actions and menus consistent with the command registry.

    Each command has an action on the window, so that its shortcut works while the menus are hidden.
    """

    def __init__(self, context: AppContext, window: QMainWindow, bar: QMenuBar) -> None:
        super().__init__(window)
        self._context, self._window, self._bar = context, window, bar
        self._actions: dict[str, tuple[Command, QAction]] = {}
        self._menus: dict[str, QMenu] = {}
        self._openers: list[QAction] = []
        self._alt_alone = False
        for title, text in TITLES.items():
            menu = QMenu(text, bar)
            menu.setObjectName(f"menu-{title.lower()}")
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self._on_menu_about_to_show)
            menu.aboutToHide.connect(self._on_menu_about_to_hide)
            bar.addMenu(menu)
            self._menus[title] = menu
            opener = QAction(window)
            opener.setObjectName(f"open-menu-{title.lower()}")
            opener.setShortcut(QKeySequence(f"Alt+{title[0]}"))
            opener.setProperty("menu", title)
            opener.triggered.connect(self._on_opener_triggered)
            window.addAction(opener)
            self._openers.append(opener)
        self._refill = QTimer(self)
        self._refill.setSingleShot(True)
        self._refill.timeout.connect(self.fill)
        context.commands.changed.connect(self._refill.start)
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.timeout.connect(self._hide_when_idle)
        bar.installEventFilter(self)
        context.settings.changed.connect(self._on_setting_changed)
        self._show_by_setting()

    def fill(self) -> None:
        """Create actions and menus for the registered commands."""
        wanted = {command.id: command for command in self._context.commands.all()}
        for command_id in [i for i, (c, _) in self._actions.items() if wanted.get(i) is not c]:
            _, action = self._actions.pop(command_id)
            self._window.removeAction(action)
            action.deleteLater()
        for command in wanted.values():
            if command.id not in self._actions:
                self._actions[command.id] = (command, self._make(command))
        registry = self._context.commands
        for command in wanted.values():
            # Qt triggers neither of two actions with the same keys.
            self._actions[command.id][1].setShortcut(QKeySequence(registry.shortcut(command)))
        for title, menu in self._menus.items():
            self._arrange(menu, [command for command in wanted.values() if command.menu == title])
        for title, menu in self._menus.items():
            action = menu.menuAction()
            if action is not None:
                action.setVisible(bool(menu.actions()) or title == "File")

    def _arrange(self, menu: QMenu, commands: list[Command]) -> None:
        """Fill a menu: commands of the window, then those of the page, then Quit."""
        taken = {command.shortcut for command in commands if self._context.commands.shortcut(command)}
        menu.clear()
        parts: tuple[list[Command], list[Command], list[Command]] = ([], [], [])
        for command in commands:
            if command.shortcut in taken and not self._context.commands.shortcut(command):
                continue  # the page has another command with these keys
            own = command.id.partition(".")[0] in ("file", "go", "view", "help")
            parts[2 if command.id == LAST else 0 if own else 1].append(command)
        for part in parts:
            if part and menu.actions():
                menu.addSeparator()
            menu.addActions([self._actions[command.id][1] for command in part])

    def popup(self) -> QMenu:
        """Return one menu that contains all menus, for the logo; the menu is deleted when it closes."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in self._menus.values():
            if each.actions():
                menu.addMenu(each)
        return menu

    def watch(self, window: QWindow) -> None:
        """Receive the key events of the native window.

        A filter on the application would pass every event through Python, which is slow.
        """
        window.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Show or hide the menu bar after Alt alone; leave Space to the focused button."""
        if isinstance(a1, QKeyEvent):
            if a1.type() == QEvent.Type.ShortcutOverride:
                if a1.key() == Qt.Key.Key_Space and _wants_space(QApplication.focusWidget()):
                    a1.accept()
                    return True
            elif a1.type() == QEvent.Type.KeyPress:
                self._alt_alone = a1.key() == Qt.Key.Key_Alt
            elif a1.key() == Qt.Key.Key_Alt and self._alt_alone:
                self._alt_alone = False
                self._toggle()
            if a0 is self._bar and a1.key() == Qt.Key.Key_Escape:
                self._idle.start()
        elif a1 is not None and a1.type() == QEvent.Type.FocusOut:
            self._alt_alone = False  # Alt+Tab
            if a0 is self._bar:
                self._idle.start()
        return super().eventFilter(a0, a1)

    def _make(self, command: Command) -> QAction:
        action = QAction(command.title, self._window)
        action.setObjectName(f"action-{command.id}")
        action.setProperty(COMMAND, command.id)
        if command.icon:
            action.setIcon(icon(command.icon))
        action.triggered.connect(self._on_action_triggered)
        self._window.addAction(action)
        return action

    def _on_action_triggered(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            self._context.commands.run(str(sender.property(COMMAND)))

    def _on_menu_about_to_show(self) -> None:
        for command, action in self._actions.values():
            action.setEnabled(command.enabled())

    def _on_menu_about_to_hide(self) -> None:
        # A disabled action would consume its shortcut; `commands.run` checks again anyway.
        for _, action in self._actions.values():
            action.setEnabled(True)
        if not self._always and self._bar.isVisible():
            self._idle.start()

    def _hide_when_idle(self) -> None:
        # Moving along the bar hides one menu before it shows the next.
        if any(menu.isVisible() for menu in self._menus.values()):
            return
        if self._bar.activeAction() is None or not self._bar.hasFocus():
            self._show_by_setting()

    def _on_opener_triggered(self) -> None:
        sender = self.sender()
        menu = self._menus.get(str(sender.property("menu"))) if sender is not None else None
        if menu is not None:
            self._show(True)
            self._bar.setActiveAction(menu.menuAction())

    def _toggle(self) -> None:
        if self._always:
            return
        self._show(not self._bar.isVisible())
        if self._bar.isVisible():
            self._bar.setFocus()

    @property
    def _always(self) -> bool:
        return self._context.settings.values.menu_bar

    def _show_by_setting(self) -> None:
        self._show(self._always)

    def _show(self, visible: bool) -> None:
        self._bar.setVisible(visible)
        for opener in self._openers:
            # While the bar is visible, its own mnemonics do the same.
            opener.setEnabled(not visible)

    def _on_setting_changed(self, name: str) -> None:
        if name == "menu_bar":
            self._show_by_setting()


def _wants_space(widget: QWidget | None) -> bool:
    """Return whether a widget uses Space itself, so that Space is not a shortcut there."""
    pressed = isinstance(widget, (QAbstractButton, QAbstractItemView, QComboBox))
    return pressed or (widget is not None and widget.property("clickable") == "true")
