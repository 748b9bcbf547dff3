"""The networks that learn, of a description: what plays is held against them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from cleanrl_worker.architecture import Architecture, Encoding, widths
from cleanrl_worker.heads import head_of
from cleanrl_worker.network import ActorCritic, RecurrentActorCritic
from cleanrl_worker.off_policy_networks import ActionValues, ActorAndCritics
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.network_policy import read_weights


def network_of(description: PolicyDescription) -> Any:
    """The network that a description asks for, its weights unset."""
    network, shown, acts = description.network, description.shown_space, description.action_space
    kind = str(network["type"])
    if "q_network" in kind:
        encoding, hidden = Encoding.from_json(network["encoder"]), widths(network["hidden"])
        return ActionValues(encoding, hidden, acts.n, network.get("atoms", 1))
    if kind in ("gaussian_actor", "deterministic_actor"):
        return ActorAndCritics(
            Encoding.from_json(network["encoder"]),
            math.prod(acts.shape),
            widths(network["hidden"]),
            gaussian=kind == "gaussian_actor",
            critics=network["critics"],
        )
    head, plain = head_of(acts), Encoding("mlp", tuple(shown.shape))
    encoding = Encoding.from_json(network["encoder"]) if "encoder" in network else plain
    architecture = Architecture.from_json(network, encoding, head.outputs, head.continuous)
    return RecurrentActorCritic(architecture) if architecture.lstm_size else ActorCritic(architecture)


def network_in(folder: Any) -> nn.Module:
    """The network of a checkpoint, its weights in place."""
    description, arrays = read_weights(folder)
    module = network_of(description)
    module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    return module
