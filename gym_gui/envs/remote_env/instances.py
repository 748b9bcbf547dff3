"""Clients of served environments, with the interfaces of Gymnasium and PettingZoo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

from gym_gui.core.errors import EnvironmentFailure, EnvironmentLostError, UsageError, WorkerLaunchError
from gym_gui.core.spaces import SpaceCodec
from gym_gui.envs.remote_env.server_connection import Connection, PendingRequest
from gym_gui.envs.remote_env.servers import Place, Server, server_of
from mosaic_env_server.plain import LOST, dumps, loads
from mosaic_worker.codec import Codec, NotInSpace
from mosaic_worker.gymnasium_spaces import build
from mosaic_worker.pb import environment_pb2 as pb
from mosaic_worker.spaces import Space


@dataclass(frozen=True)
class InstanceRequest:
    """Request for a served environment, with the time limits of its server.

    Attributes:
        entry: ``module:factory`` as the server imports it, or a name with which the server was started.
        arguments: Keyword arguments of the factory, plain data.
        api: Interface; ``""`` for the environment's own.
        begin_s: Time limit in seconds for making an instance or beginning an episode; compilation may be
            necessary at first.
        step_s: Time limit in seconds for one step or picture.
    """

    entry: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    api: str = ""
    begin_s: float = 300.0
    step_s: float = 60.0


def make_served(place: Place, wanted: InstanceRequest) -> ServedEnv:
    """Make an environment on a server.

    Args:
        place: Location of the server.
        wanted: The environment and its time limits.

    Raises:
        UsageError: The server cannot make the environment, or cannot be started.
    """
    server = server_of(place)
    order = pb.Make(entry=wanted.entry, arguments=_plain(wanted.arguments), api=wanted.api)
    made = server.cached_description(order)
    first: tuple[Connection, int] | None = None
    if made is None:
        try:
            connection, number = server.connection(), server.next_number()
            ticket = connection.order(pb.Order(instance=number, make=order))
            report = server.report(connection, ticket, wanted.begin_s, "making it")
        except (WorkerLaunchError, EnvironmentLostError) as error:
            raise UsageError(f"{wanted.entry} could not be made: {error}") from error
        if report.error:
            raise UsageError(f"{wanted.entry} could not be made: {_error_words(report)}")
        made, first = report.made, (connection, number)
        server.learn(order, made)
    kind = _KINDS[made.api]
    return kind(server, order, wanted, made, first)


def _plain(arguments: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(arguments), sort_keys=True)
    except (TypeError, ValueError) as error:
        raise UsageError(f"arguments of a served environment must be plain data: {error}") from None


def _error_words(report: pb.Report) -> str:
    return report.error if report.kind == report.error else f"{report.kind}: {report.error}"


class ServedEnv:
    """Base class of the clients of a served environment.

    An instance belongs to the server that runs when an episode begins. If that server has ended since, the
    next ``reset`` makes the instance again in a new server.

    Args:
        server: Server of the environment.
        order: Message that makes the environment.
        wanted: Environment and time limits.
        made: Description of the environment.
        first: Connection and number of an instance that has been made already.
    """

    def __init__(
        self,
        server: Server,
        order: pb.Make,
        wanted: InstanceRequest,
        made: pb.Made,
        first: tuple[Connection, int] | None,
    ) -> None:
        self._server, self._order, self._wanted, self._made = server, order, wanted, made
        self._connection, self._number = first or (None, 0)
        self._pending: PendingRequest | None = None
        self._making: PendingRequest | None = None
        self._beginning: tuple[Connection, PendingRequest] | None = None
        self.metadata: Mapping[str, Any] = {**loads(made.metadata or "{}"), "served": True}
        self.render_mode = made.render_mode or None
        self.spec = SimpleNamespace(max_episode_steps=made.max_episode_steps or None)
        self._keys: list[Any] = []
        self._places: dict[Any, int] = {}
        self._spaces: list[tuple[Any, Any]] = []
        self._codecs: list[tuple[Codec, Codec]] = []
        for agent in made.agents:
            self._add_agent(agent)

    @property
    def unwrapped(self) -> ServedEnv:
        """The client itself, because it wraps no environment in this process."""
        return self

    @property
    def answers(self) -> tuple[str, ...]:
        """Names of the questions that :meth:`ask` accepts."""
        return tuple(self._made.answers)

    def ask(self, name: str, agent: Any = "") -> Any:
        """Ask the served environment a question that its interface does not cover, and return the answer.

        Args:
            name: One of :attr:`answers`.
            agent: Agent that the question is about.

        Raises:
            EnvironmentFailure: The environment raised an exception.
        """
        if self._connection is None:  # questions about the game may come before the first episode
            self._make_there()
        place = self._places.get(agent, 0)
        report = self._carry_out(pb.Order(ask=pb.Ask(name=name, agent=place)), self._wanted.step_s, name)
        return loads(report.json)

    def render(self) -> Any:
        """Return an RGB picture of shape (H, W, 3), ``uint8``, or text, or ``None``."""
        report = self._carry_out(pb.Order(render=pb.Render()), self._wanted.step_s, "render()")
        assert self._connection is not None
        return self._connection.picture(report.frame)

    def close(self) -> None:
        """Close the instance on the server, which keeps running."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.lost:
            try:
                self._send_order(connection, pb.Order(close=pb.Close()))
                connection.flush()
            except EnvironmentLostError:
                pass  # the server is gone, and with it the instance

    # -- used by the API adapters

    def reset_async(self, seed: int | None) -> None:
        """Begin an episode without waiting.

        ``reset`` with the same seed, and no options, returns the result.
        """
        if self._beginning is None:
            self._beginning = self._order_reset(seed, None)

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> pb.State:
        begun, self._beginning = self._beginning, None
        connection, ticket = begun or self._order_reset(seed, options)
        if self._making is not None:
            making, self._making = self._making, None
            self._await_report(connection, making, self._wanted.begin_s, "making it")
        return self._await_report(connection, ticket, self._wanted.begin_s, "reset()").state

    def _order_reset(
        self, seed: int | None, options: Mapping[str, Any] | None
    ) -> tuple[Connection, PendingRequest]:
        self._pending = None
        try:
            connection = self._server.connection()
        except WorkerLaunchError as error:
            raise EnvironmentFailure(str(error)) from error
        if self._connection is not connection:
            self._connection, self._number = connection, self._server.next_number()
            self._making = self._send_order(connection, pb.Order(make=self._order))
        reset = pb.Reset(seed=seed, options="" if options is None else dumps(dict(options)))
        return connection, self._send_order(connection, pb.Order(reset=reset))

    def _make_there(self) -> None:
        """Make an instance on the running server, without an episode."""
        try:
            connection = self._server.connection()
        except WorkerLaunchError as error:
            raise EnvironmentFailure(str(error)) from error
        self._connection, self._number = connection, self._server.next_number()
        making = self._send_order(connection, pb.Order(make=self._order))
        self._await_report(connection, making, self._wanted.begin_s, "making it")

    def _announce(self, actions: Mapping[Any, Any]) -> None:
        """Start a step without waiting; :meth:`_end` with the same actions returns the result."""
        if self._pending is None and self._connection is not None:
            self._pending = self._send_order(self._connection, self._step(actions))

    def _end(self, actions: Mapping[Any, Any]) -> pb.State:
        self._announce(actions)
        ticket, self._pending = self._pending, None
        if ticket is None or self._connection is None:
            raise EnvironmentFailure("it was closed")
        return self._await_report(self._connection, ticket, self._wanted.step_s, "step()").state

    def _step(self, actions: Mapping[Any, Any]) -> pb.Order:
        played: list[pb.Action] = []
        for key, action in actions.items():
            place = self._places[key]
            value = () if action is None else self._codecs[place][1].encode(action)
            played.append(pb.Action(agent=place, value=value))
        return pb.Order(step=pb.Step(actions=played))

    def _carry_out(self, order: pb.Order, within_s: float, doing: str) -> pb.Report:
        if self._connection is None:
            raise EnvironmentFailure("it has no episode yet", fix="Call reset() first")
        return self._await_report(
            self._connection, self._send_order(self._connection, order), within_s, doing
        )

    def _send_order(self, connection: Connection, order: pb.Order) -> PendingRequest:
        order.instance = self._number
        return connection.order(order)

    def _await_report(
        self, connection: Connection, ticket: PendingRequest, within_s: float, doing: str
    ) -> pb.Report:
        report = self._server.report(connection, ticket, within_s, doing)
        if report.error and report.kind == LOST:
            raise EnvironmentLostError(report.error)
        if report.error:
            # An exception class of the same name as on the server: messages contain the name.
            raise type(report.kind or "Exception", (ServedError,), {})(report.error)
        return report

    def _add_agent(self, agent: pb.Agent) -> None:
        key: Any = json.loads(agent.name)
        spaces = [
            build(Space.from_json(json.loads(text))) for text in (agent.observation_space, agent.action_space)
        ]
        self._places[key] = len(self._keys)
        self._keys.append(key)
        self._spaces.append((spaces[0], spaces[1]))
        self._codecs.append((SpaceCodec(spaces[0]), SpaceCodec(spaces[1])))

    def _seen(self, shown: pb.AgentState) -> Any:
        try:
            return self._codecs[shown.agent][0].decode(shown.observation)
        except NotInSpace as error:
            raise EnvironmentFailure(f"{self._server.name} sent an invalid observation: {error}") from error


class ServedError(Exception):
    """Base class of exceptions that environments raise on their server.

    Attributes:
        elsewhere: Whether the local traceback is useless, because the message names the line on the server.
    """

    elsewhere: ClassVar[bool] = True


class ServedGymnasium(ServedEnv):
    """Client of a served environment with Gymnasium's interface."""

    @property
    def observation_space(self) -> Any:
        """Observation space of the agent."""
        return self._spaces[0][0]

    @property
    def action_space(self) -> Any:
        """Action space of the agent."""
        return self._spaces[0][1]

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode, and return observation and info."""
        shown = self._begin(seed, options).agents[0]
        return self._seen(shown), _info(shown)

    def step_async(self, action: Any) -> None:
        """Start a step without waiting; :meth:`step` with the same action returns the result."""
        self._announce({"": action})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        """Play a step; return observation, reward, terminated, truncated and info."""
        shown = self._end({"": action}).agents[0]
        return self._seen(shown), shown.reward, shown.terminated, shown.truncated, _info(shown)


class ServedSeveral(ServedEnv):
    """Base class of the clients of served environments for several agents."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.possible_agents = list(self._keys)
        self.agents: list[Any] = []

    def observation_space(self, agent: Any) -> Any:
        """Return an agent's observation space."""
        return self._spaces[self._places[agent]][0]

    def action_space(self, agent: Any) -> Any:
        """Return an agent's action space."""
        return self._spaces[self._places[agent]][1]

    def _update_agents(self, state: pb.State) -> None:
        for agent in state.joined:
            if json.loads(agent.name) not in self._places:
                self._add_agent(agent)
        self.agents = [self._keys[place] for place in state.living]


class ServedParallel(ServedSeveral):
    """Client of a served environment with PettingZoo's Parallel interface."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Begin an episode, and return observations and infos by agent."""
        state = self._begin(seed, options)
        self._update_agents(state)
        shown = {self._keys[each.agent]: each for each in state.agents}
        return {key: self._seen(each) for key, each in shown.items()}, _infos(shown)

    def step_async(self, actions: Mapping[Any, Any]) -> None:
        """Start a step without waiting; :meth:`step` with the same actions returns the result."""
        self._announce(actions)

    def step(self, actions: Mapping[Any, Any]) -> tuple[dict[Any, Any], ...]:
        """Play a step; return observations, rewards, terminations, truncations and infos by agent."""
        state = self._end(actions)
        self._update_agents(state)
        shown = {self._keys[each.agent]: each for each in state.agents}
        return (
            {key: self._seen(each) for key, each in shown.items() if each.observed},
            {key: each.reward for key, each in shown.items() if each.paid},
            {key: each.terminated for key, each in shown.items()},
            {key: each.truncated for key, each in shown.items()},
            _infos(shown),
        )


class ServedAEC(ServedSeveral):
    """Client of a served environment with PettingZoo's AEC interface."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.parallel_to_aec = bool(self.metadata.get("parallel_to_aec"))
        self.agent_selection: Any = None
        self.rewards: dict[Any, float] = {}
        self.terminations: dict[Any, bool] = {}
        self.truncations: dict[Any, bool] = {}
        self.infos: dict[Any, Any] = {}
        self._cumulative_rewards: dict[Any, float] = {}
        self._observation: Any = None

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode."""
        self._update_from(self._begin(seed, options))

    def step_async(self, action: Any) -> None:
        """Start a step without waiting; :meth:`step` with the same action returns the result."""
        self._announce({self.agent_selection: action})

    def step(self, action: Any) -> None:
        """Play an action of the selected agent; ``None`` if the agent's episode has ended."""
        self._update_from(self._end({self.agent_selection: action}))

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, Any]:
        """Return the selected agent's observation, reward since its last move, both end flags, and info."""
        agent = self.agent_selection
        return (
            self._observation if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 1 << 63) -> Any:
        """Yield the selected agent, turn by turn, until no agent is left."""
        for _ in range(max_iter):
            if not self.agents:
                return
            yield self.agent_selection

    def observe(self, agent: Any) -> Any:
        """Return the selected agent's observation; ``None`` for other agents."""
        return self._observation if agent == self.agent_selection else None

    def _update_from(self, state: pb.State) -> None:
        self._update_agents(state)
        if not self.agents:
            return
        self.agent_selection = self._keys[state.selection]
        self._observation = None
        for each in state.agents:
            key = self._keys[each.agent]
            self._cumulative_rewards[key] = self.rewards[key] = each.reward
            self.terminations[key], self.truncations[key] = each.terminated, each.truncated
            self.infos[key] = _info(each)
            if each.observed:
                self._observation = self._seen(each)


def _info(shown: pb.AgentState) -> Any:
    return loads(shown.info) if shown.info else {}


def _infos(shown: Mapping[Any, pb.AgentState]) -> dict[Any, Any]:
    return {key: _info(each) for key, each in shown.items()}


_KINDS: Mapping[str, type[ServedEnv]] = {
    "gymnasium": ServedGymnasium,
    "parallel": ServedParallel,
    "aec": ServedAEC,
}
