"""A listener that keeps all that a session shows and asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from gym_gui.controllers.casting import Casting, cast
from gym_gui.controllers.sessions import QuietListener
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.live import HumanQuestion, LiveView


@dataclass
class Watcher(QuietListener):
    """Keeps what it is told.

    Attributes:
        reply: Chooses the answer to a question at once; ``None`` from it leaves the question open.
        answer: The session's own ``answer``, once there is a session.
    """

    views: list[LiveView] = field(default_factory=list)
    frames: list[tuple[int, NDArray[np.uint8]]] = field(default_factory=list)
    questions: list[HumanQuestion] = field(default_factory=list)
    withdrawn: list[int] = field(default_factory=list)
    episodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    rows: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    logs: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    reply: Callable[[HumanQuestion], Any] | None = None
    answer: Callable[[int, Any], None] | None = None

    def on_view(self, view: LiveView) -> None:
        self.views.append(view)

    def on_frame(self, frame: NDArray[np.uint8], number: int) -> None:
        assert frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3
        self.frames.append((number, frame))

    def on_question(self, question: HumanQuestion) -> None:
        self.questions.append(question)
        if self.reply is not None and self.answer is not None:
            action = self.reply(question)
            if action is not None:
                self.answer(question.id, action)

    def on_withdrawn(self, question_id: int) -> None:
        self.withdrawn.append(question_id)

    def on_finished(self, index: int, steps: bytes, episode: bytes) -> None:
        assert index not in self.episodes, "an episode ended twice"
        self.episodes[index] = orjson.loads(episode)
        self.rows[index] = [orjson.loads(line) for line in steps.splitlines()]

    def on_log(self, level: int, logger: str, text: str) -> None:
        self.logs.append(text)

    def on_ended(self, reason: str) -> None:
        self.ends.append(reason)

    @property
    def last(self) -> LiveView:
        """The newest look."""
        return self.views[-1]

    def of(self, episode: int) -> list[LiveView]:
        """Looks at one episode."""
        return [view for view in self.views if view.episode == episode]

    def column(self, episode: int, key: str) -> list[Any]:
        """One field of an episode's rows, in order."""
        return [row[key] for row in self.rows[episode]]


def casting(workers: Any = None, objects: Any = None, task: str = "CartPole-v1", **more: Any) -> Casting:
    """An operator, checked.

    Args:
        workers: By slot, as in an experiment file; who plays at random by default.
        objects: In-process policies by slot.
        task: Its environment.
        more: More for the operator.
    """
    given = {} if workers is None and objects is not None else workers or {"agent": {"type": "random"}}
    data = {"id": "op", "task": task, "workers": given, **more}
    return cast(experiment_from_data({"operators": [data]}, complete=False).operators[0], objects)


def plans(*seeds: int, first: int = 0) -> list[EpisodePlan]:
    """Episodes with these seeds."""
    return [EpisodePlan(first + i, seed, 0) for i, seed in enumerate(seeds)]
