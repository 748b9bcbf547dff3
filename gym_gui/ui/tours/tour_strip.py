"""Strip below the page that shows the current step of a tour, without covering the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QMenu, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.tours.tour import Tour
from gym_gui.ui.widgets import IconButton, IconLabel, LinkButton, PrimaryButton, QuietButton, label
from gym_gui.ui.widgets.layouts import column_layout, row_layout

LONGEST = 60
"""Longest text of a step in the menu of steps, in characters."""


class TourStrip(QFrame):
    """Strip with the tour's progress, the current instruction, and buttons to continue.

    Args:
        parent: The main window.
    """

    show_wanted = pyqtSignal()
    guide_wanted = pyqtSignal()
    leave_wanted = pyqtSignal()
    next_wanted = pyqtSignal()
    step_wanted = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tour-strip")
        self.setProperty("role", "status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._done = IconLabel("ok", "ok", 16)
        self._place = label("", "section", name="tour-place")
        self._text = label("", wrap=True, name="tour-text")
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._show_button = PrimaryButton(
            "Show me",
            name="tour-show",
            tooltip="Show the control of this step (F6)",
            on_click=self.show_wanted.emit,
        )
        self._next = PrimaryButton("Next tour", name="tour-next", on_click=self.next_wanted.emit)
        self._menu = QMenu(self)
        self._menu.setObjectName("tour-steps-menu")
        self._steps = QuietButton(
            "Steps", menu=self._menu, name="tour-steps", tooltip="Continue at another step"
        )
        self._guide = LinkButton(
            "Guide",
            name="tour-guide",
            tooltip="Open the page of the guide for this tour",
            on_click=self.guide_wanted.emit,
        )
        leave = IconButton(
            "close",
            "Leave the tour; you can continue it later",
            name="tour-leave",
            on_click=self.leave_wanted.emit,
        )
        head = row_layout()
        head.addWidget(self._done)
        head.addWidget(self._place, 1)
        words = column_layout(spacing=2)
        words.addLayout(head)
        words.addWidget(self._text)
        row = row_layout(self, margin=(theme.PAGE, theme.ROW, theme.ROW, theme.ROW))
        row.addLayout(words, 1)
        row.addSpacing(theme.ROW)
        for button in (self._guide, self._steps, self._show_button, self._next, leave):
            row.addWidget(button)
        self.hide()

    @property
    def text(self) -> str:
        """Text of the current step."""
        return self._text.text()

    def show_step(self, tour: Tour, number: int, *, after_one: bool) -> None:
        """Show a step of a tour.

        Args:
            tour: The tour.
            number: Index of the step, from 0.
            after_one: Whether the previous step has just been done.
        """
        place = f"Tour: {tour.title}, step {number + 1} of {len(tour.steps)}"
        self._say(place, tour.steps[number].text, done=after_one)
        self._fill_steps(tour, number)
        self._show_button.show()
        self._next.hide()

    def show_end(self, tour: Tour, after: Tour | None) -> None:
        """Show that a tour is completed, and offer the tour ``after``, if any."""
        self._say(f"Tour: {tour.title}, done", tour.end, done=True)
        self._fill_steps(tour, -1)
        self._show_button.hide()
        self._next.setVisible(after is not None)
        if after is not None:
            self._next.set_text(f"Next: {after.title}")
            self._next.setToolTip(f"{after.text}, in about {after.minutes} minutes")

    def _say(self, place: str, text: str, *, done: bool) -> None:
        self._done.setVisible(done)
        self._place.setText(place.upper())
        self._place.setAccessibleName(place)
        self._text.setText(text)
        self.setAccessibleName(f"{place}{'. The previous step is done' if done else ''}")
        self.setAccessibleDescription(text)
        self.show()

    def _fill_steps(self, tour: Tour, current: int) -> None:
        self._menu.clear()
        for number, step in enumerate(tour.steps):
            short = step.text if len(step.text) <= LONGEST else f"{step.text[: LONGEST - 1].rstrip()}…"
            then: Callable[[], object] = partial(self.step_wanted.emit, number)
            action = self._menu.addAction(f"{number + 1}  {short}")
            if action is not None:
                action.setObjectName(f"tour-step-{number + 1}")
                action.setCheckable(True)
                action.setChecked(number == current)
                action.triggered.connect(_Without(then))


class _Without:
    """Slot for the ``triggered`` signal that drops its argument."""

    def __init__(self, then: Callable[[], object]) -> None:
        self._then = then

    def __call__(self, *_: object) -> None:
        self._then()
