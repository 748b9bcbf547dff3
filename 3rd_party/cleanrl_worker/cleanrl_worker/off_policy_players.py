"""Playing what DQN, C51, DDPG, TD3 and SAC have learnt; needs no environment library.

All arrays have the rows of :data:`mosaic_worker.playing.full_batches.BATCH`; draws depend on the decision's
own numbers alone.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cleanrl_worker.algorithms.exploration import normals, random_legal
from cleanrl_worker.bounds import Bounds
from cleanrl_worker.heads import Draws
from cleanrl_worker.network import Encoding, widths
from cleanrl_worker.off_policy_networks import ActionValues, ActorAndCritics, mean_values, support
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.spaces import Space


class QPlayer:
    """Plays the action of the highest value; where it is to sample, a few at random.

    Args:
        module: Values of the actions, or logits of their distributions.
        start: Of the action space.
        epsilon: Share of random actions where it is to sample.
        atoms: The returns that logits stand for; ``None`` for plain values.
    """

    memory = 0
    rates_actions = True

    def __init__(self, module: ActionValues, start: int, epsilon: float, atoms: Tensor | None = None) -> None:
        self.module: nn.Module = module
        self._start, self._epsilon, self._atoms = start, epsilon, atoms

    @classmethod
    def build(cls, description: PolicyDescription) -> QPlayer:
        """The player that a description asks for, its weights unset.

        Raises:
            ValueError: It is no network that this version can play.
        """
        network, space = description.network, description.action_space
        if space.kind != "Discrete":
            raise ValueError(f"its network values discrete actions, and its actions are a {space.kind}")
        categorical = network["type"] == "categorical_q_network"
        count = _integer_between("atoms", network["atoms"], 2, 1001) if categorical else 1
        atoms = support(_number(network, "v_min"), _number(network, "v_max"), count) if categorical else None
        module = ActionValues(_encoding(description), widths(network["hidden"]), space.n, count)
        return cls(module, space.start, _share(network, "epsilon"), atoms)

    def forward(self, rows: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Values of the actions."""
        values = self.module(rows)
        if self._atoms is not None:
            values = mean_values(values, self._atoms)
        return values, None, None

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """The best legal action of each row; with ``draws``, now and then any legal one."""
        legal = np.ones(outputs.shape, np.bool_) if masks is None else masks
        actions = np.where(legal, outputs, -math.inf).argmax(axis=1)
        if draws is not None:
            actions = np.where(draws(0) < self._epsilon, random_legal(legal, draws(1)), actions)
        return actions + self._start


class ActorPlayer:
    """Plays the actor's choice within the bounds; where it is to sample, a draw from it.

    Args:
        module: Actor and critics.
        space: Of the actions.
        noise: Standard deviation of a deterministic actor's noise where it is to sample.
    """

    memory = 0
    rates_actions = False

    def __init__(self, module: ActorAndCritics, space: Space, noise: float) -> None:
        assert space.low is not None and space.high is not None
        self.module: nn.Module = module
        self._gaussian, self._noise, self._dtype = module.gaussian, noise, space.dtype
        self._bounds = Bounds(space.low, space.high)

    @classmethod
    def build(cls, description: PolicyDescription) -> ActorPlayer:
        """The player that a description asks for, its weights unset.

        Raises:
            ValueError: It is no network that this version can play.
        """
        network, space = description.network, description.action_space
        if space.kind != "Box" or space.low is None or space.high is None:
            raise ValueError(f"its network gives continuous actions, and its actions are a {space.kind}")
        encoding = _encoding(description)
        if encoding.images:
            raise ValueError("its network takes vectors, and its observations are images")
        gaussian = network["type"] == "gaussian_actor"
        module = ActorAndCritics(
            encoding,
            math.prod(space.shape),
            widths(network["hidden"]),
            gaussian=gaussian,
            critics=_integer_between("critics", network["critics"], 1, 100),
        )
        return cls(module, space, 0.0 if gaussian else _share(network, "noise", 10.0))

    def forward(self, rows: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """What the actor says, and the smallest critic's value of its choice."""
        module = self.module
        assert isinstance(module, ActorAndCritics)
        said = module.actor(rows)
        choice = said[0].tanh() if self._gaussian else said
        outputs = torch.cat(said, -1) if self._gaussian else said
        return outputs, module.critics.at_play(rows, choice).amin(0), None

    def act(
        self, outputs: NDArray[np.float64], masks: NDArray[np.bool_] | None, draws: Draws | None
    ) -> NDArray[Any]:
        """Actions in the environment's own units."""
        size = self._bounds.size
        if self._gaussian:
            mean, log_std = outputs[:, :size], outputs[:, size:]
            chosen = np.tanh(mean if draws is None else mean + np.exp(log_std) * normals(draws, size))
        else:
            chosen = outputs if draws is None else outputs + self._noise * normals(draws, size)
        return self._bounds.scale(chosen).astype(self._dtype)


def _encoding(description: PolicyDescription) -> Encoding:
    network, shown = description.network, description.shown_space
    if network["activation"] != "relu":
        raise ValueError(f"its activation is of an unknown kind: {network['activation']!r}")
    encoding = Encoding.from_json(network["encoder"])
    if encoding.shape != tuple(shown.shape):
        raise ValueError(f"its network takes {encoding.shape} where its input space has {tuple(shown.shape)}")
    return encoding


def _integer_between(name: str, value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"its {name} is {value!r}, no whole number from {least} to {most}")
    return value


def _number(network: Mapping[str, Any], name: str) -> float:
    value = network[name]
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"its {name} is {value!r}, no finite number")
    return float(value)


def _share(network: Mapping[str, Any], name: str, most: float = 1.0) -> float:
    value = _number(network, name)
    if not 0.0 <= value <= most:
        raise ValueError(f"its {name} is {value!r}, not from 0 to {most}")
    return value
