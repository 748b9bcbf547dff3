"""Copies of an environment with several agents, as those that learn see them: group by group."""

# What environments hand out is untyped.
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
from cleanrl_worker.vector_environments import CLIP, Seen, Transition
from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.joint_env import make_joint, make_parallel
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.preprocessing import Pipeline, check_steps


class JointTransition(NamedTuple):
    """One step of all copies.

    Attributes:
        of: What it was for each group, by name; rows are copies times agents of the group, (N x G, …).
        acted: By group, bool (N x G,): the row's agent acted. Others say nothing.
        finished: Episodes that ended.
    """

    of: Mapping[str, Transition]
    acted: Mapping[str, NDArray[np.bool_]]
    finished: tuple[Finished, ...]


class GroupView:
    """A group's rows as the environments of one learner, see :class:`cleanrl_worker.algorithms.ppo.PPO`.

    Args:
        group: The group.
        copies: Copies of the environment.
        steps: Preprocessing of its agents, without what is learnt or appended.
        raw_space: Gymnasium space of what a slot gives.
        normalize: Observations are shown with mean 0 and variance 1.
        scale: Discount with which rewards are scaled; ``None``: they are not.
        state: Of :meth:`state`, to go on from there.

    Attributes:
        count: Rows.
        observation_space: What the policy is shown, of one row.
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
            raise ConfigError("normalize_observations is for vectors; leave it out for images")
        self.moments = RunningMoments(space.shape, state.get("moments")) if normalize else None
        self._scale = None if scale is None else RewardScale(self.count, scale, state.get("reward_scale"))
        # A shared network gets a one-hot of the agent it plays; a table or an image has no place for one.
        shared = len(group.agents) > 1 and len(space.shape) == 1
        self._marks: NDArray[np.float32] | None = (
            np.eye(len(group.agents), dtype=np.float32) if shared else None
        )
        self.observation_space: Any = self.pipeline(first).input_space
        self._bytes = self.observation_space.dtype == np.uint8
        self._offset: Any = getattr(self.action_space, "start", 0)

    def preprocessing(self, agent: str) -> list[dict[str, Any]]:
        """The steps between a slot and the policy as it is now, with what was learnt of observations."""
        steps = [*self._steps]
        if self.moments is not None:
            steps.append(self.moments.step(CLIP))
        if self._marks is not None:
            steps.append({"step": "append", "values": self._marks[self.group.agents.index(agent)].tolist()})
        return check_steps(steps)

    def pipeline(self, agent: str) -> Pipeline:
        """The same, as what it is applied with."""
        return Pipeline(self.preprocessing(agent), self._raw_space)

    def part(self, agent: str, network: Mapping[str, Any]) -> PolicyPart:
        """What ``policy.json`` says of one of its agents."""
        return PolicyPart(
            (agent,),
            describe(self._raw_space),
            describe(self.action_space),
            network,
            tuple(self.preprocessing(agent)),
            describe(self.pipeline(agent).input_space),
            f"{self.group.name}.",
        )

    def seen(self, board: Board, learn: bool) -> Seen:
        """What its rows are shown next."""
        rows = board.observations.reshape(self.count, *board.observations.shape[2:])
        if self.moments is not None and learn:
            self.moments.update(rows[board.acting.reshape(-1)] if not board.acting.all() else rows)
        masks = None
        if board.masks is not None and not board.masks.all():
            masks = board.masks.reshape(self.count, -1).copy()
            masks[~masks.any(axis=1)] = True  # rows that do not act
        return Seen(self._shown(rows), masks)

    def transition(self, board: Board, seen: Seen) -> Transition:
        """What the step was for its rows."""
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
            final = Seen(self._shown(board.final.reshape(self.count, *board.final.shape[2:])), None)
        # Rows whose agent had ended before begin anew with the others.
        return Transition(seen, rewards, terminated | (over & ~ended), truncated, final)

    def act(self, board: Board, actions: NDArray[Any]) -> None:
        """Have its rows play actions as their network gave them, counted from zero."""
        space = self.action_space
        if isinstance(space, spaces.Box):
            actions = np.clip(actions.reshape(-1, *space.shape), space.low, space.high)
        else:
            actions = actions + self._offset
        board.actions[...] = actions.reshape(board.actions.shape)

    def state(self) -> dict[str, Any]:
        """What it takes to go on, as plain data."""
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
    """Copies of one environment, each reset at once when its episode ends for all.

    Args:
        config: Which environment, how many copies, who shares a network.
        state: Of :meth:`state`, to go on from there.

    Attributes:
        views: Groups of agents, by name.
        teams: Agents by team.
        agents: All there may be.
        exact: Whether every episode went on exactly where it was; true for a new training.

    Raises:
        ConfigError: It cannot be made, or its agents do not see or act in numbers.
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

    def begin(self) -> dict[str, Seen]:
        """Begin in every copy, or go on where the resumed training was; what each group sees.

        Raises:
            TrainingFailed: The environment raised.
        """
        places = self._state.get("copies")
        try:
            self.exact = self._copies.begin(places)
        except RaisedInCopy as error:
            raise TrainingFailed(f"{self.env_id} raised {error}") from error
        # Statistics of a resumed training have counted what it last saw already.
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
        """What it takes to go on from here, as plain data."""
        return {
            "copies": self._copies.places(),
            "groups": {name: view.state() for name, view in self.views.items()},
        }

    def close(self) -> None:
        """Release the environments."""
        self._copies.close()

    def _seen(self, learn: bool) -> dict[str, Seen]:
        return {name: view.seen(self._boards[name], learn) for name, view in self.views.items()}


def _groups(env: Any, *, share: bool) -> list[Group]:
    """Agents that may share a network: those with the same spaces, where that is wanted."""
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
    """Refuse what no algorithm here handles."""
    if not isinstance(seen, spaces.Box):
        raise ConfigError(f"{agent} observes {seen}, which no step makes an array of")
    flat = isinstance(does, spaces.MultiDiscrete) and len(does.shape) == 1
    real = isinstance(does, spaces.Box) and np.issubdtype(does.dtype, np.floating)  # pyright: ignore[reportArgumentType]
    if not (flat or real or isinstance(does, spaces.Discrete)):
        raise ConfigError(f"{agent} acts in {does}; Discrete, MultiDiscrete and Box actions are learnt")
