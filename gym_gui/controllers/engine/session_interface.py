"""Interface of sessions that the experiment runner and the window use, wherever a session runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.types import AgentID


class SessionReady(Struct, frozen=True):
    """Description of a session, sent once every slot has its player.

    Attributes:
        pid: Id of the session's process.
        players: Worker, type, policy and version of each slot's player.
        concurrency: Episodes that the session keeps in flight.
        versions: Versions of the packages that the session uses.
        actions: Names of discrete actions, by slot. Slots without names are left out.
        renamed: Substitute names, as ``"key: vatab"``, by slot. Slots that get the usual names are left out.
        seats: The game's own name of a seat, by slot. Slots whose seat has no name are left out.
        machine: Description of the machine, as in ``run.json``, if the session runs on another machine.
        announcing: Slots whose workers announce each paid request.
    """

    pid: int
    players: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Any])
    concurrency: int = 1
    versions: Mapping[str, str] = field(default_factory=dict[str, Any])
    actions: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Any])
    renamed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Any])
    seats: Mapping[str, str] = field(default_factory=dict[str, Any])
    machine: Mapping[str, Any] = field(default_factory=dict[str, Any])
    announcing: Sequence[AgentID] = ()


class Session(Protocol):
    """Interface of a session, which plays the episodes of one operator."""

    async def start(self) -> SessionReady:
        """Start the session's workers and return its description.

        Raises:
            UsageError: The session cannot start, for a reason that the user can fix.
            MosaicError: The session cannot start for another reason.
        """
        ...

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        """Append episodes to the session's queue."""
        ...

    def pause(self) -> None:
        """Hold every episode before its next step."""
        ...

    def resume(self) -> None:
        """Let all episodes step again after a pause."""
        ...

    def step(self) -> None:
        """Take one environment step in every episode while the session is paused."""
        ...

    def step_agent(self) -> None:
        """Let one agent act while the session is paused; in simultaneous games, let all agents act."""
        ...

    def pace(self, steps_per_s: float | None) -> None:
        """Take at most this many environment steps per second in each episode, evenly spaced.

        Args:
            steps_per_s: Steps per second; ``None`` sets no limit.

        Raises:
            UsageError: ``steps_per_s`` is not a positive number.
        """
        ...

    def abort(self) -> None:
        """End every episode, recorded as ``aborted``, and remove queued episodes.

        The session stays ready to play.
        """
        ...

    async def settled(self) -> None:
        """Wait until the session has carried out all earlier requests and has sent their events.

        If the session has ended, return at once.
        """
        ...

    def watch(self, live: LiveSettings | None) -> None:
        """Send views of episodes from now on, in a session that was started without live view.

        The record stays the same, and people are not asked. Episodes in flight are shown without a picture,
        but with their board if they have one. The next episode has a picture.

        Args:
            live: How to watch; ``None`` ends the watching.

        Raises:
            UsageError: The session has been watched since its start.
        """
        ...

    def answer(self, question_id: int, action: Any) -> None:
        """Send a person's answer to a question of the session.

        After an answer that cannot be played, the session asks again, with the reason. An answer for which
        the session no longer waits is dropped.

        Args:
            question_id: From the :class:`~gym_gui.core.live.HumanQuestion`.
            action: As plain JSON data.
        """
        ...

    def noted(self, number: int) -> None:
        """Confirm that an announced paid request is on record, so that the session sends the request.

        Args:
            number: From the :class:`~gym_gui.controllers.engine.session_events.RequestAnnounced`.
        """
        ...

    async def rebind(
        self, agent: AgentID, assignment: WorkerAssignment, allowance: Amount | None = None
    ) -> Mapping[str, str]:
        """Assign another player to a slot, which makes the slot's open and later decisions.

        Args:
            agent: The slot.
            assignment: The new player.
            allowance: What the new player may spend in the current episode; ``None``: no budget limits it.

        Returns:
            The new player: worker, type, policy, version.

        Raises:
            UsageError: The new player cannot play in the slot, with the reason. The former player stays.
        """
        ...

    async def present(self, agent: AgentID) -> Mapping[str, Any]:
        """Return a slot's current prompt inputs (:mod:`gym_gui.controllers.sessions.slot_inputs`).

        Args:
            agent: A slot whose worker reads prompts.

        Raises:
            UsageError: The slot has no prompt inputs, or is not asked now.
        """
        ...

    async def see(self, agent: AgentID) -> AgentObservation:
        """Return a slot's current observation, for people who watch.

        Args:
            agent: A slot, with any kind of player.

        Raises:
            UsageError: The slot is not asked now, or people who play may not see its view.
        """
        ...

    async def close(self, *, in_haste: bool = False) -> None:
        """End the session and its workers. Unfinished episodes are not recorded.

        Args:
            in_haste: End within two seconds, whatever the workers are doing.
        """
        ...


Render: TypeAlias = Literal["rgb_array", "ansi", "none"]


class LiveSettings(Struct, frozen=True):
    """Settings of the live view of a session.

    Attributes:
        fps: Largest number of views per second while the session runs freely.
        render: Display in addition to rewards and actions: a picture, the environment's text, or nothing.
            The text is also shown if the environment renders no picture.
        first: The episode that will be played first, if known. Its start is shown while the players are
            still getting ready, which takes seconds for large players.
        everything: Whether people who play a game with hidden information see all of it. Otherwise they see
            what their own seats may see.
    """

    fps: float = 30.0
    render: Render = "rgb_array"
    first: EpisodePlan | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.fps) and 0 < self.fps <= 1000):
            raise UsageError(
                f"{self.fps!r} looks a second cannot be had", fix="Choose a number above 0, up to 1000"
            )
        if self.render not in ("rgb_array", "ansi", "none"):
            raise UsageError(f"nothing can be shown as {self.render!r}", fix="Choose rgb_array, ansi or none")


class SessionSettings(Struct, frozen=True):
    """Settings with which a session plays.

    Attributes:
        concurrency: Episodes in flight; 1 if a person plays.
        max_steps: Environment steps after which an episode is truncated.
        observations: Write observations into the rows.
        live: Settings of the live view; ``None`` if the session is not watched. Then people are not asked
            either: a person's slot without a script does not answer.
    """

    concurrency: int
    max_steps: int | None = None
    observations: bool = False
    live: LiveSettings | None = None


def checked_pace(steps_per_s: float | None) -> float | None:
    """Return a pace in steps per second after a check that it is a positive number or ``None``.

    Raises:
        UsageError: The pace is not a positive number.
    """
    if steps_per_s is not None and not (math.isfinite(steps_per_s) and steps_per_s > 0):
        raise UsageError(
            f"{steps_per_s!r} steps a second cannot be kept", fix="Choose a number above 0, or no limit"
        )
    return steps_per_s


OpenSession = Callable[[ResolvedOperator, SessionSettings, OnSessionEvent], Session]
"""Factory of a session that is not started yet; the callback receives the session's events."""


def default_concurrency(resolved: ResolvedOperator, episodes: int) -> int:
    """Return a number of parallel episodes that keeps workers busy without filling the memory.

    64 small environments cost little. If observations are images, 8 suffice to hide a worker's latency behind
    rendering.
    """
    most = 64 if resolved.observation_bytes <= 16_384 else 8
    return max(1, min(most, episodes))
