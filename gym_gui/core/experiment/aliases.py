"""All alternative spellings that experiment files and configurations accept.

In each table the key is what people write and the value is what is stored. An entry does not mean that a
worker exists; only the registry knows that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gym_gui.core.enums import WorkerKind

WORKER_IDS: Final = {
    "cleanrl": "cleanrl_worker",
    "rllib": "ray_worker",
    "sb3": "sb3_worker",
    "llm_worker": "mosaic_llm_worker",
    "barlog_worker": "balrog_worker",
    "operators": "operators_worker",
    "random_worker": "operators_worker",
    "passive_worker": "operators_worker",
    "pettingzoo_worker": "operators_worker",
}

TYPES: Final = {"random": WorkerKind.BASELINE.value, "passive": WorkerKind.BASELINE.value}

BEHAVIORS: Final = {
    "random": "random",
    "random_worker": "random",
    "passive": "noop",
    "passive_worker": "noop",
    "pettingzoo_worker": "random",
}
"""For some types and worker ids: the ``behavior`` setting of ``operators_worker`` that they stand for."""

DEFAULT_WORKERS: Final = {
    WorkerKind.RL.value: "cleanrl_worker",
    WorkerKind.BASELINE.value: "operators_worker",
    WorkerKind.HUMAN.value: "human_worker",
    WorkerKind.LLM.value: "mosaic_llm_worker",
    WorkerKind.VLM.value: "vlm_worker",
    WorkerKind.BDI.value: "spade_bdi_worker",
}
"""For each type: the worker that plays if the slot names no worker."""

WORKER_TYPES: Final = {
    **{worker: kind for kind, worker in DEFAULT_WORKERS.items()},
    "ray_worker": WorkerKind.RL.value,
    "sb3_worker": WorkerKind.RL.value,
    "xuance_worker": WorkerKind.RL.value,
    "balrog_worker": WorkerKind.LLM.value,
    "chess_worker": WorkerKind.LLM.value,
    "mujoco_mpc_worker": WorkerKind.PLANNER.value,
    "test_worker": WorkerKind.BASELINE.value,
}
"""For each worker: its type, for slots that name only the worker."""

NO_WORKERS: Final = {
    "shimmy_worker": (
        "Shimmy's conversions are environments in MOSAIC: name one as task, such as open_spiel/tic_tac_toe"
    ),
    "supersuit_worker": (
        "In place of SuperSuit, use the slot's `preprocess`, with any worker: docs/preprocessing.md"
    ),
    "vizdoom_worker": "ViZDoom's scenarios are environments in MOSAIC: name one as task",
    "airsim_worker": (
        "AirSim's drones and cars are environments that any worker can steer: name airsim/Drone-v0 or "
        "airsim/Car-v0 as task (docs/simulators.md)"
    ),
    "unreal_map_worker": (
        "Unreal's maps are environments that any worker can walk: name unreal/Map-v0 as task "
        "(docs/simulators.md)"
    ),
}
"""Advice by name, for workers of the design documents that MOSAIC does not have."""

_kinds: list[Callable[[str], str]] = []


def kinds_by(find: Callable[[str], str]) -> None:
    """Register a function that returns the kind of workers that :data:`WORKER_TYPES` does not contain.

    Args:
        find: Returns the kind for a worker's id or alias; empty if it knows no such worker.
    """
    _kinds[:] = [find]


def kind_of(worker: str) -> str:
    """Return the type of a worker, for slots that name only the worker; empty if it is unknown."""
    return WORKER_TYPES.get(worker, "") or next((kind for find in _kinds if (kind := find(worker))), "")


_defaults: list[Callable[[str, str], str]] = []


def defaults_by(find: Callable[[str, str], str]) -> None:
    """Register a function that chooses the worker for types whose workers each fit certain environments.

    Args:
        find: Returns a worker for a type and an environment; empty if no worker of the type is made for it.
    """
    _defaults[:] = [find]


def default_worker(kind: str, task: str) -> str:
    """Return the worker that plays a type in an environment if none is named; empty if there is none."""
    usual = DEFAULT_WORKERS.get(kind, "")
    if usual or kind not in tuple(WorkerKind):
        return usual
    return next((worker for find in _defaults if (worker := find(kind, task))), "")


def numbered(agents: Iterable[str], slots: Sequence[str]) -> dict[str, str]:
    """Map the slot names of older scripts, ``agent_0``, ``agent_1``, …, to the environment's slots in order.

    Args:
        agents: Names that an operator uses.
        slots: The environment's own slots, in its order.

    Returns:
        Slot by older name; empty if one of the names is the environment's own or no such number.
    """
    older = {f"agent_{i}": slot for i, slot in enumerate(slots)}
    named = list(agents)
    fits = named and all(agent in older for agent in named) and not set(named) & set(slots)
    return {agent: older[agent] for agent in named} if fits else {}


SETTINGS: Final = {"policy_path": "checkpoint", "model_path": "checkpoint"}

INLINE_SETTINGS: Final = frozenset(
    {
        *("algorithm", "checkpoint", "policy_path", "model_path", "seed"),
        *("behavior", "script", "key_bindings"),
        *("client_name", "provider", "model_id", "model", "base_url", "api_key"),
        *("temperature", "max_tokens", "coordination_level", "observation_mode", "role"),
        *("agent_strategy", "agent_type", "strategy"),
    }
)
"""Settings that a file may write directly in a slot; all others belong under ``settings``."""
