"""Determines which operators played the same task, because only these are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gym_gui.analysis.compute.collect import OperatorData
from gym_gui.analysis.compute.games import is_tournament
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.record_fields import mapping

_AGENTS = frozenset(
    {
        *("operator_id", "id", "display_name", "name", "workers", "player_workers", "link_groups", "manager"),
        *("env_name", "task", "folder", "max_steps", "teams", "seats", "group"),
    }
)
"""Keys of an operator's configuration that are no settings of its environment, or that :func:`task_of` reads
separately."""

_UNSET: tuple[Any, ...] = (None, "", {}, [])


@dataclass(frozen=True)
class Task:
    """Environment, settings and opponents of an operator, which decide whether it can be compared.

    Attributes:
        name: Environment id.
        family: The environment's family, empty if the experiment does not name it.
        settings: All other settings of the environment, by key of the experiment file.
        max_steps: Step limit of an episode; ``None`` for the environment's own limit.
        longest: Environment steps of the longest episode.
        teams: Slots by team if teams compete, else empty.
        seats: ``swap`` or ``fixed``; empty if teams do not compete.
        opponents: Worker, policy and settings of each slot of every team but the first. Empty if teams do
            not compete, and in tournaments and matrices.
    """

    name: str
    family: str
    settings: Mapping[str, Any]
    max_steps: int | None
    longest: int
    teams: Mapping[str, Sequence[str]]
    seats: str
    opponents: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def differences(self, other: Task) -> dict[str, tuple[Any, Any]]:
        """Return the settings in which two tasks differ, with both values; empty if the tasks agree."""
        found = {
            key: (self.settings.get(key), other.settings.get(key))
            for key in sorted({*self.settings, *other.settings})
        }
        if self.family and other.family:
            found["env_name"] = (self.family, other.family)
        if not self._keeps_within(other):
            found["max_steps"] = (self.max_steps, other.max_steps)
        if self.teams and other.teams:
            found["teams"] = (dict(self.teams), dict(other.teams))
            found["seats"] = (self.seats, other.seats)
            if self.opponents != other.opponents:
                found["opponents"] = _different_lineups(self.opponents, other.opponents)
        return {key: pair for key, pair in found.items() if pair[0] != pair[1]}

    def _keeps_within(self, other: Task) -> bool:
        """Return whether the step limits of two tasks are compatible.

        A declared limit is compatible with an undeclared one if no episode of the other operator exceeds it.
        """
        if self.max_steps is None and other.max_steps is not None:
            return self.longest <= other.max_steps
        if other.max_steps is None and self.max_steps is not None:
            return other.longest <= self.max_steps
        return self.max_steps == other.max_steps


def task_of(run: Run, operator: OperatorRun, data: OperatorData) -> Task:
    """Return the task of an operator of a run."""
    config = operator.config
    execution = mapping(run.record.experiment.get("execution")) or {}
    limits = (config.get("max_steps"), execution.get("max_steps"))
    compete = len(data.squads) > 1
    among_all = "matrix" in run.record.experiment or is_tournament(run)
    return Task(
        str(config.get("task") or ""),
        str(config.get("env_name") or ""),
        dict(_flat({key: value for key, value in config.items() if key not in _AGENTS})),
        next((limit for limit in limits if isinstance(limit, int)), None),
        data.longest,
        {team: list(slots) for team, slots in data.squads.items()} if compete else {},
        ("swap" if data.swapped else "fixed") if compete else "",
        _opponents(config, data) if compete and not among_all else {},
    )


def _opponents(config: Mapping[str, Any], data: OperatorData) -> dict[str, Any]:
    """Return worker, policy and settings by slot for all teams but the first, which is the compared one."""
    workers = mapping(config.get("workers")) or {}
    found: dict[str, Any] = {}
    for slot in (slot for team in list(data.squads)[1:] for slot in data.squads[team]):
        agent, configured = data.agents.get(slot), mapping(workers.get(slot)) or {}
        settings = {key: value for key, value in configured.items() if key != "preprocess"}
        who = {} if agent is None else {**agent.to_row(), "slot": slot}
        found[slot] = {**settings, **who}
    return found


def _different_lineups(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
    """Return two line-ups of opponents as text: their names, or differing settings if names are equal."""
    names = [
        {slot: str(who.get("policy") or who.get("worker_id") or "-") for slot, who in slots.items()}
        for slots in (first, second)
    ]
    for words_of_both in (
        [", ".join(dict.fromkeys(of.values())) for of in names],
        [", ".join(f"{slot} {name}" for slot, name in of.items()) for of in names],
    ):
        if words_of_both[0] != words_of_both[1]:
            return words_of_both[0], words_of_both[1]
    flat = [dict(_flat(slots)) for slots in (first, second)]
    differing = [key for key in sorted({*flat[0], *flat[1]}) if flat[0].get(key) != flat[1].get(key)]
    one, other = (
        ", ".join(f"{key.replace('.settings.', ' ')} {_value(of.get(key))}" for key in differing)
        for of in flat
    )
    return one, other


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Yield nested settings with flat names, such as ``env_kwargs.size`` for ``env_kwargs: {size: 8}``."""
    for key, value in settings.items():
        inner = mapping(value)
        if inner:
            yield from _flat(inner, f"{prefix}{key}.")
        elif value not in _UNSET:
            yield prefix + key, value


def same_tasks(tasks: Sequence[Task]) -> list[list[int]]:
    """Return groups of indices of equal tasks, in the order of each group's first task."""
    groups: list[list[int]] = []
    for i, task in enumerate(tasks):
        for group in groups:
            if all(tasks[j].name == task.name and not tasks[j].differences(task) for j in group):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


def titles(tasks: Sequence[Task], groups: Sequence[Sequence[int]]) -> list[str]:
    """Return a title per group of tasks: the environment's id, and the settings in which groups differ."""
    found: list[str] = []
    for group in groups:
        task = tasks[group[0]]
        others = [tasks[g[0]] for g in groups if g is not group and tasks[g[0]].name == task.name]
        own = {key: pair[0] for other in others for key, pair in task.differences(other).items()}
        family = next((tasks[i].family for i in group if tasks[i].family), "")
        name = "/".join(part for part in (family, task.name) if part)
        words = ", ".join(f"{key} {_value(value)}" for key, value in own.items() if key != "env_name")
        words_of_both = f"{name} ({words})" if words else name
        again = sum(title == words_of_both or title.startswith(f"{words_of_both}, ") for title in found)
        found.append(f"{words_of_both}, {again + 1}" if again else words_of_both)
    return found


def differences_in_words(differs: Mapping[str, tuple[Any, Any]]) -> str:
    """Return differing settings as text: ``max_steps 200 against 500, env_kwargs.size 8 against 9``."""
    return ", ".join(f"{key} {_value(a)} against {_value(b)}" for key, (a, b) in differs.items())


def _value(value: Any) -> str:
    if value is None:
        return "as usual"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "\N{HORIZONTAL ELLIPSIS}"
