"""An editor in which a person chooses an action and presses its new key."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.controllers.setup.key_rebinding import bind_action, bind_axis, shared_keys
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.ui.input.key_list import KeyList, KeyRow, KeyRowButton
from gym_gui.ui.input.key_names import NOT_FOR_PLAY, key_name, key_sign
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import InlineMessage, PrimaryButton, QuietButton, muted_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout

Target = int | tuple[int, float]


def rows_of(scheme: KeyScheme, words: Mapping[int, str]) -> list[KeyRow]:
    """Return a row for each action, or each direction of a continuous action, with or without a key."""
    if scheme.axes:
        return [_row_of_axis(axis) for axis in scheme.axes]
    keys: dict[int, list[str]] = {}
    for key, action in scheme.bindings.items():
        keys.setdefault(action, []).append(key)
    # Sorted by number, so that a row stays in place while keys change.
    return [
        KeyRow(action, words.get(action) or f"action {action}", tuple(keys.get(action, ())))
        for action in sorted({*keys, *words})
    ]


def _row_of_axis(axis: Axis) -> KeyRow:
    word = axis.word or push_word(axis.component, axis.value)
    return KeyRow((axis.component, axis.value), word, (axis.key,) if axis.key else ())


def push_word(component: int, value: float) -> str:
    """Return the text for one direction of a continuous action without a name, such as ``part 1 +1``."""
    return f"part {component + 1} {local(value):+g}"


class KeyEditor(QWidget):
    """Key list in which the user changes keys; each change is emitted at once.

    Args:
        parent: Qt parent.
    """

    changed = pyqtSignal(object)
    """Emits the new key scheme after a key was bound."""
    done = pyqtSignal()
    reset_wanted = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("key-editor")
        self._scheme: KeyScheme | None = None
        self._slot = ""
        self._words: Mapping[int, str] = {}
        self._others: Mapping[str, tuple[KeyScheme, str]] = {}
        self._device = ""
        self._waiting: Target | None = None
        layout = column_layout(self)
        self._hint = muted_label("Choose an action, then press its new key.", wrap=True)
        self._list = KeyList(most=40)
        self._list.triggered.connect(self._on_triggered)
        self._list.pushed.connect(self._on_pushed)
        self.message = InlineMessage("warning", "", name="key-conflict")
        self.message.hide()
        layout.addWidget(self._hint)
        layout.addWidget(self._list)
        layout.addWidget(self.message)
        layout.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = row_layout()
        self.reset = QuietButton(
            "Reset",
            name="keys-reset",
            tooltip="Restore the default keys",
            on_click=self.reset_wanted.emit,
        )
        finish = PrimaryButton(
            "Done", name="keys-done", tooltip="Close the editor (Esc)", on_click=self._on_done
        )
        row.addWidget(self.reset)
        row.addStretch(1)
        row.addWidget(finish)
        return row

    @property
    def scheme(self) -> KeyScheme | None:
        """Key scheme with the changes so far; ``None`` before a slot is edited."""
        return self._scheme

    @property
    def slot(self) -> str:
        """Slot whose keys are edited."""
        return self._slot

    @property
    def waiting(self) -> Target | None:
        """Action for which the next key press is taken, or ``None``."""
        return self._waiting

    def edit(
        self,
        slot: str,
        scheme: KeyScheme,
        words: Mapping[int, str],
        *,
        others: Mapping[str, tuple[KeyScheme, str]] | None = None,
        device: str = "",
    ) -> None:
        """Edit the keys of a slot.

        Args:
            slot: The slot.
            scheme: Current keys of the slot.
            words: Name of each action number.
            others: Keys and keyboard of other people's slots, to find keys that several slots use.
            device: Keyboard of the slot; empty for the window's keyboard.
        """
        self._slot, self._words = slot, words
        self._others, self._device = others or {}, device
        self._show(scheme, "")

    def forget(self) -> None:
        """Forget the edited slot, so that the next :meth:`edit` shows its keys anew."""
        self._scheme, self._slot = None, ""

    def _show(self, scheme: KeyScheme, note: str) -> None:
        self._scheme, self._waiting = scheme, None
        self._list.set_rows(rows_of(scheme, self._words))
        shared = shared_keys({**self._others, self._slot: (scheme, self._device)})
        own_shared = {
            key: [s for s in slots if s != self._slot] for key, slots in shared.items() if self._slot in slots
        }
        if own_shared:
            key, slots = next(iter(own_shared.items()))
            more = f" and {len(own_shared) - 1} more" if len(own_shared) > 1 else ""
            note = (
                f"{note} {key_sign(key)}{more} also plays {', '.join(slots)}: "
                "the key acts for the slot that has to move."
            )
        self.message.set_text(note.strip())
        self.message.setVisible(bool(note))

    def _on_triggered(self, target: object) -> None:
        if isinstance(target, (int, tuple)):
            self._await(target)

    def _on_pushed(self, target: object, down: bool) -> None:
        if isinstance(target, tuple) and down:
            self._await(target)

    def _await(self, target: Target) -> None:
        self._stop_waiting()
        self._waiting = target
        button = self._list.buttons[target]
        button.show_text("press a key…")
        button.setFocus()
        button.installEventFilter(self)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            button = self._list.buttons.get(self._waiting)
            if button is not None:
                button.removeEventFilter(self)
                button.show_text("")
        self._waiting = None

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Bind the next key press to the chosen action, even if the key is a shortcut."""
        if not isinstance(a0, KeyRowButton) or a1 is None:
            return False
        if a1.type() == QEvent.Type.FocusOut:
            self._stop_waiting()
        if not isinstance(a1, QKeyEvent) or self._waiting is None:
            return False
        if a1.type() == QEvent.Type.ShortcutOverride:
            a1.accept()
        elif a1.type() == QEvent.Type.KeyPress and not a1.isAutoRepeat():
            self._bind_key(key_name(a1))
        return True

    def _bind_key(self, key: str) -> None:
        target, scheme = self._waiting, self._scheme
        if target is None or scheme is None:
            return
        if key == "Esc":
            self._stop_waiting()
            return
        if not key or key in NOT_FOR_PLAY:
            self.message.set_text(
                f"{key_sign(key) or 'This key'} is reserved for the window; choose another key."
            )
            self.message.show()
            return
        after = (
            bind_axis(scheme, *target, key) if isinstance(target, tuple) else bind_action(scheme, target, key)
        )
        self._stop_waiting()
        lost = [self._word(each) for each in after.lost]
        note = f"{key_sign(key)} was “{lost[0]}”, which has no key now." if lost else ""
        self._show(after.scheme, note)
        self._list.buttons[target].setFocus()
        self.changed.emit(after.scheme)

    def _word(self, target: Target) -> str:
        button = self._list.buttons.get(target)
        if button is not None:
            return button.row.word
        return (
            push_word(*target) if isinstance(target, tuple) else self._words.get(target) or f"action {target}"
        )

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Close the editor when Escape is pressed."""
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            self._on_done()
            return
        super().keyPressEvent(a0)

    def _on_done(self) -> None:
        self._stop_waiting()
        self.done.emit()
