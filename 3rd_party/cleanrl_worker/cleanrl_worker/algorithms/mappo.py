"""Multi-agent PPO: agents act on their own observations; the value function uses the observations of all
agents.

After Yu, Velu, Vinitsky, Gao, Wang, Bayen and Wu, "The Surprising Effectiveness of PPO in Cooperative,
Multi-Agent Games", 2022: independent PPO (:mod:`cleanrl_worker.algorithms.ippo`) with a value function whose
input is the agent's own observation and the observations of all agents. Only learning needs the value
function, so a saved policy has none.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from cleanrl_worker.algorithms.ippo import IPPO, learn
from cleanrl_worker.algorithms.ppo import PPO, LearnerView
from cleanrl_worker.algorithms.ppo_lstm import RecurrentPPO
from cleanrl_worker.architecture import Architecture
from cleanrl_worker.config.joint import JointConfig, MAPPOConfig
from cleanrl_worker.joint_environments import GroupView, JointEnvironments
from cleanrl_worker.session import JointSession
from cleanrl_worker.vector_environments import PolicyInput


def train(config: MAPPOConfig, environments: JointEnvironments, session: JointSession) -> MAPPO:
    """Train MAPPO; see :func:`cleanrl_worker.algorithms.ippo.train`."""
    team = MAPPO(config, environments, session)
    learn(team, environments, session)
    return team


class _Central(PPO):
    """A learner whose value function also gets the observations of all agents."""

    def architecture(self, environments: LearnerView) -> Architecture:
        """Return the architecture, with the observations of all agents as extra input."""
        assert isinstance(environments, CentralView)
        return dataclasses.replace(super().architecture(environments.view), central=environments.central)

    def network(self) -> Mapping[str, Any]:
        """Return the network for ``policy.json``, without the value function, whose input is not available at
        play.
        """
        return dataclasses.replace(self.model.architecture, critic=False).to_json()

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights of the policy without the value function."""
        return {k: v for k, v in self.model.state_dict().items() if not k.startswith("critic.")}


class _RecurrentCentral(_Central, RecurrentPPO):
    """A :class:`_Central` learner with an LSTM."""


class CentralView:
    """A group whose rows are an agent's own observation followed by the observations of all agents.

    Args:
        view: The group.
        central: Total length of all agents' observations.
    """

    def __init__(self, view: GroupView, central: int) -> None:
        self.view, self.central = view, central
        self.count, self.actions = view.count, view.actions
        self.observation_space, self.action_space = view.observation_space, view.action_space


class MAPPO(IPPO):
    """One learner for each group; the value functions get the observations of all agents."""

    def __init__(self, config: MAPPOConfig, environments: JointEnvironments, session: JointSession) -> None:
        self._sizes = {
            name: math.prod(view.observation_space.shape) for name, view in environments.views.items()
        }
        super().__init__(config, environments, session)

    def build(self, config: JointConfig, view: GroupView, *rest: Any) -> PPO:
        """Build the learner for a group."""
        kind = _RecurrentCentral if config.lstm_size else _Central
        central = sum(len(v.group.agents) * self._sizes[n] for n, v in self.environments.views.items())
        return kind(config, CentralView(view, central), *rest)

    def shown(self, seen: Mapping[str, PolicyInput]) -> dict[str, Tensor]:
        """Return the input of each network: its own observation, then those of all agents of the copy."""
        own = {name: torch.from_numpy(each.observations).float().flatten(1) for name, each in seen.items()}
        copies = self.config.num_envs
        everything = torch.cat([rows.reshape(copies, -1) for rows in own.values()], 1)
        return {
            name: torch.cat([rows, everything.repeat_interleave(len(rows) // copies, 0)], 1)
            for name, rows in own.items()
        }
