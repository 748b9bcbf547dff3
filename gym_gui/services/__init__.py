"""Services of the engine. Public names are handed out on first use, so that importing
one service does not load the others."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gym_gui.services.actor import Actor, ActorService
    from gym_gui.services.bootstrap import Services, bootstrap_default_services
    from gym_gui.services.operator import MultiOperatorService, OperatorService
    from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService
    from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
    from gym_gui.services.worker_registry import WorkerTypeDefinition, WorkerTypeRegistry

__all__ = [
    "Actor",
    "ActorService",
    "AgentPolicyBinding",
    "MultiOperatorService",
    "OperatorService",
    "PolicyMappingService",
    "Services",
    "UnifiedRunConfig",
    "WorkerOrchestrator",
    "WorkerTypeDefinition",
    "WorkerTypeRegistry",
    "bootstrap_default_services",
]

_HOME = {
    "Actor": "actor",
    "ActorService": "actor",
    "AgentPolicyBinding": "policy_mapping",
    "MultiOperatorService": "operator",
    "OperatorService": "operator",
    "PolicyMappingService": "policy_mapping",
    "Services": "bootstrap",
    "UnifiedRunConfig": "worker_orchestrator",
    "WorkerOrchestrator": "worker_orchestrator",
    "WorkerTypeDefinition": "worker_registry",
    "WorkerTypeRegistry": "worker_registry",
    "bootstrap_default_services": "bootstrap",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
