"""Converts the plain data of an experiment file to a checked :class:`Experiment`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from gym_gui.core.config import (
    FOLDER,
    OPERATOR_KEYS,
    ExecutionConfig,
    Experiment,
    LinkGroup,
    OperatorConfig,
    WorkerAssignment,
)
from gym_gui.core.declared_keys import Key, construct, spellings_of
from gym_gui.core.experiment import aliases, matrix
from gym_gui.core.experiment.assignment import SLOT_KEYS
from gym_gui.core.experiment.matrix_table import MatrixTable
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import ConfigError, join, key_place, keys, mapping, sequence, under

FILE: Final[Mapping[str, Key[Callable[[object], object]]]] = {
    "operators": Key(
        lambda given: sequence(given, "operators"),
        "operators to compare: each is an environment with the players of its slots",
        usual="required, or `matrix`",
        each=OperatorConfig,
    ),
    "execution": Key(
        lambda given: mapping(given, "execution"),
        "number of episodes, seeds, limits and speed",
        usual="one episode",
        within=ExecutionConfig,
    ),
    "policies": Key(
        lambda given: mapping(given, "policies"),
        "name → player, for the rows of `matrix`, or as the pool of a tournament",
        each=WorkerAssignment,
    ),
    "matrix": Key(
        lambda given: mapping(given, "matrix"),
        "in place of `operators`: rows or a grid of players and environments",
        within=matrix.KEYS,
    ),
}
"""Top-level keys of an experiment file."""
_OLDER_FORM_KEYS = OPERATOR_KEYS | SLOT_KEYS
"""Keys of an operator in the older form, which has no ``workers``: its one slot is part of the operator."""


def experiment_from_data(
    data: object, *, episodes: int | None = None, complete: bool = True, origin: Origin = TYPED
) -> Experiment:
    """Make an experiment from ``{"operators": [...], "execution": {...}}``.

    Args:
        data: Data of an experiment file, the result of :meth:`Experiment.to_record`, or a whole
            ``run.json`` (of which ``experiment`` is read).
        episodes: Replaces ``num_episodes``.
        complete: Whether every named slot must have a player. Records of runs with in-process policies have
            slots without a player.
        origin: The file of the data, and the folder in which modules that it names are looked up.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    content = mapping(data, "experiment")
    recorded = "operators" not in content and "experiment" in content
    if recorded:
        content = mapping(content["experiment"], "experiment")
    given = keys(content, "", {key: key for key in ("operators", "execution", "matrix")})
    if "operators" not in given:
        raise ConfigError(
            "names no operators", fix="Define 'operators', a list with one mapping per operator"
        )
    operators = [
        item if isinstance(item, OperatorConfig) else _operator(item, f"operators[{i}]", origin)
        for i, item in enumerate(cast("list[object]", FILE["operators"].check(given["operators"])))
    ]
    if complete:
        for i, operator in enumerate(operators):
            with under(f"operators[{i}]"):
                operator.check_complete()
    execution = given.get("execution")
    run = (
        execution
        if isinstance(execution, ExecutionConfig)
        else execution_from_data(execution or {}, episodes)
    )
    if complete and not recorded:
        with under("execution"):
            run.check_distinct()
    table = None if given.get("matrix") is None else MatrixTable.from_record(given["matrix"])
    return Experiment(operators, run, table)


def is_experiment_file(names: Collection[str]) -> bool:
    """Return whether a file with these top-level keys is an experiment file."""
    return "operators" in names or "matrix" in names


def _operator(data: object, where: str, origin: Origin) -> OperatorConfig:
    """Make an operator from its data, in the present or the older form."""
    written = mapping(data, where)
    is_new_form = bool({"workers", "player_workers", "link_groups"} & set(written))
    if is_new_form:
        given = keys(written, where, OPERATOR_KEYS)
        slots = mapping(given.pop("workers", {}), join(where, "workers"))
    else:
        given = keys(written, where, _OLDER_FORM_KEYS)
        of_slot = [key for key in given if key not in OPERATOR_KEYS]
        slot = {key: given.pop(key) for key in of_slot}
        if not slot:
            known = "'workers': {'agent': {'type': 'random'}}"
            raise ConfigError("no slot has a player", where=join(where, "workers"), fix=f"Add {known}")
        slots = {"agent": slot}
    for key in ("id", "task"):
        if key not in given:
            raise ConfigError(f"{key!r} is missing", where=where)
    groups = given.pop("link_groups", None)
    if groups is not None:
        given["link_groups"] = linked = _link_groups(groups, join(where, "link_groups"))
        slots = _complete_linked(slots, linked)
    # In the older form the slot is the operator itself, so that places name it as the file does.
    place = join(where, "workers") if is_new_form else ""
    task = str(given["task"])
    given["workers"] = slots_from_data(slots, place, where, task)
    manager = given.pop("manager", None)
    if manager is not None:
        at = join(where, "manager")
        given["manager"] = slots_from_data(mapping(manager, at), at, where, task)
    folder = given.pop("folder", None)
    if folder is not None:  # a run folder's record names the folder of the experiment's modules
        with under(join(where, "folder")):
            origin = replace(origin, folder=str(Path(origin.folder, FOLDER.check(cast("str", folder)))))
    return construct(OperatorConfig, given, where, origin=origin)


def slots_from_data(
    data: Mapping[str, object], place: str, operator: str, task: str
) -> dict[str, WorkerAssignment]:
    """Return the players by slot, or by name, from the data of an experiment file.

    Args:
        data: Data of a player by slot or name.
        place: Place of the data, for messages.
        operator: Place of the operator, for the older form, whose one slot has no place of its own.
        task: The environment, from which the default worker of some types follows.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    return {
        agent: item
        if isinstance(item, WorkerAssignment)
        else _assignment(item, join(place, key_place(agent)) if place else operator, task)
        for agent, item in data.items()
    }


def _assignment(data: object, where: str, task: str) -> WorkerAssignment:
    """Make one player: inline settings become part of ``settings``, other keys are the slot's own."""
    given = keys(data, where, SLOT_KEYS)
    inline = {key: given.pop(key) for key in tuple(given) if key in aliases.INLINE_SETTINGS}
    nested = given.pop("settings", None)
    settings = {} if nested is None else mapping(nested, join(where, "settings"))
    for key, value in inline.items():
        if key in settings and settings[key] != value:
            raise ConfigError("given twice, with different values", where=join(where, key))
    if "type" in given:
        if "worker_id" not in given and (usual := aliases.default_worker(str(given["type"]), task)):
            given["worker_id"] = usual
    elif "worker_id" not in given:
        raise ConfigError(
            "'type' is missing", where=where, fix="Name the player's type, as in 'type': 'random'"
        )
    try:
        return construct(WorkerAssignment, given | {"settings": settings | inline}, where)
    except ConfigError as error:
        raise _as_written(error, where, inline) from None


def _as_written(error: ConfigError, where: str, inline: Mapping[str, object]) -> ConfigError:
    """Return the error with the path of an inline setting as in the file, without ``settings``."""
    place = error.where.removeprefix(where).removeprefix(".")
    if place == "worker_type":
        place = "type"
    elif place.startswith("settings.") and place.removeprefix("settings.").split(".")[0] in inline:
        place = place.removeprefix("settings.")
    return ConfigError(error.problem, where=join(where, place), fix=error.fix)


def _link_groups(data: object, where: str) -> list[LinkGroup]:
    groups: list[LinkGroup] = []
    for i, item in enumerate(sequence(data, where)):
        place = f"{where}[{i}]"
        if isinstance(item, LinkGroup):
            groups.append(item)
            continue
        given = keys(item, place, spellings_of(LinkGroup))
        for key in ("primary_agent", "linked_agents"):
            if key not in given:
                raise ConfigError(f"{key!r} is missing", where=place)
        groups.append(construct(LinkGroup, given, place))
    return groups


def _complete_linked(slots: Mapping[str, object], groups: list[LinkGroup]) -> dict[str, object]:
    """Add type and worker of the group or its primary agent to linked slots that do not name them."""
    result = dict(slots)
    for group in groups:
        primary = slots.get(group.primary_agent)
        said: Mapping[str, object] = {"type": group.worker_type}
        if isinstance(primary, Mapping):
            raw = cast("Mapping[str, object]", primary)
            said = {key: raw[key] for key in ("type", "worker_type", "worker_id") if key in raw} or said
        for agent in group.agents:
            own = result.get(agent)
            if isinstance(own, Mapping) and not {"type", "worker_type", "worker_id"} & set(
                cast("Mapping[str, object]", own)
            ):
                result[agent] = {**cast("Mapping[str, object]", own), **said}
    return result


def execution_from_data(data: object, episodes: int | None = None) -> ExecutionConfig:
    """Make the ``execution`` part of an experiment from its data.

    Args:
        data: A mapping.
        episodes: Replaces ``num_episodes``.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    given = keys(data, "execution", spellings_of(ExecutionConfig))
    if episodes is not None:
        given["num_episodes"] = episodes
    return construct(ExecutionConfig, given, "execution")
