"""Independent PPO: several agents learn in one environment, each from what it sees and earns itself.

The algorithm is PPO (:mod:`cleanrl_worker.algorithms.ppo`; with a memory
:mod:`cleanrl_worker.algorithms.ppo_lstm`), once for each network; the other agents are part of the
environment. That this is a strong baseline is shown by de Witt, Gupta, Makoviichuk, Makoviychuk, Torr, Sun
and Whiteson, "Is Independent Learning All You Need in the StarCraft Multi-Agent Challenge?", 2020. Agents
that see and act alike share a network where that is wanted (Gupta, Egorov and Kochenderfer, "Cooperative
Multi-Agent Control Using Deep Reinforcement Learning", 2017), with a one-hot of which of them it is behind
the observation.

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
from cleanrl_worker.vector_environments import Seen
from mosaic_worker.learning.training_state import State


def train(config: IPPOConfig, environments: JointEnvironments, session: JointSession) -> IPPO:
    """Train until ``config.total_steps`` are spent or the session says to stop.

    Args:
        config: Every setting; a step is one of a copy, in which all its agents act.
        environments: Where they learn; the caller closes them.
        session: Hears how it goes, and says when to stop.

    Raises:
        TrainingFailed: A loss is no finite number, or an environment raised.
    """
    return learn(IPPO(config, environments, session), environments, session)


def learn(team: IPPO, environments: JointEnvironments, session: JointSession) -> IPPO:
    """Rollouts and updates, one after the other."""
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
    """A learner for each group of agents.

    Attributes:
        learners: By the group's name.
    """

    def __init__(self, config: JointConfig, environments: JointEnvironments, session: JointSession) -> None:
        self.config, self.environments = config, environments
        self.learners: dict[str, PPO] = {}
        for i, (name, view) in enumerate(environments.views.items()):
            restored = None if session.restored is None else session.restored.under(name)
            seed = int(np.random.SeedSequence((config.seed, i)).generate_state(1)[0])
            self.learners[name] = self.build(config, view, session.device, restored, seed)

    def build(self, config: JointConfig, view: GroupView, *rest: Any) -> PPO:
        """What learns for a group; ``rest`` as :class:`PPO` takes it."""
        return (RecurrentPPO if config.lstm_size else PPO)(config, view, *rest)

    def shown(self, seen: Mapping[str, Seen]) -> dict[str, Tensor]:
        """What each network is shown, (N x G, …)."""
        return {name: torch.from_numpy(each.observations) for name, each in seen.items()}

    def memories(self) -> dict[str, tuple[Tensor, Tensor]]:
        """What is remembered at this moment, and who begins anew, of learners that remember."""
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
        """Let each learn from its rollout.

        Returns:
            Means of their metrics, and of several the losses of each.
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

    # -- what the session keeps --

    def networks(self) -> dict[str, Mapping[str, Any]]:
        """Of ``policy.json``, by group."""
        return {name: learner.network() for name, learner in self.learners.items()}

    def weights(self) -> dict[str, Tensor]:
        """Of all networks, each name behind its group's."""
        return {
            f"{group}.{name}": tensor
            for group, learner in self.learners.items()
            for name, tensor in learner.weights().items()
        }

    def state(self) -> State:
        """Everything that :func:`learn` goes on from."""
        state = State()
        for name, learner in self.learners.items():
            state.put(name, learner.state())
        return state


@torch.no_grad()
def collect_rollout(
    team: IPPO, environments: JointEnvironments, session: JointSession, seen: dict[str, Seen]
) -> tuple[dict[str, Rollout], dict[str, Tensor | None], dict[str, Seen]]:
    """One rollout with the networks as they are now; who acted in it, and what is seen after it."""
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


def _as_seen(shown: Tensor, seen: Seen) -> Seen:
    return Seen(shown.numpy(), seen.masks)


def _evaluate(learner: PPO, observations: Tensor) -> tuple[Tensor, Tensor]:
    """Distribution parameters and values; who remembers, remembers this step."""
    if isinstance(learner, RecurrentPPO):
        params, values, learner.memory = learner.model(observations, forget(learner.memory, learner.fresh))
        return params, values
    return learner.model(observations)


def _value(learner: PPO, observations: Tensor, memory: Tensor | None = None) -> Tensor:
    """Values alone, from a memory that is left as it is."""
    if isinstance(learner, RecurrentPPO):
        return learner.model(observations, learner.memory if memory is None else memory)[1]
    return learner.model(observations)[1]


def _rows(acted: list[Any]) -> Tensor | None:
    """Who acted, bool (T, N x G); ``None`` where everybody always did."""
    rows = np.stack(acted)
    return None if rows.all() else torch.from_numpy(rows)
