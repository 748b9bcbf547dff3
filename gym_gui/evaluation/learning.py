"""Episodes in which a training decides for one agent, and other policies for the others.

Trainings in self-play or with partners use such episodes. For the engine, the training is the policy of one
slot. The other policies are workers in their own processes, or policies in the training's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from gym_gui import envs
from gym_gui.analysis.compute.games import points, side_results
from gym_gui.controllers.engine.bound_operator import BoundOperator, is_alike, read_slots
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session import SessionController
from gym_gui.controllers.engine.session_events import EpisodeFinished, SessionEvent
from gym_gui.controllers.sessions.bind_workers import bind_workers, process_groups
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.tournament_pool import Player, players_from_data, seated
from gym_gui.core.records import EpisodeRecord, parse_episode
from gym_gui.core.trusted.trust import TYPED, NotAllowedError, Origin
from gym_gui.core.types import AgentID, Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.core.validation import Plain, shown
from gym_gui.evaluation.players import as_assignment
from gym_gui.services.backends import PolicyBackend, Sink, SlotInfo
from gym_gui.services.experiment_file import load_tournament
from gym_gui.services.secrets import resolve_secrets
from gym_gui.wire import pb
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, Supervisor
from gym_gui.workers.team_context import JoinedAgent

MOST_WORKERS = 32
"""Default for the largest number of worker processes of other policies; a training usually plays 32 games."""
_FILES = (".yaml", ".yml", ".json")


class InProcessPolicy(Protocol):
    """A policy in the training's own process; it plays any number of seats and episodes at once."""

    def begin(self, episode: int, agent_id: AgentID, slot: AgentID) -> None:
        """Begin an episode in which the policy plays agent ``agent_id``.

        Args:
            episode: Number of the episode.
            agent_id: Agent that the policy plays.
            slot: Slot of the policy; with swapped seats, it has the name of another agent.
        """
        ...

    def choose(self, decisions: Sequence[Decision]) -> Sequence[Any]:
        """Return one action per decision, in the same order."""
        ...

    def end(self, episode: int, agent_id: AgentID) -> None:
        """End an episode for the agent that the policy played."""
        ...


class Game(NamedTuple):
    """An episode that a training wants to play.

    Attributes:
        episode: Number that is unique in the training.
        seed: Environment seed.
        seat: Agent for which the training decides; one of :attr:`LearnerSession.seats`.
        others: Name of the policy that plays all other agents.
    """

    episode: int
    seed: int
    seat: AgentID
    others: str


class PoolMember(NamedTuple):
    """A policy or a set of policies that a training plays with or against: a member of its pool.

    Attributes:
        name: Name of the member in the training.
        plays: Description of the member's policies.
        folder: Folder of the trained policy, if the member is one without further settings; else empty.
        player: The member in the form of a tournament file, as plain data.
    """

    name: str
    plays: str
    folder: str
    player: Plain


class EpisodeResult(NamedTuple):
    """The result of an episode of a training.

    Attributes:
        episode: Number of the episode.
        total: Return of the training's agent.
        score: 1 if that agent's side has won, 0.5 if no side has, 0 if it has lost; ``None`` if all agents
            are on one side.
        error: Why the episode failed; empty if it did not.
    """

    episode: int
    total: float
    score: float | None
    error: str


class Progress(NamedTuple):
    """What has happened since the last call, when every episode waits for the training's action or is over.

    Attributes:
        outcomes: Rewards and next observations after the training's actions.
        over: Episodes that are over.
        decisions: Open decisions, by episode.
    """

    outcomes: list[StepOutcome]
    over: list[EpisodeResult]
    decisions: dict[int, Decision]


class LearnerSession:
    """Plays episodes in which a training decides for one agent.

    Use a session from one thread in which no event loop runs. :meth:`begin` and :meth:`step` return when
    each episode waits for the training or is over, so that results do not depend on which episode is
    faster.

    Args:
        env_id: The environment.
        learner: Agent for which the training decides; the first one by default. Over the episodes, the
            training plays each seat whose agent has the same spaces.
        concurrency: Largest number of episodes in flight.
        most_workers: Largest number of worker processes. Before more are started, those of the pool member
            that played longest ago are ended. Workers of episodes in flight always stay.
        on_log: Receives log lines of workers with level warning or above.
        on_call: Receives each paid model call of a worker, as JSON.

    Attributes:
        slots: All agents of the environment.
        seats: Agents for which the training may decide.
        teams: Agents by name of their team.

    Raises:
        UsageError: The environment is unknown or cannot be made, or it has no such agent.
    """

    def __init__(
        self,
        env_id: str,
        *,
        learner: AgentID = "",
        concurrency: int = 1,
        most_workers: int = MOST_WORKERS,
        on_log: Callable[[str], None] = lambda text: None,
        on_call: Callable[[str], None] = lambda call: None,
    ) -> None:
        self._config = OperatorConfig("training", task=env_id)
        with contextlib.closing(envs.make(env_id)) as environment:
            self.slots: dict[AgentID, SlotInfo] = read_slots(environment)
            self.teams: Mapping[str, Sequence[AgentID]] = environment.teams
        self._learner = learner or next(iter(self.slots))
        if self._learner not in self.slots:
            raise UsageError(f"{env_id} has no agent {learner}", fix=f"Its agents: {', '.join(self.slots)}")
        own = self.slots[self._learner]
        self.seats = [agent for agent, slot in self.slots.items() if is_alike(own, slot)]
        self._concurrency, self._most_workers = concurrency, most_workers
        self._on_log, self._on_call = on_log, on_call
        self._engines: dict[str, _Engine] = {}
        self._held: dict[str, InProcessPolicy] = {}
        self._resolved: dict[str, ResolvedOperator] = {}
        self._games: dict[int, Game] = {}
        self._queue = _TrainingQueue()
        self._loop = asyncio.new_event_loop()

    def register_policy(self, name: str, policy: InProcessPolicy) -> None:
        """Register a policy in the training's process under a name, as a player for the other agents."""
        self._held[name] = policy

    def invite(self, entry: str, hold: Callable[[Path], InProcessPolicy | None]) -> list[PoolMember]:
        """Check policies and add them to the pool; a policy's worker starts before its first game.

        Args:
            entry: Folder of a trained policy of any worker, or ``library:NAME``; a tournament file, whose
                policies are all added; or the name of a behavior, such as ``random``.
            hold: Loads the policy of a folder into the training's process; returns ``None`` if it cannot.

        Raises:
            UsageError: There is no such policy, it cannot take the seats, or it is not installed.
        """
        players, origin = _players_of_entry(entry, self._config.task)
        return [self._invited(name, player, origin, hold) for name, player in players.items()]

    def _invited(
        self, name: str, player: Player, origin: Origin, hold: Callable[[Path], InProcessPolicy | None]
    ) -> PoolMember:
        if name in self._held or name in self._resolved:
            raise UsageError(f"two members of the pool are called {name}", fix="Rename one of them")
        others = [slot for slot in self.slots if slot != self._learner]
        players = {slot: found for slot in others if (found := seated(player, slot)) is not None}
        if any(each.worker_type == "human" for each in players.values()):
            raise UsageError(f"{name}: a person cannot play in a training", fix="Remove it from the pool")
        config = replace(self._config, workers=players, origin=origin)
        resolved = resolve_operator(config, {self._learner: _placeholder})
        for each in players.values():
            resolve_secrets(each)  # after the check of trust, so that a refused file cannot read a key
        folder = _checkpoint_alone(player)
        held = None if folder is None else hold(folder)
        if held is not None:
            self.register_policy(name, held)
        else:
            self._resolved[name] = resolved
        words = ", ".join(dict.fromkeys(_words(each) for each in players.values()))
        assert player is not None  # None means an object of this process, which no file can name
        return PoolMember(name, words, "" if folder is None else str(folder), player.to_record())

    def game(self, episode: int, seed: int, seat: AgentID, others: str) -> Game:
        """Return an episode for :meth:`begin`."""
        return Game(episode, seed, seat, others)

    def begin(self, games: Sequence[Game]) -> Progress:
        """Begin episodes, and play until each episode waits for the training's action or is over.

        Raises:
            UsageError: A worker could not be started.
        """
        for game in games:
            self._games[game.episode] = game
        for name in dict.fromkeys(game.others for game in games):
            plans = [
                EpisodePlan(game.episode, game.seed, self.seats.index(game.seat))
                for game in games
                if game.others == name
            ]
            self._loop.run_until_complete(self._engine_of(name)).controller.add(plans)
        return self._progress()

    def step(self, actions: Mapping[int, Any]) -> Progress:
        """Play the training's actions, until each episode waits for the next action or is over.

        Args:
            actions: Actions by episode number, one for each waiting episode.
        """
        codec = self.slots[self._learner].action_codec
        for index, action in actions.items():
            self._queue.answer(index, codec.decode(codec.encode(action)))
        return self._progress()

    def abandon(self) -> None:
        """Abort all episodes in flight without results."""
        for engine in self._engines.values():
            engine.controller.abort()
        self._progress()

    def close(self) -> None:
        """Stop all workers and everything that they started."""
        if self._loop.is_closed():
            return
        engines, self._engines = list(self._engines.values()), {}
        for engine in engines:
            engine.controller.stop()
        closing = [engine.close() for engine in engines]
        self._loop.run_until_complete(_all_of(closing))
        self._loop.close()

    # -- the engine --------------------------------------------------------------------

    def _progress(self) -> Progress:
        self._loop.run_until_complete(self._until_all_wait())
        return self._queue.drain()

    async def _until_all_wait(self) -> None:
        queue = self._queue
        while queue.decisions.keys() != self._games.keys():
            for engine in self._engines.values():
                if engine.task.done():
                    engine.task.result()  # raises the error that ended the task
            await queue.wait()

    async def _engine_of(self, name: str) -> _Engine:
        """Return the engine for games with a pool member; policies in the training's process share one."""
        key = "" if name in self._held else name
        engine = self._engines.pop(key, None)
        if engine is None:
            if key:
                await self._make_room(len(process_groups(self._resolved[name])))
            engine = await (self._held_policies_engine() if not key else self._worker_engine(name))
        self._engines[key] = engine  # moved to the end, as the one used last
        return engine

    async def _make_room(self, workers: int) -> None:
        """Stop workers of idle pool members, longest unused first, until new workers fit within the limit.

        A member plays the same when it is started again, because a worker's decisions depend only on its
        episode.
        """
        playing = {game.others for game in self._games.values()}
        idle = [name for name in self._engines if name and name not in playing]
        held = sum(engine.workers for engine in self._engines.values())
        while idle and held + workers > self._most_workers:
            engine = self._engines.pop(idle.pop(0))
            held -= engine.workers
            engine.controller.stop()
            await engine.close()

    async def _held_policies_engine(self) -> _Engine:
        agents = dict.fromkeys(self.slots, _placeholder)
        resolved = self._seated(resolve_operator(self._config, agents))
        supervisor = Supervisor("training", SessionEvents(_no_log, self._on_call, _no_person))
        bound = await bind_workers(resolved, supervisor)
        for agent, slot in self.slots.items():
            if agent != self._learner:
                _bind(bound, agent, f"{agent}:held", _HeldSlot(slot, self._held_by, bound.policies.collect))
        return self._start_engine(bound, supervisor)

    async def _worker_engine(self, name: str) -> _Engine:
        resolved = self._seated(self._resolved[name])

        def log(level: int, logger: str, text: str) -> None:
            if level >= logging.WARNING:
                self._on_log(f"{name}: {text}")

        supervisor = Supervisor(name, SessionEvents(log, self._on_call, _no_person))
        secrets = {slot: resolve_secrets(each) for slot, each in resolved.assignments.items()}
        try:
            return self._start_engine(await bind_workers(resolved, supervisor, secrets), supervisor)
        except BaseException:
            await supervisor.close()
            raise

    def _seated(self, resolved: ResolvedOperator) -> ResolvedOperator:
        """Return the operator with one seating per seat of the training, in which learner and seat swap."""
        own = {slot: slot for slot in self.slots}
        return replace(
            resolved, seatings=[{**own, seat: self._learner, self._learner: seat} for seat in self.seats]
        )

    def _start_engine(self, bound: BoundOperator, supervisor: Supervisor) -> _Engine:
        _bind(bound, self._learner, "learner", _LearnerSlot(self._queue, bound.policies.collect))
        # If a worker crashes, its episode ends: to replay it, the training would have to undo its actions.
        controller = SessionController(
            bound, self._on_event, concurrency=self._concurrency, begin_again=False
        )
        task = self._loop.create_task(controller.run())
        task.add_done_callback(lambda _: self._queue.nudge())
        return _Engine(controller, supervisor, task)

    def _held_by(self, episode: int) -> InProcessPolicy:
        return self._held[self._games[episode].others]

    def _on_event(self, event: SessionEvent) -> None:
        if isinstance(event, EpisodeFinished):
            self._queue.finish(self._game_over(self._games.pop(event.index), event))

    def _game_over(self, game: Game, event: EpisodeFinished) -> EpisodeResult:
        episode = parse_episode(orjson.loads(event.line), "a training's game")
        error = ""
        if event.status is not EpisodeStatus.COMPLETED:
            error = episode.error or str(event.status)
        total = episode.returns.get(game.seat) or 0.0
        return EpisodeResult(game.episode, total, None if error else _score(game, episode), error)


def _bind(bound: BoundOperator, agent: AgentID, name: str, policy: PolicyBackend) -> None:
    bound.policies.actor_service.register_policy(name, policy)
    bound.policies.bind_agent_policy(agent, name)


def _score(game: Game, episode: EpisodeRecord) -> float | None:
    """Return the points of the training's side against the best other side, as in a tournament."""
    results = side_results(episode)
    if len(episode.teams) < 2 or results is None:
        return None
    side = next(i for i, team in enumerate(episode.teams.values()) if game.seat in team.agents)
    return points(results[side], max(results[:side] + results[side + 1 :]))


async def _all_of(jobs: Sequence[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*jobs)


@dataclass(frozen=True)
class _Engine:
    """A session controller that plays games with one pool member, its workers, and its asyncio task."""

    controller: SessionController
    supervisor: Supervisor
    task: asyncio.Task[None]

    @property
    def workers(self) -> int:
        """Number of worker processes of the engine."""
        return len(self.supervisor.processes())

    async def close(self) -> None:
        await asyncio.gather(self.task, return_exceptions=True)
        await self.supervisor.close()


class _TrainingQueue:
    """Decisions that wait for the training's action, and results that the training has not received yet."""

    def __init__(self) -> None:
        self.decisions: dict[int, Decision] = {}
        self._sinks: dict[int, Sink] = {}
        self._outcomes: list[StepOutcome] = []
        self._over: list[EpisodeResult] = []
        self._news = asyncio.Event()

    def ask(self, decision: Decision, sink: Sink) -> None:
        self.decisions[decision.episode], self._sinks[decision.episode] = decision, sink
        self._news.set()

    def answer(self, index: int, action: Any) -> None:
        self._sinks.pop(index)([Answer(self.decisions.pop(index), action)])

    def tell(self, outcome: StepOutcome) -> None:
        self._outcomes.append(outcome)

    def forget(self, index: int) -> None:
        self.decisions.pop(index, None)
        self._sinks.pop(index, None)

    def finish(self, over: EpisodeResult) -> None:
        self._over.append(over)
        self._news.set()

    def nudge(self) -> None:
        self._news.set()

    async def wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    def drain(self) -> Progress:
        progress = Progress(self._outcomes, sorted(self._over, key=lambda over: over.episode), self.decisions)
        self._outcomes, self._over = [], []
        return progress


class _LearnerSlot:
    """Policy of the learner's slot: passes decisions to the training."""

    carrier = None
    exclusive = False
    wants_results = True

    def __init__(self, queue: _TrainingQueue, sink: Sink) -> None:
        self._queue, self._sink = queue, sink

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        """Do nothing, because the training itself has begun the episode."""

    def ask(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            self._queue.ask(decision, self._sink)

    def result(self, outcome: StepOutcome) -> None:
        self._queue.tell(outcome)

    def end(self, summary: EpisodeSummary) -> None:
        self._queue.forget(summary.episode_index)

    def settle(self) -> None:
        """Do nothing, because no decision is delayed for a batch."""


class _HeldSlot:
    """Policy of a slot that passes decisions to policies in the training's process, one for each episode."""

    carrier = None
    exclusive = False
    wants_results = False

    def __init__(self, slot: SlotInfo, held_by: Callable[[int], InProcessPolicy], sink: Sink) -> None:
        self._slot, self._codec, self._held_by, self._sink = slot.agent_id, slot.action_codec, held_by, sink
        self._playing: dict[int, InProcessPolicy] = {}

    def begin(self, episode: int, seed: int, agent_id: str = "", joined: JoinedAgent | None = None) -> None:
        policy = self._playing[episode] = self._held_by(episode)
        policy.begin(episode, agent_id, self._slot)

    def ask(self, decisions: Sequence[Decision]) -> None:
        asked: dict[int, list[Decision]] = {}
        for decision in decisions:
            asked.setdefault(id(self._playing[decision.episode]), []).append(decision)
        codec = self._codec
        for each in asked.values():
            chosen = self._playing[each[0].episode].choose(each)
            self._sink([Answer(d, codec.decode(codec.encode(a))) for d, a in zip(each, chosen, strict=True)])

    def result(self, outcome: StepOutcome) -> None:
        """Do nothing, because the policy does not learn."""

    def end(self, summary: EpisodeSummary) -> None:
        policy = self._playing.pop(summary.episode_index, None)
        if policy is not None:
            policy.end(summary.episode_index, summary.agent_id)

    def settle(self) -> None:
        """Do nothing, because every decision is answered at once."""


def _players_of_entry(entry: str, env_id: str) -> tuple[dict[str, Player], Origin]:
    """Return the players of one pool entry, by name, and the file that names them."""
    place = Path(entry).expanduser()
    if place.suffix in _FILES and not place.is_dir():
        tournament = load_tournament(place)
        return dict(tournament.policies), tournament.operator.origin
    if entry.startswith("library:") or place.exists() or "/" in entry:
        assignment = as_assignment(entry if entry.startswith("library:") else place.absolute())
        # The policy samples its actions, so that its episodes differ.
        return {place.name.removeprefix("library:"): replace(assignment, deterministic=False)}, TYPED
    slot = {"type": "random"} if entry == "random" else {"type": "baseline", "behavior": entry}
    return players_from_data({entry: slot}, env_id), TYPED


def _checkpoint_alone(player: Player) -> Path | None:
    """Return the folder of a player's checkpoint if the player has no other setting, else ``None``."""
    if not isinstance(player, WorkerAssignment) or set(player.settings) != {"checkpoint"}:
        return None
    return Path(str(player.settings["checkpoint"]))


def _words(player: WorkerAssignment) -> str:
    """Return a short description of a player, such as ``openspiel_worker, simulations 10``."""
    settings = {name: value for name, value in player.settings.items() if name != "checkpoint"}
    if "behavior" in settings:
        return str(settings["behavior"])
    return ", ".join([player.worker_id, *(f"{name} {shown(value)}" for name, value in settings.items())])


def _placeholder(observation: Any) -> Any:
    """Act as a placeholder policy, which is replaced before the first episode."""
    raise AssertionError("the training decides here")


def _no_log(level: int, logger: str, text: str) -> None:
    """Do nothing, because there is no worker."""


def _no_person(slot: WorkerSlot, request: pb.HumanRequest) -> None:
    """Answer a request for a person's action with ``None``, because no person plays in a training."""
    decision = slot.on_human(request)
    if decision is not None:
        slot.answer_human(decision, None)


def open_session(
    env_id: str,
    pool: Sequence[str],
    hold: Callable[[Path], InProcessPolicy | None],
    **keywords: Any,
) -> tuple[LearnerSession, list[PoolMember]]:
    """Open a learner session and add the members of its pool.

    Args:
        env_id: The environment.
        pool: Entries of the pool, each as :meth:`LearnerSession.invite` takes it.
        hold: Loads a policy into the training's process, see :meth:`LearnerSession.invite`.
        keywords: Further arguments of :class:`LearnerSession`.

    Raises:
        UsageError: The environment or a member of the pool cannot be used.
    """
    session = LearnerSession(env_id, **keywords)
    try:
        return session, [each for entry in pool for each in session.invite(entry, hold)]
    except NotAllowedError as error:
        session.close()
        # The option --trust of mosaic train does not apply to code that the pool's files name.
        allow = f"Read the code, then allow it: mosaic trust add {error.needs[0].subject.name}"
        raise UsageError(error.message, fix=allow) from error
    except BaseException:
        session.close()
        raise
