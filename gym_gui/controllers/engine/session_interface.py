"""What the experiment runner and the window need of a session, wherever it runs."""

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
    """What a session says of itself once everybody sits.

    Attributes:
        pid: Its process.
        players: Slot -> worker, type, policy, version.
        concurrency: Episodes it keeps in flight.
        versions: Versions of what acts in it.
        actions: Words of discrete actions, by slot that has them.
        renamed: Other names, ``"key: vatab"``, by the slot that gets them.
        seats: What the game calls seats, by slot that it has a name for.
        machine: What it runs on, as ``run.json`` says it, where that is another machine.
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
    """A session of one operator."""

    async def start(self) -> SessionReady:
        """Make it ready to play.

        Raises:
            UsageError: The person can fix why it cannot.
            MosaicError: It cannot for another reason.
        """
        ...

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        """Queue episodes."""
        ...

    def pause(self) -> None:
        """Hold every episode before its next step."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def step(self) -> None:
        """While paused, take one environment step in every episode."""
        ...

    def step_agent(self) -> None:
        """While paused, let one agent act; where all act at once, all of them do."""
        ...

    def pace(self, steps_per_s: float | None) -> None:
        """Take at most so many environment steps a second in each episode, evenly spaced.

        Args:
            steps_per_s: ``None`` for as many as possible.

        Raises:
            UsageError: Not a positive number.
        """
        ...

    def abort(self) -> None:
        """End every episode, recorded as ``aborted``, and forget those that have not begun.

        The session stays ready to play.
        """
        ...

    async def settled(self) -> None:
        """Wait until the session has done all requests so far and has sent their events.

        Returns at once where the session has ended.
        """
        ...

    def watch(self, live: LiveSettings | None) -> None:
        """Show what is played from now on, in a session that was begun without ``live``.

        This changes no record and asks no person. Episodes that are on already are shown without a
        picture, and with their board where they have one; the next episode has a picture.

        Args:
            live: How; ``None``: no more.

        Raises:
            UsageError: It has been watched since its beginning.
        """
        ...

    def answer(self, question_id: int, action: Any) -> None:
        """Answer a question to a person.

        The session asks again, with the reason, after an answer that cannot be played; it drops
        an answer for which it no longer waits.

        Args:
            question_id: From the :class:`~gym_gui.core.live.HumanQuestion`.
            action: As plain JSON data.
        """
        ...

    def noted(self, number: int) -> None:
        """An announced request is on record: it is sent now.

        Args:
            number: From the :class:`~gym_gui.controllers.engine.session_events.RequestAnnounced`.
        """
        ...

    async def rebind(
        self, agent: AgentID, assignment: WorkerAssignment, allowance: Amount | None = None
    ) -> Mapping[str, str]:
        """Give a slot to another player, which decides from the slot's next decision on.

        Args:
            agent: The slot.
            assignment: The new player.
            allowance: What it may spend in the episode that is being played; ``None``: no budget limits it.

        Returns:
            The new player: worker, type, policy, version.

        Raises:
            UsageError: The new player cannot play there, with the reason; the former player stays.
        """
        ...

    async def present(self, agent: AgentID) -> Mapping[str, Any]:
        """What a slot is shown at this moment (:mod:`gym_gui.controllers.sessions.slot_context`).

        Args:
            agent: A slot whose worker reads.

        Raises:
            UsageError: It is shown nothing, or is not asked now.
        """
        ...

    async def see(self, agent: AgentID) -> AgentObservation:
        """What a slot sees at this moment, for people who watch.

        Args:
            agent: A slot, with any kind of player.

        Raises:
            UsageError: The slot is not asked now, or people who play may not see its view.
        """
        ...

    async def close(self, *, in_haste: bool = False) -> None:
        """End it; what is unfinished leaves no trace. Nothing it started is left.

        Args:
            in_haste: Within two seconds, whatever its workers are at.
        """
        ...


Render: TypeAlias = Literal["rgb_array", "ansi", "none"]


class LiveSettings(Struct, frozen=True):
    """How a session is watched.

    Attributes:
        fps: Most looks a second while it runs freely.
        render: What is shown beside the facts: a picture, the environment's own text (also
            where it draws no picture), or nothing.
        first: The episode that will be played first, if that is known: how it begins is shown
            while the players are still getting ready, which takes seconds where one is large.
        everything: Whether people who play a game that hides things from their seats are shown all
            of it; otherwise what their own seats may see is shown.
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
    """How a session plays.

    Attributes:
        concurrency: Episodes in flight; where a person plays, it is one.
        max_steps: Environment steps after which an episode is truncated.
        observations: Write observations into the rows.
        live: How the session is watched, ``None`` where it is not. Then no person is asked
            either: a person's slot that has no script does not answer.
    """

    concurrency: int
    max_steps: int | None = None
    observations: bool = False
    live: LiveSettings | None = None


def checked_pace(steps_per_s: float | None) -> float | None:
    """A pace that can be kept.

    Raises:
        UsageError: Not a positive number.
    """
    if steps_per_s is not None and not (math.isfinite(steps_per_s) and steps_per_s > 0):
        raise UsageError(
            f"{steps_per_s!r} steps a second cannot be kept", fix="Choose a number above 0, or no limit"
        )
    return steps_per_s


OpenSession = Callable[[ResolvedOperator, SessionSettings, OnSessionEvent], Session]
"""Makes a session that is not started yet; it calls the callback with its events."""


def default_concurrency(resolved: ResolvedOperator, episodes: int) -> int:
    """Episodes in flight that keep workers busy without filling the memory.

    64 small environments cost little; where observations are images, a few suffice to
    hide a worker's latency behind rendering.
    """
    most = 64 if resolved.observation_bytes <= 16_384 else 8
    return max(1, min(most, episodes))
