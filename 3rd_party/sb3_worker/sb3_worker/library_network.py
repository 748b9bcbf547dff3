"""Builds the library's policy objects from descriptions and loads their weights.

The weights of a policy are the parameters and buffers of its object, by their names; an extractor that actor
and critic share is written once. Playing needs only :mod:`sb3_worker.playing`, not this module.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from numpy.typing import NDArray
from stable_baselines3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    FlattenExtractor,
    NatureCNN,
)
from torch import Tensor, nn

from mosaic_worker import gymnasium_spaces
from sb3_worker.described import DESCRIBED, shape_after, shapes_through
from sb3_worker.families import FAMILIES, load
from sb3_worker.network import Network

ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "leaky_relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "identity": nn.Identity,
}
_OF_FEATURES = ("features_dim", "cnn_output_dim")


class DescribedExtractor(BaseFeaturesExtractor):
    """Features extractor built from a description's layers.

    Args:
        observation_space: A Box; for images, channels first.
        layers: Description of the layers (:mod:`sb3_worker.described`).
    """

    def __init__(self, observation_space: Any, layers: Sequence[Any]) -> None:
        told = shapes_through(layers, tuple(observation_space.shape or ()))
        made = [_module(layer, shape) for layer, shape in told]
        super().__init__(observation_space, shape_after(*told[-1])[0])
        self.layers = nn.Sequential(*made)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the features, which are the input of the policy's own layers."""
        return self.layers(observations)


def _module(layer: Mapping[str, Any], shape: tuple[int, ...]) -> nn.Module:
    kind = layer["layer"]
    if kind == "linear":
        return nn.Linear(shape[-1], layer["size"])
    if kind == "flatten":
        return nn.Flatten()
    if kind == "conv":
        return nn.Conv2d(shape[0], layer["channels"], layer["kernel"], layer["stride"], layer["padding"])
    return ACTIVATIONS[kind]()


FEATURES: Mapping[str, type[BaseFeaturesExtractor]] = {
    "flatten": FlattenExtractor,
    "nature_cnn": NatureCNN,
    "combined": CombinedExtractor,
    DESCRIBED: DescribedExtractor,
}


def arguments_of(network: Network) -> dict[str, Any]:
    """Return ``policy_kwargs`` for the library."""
    options = dict(network.options)
    extractor = {name: options.pop(name) for name in _OF_FEATURES if name in options}
    found: dict[str, Any] = {**options, "features_extractor_class": FEATURES[network.features]}
    if network.layers:
        extractor = {"layers": list(network.layers)}
    if extractor:
        found["features_extractor_kwargs"] = extractor
    if network.net_arch is not None:
        found["net_arch"] = _copy(network.net_arch)
    if network.activation:
        found["activation_fn"] = ACTIVATIONS[network.activation]
    return found


def build(network: Network) -> Any:
    """Build the library's policy object; its weights must still be loaded.

    Raises:
        ValueError: The library cannot build the network.
    """
    arguments = arguments_of(network)
    if "actor_critic" in network.family:
        arguments["ortho_init"] = False  # initial weights would take time and are replaced by the loaded ones
    spaces = [gymnasium_spaces.build(s) for s in (network.observation_space, network.action_space)]
    # The library draws initial weights from the process-wide generator, whose state a training must preserve.
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            policy = load(FAMILIES[network.family])(
                *spaces, lr_schedule=_no_schedule, optimizer_class=_no_optimizer, **arguments
            )
        except (AssertionError, TypeError, ValueError, RuntimeError, NotImplementedError) as error:
            raise ValueError(f"its network cannot be built ({' '.join(str(error).split())})") from error
    policy.set_training_mode(False)
    return policy


def tensors_of(policy: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers by name; a shared one only under its first name."""
    return {**dict(policy.named_parameters()), **dict(policy.named_buffers())}


def load_weights(policy: nn.Module, given: Mapping[str, Tensor | NDArray[Any]]) -> None:
    """Load all weights into a policy.

    Shared parts may be given by any of their names, or by several with the same values.

    Raises:
        ValueError: A weight is missing, unknown, of another shape or not finite; the message names it.
    """
    places = dict(policy.named_parameters(remove_duplicate=False))
    places |= dict(policy.named_buffers(remove_duplicate=False))
    filled: dict[int, str] = {}
    for name, weights in given.items():
        tensor, place = torch.as_tensor(weights), places.get(name)
        if place is None:
            raise ValueError(f"the weights contain {name}, which the network does not have")
        if tensor.shape != place.shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)} where {tuple(place.shape)} is needed")
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} contains numbers that are not finite")
        with torch.no_grad():
            place.copy_(tensor)
        filled[id(place)] = name
    for name, place in places.items():
        if id(place) not in filled:
            raise ValueError(f"the weights lack {name}, of shape {tuple(place.shape)}")


def _no_schedule(_: float) -> float:
    return 0.0


def _no_optimizer(*_: Any, **__: Any) -> None:
    """Make no optimizer: loaded weights need none, and the first optimizer of a process imports torch's
    compiler.
    """


def _copy(net_arch: Any) -> Any:
    if isinstance(net_arch, dict):
        return {part: list(widths) for part, widths in cast("dict[str, Any]", net_arch).items()}
    return list(net_arch)
