"""The engine: steps many episodes of one operator at once, in any paradigm.

The engine runs in-process (tests, notebooks) and inside session host processes. There is no other
stepping loop. An episode advances as soon as *its* agents have answered.
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
"""Longest time in seconds that the stepping loop runs before it lets other asyncio tasks run."""
_STOPPED = "stopped before its end"


class SessionController:
    """Engine that steps the episodes of one operator and queries its policies.

    Args:
        bound: The operator with its policies.
        on_event: Called when an episode begins, begins again or ends.
        concurrency: Episodes in flight at once; 1 if a policy supports only one.
        max_steps: Environment steps after which an episode is truncated.
        keep_observations: Write observations into the rows.
        spectator: Shows an episode to a listener without a change to the episode.
        begin_again: Whether episodes are played again that were lost because a worker ended.
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
        self._credit_ahead = 0  # steps requested after an episode was queued and before it began
        self._sources = {slot: _source_of(player) for slot, player in bound.players.items()}
        bound.policies.on_bound = self._on_bound
        self._players = dict(bound.players)
        self._last: tuple[int, int, Trajectory] | None = None  # the last episode, for taking moves back
        self._codecs = [SeatCodecs(bound.slots, seating) for seating in bound.seatings]
        self._patterns = {name: slot for name, slot in bound.slots.items() if is_pattern(name)}
        self._stopping = False
        self._record_aborted = False
        self._fresh = asyncio.Event()
        self._failures = FailureLog(_log)
        self.total_steps = 0

    # -- control ---------------------------------------------------------------------

    def add(self, plans: Iterable[EpisodePlan]) -> None:
        """Append episodes to the session's queue."""
        self._queue.add(plans)
        self._nudge()

    def close(self) -> None:
        """Accept no more episodes; :meth:`run` returns when all queued episodes are played."""
        self._more = False
        self._nudge()

    def pause(self) -> None:
        """Hold every episode before its next step, and query no policy until a step is requested."""
        self._gate.pause()
        self._choose_how_to_ask()
        self._run_clocks()
        self._let_watch()

    def resume(self) -> None:
        """Let all episodes step again after a pause."""
        self._credit_ahead = 0
        for episode in self._live.values():
            episode.credit = 0
        self._gate.resume()
        self._choose_how_to_ask()
        self._run_clocks()
        self._let_watch()

    def step(self) -> None:
        """Let every live episode take one environment step while the session is paused.

        If no episode has begun yet, the episodes that begin next take the step.
        """
        if self._gate.paused:
            for episode in self._live.values():
                episode.credit += 1
            if self._queue and not self._live:
                self._credit_ahead += 1
            self._nudge()

    def pace(self, steps_per_s: float | None) -> None:
        """Take at most this many environment steps per second in each episode; ``None`` sets no limit."""
        self._gate.pace(steps_per_s)
        self._choose_how_to_ask()
        self._let_watch()

    def abort(self) -> None:
        """End every live episode, recorded as ``aborted``, and remove queued episodes."""
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
        """Assign another policy to a slot; that policy also makes the slot's open decisions.

        Args:
            binding: The slot and its new policy.
            backend: Backend of the policy.
            rule: How an unusable answer of the policy is handled.
            allowance: What the policy may spend in each episode in flight, if that is limited.
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
        """Return the first episode in flight in which a slot has an open question, and the question.

        Return ``None`` if the slot has no open question.
        """
        for index in sorted(self._live):
            for decision in self._live[index].asked.values():
                if decision.slot == slot:
                    return self._live[index], decision
        return None

    def is_moving(self, index: int) -> bool:
        """Return whether an episode takes its next step as soon as its agents have answered."""
        episode = self._live.get(index)
        return episode is not None and (not self._gate.paused or episode.credit > 0)

    def watch(self, spectator: Spectator | None, make_drawn: Callable[[], Environment] | None = None) -> None:
        """Replace the object that shows an episode to a listener.

        Episodes in flight are shown without a picture; the next episode that begins has a picture.

        Args:
            spectator: The new object; ``None`` ends the watching.
            make_drawn: Makes an environment that can be rendered.
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
        """Return whether an environment instance was made for rendering; see :meth:`watch`."""
        return self._environments.is_drawn(environment)

    def _let_watch(self) -> None:
        if self._spectator is not None:
            self._spectator.on_pace(self._gate)

    def _choose_how_to_ask(self) -> None:
        """Send questions in batches if nothing slows the session and every policy accepts batches."""
        unseen = self._gate.free and self._spectator is None
        plain = not self._patterns and not self._bound.views
        self._asks_in_batches = unseen and plain and self._policies.takes_batches
        if not self._asks_in_batches:
            self._unfold()

    def _unfold(self) -> None:
        """Turn all questions of batches into ``Decision`` objects, whether unsent, sent or answered."""
        for batch in self._unasked.take():
            self._ready += batch.unfold_unasked()
        self._policies.unfold()
        for episode in self._live.values():
            episode.unfold()

    def stop(self, *, record: bool = False) -> None:
        """End the session with all its episodes now.

        Args:
            record: Record unfinished episodes as ``aborted``; otherwise they leave no trace.
        """
        self._stopping, self._record_aborted = True, record
        self._nudge()

    @property
    def room(self) -> int:
        """Episodes that may run in parallel: 1 if a policy or the environment supports only one."""
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
        """Episodes in the queue."""
        return len(self._queue)

    def _nudge(self) -> None:
        self._fresh.set()
        self._policies.wake()

    def _on_bound(self, binding: AgentPolicyBinding) -> None:
        """Record that a slot has another policy from now on."""
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
        """Give an agent that has appeared a policy of its own, from the backend of its slot."""
        agent = info.agent_id
        self._policies.join(episode.joined[agent], episode.seeds[agent], info, episode.joining(agent))
        self._listen_for_results(episode)

    def _listen_for_results(self, episode: Episode) -> None:
        wanting = (agent for agent, slot in episode.seats.items() if self._policies.wants_results(slot))
        episode.trajectory.wants_results = frozenset(wanting)

    # -- the loop --------------------------------------------------------------------

    async def run(self) -> None:
        """Play episodes until :meth:`close` was called and all are over, or until :meth:`stop` is called."""
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
                # While paused, the session asks by ``Decision`` objects, so these batches are empty.
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
        """Return the decisions for which policies are queried now.

        While the session is paused, only decisions for requested steps are returned, since queries may cost
        money.
        """
        ready, self._ready = self._ready, []
        if self._gate.paused:
            self._ready = [d for d in ready if not self.is_moving(d.episode)]
            ready = [d for d in ready if self.is_moving(d.episode)]
        self._run_clocks()
        return ready

    def _run_clocks(self) -> None:
        """Start or hold the game clocks of all episodes, and refresh the spectator after a change."""
        changed = False
        for index, episode in self._live.items():
            if episode.game_clock is not None:
                changed |= episode.game_clock.run(self.is_moving(index))
        if changed and self._spectator is not None:
            self._spectator.look_again()

    def _on_out_of_time(self, episode: Episode, agent: AgentID) -> None:
        """End an episode in which an agent ran out of time, which decides the game."""
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
        """Step held episodes that may step now; if nothing else is to do, wait for a command or due time."""
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
            if len(opening) > 1:  # environments in other processes reset in parallel
                for episode in opening:
                    episode.begin_reset()
            for episode in opening:
                self._open(episode)
        self._credit_ahead = 0

    def _set_up(self) -> Iterator[Episode]:
        """Yield as many new episodes as may run in parallel, each with its environment and its policies."""
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
            # An agent that appears is seated in its own episode only.
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
        """Return the batches that collect an episode's questions.

        Return ``None`` if the episode uses ``Decision`` objects.
        """
        return self._unasked if self._asks_in_batches and episode.fits_batches else None

    def _opening(self, plan: EpisodePlan) -> Sequence[Round]:
        """Return the rounds of actions to replay before policies are queried, if moves were taken back."""
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
                continue  # the question has been asked again since
            if answer.failure or answer.invalid:
                self._take_unusable(episode, answer)
                if episode.index not in live:
                    continue  # the episode was released because its worker was lost
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
            if decision is not None:  # unfolded after it was sent
                episode.accept(answered.answer_to(place, decision), self._sources[batch.slot])
                if episode.is_answered:
                    ready.append(episode)

    def _in_time(self, episode: Episode, game_clock: GameClock, answer: Answer) -> bool:
        """Stop the game clock of an agent that has answered.

        Return ``False`` if the agent was late and the game is over.
        """
        agent = answer.decision.agent_id
        played = episode.played.get(agent)
        if played is None:
            return True  # the agent is asked again, on the same clock, or cannot go on
        if not game_clock.answer(agent):
            self._on_out_of_time(episode, agent)
            return False
        decision, told, action, source = played
        extras = {**(told.extras or {}), CLOCK: round(game_clock.left_s(agent), 3)}
        episode.played[agent] = decision, replace(told, extras=extras), action, source
        return True

    def _move(self, ready: list[Episode]) -> None:
        """Step the environments of episodes with complete answers.

        Environments in other processes step in parallel.
        """
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
            return  # the episode asks in batches
        self._ready += episode.asked.values()
        if episode.game_clock is not None:
            episode.game_clock.ask(episode.asked)
        if self._spectator is not None:
            self._spectator.stepped(episode)
        if episode.trajectory.wants_results:
            for outcome in episode.trajectory.outcomes(episode.asked):
                self._policies.notify_result(outcome)

    def _end_refused(self, episode: Episode) -> None:
        """End an episode in which an agent cannot continue: as failed, as unplayed, or truncated."""
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
        """Handle an unusable answer as configured: ask again, substitute an action, or fail."""
        decision = answer.decision
        if answer.loss is Loss.DIED and self._begin_again:
            self._lose(episode, f"{decision.agent_id}: {answer.failure}", WORKER)
            return
        slots, rule = self._bound.slots, self._bound.rules.get(decision.slot)
        again = take_unusable(episode, answer, rule, slots.get(decision.agent_id) or slots[decision.slot])
        if again is not None:
            self._ready.append(again)

    def _fail(self, episode: Episode, error: EpisodeError) -> None:
        """End or repeat an episode after its environment failed.

        Log the original exception with its traceback.
        """
        if isinstance(error, EnvironmentLostError) and self._begin_again:
            self._lose(episode, str(error), ENVIRONMENT)
            return
        self._log_cause(episode, error)
        self._finish(episode, EpisodeStatus.FAILED, str(error))

    def _log_cause(self, episode: Episode, error: EpisodeError) -> None:
        if error.__cause__ is not None:
            self._failures.add(f"episode {episode.index} failed", error.__cause__)

    def _lose(self, episode: Episode, reason: str, lost: str) -> None:
        """Begin an episode again after its worker or environment server was lost, or fail the episode.

        The episode fails if its process also ended while the episode was played alone.
        """
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
        """Release an episode's policies and environment, and remove its open questions."""
        del self._live[episode.index]
        if episode.game_clock is not None:
            episode.game_clock.stop()
        self._gate.forget(episode.index)
        if status is not EpisodeStatus.COMPLETED:
            self._ready = [d for d in self._ready if d.episode != episode.index]
            self._unasked.drop(episode)
            # Questions of other episodes become ``Decision`` objects, too: a sent batch cannot lose a row.
            self._policies.unfold()
        episode.forget_questions()
        for outcome in episode.trajectory.last_outcomes():
            self._policies.notify_result(outcome)
        self._policies.end_episode(episode.index, episode.summaries(status), episode.joined_summaries(status))
        fit = status is EpisodeStatus.COMPLETED and episode.environment.reusable
        self._environments.give_back(episode.environment, fit=fit)


def _source_of(player: Player) -> str:
    """Return the recorded source of a player's actions; ``""`` for people, whose answers determine it."""
    return "" if player.worker_type == "human" else "policy"


def _human_source(answer: Answer) -> str:
    """Return the source of an action in a person's slot: ``"policy"`` for a script or fallback."""
    return "human" if answer.extras is not None and answer.extras.get("human") else "policy"
