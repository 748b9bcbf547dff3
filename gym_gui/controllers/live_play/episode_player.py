"""Plays one operator's episodes in sessions, one after the other, and reports what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gym_gui.controllers.engine.operator_state import ALIVE
from gym_gui.controllers.engine.session_events import ConfigChanged
from gym_gui.controllers.live_play.episode_totals import Tally
from gym_gui.controllers.live_play.session_play import SessionPlay
from gym_gui.controllers.setup.play_setup import seated_as_written, with_player
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import Opening, TimeControl
from gym_gui.core.experiment.spending import Taking
from gym_gui.core.live import HumanQuestion

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_interface import Session


class EpisodePlayer(SessionPlay):
    """Plays one operator live. The latest request replaces earlier ones.

    Args:
        config: The operator. Its session finds errors in it and reports them as trouble.
        on_event: Receives the events, from the event loop.
        open_session: Makes a session.
        spawn: Runs a background task.
        everything_shown: Returns whether people see what a game hides from their seats.
        seeds: Environment seeds in order; by default they count up from the one given to :meth:`start`.
        run: Records finished episodes; ``None`` records nothing.

    Attributes:
        config: The operator as it is now.
        state: The state that was reported last.
        recording: Run that records episodes that end, or ``None``.
        trouble: Why the player is broken, as a sentence; ``""`` if it is not.
        budget_message: Which budget does not suffice for the next episode, as a sentence; ``""`` if all do.
        compiling: Progress of compiling what the environment needs; ``None`` if nothing is compiled.
        last_view: The newest view, or ``None``.
        last_frame: The newest picture, or ``None``.
        tally: Statistics since the last start or reset.
        paused: Whether the player waits for :meth:`resume` or :meth:`step`.
        stepping: Whether a requested step has not been taken yet.
        stopping: Whether an aborted episode has not been reported yet.
        ending: Whether the session is to end, or has ended, at the caller's request.
        rate: Most steps per second, or ``None``.
        closed: Whether the player has ended for good.
    """

    # -- state ---------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether there is a session that answers."""
        return self.state in ALIVE

    @property
    def done(self) -> bool:
        """Whether every requested episode has been played."""
        return self.feed.done

    @property
    def has_played(self) -> bool:
        """Whether anything has been played since the last start or reset."""
        return bool(self.tally.episodes_done or (self.last_view is not None and self.last_view.step))

    @property
    def questions(self) -> Sequence[HumanQuestion]:
        """Questions that people have not answered yet, oldest first."""
        return tuple(self._questions.values())

    # -- requests -------------------------------------------------------------

    def start(
        self,
        seed: int,
        *,
        episodes: int | None = None,
        render: str = "rgb_array",
        fps: float = 30.0,
        paused: bool = False,
        opening: Opening | None = None,
        time_control: TimeControl | None = None,
    ) -> None:
        """Play from this seed on; open a session if the current one does not fit.

        Args:
            seed: Environment seed of the first episode.
            episodes: Number of episodes; ``None`` for no end.
            render: ``rgb_array``, ``ansi`` or ``none``.
            fps: Most views per second.
            paused: Show the first frame and wait for :meth:`resume` or :meth:`step`.
            opening: Moves that the first episode begins with, if moves of the last episode were taken back.
            time_control: Clock of each side; ``None`` for unlimited time.
        """
        if not self.closed:
            self.paused, self._look = paused, (render, float(fps))
            self._begin(seed, episodes, opening, time_control)

    def reset(self, seed: int) -> None:
        """Leave the running episode and play from this seed on; a paused player stays paused."""
        if not self.closed:
            self._begin(seed, self.feed.limit)

    def _begin(
        self,
        seed: int,
        episodes: int | None,
        opening: Opening | None = None,
        time_control: TimeControl | None = None,
    ) -> None:
        self.trouble = self.budget_message = ""
        self.ending = False
        self._early = None
        self.feed.begin(seed, episodes, opening, time_control)
        self.tally = Tally()
        suits = self.link.suits(self.config, self._look)
        self._work(self._play_afresh() if suits else self._open())

    def restart(self) -> None:
        """After trouble, open a new session, which plays the lost or next episode."""
        if not self.closed and self.trouble:
            self.trouble = self.budget_message = ""
            self.ending = False
            self._work(self._open())

    def configure(self, config: OperatorConfig) -> None:
        """Use another configuration with the same operator id from the next start on.

        If only the name differs, nothing else changes.
        """
        config = seated_as_written(config)
        before, self.config = self.config, config
        if config == replace(before, display_name=config.display_name):
            self.link.adopt(before, config)
        else:
            self.last_view = self.last_frame = None
            self.stop()
            self._blind = True
        self._check_state()
        self._tell(ConfigChanged(config))

    def resume(self) -> None:
        """Continue without waiting for step requests."""
        self.paused = False
        self._early = None
        self.touch()
        if self.link.playing is not None:
            self.link.playing.resume()
            self._play_next()
        self._check_state()

    def play_until(self, episodes: int | None) -> None:
        """End the round after this many episodes, and play up to there at full speed.

        Args:
            episodes: Total number of episodes of the round, including finished ones; ``None``: no end, and
                the pace stays.
        """
        self.feed.limit = episodes
        if episodes is not None:
            self.set_rate(None)
            self.resume()

    def drive(self, driven: bool) -> None:
        """Report the state as running although the caller requests every step (lock-step)."""
        self._driven = driven
        self.touch()
        self._check_state()

    def set_rate(self, steps_per_s: float | None) -> None:
        """Take at most this many steps per second; ``None`` for full speed."""
        self.rate = steps_per_s
        if self.link.playing is not None:
            self.link.playing.pace(steps_per_s)

    def answer(self, question: HumanQuestion, action: Any) -> None:
        """Pass on a person's choice; an answer that comes too late changes nothing.

        Args:
            question: The question.
            action: The action as plain JSON data.
        """
        session = self.link.session
        if self._questions.pop(question.id, None) is not None and session is not None:
            self.touch()
            session.answer(question.id, action)
        self._check_state()

    def rebind(self, agent: str, assignment: WorkerAssignment, name: str = "") -> asyncio.Task[None]:
        """Have another player play a slot from its next decision on.

        Args:
            agent: The slot.
            assignment: The new player.
            name: New name of the operator. If ``name`` is empty or the user has chosen the operator's name,
                the old name stays.

        Returns:
            A task that is done when the player has changed. If that is impossible, the task raises a
            :class:`UsageError` with the reason, and nothing has changed.
        """
        name = "" if self.config.named else name
        return self._spawn(self._rebind(agent, assignment, name), f"changing who plays {agent}")

    async def _rebind(self, agent: str, assignment: WorkerAssignment, name: str) -> None:
        if self.link.session is not None and self.link.playing is None:
            await self.settled()
        before, changed, taking = self.config, with_player(self.config, agent, assignment), None
        if self.link.playing is not None:
            flight, run = self.feed.flight, self.recording
            if flight is not None and run is not None and flight.run is run:
                taking = Taking(agent, flight.plan.index, run.offer(changed, agent, flight.plan))
            await self.link.playing.rebind(agent, assignment, taking.allowance if taking else None)
        self.config = replace(changed, display_name=name or changed.display_name)
        self.link.adopt(before, self.config)
        if self.recording is not None:
            self.recording.describe(self.config, taking)
        self._tell(ConfigChanged(self.config))

    async def present(self, agent: str) -> Mapping[str, Any]:
        """Return what a slot is shown now: the slot and its open question, as its worker has them.

        Raises:
            UsageError: Nothing plays, or the slot is not asked now.
        """
        return await (await self._playing()).present(agent)

    async def see(self, agent: str) -> AgentObservation:
        """Return a slot's observation at this moment.

        Raises:
            UsageError: Nothing plays, the slot is not asked now, or its view is hidden from people who play.
        """
        return await (await self._playing()).see(agent)

    async def _playing(self) -> Session:
        if self.link.session is not None and self.link.playing is None:
            await self.settled()
        if self.link.playing is None:
            raise UsageError("nothing plays", fix="Step or Run starts it")
        return self.link.playing

    def stop(self) -> None:
        """End the session. The last view stays visible, and :meth:`start` begins anew."""
        if not self.closed:
            self.trouble = self.budget_message = ""
            self.ending = True
            self.feed.limit = 0
            self._work(self._shut())

    async def settled(self) -> None:
        """Wait until the latest request has been done."""
        await self._job.settled()

    async def close(self) -> None:
        """End the player for good, with everything that it started."""
        if self.closed:
            return
        self.closed = True
        await self._job.cancel()
        await self._shut()
        await self.link.ended()
