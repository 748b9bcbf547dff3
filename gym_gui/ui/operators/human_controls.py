"""Keys and action buttons in the inspector for a person who plays a slot of an operator."""

from __future__ import annotations

from functools import partial

from PyQt6.QtWidgets import QWidget

from gym_gui.core.live import HumanQuestion
from gym_gui.ui import theme
from gym_gui.ui.input.action_form import ActionForm
from gym_gui.ui.input.key_editor import rows_of
from gym_gui.ui.input.key_list import KeyList
from gym_gui.ui.operators.human_seats import OperatorHumans
from gym_gui.ui.widgets import muted_label, section_label
from gym_gui.ui.widgets.layouts import column_layout, empty

_MOST_ROWS = 12


class HumanControls(QWidget):
    """Lists the keys of each slot that a person plays; a click on a row does the same as its key."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("human-controls")
        self._humans: OperatorHumans | None = None
        self._lists: dict[str, KeyList] = {}
        self._forms: dict[str, ActionForm] = {}
        self._column = column_layout(self, margin=(0, theme.STEP, 0, 0), spacing=theme.STEP)
        self.hide()

    def show_humans(self, humans: OperatorHumans | None) -> None:
        """Show the keys of an operator's people; ``None`` shows no keys."""
        if humans is self._humans:
            return
        before, self._humans = self._humans, humans
        if before is not None:
            before.ready.disconnect(self._fill)
            before.input.questions_changed.disconnect(self._on_questions)
            before.input.held_changed.disconnect(self._on_held)
        if humans is not None:
            humans.ready.connect(self._fill)
            humans.input.questions_changed.connect(self._on_questions)
            humans.input.held_changed.connect(self._on_held)
        self._fill()

    def _fill(self) -> None:
        empty(self._column)
        self._lists, self._forms = {}, {}
        humans = self._humans
        schemes = humans.schemes if humans is not None else {}
        self.setVisible(bool(schemes))
        if humans is None:
            return
        for slot, scheme in schemes.items():
            whose = f"Keys of {humans.names[slot]}" if len(schemes) > 1 else "Keys"
            self._column.addWidget(section_label(whose))
            rows = rows_of(scheme, humans.words.get(slot, {}))
            if scheme.mouse:
                self._column.addWidget(muted_label("Click or drag on the board.", wrap=True))
            if scheme.typed:
                self._column.addWidget(muted_label("Type a number, then press Enter.", wrap=True))
            if rows and len(rows) <= _MOST_ROWS:
                keys = KeyList(rows, most=_MOST_ROWS, parent=self)
                keys.triggered.connect(partial(humans.choose, slot))
                keys.pushed.connect(self._on_pushed)
                self._column.addWidget(keys)
                self._lists[slot] = keys
            elif not scheme.mouse and not scheme.typed:
                form = ActionForm(self)
                form.submitted.connect(partial(humans.choose, slot))
                self._column.addWidget(form)
                self._forms[slot] = form
        self._on_questions()

    def _on_questions(self) -> None:
        humans = self._humans
        if humans is None:
            return
        asked: dict[str, HumanQuestion] = {q.slot: q for q in humans.input.questions}
        for slot, keys in self._lists.items():
            question = asked.get(slot)
            keys.set_legal(question.legal if question is not None else ())
        for slot, form in self._forms.items():
            question = asked.get(slot)
            if question is not None and question.attempt == 0 and not form.property("filled"):
                form.set_space(question.space)
                form.setProperty("filled", True)
            form.set_asked(question is not None)

    def _on_held(self) -> None:
        if self._humans is not None:
            for keys in self._lists.values():
                keys.set_held(self._humans.input.keys_down)

    def _on_pushed(self, target: object, down: bool) -> None:
        """Press a row's first key while the row's button is down, and release the key with the button."""
        sender = self.sender()
        if self._humans is None or not isinstance(sender, KeyList) or not isinstance(target, tuple):
            return
        button = sender.buttons.get(target)
        for key in button.row.keys[:1] if button is not None else ():
            (self._humans.input.press if down else self._humans.input.release)(key)
