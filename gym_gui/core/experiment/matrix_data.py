"""Reads ``matrix`` and ``policies`` of an experiment file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from gym_gui.core.config import ENVIRONMENT_KEYS
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.document_rows import ALWAYS_THERE, GROUPS, ROLES, ROWS, named_rows
from gym_gui.core.experiment.experiment_data import slots_from_data
from gym_gui.core.experiment.matrix import (
    KEYS,
    ROW_KEYS,
    SETTING_KEYS,
    TASK_KEYS,
    Lineup,
    Matrix,
    Seat,
    Variant,
    changed,
)
from gym_gui.core.secret_refs import refuse_literals
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import (
    ConfigError,
    folder_name,
    join,
    key_place,
    keys,
    mapping,
    nearest,
    plain_mapping,
    sequence,
    shown,
    text,
)

LONGEST_NAME: Final = 40

_KEYS: Final = {key: key for key in (*KEYS, "folder")}
_LIST_OF_ROWS: Final = "rows: documents, rows: [rl_vs_llm, …] or players: [a, b]"


def matrix_from_data(data: object, policies: object, *, origin: Origin = TYPED) -> Matrix:
    """Read ``matrix`` and ``policies`` of an experiment file.

    Args:
        data: The value of ``matrix``.
        policies: The value of ``policies``.
        origin: The file of the data.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    given = keys(data, "matrix", _KEYS)
    written = {key: value for key, value in plain_mapping(given, "matrix").items() if key != "folder"}
    if given.get("folder") is not None:
        origin = replace(origin, folder=text(given["folder"], "matrix.folder", max_length=4096))
    lineups = [*_rows(given.get("rows")), *_players(given.get("players"))]
    if not lineups:
        raise ConfigError("names no policy", where="matrix", fix=f"Name the players: {_LIST_OF_ROWS}")
    tasks = _tasks(given)
    pool = _pool(policies, str(next(iter(tasks.values()))["task"]))
    _refuse_equal_names([lineup.name for lineup in lineups], "matrix.rows")
    variants = _variants(given.get("settings"), pool)
    return Matrix(pool, tuple(lineups), tasks, variants, _roles(given.get("roles"), pool), written, origin)


# ------------------------------------------------------------------------ players


def _pool(data: object, task: str) -> dict[str, WorkerAssignment]:
    written = mapping({} if data is None else data, "policies")
    for name, slot in written.items():
        place = join("policies", key_place(name))
        _check_name(name, place)
        if not isinstance(slot, (Mapping, WorkerAssignment)):
            raise ConfigError(f"must name a player, not {shown(slot)}", where=place, fix="{type: random}")
    _refuse_equal_names(list(written), "policies")
    always = {name: slot for name, slot in ALWAYS_THERE.items() if name not in written}
    return slots_from_data({**written, **always}, "policies", "", task)


def _roles(data: object, pool: Mapping[str, object]) -> dict[str, str]:
    roles = keys({} if data is None else data, "matrix.roles", {role: role for role in ROLES})
    for role, name in roles.items():
        place = join("matrix.roles", role)
        if text(name, place) not in pool:
            raise ConfigError(f"no policy is called {shown(name)}", where=place, fix=nearest(str(name), pool))
    return {role: str(name) for role, name in roles.items()}


def _rows(data: object) -> Iterable[Lineup]:
    if data is None:
        return
    where = "matrix.rows"
    for i, item in enumerate([data] if isinstance(data, str) else sequence(data, where)):
        place = where if isinstance(data, str) else f"{where}[{i}]"
        if isinstance(item, Mapping):
            yield _own_row(cast(object, item), place)
            continue
        name = text(item, place)
        names = named_rows(name)
        if not names:
            known = ["documents", *GROUPS, *ROWS]
            raise ConfigError(f"no row is called {shown(name)}", where=place, fix=nearest(name, known))
        for each in names:
            title, sides = ROWS[each]
            yield Lineup(each, title, tuple(_seats(side, place) for side in sides))


def _own_row(data: object, where: str) -> Lineup:
    given = keys(data, where, {key: key for key in ROW_KEYS})
    for key, example in (("name", "mine"), ("sides", "[[a, b], [c]]")):
        if given.get(key) is None:
            raise ConfigError(f"{key!r} is missing", where=where, fix=f"Add {key}: {example}")
    name = text(given["name"], join(where, "name"))
    _check_name(name, join(where, "name"))
    place, written = join(where, "sides"), given["sides"]
    by_team = _mapping_or_none(written, place)
    teams = () if by_team is None else tuple(by_team)
    listed = sequence(written, place) if by_team is None else list(by_team.values())
    if not listed:
        raise ConfigError("names no policy", where=place, fix="Name the players of each team: [[a, b], [c]]")
    sides = tuple(
        _seats(sequence(side, f"{place}[{i}]") if not _is_seat(side) else [side], f"{place}[{i}]")
        for i, side in enumerate(listed)
    )
    title = name if given.get("title") is None else text(given["title"], join(where, "title"), max_length=100)
    return Lineup(name, title, sides, teams)


def _is_seat(side: object) -> bool:
    return isinstance(side, (str, Mapping))


def _seats(side: Sequence[object], where: str) -> tuple[Seat, ...]:
    if not side:
        raise ConfigError("names no policy", where=where, fix="Name a policy")
    return tuple(_seat(item, f"{where}[{i}]") for i, item in enumerate(side))


def _seat(item: object, where: str) -> Seat:
    if not isinstance(item, Mapping):
        return Seat(text(item, where))
    given = plain_mapping(cast(object, item), where)
    if "policy" not in given:
        raise ConfigError("'policy' is missing", where=where, fix="{policy: NAME, temperature: 0}")
    refuse_literals(given, where)  # the record keeps a row's text even if it cannot be played
    return Seat(text(given.pop("policy"), join(where, "policy")), given)


def _players(data: object) -> Iterable[Lineup]:
    for i, item in enumerate([] if data is None else sequence(data, "matrix.players")):
        place = f"matrix.players[{i}]"
        name = text(item, place)
        _check_name(name, place)
        yield Lineup(name, name, ((Seat(name),),), everywhere=True)


# ------------------------------------------------------------------------ environments


def _tasks(given: Mapping[str, object]) -> dict[str, Mapping[str, Any]]:
    common = _environment({key: given[key] for key in ENVIRONMENT_KEYS if key in given}, "matrix")
    if (given.get("task") is None) == (given.get("tasks") is None):
        raise ConfigError(
            "has neither 'task' nor 'tasks'" if given.get("task") is None else "has 'task' and 'tasks'",
            where="matrix",
            fix="Write task: ENVIRONMENT, or tasks: [ENVIRONMENT, …]",
        )
    if given.get("task") is not None:
        return {"": {**common, "task": text(given["task"], "matrix.task")}}
    listed = given["tasks"]
    named = _mapping_or_none(listed, "matrix.tasks")
    if named is None:
        named = {
            text(item, f"matrix.tasks[{i}]"): item for i, item in enumerate(sequence(listed, "matrix.tasks"))
        }
    if not named:
        raise ConfigError("names no environment", where="matrix.tasks", fix="Name one or more")
    known = {key: key for key in TASK_KEYS}
    found: dict[str, Mapping[str, Any]] = {}
    for name, item in named.items():
        place = join("matrix.tasks", key_place(name))
        own = {"task": item} if _mapping_or_none(item, place) is None else keys(item, place, known)
        if own.get("task") is None:
            raise ConfigError("'task' is missing", where=place, fix="{task: ENVIRONMENT, max_steps: 100}")
        text(own["task"], join(place, "task"))
        text(name, place, max_length=200)
        found[name] = {**common, **_environment(own, place)}
    return found


def _environment(given: Mapping[str, object], where: str) -> dict[str, Any]:
    """Return the keys of an environment; ``null`` in a file means that the key is absent."""
    found = {key: value for key, value in given.items() if value is not None}
    if "env_kwargs" in found:
        found["env_kwargs"] = plain_mapping(found["env_kwargs"], join(where, "env_kwargs"))
    return found


def _variants(data: object, pool: Mapping[str, WorkerAssignment]) -> tuple[Variant, ...]:
    if data is None:
        return (Variant(),)
    found: list[Variant] = []
    for name, item in mapping(data, "matrix.settings").items():
        place = join("matrix.settings", key_place(name))
        _check_name(name, place)
        given = keys({} if item is None else item, place, {key: key for key in SETTING_KEYS})
        at = join(place, "policies")
        of = {
            policy: plain_mapping(each, at) for policy, each in mapping(given.pop("policies", {}), at).items()
        }
        for policy, changes in of.items():
            if policy not in pool:
                raise ConfigError(f"no policy is called {shown(policy)}", where=at, fix=nearest(policy, pool))
            changed(pool[policy], changes, join(at, policy))
        found.append(Variant(name, of, _environment(given, place)))
    if not found:
        raise ConfigError("names no settings", where="matrix.settings", fix="Leave it out, or name some")
    return tuple(found)


def _mapping_or_none(value: object, where: str) -> dict[str, object] | None:
    return mapping(cast(object, value), where) if isinstance(value, Mapping) else None


# ------------------------------------------------------------------------ names


def _check_name(name: str, where: str) -> None:
    """Refuse a name that cannot be used in tables and in folder names."""
    folder_name(name, where)
    if len(name) > LONGEST_NAME or not re.fullmatch(r"[\w-]+", name):
        raise ConfigError(
            f"{shown(name)} is not a valid name",
            where=where,
            fix=f"Use at most {LONGEST_NAME} letters, digits, '_' and '-'",
        )


def _refuse_equal_names(names: Sequence[str], where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            same = seen[name.casefold()] == name
            raise ConfigError(
                f"{name!r} is named twice"
                if same
                else f"{name!r} differs from {seen[name.casefold()]!r} only in case",
                where=where,
                fix="Name it once" if same else "Rename one of them",
            )
        seen[name.casefold()] = name
