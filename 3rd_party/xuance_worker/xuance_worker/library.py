"""Makes XuanCe's agents for a team; import this with :func:`xuance_worker.loading.load_library`."""

# The library is not typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingImports=false, reportUnknownParameterType=false
# pyright: reportUntypedBaseClass=false

from __future__ import annotations

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping
from importlib import metadata
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from xuance.environment import REGISTRY_MULTI_AGENT_ENV, RawMultiAgentEnv, make_envs
from xuance.torch.agents import REGISTRY_Agents

from mosaic_worker.learning.joint_env import AgentStep, make_joint
from xuance_worker.algorithms import Acting, Algorithm
from xuance_worker.config import OnPolicyConfig, TeamConfig
from xuance_worker.plan import Plan
from xuance_worker.policy import in_bounds

VERSION = metadata.version("xuance")
_ENV = "mosaic"
FINISHED = "finished"
"""Key in a step's info for the episode that ended: returns by agent, and its length."""


Shown = Callable[[str, NDArray[Any]], NDArray[Any]]


class LibraryEnv(RawMultiAgentEnv):
    """A copy of the team's environment, with the library's interface.

    Args:
        plan: Plan of the training.
        shown: Function that converts an agent's observation vector for the library.
        seed: Seed for the seeds of the episodes.
    """

    def __init__(self, plan: Plan, shown: Shown | None, seed: int) -> None:
        super().__init__()
        self.env = make_joint(plan.env_id, plan.steps, limit=plan.limit)
        self._plan, self._shown = plan, shown
        self._seeds = np.random.default_rng(seed)
        self.agents, self.num_agents = list(plan.agents), len(plan.agents)
        self.agent_groups = [self.agents]
        self.observation_space = seen_by_library(plan)
        self.action_space = done_by_library(plan)
        self.state_space = state_space(plan)
        self.max_episode_steps = plan.limit
        self._seen: Mapping[str, Any] = {}
        self._info: Mapping[str, Any] = {}
        self._returns, self._length = dict.fromkeys(self.agents, 0.0), 0

    def reset(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        seen, self._info = self.env.reset(seed=int(self._seeds.integers(2**31)))
        self._seen = self._vectors(seen, self._info["acting"])
        self._returns, self._length = dict.fromkeys(self.agents, 0.0), 0
        return dict(self._seen), {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], bool, dict[str, Any]]:
        actions = {agent: self._action(agent, action_dict[agent]) for agent in self.agents}
        seen, _, over, cut, self._info = self.env.step(actions)
        steps: Mapping[str, AgentStep] = self._info["steps"]
        self._seen = self._vectors(seen, steps)
        rewards = {agent: steps[agent].reward if agent in steps else 0.0 for agent in self.agents}
        self._returns = {agent: total + rewards[agent] for agent, total in self._returns.items()}
        self._length += 1
        info = {FINISHED: (self._returns, self._length)} if over or cut else {}
        acting = self._info["acting"]
        # An agent that is truncated while others continue counts as terminated, because its later states have
        # no value.
        terminated = {
            agent: over or (agent not in acting and not (cut and agent in steps and steps[agent].truncated))
            for agent in self.agents
        }
        return dict(self._seen), rewards, terminated, cut, info

    def state(self) -> NDArray[np.float32]:
        return np.concatenate([self._seen[agent] for agent in self.agents])

    def agent_mask(self) -> dict[str, bool]:
        acting = self._info["acting"]
        # At the end of an episode, all agents that took part are included.
        return {agent: not acting or agent in acting for agent in self.agents}

    def avail_actions(self) -> dict[str, NDArray[np.bool_]]:
        if self._plan.bounded:
            return {}
        masks = self._info.get("action_mask")
        return {
            agent: np.ones(space.n, np.bool_) if masks is None else masks[i, : space.n]
            for i, (agent, space) in enumerate(self.action_space.items())
        }

    def render(self, *_: Any) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _vectors(self, seen: Mapping[str, Any], present: Collection[str]) -> dict[str, Any]:
        """Convert the vectors of present agents; agents that ended get a zero vector."""
        if self._shown is None:
            return dict(seen)
        return {a: self._shown(a, vector) if a in present else vector for a, vector in seen.items()}

    def _action(self, agent: str, action: Any) -> Any:
        space = self._plan.does[agent]
        if not self._plan.bounded:
            return int(action) + int(space.start)
        # Exploration noise can exceed the bounds.
        numbers = np.asarray(action, np.float32)
        numbers = np.clip(numbers, -1, 1) if self._plan.scaled else numbers
        return in_bounds(numbers[None], space, scaled=self._plan.scaled)[0]


def seen_by_library(plan: Plan) -> dict[str, Any]:
    """Return the spaces of observations, by agent."""
    return {agent: spaces.Box(-np.inf, np.inf, (plan.sizes[agent],), np.float32) for agent in plan.agents}


def done_by_library(plan: Plan) -> dict[str, Any]:
    """Return the spaces of actions, by agent."""
    if not plan.bounded:
        return {agent: spaces.Discrete(int(plan.does[agent].n)) for agent in plan.agents}
    low = 0.0 if plan.bounded == "sigmoid" else -1.0
    return {agent: spaces.Box(low, 1.0, plan.does[agent].shape, np.float32) for agent in plan.agents}


def state_space(plan: Plan) -> Any:
    """Return the space of the global state for mixers and critics: all agents' observations together."""
    return spaces.Box(-np.inf, np.inf, (sum(plan.sizes[agent] for agent in plan.agents),), np.float32)


def library_settings(
    algorithm: Algorithm, acting: Acting, config: TeamConfig, plan: Plan, seed: int, device: str
) -> dict[str, Any]:
    """Return the settings for the library by its names."""
    representation = "Basic_MLP" if config.representation_hidden_size else "Basic_Identical"
    own = config.arguments()
    if isinstance(config, OnPolicyConfig):
        own["buffer_size"] = config.num_envs * (1 if config.use_rnn else config.n_steps)
    return {
        **surroundings(device),
        "agent": algorithm.title,
        "env_id": config.env_id,
        "env_seed": seed % 2**31,
        "vectorize": "SubprocVecMultiAgentEnv" if config.async_envs else "DummyVecMultiAgentEnv",
        "learner": algorithm.learner,
        "policy": acting.policy,
        "representation": "Basic_RNN" if config.use_rnn else representation,
        "representation_hidden_size": list(config.representation_hidden_size),
        "use_rnn": config.use_rnn,
        "rnn": config.rnn,
        "fc_hidden_sizes": list(config.representation_hidden_size),
        "recurrent_hidden_size": config.recurrent_hidden_size,
        "N_recurrent_layers": 1,
        "dropout": 0,
        **({"normalize": "LayerNorm"} if config.layer_norm else {}),
        "activation": config.activation,
        "activation_action": plan.bounded or "sigmoid",
        "use_parameter_sharing": plan.shared,
        "use_actions_mask": plan.masks and algorithm.masks,
        "use_global_state": False,
        "use_grad_clip": config.use_grad_clip,
        "grad_clip_norm": config.grad_clip_norm,
        "gamma": config.gamma,
        "seed": seed,
        "parallels": config.num_envs,
        "running_steps": config.total_steps,
        "episode_length": plan.limit,
        **algorithm.fixed,
        **{name: list(value) for name, value in config.heads.items()},
        **own,
    }


def surroundings(device: str) -> dict[str, Any]:
    """Return the library's settings for logging, device and folders."""
    return {
        "dl_toolbox": "torch",
        "logger": "tensorboard",
        "project_name": "mosaic",
        "wandb_user_name": "",
        "render": False,
        "render_mode": "rgb_array",
        "fps": 30,
        "device": device,
        "distributed_training": False,
        "env_name": _ENV,
        "log_dir": "",
        "model_dir": "",
    }


def make_agents(settings: Mapping[str, Any], plan: Plan, shown: Shown | None = None, *, learns: bool) -> Any:
    """Make the library's agents with copies of an environment.

    Args:
        settings: As :func:`library_settings` returns them.
        plan: Plan of the training.
        shown: Function that converts an agent's observation vector for the library.
        learns: Whether the agents learn; if not, no buffer and no learner are made.

    Returns:
        The library's ``MARLAgents``; close their ``train_envs``. Their log output is discarded.
    """
    folder = tempfile.mkdtemp(prefix="xuance-")
    config = Namespace(**{**settings, "log_dir": folder, "model_dir": folder})

    def copy(given: Any) -> LibraryEnv:
        seeds = np.random.SeedSequence((settings["seed"], given.env_seed))
        return LibraryEnv(plan, shown, int(seeds.generate_state(1)[0]))

    REGISTRY_MULTI_AGENT_ENV[_ENV] = copy
    kind = REGISTRY_Agents[config.agent]
    if not learns:
        kind = type(kind.__name__, (kind,), {"_build_memory": _do_nothing, "_build_learner": _do_nothing})
    envs = make_envs(config)
    try:
        agents = kind(config, envs)
        agents.writer.close()
    except BaseException:
        envs.close()
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    agents.log_infos = _silent
    # Exploration draws from these spaces, which have no seed of their own.
    for i, space in enumerate(agents.action_space.values()):
        space.seed(int(np.random.SeedSequence((settings["seed"], i)).generate_state(1)[0] >> 1))
    return agents


def _do_nothing(*_: Any) -> None:
    """Replace a method that only training needs."""


def _silent(*_: Any, **__: Any) -> None:
    """Replace the library's logging; the session reports instead."""


class Player:
    """Plays the most likely actions of the library's agents, one step of one environment at a time.

    Args:
        agents: Result of :func:`make_agents`.
        algorithm: Algorithm of the agents.
        plan: Plan of the training.
    """

    def __init__(self, agents: Any, algorithm: Algorithm, plan: Plan) -> None:
        self._agents, self._on_policy, self._plan = agents, algorithm.on_policy, plan
        self._acting = algorithm.acting["continuous" if plan.bounded else "discrete"]
        self._memory: Any = None
        self.begin()

    def begin(self) -> None:
        """Begin an episode."""
        self._memory = None
        if self._agents.use_rnn:
            memory = self._agents.init_rnn_hidden(1)
            self._memory = memory[0] if self._on_policy else memory

    @torch.no_grad()
    def choose(self, seen: Mapping[str, Any], masks: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Return the action of each agent, in the environment's own form.

        Args:
            seen: Observation vectors by agent, without the one-hot of the agent.
            masks: bool (agents, actions).
        """
        legal = None
        if self._agents.use_actions_mask:
            full = {a: np.ones(self._plan.does[a].n, np.bool_) for a in self._plan.agents}
            told = {} if masks is None else {a: masks[i, : len(full[a])] for i, a in enumerate(full)}
            legal = [{**full, **told}]
        if self._on_policy:
            out = self._agents.get_actions(
                obs_dict=[seen],
                avail_actions_dict=legal,
                rnn_hidden_actor=self._memory,
                test_mode=True,
                deterministic=True,
            )
            self._memory = out["rnn_hidden_actor"]
        else:
            out = self._agents.get_actions(
                obs_dict=[seen], avail_actions_dict=legal, rnn_hidden=self._memory, test_mode=True
            )
            self._memory = out["hidden_state"]
        return {agent: self._action(agent, out["actions"][0][agent]) for agent in self._plan.agents}

    def _action(self, agent: str, action: Any) -> Any:
        space = self._plan.does[agent]
        if not self._plan.bounded:
            return int(action) + int(space.start)
        if self._acting.kind == "squashed":
            # The library samples this action even at play; the most likely action is the mean.
            mean = self._agents.policy.actor[self._plan.key_of(agent)].dist.mu
            row = self._plan.agents.index(agent) if self._plan.shared else 0
            bound = getattr(torch.nn.functional, self._plan.bounded)
            action = bound(mean.reshape(-1, mean.shape[-1])[row]).numpy()
        return in_bounds(np.asarray(action, np.float32)[None], space, scaled=self._plan.scaled)[0]
