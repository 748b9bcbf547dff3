"""Slots and teams of an environment, against which an operator's configuration is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gym_gui.controllers.engine.appearing_agents import kinds_of_agents, slots_of_patterns
from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ExperimentError, UsageError
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo


@dataclass(frozen=True)
class EnvironmentSeats:
    """Slots, teams and seat names of an environment.

    Attributes:
        env_id: Canonical id of the environment.
        package: Import name of the package that provides the environment.
        slots: Spaces of each slot. If agents may appear that cannot be named beforehand, these are the
            slots that an operator names, or one slot for each kind of agents.
        teams: Agents of each team.
        seat_names: The game's own name of a seat, by agent. Agents whose seat has no name are left out.
        open_ended: Whether agents may appear that cannot be named beforehand.
    """

    env_id: str
    package: str
    slots: Mapping[AgentID, SlotInfo]
    teams: Mapping[str, tuple[AgentID, ...]]
    seat_names: Mapping[AgentID, str]
    open_ended: bool


SeatsOf = Callable[[OperatorConfig], EnvironmentSeats]
"""Reads the slots and teams of an operator's environment. Raises UsageError if the environment is unknown,
not installed, not allowed or cannot be made, or if no agent of a slot appears."""


def slots_in(environment: Environment, named: Iterable[AgentID] = ()) -> dict[AgentID, SlotInfo]:
    """Return spaces and action names of an environment's agents, by slot.

    Args:
        environment: Plays a few episodes of random actions if its agents cannot be named beforehand.
        named: Slots of the operator (names and patterns) for such an environment. If empty, each kind of
            its agents becomes one slot.

    Raises:
        ExperimentError: No agent of a slot has appeared, or an agent has no slot.
    """
    if not environment.adapter.is_open_ended:
        return read_slots(environment)
    wanted = list(named)
    return slots_of_patterns(environment, wanted) if wanted else kinds_of_agents(environment)


def of_operator(config: OperatorConfig, error: UsageError) -> ExperimentError:
    """Return an error about an operator's slots with the operator's id added to the message."""
    return ExperimentError(f"operator {config.operator_id!r}: {error.message}", fix=error.fix)
