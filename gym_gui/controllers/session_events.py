"""What sessions and those who play them say: one kind of object for each thing that happens, one callback.

The same events go from the engine to whoever opened the session, from a host process to its
client, and on to the window. Who needs only some of them matches these and passes over the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from gym_gui.controllers.live_play.state import OperatorState
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.live import Compiling, HumanQuestion, LiveView

if TYPE_CHECKING:  # the window starts without it
    import numpy as np
    from numpy.typing import NDArray

    from gym_gui.analysis.transcript import Turn

Picture: TypeAlias = "NDArray[np.uint8]"
"""``(height, width, 3)``, RGB."""


@dataclass(frozen=True, slots=True)
class EpisodeStarted:
    """An episode begins."""

    index: int


@dataclass(frozen=True, slots=True)
class EpisodeRetried:
    """An episode is begun again, because a worker was lost."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class EpisodeFinished:
    """An episode is over.

    Attributes:
        index: Its index.
        status: How it ended, as its line says.
        steps: Its rows, complete JSON lines.
        line: Its own line, complete.
        unplayed: It was broken off because the run's budgets do not carry it: as good as not begun.
    """

    index: int
    status: EpisodeStatus
    steps: bytes
    line: bytes
    unplayed: bool = False


@dataclass(frozen=True, slots=True)
class StepsTaken:
    """Environment steps that the session has taken so far."""

    total: int


@dataclass(frozen=True, slots=True)
class CallMade:
    """A call was paid for; its line in ``calls.jsonl``."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Thought:
    """What was told of a decision in the episode that is looked at: its row, with who plays for the seat.

    It is there to be seen only: the record has it in the episode's rows.
    """

    line: bytes


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line for the log; levels are those of :mod:`logging`."""

    level: int
    logger: str
    text: str


@dataclass(frozen=True, slots=True)
class FrameDrawn:
    """A picture of the episode that is looked at; it belongs to the view of that number, which follows.

    Where the listener is slow, pictures are left out: the newest counts.
    """

    frame: Picture
    number: int


@dataclass(frozen=True, slots=True)
class QuestionWithdrawn:
    """Nobody waits for the answer to this question any more."""

    question_id: int


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over: ``""`` when it was asked to end, else why."""

    reason: str


SessionEvent: TypeAlias = (
    EpisodeStarted
    | EpisodeRetried
    | EpisodeFinished
    | StepsTaken
    | CallMade
    | Thought
    | Compiling
    | LogLine
    | FrameDrawn
    | LiveView
    | HumanQuestion
    | QuestionWithdrawn
    | SessionEnded
)
"""A :class:`LiveView` is a look at the lowest episode in flight, a :class:`HumanQuestion` asks a person
to choose (to be answered with ``Session.answer``); both only where the session is watched."""

OnSessionEvent: TypeAlias = Callable[[SessionEvent], None]
"""Called from the event loop."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A player stands elsewhere; told again and again while somebody thinks, and when it is busy no more."""

    state: OperatorState


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step that was asked for has been taken."""


@dataclass(frozen=True, slots=True)
class EpisodePlayed:
    """An episode that was asked for has ended by itself; its line, as recorded."""

    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A model was asked or more was told of a decision, and what came of it."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """Somebody else plays, or they go by another name."""

    config: OperatorConfig


@dataclass(frozen=True, slots=True)
class EpisodeUnrecorded:
    """What was being played is not on record; why, as a sentence."""

    sentence: str


@dataclass(frozen=True, slots=True)
class PlayerBroken:
    """It cannot go on; why, as a sentence."""

    sentence: str


PlayerEvent: TypeAlias = (
    StateChanged
    | LiveView
    | FrameDrawn
    | StepTaken
    | HumanQuestion
    | QuestionWithdrawn
    | EpisodePlayed
    | TurnTaken
    | ConfigChanged
    | EpisodeUnrecorded
    | PlayerBroken
)
"""What whoever plays episodes in sessions tells (:mod:`gym_gui.controllers.live_play`): of what its
session says, what belongs to the episodes that were asked for."""

OnPlayerEvent: TypeAlias = Callable[[PlayerEvent], None]
"""Called from the event loop."""
