"""What the experiment runner needs of a session, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gym_gui.controllers.casting import Casting
from gym_gui.core.execution import EpisodePlan


class SessionListener(Protocol):
    """Told what a session does. Called from the event loop."""

    def on_started(self, index: int) -> None:
        """An episode began."""
        ...

    def on_finished(self, index: int, steps: bytes, episode: bytes) -> None:
        """An episode is over; both are complete JSON lines."""
        ...

    def on_steps(self, total: int) -> None:
        """Environment steps the session has taken so far."""
        ...

    def on_call(self, line: bytes) -> None:
        """A paid call was made."""
        ...

    def on_log(self, level: int, logger: str, text: str) -> None:
        """A line for the log."""
        ...

    def on_ended(self, reason: str) -> None:
        """The session is over: ``""`` when it was asked to end, else why."""
        ...


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class SessionReady:
    """What a session says of itself once everybody sits.

    Attributes:
        pid: Its process.
        players: Slot -> worker, type, policy, version.
        concurrency: Episodes it keeps in flight.
        versions: Versions of what acts in it.
    """

    pid: int
    players: Mapping[str, Mapping[str, str]] = field(default_factory=_nothing)
    concurrency: int = 1
    versions: Mapping[str, str] = field(default_factory=_nothing)


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

    async def close(self) -> None:
        """End it; what is unfinished leaves no trace. Nothing it started is left."""
        ...


@dataclass(frozen=True)
class SessionSettings:
    """How a session plays.

    Attributes:
        concurrency: Episodes in flight.
        max_steps: Environment steps after which an episode is truncated.
        observations: Write observations into the rows.
    """

    concurrency: int
    max_steps: int | None = None
    observations: bool = False


OpenSession = Callable[[Casting, SessionSettings, SessionListener], Session]
"""Makes a session that is not started yet."""


def default_concurrency(casting: Casting, episodes: int) -> int:
    """Episodes in flight that keep workers busy without filling the memory.

    64 small environments cost little; where observations are images, a few suffice to
    hide a worker's latency behind rendering.
    """
    most = 64 if casting.observation_bytes <= 16_384 else 8
    return max(1, min(most, episodes))
