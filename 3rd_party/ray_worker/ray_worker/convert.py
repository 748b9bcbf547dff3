"""RLlib's modules as networks of :mod:`ray_worker.network`, layer by layer."""

# Ray is not among what the checks install.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import nn

from ray_worker.network import ChannelsFirst, ChannelsLast, Layers, Module, Network, describe_layers

MODULES = {
    "DefaultPPOTorchRLModule": "ppo",
    "DefaultAPPOTorchRLModule": "appo",
    "IMPALATorchRLModule": "impala",
    "DefaultDQNTorchRLModule": "dqn",
    "DefaultSACTorchRLModule": "sac",
}
"""RLlib's own modules, and the algorithm each is of."""


class NotConvertible(ValueError):
    """A module that is not one of RLlib's own, or has a part that is not known; says which."""


class _Part(NamedTuple):
    told: Layers
    modules: Sequence[nn.Module]


_NOTHING = _Part((), ())


def convert(module: Any, action_space: Any, *, epsilon: float = 0.0, scaling: str = "unsquash") -> Module:
    """The same network, without RLlib.

    Args:
        module: RLlib's.
        action_space: Gymnasium space, counted from zero.
        epsilon: Share of random actions where actions are drawn from values.
        scaling: See :class:`ray_worker.network.Network`.

    Raises:
        NotConvertible: It has a part that is not known here.
    """
    kind = next((name for name in (cls.__name__ for cls in type(module).__mro__) if name in MODULES), "")
    trunk, value_trunk, value_head = _NOTHING, _NOTHING, _NOTHING
    options: dict[str, Any] = {}
    if kind == "DefaultSACTorchRLModule":
        outputs, trunk, head_of = "squashed", _part(module.pi_encoder, "pi_encoder"), module.pi
    elif kind == "DefaultDQNTorchRLModule":
        if int(module.num_atoms) != 1:
            raise NotConvertible(
                f"it learns a distribution of {module.num_atoms} atoms; only values are known here"
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
        raise NotConvertible(f"it is a {type(module).__name__}, and only RLlib's own are known here: {known}")
    head = _part(head_of, "pi")
    if hasattr(head_of, "log_std"):
        options["log_std"] = int(head_of.log_std.numel())
    if outputs in ("gaussian", "squashed") and getattr(head_of, "clip_log_std", False):
        options["log_std_clip"] = float(head_of.log_std_clip_param_const.item())
    network = Network(
        outputs, trunk.told, head.told, value_trunk.told, value_head.told, scaling=scaling, **options
    )
    made = Module(network)
    for ours, theirs in (
        (made.trunk, trunk),
        (made.head, head),
        (made.value_trunk, value_trunk),
        (made.value_head, value_head),
    ):
        for mine, its in zip(ours, theirs.modules, strict=True):
            mine.load_state_dict(its.state_dict())
    if network.log_std:
        made.log_std.data.copy_(head_of.log_std.detach().cpu())
    made.eval()
    return made


def _part(model: Any, name: str) -> _Part:
    """Layers of an encoder or a head."""
    try:
        told, modules = describe_layers(list(_layers(model.net)))
    except (AttributeError, ValueError) as error:
        raise NotConvertible(f"its {name} is not known here: {error}") from error
    return _Part(tuple(told), modules)


def _layers(net: Any) -> Sequence[nn.Module]:
    if hasattr(net, "mlp"):
        return list(net.mlp)
    if hasattr(net, "cnn"):
        return [ChannelsFirst(), *net.cnn, ChannelsLast()]
    if isinstance(net, nn.Sequential):
        return [layer for each in net for layer in _layers(each)]
    return [net]
