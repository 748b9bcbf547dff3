"""The library's networks as plain data: described, built, filled with weights, written.

In ``policy.json`` a network is ``{"type": "sb3", "family": …, "features": …, "activation": …,
"net_arch": …, "options": {…}, "observation_space": …}``. Its weights are the parameters and
buffers of the library's policy object, under its names; an extractor that actor and critic share
is written once.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from stable_baselines3.common.torch_layers import CombinedExtractor, FlattenExtractor, NatureCNN
from torch import Tensor, nn

from mosaic_worker import gymnasium_spaces
from mosaic_worker.spaces import Space
from sb3_worker.described import ACTIVATIONS, DESCRIBED, DescribedExtractor, check_layers
from sb3_worker.families import FAMILIES, load

FEATURES: Mapping[str, Any] = {
    "flatten": FlattenExtractor,
    "nature_cnn": NatureCNN,
    "combined": CombinedExtractor,
    DESCRIBED: DescribedExtractor,
}
OPTIONS: Mapping[str, type] = {
    "use_sde": bool,
    "full_std": bool,
    "use_expln": bool,
    "squash_output": bool,
    "share_features_extractor": bool,
    "normalize_images": bool,
    "log_std_init": float,
    "clip_mean": float,
    "n_critics": int,
    "n_quantiles": int,
    "lstm_hidden_size": int,
    "n_lstm_layers": int,
    "shared_lstm": bool,
    "enable_critic_lstm": bool,
    "features_dim": int,
    "cnn_output_dim": int,
}
"""Options of the library's policies that change what a network is, beside its layers."""
_OF_FEATURES = ("features_dim", "cnn_output_dim")
_LARGEST = 65_536


@dataclass(frozen=True)
class Network:
    """What has to be known to build one of the library's policies again.

    Attributes:
        family: A key of :data:`sb3_worker.families.FAMILIES`.
        observation_space: What the network itself takes: as many numbers as the worker is shown,
            perhaps in another shape.
        action_space: What it does, counted from zero.
        features: A key of :data:`FEATURES`.
        activation: A key of :data:`ACTIVATIONS`; empty for the library's own choice.
        net_arch: Hidden widths, or widths by part (``pi``, ``vf``, ``qf``); ``None`` for the
            library's own choice.
        options: Of :data:`OPTIONS`.
        exploration: How often a value-based policy acts at random where it samples.
        layers: Of a features extractor of its author's own (:mod:`sb3_worker.described`).
    """

    family: str
    observation_space: Space
    action_space: Space
    features: str = "flatten"
    activation: str = ""
    net_arch: Any = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exploration: float = 0.0
    layers: Sequence[Any] = ()

    def to_json(self) -> dict[str, Any]:
        """For ``policy.json``, which holds the action space already."""
        return {
            "type": "sb3",
            "family": self.family,
            "features": self.features,
            "activation": self.activation,
            "net_arch": self.net_arch,
            "options": dict(self.options),
            "exploration": self.exploration,
            "observation_space": self.observation_space.to_json(),
            **({"layers": list(self.layers)} if self.layers else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], action_space: Space) -> Network:
        """Read a description.

        Raises:
            ValueError: It is none of this worker; the message says why.
        """
        try:
            if data["type"] != "sb3":
                raise ValueError(f"its network is of an unknown kind: {data['type']!r}")
            network = cls(
                str(data["family"]),
                Space.from_json(data["observation_space"]),
                action_space,
                str(data["features"]),
                str(data["activation"]),
                data["net_arch"],
                dict(data["options"]),
                float(data["exploration"]),
                list(data.get("layers", ())),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"its network is described wrongly ({error})") from error
        network.check()
        return network

    def check(self) -> None:
        """Refuse what the library would not build, or would build too large.

        Raises:
            ValueError: Naming the part.
        """
        for value, known, what in (
            (self.family, FAMILIES, "family"),
            (self.features, FEATURES, "features"),
            (self.activation or "tanh", ACTIVATIONS, "activation"),
        ):
            if value not in known:
                raise ValueError(f"its network has the {what} {value!r}; known: {', '.join(known)}")
        if (self.features == DESCRIBED) != bool(self.layers):
            raise ValueError("its network has layers of a features extractor that it does not have")
        check_layers(self.layers)
        _check_widths(self.net_arch)
        for name, value in self.options.items():
            if name not in OPTIONS:
                raise ValueError(f"its network has the unknown option {name!r}")
            wanted = OPTIONS[name]
            fits = type(value) is wanted or (wanted is float and type(value) is int)
            if not fits or (wanted is int and not 1 <= value <= _LARGEST):
                raise ValueError(f"its network has {name} = {value!r}")
        if not 0.0 <= self.exploration <= 1.0:
            raise ValueError(f"its network has exploration = {self.exploration!r}")

    def arguments(self) -> dict[str, Any]:
        """``policy_kwargs`` of the library."""
        options = dict(self.options)
        extractor = {name: options.pop(name) for name in _OF_FEATURES if name in options}
        found: dict[str, Any] = {**options, "features_extractor_class": FEATURES[self.features]}
        if self.layers:
            extractor = {"layers": list(self.layers)}
        if extractor:
            found["features_extractor_kwargs"] = extractor
        if self.net_arch is not None:
            found["net_arch"] = _copy(self.net_arch)
        if self.activation:
            found["activation_fn"] = ACTIVATIONS[self.activation]
        return found

    def build(self) -> Any:
        """The library's policy object, its weights still to be loaded.

        Raises:
            ValueError: The library cannot build it.
        """
        arguments = self.arguments()
        if "actor_critic" in self.family:
            arguments["ortho_init"] = False  # takes time, and real weights follow
        spaces = [gymnasium_spaces.build(s) for s in (self.observation_space, self.action_space)]
        # Its first weights are drawn from the process-wide generator, which a training needs unmoved.
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                policy = load(FAMILIES[self.family])(
                    *spaces, lr_schedule=_no_schedule, optimizer_class=_no_optimizer, **arguments
                )
            except (AssertionError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
                raise ValueError(f"its network cannot be built ({' '.join(str(error).split())})") from error
        policy.set_training_mode(False)
        return policy


def tensors_of(policy: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, shared ones under their first name only."""
    return {**dict(policy.named_parameters()), **dict(policy.named_buffers())}


def load_weights(policy: nn.Module, given: Mapping[str, Tensor]) -> None:
    """Put weights into a policy, all of them.

    Shared parts may come under any of their names, or under several that agree.

    Raises:
        ValueError: One is missing, left over, of another shape, or no finite number; it is named.
    """
    places = dict(policy.named_parameters(remove_duplicate=False))
    places |= dict(policy.named_buffers(remove_duplicate=False))
    filled: dict[int, str] = {}
    for name, tensor in given.items():
        place = places.get(name)
        if place is None:
            raise ValueError(f"the weights hold {name}, which such a network has not")
        if tensor.shape != place.shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)} where {tuple(place.shape)} is needed")
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} is not all finite numbers")
        with torch.no_grad():
            place.copy_(tensor)
        filled[id(place)] = name
    for name, place in places.items():
        if id(place) not in filled:
            raise ValueError(f"the weights lack {name}, of shape {tuple(place.shape)}")


def _no_schedule(_: float) -> float:
    return 0.0


def _no_optimizer(*_: Any, **__: Any) -> None:
    """Who plays needs none, and the first one of a process imports torch's compiler: twice torch itself."""


def _check_widths(given: Any) -> None:
    parts: list[Any] = [given]
    if isinstance(given, dict):
        parts = list(cast("dict[str, Any]", given).values())
        if not set(cast("dict[str, Any]", given)) <= {"pi", "vf", "qf"}:
            raise ValueError(f"its net_arch has unknown parts: {', '.join(map(str, given))}")
    for widths in parts:
        if widths is None and not isinstance(given, dict):
            return
        fits = isinstance(widths, (list, tuple)) and all(
            type(w) is int and 1 <= w <= _LARGEST for w in cast("list[Any]", widths)
        )
        if not fits:
            raise ValueError(f"its net_arch is {given!r:.80} where lists of widths are needed")


def _copy(net_arch: Any) -> Any:
    if isinstance(net_arch, dict):
        return {part: list(widths) for part, widths in cast("dict[str, Any]", net_arch).items()}
    return list(net_arch)
