"""The menus: made from the commands, hidden until Alt is pressed (or always, by setting)."""

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

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.icons import icon

TITLES = {"File": "&File", "View": "&View", "Run": "&Run", "Help": "&Help"}


class Menus(QObject):
    """Keeps actions and menus in step with the registry.

    Every command with a shortcut has an action on the window, so that the shortcut works
    whether or not the menus are shown.
    """

    def __init__(self, context: AppContext, window: QMainWindow, bar: QMenuBar) -> None:
        super().__init__(window)
        self._context, self._window, self._bar = context, window, bar
        self._actions: dict[str, tuple[Command, QAction]] = {}
        self._menus: dict[str, QMenu] = {}
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
        self._refill = QTimer(self)
        self._refill.setSingleShot(True)
        self._refill.timeout.connect(self.fill)
        context.commands.changed.connect(self._refill.start)
        context.settings.changed.connect(self._on_setting_changed)
        self._show_by_setting()

    def fill(self) -> None:
        """Make actions of the commands that there are now."""
        wanted = {command.id: command for command in self._context.commands.all()}
        for command_id in [i for i, (c, _) in self._actions.items() if wanted.get(i) is not c]:
            _, action = self._actions.pop(command_id)
            self._window.removeAction(action)
            action.deleteLater()
        for command in wanted.values():
            if command.id not in self._actions:
                self._actions[command.id] = (command, self._make(command))
        for menu in self._menus.values():
            menu.clear()
        for command in wanted.values():
            # Two actions with the same keys would be ambiguous to Qt, and neither would act.
            self._actions[command.id][1].setShortcut(QKeySequence(self._context.commands.shortcut(command)))
            menu = self._menus.get(command.menu)
            if menu is not None:
                menu.addAction(self._actions[command.id][1])
        for title, menu in self._menus.items():
            action = menu.menuAction()
            if action is not None:
                action.setVisible(bool(menu.actions()) or title == "File")

    def popup(self) -> QMenu:
        """All menus in one, for the logo; deleted when it closes."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in self._menus.values():
            if each.actions():
                menu.addMenu(each)
        return menu

    def watch(self, window: QWindow) -> None:
        """Look at the keys that reach the native window.

        Not at the application's events: each of them would pass through Python.
        """
        window.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Alt alone shows or hides the bar; Space belongs to the button that has the focus."""
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
        elif a1 is not None and a1.type() == QEvent.Type.FocusOut:
            self._alt_alone = False  # Alt+Tab
        return super().eventFilter(a0, a1)

    def _make(self, command: Command) -> QAction:
        action = QAction(command.title, self._window)
        action.setObjectName(f"action-{command.id}")
        action.setProperty("command", command.id)
        if command.icon:
            action.setIcon(icon(command.icon))
        action.triggered.connect(self._on_action_triggered)
        self._window.addAction(action)
        return action

    def _on_action_triggered(self) -> None:
        sender = self.sender()
        if isinstance(sender, QAction):
            self._context.commands.run(str(sender.property("command")))

    def _on_menu_about_to_show(self) -> None:
        for command, action in self._actions.values():
            action.setEnabled(command.enabled())

    def _on_menu_about_to_hide(self) -> None:
        # A disabled action would swallow its shortcut; `commands.run` asks again anyway.
        for _, action in self._actions.values():
            action.setEnabled(True)
        if not self._always and self._bar.isVisible():
            QTimer.singleShot(0, self._hide_when_idle)

    def _hide_when_idle(self) -> None:
        # Moving along the bar hides one menu and shows the next.
        if self._bar.activeAction() is None and not any(m.isVisible() for m in self._menus.values()):
            self._show_by_setting()

    def _on_opener_triggered(self) -> None:
        sender = self.sender()
        menu = self._menus.get(str(sender.property("menu"))) if sender is not None else None
        if menu is not None:
            self._bar.show()
            self._bar.setActiveAction(menu.menuAction())

    def _toggle(self) -> None:
        if self._always:
            return
        self._bar.setVisible(not self._bar.isVisible())
        if self._bar.isVisible():
            self._bar.setFocus()

    @property
    def _always(self) -> bool:
        return self._context.settings.values.menu_bar

    def _show_by_setting(self) -> None:
        self._bar.setVisible(self._always)

    def _on_setting_changed(self, name: str) -> None:
        if name == "menu_bar":
            self._show_by_setting()


def _wants_space(widget: QWidget | None) -> bool:
    """Whether Space does something of its own in a widget; editors see to themselves."""
    pressed = isinstance(widget, (QAbstractButton, QAbstractItemView, QComboBox))
    return pressed or (widget is not None and widget.property("clickable") == "true")
