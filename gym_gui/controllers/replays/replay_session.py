"""Replays one recorded episode and yields a frame for each position.

A replay runs where environments may be stepped: in a session host process, or in a command. The caller passes
the rows, so that the replay needs no access to the run folder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from gym_gui.controllers.engine.bound_operator import recorded_slots
from gym_gui.controllers.engine.resolved_operator import make_environment
from gym_gui.controllers.replays.replayed_episode import ReplayedEpisode
from gym_gui.controllers.replays.replayed_observation import ReplayedObservations
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import EpisodeError, RunFormatError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.live import Board
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.types import PLAN_POINTS, AgentID, Plan
from gym_gui.services.backends import SlotInfo
from gym_gui.services.runs.recorded_episode import RecordedEpisode

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Picture = NDArray[np.uint8]
"""An RGB picture of shape ``(height, width, 3)``."""


@dataclass(frozen=True)
class ReplayOrder:
    """Request to replay one recorded episode, with all data that the replay needs.

    Attributes:
        operator: The operator's entry in the experiment.
        index: Index of the episode.
        seed: Seed of the episode.
        seats: Configured slot by seat.
        max_steps: Step at which the engine truncated the episode, or ``None``.
        lines: Rows of the episode as JSON lines.
        origin: The run's file that names the environment.
        seen_from: Seat whose observations are shown instead of pictures of the whole game; ``""`` for the
            whole game.
    """

    operator: Mapping[str, Any]
    index: int
    seed: int
    seats: Mapping[AgentID, AgentID]
    max_steps: int | None
    lines: bytes
    origin: Origin = TYPED
    seen_from: AgentID = ""

    @classmethod
    def of(cls, recorded: RecordedEpisode, seen_from: AgentID = "") -> ReplayOrder:
        """Return the replay request for a recorded episode.

        Args:
            recorded: The episode.
            seen_from: As the attribute :attr:`seen_from`.

        Raises:
            RunFormatError: The episode has no seed, so it cannot be played again.
        """
        episode = recorded.episode
        if episode.seed is None:
            where = f"episode {episode.episode_index} of {recorded.name}"
            raise RunFormatError(where, "no seed is recorded, so the episode cannot be played again")
        return cls(
            recorded.config,
            episode.episode_index,
            episode.seed,
            recorded.seats,
            recorded.max_steps,
            recorded.lines,
            Origin(str(recorded.run / "run.json"), str(recorded.run)),
            seen_from,
        )

    @property
    def config(self) -> OperatorConfig:
        """Configuration of the operator, read from the run's ``operators`` entry."""
        data = {"operators": [dict(self.operator)]}
        return experiment_from_data(data, complete=False, origin=self.origin).operators[0]


@dataclass(frozen=True)
class ReplayFrame:
    """State of a replayed episode at one position.

    Attributes:
        position: Number of rounds of decisions played; 0 is the state after reset.
        step: Environment steps taken.
        rows: Rows of the record that have been played.
        picture: Picture from the environment; ``None`` if it renders none.
        board: The board position, in board games.
        text: The environment's own text, if there is neither picture nor board.
        scores: Score by team, as the environment keeps it.
        moves: Moves since the previous frame, in the game's own notation.
        result: Who won and how, once the game is over.
        observed: Current observation of the seat ``seen_from``, or its last if it is not to act now.
    """

    position: int
    step: int
    rows: int
    picture: Picture | None = None
    board: Board | None = None
    text: str = ""
    scores: Mapping[str, float] | None = None
    moves: tuple[str, ...] = ()
    result: str = ""
    observed: AgentObservation | None = None


@dataclass
class EpisodeReplay:
    """Replay of one episode: steps an environment with the recorded actions.

    Attributes:
        order: The episode to replay.
        render: Whether frames contain pictures.
        meanings: Names of discrete actions from 0 on, by seat; known after :meth:`open`.
        seats: The game's own name of each agent's seat; known after :meth:`open`.
        departs: How the replay differs from the record; ``""`` if it does not. Known after the last frame.
    """

    order: ReplayOrder
    render: bool = True
    meanings: Mapping[AgentID, tuple[str, ...]] = field(default_factory=dict[AgentID, tuple[str, ...]])
    seats: Mapping[AgentID, str] = field(default_factory=dict[AgentID, str])
    departs: str = ""
    _written: int = field(default=0, init=False)

    def open(self) -> None:
        """Make the environment of the replay.

        Raises:
            UsageError: The environment is unknown, not installed, or cannot be made with these settings.
        """
        self._environment = make_environment(
            self.order.config, render_mode="rgb_array" if self.render else None
        )
        slots = recorded_slots(self._environment)
        self._again = ReplayedEpisode(
            EpisodePlan(self.order.index, self.order.seed, 0),
            self._environment,
            slots,
            [orjson.loads(line) for line in self.order.lines.splitlines()],
            self.order.max_steps,
            seats={agent: self.order.seats.get(agent, agent) for agent in slots},
        )
        self._observed = self._seat_view(slots) if self.order.seen_from else None
        self.seats = self._environment.seat_names
        self.meanings = {agent: _words_from_0(slot) for agent, slot in slots.items()}

    def close(self) -> None:
        """Close the environment."""
        self._environment.close()

    def frames(self) -> Iterator[ReplayFrame]:
        """Yield a frame for each position, from reset to the end of the record; call :meth:`open` first."""
        again, error = self._again, ""
        try:
            again.open()
            yield self._look(0)
            for position, _ in enumerate(again.rounds(), 1):
                yield self._look(position)
        except EpisodeError as exc:
            error = str(exc)
        self.departs = self._compare(error)

    def _seat_view(self, slots: Mapping[AgentID, SlotInfo]) -> ReplayedObservations:
        order = self.order
        slot = order.seats.get(order.seen_from, order.seen_from)
        player = order.config.resolved_slots().get(slot)
        return ReplayedObservations(order.seen_from, order.index, self._environment, player, slots.get(slot))

    def _look(self, position: int) -> ReplayFrame:
        environment, episode, played = self._environment, self._again.episode, self._again.played
        if self._observed is not None:
            observed = self._observed.current(self._again.pending)
            return ReplayFrame(position, episode.steps, played, observed=observed)
        plans = self._plans()
        picture = _tried(lambda: environment.picture(plans)) if self.render else None
        board = _tried(environment.board) if self.render else None
        text = (_tried(environment.ansi) or "") if self.render and picture is None and board is None else ""
        scores = _tried(lambda: environment.scores(episode.trajectory.returns))
        moves = environment.notation(episode.trajectory.played) if environment.notates else ()
        since, self._written = self._written, len(moves)
        won = (
            _tried(lambda: environment.outcome(episode.trajectory.returns))
            if not self._again.pending
            else None
        )
        result = _tried(lambda: environment.result(won)) or ""
        return ReplayFrame(
            position, episode.steps, played, picture, board, text, scores, moves[since:], result
        )

    def _plans(self) -> list[Plan]:
        """Return the planned paths that players reported with their last decisions."""
        latest = self._again.rows[: self._again.played][-len(self.order.seats) :]
        last = {str(row.get("agent_id")): row for row in latest}
        return [row[PLAN_POINTS] for row in last.values() if PLAN_POINTS in row]

    def _compare(self, error: str) -> str:
        """Return the first difference from the record, as a sentence; ``""`` if there is none."""
        recorded, episode = self._again.rows, self._again.episode
        lines, _, _ = episode.trajectory.lines(self.order.seed)
        for then, line in zip(recorded, lines.splitlines(), strict=False):
            now = orjson.loads(line)
            sha = then.get("state_sha")
            if sha is not None and sha != now["state_sha"]:
                return _DIFFERS.format(step=then.get("step_index"), agent=then.get("agent_id"))
        if error:
            return f"When replayed, the environment fails at step {episode.steps}: {error}."
        if self._again.played < len(recorded):
            row = recorded[self._again.played]
            return f"When replayed, the episode ends before step {row.get('step_index')} of the record."
        return ""


_DIFFERS = (
    "From step {step} ({agent}) on, the replay differs from the record: the environment "
    "or its version has changed. To list the differences, use Verify."
)


def _words_from_0(slot: SlotInfo) -> tuple[str, ...]:
    """Return the names of actions by number, padded if the actions do not begin at 0."""
    start = slot.action_codec.space.start
    return ("",) * start + tuple(slot.action_meanings) if start > 0 else tuple(slot.action_meanings)


def _tried(ask: Callable[[], _T]) -> _T | None:
    """Return the environment's answer; ``None`` if it raises, so that the replay continues."""
    try:
        return ask()
    except Exception:  # the border to foreign code
        _log.debug("the environment shows nothing", exc_info=True)
        return None
