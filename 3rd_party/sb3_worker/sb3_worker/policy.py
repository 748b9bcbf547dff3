"""A loaded policy: observations in, actions out, the same for any batch."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.drawn_actions import counted_actions, draw_normals, greedy_index, hide_illegal
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.torch_policy import TorchPolicy
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError
from sb3_worker.network import Network, load_weights

WORKER = "sb3_worker"


class Outputs(NamedTuple):
    """What a network says, BATCH rows of it.

    Attributes:
        kind: ``logits`` (of one or more choices), ``bits``, ``values`` (of actions), ``normal``,
            ``squashed`` or ``fixed``.
        first: Logits, values, means or actions, float64.
        deviation: Of ``normal`` and ``squashed``.
        value: Of the state, or ``None``.
    """

    kind: str
    first: NDArray[np.float64]
    deviation: NDArray[np.float64] | None = None
    value: NDArray[np.float64] | None = None


class Policy(TorchPolicy):
    """Weights and their description, ready to play.

    Args:
        description: What the weights are.
        network: The same, as a network.
        module: The library's policy object, its weights in place, on the CPU.
    """

    worker, network_types = WORKER, frozenset({"sb3"})

    def __init__(self, description: PolicyDescription, network: Network, module: Any) -> None:
        super().__init__(description)
        self._network, self._module = network, module
        self._space = network.observation_space
        self._actions = description.action_space
        self._buffers = {path: _buffer(leaf) for path, leaf in self._space.leaves}
        lstm = getattr(module, "lstm_actor", None)
        self._lstm_shape = (0, 0) if lstm is None else (int(lstm.num_layers), int(lstm.hidden_size))
        self._memory = 2 * self._lstm_shape[0] * self._lstm_shape[1]

    @property
    def memory(self) -> int:
        """Numbers that it remembers from step to step of an episode; 0 for most."""
        return self._memory

    @classmethod
    def build(cls, description: PolicyDescription, weights: Mapping[str, Tensor]) -> Policy:
        """Make it of a description and the weights that are its own.

        Raises:
            ValueError: It asks for a network that cannot be built, or the weights are not those of it.
        """
        network = Network.from_json(description.network, from_zero(description.action_space))
        if _count(network.observation_space) != _count(description.shown_space):
            raise ValueError("its network takes another number of inputs than its input_space has")
        module = network.build()
        load_weights(module, weights)
        return cls(description, network, module)

    def rows(self, observations: Any) -> dict[str, NDArray[Any]]:
        """The leaves of observations, by path."""
        return {path: _leaf(observations, path) for path, _ in self._space.leaves}

    def decide(
        self,
        rows: Any,
        masks: NDArray[np.bool_] | None,
        draws: Draws | None,
        memory: NDArray[np.float32] | None,
    ) -> Choices:
        """Decide at most :data:`BATCH` rows, by path of the leaf."""
        count, ok = 0, np.ones(BATCH, np.bool_)
        for path, leaf in rows.items():
            buffer, count = self._buffers[path], len(leaf)
            buffer[count:] = 0
            buffer[:count] = leaf.reshape(count, *buffer.shape[1:])
            if buffer.dtype.kind == "f":
                good = np.isfinite(buffer).reshape(BATCH, -1).all(axis=1)
                buffer[~good] = 0  # the library raises for the whole batch
                ok &= good
        before = torch.zeros(BATCH, self.memory)
        if memory is not None:
            before[:count] = torch.from_numpy(np.asarray(memory, np.float32))
        with torch.inference_mode():
            outputs, after = self._forward(self._tensors(), before)
        for found in (outputs.first, outputs.deviation, outputs.value):
            if found is not None:
                ok &= np.isfinite(found).reshape(BATCH, -1).all(axis=1)
        outputs.first[~ok] = 0.0
        if masks is not None and outputs.kind in ("logits", "values"):
            ok &= hide_illegal(outputs.first, masks, self._actions)
        actions = self._act(outputs, draws)
        values = outputs.value
        if outputs.kind == "values":
            values = outputs.first.max(axis=1)
        return Choices(
            actions[:count],
            None if values is None else np.where(ok, values, 0.0)[:count],
            ok[:count],
            None if after is None else after[:count],
        )

    # -- forward -------------------------------------------------------------------------

    def _tensors(self) -> Any:
        found = {path: torch.from_numpy(buffer) for path, buffer in self._buffers.items()}
        return found.get("", found)

    def _forward(self, seen: Any, memory: Tensor) -> tuple[Outputs, NDArray[np.float32] | None]:
        module, family = self._module, self._network.family
        if family == "dqn":
            return Outputs("values", _double(module.q_net(seen))), None
        if family == "qrdqn":
            return Outputs("values", _double(module.quantile_net(seen).mean(dim=1))), None
        if family == "td3":
            return Outputs("fixed", _double(module.actor(seen))), None
        if family in ("sac", "tqc"):
            actor = module.actor
            latent = actor.latent_pi(actor.extract_features(seen, actor.features_extractor))
            if actor.use_sde:
                deviation = _state_noise(actor.action_dist, actor.log_std, latent)
            else:
                deviation = actor.log_std(latent).clamp(-20, 2).exp()
            return Outputs("squashed", _double(actor.mu(latent)), _double(deviation)), None
        return self._actor_critic(seen, memory)

    def _actor_critic(self, seen: Any, memory: Tensor) -> tuple[Outputs, NDArray[np.float32] | None]:
        module = self._module
        features = module.extract_features(seen)
        of_actor, of_critic = features if isinstance(features, tuple) else (features, features)
        after, value = None, None
        if self.memory:
            layers, width = self._lstm_shape
            hidden, cell = memory.reshape(BATCH, 2, layers, width).permute(1, 2, 0, 3).contiguous()
            out, (hidden, cell) = module.lstm_actor(of_actor.unsqueeze(0), (hidden, cell))
            of_actor = out.squeeze(0)
            after = torch.stack((hidden, cell)).permute(2, 0, 1, 3).reshape(BATCH, -1).numpy().copy()
        else:
            value = _double(module.value_net(module.mlp_extractor.forward_critic(of_critic))[:, 0])
        latent = module.mlp_extractor.forward_actor(of_actor)
        first = _double(module.action_net(latent))
        kind = self._actions.kind
        if kind != "Box":
            return Outputs("bits" if kind == "MultiBinary" else "logits", first, None, value), after
        if getattr(module, "use_sde", False):
            deviation = _double(_state_noise(module.action_dist, module.log_std, latent))
        else:
            deviation = np.broadcast_to(_double(module.log_std.exp()), first.shape)
        return Outputs("squashed" if module.squash_output else "normal", first, deviation, value), after

    # -- acting --------------------------------------------------------------------------

    def _act(self, outputs: Outputs, draws: Draws | None) -> NDArray[Any]:
        space = self._actions
        if outputs.kind == "values":
            return greedy_index(outputs.first, draws, self._network.exploration) + space.start
        if outputs.kind == "logits":
            return counted_actions(outputs.first, space, draws)
        if outputs.kind == "bits":
            share = 1.0 / (1.0 + np.exp(-outputs.first))
            at = 0.5 if draws is None else np.stack([draws(j) for j in range(share.shape[1])], 1)
            # At exactly one half, the library rounds to even: 0.
            return (share > at).reshape(BATCH, *space.shape).astype(space.dtype)
        return self._continuous(outputs, draws)

    def _continuous(self, outputs: Outputs, draws: Draws | None) -> NDArray[Any]:
        moved = outputs.first
        if draws is not None and outputs.deviation is not None:
            moved = moved + outputs.deviation * draw_normals(draws, moved.shape[1])
        space: Any = self._actions
        low, high = np.asarray(space.low), np.asarray(space.high)
        # In the space's own precision from here on, as the library does.
        moved = moved.astype(np.float32)
        if outputs.kind == "squashed":
            moved = torch.tanh(torch.from_numpy(moved)).numpy()
        moved = moved.reshape(BATCH, *space.shape)
        if outputs.kind != "normal":
            moved = low + (0.5 * (moved + 1.0) * (high - low))
        return np.clip(moved, low, high).astype(space.dtype)


def from_zero(space: Space) -> Space:
    """The same space, its whole numbers counted from zero: the library knows no others."""
    if space.kind == "Discrete":
        return Space("Discrete", space.dtype, n=space.n)
    if space.kind == "MultiDiscrete":
        return Space(space.kind, space.dtype, space.shape, nvec=space.nvec, starts=np.zeros_like(space.nvec))
    return space


def _buffer(leaf: Space) -> NDArray[Any]:
    shape = leaf.shape if leaf.kind != "Discrete" else ()
    if not leaf.fixed:
        raise LoadError(f"it observes a {leaf.kind}, which no network of this worker takes")
    # The library computes with 32 bits whatever it is given.
    dtype = np.dtype(np.float32) if leaf.dtype == np.float64 else leaf.dtype
    return np.zeros((BATCH, *shape), dtype)


def _leaf(observations: Any, path: str) -> NDArray[Any]:
    found = observations
    for key in path.split(".") if path else ():
        found = found[key]
    return np.asarray(found)


def _count(space: Space) -> int:
    return sum(math.prod(leaf.shape) if leaf.kind != "Discrete" else 1 for _, leaf in space.leaves)


def _double(tensor: Tensor) -> NDArray[np.float64]:
    return tensor.numpy().astype(np.float64)


def _state_noise(distribution: Any, log_std: Tensor, latent: Tensor) -> Tensor:
    """Deviation of state-dependent noise whose matrix is drawn anew: normal, as gSDE's is."""
    variance = (latent**2) @ (distribution.get_std(log_std) ** 2)
    return torch.sqrt(variance + distribution.epsilon)


def input_space(policy: Policy) -> Any:
    """Gymnasium's form of what the policy is shown."""
    return gymnasium_spaces.build(policy.description.shown_space)
