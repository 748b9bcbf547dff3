"""Collects the agents, spaces and preprocessing of a training before the library is imported."""

# Gymnasium's spaces are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.joint_env import JointEnv, make_parallel
from mosaic_worker.learning.observation_steps import vector_steps
from mosaic_worker.learning.training_arguments import check_actions_learnt
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import Pipeline
from xuance_worker.algorithms import ALGORITHMS, Acting, Algorithm
from xuance_worker.config import OffPolicyConfig, TeamConfig
from xuance_worker.moments import Moments
from xuance_worker.network import Network
from xuance_worker.team import action_kind, longest_episode

SHARED = "shared."
"""Prefix of the names of weights that all agents share."""


@dataclass(frozen=True)
class Plan:
    """Agents, spaces and preprocessing of a training.

    Attributes:
        env_id: Id of the environment.
        agents: Names of the agents.
        seen: Gymnasium spaces of the slots' observations, by agent.
        does: Gymnasium spaces of actions, by agent.
        steps: Preprocessing steps that turn observations into vectors, by agent.
        sizes: Length of the vector, by agent.
        shared: Whether all agents share one network.
        masks: Whether some actions may be illegal.
        limit: Length of the longest episode, in steps.
        bounded: Activation that bounds the numbers of an action: ``sigmoid`` (0 to 1) or ``tanh`` (-1 to 1);
            empty for discrete actions.
        scaled: Whether these numbers are scaled to the bounds of the actions.
    """

    env_id: str
    agents: tuple[str, ...]
    seen: Mapping[str, Any]
    does: Mapping[str, Any]
    steps: Mapping[str, list[dict[str, Any]]]
    sizes: Mapping[str, int]
    shared: bool
    masks: bool = False
    limit: int = 1000
    bounded: str = ""
    scaled: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the agents under which the library stores networks."""
        return self.agents[:1] if self.shared else self.agents

    def key_of(self, agent: str) -> str:
        """Return the name of the agent under which the library stores the network of ``agent``."""
        return self.agents[0] if self.shared else agent

    def prefix_of(self, key: str) -> str:
        """Return the prefix of a network's weights in this worker's file."""
        return SHARED if self.shared else f"{key}."

    def preprocessing(self, agent: str, normalize: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """Return all preprocessing steps between a slot and the network of an agent."""
        steps = [*self.steps[agent], *([] if normalize is None else [dict(normalize)])]
        if self.shared:
            mark = np.eye(len(self.agents))[self.agents.index(agent)]
            steps.append({"step": "append", "values": mark.tolist()})
        return steps

    def part(self, agent: str, network: Network, normalize: Mapping[str, Any] | None) -> PolicyPart:
        """Return what ``policy.json`` stores for an agent."""
        steps = self.preprocessing(agent, normalize)
        return PolicyPart(
            (agent,),
            describe(self.seen[agent]),
            describe(self.does[agent]),
            network.to_json(),
            tuple(steps),
            describe(Pipeline(steps, self.seen[agent]).input_space),
            self.prefix_of(self.key_of(agent)),
        )

    def moments(self, state: Mapping[str, Any]) -> dict[str, Moments]:
        """Return running statistics by agent; agents with a shared network share them."""
        made = {key: Moments(self.sizes[key], state.get(key)) for key in self.keys}
        return {agent: made[self.key_of(agent)] for agent in self.agents}


def plan_for(
    algorithm: Algorithm, config: TeamConfig, preprocessing: list[dict[str, Any]] | None = None
) -> Plan:
    """Inspect the environment and check that the algorithm can train there.

    Args:
        algorithm: Algorithm of the training.
        config: Settings of the training.
        preprocessing: Steps of all agents; ``None`` for steps that turn observations into vectors.

    Raises:
        ConfigError: The environment cannot be made or does not fit; the message is one sentence.
    """
    parallel = make_parallel(config.env_id)
    with closing(parallel):
        agents = tuple(parallel.possible_agents)
        if len(agents) < 2:
            raise ConfigError(
                f"{config.env_id} has one agent, but {algorithm.name} trains teams of two or more"
            )
        kind = _kind(algorithm, config.env_id, {a: parallel.action_space(a) for a in agents})
        seen = {agent: parallel.observation_space(agent) for agent in agents}
        steps = {
            agent: vector_steps(config, space) if preprocessing is None else [*preprocessing]
            for agent, space in seen.items()
        }
        team = JointEnv(parallel, steps)
        for agent in agents:
            space = team.observation_space[agent]
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise ConfigError(
                    f"{agent} of {config.env_id} observes {space}, which cannot be converted to a vector"
                )
            if space.dtype != np.float32:
                steps[agent].append({"step": "dtype", "dtype": "float32"})
        sizes = {agent: int(team.observation_space[agent].shape[0]) for agent in agents}
        does = {agent: team.action_space[agent] for agent in agents}
        limit = longest_episode(parallel, config.max_episode_steps)
        alike = len({(sizes[agent], str(does[agent])) for agent in agents}) == 1
        if config.use_parameter_sharing and not alike:
            raise ConfigError(
                f"agents of {config.env_id} have different spaces, so they cannot share a network. "
                "Leave use_parameter_sharing out"
            )
        _, info = team.reset(seed=config.seed)
        masks = "action_mask" in info
    shared = alike if config.use_parameter_sharing is None else config.use_parameter_sharing
    acting = algorithm.acting[kind]
    _check_memory(algorithm, config, acting)
    bounded, scaled = bounds(acting, does.values()) if kind == "continuous" else ("", False)
    return Plan(config.env_id, agents, seen, does, steps, sizes, shared, masks, limit, bounded, scaled)


def _kind(algorithm: Algorithm, env_id: str, does: Mapping[str, Any]) -> str:
    kinds = {agent: action_kind(space) for agent, space in does.items()}
    for agent, kind in kinds.items():
        able = {n: a for n, a in ALGORITHMS.items() if all(k in a.acting for k in kinds.values())}
        check_actions_learnt(algorithm, able, kind, does[agent], f"{agent} of {env_id}")
    if len(set(kinds.values())) > 1:
        raise ConfigError(
            f"some agents of {env_id} have discrete actions, others continuous ones: no algorithm learns both"
        )
    return next(iter(kinds.values()))


def _check_memory(algorithm: Algorithm, config: TeamConfig, acting: Acting) -> None:
    if not config.use_rnn:
        return
    if not algorithm.recurrent:
        able = [a.name for a in ALGORITHMS.values() if a.recurrent]
        raise ConfigError(
            f"{algorithm.name} has no recurrent network; leave use_rnn out. These have one: {', '.join(able)}"
        )
    if acting.kind == "gaussian":
        # gaussian_marl.MAAC_Policy.forward returns the memory that it received.
        raise ConfigError(
            "XuanCe 1.4.4 loses the memory of agents with continuous actions at every step; leave use_rnn out"
        )
    if isinstance(config, OffPolicyConfig) and config.buffer_size > 10_000:
        raise ConfigError(
            f"with use_rnn the buffer holds whole episodes, and buffer_size = {config.buffer_size} of them "
            "are too many; use 1000"
        )


def bounds(acting: Acting, does: Any) -> tuple[str, bool]:
    """Return the activation that bounds actions, and whether its range is scaled to other bounds."""
    if acting.kind != "squashed" and all((s.low == 0).all() and (s.high == 1).all() for s in does):
        return "sigmoid", False
    return "tanh", not all((s.low == -1).all() and (s.high == 1).all() for s in does)
