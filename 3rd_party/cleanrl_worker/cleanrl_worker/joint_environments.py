"""Copies of an environment with several agents, grouped by the network that learns for them."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cleanrl_worker.config.joint import JointConfig
from cleanrl_worker.environments import observation_kind, preprocessing_for
from cleanrl_worker.joint_copies import Board, Copies, Finished, Group, RaisedInCopy
from cleanrl_worker.moments import RewardScale, RunningMoments
from cleanrl_worker.vector_environments import CLIP, PolicyInput, Transition
from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.joint_env import make_joint, make_parallel
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.preprocessing import Pipeline, check_steps


class JointTransition(NamedTuple):
    """One step of all copies.

    Attributes:
        of: Transition of each group, by name; rows are copies times agents of the group, (N x G, …).
        acted: By group, bool (N x G,): whether the row's agent acted; other rows have no transition.
        finished: Finished episodes.
    """

    of: Mapping[str, Transition]
    acted: Mapping[str, NDArray[np.bool_]]
    finished: tuple[Finished, ...]


class GroupView:
    """A group's rows as environments of one learner, see :class:`cleanrl_worker.algorithms.ppo.PPO`.

    Args:
        group: The group.
        copies: Number of copies of the environment.
        steps: Preprocessing of the group's agents, without running moments and one-hot marks.
        raw_space: Gymnasium space of the slot's observations.
        normalize: Whether observations are scaled to mean 0 and variance 1.
        scale: Discount factor with which rewards are scaled; ``None`` leaves rewards as they are.
        state: Result of :meth:`state`, to continue from.

    Attributes:
        count: Number of rows.
        observation_space: Space of one row that the policy takes.
    """

    def __init__(
        self,
        group: Group,
        copies: int,
        steps: list[dict[str, Any]],
        raw_space: Any,
        *,
        normalize: bool,
        scale: float | None,
        state: Mapping[str, Any],
    ) -> None:
        self.group, self.count, first = group, copies * len(group.agents), group.agents[0]
        self._steps, self._raw_space = steps, raw_space
        self.action_space, self.actions = group.action_space, group.actions
        space: Any = group.observation_space
        image = observation_kind(space) == "image"
        if normalize and image:
            raise ConfigError("normalize_observations is only for vectors; leave it out for images")
        self.moments = RunningMoments(space.shape, state.get("moments")) if normalize else None
        self._scale = None if scale is None else RewardScale(self.count, scale, state.get("reward_scale"))
        # A shared network gets a one-hot vector of the agent; it cannot be appended to a table or an image.
        shared = len(group.agents) > 1 and len(space.shape) == 1
        self._marks: NDArray[np.float32] | None = (
            np.eye(len(group.agents), dtype=np.float32) if shared else None
        )
        self.observation_space: Any = self.pipeline(first).input_space
        self._bytes = self.observation_space.dtype == np.uint8
        self._offset: Any = getattr(self.action_space, "start", 0)

    def preprocessing(self, agent: str) -> list[dict[str, Any]]:
        """Return the current steps from a slot's observation to the policy's input."""
        steps = [*self._steps]
        if self.moments is not None:
            steps.append(self.moments.step(CLIP))
        if self._marks is not None:
            steps.append({"step": "append", "values": self._marks[self.group.agents.index(agent)].tolist()})
        return check_steps(steps)

    def pipeline(self, agent: str) -> Pipeline:
        """Return the pipeline that applies an agent's current preprocessing steps."""
        return Pipeline(self.preprocessing(agent), self._raw_space)

    def part(self, agent: str, network: Mapping[str, Any]) -> PolicyPart:
        """Return what ``policy.json`` stores for one of the group's agents."""
        return PolicyPart(
            (agent,),
            describe(self._raw_space),
            describe(self.action_space),
            network,
            tuple(self.preprocessing(agent)),
            describe(self.pipeline(agent).input_space),
            f"{self.group.name}.",
        )

    def seen(self, board: Board, learn: bool) -> PolicyInput:
        """Return the rows' next observations and action masks; ``learn`` also updates the moments."""
        rows = board.observations.reshape(self.count, *board.observations.shape[2:])
        if self.moments is not None and learn:
            self.moments.update(rows[board.acting.reshape(-1)] if not board.acting.all() else rows)
        masks = None
        if board.masks is not None and not board.masks.all():
            masks = board.masks.reshape(self.count, -1).copy()
            masks[~masks.any(axis=1)] = True  # rows whose agents do not act
        return PolicyInput(self._shown(rows), masks)

    def transition(self, board: Board, seen: PolicyInput) -> Transition:
        """Return the last step as a transition of the group's rows."""
        rewards, terminated, truncated, over = (
            board.rewards.reshape(-1).copy(),
            board.terminated.reshape(-1).copy(),
            board.truncated.reshape(-1).copy(),
            np.repeat(board.over, len(self.group.agents)),
        )
        ended = terminated | truncated
        if self._scale is not None:
            rewards = self._scale(rewards, ended | over)
        final = None
        if truncated.any():
            final = PolicyInput(self._shown(board.final.reshape(self.count, *board.final.shape[2:])), None)
        # Rows whose agent had ended before begin again together with the others.
        return Transition(seen, rewards, terminated | (over & ~ended), truncated, final)

    def act(self, board: Board, actions: NDArray[Any]) -> None:
        """Write actions, as the network gives them and counted from zero, on the board."""
        space = self.action_space
        if isinstance(space, spaces.Box):
            actions = np.clip(actions.reshape(-1, *space.shape), space.low, space.high)
        else:
            actions = actions + self._offset
        board.actions[...] = actions.reshape(board.actions.shape)

    def state(self) -> dict[str, Any]:
        """Return plain data from which another view can continue."""
        return {
            "moments": None if self.moments is None else self.moments.state(),
            "reward_scale": None if self._scale is None else self._scale.state(),
        }

    def _shown(self, rows: NDArray[Any]) -> NDArray[Any]:
        if self.moments is not None:
            rows = self.moments.normalized(rows, CLIP)
        if self._marks is not None:
            marks = np.tile(self._marks, (self.count // len(self._marks), 1))
            return np.concatenate([rows.astype(np.float32, copy=False), marks], axis=1)
        return rows.copy() if self._bytes else rows.astype(np.float32)


class JointEnvironments:
    """Copies of one environment, each reset at once when its episode ends for all agents.

    Args:
        config: Settings: the environment, the number of copies and which agents share a network.
        state: Result of :meth:`state`, to continue from.

    Attributes:
        views: Groups of agents, by name.
        teams: Agents by team.
        agents: All possible agents.
        exact: Whether every episode was restored exactly; true for a new training.

    Raises:
        ConfigError: The environment cannot be made, or no algorithm here handles its agents' spaces.
    """

    def __init__(self, config: JointConfig, state: Mapping[str, Any] | None = None) -> None:
        self.env_id = config.env_id
        self._state = dict(state or {})
        parallel = make_parallel(config.env_id)
        raw = {agent: parallel.observation_space(agent) for agent in parallel.possible_agents}
        parallel.close()
        steps = {agent: preprocessing_for(config, space) for agent, space in raw.items()}
        first = make_joint(config.env_id, steps)
        self.agents, self.teams = first.agents, first.teams
        groups = _groups(first, share=config.share_parameters)
        first.close()
        about: Mapping[str, Any] = self._state.get("groups", {})
        self.views = {
            group.name: GroupView(
                group,
                config.num_envs,
                steps[group.agents[0]],
                raw[group.agents[0]],
                normalize=config.normalize_observations,
                scale=config.gamma if config.normalize_rewards else None,
                state=about.get(group.name, {}),
            )
            for group in groups
        }
        self.exact = True
        processes = min(config.num_envs, len(os.sched_getaffinity(0))) if config.async_envs else 1
        self._copies = Copies(config.env_id, steps, groups, config.num_envs, config.seed, processes)
        self._boards = {group.name: board for group, board in self._copies.boards.items()}

    def begin(self) -> dict[str, PolicyInput]:
        """Begin or restore an episode in every copy; return the observations of each group.

        Raises:
            TrainingFailed: The environment raised.
        """
        places = self._state.get("copies")
        try:
            self.exact = self._copies.begin(places)
        except RaisedInCopy as error:
            raise TrainingFailed(f"{self.env_id} raised {error}") from error
        # The statistics of a resumed training already include its last observations.
        return self._seen(learn=places is None)

    def step(self, actions: Mapping[str, NDArray[Any]]) -> JointTransition:
        """Step every copy.

        Args:
            actions: By group, one row for each of its agents in each copy.

        Raises:
            TrainingFailed: The environment raised.
        """
        for name, view in self.views.items():
            view.act(self._boards[name], actions[name])
        try:
            finished = self._copies.step()
        except RaisedInCopy as error:
            raise TrainingFailed(f"{self.env_id} raised {error}") from error
        seen = self._seen(learn=True)
        return JointTransition(
            {name: view.transition(self._boards[name], seen[name]) for name, view in self.views.items()},
            {name: board.acted.reshape(-1).copy() for name, board in self._boards.items()},
            tuple(finished),
        )

    def state(self, step: int) -> dict[str, Any]:
        """Return plain data from which training can continue."""
        return {
            "copies": self._copies.places(),
            "groups": {name: view.state() for name, view in self.views.items()},
        }

    def close(self) -> None:
        """Release the environments."""
        self._copies.close()

    def _seen(self, learn: bool) -> dict[str, PolicyInput]:
        return {name: view.seen(self._boards[name], learn) for name, view in self.views.items()}


def _groups(env: Any, *, share: bool) -> list[Group]:
    """Group the agents: with ``share``, agents with equal spaces form one group, else each its own."""
    alike: dict[Any, list[str]] = {}
    for agent in env.agents:
        seen, does = env.observation_space[agent], env.action_space[agent]
        _check_spaces(agent, seen, does)
        alike.setdefault((str(seen), str(does)) if share else agent, []).append(agent)
    return [
        Group(
            name
            if len(agents) == 1 and (name := agents[0])
            else f"shared_{i}"
            if len(alike) > 1
            else "shared",
            tuple(agents),
            env.observation_space[agents[0]],
            env.action_space[agents[0]],
            int(getattr(env.action_space[agents[0]], "n", 0)),
        )
        for i, agents in enumerate(alike.values())
    ]


def _check_spaces(agent: str, seen: Any, does: Any) -> None:
    """Raise an error for spaces that no algorithm here handles."""
    if not isinstance(seen, spaces.Box):
        raise ConfigError(f"{agent} observes {seen}, which cannot be converted to an array")
    flat = isinstance(does, spaces.MultiDiscrete) and len(does.shape) == 1
    real = isinstance(does, spaces.Box) and np.issubdtype(does.dtype, np.floating)  # pyright: ignore[reportArgumentType]
    if not (flat or real or isinstance(does, spaces.Discrete)):
        raise ConfigError(
            f"{agent} has the actions {does}; only Discrete, MultiDiscrete and Box actions are supported"
        )
