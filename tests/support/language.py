"""The match of RL, a language model and random play that the design shows, with a policy to play it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.controllers.engine.resolved_operator import make_environment
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.services.operator import WorkerAssignment

CHECKPOINT = "mappo_1v1.pt"
EXAMPLE = """
# Heterogeneous team: RL + LLM in 2v2 soccer
config = OperatorConfig.multi_agent(
    operator_id="heterogeneous_team",
    display_name="RL + LLM Heterogeneous vs RL + Random",
    env_name="multigrid",
    task="MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0",
    player_workers={
        # Green team: heterogeneous (RL + LLM)
        "green_0": WorkerAssignment(
            worker_id="cleanrl_worker",
            worker_type="rl",
            settings={"algorithm": "ppo", "checkpoint": "mappo_1v1.pt"},
        ),
        "green_1": WorkerAssignment(
            worker_id="mosaic_llm_worker",
            worker_type="llm",
            settings={
                "client_name": "openrouter",
                "model_id": "gpt-4o",
                "temperature": 0,
                "coordination_level": 2,
                "observation_mode": "visible_teammates",
            },
        ),
        # Blue team: crippled baseline (RL + Random)
        "blue_0": WorkerAssignment(
            worker_id="cleanrl_worker",
            worker_type="rl",
            settings={"algorithm": "ppo", "checkpoint": "mappo_1v1.pt"},
        ),
        "blue_1": WorkerAssignment(
            worker_id="operators_worker",
            worker_type="baseline",
            settings={},
        ),
    },
)
"""
"""As design/heterogeneous_decision_makers.rst has it, word for word."""
LLM = "green_1"


def example() -> OperatorConfig:
    """The operator that the example makes."""
    names: dict[str, Any] = {"OperatorConfig": OperatorConfig, "WorkerAssignment": WorkerAssignment}
    exec(EXAMPLE, names)
    config = names["config"]
    assert isinstance(config, OperatorConfig)
    return config


def soccer_policy(folder: Path) -> Path:
    """A checkpoint of cleanrl_worker that plays an agent of the example, not yet trained."""
    torch: Any = importlib.import_module("torch")
    import safetensors.torch

    from cleanrl_worker.architecture import Architecture, Encoding
    from cleanrl_worker.network import ActorCritic
    from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
    from mosaic_worker.preprocessing import Pipeline

    environment = make_environment(example())
    slot = read_slots(environment)["green_0"]
    environment.close()
    steps = ({"step": "select", "key": "image"}, {"step": "flatten"}, {"step": "dtype", "dtype": "float32"})
    description = PolicyDescription(
        "cleanrl_worker",
        "ppo",
        environment.spec.id,
        to_space(slot.observation_space),
        to_space(slot.action_space),
        {"type": "mlp", "hidden": [16], "activation": "tanh"},
        steps,
        to_space(Pipeline(steps, slot.observation_space).input_space),
    )
    seen, acts = description.shown_space, description.action_space
    module = ActorCritic(Architecture(Encoding("mlp", seen.shape), acts.n, hidden=(16,)))
    module.initialise(torch.Generator().manual_seed(1))
    save_checkpoint(folder, description, safetensors.torch.save(module.state_dict()))
    return folder


def match(
    checkpoint: Path, server: Mapping[str, Any], *, on_invalid: Any = "error", **execution: Any
) -> Experiment:
    """The example's match, with a checkpoint that is there and a server that can be asked.

    Args:
        checkpoint: Instead of the example's.
        server: Settings of the language model's slot beside the example's own.
        on_invalid: What follows a reply that cannot be played.
        execution: How it is run.
    """
    operator = example()

    def player(agent: AgentID, assignment: WorkerAssignment) -> WorkerAssignment:
        settings = dict(assignment.settings)
        if settings.get("checkpoint") == CHECKPOINT:
            settings["checkpoint"] = str(checkpoint)
        if agent != LLM:
            return WorkerAssignment(assignment.worker_id, assignment.worker_type, settings)
        settings |= server
        return WorkerAssignment(assignment.worker_id, assignment.worker_type, settings, on_invalid=on_invalid)

    config = OperatorConfig.multi_agent(
        operator_id=operator.operator_id,
        display_name=operator.display_name,
        env_name=operator.env_name,
        task=operator.task,
        player_workers={agent: player(agent, a) for agent, a in operator.workers.items()},
    )
    return Experiment([config], ExecutionConfig(**execution))
