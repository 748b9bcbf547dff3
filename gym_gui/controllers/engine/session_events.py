"""Events of sessions and of their players: one class for each thing that happens, one callback.

The same events go from the engine to the code that opened the session, from a host process to
its client, and on to the window. A receiver matches the events that it needs and ignores the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.json import decode

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.live import Compiling, HumanQuestion, LiveView
from gym_gui.core.records import SERVER, WORKER
from gym_gui.core.types import AgentID

if TYPE_CHECKING:  # the window starts without it
    import numpy as np
    from numpy.typing import NDArray

    from gym_gui.analysis.transcripts.turn import Turn

Picture: TypeAlias = "NDArray[np.uint8]"
"""``(height, width, 3)``, RGB."""


class EpisodeStarted(Struct, frozen=True):
    """An episode begins."""

    index: int


class EpisodeRetried(Struct, frozen=True):
    """An episode is begun again, because a process was lost.

    Attributes:
        index: The episode.
        reason: How that process ended.
        lost: Which it was, as :class:`~gym_gui.core.records.RetryRecord` has it.
    """

    index: int
    reason: str
    lost: str = WORKER


class EpisodeFinished(Struct, frozen=True):
    """An episode is over.

    Attributes:
        index: Its index.
        status: How it ended, as its line says.
        steps: Its rows, complete JSON lines.
        line: Its own line, complete.
        unplayed: It was broken off because the run's budgets do not carry it, or nothing can be decided any
            more: as good as not begun.
    """

    index: int
    status: EpisodeStatus
    steps: bytes
    line: bytes
    unplayed: bool = False

    @property
    def cannot_go_on(self) -> str:
        """Why no other episode can be played now either, in a sentence; empty where others can."""
        row: Any = decode(self.line) if self.unplayed else {}
        return str(row.get("error") or "") if row.get("lost") == SERVER else ""


class StepsTaken(Struct, frozen=True):
    """Environment steps that the session has taken so far."""

    total: int


class CallMade(Struct, frozen=True):
    """A call was paid for; its line in ``calls.jsonl``."""

    line: bytes


class RequestAnnounced(Struct, frozen=True):
    """A paid request is about to be sent, as soon as it is on record (``Session.noted``).

    Attributes:
        number: Of the announcement in its session.
        slot: Whose request it is.
        episode: For which one.
        most: What it takes at most.
    """

    number: int
    slot: AgentID
    episode: int
    most: Amount


class Thought(Struct, frozen=True):
    """What was told of a decision in the episode that is looked at: its row, with who plays for the seat.

    It is there to be seen only: the record has it in the episode's rows.
    """

    line: bytes


class LogLine(Struct, frozen=True):
    """A line for the log; levels are those of :mod:`logging`."""

    level: int
    logger: str
    text: str


class FrameDrawn(Struct, frozen=True):
    """A picture of the episode that is looked at; it belongs to the view of that number, which follows.

    Where the listener is slow, pictures are left out: the newest counts.
    """

    frame: Picture
    number: int


class QuestionWithdrawn(Struct, frozen=True):
    """The session no longer waits for the answer to this question."""

    question_id: int


class SessionEnded(Struct, frozen=True):
    """The session is over: ``""`` when it was asked to end, else why."""

    reason: str


SessionEvent: TypeAlias = (
    EpisodeStarted
    | EpisodeRetried
    | EpisodeFinished
    | StepsTaken
    | CallMade
    | RequestAnnounced
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


class StateChanged(Struct, frozen=True):
    """A player's state; sent repeatedly while an agent thinks, and when the player is no longer busy."""

    state: OperatorState


class StepTaken(Struct, frozen=True):
    """A step that was asked for has been taken."""


class EpisodePlayed(Struct, frozen=True):
    """An episode that was asked for has ended by itself; its line, as recorded."""

    row: dict[str, Any]


class TurnTaken(Struct, frozen=True):
    """A model was asked, or a worker told more of a decision: the turn with its result."""

    turn: Turn


class ConfigChanged(Struct, frozen=True):
    """Another player has a slot, or the operator has another name."""

    config: OperatorConfig


class EpisodeUnrecorded(Struct, frozen=True):
    """What was being played is not on record; why, as a sentence."""

    sentence: str


class PlayerBroken(Struct, frozen=True):
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
"""Events of the class that plays episodes in sessions (:mod:`gym_gui.controllers.live_play`), among them
those of its session that belong to the requested episodes."""

OnPlayerEvent: TypeAlias = Callable[[PlayerEvent], None]
"""Called from the event loop."""
