"""Small policies of teams, their weights drawn, as trainings and imports write them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.playing.layers import parameter_shapes
from xuance_worker.algorithms import ALGORITHMS
from xuance_worker.convert import network_of, playing_weights
from xuance_worker.network import PlayingNetwork
from xuance_worker.plan import Plan, plan_for


def told(plan: Plan, **more: Any) -> dict[str, Any]:
    """What the library would have been told."""
    return {
        "representation": "Basic_RNN" if more.get("use_rnn") else "Basic_MLP",
        "representation_hidden_size": [16],
        "fc_hidden_sizes": [16],
        "recurrent_hidden_size": 8,
        "rnn": "GRU",
        "activation": "relu",
        "actor_hidden_size": [12],
        "q_hidden_size": [12],
        **more,
    }


def library_weights(algorithm: str, plan: Plan, **more: Any) -> dict[str, Tensor]:
    """Weights as the library names them, critics beside what acts."""
    acting = ALGORITHMS[algorithm].acting["continuous" if plan.bounded else "discrete"]
    generator = torch.Generator().manual_seed(3)
    found: dict[str, Tensor] = {"critic.left_0.model.0.weight": torch.zeros(3, 3)}
    for key in plan.keys:
        network = network_of(acting, told(plan, **more), plan, key)
        for name, shape in parameter_shapes(partial(PlayingNetwork, network)).items():
            part, _, rest = name.partition(".")
            theirs = acting.representation if part == "representation" else acting.head
            found[f"{theirs}.{key}.{rest}"] = torch.randn(shape, generator=generator) * 1.5
    return found


def keep(folder: Path, algorithm: str, env_id: str, *, share: bool | None = None, **more: Any) -> Plan:
    """Write a policy."""
    found = ALGORITHMS[algorithm]
    config = found.config_class(env_id=env_id, use_parameter_sharing=share)
    plan = plan_for(found, config)
    acting = found.acting["continuous" if plan.bounded else "discrete"]
    weights = playing_weights(acting, library_weights(algorithm, plan, **more), plan)
    networks = {key: network_of(acting, told(plan, **more), plan, key) for key in plan.keys}
    description = PolicyDescription.joint(
        [plan.part(agent, networks[plan.key_of(agent)], None) for agent in plan.agents],
        worker="xuance_worker",
        algorithm=algorithm,
        env_id=env_id,
    )
    save_checkpoint(folder, description, safetensors.torch.save(weights))
    return plan
