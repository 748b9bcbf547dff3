"""What resolving an operator needs to know of its environment: who can sit where."""

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
    """Who can sit where in an environment.

    Attributes:
        env_id: Canonical id.
        package: Import name of the package it comes from.
        slots: What each slot sees and does. Where agents appear that cannot be named beforehand, those that
            an operator names, or one for each kind of agents.
        teams: Agents of each team.
        seat_names: What the game calls seats, by agent that it has a name for.
        open_ended: Whether agents appear that cannot be named beforehand.
    """

    env_id: str
    package: str
    slots: Mapping[AgentID, SlotInfo]
    teams: Mapping[str, tuple[AgentID, ...]]
    seat_names: Mapping[AgentID, str]
    open_ended: bool


SeatsOf = Callable[[OperatorConfig], EnvironmentSeats]
"""Looks at an operator's environment. Raises UsageError where it is unknown, not installed, not allowed, or
cannot be made, and where no agent of a slot appears."""


def slots_in(environment: Environment, named: Iterable[AgentID] = ()) -> dict[AgentID, SlotInfo]:
    """The slots of an environment.

    Args:
        environment: It is played a little at random where its agents cannot be named beforehand.
        named: An operator's slots, names and patterns, for such an environment; without them each slot is
            one kind of its agents.

    Raises:
        ExperimentError: No agent of a slot has appeared, or one has no slot.
    """
    if not environment.adapter.is_open_ended:
        return read_slots(environment)
    wanted = list(named)
    return slots_of_patterns(environment, wanted) if wanted else kinds_of_agents(environment)


def of_operator(config: OperatorConfig, error: UsageError) -> ExperimentError:
    """What is wrong with the slots of an operator, said of it."""
    return ExperimentError(f"operator {config.operator_id!r}: {error.message}", fix=error.fix)
