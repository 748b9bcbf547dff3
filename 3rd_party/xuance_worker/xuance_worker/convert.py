"""Extracts the acting networks from XuanCe's weights, which also contain critics, mixers and target
networks.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from mosaic_worker.learning.torch_weights import copies
from xuance_worker.algorithms import Acting
from xuance_worker.network import Network
from xuance_worker.plan import Plan


def network_of(acting: Acting, library_settings: Mapping[str, Any], plan: Plan, key: str) -> Network:
    """Describe the network of an agent.

    Args:
        acting: Acting part of the policy.
        told: Settings of the library by name.
        plan: Agents with their spaces.
        key: Name under which the library stores the network.

    Raises:
        ValueError: This worker cannot build a network of this kind.
    """
    space, remembers = plan.does[key], bool(library_settings.get("use_rnn"))
    representation = str(library_settings["representation"])
    known = {"Basic_RNN": "fc_hidden_sizes", "Basic_MLP": "representation_hidden_size", "Basic_Identical": ""}
    if representation not in known or remembers != (representation == "Basic_RNN"):
        raise ValueError(f"its representation is {representation}, but only MLP and RNN are supported")
    normalize = library_settings.get("normalize") or ""
    if normalize not in ("", "LayerNorm"):
        raise ValueError(f"it normalizes with {normalize}, but only LayerNorm is supported")
    if (
        remembers
        and library_settings.get("dropout")
        and int(library_settings.get("N_recurrent_layers", 1)) > 1
    ):
        raise ValueError("its recurrent layer uses dropout, also while it plays")
    made = Network(
        kind=acting.kind,  # type: ignore[arg-type]
        inputs=plan.sizes[key],
        outputs=int(space.n) if hasattr(space, "n") else int(space.shape[0]),
        agents=len(plan.agents) if plan.shared else 0,
        representation=tuple(library_settings.get(known[representation]) or ()),
        head=tuple(
            library_settings["q_hidden_size" if acting.kind == "values" else "actor_hidden_size"] or ()
        ),
        activation=str(library_settings["activation"]),
        layer_norm=bool(normalize),
        cell=str(library_settings["rnn"]) if remembers else "",
        memory=int(library_settings["recurrent_hidden_size"]) if remembers else 0,
        memory_layers=int(library_settings.get("N_recurrent_layers", 1)) if remembers else 1,
        bound=plan.bounded,
        scaled=plan.scaled,
    )
    made.check()
    return made


def acting_weights(acting: Acting, weights: Mapping[str, Tensor], key: str) -> dict[str, Tensor]:
    """Return the weights with which an agent acts, by this worker's names."""
    found: dict[str, Tensor] = {}
    for theirs, ours in ((acting.representation, "representation"), (acting.head, "head")):
        start = f"{theirs}.{key}."
        found |= {f"{ours}.{name[len(start) :]}": t for name, t in weights.items() if name.startswith(start)}
    return found


def playing_weights(acting: Acting, weights: Mapping[str, Tensor], plan: Plan) -> dict[str, Tensor]:
    """Return the weights of all acting networks, by their names in this worker's file."""
    return copies(
        {
            f"{plan.prefix_of(key)}{name}": tensor
            for key in plan.keys
            for name, tensor in acting_weights(acting, weights, key).items()
        }
    )
