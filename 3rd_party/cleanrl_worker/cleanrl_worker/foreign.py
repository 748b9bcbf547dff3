"""Recognizes state dicts of other programs by names and shapes, and converts them to this worker's networks.

The names are those of CleanRL's scripts (Huang et al., "CleanRL", 2022): ``actor.0.weight`` and
``critic.0.weight`` of ppo.py, ``actor_mean`` and ``actor_logstd`` of ppo_continuous_action.py,
``network.0.weight`` of dqn.py, c51.py and the Atari scripts, ``fc1``, ``fc2``, ``fc_mu`` of
ddpg_continuous_action.py and td3_continuous_action.py, ``fc_mean`` and ``fc_logstd`` of
sac_continuous_action.py.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cleanrl_worker.architecture import Encoding
from mosaic_worker.learning.torch_files import weights_in
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.spaces import Space

StateDict = dict[str, Tensor]
_PLAIN = (str, int, float, bool, type(None))
_EPSILON, _NOISE = 0.05, 0.1
"""Exploration rate and noise of an imported policy that samples, as in CleanRL's evaluation of DQN and in its
DDPG.
"""


@dataclass(frozen=True)
class RecognizedPolicy:
    """A recognized policy.

    Attributes:
        algorithm: Algorithm that trained the policy.
        network: Entry ``network`` of ``policy.json``.
        weights: Weights by the parameter names of this worker's networks.
        config: Settings of the training, if the file has them.
    """

    algorithm: str
    network: dict[str, Any]
    weights: StateDict
    config: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class _Target:
    """Environment and spaces that the imported policy must fit.

    Attributes:
        env_id: Id of the environment.
        input_space: Space of the network's input.
        action_space: Space of the policy's actions.
    """

    env_id: str
    input_space: Space
    action_space: Space

    @property
    def encoding(self) -> Encoding:
        """The usual encoding: images if they are large enough for convolutions, else a vector."""
        return Encoding.of(self.input_space.shape, self.input_space.dtype == np.uint8)

    @property
    def flat(self) -> Encoding:
        """Encoding as one vector of unscaled numbers, as CleanRL's perceptrons take observations."""
        return Encoding("mlp", self.input_space.shape)

    def check_inputs(self, width: int) -> None:
        wanted = math.prod(self.input_space.shape)
        if width != wanted:
            raise ConfigError(
                f"the file's network takes {width} numbers, but observations of {self.env_id} have {wanted} "
                f"(Box{self.input_space.shape}). Choose the policy's environment, "
                "or give the preprocessing of the training with --preprocess"
            )

    def check_outputs(self, count: int, what: str = "actions") -> None:
        space = self.action_space
        wanted = {
            "Discrete": lambda: space.n,
            "MultiDiscrete": lambda: int(np.asarray(space.nvec).sum()),
            "Box": lambda: math.prod(space.shape),
        }.get(space.kind, lambda: -1)()
        if count != wanted:
            raise ConfigError(
                f"the file's network gives {count} {what}, {self.env_id} has {max(wanted, 0)} ({space.kind})"
            )

    def check_kind(self, algorithm: str, *kinds: str) -> None:
        if self.action_space.kind not in kinds:
            raise ConfigError(
                f"the file's network is of {algorithm} for {' or '.join(kinds)} actions, "
                f"but those of {self.env_id} are {self.action_space.kind}"
            )


def recognize(
    content: Any,
    input_space: Space,
    action_space: Space,
    env_id: str,
    described: Mapping[str, Any] | None = None,
    algorithm: str = "",
) -> RecognizedPolicy:
    """Recognize the policy in a file's content.

    Args:
        content: Content of the file, as read with torch.
        input_space: Observation space after preprocessing.
        action_space: Action space of the environment.
        env_id: Id of the environment, for messages.
        described: Description of a network that is not CleanRL's: ``algorithm``, ``network`` and ``names``
            (prefixes of the file's names and the names of our layers).
        algorithm: Algorithm that trained the policy; empty to take it from the network.

    Raises:
        ConfigError: The file holds no known network, or the network does not fit the environment.
    """
    parts, config = _state_dicts(content)
    target = _Target(env_id, input_space, action_space)
    if described:
        return _described(parts, described, config)
    first = parts[0]
    for marks, build in _KINDS:
        if all(any(name == mark or name.startswith(f"{mark}.") for name in first) for mark in marks):
            found = build(parts, target)
            named = algorithm or found.algorithm
            return RecognizedPolicy(named, found.network, found.weights, config)
    names = ", ".join(sorted(first)[:4])
    raise ConfigError(
        f"the file has no network of CleanRL's scripts (it begins with {names}). Describe it with "
        "--describe, see docs/policies.md"
    )


def _state_dicts(content: Any) -> tuple[list[StateDict], dict[str, Any]]:
    """Return the state dicts in a file, the policy's first, and the settings stored with them."""
    config: dict[str, Any] = {}
    if isinstance(content, dict) and "model_weights" in content:
        given = content.get("args")
        if isinstance(given, dict):
            config = {str(k): v for k, v in given.items() if isinstance(v, _PLAIN)}
            config = {k: v for k, v in config.items() if not isinstance(v, float) or math.isfinite(v)}
        content = content["model_weights"]
    given = list(content) if isinstance(content, (tuple, list)) else [content]
    parts = [_state_dict(part) for part in given]
    if not parts:
        raise ConfigError("the file is empty")
    return parts, config


def _state_dict(part: Any) -> StateDict:
    # Prefixes that DataParallel and torch.compile add to names.
    heads = ("module.", "_orig_mod.")
    return {
        next((name[len(h) :] for h in heads if name.startswith(h)), name): tensor.detach().to(torch.float32)
        for name, tensor in weights_in(part, "the file").items()
    }


def _layers(weights: StateDict, prefix: str) -> list[tuple[str, Tensor]]:
    """Return name and weight of every layer below a prefix, in the order of the network."""
    found: list[tuple[int, str, Tensor]] = []
    for name, tensor in weights.items():
        match = re.fullmatch(rf"{re.escape(prefix)}\.(\d+)\.weight", name)
        if match:
            found.append((int(match[1]), name.removesuffix(".weight"), tensor))
    return [(name, tensor) for _, name, tensor in sorted(found, key=lambda f: f[0])]


def _moved(weights: StateDict, old: str, new: str) -> StateDict:
    """Return weight and bias of one layer under another name."""
    return {f"{new}.{kind}": _tensor(weights, f"{old}.{kind}") for kind in ("weight", "bias")}


def _tensor(weights: StateDict, name: str) -> Tensor:
    if name not in weights:
        raise ConfigError(f"the file's network has no {name}")
    return weights[name]


def _perceptron(weights: StateDict, prefix: str) -> list[tuple[str, Tensor]]:
    layers = _layers(weights, prefix)
    if not layers or any(tensor.ndim != 2 for _, tensor in layers):
        raise ConfigError(f"the file's {prefix} is not a perceptron of affine layers")
    return layers


def _hidden(layers: Sequence[tuple[str, Tensor]]) -> list[int]:
    """Return the widths of the hidden layers."""
    widths = [tensor.shape[0] for _, tensor in layers[:-1]]
    if not widths:
        raise ConfigError(
            "the file's network has no hidden layer, but every algorithm of this worker has one"
        )
    return widths


# -- PPO -------------------------------------------------------------------------------------


def _ppo(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    weights = parts[0]
    layers = _perceptron(weights, "actor")
    target.check_kind("PPO", "Discrete", "MultiDiscrete")
    return _actor_critic(weights, layers, target)


def _ppo_continuous(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    weights = parts[0]
    layers = _perceptron(weights, "actor_mean")
    target.check_kind("PPO", "Box")
    return _actor_critic(weights, layers, target)


def _actor_critic(
    weights: StateDict, layers: Sequence[tuple[str, Tensor]], target: _Target
) -> RecognizedPolicy:
    target.check_inputs(layers[0][1].shape[1])
    target.check_outputs(layers[-1][1].shape[0])
    hidden = _hidden(layers)
    heads = ("actor.", "actor_mean.", "actor_logstd", "critic.")
    kept = {name: tensor for name, tensor in weights.items() if name.startswith(heads)}
    network = {
        "type": "actor_critic",
        "encoder": target.flat.to_json(),
        "hidden": hidden,
        "activation": "tanh",
    }
    return RecognizedPolicy("ppo", network, kept)


def _ppo_images(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    weights = parts[0]
    target.check_kind("PPO", "Discrete", "MultiDiscrete")
    _check_convolutions(weights, target)
    target.check_outputs(_tensor(weights, "actor.weight").shape[0])
    kept = {n: t for n, t in weights.items() if n.startswith(("network.", "actor.", "critic."))}
    network: dict[str, Any] = {
        "type": "actor_critic",
        "encoder": target.encoding.to_json(),
        "hidden": [64, 64],  # not used behind convolutions
        "activation": "tanh",
    }
    if not any(name.startswith("lstm.") for name in weights):
        return RecognizedPolicy("ppo", network, kept)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        kept[f"lstm.{name}"] = _tensor(weights, f"lstm.{name}_l0")
    network |= {"type": "actor_critic_lstm", "lstm_size": kept["lstm.weight_hh"].shape[1]}
    return RecognizedPolicy("ppo_lstm", network, kept)


def _check_convolutions(weights: StateDict, target: _Target) -> None:
    first = _tensor(weights, "network.0.weight")
    encoding = target.encoding
    if first.ndim != 4 or encoding.kind != "nature_cnn":
        raise ConfigError(
            f"the file's network is for images of 36 pixels and more, {target.env_id} shows "
            f"Box{target.input_space.shape}. Give the preprocessing of the training with --preprocess"
        )
    channels = {"hwc": encoding.shape[-1], "chw": encoding.shape[0]}.get(encoding.layout, 0)
    if first.shape[1] != channels:
        raise ConfigError(
            f"the file's network takes {first.shape[1]} channels, {target.env_id} shows {channels} "
            f"(Box{target.input_space.shape}). Give the preprocessing of the training with --preprocess"
        )


# -- values of actions ------------------------------------------------------------------------


def _values(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    weights = parts[0]
    layers = _layers(weights, "network")
    if not layers:
        raise ConfigError("the file's network has no layers")
    atoms = weights.get("atoms")
    target.check_kind("C51" if atoms is not None else "DQN", "Discrete")
    images = layers[0][1].ndim == 4
    if images:
        _check_convolutions(weights, target)
    else:
        target.check_inputs(layers[0][1].shape[1])
    count = 1 if atoms is None else len(atoms)
    target.check_outputs(layers[-1][1].shape[0] // count)
    kept: StateDict = {}
    # The file's last layer is this worker's head; the other layers have the same positions.
    for name, _ in layers[:-1]:
        kept |= _moved(weights, name, name.replace("network.", "features.", 1))
    kept |= _moved(weights, layers[-1][0], "head")
    network: dict[str, Any] = {
        "type": "q_network",
        "encoder": (target.encoding if images else target.flat).to_json(),
        "hidden": [120, 84] if images else _hidden(layers),
        "activation": "relu",
        "epsilon": _EPSILON,
    }
    if atoms is None:
        return RecognizedPolicy("dqn", network, kept)
    network |= {"type": "categorical_q_network", "atoms": count}
    network |= {"v_min": float(atoms[0]), "v_max": float(atoms[-1])}
    return RecognizedPolicy("c51", network, kept)


# -- continuous control -----------------------------------------------------------------------


def _ddpg(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    kept, hidden, critics = _control(parts, target, "fc_mu")
    network = _control_network("deterministic_actor", hidden, critics, target)
    return RecognizedPolicy("ddpg" if critics == 1 else "td3", {**network, "noise": _NOISE}, kept)


def _sac(parts: Sequence[StateDict], target: _Target) -> RecognizedPolicy:
    kept, hidden, critics = _control(parts, target, "fc_mean")
    mean = _moved(parts[0], "fc_mean", "mean")
    spread = _moved(parts[0], "fc_logstd", "spread")
    for kind in ("weight", "bias"):
        kept[f"actor.layers.4.{kind}"] = torch.cat([mean[f"mean.{kind}"], spread[f"spread.{kind}"]])
    return RecognizedPolicy("sac", _control_network("gaussian_actor", hidden, critics, target), kept)


def _control_network(kind: str, hidden: Sequence[int], critics: int, target: _Target) -> dict[str, Any]:
    return {
        "type": kind,
        "encoder": target.flat.to_json(),
        "hidden": list(hidden),
        "activation": "relu",
        "critics": critics,
    }


def _control(
    parts: Sequence[StateDict], target: _Target, output: str
) -> tuple[StateDict, tuple[int, int], int]:
    """Return the weights of actor and critics, the hidden widths and the number of critics."""
    actor, critics = parts[0], parts[1:]
    target.check_kind("DDPG, TD3 or SAC", "Box")
    target.check_inputs(_tensor(actor, "fc1.weight").shape[1])
    target.check_outputs(_tensor(actor, f"{output}.weight").shape[0], "numbers")
    scale, bias = _bounds(actor, target)
    if not critics:
        raise ConfigError(
            "the file has an actor without its critics. Save them together, as CleanRL does: "
            "torch.save((actor.state_dict(), qf1.state_dict()), path)"
        )
    hidden = (actor["fc1.weight"].shape[0], _tensor(actor, "fc2.weight").shape[0])
    kept: StateDict = {}
    for place, name in ((0, "fc1"), (2, "fc2"), (4, output)):
        kept |= _moved(actor, name, f"actor.layers.{place}")
    for i, name in enumerate(("fc1", "fc2", "fc3")):
        found = [(_tensor(c, f"{name}.weight"), _tensor(c, f"{name}.bias")) for c in critics]
        if len({tuple(weight.shape) for weight, _ in found}) > 1:
            raise ConfigError(f"the file's critics differ in the shape of {name}")
        if i == 0:
            found = [_in_our_units(weight, b, scale, bias) for weight, b in found]
        # This worker evaluates its critics together, so weights are stacked: (critics, inputs, outputs).
        kept[f"critics.{i}.weight"] = torch.stack([weight.T for weight, _ in found])
        kept[f"critics.{i}.bias"] = torch.stack([b[None] for _, b in found])
    return kept, hidden, len(critics)


def _bounds(actor: StateDict, target: _Target) -> tuple[Tensor, Tensor]:
    """Return scale and middle of the actions; the file's must equal those of the environment."""
    low, high = (
        torch.as_tensor(np.array(b, np.float32).ravel())
        for b in (target.action_space.low, target.action_space.high)
    )
    ours = {"action_scale": (high - low) / 2, "action_bias": (high + low) / 2}
    for name, wanted in ours.items():
        found = actor.get(name)
        if found is not None and not torch.allclose(found.ravel(), wanted, rtol=1e-5, atol=1e-6):
            raise ConfigError(
                f"the file's {name} is {found.ravel().tolist()}, the bounds of {target.env_id} give "
                f"{wanted.tolist()}. Choose its environment"
            )
    return ours["action_scale"], ours["action_bias"]


def _in_our_units(weight: Tensor, bias: Tensor, scale: Tensor, middle: Tensor) -> tuple[Tensor, Tensor]:
    """Convert a critic's first layer from actions in the environment's units to actions in [-1, 1]."""
    numbers = len(scale)
    acts = weight[:, -numbers:]
    return torch.cat([weight[:, :-numbers], acts * scale], 1), bias + acts @ middle


# -- others ------------------------------------------------------------------------------------


def _described(
    parts: Sequence[StateDict], described: Mapping[str, Any], config: dict[str, Any]
) -> RecognizedPolicy:
    """Read a network that the user has described by its type and by the names of its layers."""
    from cleanrl_worker.registry import algorithm

    known = ("algorithm", "network", "names")
    if not isinstance(described, dict) or set(described) - set(known):
        raise ConfigError(f"--describe is an object with the keys {', '.join(known)}")
    network, names = described.get("network"), described.get("names", {})
    if not isinstance(network, dict) or not isinstance(names, dict):
        raise ConfigError(
            "--describe needs 'network' (as in a policy.json) and 'names' (their prefix to our layer)"
        )
    found = algorithm(str(described.get("algorithm", "")))
    if network.get("type") not in found.networks:
        raise ConfigError(
            f"{found.name} has no network of type {network.get('type')!r}. Known: {', '.join(found.networks)}"
        )
    weights: StateDict = {}
    for part in parts:
        for name, tensor in part.items():
            weights[_renamed(name, names)] = tensor
    return RecognizedPolicy(found.name, dict(network), weights, config)


def _renamed(name: str, names: Mapping[str, Any]) -> str:
    for old in sorted(names, key=len, reverse=True):
        if name == old or name.startswith(f"{old}."):
            return f"{names[old]}{name[len(old) :]}"
    return name


_KINDS: tuple[tuple[tuple[str, ...], Callable[[Sequence[StateDict], _Target], RecognizedPolicy]], ...] = (
    (("actor_mean", "actor_logstd", "critic"), _ppo_continuous),
    (("network", "actor", "critic"), _ppo_images),
    (("actor", "critic"), _ppo),
    (("network",), _values),
    (("fc1", "fc2", "fc_mu"), _ddpg),
    (("fc1", "fc2", "fc_mean", "fc_logstd"), _sac),
)
"""Layers by which a CleanRL script's network is recognized, the most specific first."""
