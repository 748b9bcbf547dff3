"""Plays all agents of a joint policy as one player."""

from __future__ import annotations

from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, TypeVar

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.playing.checkpoint_worker import CheckpointPolicy, Choices, Draws

_Policy = TypeVar("_Policy", bound=CheckpointPolicy)


class JointPolicy(Generic[_Policy]):
    """Policies of all agents in an environment like :class:`mosaic_worker.learning.joint_env.JointEnv`.

    Args:
        description: Description of the joint policy.
        load: Makes the policy of one agent from the description of its part.

    Attributes:
        policies: Policy by agent.
        memory: Total size of the memories of all agents.
    """

    def __init__(self, description: PolicyDescription, load: Callable[[PolicyDescription], _Policy]) -> None:
        self.description = description
        self.policies: Mapping[str, _Policy] = {
            agent: load(description.part_of(agent)) for agent in description.agents
        }
        self.memory = sum(policy.memory for policy in self.policies.values())

    def choose(
        self,
        observations: Any,
        masks: Optional[NDArray[np.bool_]] = None,
        draws: Optional[Draws] = None,
        memory: Optional[NDArray[np.float32]] = None,
    ) -> Choices:
        """Choose actions for every agent.

        Args:
            observations: Arrays (N, …) by agent.
            masks: bool (N, agents, actions); the last axis has the size of the largest action space.
            draws: Ignored; all agents play their most likely actions.
            memory: float32 (N, memory), the memories of the agents one after the other.

        Returns:
            Choices whose ``actions`` are N dicts of actions by agent.
        """
        rows, at = len(next(iter(observations.values()))), 0
        made: Dict[str, Choices] = {}
        for i, (agent, policy) in enumerate(self.policies.items()):
            space = policy.description.action_space
            legal = masks[:, i, : space.n] if masks is not None and space.kind == "Discrete" else None
            before = None if memory is None or not policy.memory else memory[:, at : at + policy.memory]
            made[agent] = policy.choose(observations[agent], legal, memory=before)
            at += policy.memory
        actions: NDArray[Any] = np.empty(rows, object)
        actions[:] = [{agent: choices.actions[i] for agent, choices in made.items()} for i in range(rows)]
        ok = np.logical_and.reduce([choices.ok for choices in made.values()])
        kept: List[Any] = [choices.memory for choices in made.values() if choices.memory is not None]
        return Choices(actions, None, ok, np.concatenate(kept, axis=1) if kept else None)
