"""The status line at the bottom: workers, trainings, processor, memory, run and the log button."""

from __future__ import annotations

import asyncio
import logging

from PyQt6.QtCore import Qt, QTimer, pyqtSignal
from PyQt6.QtWidgets import QPushButton, QWidget

from gym_gui.services.process_usage import ProcessSampler, Usage
from gym_gui.services.trainings.training_counts import Trainings, trainings
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets.badges import StatusDot
from gym_gui.ui.widgets.labels import ElidedLabel, muted_label
from gym_gui.ui.widgets.layouts import row_layout

_log = logging.getLogger(__name__)

INTERVAL_MS = 1000
IDLE_INTERVAL_MS = 3000
"""Time between samples while no process is busy, in milliseconds."""
_WORKING = 0.1
"""Processor use above which processes count as busy, in cores."""


class StatusLine(QWidget):
    """Shows workers, trainings, processor and memory use, sampled in a thread at most once a second."""

    log_toggled = pyqtSignal(bool)

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._sampler = ProcessSampler()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_sample_due)
        self.setObjectName("status-line")
        self.setAccessibleName("Status")
        self.setProperty("role", "status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(theme.STATUS_HEIGHT)
        self.workers = StatusDot("muted", "No worker running")
        self.workers.setObjectName("status-workers")
        self.workers.setToolTip(
            "Worker processes of this window; each plays one or more slots.\n"
            "Trainings run in the trainer and continue when the window closes."
        )
        self._cpu = muted_label(name="status-cpu")
        self._cpu.setToolTip("Processor use of this window and its processes; 100 % is one core")
        self._memory = muted_label(name="status-memory")
        self._memory.setToolTip("Memory of this window and its processes; shared pages count more than once")
        self.run = ElidedLabel("", "muted", name="status-run")
        self.log = QPushButton("Log ▴", self)
        self.log.setObjectName("toggle-log")
        self.log.setProperty("role", "link")
        self.log.setCheckable(True)
        self.log.setToolTip("Show or hide the log (Ctrl+L)")
        self.log.setAccessibleName("Log")
        self.log.toggled.connect(self._on_log_toggled)
        layout = row_layout(self, margin=(theme.PAGE, 0, theme.PAGE, 0), spacing=18)
        for widget in (self.workers, self._cpu, self._memory):
            layout.addWidget(widget)
        layout.addStretch(1)
        layout.addWidget(self.run)
        layout.addWidget(self.log)
        context.run_changed.connect(self._on_run_changed)
        context.settings.changed.connect(self._on_setting_changed)

    def start(self) -> None:
        """Start sampling, after the window's first paint."""
        self._show_parts()
        self._timer.start(0)

    def stop(self) -> None:
        """Stop sampling."""
        self._timer.stop()

    def show_usage(self, usage: Usage, training: Trainings) -> None:
        """Show a sample of processor and memory use, and the state of trainings."""
        words: list[str] = []
        if usage.stopped:
            words.append(f"{_count(usage.workers, 'worker')}, {usage.stopped} stopped and not responding")
        elif usage.workers:
            words.append(f"{_count(usage.workers, 'worker')} running")
        elif usage.hosts:
            words.append(f"{_count(usage.hosts, 'session')} running")
        works = bool(words or training.running)
        if training.words:
            words.append(training.words)
        state = "warning" if usage.stopped else "ok" if works else "muted"
        self.workers.set_state(state, " · ".join(words) or "No worker running")
        self._cpu.setText(f"CPU {local(usage.cpu * 100):.0f} %")
        self._memory.setText(f"Memory {_bytes(usage.memory)}")

    def _on_sample_due(self) -> None:
        if self.isVisible():
            self._context.spawn(self._sample(), "Reading processor and memory use")
        else:
            self._timer.start(IDLE_INTERVAL_MS)

    async def _sample(self) -> None:
        try:
            usage, training = await asyncio.to_thread(self._read_usage)
        except OSError as error:
            _log.warning("processor and memory use cannot be read (%s)", error)
            return
        self.show_usage(usage, training)
        self._timer.start(INTERVAL_MS if usage.cpu > _WORKING else IDLE_INTERVAL_MS)

    def _read_usage(self) -> tuple[Usage, Trainings]:
        spare = self._context.spare_host
        usage = self._sampler.sample(0 if spare is None else spare.pid)
        return usage, trainings(self._context.store)

    def _show_parts(self) -> None:
        shown = self._context.settings.values.sample_processes
        self._cpu.setVisible(shown)
        self._memory.setVisible(shown)

    def _on_setting_changed(self, name: str) -> None:
        if name == "sample_processes":
            self._show_parts()

    def _on_run_changed(self, run_id: str, note: str) -> None:
        short = f"{run_id[:4]}…{run_id[-2:]}" if len(run_id) > 12 else run_id
        self.run.setText(f"run {short} · {note}" if run_id else "")
        self.run.setToolTip(f"Run {run_id}: {note}" if run_id else "")
        self.run.updateGeometry()

    def _on_log_toggled(self, shown: bool) -> None:
        self.log.setText("Log ▾" if shown else "Log ▴")
        self.log_toggled.emit(shown)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _bytes(number: int) -> str:
    return f"{local(number / 1e9):.1f} GB" if number >= 1e9 else f"{local(number / 1e6):.0f} MB"
