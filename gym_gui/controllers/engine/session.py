"""The engine: steps many episodes of one operator at once, in any paradigm.

It runs in-process (tests, notebooks) and inside session host processes; there is no other
stepping loop. Episodes advance as soon as *their* agents have answered.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import cast

from msgspec.structs import replace

from gym_gui.controllers.engine.bound_operator import BoundOperator, Player
from gym_gui.controllers.engine.environment_pool import EnvironmentPool
from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.episode_queue import EpisodeQueue
from gym_gui.controllers.engine.episode_rows import SeatCodecs
from gym_gui.controllers.engine.game_clock import GameClock
from gym_gui.controllers.engine.session_events import EpisodeRetried, EpisodeStarted, OnSessionEvent
from gym_gui.controllers.engine.spectator import Spectator
from gym_gui.controllers.engine.step_gate import StepGate
from gym_gui.controllers.engine.trajectory import Round, Trajectory
from gym_gui.controllers.engine.unusable_answers import how_refused, take_unusable
from gym_gui.core.enums import EpisodeStatus, Loss
from gym_gui.core.errors import EnvironmentFailure, EnvironmentLostError, EpisodeError
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.records import ENVIRONMENT, WORKER
from gym_gui.core.types import CLOCK, AgentID, Answer, Decision
from gym_gui.envs import Environment
from gym_gui.services.backends import PolicyBackend, SlotInfo
from gym_gui.services.policy_mapping import AgentPolicyBinding
from gym_gui.workers.decision_batch import AnswerBatch, UnaskedBatches
from mosaic_worker.failures import FailureLog

_log = logging.getLogger(__name__)

_YIELD_S = 0.02
"""Longest time the loop is kept from other tasks by policies that answer at once."""
_STOPPED = "stopped before its end"


class SessionController:
    """Plays episodes of one operator.

    Args:
        bound: Who plays where.
        on_event: Told of episodes that begin, begin again and end.
        concurrency: Episodes in flight at once; 1 where a policy can hold no more.
        max_steps: Environment steps after which an episode is truncated.
        keep_observations: Write observations into the rows.
        spectator: Looks at what happens, without touching it.
        begin_again: Whether episodes that a lost worker had begun are played again.
    """

    def __init__(
        self,
        bound: BoundOperator,
        on_event: OnSessionEvent,
        *,
        concurrency: int = 1,
        max_steps: int | None = None,
        keep_observations: bool = False,
        spectator: Spectator | None = None,
        begin_again: bool = True,
    ) -> None:
        self._bound, self._on_event, self._policies = bound, on_event, bound.policies
        self._room, self._spectator = concurrency, spectator
        self._max_steps, self._keep = max_steps, keep_observations
        self._queue, self._begin_again = EpisodeQueue(), begin_again
        self._more = True
        self._live: dict[int, Episode] = {}
        self._environments = EnvironmentPool(bound)
        self._ids = count(1)
        self._ready: list[Decision] = []
        self._unasked = UnaskedBatches(bound.policies, self._ids.__next__)
        self._asks_in_batches = False
        self._gate = StepGate(self._nudge)
        self._credit_ahead = 0  # steps asked for between giving an episode and its beginning
        self._sources = {slot: _source_of(player) for slot, player in bound.players.items()}
        bound.policies.on_bound = self._on_bound
        self._players = dict(bound.players)
        self._last: tuple[int, int, Trajectory] | None = None  # of an episode that people may go back in
        self._codecs = [SeatCodecs(bound.slots, seating) for seating in bound.seatings]
        self._patterns = {name: slot for name, slot in bound.slots.items() if is_pattern(name)}
        self._stopping = False
        self._record_aborted = False
        self._fresh = asyncio.Event()
        self._failures = FailureLog(_log)
        self.total_steps = 0

    # -- control ---------------------------------------------------------------------

    def add(self, plans: Iterable[EpisodePlan]) -> None:
        """Queue episodes."""
        self._queue.add(plans)
        self._nudge()

    def close(self) -> None:
        """No more episodes will be added: :meth:`run` returns when all are played."""
        self._more = False
        self._nudge()

    def pause(self) -> None:
        """Hold every episode before its next step, and ask no policy for one that may never come."""
        self._gate.pause()
        self._choose_how_to_ask()
        self._run_clocks()
        self._let_watch()

    def resume(self) -> None:
        """Go on after :meth:`pause`."""
        self._credit_ahead = 0
        for episode in self._live.values():
            episode.credit = 0
        self._gate.resume()
        self._choose_how_to_ask()
        self._run_clocks()
        self._let_watch()

    def step(self) -> None:
        """While paused: let every live episode take one environment step; where none has begun yet,
        let those that begin next."""
        if self._gate.paused:
            for episode in self._live.values():
                episode.credit += 1
            if self._queue and not self._live:
                self._credit_ahead += 1
            self._nudge()

    def pace(self, steps_per_s: float | None) -> None:
        """Take at most so many environment steps a second in each episode; ``None``: as many as possible."""
        self._gate.pace(steps_per_s)
        self._choose_how_to_ask()
        self._let_watch()

    def abort(self) -> None:
        """End every live episode, recorded as ``aborted``, and forget those that have not begun."""
        self._queue.clear()
        self._credit_ahead = 0
        for episode in list(self._live.values()):
            self._finish(episode, EpisodeStatus.ABORTED, _STOPPED)
        self._nudge()

    def rebind(
        self,
        binding: AgentPolicyBinding,
        backend: PolicyBackend,
        rule: OnInvalid,
        allowance: Amount | None = None,
    ) -> None:
        """Give a slot to another policy, which decides whatever has not been decided yet.

        Args:
            binding: The slot and who it is.
            backend: What stands behind it.
            rule: What follows an answer of it that cannot be played.
            allowance: What it may take in each episode in flight, where that is limited.
        """
        slot = binding.agent_id
        self._unfold()
        self._bound.rules = {**self._bound.rules, slot: rule}
        undecided = [(e, d) for e in self._live.values() for d in e.undecided(slot)]
        gone = {decision.id for _, decision in undecided}
        self._policies.revoke(decision for _, decision in undecided)
        self._ready = [decision for decision in self._ready if decision.id not in gone]
        for episode, decision in undecided:
            episode.views = self._bound.views
            try:
                self._ready.append(episode.ask_another(decision))
            except EpisodeError as exc:
                self._fail(episode, exc)
        for episode in self._live.values():
            episode.views = self._bound.views
            for agent in [agent for agent, played_by in episode.joined.items() if played_by == slot]:
                self._policies.tell(agent, episode.joining(agent))
        self._policies.attach(binding, backend, allowance)
        self._nudge()

    def asked_in(self, slot: AgentID) -> tuple[Episode, Decision] | None:
        """What a slot is asked now in the lowest episode in flight, after the episode; ``None``: nothing."""
        for index in sorted(self._live):
            for decision in self._live[index].asked.values():
                if decision.slot == slot:
                    return self._live[index], decision
        return None

    def is_moving(self, index: int) -> bool:
        """Whether an episode takes its next step as soon as its agents, who are asked now, have chosen."""
        episode = self._live.get(index)
        return episode is not None and (not self._gate.paused or episode.credit > 0)

    def watch(self, spectator: Spectator | None, make_drawn: Callable[[], Environment] | None = None) -> None:
        """Have a spectator watch from now on; ``None``: no spectator watches any more.

        Episodes that are on are shown without a picture; the next one that begins has one.

        Args:
            spectator: Looks.
            make_drawn: Makes an environment that can be drawn.
        """
        if self._spectator is not None:
            self._spectator.close()
        self._spectator = spectator
        self._choose_how_to_ask()
        self._environments.draw_with(make_drawn if spectator is not None else None)
        self._let_watch()
        if spectator is not None:
            for index in sorted(self._live):
                spectator.opened(self._live[index])

    def is_drawn(self, environment: Environment) -> bool:
        """Whether an environment was made to be looked at; see :meth:`watch`."""
        return self._environments.is_drawn(environment)

    def _let_watch(self) -> None:
        if self._spectator is not None:
            self._spectator.on_pace(self._gate)

    def _choose_how_to_ask(self) -> None:
        """Ask in batches if no spectator, pace or pause slows the session and every policy takes them."""
        unseen = self._gate.free and self._spectator is None
        plain = not self._patterns and not self._bound.views
        self._asks_in_batches = unseen and plain and self._policies.takes_batches
        if not self._asks_in_batches:
            self._unfold()

    def _unfold(self) -> None:
        """Make objects of all that is asked in batches: not sent yet, sent, or answered and not yet taken."""
        for batch in self._unasked.take():
            self._ready += batch.unfold_unasked()
        self._policies.unfold()
        for episode in self._live.values():
            episode.unfold()

    def stop(self, *, record: bool = False) -> None:
        """End now.

        Args:
            record: Write what is unfinished as ``aborted``; without it, it leaves no trace.
        """
        self._stopping, self._record_aborted = True, record
        self._nudge()

    @property
    def room(self) -> int:
        """Episodes that may be in flight at once: one where some policy, or the world, can hold no more."""
        return 1 if self._policies.exclusive or self._bound.one_world else self._room

    @room.setter
    def room(self, episodes: int) -> None:
        self._room = episodes
        self._nudge()

    @property
    def live(self) -> int:
        """Episodes in flight."""
        return len(self._live)

    @property
    def waiting(self) -> int:
        """Episodes that have not begun."""
        return len(self._queue)

    def _nudge(self) -> None:
        self._fresh.set()
        self._policies.wake()

    def _on_bound(self, binding: AgentPolicyBinding) -> None:
        """A policy was bound while episodes are on: it decides from now on, and that is recorded."""
        player = Player.of(binding)
        slot = binding.agent_id
        self._sources[slot] = _source_of(player)
        self._players = {**self._players, slot: player}
        self._unfold()
        waiting = {(d.episode, d.agent_id) for d in self._ready}
        for index, episode in self._live.items():
            not_asked = {agent for agent in episode.asked if (index, agent) in waiting}
            episode.note_rebinding(slot, player, not_asked)
            self._listen_for_results(episode)
        self._choose_how_to_ask()

    def _on_join(self, episode: Episode, info: SlotInfo) -> None:
        """An agent has appeared: it has a policy of its slot to itself."""
        agent = info.agent_id
        self._policies.join(episode.joined[agent], episode.seeds[agent], info, episode.joining(agent))
        self._listen_for_results(episode)

    def _listen_for_results(self, episode: Episode) -> None:
        wanting = (agent for agent, slot in episode.seats.items() if self._policies.wants_results(slot))
        episode.trajectory.wants_results = frozenset(wanting)

    # -- the loop --------------------------------------------------------------------

    async def run(self) -> None:
        """Play until all episodes are over and :meth:`close` was called, or :meth:`stop`."""
        yielded = time.monotonic()
        self._choose_how_to_ask()
        try:
            while not self._stopping:
                self._fresh.clear()
                self._open_episodes()
                if not self._live:
                    if not self._more and not self._queue:
                        break
                    await self._idle_until_nudged()
                    continue
                asked = self._to_ask()
                # A paused session asks by objects, so these batches are empty where the gate is closed.
                self._take_answers(await self._policies.select_batch(asked, self._unasked.take()))
                if self._gate.held or (self._gate.paused and self._ready):
                    await self._hold()
                elif time.monotonic() - yielded > _YIELD_S:
                    await asyncio.sleep(0)
                    yielded = time.monotonic()
        finally:
            self._wind_up()

    async def _idle_until_nudged(self) -> None:
        self._policies.settle()
        await self._fresh.wait()

    def _to_ask(self) -> list[Decision]:
        """What is asked now; while paused, for steps that were asked for alone: decisions may cost money."""
        ready, self._ready = self._ready, []
        if self._gate.paused:
            self._ready = [d for d in ready if not self.is_moving(d.episode)]
            ready = [d for d in ready if self.is_moving(d.episode)]
        self._run_clocks()
        return ready

    def _run_clocks(self) -> None:
        """Run the clocks of episodes that move; the spectator looks again when a clock starts or stops."""
        changed = False
        for index, episode in self._live.items():
            if episode.game_clock is not None:
                changed |= episode.game_clock.run(self.is_moving(index))
        if changed and self._spectator is not None:
            self._spectator.look_again()

    def _on_out_of_time(self, episode: Episode, agent: AgentID) -> None:
        """An agent's time is over: that decides the game."""
        if self._live.get(episode.index) is not episode:
            return
        self._ready = [d for d in self._ready if d.episode != episode.index]
        try:
            episode.end_on_time(agent)
        except EpisodeError as exc:
            self._fail(episode, exc)
        else:
            self._finish(episode, EpisodeStatus.COMPLETED, None)
        self._nudge()

    async def _hold(self) -> None:
        """Release episodes whose time has come; if none can step, wait for a command or for the time."""
        self._release_held()
        can_ask = any(self.is_moving(decision.episode) for decision in self._ready)
        if self._live and not can_ask and not self._policies.owes:
            if self._gate.paused:
                self._policies.settle()
            await self._fresh.wait()
            self._release_held()

    def _release_held(self) -> None:
        for episode in self._gate.released():
            self._advance(episode)

    def _wind_up(self) -> None:
        for episode in list(self._live.values()):
            if self._record_aborted:
                self._finish(episode, EpisodeStatus.ABORTED, _STOPPED)
            else:
                self._release(episode, EpisodeStatus.ABORTED)
        self._policies.settle()
        if self._spectator is not None:
            self._spectator.close()
        self._environments.close()

    def _open_episodes(self) -> None:
        if not self._queue or (self._gate.paused and self._live):
            return
        while opening := list(self._set_up()):
            if len(opening) > 1:  # those elsewhere begin at the same time
                for episode in opening:
                    episode.begin_reset()
            for episode in opening:
                self._open(episode)
        self._credit_ahead = 0

    def _set_up(self) -> Iterator[Episode]:
        """As many episodes as there is room for, each with its environment and its policies."""
        while (plan := self._queue.take(len(self._live), self.room)) is not None:
            yield self._episode_of(plan)

    def _episode_of(self, plan: EpisodePlan) -> Episode:
        environment = self._environments.take()
        seats = self._bound.seatings[plan.seating]
        patterns = self._patterns
        if patterns:
            environment.seat([])
            environment.cut_off = self._max_steps
        episode = Episode(
            plan,
            environment,
            # Agents that appear are seated in one episode, and not in the others.
            SeatCodecs(self._bound.slots, seats) if patterns else self._codecs[plan.seating],
            self._max_steps,
            self._ids.__next__,
            keep_observations=self._keep,
            views=self._bound.views,
            own_seeds=self._policies.own_seeds,
        )
        episode.players = self._players
        episode.patterns, episode.on_join = patterns, self._on_join
        episode.credit = self._credit_ahead
        self._live[plan.index] = episode
        if not self._queue.losses(plan.index):
            self._on_event(EpisodeStarted(plan.index))
        self._policies.begin_episode(
            plan.index,
            {slot: (episode.seeds[agent], agent) for agent, slot in seats.items()},
            plan.allowances,
        )
        self._listen_for_results(episode)
        return episode

    def _open(self, episode: Episode) -> None:
        try:
            going = episode.open(self._opening(episode.plan), self._batches_for(episode))
        except EpisodeError as exc:
            self._fail(episode, exc)
            return
        self._gate.opened(episode)
        if (control := episode.plan.time_control) is not None:
            left = episode.trajectory.clocks()
            episode.game_clock = GameClock(control, partial(self._on_out_of_time, episode), left)
            episode.game_clock.run(self.is_moving(episode.index))
            episode.game_clock.ask(episode.asked)
        if self._spectator is not None:
            self._spectator.opened(episode)
        if going:
            self._ready += episode.asked.values()
        else:
            self._finish(episode, EpisodeStatus.COMPLETED, None)

    def _batches_for(self, episode: Episode) -> UnaskedBatches | None:
        """The batches in which an episode asks; ``None``: it asks by objects."""
        return self._unasked if self._asks_in_batches and episode.fits_batches else None

    def _opening(self, plan: EpisodePlan) -> Sequence[Round]:
        """What is played before any policy is asked, where moves were taken back."""
        if plan.opening is None:
            return ()
        if self._last is None or self._last[:2] != (plan.opening.episode, plan.seed):
            raise EnvironmentFailure("the moves before are not known any more: begin the game anew")
        return self._last[2].opening(plan.opening.step)

    def _take_answers(self, answers: Sequence[Answer | AnswerBatch]) -> None:
        live, sources = self._live, self._sources
        ready: list[Episode] = []
        for answer in answers:
            if isinstance(answer, AnswerBatch):
                self._take_batch(answer, ready)
                continue
            decision = answer.decision
            episode = live.get(decision.episode)
            if episode is None:
                continue
            if episode.asked.get(decision.agent_id) is not decision:
                continue  # overtaken by a retry
            if answer.failure or answer.invalid:
                self._take_unusable(episode, answer)
                if episode.index not in live:
                    continue  # its worker was lost
            else:
                source = sources[decision.slot] or _human_source(answer)
                episode.accept(answer, "retry" if decision.attempt else source)
            if episode.game_clock is not None and not self._in_time(episode, episode.game_clock, answer):
                continue
            if episode.is_answered:
                ready.append(episode)
        self._move(ready)

    def _take_batch(self, answered: AnswerBatch, ready: list[Episode]) -> None:
        """Store the answers of a whole batch; add episodes whose agents have all answered to ``ready``."""
        batch, latency_ms = answered.batch, answered.latency_ms
        extras = answered.extras
        rows = zip(batch.episodes, batch.agents, batch.numbers, answered.actions, strict=True)
        for place, (asked, agent, number, action) in enumerate(rows):
            episode = cast("Episode", asked)
            questions = episode.batch_questions
            question = questions.get(agent)
            if question is not None and question[0] == number:
                answers = episode.batch_answers
                answers[agent] = action, latency_ms, None if extras is None else extras[place]
                if len(answers) == len(questions):
                    ready.append(episode)
                continue
            decision = episode.unfold_for(agent, number)
            if decision is not None:  # an object since it was asked
                episode.accept(answered.answer_to(place, decision), self._sources[batch.slot])
                if episode.is_answered:
                    ready.append(episode)

    def _in_time(self, episode: Episode, game_clock: GameClock, answer: Answer) -> bool:
        """Stop the clock of an agent that has answered; ``False``: its time was over, and the game is."""
        agent = answer.decision.agent_id
        played = episode.played.get(agent)
        if played is None:
            return True  # it is asked again, on the same clock, or cannot go on
        if not game_clock.answer(agent):
            self._on_out_of_time(episode, agent)
            return False
        decision, told, action, source = played
        extras = {**(told.extras or {}), CLOCK: round(game_clock.left_s(agent), 3)}
        episode.played[agent] = decision, replace(told, extras=extras), action, source
        return True

    def _move(self, ready: list[Episode]) -> None:
        """Take the next step of episodes that have their answers; those elsewhere step at the same time."""
        moving = ready if self._gate.free else [each for each in ready if self._gate.admit(each)]
        if len(moving) > 1:
            for episode in moving:
                episode.begin_step()
        for episode in moving:
            self._advance(episode)

    def _advance(self, episode: Episode) -> None:
        if episode.refused:
            self._end_refused(episode)
            return
        try:
            going = episode.advance(self._batches_for(episode))
        except EpisodeError as exc:
            self._fail(episode, exc)
            return
        self.total_steps += 1
        if not going:
            self._finish(episode, EpisodeStatus.COMPLETED, None)
            return
        if not episode.asked:
            return  # it asks in batches
        self._ready += episode.asked.values()
        if episode.game_clock is not None:
            episode.game_clock.ask(episode.asked)
        if self._spectator is not None:
            self._spectator.stepped(episode)
        if episode.trajectory.wants_results:
            for outcome in episode.trajectory.outcomes(episode.asked):
                self._policies.notify_result(outcome)

    def _end_refused(self, episode: Episode) -> None:
        """A slot refused: the episode has failed, or is left unplayed, or ends here, truncated."""
        status, reason = how_refused(episode)
        if status is not EpisodeStatus.COMPLETED:
            self._finish(episode, status, reason)
            return
        try:
            episode.end_early(reason)
        except EpisodeError as exc:
            self._fail(episode, exc)
            return
        self._finish(episode, status, None)

    def _take_unusable(self, episode: Episode, answer: Answer) -> None:
        """An answer that cannot be played: ask again, substitute, or fail, as configured."""
        decision = answer.decision
        if answer.loss is Loss.DIED and self._begin_again:
            self._lose(episode, f"{decision.agent_id}: {answer.failure}", WORKER)
            return
        slots, rule = self._bound.slots, self._bound.rules.get(decision.slot)
        again = take_unusable(episode, answer, rule, slots.get(decision.agent_id) or slots[decision.slot])
        if again is not None:
            self._ready.append(again)

    def _fail(self, episode: Episode, error: EpisodeError) -> None:
        """The environment broke; the log has its own exception with the traceback."""
        if isinstance(error, EnvironmentLostError) and self._begin_again:
            self._lose(episode, str(error), ENVIRONMENT)
            return
        self._log_cause(episode, error)
        self._finish(episode, EpisodeStatus.FAILED, str(error))

    def _log_cause(self, episode: Episode, error: EpisodeError) -> None:
        if error.__cause__ is not None:
            self._failures.add(f"episode {episode.index} failed", error.__cause__)

    def _lose(self, episode: Episode, reason: str, lost: str) -> None:
        """A worker or an environment's server was lost: begin the episode again, unless it is what kills."""
        if self._queue.lose(self._policies.with_remaining_allowances(episode.plan)):
            self._release(episode, EpisodeStatus.ABORTED)
            self._on_event(EpisodeRetried(episode.index, reason, lost))
        else:
            times = self._queue.losses(episode.index)
            self._finish(episode, EpisodeStatus.FAILED, f"{reason}, {times} times")

    def _finish(self, episode: Episode, status: EpisodeStatus, error: str | None) -> None:
        players = episode.players
        try:
            finished = episode.record(self._bound.operator_id, status, error, players)
        except EpisodeError as exc:
            self._log_cause(episode, exc)
            status, error = EpisodeStatus.FAILED, str(exc)
            finished = episode.record(self._bound.operator_id, status, error, players)
        if self._spectator is not None:
            self._spectator.over(episode, status, error or "")
            self._last = (episode.index, episode.plan.seed, episode.trajectory)
        self._release(episode, status)
        self._on_event(finished)

    def _release(self, episode: Episode, status: EpisodeStatus) -> None:
        """Let policies and environment go; questions that are still open are forgotten."""
        del self._live[episode.index]
        if episode.game_clock is not None:
            episode.game_clock.stop()
        self._gate.forget(episode.index)
        if status is not EpisodeStatus.COMPLETED:
            self._ready = [d for d in self._ready if d.episode != episode.index]
            self._unasked.drop(episode)
            # Others' questions become objects, too: no row can be taken out of a message that was sent.
            self._policies.unfold()
        episode.forget_questions()
        for outcome in episode.trajectory.last_outcomes():
            self._policies.notify_result(outcome)
        self._policies.end_episode(episode.index, episode.summaries(status), episode.joined_summaries(status))
        fit = status is EpisodeStatus.COMPLETED and episode.environment.reusable
        self._environments.give_back(episode.environment, fit=fit)


def _source_of(player: Player) -> str:
    """What a player's actions are recorded as; ``""`` where each answer says it."""
    return "" if player.worker_type == "human" else "policy"


def _human_source(answer: Answer) -> str:
    """Who really chose in a human's slot: a script or a fallback of its worker is a policy."""
    return "human" if answer.extras is not None and answer.extras.get("human") else "policy"
