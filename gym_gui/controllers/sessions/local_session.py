"""Session that plays in the engine's own process, for tests, notebooks, and session host processes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from gym_gui import envs
from gym_gui.controllers.engine.bound_operator import BoundOperator, Player
from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.episode_rows import SeatCodecs
from gym_gui.controllers.engine.human_questions import QuestionDesk
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.engine.seat_view import SeatView
from gym_gui.controllers.engine.session import SessionController
from gym_gui.controllers.engine.session_events import (
    CallMade,
    EpisodeFinished,
    LogLine,
    OnSessionEvent,
    RequestAnnounced,
    SessionEnded,
    SessionEvent,
    StepsTaken,
)
from gym_gui.controllers.engine.session_interface import (
    LiveSettings,
    SessionReady,
    SessionSettings,
    checked_pace,
)
from gym_gui.controllers.engine.spectator import Spectator
from gym_gui.controllers.human.agent_views import observation_of
from gym_gui.controllers.sessions.bind_workers import Secrets, bind_workers, start_worker
from gym_gui.controllers.sessions.slot_inputs import examples_for, slot_inputs
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.errors import EpisodeError, MosaicError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.live import Compiling
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment, EnvSpec
from gym_gui.envs.compiling import compile_environment
from gym_gui.envs.environment_registry import family_of
from gym_gui.services.versions import versions_of
from gym_gui.wire import pb
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, Supervisor
from mosaic_worker.failures import described

_log = logging.getLogger(__name__)

_GRACE_S = 2.0
_HASTY_GRACE_S = 0.4
"""Seconds in which a worker can end by itself before it is killed, if a person waits."""


class LocalSession:
    """Session that plays an operator's episodes in this process, with workers in separate processes.

    Args:
        resolved: The operator, checked.
        settings: Concurrency, step limit and live view of the session.
        on_event: Receives the events.
        secrets: API keys by slot and path in the slot's settings.
        is_behind: Returns whether reported model calls still wait to be written; workers then delay calls.
    """

    def __init__(
        self,
        resolved: ResolvedOperator,
        settings: SessionSettings,
        on_event: OnSessionEvent,
        secrets: Secrets | None = None,
        is_behind: Callable[[], bool] = lambda: False,
    ) -> None:
        self._resolved = replace(resolved, max_steps=settings.max_steps)
        self._settings, self._on_event = settings, on_event
        self._secrets = secrets
        events = SessionEvents(self._on_log, self._on_call, self._on_human, is_behind, self._on_announced)
        self._announced: dict[int, Callable[[], None]] = {}
        self._announcements = count(1)
        self._supervisor = Supervisor(resolved.config.operator_id, events)
        self._controller: SessionController | None = None
        self._desk: QuestionDesk | None = None
        self._spectator: Spectator | None = None
        self._examples: dict[AgentID, tuple[ResolvedOperator, Mapping[str, Any]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._rebinding = asyncio.Lock()
        self._closing = False

    async def start(self) -> SessionReady:
        settings, live = self._settings, self._settings.live
        compiling = asyncio.create_task(self._compile())
        if live is not None:
            await compiling  # the preview comes first and needs the compiled code
        spectator = self._spectator = None if live is None else self._watch(live)
        # Reading the metadata of all installed packages takes as long as starting a worker.
        versions = asyncio.create_task(asyncio.to_thread(versions_of, self._resolved))
        try:
            bound = await bind_workers(self._resolved, self._supervisor, self._secrets)
            await compiling
        except BaseException:
            versions.cancel()
            compiling.cancel()
            await self._supervisor.close()
            raise
        self._bound = bound
        if spectator is not None:
            bound.make_environment = self._make_drawn
        self._controller = SessionController(
            bound,
            self._on_engine,
            concurrency=self._parallel_episodes(bound),
            max_steps=settings.max_steps,
            keep_observations=settings.observations,
            spectator=spectator,
            # While a person watches, a lost episode ends with the reason and does not begin again by itself.
            begin_again=live is None,
        )
        if live is not None:
            self._desk = QuestionDesk(self._on_event, self._controller.is_moving)
        self._task = asyncio.get_running_loop().create_task(self._run(self._controller))
        players = {slot: dict(player.record()) for slot, player in bound.players.items()}
        announcing: list[AgentID] = []
        for process in self._supervisor.processes():
            for agent in process.launch.agents:
                players[agent]["version"] = process.welcome.version
            if process.welcome.announces:
                announcing += process.launch.agents
        words = self._resolved.action_words
        renamed = {slot: names.listed for slot, names in self._resolved.other_names.items()}
        seats = self._resolved.seat_names
        return SessionReady(
            os.getpid(),
            players,
            self._controller.room,
            await versions,
            words,
            renamed,
            seats,
            announcing=announcing,
        )

    async def _compile(self) -> None:
        """Compile the functions of the environment in a thread, so that the event loop reports progress."""
        if not family_of(_spec(self._resolved)).compiled:
            return
        loop = asyncio.get_running_loop()

        def tell(state: Compiling) -> None:
            loop.call_soon_threadsafe(self._on_event, state)

        await asyncio.to_thread(compile_environment, self._resolved.make_environment(), tell)

    def _watch(self, live: LiveSettings) -> Spectator:
        self._mode = _render_mode(self._resolved, live)
        seat_view = SeatView(self._people, live.everything)
        spectator = Spectator(live, self._mode, self._resolved.slots, self._on_event, seat_view)
        if live.first is not None:
            self._preview(spectator, live.first)
        return spectator

    def _people(self) -> frozenset[AgentID]:
        """Return the slots that people play now; slots played by a person's script do not count."""
        return frozenset(
            slot
            for slot, player in self._resolved.assignments.items()
            if player.worker_type == "human" and "script" not in player.settings
        )

    def _preview(self, spectator: Spectator, plan: EpisodePlan) -> None:
        """Show the first state of an episode before the players are ready.

        An error is only logged, because the episode will report the error itself.
        """
        resolved = self._resolved
        environment = self._make_drawn()
        try:
            codecs = SeatCodecs(resolved.slots, resolved.seatings[plan.seating])
            episode = Episode(plan, environment, codecs, None, count(1).__next__)
            episode.open()
            spectator.preview(episode)
        except EpisodeError as exc:
            _log.info("the beginning of episode %d cannot be shown: %s", plan.index, exc)
        finally:
            environment.close()

    def _make_drawn(self) -> Environment:
        """Return an environment that renders or, if rendering is impossible, an environment without it."""
        try:
            return self._resolved.make_environment(self._mode)
        except MosaicError as exc:
            text = f"the operator plays without pictures, because rendering is impossible here: {exc}"
            self._on_log(logging.WARNING, "mosaic.live", text)
            self._mode = None
            return self._resolved.make_environment()

    def _parallel_episodes(self, bound: BoundOperator) -> int:
        """Return the number of parallel episodes: 1 if a person plays in a watched session."""
        asked = self._settings.live is not None and any(
            player.worker_type == "human" for player in bound.players.values()
        )
        return 1 if asked else self._settings.concurrency

    async def _run(self, controller: SessionController) -> None:
        reason = ""
        try:
            await controller.run()
        except Exception as exc:  # reported as the reason in SessionEnded
            reason = described(exc)
            raise
        finally:
            if not self._closing or reason:
                self._on_event(SessionEnded(reason))

    @property
    def controller(self) -> SessionController:
        """Engine of the session; available after the start."""
        assert self._controller is not None
        return self._controller

    def _on_engine(self, event: SessionEvent) -> None:
        """Forward an event of the engine; after an episode, report the total number of steps too."""
        if not isinstance(event, EpisodeFinished):
            self._on_event(event)
            return
        if self._desk is not None:
            self._desk.forget_episode(event.index)
        self._on_event(event)
        self._on_event(StepsTaken(self.controller.total_steps))

    def _on_log(self, level: int, logger: str, text: str) -> None:
        self._on_event(LogLine(level, logger, text))

    def _on_call(self, json_text: str) -> None:
        self._on_event(CallMade(json_text.encode()))

    def _on_announced(self, slot: WorkerSlot, episode: int, most: Amount, noted: Callable[[], None]) -> None:
        number = next(self._announcements)
        self._announced[number] = noted
        self._on_event(RequestAnnounced(number, slot.agent_id, episode, most))

    def noted(self, number: int) -> None:
        noted = self._announced.pop(number, None)
        if noted is not None:
            noted()

    def _on_human(self, slot: WorkerSlot, request: pb.HumanRequest) -> None:
        decision = slot.on_human(request)
        if decision is None:
            return
        if self._desk is None or self._closing:
            slot.answer_human(decision, None)  # no person watches this session
        else:
            self._desk.ask(slot, decision)

    def _refresh_questions(self) -> None:
        if self._desk is not None:
            self._desk.refresh()

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        self.controller.add(plans)

    def pause(self) -> None:
        self.controller.pause()
        self._refresh_questions()

    def resume(self) -> None:
        self.controller.resume()
        self._refresh_questions()

    def step(self) -> None:
        self.controller.step()
        self._refresh_questions()

    def step_agent(self) -> None:
        self.step()

    def pace(self, steps_per_s: float | None) -> None:
        self.controller.pace(checked_pace(steps_per_s))

    def abort(self) -> None:
        self.controller.abort()

    def watch(self, live: LiveSettings | None) -> None:
        if self._settings.live is not None:
            raise UsageError("this session was opened for watching and cannot be watched twice")
        controller = self.controller
        if live is None:
            controller.watch(None)
            return
        self._mode = _render_mode(self._resolved, live)
        everything = SeatView(frozenset, True)  # no person plays
        slots, tell = self._resolved.slots, self._on_event
        spectator = Spectator(live, self._mode, slots, tell, everything, controller.is_drawn)
        controller.watch(spectator, self._make_drawn if self._mode is not None else None)

    async def settled(self) -> None:
        """Return at once, because each method of this session completes its request before it returns."""

    def answer(self, question_id: int, action: Any) -> None:
        if self._desk is not None:
            self._desk.answer(question_id, action)

    async def rebind(
        self,
        agent: AgentID,
        assignment: WorkerAssignment,
        allowance: Amount | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> Mapping[str, str]:
        """Assign another player to a slot, as :meth:`Session.rebind` does.

        ``secrets`` holds API keys by their path in the settings.
        """
        async with self._rebinding:
            resolved = self._resolved.with_assignment(agent, assignment)
            given = {agent: dict(secrets or {})}
            sink = self._bound.policies.collect
            try:
                binding, slot = await start_worker(resolved, agent, self._supervisor, given, sink)
            except MosaicError as exc:
                raise exc if isinstance(exc, UsageError) else UsageError(exc.message, fix=exc.fix) from exc
            before = self._supervisor.slot_of(agent, other_than=slot)
            if self._desk is not None:
                self._desk.forget_slot(agent)
            self._bound.views = resolved.views
            self.controller.rebind(binding, slot, assignment.on_invalid, allowance)
            self._resolved = resolved
            player = Player.of(binding)
            self._bound.players = {**self._bound.players, agent: player}
            self.controller.room = self._parallel_episodes(self._bound)
            if before is not None:
                await self._supervisor.stop_worker(before, self._grace_s)
            if self._spectator is not None:
                self._spectator.look_again()
            return {**player.record(), "version": slot.process.welcome.version}

    async def present(self, agent: AgentID) -> Mapping[str, Any]:
        if self._controller is None:
            raise UsageError("the session is not running", fix="Start the session first")
        known = self._examples.get(agent)
        if known is None or known[0] is not self._resolved:  # examples are played only once
            known = self._examples[agent] = self._resolved, examples_for(self._resolved, agent)
        return slot_inputs(self._resolved, agent, self._controller.asked_in(agent), known[1])

    async def see(self, agent: AgentID) -> AgentObservation:
        if self._controller is None:
            raise UsageError("the session is not running", fix="Start the session first")
        found = self._controller.asked_in(agent)
        if found is None:
            raise UsageError(f"{agent} has no open question", fix=f"Step until it is the turn of {agent}")
        episode, decision = found
        if self._spectator is not None and self._spectator.keeps(episode, decision.agent_id):
            raise UsageError(
                f"the observation of {decision.agent_id} is hidden from you while you play",
                fix="Open the replay to see this observation",
            )
        slot = self._supervisor.slot_of(agent)
        fed = None if slot is None else slot.fed(decision)
        return observation_of(episode.environment, decision, self._resolved.views.get(agent), fed)

    @property
    def _grace_s(self) -> float:
        return _GRACE_S if self._settings.live is None else _HASTY_GRACE_S

    async def close(self, *, in_haste: bool = False) -> None:
        self._closing = True
        if self._desk is not None:
            self._desk.close()
        if self._controller is not None and self._task is not None:
            self._controller.stop()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._supervisor.close(_HASTY_GRACE_S if in_haste else self._grace_s)


def _render_mode(resolved: ResolvedOperator, live: LiveSettings) -> str | None:
    """Return the requested render mode if the environment supports it, else ``"ansi"`` or ``None``."""
    if live.render == "none":
        return None
    offered = envs.render_modes(_spec(resolved))
    return next((mode for mode in (live.render, "ansi") if mode in offered), None)


def _spec(resolved: ResolvedOperator) -> EnvSpec:
    config = resolved.config
    return envs.resolve(config.task, env_name=config.env_name or None, api=config.api, origin=config.origin)
