"""Plays one operator's episodes live, one after the other, and reports what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gym_gui.controllers.engine.operator_state import ALIVE
from gym_gui.controllers.engine.session_events import ConfigChanged
from gym_gui.controllers.live_play.episode_totals import EpisodeTotals
from gym_gui.controllers.live_play.session_play import SessionPlay
from gym_gui.controllers.setup.play_setup import seated_as_written, with_player
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import Opening, TimeControl
from gym_gui.core.experiment.spending import Takeover
from gym_gui.core.live import HumanQuestion

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_interface import Session


class EpisodePlayer(SessionPlay):
    """Player of one live operator. The latest request replaces earlier ones.

    Args:
        config: The operator. Its session checks it and reports errors as :attr:`trouble`.
        on_event: Receives the events, from the event loop.
        open_session: Makes a session.
        spawn: Runs a background task.
        everything_shown: Returns whether people see observations that the game hides from their seats.
        seeds: Environment seeds in order; by default they count up from the one given to :meth:`start`.
        run: Records finished episodes; ``None`` records nothing.

    Attributes:
        config: The operator's current configuration.
        state: The state that was reported last.
        recording: Run that records episodes that end, or ``None``.
        trouble: Why the player is broken, as a sentence; ``""`` if it is not.
        budget_message: Which budget does not suffice for the next episode, as a sentence; ``""`` if all do.
        compiling: Progress of compiling functions of the environment; ``None`` if nothing is compiled.
        last_view: The newest view, or ``None``.
        last_frame: The newest picture, or ``None``.
        tally: Statistics since the last start or reset.
        paused: Whether the player waits for :meth:`resume` or :meth:`step`.
        stepping: Whether a requested step has not been taken yet.
        stopping: Whether an aborted episode has not been reported yet.
        ending: Whether the session is ending or has ended at the caller's request.
        rate: Most steps per second, or ``None``.
        closed: Whether the player has ended for good.
    """

    # -- state ---------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether the player has a session that answers."""
        return self.state in ALIVE

    @property
    def done(self) -> bool:
        """Whether every requested episode has been played."""
        return self.feed.done

    @property
    def has_played(self) -> bool:
        """Whether a step has been taken since the last start or reset."""
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
        """Play episodes from this seed on; open a new session if the current one does not fit.

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
            self.paused, self._view_options = paused, (render, float(fps))
            self._begin(seed, episodes, opening, time_control)

    def reset(self, seed: int) -> None:
        """Abort the running episode and play from this seed on; a paused player stays paused."""
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
        self._early_step = None
        self.feed.begin(seed, episodes, opening, time_control)
        self.tally = EpisodeTotals()
        suits = self.link.suits(self.config, self._view_options)
        self._work(self._play_afresh() if suits else self._open())

    def restart(self) -> None:
        """Open a new session after an error, and play the lost or next episode in it."""
        if not self.closed and self.trouble:
            self.trouble = self.budget_message = ""
            self.ending = False
            self._work(self._open())

    def configure(self, config: OperatorConfig) -> None:
        """Use another configuration with the same operator id from the next start on.

        If only the display name differs, the session stays open.
        """
        config = seated_as_written(config)
        before, self.config = self.config, config
        if config == replace(before, display_name=config.display_name):
            self.link.adopt(before, config)
        else:
            self.last_view = self.last_frame = None
            self.stop()
            self._is_outdated = True
        self._check_state()
        self._tell(ConfigChanged(config))

    def resume(self) -> None:
        """Continue playing without waiting for step requests."""
        self.paused = False
        self._early_step = None
        self.touch()
        if self.link.playing is not None:
            self.link.playing.resume()
            self._play_next()
        self._check_state()

    def play_until(self, episodes: int | None) -> None:
        """End the round after this many episodes, and play them at full speed.

        Args:
            episodes: Total number of episodes of the round, including finished ones; ``None`` for an
                endless round at the current pace.
        """
        self.feed.limit = episodes
        if episodes is not None:
            self.set_rate(None)
            self.resume()

    def drive(self, driven: bool) -> None:
        """Report the state as running although the caller requests every step (operators in lock-step)."""
        self._driven = driven
        self.touch()
        self._check_state()

    def set_rate(self, steps_per_s: float | None) -> None:
        """Limit the environment steps per second; ``None`` for full speed."""
        self.rate = steps_per_s
        if self.link.playing is not None:
            self.link.playing.pace(steps_per_s)

    def answer(self, question: HumanQuestion, action: Any) -> None:
        """Send a person's action to the session; an answer that comes too late changes nothing.

        Args:
            question: The question that the person answers.
            action: The action as plain JSON data.
        """
        session = self.link.session
        if self._questions.pop(question.id, None) is not None and session is not None:
            self.touch()
            session.answer(question.id, action)
        self._check_state()

    def rebind(self, agent: str, assignment: WorkerAssignment, name: str = "") -> asyncio.Task[None]:
        """Assign another player to a slot from the slot's next decision on.

        Args:
            agent: The slot.
            assignment: The new player.
            name: New name of the operator. If ``name`` is empty or the user has chosen the operator's name,
                the old name stays.

        Returns:
            A task that is done when the player has changed. If the change is impossible, the task raises a
            :class:`UsageError` with the reason, and the old player stays.
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
                taking = Takeover(agent, flight.plan.index, run.offer(changed, agent, flight.plan))
            await self.link.playing.rebind(agent, assignment, taking.allowance if taking else None)
        self.config = replace(changed, display_name=name or changed.display_name)
        self.link.adopt(before, self.config)
        if self.recording is not None:
            self.recording.describe(self.config, taking)
        self._tell(ConfigChanged(self.config))

    async def present(self, agent: str) -> Mapping[str, Any]:
        """Return a slot's spaces and its open question, as the slot's worker gets them.

        Raises:
            UsageError: No session plays, or the slot has no open question.
        """
        return await (await self._playing()).present(agent)

    async def see(self, agent: str) -> AgentObservation:
        """Return a slot's current observation for people who watch.

        Raises:
            UsageError: No session plays, the slot has no open question, or its observation is hidden from
                people who play.
        """
        return await (await self._playing()).see(agent)

    async def _playing(self) -> Session:
        if self.link.session is not None and self.link.playing is None:
            await self.settled()
        if self.link.playing is None:
            raise UsageError("nothing is playing", fix="Start the operator with Step or Run")
        return self.link.playing

    def stop(self) -> None:
        """End the session; the last view stays visible, and :meth:`start` opens a new session."""
        if not self.closed:
            self.trouble = self.budget_message = ""
            self.ending = True
            self.feed.limit = 0
            self._work(self._close_session())

    async def settled(self) -> None:
        """Wait until the latest request has been carried out."""
        await self._job.settled()

    async def close(self) -> None:
        """End the player for good, with its sessions and tasks."""
        if self.closed:
            return
        self.closed = True
        await self._job.cancel()
        await self._close_session()
        await self.link.ended()
