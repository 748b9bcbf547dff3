"""Small environments, and modules of RLlib's shape for a place without RLlib."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import nn


class Switch(gymnasium.Env[Any, Any]):
    """Eight steps; 1 for the action that the observation names."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(2, start=3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._t = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(np.int64(action))
        reward = float(self._shown == int(action) - 3)
        self._t += 1
        return self._seen(), reward, self._t == 8, False, {}

    def _seen(self) -> Any:
        self._shown = int(self.np_random.integers(2))
        return np.eye(2, dtype=np.float32)[self._shown]


class Pair:
    """Two agents with PettingZoo's Parallel interface; each earns 1 for the action it is shown."""

    metadata: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.possible_agents, self.agents = ["left_0", "right_0"], []
        self._rng = np.random.default_rng(0)

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 1, (2,), np.float32)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self._rng, self._t = np.random.default_rng(seed), 0
        self.agents = list(self.possible_agents)
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        rewards = {agent: float(self._shown[agent] == int(actions[agent])) for agent in self.agents}
        self._t += 1
        over = self._t == 6
        told = dict.fromkeys(self.agents, over)
        seen, infos = self._seen(), {agent: {} for agent in self.agents}
        if over:
            self.agents = []
        return seen, rewards, told, dict.fromkeys(told, False), infos

    def close(self) -> None:
        pass

    def _seen(self) -> Any:
        self._shown = {agent: int(self._rng.integers(2)) for agent in self.possible_agents}
        return {agent: np.eye(2, dtype=np.float32)[n] for agent, n in self._shown.items()}


class Raises(Switch):
    """Breaks in its third episode."""

    episodes = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.episodes += 1
        if self.episodes > 3:
            raise ZeroDivisionError("the switch is stuck")
        return super().reset(seed=seed)


# -- RLlib's shape -------------------------------------------------------------------------


class _Mlp(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.mlp = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.mlp(x)


class Part(nn.Module):
    """An encoder or a head."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.net = _Mlp(*layers)
        self.clip_log_std = False


class _Encoder(nn.Module):
    def __init__(self, actor: Part, critic: Part | None) -> None:
        super().__init__()
        self.actor_encoder, self.critic_encoder = actor, critic


class DefaultPPOTorchRLModule(nn.Module):
    """As RLlib's module of this name is put together."""

    def __init__(self, seen: int, given: int, hidden: nn.Module | None = None) -> None:
        super().__init__()
        layers = [nn.Linear(seen, 8), hidden or nn.Tanh()]
        self.encoder = _Encoder(Part(*layers), Part(nn.Linear(seen, 8), nn.Tanh()))
        self.pi, self.vf = Part(nn.Linear(8, given)), Part(nn.Linear(8, 1))


class DefaultDQNTorchRLModule(nn.Module):
    """As RLlib's module of this name is put together."""

    def __init__(self, seen: int, given: int, atoms: int = 1) -> None:
        super().__init__()
        self.num_atoms, self.uses_dueling = atoms, True
        self.encoder = Part(nn.Linear(seen, 8), nn.ReLU())
        self.af, self.vf = Part(nn.Linear(8, given)), Part(nn.Linear(8, 1))


class DefaultSACTorchRLModule(nn.Module):
    """As RLlib's module of this name is put together."""

    def __init__(self, seen: int, given: int) -> None:
        super().__init__()
        self.pi_encoder, self.pi = Part(nn.Linear(seen, 8), nn.ReLU()), Part(nn.Linear(8, given))
