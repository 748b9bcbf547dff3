"""The networks of CleanRL's single-file scripts and how they save and evaluate them, as people have them.

Written after the scripts' published text (names of layers, order of modules, what ``torch.save`` is
given); weights are drawn from a seed.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Act = Callable[[NDArray[Any]], NDArray[Any]]


class PPOAgent(nn.Module):
    """ppo.py."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic = _tanh(inputs, 1)
        self.actor = _tanh(inputs, actions)


class ContinuousAgent(nn.Module):
    """ppo_continuous_action.py."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic = _tanh(inputs, 1)
        self.actor_mean = _tanh(inputs, actions)
        self.actor_logstd = nn.Parameter(torch.zeros(1, actions))


class AtariAgent(nn.Module):
    """ppo_atari.py, and with a memory ppo_atari_lstm.py."""

    def __init__(self, channels: int, actions: int, memory: int = 0) -> None:
        super().__init__()
        self.network = nn.Sequential(*_nature(channels))
        if memory:
            self.lstm = nn.LSTM(512, memory)
        self.actor = nn.Linear(memory or 512, actions)
        self.critic = nn.Linear(memory or 512, 1)


class QNetwork(nn.Module):
    """dqn.py; with atoms c51.py."""

    def __init__(self, inputs: int, actions: int, atoms: int = 1) -> None:
        super().__init__()
        layers = [nn.Linear(inputs, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Linear(84, actions * atoms))
        self.actions = actions
        if atoms > 1:
            self.register_buffer("atoms", torch.linspace(-100, 100, steps=atoms))

    def values(self, x: Tensor) -> Tensor:
        logits = self.network(x)
        if not hasattr(self, "atoms"):
            return logits
        pmfs = torch.softmax(logits.view(len(x), self.actions, -1), dim=2)
        return (pmfs * self.atoms).sum(2)


class AtariQNetwork(nn.Module):
    """dqn_atari.py."""

    def __init__(self, channels: int, actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(*_nature(channels), nn.Linear(512, actions))


class Actor(nn.Module):
    """ddpg_continuous_action.py and td3_continuous_action.py."""

    def __init__(self, inputs: int, low: NDArray[Any], high: NDArray[Any]) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(inputs, 256), nn.Linear(256, 256)
        self.fc_mu = nn.Linear(256, len(low))
        self.register_buffer("action_scale", torch.tensor((high - low) / 2.0, dtype=torch.float32))
        self.register_buffer("action_bias", torch.tensor((high + low) / 2.0, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        x = self.fc2(self.fc1(x).relu()).relu()
        return torch.tanh(self.fc_mu(x)) * self.action_scale + self.action_bias


class SACActor(nn.Module):
    """sac_continuous_action.py."""

    def __init__(self, inputs: int, low: NDArray[Any], high: NDArray[Any]) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(inputs, 256), nn.Linear(256, 256)
        self.fc_mean, self.fc_logstd = nn.Linear(256, len(low)), nn.Linear(256, len(low))
        self.register_buffer("action_scale", torch.tensor((high - low) / 2.0, dtype=torch.float32))
        self.register_buffer("action_bias", torch.tensor((high + low) / 2.0, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        x = self.fc2(self.fc1(x).relu()).relu()
        return torch.tanh(self.fc_mean(x)) * self.action_scale + self.action_bias


class Critic(nn.Module):
    """The QNetwork of the continuous scripts."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(inputs + actions, 256)
        self.fc2, self.fc3 = nn.Linear(256, 256), nn.Linear(256, 1)

    def forward(self, x: Tensor, a: Tensor) -> Tensor:
        return self.fc3(self.fc2(self.fc1(torch.cat([x, a], 1)).relu()).relu())


def _tanh(inputs: int, outputs: int) -> nn.Sequential:
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(64, outputs))


def _nature(channels: int) -> list[nn.Module]:
    return [
        *(nn.Conv2d(channels, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU()),
        *(nn.Conv2d(64, 64, 3, stride=1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU()),
    ]


def _spread(module: nn.Module) -> None:
    """Weights that prefer one action here and another there, as a trained network's do."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
        if parameter.ndim == 1:
            nn.init.zeros_(parameter)


def scripted(name: str, path: Path) -> Act:
    """Write the file that a script would, and return how the script itself plays it.

    Args:
        name: ``ppo``, ``ppo_continuous``, ``ppo_atari``, ``dqn``, ``c51``, ``dqn_atari``, ``ddpg``,
            ``td3`` or ``sac``. Vectors are CartPole's, continuous ones Pendulum's, images those of
            :mod:`screens`.
        path: The file.
    """
    torch.manual_seed(7)
    low, high = np.array([-2.0], np.float32), np.array([2.0], np.float32)
    if name in ("ppo", "dqn", "c51"):
        module: Any = PPOAgent(4, 2) if name == "ppo" else QNetwork(4, 2, 101 if name == "c51" else 1)
        _spread(module)
        values = module.actor if name == "ppo" else module.values
        saved = module.state_dict()
        if name == "c51":
            saved = {"model_weights": saved, "args": {"learning_rate": 2.5e-4, "n_atoms": 101}}
        torch.save(saved, path)
        return lambda seen: values(torch.as_tensor(seen, dtype=torch.float32)).argmax(1).detach().numpy()
    if name in ("ppo_atari", "dqn_atari"):
        module = AtariAgent(4, 6) if name == "ppo_atari" else AtariQNetwork(4, 6)
        torch.save(module.state_dict(), path)
        head = module.actor if name == "ppo_atari" else nn.Identity()
        return lambda seen: (
            head(module.network(torch.as_tensor(seen).float() / 255.0)).argmax(1).detach().numpy()
        )
    if name == "ppo_continuous":
        module = ContinuousAgent(3, 1)
        torch.save(module.state_dict(), path)
        return lambda seen: module.actor_mean(torch.as_tensor(seen)).detach().numpy().clip(low, high)
    actor = (SACActor if name == "sac" else Actor)(3, low, high)
    critics = [Critic(3, 1) for _ in range(1 if name == "ddpg" else 2)]
    torch.save((actor.state_dict(), *(critic.state_dict() for critic in critics)), path)
    return lambda seen: actor(torch.as_tensor(seen)).detach().numpy()
