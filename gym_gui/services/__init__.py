"""Services of the engine. Each public name is imported on first use, so that importing one service does not
load the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.lazy_imports import lazy_names

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

__getattr__ = lazy_names(
    __name__,
    {
        "actor": ("Actor", "ActorService"),
        "policy_mapping": ("AgentPolicyBinding", "PolicyMappingService"),
        "operator": ("MultiOperatorService", "OperatorService"),
        "bootstrap": ("Services", "bootstrap_default_services"),
        "worker_orchestrator": ("UnifiedRunConfig", "WorkerOrchestrator"),
        "worker_registry": ("WorkerTypeDefinition", "WorkerTypeRegistry"),
    },
)
