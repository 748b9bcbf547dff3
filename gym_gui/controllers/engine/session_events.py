"""Events of sessions and of their players: one class per kind of event, one callback for all.

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

if TYPE_CHECKING:  # the window must start without NumPy
    import numpy as np
    from numpy.typing import NDArray

    from gym_gui.analysis.transcripts.turn import Turn

Picture: TypeAlias = "NDArray[np.uint8]"
"""An RGB picture of shape ``(height, width, 3)``."""


class EpisodeStarted(Struct, frozen=True):
    """Event: an episode begins."""

    index: int


class EpisodeRetried(Struct, frozen=True):
    """Event: an episode begins again, because the process of a worker or environment ended.

    Attributes:
        index: The episode.
        reason: How the lost process ended.
        lost: Kind of the lost process, as in :class:`~gym_gui.core.records.RetryRecord`.
    """

    index: int
    reason: str
    lost: str = WORKER


class EpisodeFinished(Struct, frozen=True):
    """Event: an episode is over.

    Attributes:
        index: Index of the episode.
        status: How the episode ended, as in ``line``.
        steps: Rows of the episode, as complete JSON lines.
        line: Complete line of the episode in ``episodes.jsonl``.
        unplayed: Whether the episode ended early because the run's budgets do not suffice, or because
            no more decisions can be made. The episode then counts as not begun.
    """

    index: int
    status: EpisodeStatus
    steps: bytes
    line: bytes
    unplayed: bool = False

    @property
    def cannot_go_on(self) -> str:
        """Reason in a sentence why no further episode can be played; ``""`` if further ones can."""
        row: Any = decode(self.line) if self.unplayed else {}
        return str(row.get("error") or "") if row.get("lost") == SERVER else ""


class StepsTaken(Struct, frozen=True):
    """Event with the total number of environment steps that a session has taken."""

    total: int


class CallMade(Struct, frozen=True):
    """Event with a paid call to a language model, as a line of ``calls.jsonl``."""

    line: bytes


class RequestAnnounced(Struct, frozen=True):
    """Event: a worker waits to send a paid request until the request is on record (``Session.noted``).

    Attributes:
        number: Number of the announcement in its session.
        slot: Slot that makes the request.
        episode: Episode for which the request is made.
        most: Largest amount that the request can cost.
    """

    number: int
    slot: AgentID
    episode: int
    most: Amount


class Thought(Struct, frozen=True):
    """Event with a policy's report on a decision in the watched episode, as a JSON line.

    The event serves display only: the record contains the same data in the episode's rows.
    """

    line: bytes


class LogLine(Struct, frozen=True):
    """Event with a line for the log; ``level`` is a level of :mod:`logging`."""

    level: int
    logger: str
    text: str


class FrameDrawn(Struct, frozen=True):
    """Event with a picture of the watched episode; the :class:`LiveView` with the same number follows.

    If the listener is slow, older pictures are dropped in favor of the newest.
    """

    frame: Picture
    number: int


class QuestionWithdrawn(Struct, frozen=True):
    """Event: the session no longer waits for a person's answer to a question."""

    question_id: int


class SessionEnded(Struct, frozen=True):
    """Event: the session is over; the reason is ``""`` if the session was asked to end."""

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
"""Union of all events of a session. A :class:`LiveView` shows the lowest episode in flight. A
:class:`HumanQuestion` asks a person to choose and is answered with ``Session.answer``. Both are sent only if
the session is watched."""

OnSessionEvent: TypeAlias = Callable[[SessionEvent], None]
"""Callback for events of a session, called from the event loop."""


class StateChanged(Struct, frozen=True):
    """Event with the state of an operator that is played live.

    The event is sent repeatedly while an agent thinks, and when the operator is no longer busy.
    """

    state: OperatorState


class StepTaken(Struct, frozen=True):
    """Event: a requested environment step has been taken."""


class EpisodePlayed(Struct, frozen=True):
    """Event: a requested episode has ended by itself; ``row`` is its recorded line, decoded."""

    row: dict[str, Any]


class TurnTaken(Struct, frozen=True):
    """Event with a turn: a request to a model, or a worker's report on a decision, with its result."""

    turn: Turn


class ConfigChanged(Struct, frozen=True):
    """Event: a slot has another player, or the operator has another name."""

    config: OperatorConfig


class EpisodeUnrecorded(Struct, frozen=True):
    """Event: the current episode was not recorded; ``sentence`` is the reason."""

    sentence: str


class PlayerBroken(Struct, frozen=True):
    """Event: an operator that is played live cannot continue; ``sentence`` is the reason."""

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
"""Union of all events of the class that plays episodes in sessions (:mod:`gym_gui.controllers.live_play`).
Events of its session are passed on if they belong to the requested episodes."""

OnPlayerEvent: TypeAlias = Callable[[PlayerEvent], None]
"""Callback for events of a player, called from the event loop."""
