"""A panel with the keys of each person who plays: a list of buttons, a form, and a key editor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import MOTIONS, KeyScheme
from gym_gui.ui.input.action_form import ActionForm
from gym_gui.ui.input.key_editor import KeyEditor, rows_of
from gym_gui.ui.input.key_list import KeyList
from gym_gui.ui.widgets import LinkButton, SegmentedControl, muted_label
from gym_gui.ui.widgets.layouts import column_layout

_CLICKS = {"MouseLeft": "left button", "MouseMiddle": "middle button", "MouseRight": "right button"}


@dataclass(frozen=True, slots=True)
class PersonKeys:
    """Keys and keyboard of one person.

    Attributes:
        scheme: Key scheme of the person's slot.
        words: Name of each action number.
        action: Action space as JSON data.
        device: Device file of the person's keyboard; empty for the window's keyboard.
        own: Whether the person has changed the default keys.
        noop: Whether the environment has an action without effect.
    """

    scheme: KeyScheme
    words: Mapping[int, str]
    action: Mapping[str, Any]
    device: str = ""
    own: bool = False
    noop: bool = True


class KeysPanel(QWidget):
    """Shows the keys of one person at a time; a row of buttons chooses the person.

    Args:
        parent: Qt parent.
    """

    acted = pyqtSignal(str, object)
    """Emits a slot and an action after a click on a row or in the form."""
    pushed = pyqtSignal(str, str, bool)
    """Emits a slot, a key and whether it is down, when the row of a continuous action is pressed or released.
    """
    scheme_changed = pyqtSignal(str, object)
    """Emits a slot and its new key scheme."""
    reset_wanted = pyqtSignal(str)
    editing_changed = pyqtSignal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("keys-panel")
        self._people: dict[str, PersonKeys] = {}
        self._slot = ""
        self._layout = column_layout(self)
        self._switch: SegmentedControl | None = None
        self._note = muted_label("", wrap=True, name="keys-note")
        self.list = KeyList()
        self.list.setObjectName("keys-now")
        self.form = ActionForm()
        self._editor = KeyEditor()
        self._edit = LinkButton(
            "Edit keys…", name="edit-keys", tooltip="Change the keys", on_click=self.start_editing
        )
        row = QHBoxLayout()
        row.addWidget(self._edit)
        row.addStretch(1)
        for widget in (self._note, self.list, self.form, self._editor):
            self._layout.addWidget(widget)
        self._layout.addLayout(row)
        self._editor.hide()
        self._connect()
        self.set_people({})

    def _connect(self) -> None:
        self.list.triggered.connect(self._on_triggered)
        self.list.pushed.connect(self._on_pushed)
        self.form.submitted.connect(self._on_triggered)
        self._editor.changed.connect(self._on_scheme_changed)
        self._editor.done.connect(self.stop_editing)
        self._editor.reset_wanted.connect(self._on_reset)

    @property
    def slot(self) -> str:
        """Slot whose keys are shown."""
        return self._slot

    @property
    def editing(self) -> bool:
        """Whether the key editor is open."""
        return not self._editor.isHidden()

    def set_people(self, people: Mapping[str, PersonKeys], names: Mapping[str, str] | None = None) -> None:
        """Show the keys of the slots that people play.

        Args:
            people: Keys by slot.
            names: Names of the slots in this game.
        """
        if list(people) != list(self._people):
            self._offer_slots([(slot, (names or {}).get(slot, slot)) for slot in people])
        self._people = dict(people)
        if self._slot not in people:
            self._slot = next(iter(people), "")
        self._show()

    def show_slot(self, slot: str) -> None:
        """Show the keys of another slot."""
        if slot in self._people and slot != self._slot:
            self._slot = slot
            if self._switch is not None:
                self._switch.set_value(slot)
            self._show()

    def set_question(self, question: HumanQuestion | None) -> None:
        """Enable the legal actions of a request; ``None`` disables the form and enables all rows."""
        self.list.set_legal(None if question is None else question.legal)
        self.form.set_asked(question is not None)

    def _offer_slots(self, slots: list[tuple[str, str]]) -> None:
        if self._switch is not None:
            self._switch.hide()
            self._switch.deleteLater()
            self._switch = None
        if 1 < len(slots) <= 4:
            self._switch = SegmentedControl(slots, name="keys-of", parent=self)
            self._switch.setAccessibleName("Slot whose keys are shown")
            self._switch.chosen.connect(self.show_slot)
            self._layout.insertWidget(0, self._switch)

    def _show(self) -> None:
        person = self._people.get(self._slot)
        self._edit.setVisible(person is not None and not self.editing and _editable(person))
        if person is None:
            self.list.set_rows([])
            self.form.hide()
            self._note.setText("You play no slot. Choose You for a slot above.")
            self._note.show()
            return
        rows = rows_of(person.scheme, person.words) if _editable(person) else []
        self.list.set_rows(rows)
        self.list.setVisible(bool(rows) and not self.editing)
        by_form = not rows and not person.scheme.mouse
        self.form.setVisible((by_form or person.scheme.typed) and not self.editing)
        if by_form or person.scheme.typed:
            self.form.set_space(person.action)
        self._note.setText(_note(person))
        self._note.setVisible(bool(self._note.text()) and not self.editing)
        if self.editing:
            self._show_editor()

    def start_editing(self) -> None:
        """Show the key editor in place of the list."""
        if self._slot in self._people:
            self._editor.show()
            self._editor.forget()
            self._show()
            self.editing_changed.emit(True)

    def stop_editing(self) -> None:
        """Show the list in place of the key editor."""
        if self.editing:
            self._editor.hide()
            self._show()
            self.editing_changed.emit(False)

    def _show_editor(self) -> None:
        person = self._people[self._slot]
        others = {s: (p.scheme, p.device) for s, p in self._people.items() if s != self._slot}
        self._editor.reset.setEnabled(person.own)
        if self._editor.slot == self._slot and self._editor.scheme == person.scheme:
            return  # the editor made this change; its message stays
        self._editor.edit(self._slot, person.scheme, person.words, others=others, device=person.device)

    def _on_triggered(self, action: object) -> None:
        self.acted.emit(self._slot, action)

    def _on_pushed(self, target: object, down: bool) -> None:
        person = self._people.get(self._slot)
        if person is not None:
            keys = [a.key for a in person.scheme.axes if (a.component, a.value) == target and a.key]
            if keys:
                self.pushed.emit(self._slot, keys[0], down)

    def _on_scheme_changed(self, scheme: object) -> None:
        self._editor.reset.setEnabled(True)
        self.scheme_changed.emit(self._slot, scheme)

    def _on_reset(self) -> None:
        self.reset_wanted.emit(self._slot)


def _editable(person: PersonKeys) -> bool:
    return bool(person.scheme.bindings or person.scheme.axes)


def _note(person: PersonKeys) -> str:
    scheme, space = person.scheme, person.action
    if scheme.mouse:
        more = " Keys work too." if scheme.bindings else " Arrow keys move the cursor, Enter plays."
        return f"Click or drag on the board, which shows the legal squares of a piece.{more}"
    if scheme.typed:
        first = int(space.get("start", 0))
        return f"Type a number from {first} to {first + int(space['n']) - 1} and press Enter."
    if scheme.pointer:
        return _mouse_note(scheme)
    if not scheme.playable:
        return "This action has several parts. Set them here, then play the action."
    return ""


def _mouse_note(scheme: KeyScheme) -> str:
    """Return a sentence that says what mouse buttons and motion do after a click on the picture."""
    clicks = {axis.key: axis.word for axis in scheme.pointer}
    parts = [f"{sign} is {clicks[key]}" for key, sign in _CLICKS.items() if key in clicks]
    if any(motion in clicks for motion in MOTIONS):
        parts.insert(0, "moving it turns")
    effects = ", ".join(parts)
    return f"Click the picture to also play with the mouse: {effects}. Esc releases the mouse."
