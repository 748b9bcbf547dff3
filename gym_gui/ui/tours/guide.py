"""Controller of a tour, which highlights controls, detects when steps are done, and saves the progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final

from PyQt6.QtCore import QObject, QSettings, Qt, QTimer
from PyQt6.QtWidgets import QApplication, QWidget

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.screen_reader_text import Announcer
from gym_gui.ui.tours.highlight_ring import Ring
from gym_gui.ui.tours.tour import TOURS, Step, Tour, tour
from gym_gui.ui.tours.tour_context import Record, Scene, read_record
from gym_gui.ui.tours.tour_strip import TourStrip
from gym_gui.ui.widgets.tab_order import bring_into_view

CURRENT: Final = "tours/current"
"""Key in the window's stored layout of the tour that was active when the window closed."""
_POINT_MS: Final = 250
_LOOK_EVERY: Final = 3
"""Number of timer ticks between two checks of the files; the ring moves at each tick."""


class Progress:
    """Progress in the tours, stored in the window's layout.

    Args:
        layout: Settings that store the progress.
    """

    def __init__(self, layout: QSettings) -> None:
        self._layout = layout

    def step(self, of: Tour) -> int:
        """Return the index of a tour's current step, from 0."""
        return min(max(int(self._layout.value(f"tours/{of.name}/step", 0, type=int)), 0), len(of.steps) - 1)

    def since(self, of: Tour) -> float:
        """Return the Unix time at which a tour began; 0 if it has not begun."""
        return float(self._layout.value(f"tours/{of.name}/since", 0.0, type=float))

    def done(self, of: Tour) -> bool:
        """Return whether a tour was completed."""
        return bool(self._layout.value(f"tours/{of.name}/done", False, type=bool))

    def begun(self, of: Tour) -> bool:
        """Return whether a tour has begun and is not completed."""
        return self.since(of) > 0

    def save_step(self, of: Tour, step: int, since: float) -> None:
        """Save a tour's step and start time, and save that the tour is active."""
        self._layout.setValue(f"tours/{of.name}/step", step)
        self._layout.setValue(f"tours/{of.name}/since", since)
        self._layout.setValue(CURRENT, of.name)

    def end(self, of: Tour) -> None:
        """Mark a tour as completed, so that its next start begins at the first step."""
        self._layout.setValue(f"tours/{of.name}/done", True)
        self._layout.remove(f"tours/{of.name}/step")
        self._layout.remove(f"tours/{of.name}/since")
        self.clear()

    def clear(self) -> None:
        """Save that no tour is active."""
        self._layout.setValue(CURRENT, "")

    @property
    def next(self) -> Tour | None:
        """First tour that is not completed; ``None`` if all tours are completed."""
        return next((each for each in TOURS if not self.done(each)), None)


class TourGuide(QObject):
    """Controller that leads the user through a tour; inactive while no tour is active.

    Args:
        context: The window's services.
        window: The main window, which becomes the Qt parent.
        strip: Shows the steps.
        shown: Returns the name of the page that is shown.
        pages: Pages created so far, by name.
        open_guide: Opens a page of the user guide.
    """

    def __init__(
        self,
        context: AppContext,
        window: QWidget,
        strip: TourStrip,
        *,
        shown: Callable[[], str],
        pages: Mapping[str, QWidget],
        open_guide: Callable[[str], object],
    ) -> None:
        super().__init__(window)
        self._context, self._window, self._strip = context, window, strip
        self._shown, self._pages, self._open_guide = shown, pages, open_guide
        self.progress = Progress(self._context.layout)
        self._tour: Tour | None = None
        self._ended = ""
        self._number = 0
        self._since = 0.0
        self._ring = Ring(window)
        self._announcer = Announcer(self)
        self._target: QWidget | None = None
        self._described = ""
        self._looking: asyncio.Task[None] | None = None
        self._ticks = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_POINT_MS)
        self._timer.timeout.connect(self._on_tick)
        strip.show_wanted.connect(self.show_target)
        strip.guide_wanted.connect(self._on_guide)
        strip.leave_wanted.connect(self.leave)
        strip.next_wanted.connect(self._on_next)
        strip.step_wanted.connect(self.go_to)

    @property
    def tour(self) -> Tour | None:
        """Active tour; ``None`` if no tour is active."""
        return self._tour

    @property
    def step(self) -> Step | None:
        """Current step of the active tour; ``None`` without a tour."""
        return self._tour.steps[self._number] if self._tour is not None else None

    # ------------------------------------------------------------------------- begin and end

    def start(self, name: str, *, stay: bool = False) -> None:
        """Start a tour, or continue it at its saved step.

        Args:
            name: Name of the tour.
            stay: Whether to stay on the shown page; otherwise the step's page opens.

        Raises:
            KeyError: No tour has that name.
        """
        self._stop()
        chosen = tour(name)
        self._tour = chosen
        self._number = self.progress.step(chosen)
        self._since = self.progress.since(chosen) or time.time()
        self.progress.save_step(chosen, self._number, self._since)
        self._context.commands.add(
            Command(
                "help.tour_show",
                "Tour: highlight the control of this step",
                self.show_target,
                "F6",
                "Help",
                "eye",
            ),
            Command("help.tour_leave", "Leave the tour", self.leave, "", "Help", "close"),
        )
        self._strip.show_step(chosen, self._number, after_one=False)
        if not stay:
            self._context.go(chosen.steps[self._number].page)
        self._timer.start()
        self._on_tick()
        self._announce()

    def go_to(self, number: int) -> None:
        """Continue the tour at another step; a step that was done before must be done again."""
        if self._tour is None:
            ended = next((each for each in TOURS if each.name == self._ended), None)
            if ended is None:
                return
            self.start(ended.name)
            self._number = len(ended.steps)
        assert self._tour is not None
        if number <= self._number:
            self._since = time.time()
        self._number = number
        self._tell(after_one=False)
        self._context.go(self._tour.steps[number].page)

    def leave(self) -> None:
        """Leave the tour; its progress stays saved."""
        self._stop()
        self.progress.clear()
        self._strip.hide()

    def close(self) -> None:
        """Stop the tour when the window closes; the tour becomes active again at the next start."""
        self._stop()

    def _finish(self, finished: Tour) -> None:
        self._stop()
        self._ended = finished.name
        self.progress.end(finished)
        self._strip.show_end(finished, self.progress.next)
        self._announce()

    def _stop(self) -> None:
        self._timer.stop()
        self._announcer.end()
        self._point_at(None)
        self._tour = None
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._context.commands.remove(["help.tour_show", "help.tour_leave"])

    # ------------------------------------------------ check of the current step

    def _on_tick(self) -> None:
        step = self.step
        if step is None:
            return
        self._point_at(self._find_target(step))
        self._ticks += 1
        if self._ticks % _LOOK_EVERY == 1 and (self._looking is None or self._looking.done()):
            self._looking = self._context.spawn(self._look(), "Checking the tour's progress")

    async def _look(self) -> None:
        store, since = self._context.store, self._since
        record = await asyncio.to_thread(read_record, store.runs, store.data, since)
        on, step = self._tour, self.step
        if on is None or step is None or since != self._since:
            return
        if not step.done(self._scene(since, record)):
            return
        if self._number + 1 == len(on.steps):
            self._finish(on)
            return
        self._number += 1
        self._tell(after_one=True)

    def _scene(self, since: float, record: Record) -> Scene:
        return Scene(self._context, self._window, self._shown(), self._pages, since, record)

    def _tell(self, *, after_one: bool) -> None:
        if self._tour is not None:
            self.progress.save_step(self._tour, self._number, self._since)
            self._strip.show_step(self._tour, self._number, after_one=after_one)
            self._point_at(None)  # the next step may point at the same control
            self._on_tick()
            self._announce()

    def _announce(self) -> None:
        """Let a screen reader announce the step, unless the focused control's description contains it."""
        if self._target is None or QApplication.focusWidget() is not self._target:
            self._announcer.announce(f"{self._strip.accessibleName()}: {self._strip.text}")

    # ------------------------------------------------------------------- pointer

    def _find_target(self, step: Step) -> QWidget | None:
        names = step.at if self._shown() == step.page else (f"go-{step.page}",)
        scene = self._scene(self._since, Record())
        return next((found for name in names if (found := scene.widget(name)) is not None), None)

    def _point_at(self, target: QWidget | None) -> None:
        """Place the ring around a widget and add the step to the widget's accessible description."""
        if target is not self._target:
            if self._target is not None:
                try:
                    self._target.setAccessibleDescription(self._described)
                    self._target.destroyed.disconnect(self._on_target_gone)
                except (RuntimeError, TypeError):
                    pass  # Qt has deleted the widget
            self._target = target
            if target is not None and self.step is not None:
                self._described = target.accessibleDescription()
                target.setAccessibleDescription(f"Tour: {self.step.text}")
                target.destroyed.connect(self._on_target_gone)
                if target.visibleRegion().isEmpty():
                    bring_into_view(target)
        if target is None:
            self._ring.hide()
        else:
            self._ring.show_around(target)

    def _on_target_gone(self) -> None:
        self._target = None

    def show_target(self) -> None:
        """Show the step's page and move the focus to the step's control."""
        step = self.step
        if step is None:
            return
        if self._shown() != step.page:
            self._context.go(step.page)
        target = self._find_target(step)
        if target is None:
            return
        bring_into_view(target)
        self._point_at(target)
        _focusable(target).setFocus(Qt.FocusReason.TabFocusReason)

    def _on_guide(self) -> None:
        shown = self._tour or next((each for each in TOURS if each.name == self._ended), None)
        if shown is not None:
            self._open_guide(shown.guide)

    def _on_next(self) -> None:
        following = self.progress.next
        if following is not None:
            self.start(following.name)


def _focusable(widget: QWidget) -> QWidget:
    """Return the widget or its first child that accepts the keyboard focus, else the widget."""
    candidates = (widget, *widget.findChildren(QWidget))
    return next(
        (c for c in candidates if c.isVisible() and c.focusPolicy() & Qt.FocusPolicy.TabFocus), widget
    )
