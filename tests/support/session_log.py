"""What a session says, kept: the one listener of the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    EpisodeRetried,
    EpisodeStarted,
    FrameDrawn,
    LogLine,
    QuestionWithdrawn,
    SessionEnded,
    SessionEvent,
    StepsTaken,
)
from gym_gui.core.live import HumanQuestion, LiveView

_TIMES = ("latency_ms", "started_at", "wall_s")


@dataclass
class SessionLog:
    """Keeps every event it is called with.

    Attributes:
        started: Indices of episodes that began, in order.
        retried: Index and reason of episodes that were begun again.
        order: Indices of episodes that ended, in order.
        episodes: Their lines.
        rows: Their rows.
        steps: The newest count of environment steps.
        calls: Paid calls.
        logs: Texts of log lines.
        ends: Reasons why the session ended.
        frames: Numbers and pictures.
        reply: Chooses the answer to a question at once; ``None`` from it leaves the question open.
        answer: The session's own ``answer``, once there is a session.
    """

    started: list[int] = field(default_factory=list)
    retried: list[tuple[int, str]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    episodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    rows: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    steps: int = 0
    calls: list[dict[str, Any]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    views: list[LiveView] = field(default_factory=list)
    frames: list[tuple[int, NDArray[np.uint8]]] = field(default_factory=list)
    questions: list[HumanQuestion] = field(default_factory=list)
    withdrawn: list[int] = field(default_factory=list)
    reply: Callable[[HumanQuestion], Any] | None = None
    answer: Callable[[int, Any], None] | None = None

    def __call__(self, event: SessionEvent) -> None:
        match event:
            case EpisodeStarted(index):
                self.started.append(index)
            case EpisodeRetried(index, reason):
                self.retried.append((index, reason))
            case EpisodeFinished():
                self._keep(event)
            case StepsTaken(total):
                self.steps = total
            case CallMade(line):
                self.calls.append(orjson.loads(line))
            case LogLine(text=text):
                self.logs.append(text)
            case FrameDrawn(frame, number):
                assert frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3
                self.frames.append((number, frame))
            case LiveView():
                self.views.append(event)
            case HumanQuestion():
                self._ask(event)
            case QuestionWithdrawn(question_id):
                self.withdrawn.append(question_id)
            case SessionEnded(reason):
                self.ends.append(reason)

    def _keep(self, episode: EpisodeFinished) -> None:
        index, line = episode.index, episode.line
        assert index not in self.episodes, "an episode ended twice"
        assert line.endswith(b"\n") and line.count(b"\n") == 1
        self.order.append(index)
        self.rows[index] = [orjson.loads(row) for row in episode.steps.splitlines()]
        self.episodes[index] = orjson.loads(line)
        assert self.episodes[index]["status"] == episode.status

    def _ask(self, question: HumanQuestion) -> None:
        self.questions.append(question)
        if self.reply is not None and self.answer is not None:
            action = self.reply(question)
            if action is not None:
                self.answer(question.id, action)

    @property
    def last(self) -> LiveView:
        """The newest look."""
        return self.views[-1]

    def of(self, episode: int) -> list[LiveView]:
        """Looks at one episode."""
        return [view for view in self.views if view.episode == episode]

    def essence(self) -> dict[int, Any]:
        """All that must be the same at any speed, by episode."""
        return {
            index: [{k: v for k, v in row.items() if k not in _TIMES} for row in (*self.rows[index], episode)]
            for index, episode in self.episodes.items()
        }

    def column(self, index: int, key: str, agent: str | None = None) -> list[Any]:
        """One field of an episode's rows, in order."""
        return [row[key] for row in self.rows[index] if agent in (None, row["agent_id"])]
