"""Converts RLlib's modules, layer by layer, to networks of :mod:`ray_worker.network`."""

# Ray is not among the packages that the checks install.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from mosaic_worker.learning.torch_weights import copies
from ray_worker.network import LayerSpecs, Network

MODULES = {
    "DefaultPPOTorchRLModule": "ppo",
    "DefaultAPPOTorchRLModule": "appo",
    "IMPALATorchRLModule": "impala",
    "DefaultDQNTorchRLModule": "dqn",
    "DefaultSACTorchRLModule": "sac",
}
"""Modules of RLlib that can be converted, with the algorithm of each."""


class NotConvertible(ValueError):
    """A module is not RLlib's own or has an unknown part; the message says which."""


class _Part(NamedTuple):
    told: LayerSpecs
    modules: Sequence[nn.Module]


_NOTHING = _Part((), ())
_PLAIN: Mapping[type[nn.Module], str] = {
    nn.ReLU: "relu",
    nn.Tanh: "tanh",
    nn.ELU: "elu",
    nn.SiLU: "silu",
    nn.Sigmoid: "sigmoid",
}


class Converted(NamedTuple):
    """A network that needs no RLlib.

    Attributes:
        network: Description of the network.
        weights: Copies of the weights, by name.
    """

    network: Network
    weights: Mapping[str, Tensor]


class ChannelsFirst(nn.Module):
    """Marks the transposition from (N, H, W, C) to (N, C, H, W)."""


class ChannelsLast(nn.Module):
    """Marks the transposition from (N, C, H, W) to (N, H, W, C)."""


def convert(module: Any, action_space: Any, *, epsilon: float = 0.0, scaling: str = "unsquash") -> Converted:
    """Convert a module of RLlib to a network that needs no RLlib.

    Args:
        module: Module of RLlib.
        action_space: Gymnasium space, counted from zero.
        epsilon: Share of random actions when a value-based policy samples.
        scaling: See :class:`ray_worker.network.Network`.

    Raises:
        NotConvertible: The module has an unknown part.
    """
    kind = next((name for name in (cls.__name__ for cls in type(module).__mro__) if name in MODULES), "")
    trunk, value_trunk, value_head = _NOTHING, _NOTHING, _NOTHING
    options: dict[str, Any] = {}
    if kind == "DefaultSACTorchRLModule":
        outputs, trunk, head_of = "squashed", _part(module.pi_encoder, "pi_encoder"), module.pi
    elif kind == "DefaultDQNTorchRLModule":
        if int(module.num_atoms) != 1:
            raise NotConvertible(
                f"it learns a distribution of {module.num_atoms} atoms; only plain values can be converted"
            )
        outputs, trunk, head_of = "values", _part(module.encoder, "encoder"), module.af
        if module.uses_dueling:
            value_head = _part(module.vf, "vf")
        options = {"dueling": bool(module.uses_dueling), "epsilon": epsilon}
    elif kind:
        outputs = "gaussian" if hasattr(action_space, "low") else "categorical"
        encoder, head_of = module.encoder, module.pi
        shared = getattr(encoder, "encoder", None)
        trunk = _part(shared if shared is not None else encoder.actor_encoder, "encoder")
        critic = getattr(encoder, "critic_encoder", None)
        if critic is not None:
            value_trunk = _part(critic, "critic_encoder")
        if (shared is not None or critic is not None) and hasattr(module, "vf"):
            value_head = _part(module.vf, "vf")
    else:
        known = ", ".join(MODULES)
        raise NotConvertible(
            f"it is a {type(module).__name__}, but only RLlib's own modules can be converted: {known}"
        )
    head = _part(head_of, "pi")
    if hasattr(head_of, "log_std"):
        options["log_std"] = int(head_of.log_std.numel())
    if outputs in ("gaussian", "squashed") and getattr(head_of, "clip_log_std", False):
        options["log_std_clip"] = float(head_of.log_std_clip_param_const.item())
    network = Network(
        outputs, trunk.told, head.told, value_trunk.told, value_head.told, scaling=scaling, **options
    )
    parts = {"trunk": trunk, "head": head, "value_trunk": value_trunk, "value_head": value_head}
    weights = {
        f"{name}.{place}.{key}": tensor
        for name, part in parts.items()
        for place, layer in enumerate(part.modules)
        for key, tensor in layer.state_dict().items()
    }
    if network.log_std:
        weights["log_std"] = head_of.log_std
    return Converted(network, copies(weights))


def _part(model: Any, name: str) -> _Part:
    """Describe the layers of an encoder or a head."""
    try:
        told, modules = _described(list(_layers(model.net)))
    except (AttributeError, ValueError) as error:
        raise NotConvertible(f"its {name} cannot be converted: {error}") from error
    return _Part(tuple(told), modules)


def _layers(net: Any) -> Sequence[nn.Module]:
    if hasattr(net, "mlp"):
        return list(net.mlp)
    if hasattr(net, "cnn"):
        return [ChannelsFirst(), *net.cnn, ChannelsLast()]
    if isinstance(net, nn.Sequential):
        return [layer for each in net for layer in _layers(each)]
    return [net]


def _described(modules: Sequence[nn.Module]) -> tuple[list[Mapping[str, Any]], list[nn.Module]]:
    """Return the layers as data, and their modules in the same order.

    Raises:
        ValueError: A layer is unknown.
    """
    told: list[Mapping[str, Any]] = []
    kept: list[nn.Module] = []
    for module in modules:
        if isinstance(module, nn.Identity):
            continue
        if type(module) is nn.Linear:
            layer: dict[str, Any] = {"layer": "linear", "in": module.in_features, "out": module.out_features}
            layer["bias"] = module.bias is not None  # pyright: ignore[reportUnnecessaryComparison]
        elif (
            type(module) is nn.Conv2d
            and module.padding == (0, 0)
            and module.dilation == (1, 1)
            and module.groups == 1
        ):
            layer = {"layer": "conv", "in": module.in_channels, "out": module.out_channels}
            layer |= {"kernel": list(module.kernel_size), "stride": list(module.stride)}
            layer["bias"] = module.bias is not None
        elif type(module) is nn.ZeroPad2d:
            layer = {"layer": "pad", "sides": [int(n) for n in module.padding]}
        elif type(module) is nn.LayerNorm and module.elementwise_affine:
            layer = {"layer": "layer_norm", "shape": list(module.normalized_shape), "eps": module.eps}
        elif type(module) is nn.Flatten and module.start_dim == 1 and module.end_dim == -1:
            layer = {"layer": "flatten"}
        elif isinstance(module, ChannelsFirst | ChannelsLast):
            layer = {"layer": "channels_first" if isinstance(module, ChannelsFirst) else "channels_last"}
        elif type(module) in _PLAIN:
            layer = {"layer": _PLAIN[type(module)]}
        else:
            raise ValueError(f"it has a layer {module!r:.80}, which cannot be converted")
        told.append(layer)
        kept.append(module)
    return told, kept
