"""Parts of an operator as they were written, checked: players, link groups, teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment, refuse_repeats
from gym_gui.core.validation import (
    ConfigError,
    join,
    key_place,
    mapping,
    nearest,
    sequence,
    shown,
    text,
)

_T = TypeVar("_T")


def instances_of(value: object, kind: type[_T], where: str) -> tuple[_T, ...]:
    """``value`` as a tuple of what all has to be of one class.

    Raises:
        ConfigError: Something in it is not.
    """
    items = sequence(value, where)
    for i, item in enumerate(items):
        if not isinstance(item, kind):
            raise ConfigError(f"must be a {kind.__name__}, not {shown(item)}", where=f"{where}[{i}]")
    return tuple(cast("list[_T]", items))


def assignments_of(value: object, where: str) -> dict[str, WorkerAssignment]:
    """Who plays each agent.

    Raises:
        ConfigError: It is no mapping of assignments.
    """
    result: dict[str, WorkerAssignment] = {}
    for agent, player in mapping(value, where).items():
        place = join(where, key_place(agent))
        if not isinstance(player, WorkerAssignment):
            raise ConfigError(f"must be a WorkerAssignment, not {shown(player)}", where=place)
        result[text(agent, place, max_length=128)] = player
    return result


def link_groups_of(value: object, rename: Mapping[str, str]) -> tuple[LinkGroup, ...]:
    """Link groups, their agents named as in ``rename``.

    Raises:
        ConfigError: An id or an agent is there twice.
    """
    groups = instances_of(value, LinkGroup, "link_groups")
    refuse_repeats([group.group_id for group in groups], "link_groups")
    refuse_repeats([agent for group in groups for agent in group.agents], "link_groups")
    return tuple(
        replace(
            group,
            primary_agent=rename.get(group.primary_agent, group.primary_agent),
            linked_agents=tuple(rename.get(agent, agent) for agent in group.linked_agents),
        )
        for group in groups
    )


def teams_of(value: object, rename: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Agents of each team, named as in ``rename``.

    Raises:
        ConfigError: A team has nobody, or an agent two teams.
    """
    teams: dict[str, tuple[str, ...]] = {}
    for team, members in mapping(value, "teams").items():
        place = join("teams", key_place(team))
        text(team, place, max_length=64)
        agents = [text(agent, f"{place}[{i}]") for i, agent in enumerate(sequence(members, place))]
        if not agents:
            raise ConfigError("must name at least one agent", where=place)
        teams[team] = tuple(rename.get(agent, agent) for agent in agents)
    refuse_repeats([agent for members in teams.values() for agent in members], "teams")
    return teams


def check_agent(agent: str, known: Iterable[str], where: str) -> None:
    """Refuse an agent that no slot has.

    Raises:
        ConfigError: With the nearest name.
    """
    names = tuple(known)
    if agent not in names:
        raise ConfigError(f"no slot is called {shown(agent)}", where=where, fix=nearest(agent, names))
