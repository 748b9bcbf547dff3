"""Collects the agents of an environment with their spaces, preprocessing and networks."""

# Values returned by environments are untyped.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.joint_env import make_parallel
from mosaic_worker.learning.training_arguments import check_actions_learnt
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import Pipeline, check_steps
from mosaic_worker.spaces import Space
from ray_worker.algorithms import ALGORITHMS, Algorithm
from ray_worker.environments import (
    action_kind,
    check_actions,
    from_zero,
    is_joint,
    is_picture,
    make_environment,
    steps_for,
    unbounded,
)
from ray_worker.settings import RayConfig, network_of

ALONE = "default_policy"
"""RLlib's name for the network of an environment with one agent."""


@dataclass(frozen=True)
class Seat:
    """An agent with its network and spaces.

    Attributes:
        agent: Name of the agent, as in slots.
        network: Name of the network that plays the agent.
        steps: Preprocessing of its observations.
        observation_space: Observation space of its slot.
        action_space: Action space of its slot.
    """

    agent: str
    network: str
    steps: Sequence[Mapping[str, Any]]
    observation_space: Any
    action_space: Any

    @property
    def input_space(self) -> Any:
        """Gymnasium space of the network's input."""
        return unbounded(Pipeline(self.steps, self.observation_space).input_space)

    @property
    def acts(self) -> Any:
        """Gymnasium space of the network's actions, counted from zero."""
        return from_zero(self.action_space)

    def described(self) -> tuple[Space, Space]:
        """Return descriptions of the slot's observation and action space."""
        return describe(self.observation_space), describe(self.action_space)


@dataclass(frozen=True)
class Plan:
    """All agents of a training.

    Attributes:
        joint: Whether there are several agents.
        seats: All agents.
        teams: Agents by team.
        masked: Whether the environment masks actions.
    """

    joint: bool
    seats: Sequence[Seat]
    teams: Mapping[str, Sequence[str]]
    masked: bool = False

    @property
    def networks(self) -> dict[str, Seat]:
        """One agent for each network, by the network's name."""
        found: dict[str, Seat] = {}
        for seat in self.seats:
            found.setdefault(seat.network, seat)
        return found


def plan_of(algorithm: Algorithm, config: RayConfig) -> Plan:
    """Inspect the environment and return the plan of the training.

    Raises:
        ConfigError: The environment cannot be made, or the algorithm cannot learn there.
    """
    if is_joint(config.env_id):
        plan = _joint(config)
    else:
        with contextlib.closing(make_environment(config.env_id)) as env:
            steps = steps_for(env.observation_space, config)
            seat = Seat("agent_0", ALONE, steps, env.observation_space, env.action_space)
            plan = Plan(False, (seat,), {"all": ("agent_0",)}, env.get_wrapper_attr("masked"))
    for seat in plan.seats:
        check_actions(config.env_id, seat.action_space)
        kind = action_kind(seat.action_space)
        check_actions_learnt(algorithm, ALGORITHMS, kind, seat.action_space, config.env_id)
        if getattr(config, "normalize_observations", False) and len(seat.input_space.shape) != 1:
            raise ConfigError("normalize_observations is only for vectors; leave it out for images")
    return plan


def _joint(config: RayConfig) -> Plan:
    with contextlib.closing(make_parallel(config.env_id)) as parallel:
        agents = tuple(parallel.possible_agents)
        sees = {agent: parallel.observation_space(agent) for agent in agents}
        does = {agent: parallel.action_space(agent) for agent in agents}
        teams: dict[str, tuple[str, ...]] = getattr(parallel, "teams", None) or {"all": agents}
    steps = {agent: steps_for(space, config) for agent, space in sees.items()}
    shown = {agent: Pipeline(steps[agent], sees[agent]).input_space for agent in sees}
    networks = _networks(config, shown, {agent: from_zero(space) for agent, space in does.items()})
    for name in dict.fromkeys(networks.values()):
        agents = [agent for agent in networks if networks[agent] == name]
        plain = not getattr(config, "normalize_observations", False)
        # A shared network gets a one-hot vector of the agent that it plays.
        for i, agent in enumerate(agents if len(agents) > 1 and plain else ()):
            if len(shown[agent].shape) == 1 and not is_picture(sees[agent]):
                mark = np.eye(len(agents))[i].tolist()
                steps[agent] = check_steps([*steps[agent], {"step": "append", "values": mark}])
    seats = [Seat(agent, networks[agent], steps[agent], sees[agent], does[agent]) for agent in sees]
    return Plan(True, tuple(seats), {str(team): tuple(agents) for team, agents in teams.items()})


def _networks(config: RayConfig, shown: Mapping[str, Any], does: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each agent's network."""
    if config.mapping:
        named = {agent: network_of(config.mapping, agent) for agent in shown}
        if missing := [agent for agent, name in named.items() if not name]:
            raise ConfigError(
                f"mapping gives no network to {', '.join(missing)}. Agents of {config.env_id}: "
                f"{', '.join(shown)}"
            )
    elif config.share_parameters:
        alike: list[tuple[Any, Any]] = []
        kinds: dict[str, int] = {}
        for agent in shown:
            pair = (_shape(shown[agent]), does[agent])
            if pair not in alike:
                alike.append(pair)
            kinds[agent] = alike.index(pair)
        named = {agent: "shared" if len(alike) == 1 else f"shared_{kind}" for agent, kind in kinds.items()}
    else:
        named = {agent: agent for agent in shown}
    for name in dict.fromkeys(named.values()):
        agents = [agent for agent in named if named[agent] == name]
        for agent in agents[1:]:
            if (_shape(shown[agent]), does[agent]) != (_shape(shown[agents[0]]), does[agents[0]]):
                raise ConfigError(
                    f"{agents[0]} and {agent} have different spaces, so the network {name} cannot play "
                    "both. "
                    "Give them different networks"
                )
    return named


def _shape(space: Any) -> Any:
    return space.shape if isinstance(space, spaces.Box) else space
