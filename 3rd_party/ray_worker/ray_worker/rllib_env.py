"""Classes that RLlib's runners import: environments, the mapping of agents to networks, a callback."""

# Ray is not among the packages that the checks install.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from typing import Any

import gymnasium
import numpy as np
import ray
from ray.experimental.internal_kv import _internal_kv_put
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from mosaic_worker.failures import described
from mosaic_worker.learning.joint_env import AgentStep, make_joint
from ray_worker.environments import from_zero, make_environment, starts_of, trainable, unbounded

EPISODES = "mosaic_episodes"
"""Key of the metric that contains finished episodes."""
ALL = "__all__"


def make_single(context: Mapping[str, Any]) -> Any:
    """Make an environment with one agent."""
    return _Watched(trainable(make_environment(context["env_id"], context["steps"])))


def failure_key() -> str:
    """Return the key in the cluster's table under which a runner stores why its environment failed.

    An exception in a runner ends its process (RLlib 2.60), so the reason would be lost.
    """
    return f"mosaic-environment-failed-{ray.get_runtime_context().get_job_id()}"


@contextlib.contextmanager
def _store_failure() -> Generator[None, None, None]:
    try:
        yield
    except Exception as error:
        _internal_kv_put(failure_key(), described(error, ["ray_worker"]).encode(), overwrite=True)
        raise


class _Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that stores an error under :func:`failure_key`."""

    def reset(self, **given: Any) -> Any:
        with _store_failure():
            return self.env.reset(**given)

    def step(self, action: Any) -> Any:
        with _store_failure():
            return self.env.step(action)


class JointEnv(MultiAgentEnv):
    """An environment whose agents act simultaneously, with RLlib's interface.

    Args:
        context: ``env_id``, and ``steps``: the preprocessing steps of each agent.
    """

    def __init__(self, context: Mapping[str, Any]) -> None:
        super().__init__()
        self._joint = joint = make_joint(context["env_id"], context["steps"])
        self.possible_agents = list(joint.agents)
        self.agents = list(joint.agents)
        self.observation_spaces = {a: unbounded(joint.observation_space[a]) for a in joint.agents}
        self.action_spaces = {a: from_zero(joint.action_space[a]) for a in joint.agents}
        self.observation_space = gymnasium.spaces.Dict(self.observation_spaces)
        self.action_space = gymnasium.spaces.Dict(self.action_spaces)
        self._starts = {a: starts_of(joint.action_space[a]) for a in joint.agents}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode."""
        with _store_failure():
            seen, info = self._joint.reset(seed=seed)
        self.agents = list(info["acting"])
        return {agent: seen[agent] for agent in self.agents}, {}

    def step(self, action_dict: Mapping[str, Any]) -> Any:
        """Play one action of each agent."""
        starts = {agent: self._starts[agent] for agent in self.agents}
        played = {
            a: action_dict[a] + start if np.any(start) else action_dict[a] for a, start in starts.items()
        }
        with _store_failure():
            seen, _, over, cut, info = self._joint.step(played)
        self.agents = list(info["acting"])
        steps: Mapping[str, AgentStep] = info["steps"]
        return (
            {agent: seen[agent] for agent in steps},
            {agent: step.reward for agent, step in steps.items()},
            {**{agent: step.terminated for agent, step in steps.items()}, ALL: over},
            {**{agent: step.truncated for agent, step in steps.items()}, ALL: cut},
            {},
        )

    def close(self) -> None:
        """Close the environment."""
        self._joint.close()


class PlayedBy:
    """Maps an agent to its network.

    Args:
        networks: Networks by agent.
    """

    def __init__(self, networks: Mapping[str, str]) -> None:
        self._networks = dict(networks)

    def __call__(self, agent_id: str, episode: Any = None, **_: Any) -> str:
        return self._networks[agent_id]


class EpisodeMetricsCallback(RLlibCallback):
    """Callback that reports return and length of each episode as a metric."""

    def on_episode_end(
        self, *, episode: Any, prev_episode_chunks: Any = None, metrics_logger: Any = None, **_: Any
    ) -> None:
        """Report a finished episode, whose steps may be in several chunks."""
        chunks = [*(prev_episode_chunks or ()), episode]
        agents: dict[str, float] = {}
        if hasattr(episode, "agent_episodes"):
            for chunk in chunks:
                for agent, own in chunk.agent_episodes.items():
                    agents[str(agent)] = agents.get(str(agent), 0.0) + float(own.get_return())
            total = sum(agents.values())
        else:
            total = sum(float(chunk.get_return()) for chunk in chunks)
        row = {"return": total, "length": sum(map(len, chunks)), "agents": agents}
        metrics_logger.log_value(EPISODES, row, reduce="item_series")
