"""Independent PPO: several agents learn in one environment, each from its own observations and rewards.

The algorithm is PPO (:mod:`cleanrl_worker.algorithms.ppo`; with an LSTM
:mod:`cleanrl_worker.algorithms.ppo_lstm`), once for each network; the other agents are part of the
environment. De Witt, Gupta, Makoviichuk, Makoviychuk, Torr, Sun and Whiteson, "Is Independent Learning All
You Need in the StarCraft Multi-Agent Challenge?", 2020, show that this is a strong baseline. Agents with
equal spaces share a network if the settings ask for it (Gupta, Egorov and Kochenderfer, "Cooperative
Multi-Agent Control Using Deep Reinforcement Learning", 2017); a one-hot of the agent is then appended to the
observation.

Shapes: T steps of a rollout, N copies of the environment, G agents of a group with one network; a learner's
rows are N x G.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cleanrl_worker.algorithms import ppo, ppo_lstm
from cleanrl_worker.algorithms.ppo import PPO, Recorder, Rollout
from cleanrl_worker.algorithms.ppo_lstm import RecurrentPPO, forget
from cleanrl_worker.config.joint import IPPOConfig, JointConfig
from cleanrl_worker.joint_environments import GroupView, JointEnvironments
from cleanrl_worker.session import JointSession
from cleanrl_worker.vector_environments import PolicyInput
from mosaic_worker.learning.training_state import State


def train(config: IPPOConfig, environments: JointEnvironments, session: JointSession) -> IPPO:
    """Train up to ``config.total_steps`` steps or until the session stops.

    Args:
        config: Settings; in one step of a copy all its agents act.
        environments: Environments to train in; the caller closes them.
        session: Receives reports and says when to stop.

    Raises:
        TrainingFailed: A loss is not finite, or an environment raised.
    """
    return learn(IPPO(config, environments, session), environments, session)


def learn(team: IPPO, environments: JointEnvironments, session: JointSession) -> IPPO:
    """Alternate rollouts and updates until the training ends."""
    config = team.config
    seen = environments.begin()
    for number in range(session.step // config.batch_size, config.num_updates):
        for learner in team.learners.values():
            learner.anneal(number)
        before = team.memories()
        rollouts, acted, seen = collect_rollout(team, environments, session, seen)
        session.metrics(session.step, team.update(rollouts, acted, before))
        if not session.advance(session.step, team):
            break
    return team


class IPPO:
    """One learner for each group of agents.

    Attributes:
        learners: Learners by the group's name.
    """

    def __init__(self, config: JointConfig, environments: JointEnvironments, session: JointSession) -> None:
        self.config, self.environments = config, environments
        self.learners: dict[str, PPO] = {}
        for i, (name, view) in enumerate(environments.views.items()):
            restored = None if session.restored is None else session.restored.under(name)
            seed = int(np.random.SeedSequence((config.seed, i)).generate_state(1)[0])
            self.learners[name] = self.build(config, view, session.device, restored, seed)

    def build(self, config: JointConfig, view: GroupView, *rest: Any) -> PPO:
        """Build the learner of a group; ``rest`` contains the other arguments of :class:`PPO`."""
        return (RecurrentPPO if config.lstm_size else PPO)(config, view, *rest)

    def shown(self, seen: Mapping[str, PolicyInput]) -> dict[str, Tensor]:
        """Return the input of each network, (N x G, …), by group."""
        return {name: torch.from_numpy(each.observations) for name, each in seen.items()}

    def memories(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Return recurrent learners' memory and their marks of rows whose episode begins."""
        return {
            name: (learner.memory.clone(), learner.fresh.clone())
            for name, learner in self.learners.items()
            if isinstance(learner, RecurrentPPO)
        }

    def update(
        self,
        rollouts: Mapping[str, Rollout],
        acted: Mapping[str, Tensor | None],
        before: Mapping[str, tuple[Tensor, Tensor]],
    ) -> dict[str, float]:
        """Update each learner with its rollout.

        Returns:
            Means of the learners' metrics; with several learners, also the losses of each.
        """
        found: dict[str, dict[str, float]] = {}
        for name, learner in self.learners.items():
            if isinstance(learner, RecurrentPPO):
                found[name] = ppo_lstm.update(learner, rollouts[name], *before[name], acted[name])
            else:
                found[name] = ppo.update(learner, rollouts[name], acted[name])
        first = next(iter(found.values()))
        mean = {key: sum(each.get(key, 0.0) for each in found.values()) / len(found) for key in first}
        own = {f"{key}/{name}": value for name, each in found.items() for key, value in each.items()}
        return (
            mean if len(found) == 1 else {**mean, **{k: v for k, v in own.items() if k.startswith("losses/")}}
        )

    # -- state for the session --

    def networks(self) -> dict[str, Mapping[str, Any]]:
        """Return the entry ``network`` of ``policy.json`` for each group."""
        return {name: learner.network() for name, learner in self.learners.items()}

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of all networks; each name begins with that of the group."""
        return {
            f"{group}.{name}": tensor
            for group, learner in self.learners.items()
            for name, tensor in learner.weights().items()
        }

    def state(self) -> State:
        """Return all that :func:`learn` needs to resume."""
        state = State()
        for name, learner in self.learners.items():
            state.put(name, learner.state())
        return state


@torch.no_grad()
def collect_rollout(
    team: IPPO, environments: JointEnvironments, session: JointSession, seen: dict[str, PolicyInput]
) -> tuple[dict[str, Rollout], dict[str, Tensor | None], dict[str, PolicyInput]]:
    """Collect one rollout; return it by group, with marks of rows that acted and the next observations."""
    config, step = team.config, session.step
    shown = team.shown(seen)
    records = {
        name: Recorder(learner, environments.views[name], _as_seen(shown[name], seen[name]))
        for name, learner in team.learners.items()
    }
    acted: dict[str, list[Any]] = {name: [] for name in records}
    for t in range(config.num_steps):
        actions: dict[str, Any] = {}
        for name, learner in team.learners.items():
            observations, masks = records[name].show(t, _as_seen(shown[name], seen[name]))
            params, values = _evaluate(learner, observations)
            actions[name] = records[name].choose(t, learner, params, values, masks).numpy()
        transition = environments.step(actions)
        step += config.num_envs
        session.finished(step, transition.finished)
        seen = {name: each.seen for name, each in transition.of.items()}
        shown = team.shown(seen)
        finals = {name: each.final for name, each in transition.of.items() if each.final is not None}
        last = team.shown({**seen, **finals}) if finals else {}
        for name, learner in team.learners.items():
            each, record = transition.of[name], records[name]
            record.pay(t, each)
            acted[name].append(transition.acted[name])
            if isinstance(learner, RecurrentPPO):
                learner.fresh = record.dones[t].clone()
            if each.final is not None:
                record.bootstrap(t, each, _value(learner, last[name].to(learner.device)))
    session.step = step
    rollouts: dict[str, Rollout] = {}
    for name, learner in team.learners.items():
        following = shown[name].to(learner.device)
        memory = forget(learner.memory, learner.fresh) if isinstance(learner, RecurrentPPO) else None
        rollouts[name] = records[name].rollout(_value(learner, following, memory))
    return rollouts, {name: _rows(rows) for name, rows in acted.items()}, seen


def _as_seen(shown: Tensor, seen: PolicyInput) -> PolicyInput:
    return PolicyInput(shown.numpy(), seen.masks)


def _evaluate(learner: PPO, observations: Tensor) -> tuple[Tensor, Tensor]:
    """Return distribution parameters and values; a recurrent learner also updates its memory."""
    if isinstance(learner, RecurrentPPO):
        params, values, learner.memory = learner.model(observations, forget(learner.memory, learner.fresh))
        return params, values
    return learner.model(observations)


def _value(learner: PPO, observations: Tensor, memory: Tensor | None = None) -> Tensor:
    """Return values without changing a recurrent learner's memory."""
    if isinstance(learner, RecurrentPPO):
        return learner.model(observations, learner.memory if memory is None else memory)[1]
    return learner.model(observations)[1]


def _rows(acted: list[Any]) -> Tensor | None:
    """Stack the marks of rows that acted, bool (T, N x G); return ``None`` if all rows always acted."""
    rows = np.stack(acted)
    return None if rows.all() else torch.from_numpy(rows)
