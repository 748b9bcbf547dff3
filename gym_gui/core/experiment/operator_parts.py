"""Checks parts of an operator: players, link groups and teams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment, refuse_repeats
from gym_gui.core.validation import (
    ConfigError,
    key_place,
    mapping,
    nearest,
    sequence,
    shown,
    text,
)

_T = TypeVar("_T")


def instances_of(value: object, kind: type[_T], where: str) -> tuple[_T, ...]:
    """Return ``value`` as a tuple after a check that all items are of one class.

    Raises:
        ConfigError: An item is of another class.
    """
    items = sequence(value, where)
    for i, item in enumerate(items):
        if not isinstance(item, kind):
            raise ConfigError(f"must be a {kind.__name__}, not {shown(item)}", where=f"{where}[{i}]")
    return tuple(cast("list[_T]", items))


def assignments_of(value: object) -> dict[str, WorkerAssignment]:
    """Return the player of each agent.

    Raises:
        ConfigError: ``value`` is not a mapping of assignments.
    """
    result: dict[str, WorkerAssignment] = {}
    for agent, player in mapping(value, "").items():
        place = key_place(agent)
        if not isinstance(player, WorkerAssignment):
            raise ConfigError(f"must be a WorkerAssignment, not {shown(player)}", where=place)
        result[text(agent, place, max_length=128)] = player
    return result


def link_groups_of(value: object) -> tuple[LinkGroup, ...]:
    """Return the checked link groups.

    Raises:
        ConfigError: A group id or an agent occurs twice.
    """
    groups = instances_of(value, LinkGroup, "")
    refuse_repeats([group.group_id for group in groups], "")
    refuse_repeats([agent for group in groups for agent in group.agents], "")
    return groups


def teams_of(value: object) -> dict[str, tuple[str, ...]]:
    """Return the agents of each team.

    Raises:
        ConfigError: A team has no agent, or an agent belongs to two teams.
    """
    teams: dict[str, tuple[str, ...]] = {}
    for team, members in mapping(value, "").items():
        place = key_place(team)
        text(team, place, max_length=64)
        agents = tuple(text(agent, f"{place}[{i}]") for i, agent in enumerate(sequence(members, place)))
        if not agents:
            raise ConfigError("must name at least one agent", where=place)
        teams[team] = agents
    refuse_repeats([agent for members in teams.values() for agent in members], "")
    return teams


def check_agent(agent: str, known: Iterable[str], where: str) -> None:
    """Refuse an agent that no slot has.

    Raises:
        ConfigError: There is no such slot; the message suggests the nearest name.
    """
    names = tuple(known)
    if agent not in names:
        raise ConfigError(f"no slot is called {shown(agent)}", where=where, fix=nearest(agent, names))
