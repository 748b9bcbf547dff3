"""Implements ``mosaic workers`` and ``mosaic envs``: lists them, and prints the settings of one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from rich.text import Text

from gym_gui.cli.output import cell, entries, write_json, write_line
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER, EnvironmentInfos
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe, EnvironmentRequest
from gym_gui.core.errors import MosaicError, UnknownNameError
from gym_gui.envs.documents.markdown import clean as clean_page
from gym_gui.envs.documents.markdown import first_sentence
from gym_gui.envs.environment_registry import families, family_of, list_specs, resolve
from gym_gui.envs.family import Family
from gym_gui.envs.spec import EnvSpec
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.environment_settings import settings_of
from gym_gui.services.store import Store
from gym_gui.services.trainer.training_settings import read_schemas
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import Setting, grouped, json_schema
from gym_gui.workers.settings.settings_text import text_of
from gym_gui.workers.status import WorkerStatus

_ALL_ACTIONS = frozenset({"discrete", "continuous", "multi_discrete", "multi_binary"})
_LONGEST_S: Final = 60.0
"""Longest time in seconds to create and describe an environment."""
_STATE_STYLES = {"installed": "green", "missing": "yellow", "broken": "red"}


def list_workers(*, as_json: bool = False) -> None:
    """Print all workers with their kind, version, state, spaces and algorithms."""
    statuses = bootstrap_default_services().workers.statuses()
    if as_json:
        write_json([_worker_row(status) for status in statuses])
        return
    rows: list[tuple[list[Text], list[str]]] = []
    for status in statuses:
        definition = _definition(status)
        cells = [
            cell(status.worker_id, style="bold"),
            cell(definition.kind.value if definition else ""),
            cell(definition.version if definition else ""),
            cell(status.state, style=_STATE_STYLES[status.state]),
        ]
        rows.append((cells, [definition.description, plays(definition)] if definition else []))
    entries(["Worker", "Kind", "Version", "State"], rows)
    for status in statuses:
        if status.state != "installed":
            write_line(f"\n{status.worker_id} is {status.state}: {status.reason}")
            if status.state == "missing":
                write_line(f"  {status.install or 'Install it, or add its folder to PATH'}")


def plays(definition: WorkerTypeDefinition) -> str:
    """Return the observation spaces, action spaces and algorithms that a worker supports, as text."""
    can = definition.capabilities
    actions = sorted(can.action_spaces)
    does = "any" if set(actions) >= _ALL_ACTIONS else ", ".join(actions)
    sees = "any" if "any" in can.observation_spaces else ", ".join(sorted(can.observation_spaces))
    words = f"Observations: {sees}; actions: {does}."
    if definition.train is not None:
        words += f" Trains: {', '.join(definition.train.algorithms)}."
    return words


def show_worker(worker: str, *, algo: str = "", as_json: bool = False) -> None:
    """Print the settings of a worker, or of a training by it.

    Args:
        worker: Id of the worker, or an alias.
        algo: Algorithm of a training whose settings are printed; empty for the worker's own.
        as_json: Whether to print JSON Schema.

    Raises:
        UnknownNameError: There is no such worker, or it does not describe such an algorithm.
    """
    definition = bootstrap_default_services().workers.registry.require(worker)
    trainings = read_schemas(definition)
    if algo and algo not in trainings:
        raise UnknownNameError(f"algorithm of {definition.type_id}", algo, trainings)
    if as_json:
        schemas = {name: json_schema(each.settings, each.title) for name, each in trainings.items()}
        own = json_schema(definition.settings_schema, definition.display_name)
        write_json({"id": definition.type_id, "settings": own, "trainings": schemas})
        return
    title, meaning = definition.display_name, definition.description
    settings = definition.settings_schema
    if algo:
        title, meaning = f"{title}, {trainings[algo].title}", trainings[algo].description
        settings = grouped(trainings[algo].settings)
    write_line(f"{title} ({definition.type_id})\n{meaning}\n")
    if settings:
        entries(["Setting", "Default"], [_setting(setting) for setting in settings])
    else:
        write_line("This worker has no settings.")


def show_environment(task: str, *, as_json: bool = False) -> None:
    """Print what an environment is about, what its agents observe and do, and its known ``env_kwargs``.

    If no description is stored yet, a separate process creates the environment once to describe it.

    Args:
        task: Id of the environment, or ``module:factory``.
        as_json: Whether to print JSON, with a JSON Schema of ``env_kwargs``.

    Raises:
        UsageError: There is no such environment.
    """
    spec = resolve(task)
    known, others = settings_of(spec)
    family = family_of(spec)
    info, trouble = _described(task)
    if as_json:
        settings = json_schema(known, spec.id)
        row = {"id": spec.id, "family": spec.family, "env_kwargs": settings, "further": list(others)}
        write_json(row | ({"trouble": trouble} if info is None else _agents_row(info)))
        return
    summary = family.summary(spec) or first_sentence(clean_page(family.documentation(spec)))
    write_line(f"{family.title_of(spec)} ({spec.id})\n{summary or family.title}\n")
    if info is None:
        write_line(f"It cannot be created here: {trouble}\n")
    else:
        _print_agents(info)
    if known:
        entries(["env_kwargs", "Default"], [_setting(setting) for setting in known])
    if others:
        write_line(f"Further env_kwargs, without description: {', '.join(others)}")
    if not known and not others:
        write_line("No env_kwargs of this environment are known.")


def _described(task: str) -> tuple[EnvironmentInfo | None, str]:
    """Return an environment's description, or ``None`` and the reason why it cannot be created."""

    async def ask() -> EnvironmentInfo:
        probe = EnvironmentProbe(longest_s=_LONGEST_S)
        try:
            infos = EnvironmentInfos(Store().cache_dir(SHEETS_FOLDER), probe)
            return await infos.env_info(EnvironmentRequest(task))
        finally:
            await probe.close()

    try:
        return asyncio.run(ask()), ""
    except MosaicError as error:
        return None, str(error)


def _agents_row(info: EnvironmentInfo) -> dict[str, Any]:
    page = info.page
    agents = {
        agent: {
            "observes": page.sees.get(agent, ""),
            "acts": page.does.get(agent, ""),
            "actions": [[number, word] for number, word in page.actions.get(agent, ())],
        }
        for agent in info.agents
    }
    teams = {team: list(members) for team, members in info.teams.items()}
    return {"turns": info.turns, "max_steps": info.max_episode_steps, "teams": teams, "agents": agents}


def _print_agents(info: EnvironmentInfo) -> None:
    """Print what agents observe and do; agents with the same spaces share a row."""
    page, alike = info.page, dict[tuple[str, str, str], list[str]]()
    for agent in info.agents:
        words = ", ".join(f"{number} {word}" for number, word in page.actions.get(agent, ()))
        alike.setdefault((page.sees.get(agent, ""), page.does.get(agent, ""), words), []).append(agent)
    steps = info.max_episode_steps
    rows: list[tuple[list[Text], list[str]]] = []
    for (sees, does, words), agents in alike.items():
        acts = f"Acts: {does}{f' ({words})' if words else ''}."
        rows.append(([cell(", ".join(agents), style="bold")], [f"Observes: {sees}.", acts]))
    limit = f", at most {steps:,} steps" if steps else ""
    entries([f"Agents ({info.turns}{limit})"], rows)
    write_line()


def _setting(setting: Setting) -> tuple[list[Text], list[str]]:
    default = "required" if setting.required else "-"
    if setting.default is not None:
        default = text_of(setting.default) or '""'
    cells = [cell(setting.name, style="bold"), cell(default)]
    meaning = setting.meaning or setting.label
    if meaning.lower() == setting.name.replace("_", " ").lower():
        return cells, [f"Takes {setting.wanted}."]
    return cells, [f"{meaning.removesuffix('.')}.", f"Takes {setting.wanted}."]


def _definition(status: WorkerStatus) -> WorkerTypeDefinition | None:
    return status.found.definition if status.found else None


def _worker_row(status: WorkerStatus) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": status.worker_id,
        "state": status.state,
        "reason": status.reason,
        "install": status.install,
        "missing": list(status.missing),
        "source": status.found.source if status.found else "code",
        "manifest": str(status.found.path) if status.found else None,
    }
    definition = _definition(status)
    if definition is not None:
        row |= {
            "name": definition.display_name,
            "kind": definition.kind.value,
            "version": definition.version,
            "description": definition.description,
            "aliases": list(definition.aliases),
            "action_spaces": sorted(definition.capabilities.action_spaces),
            "observation_spaces": sorted(definition.capabilities.observation_spaces),
            "algorithms": list(definition.train.algorithms) if definition.train else [],
            "python": str(definition.launch.python) if definition.launch.python else None,
        }
    return row


def list_environments(family: str | None, *, as_json: bool = False) -> None:
    """Print the families of environments, or the environments of one family.

    Raises:
        UnknownNameError: There is no such family.
        MissingDependencyError: The family's package is not installed.
    """
    if family is not None:
        _list_family(list_specs(family), as_json)
        return
    rows = [_family_row(each) for each in families().values()]
    if as_json:
        write_json(rows)
        return
    lines: list[tuple[list[Text], list[str]]] = []
    for row in rows:
        if row["count"] == 0 and row["installed"]:
            continue  # environments of this family cannot be listed, only found by name
        count = "" if row["count"] is None else f"{row['count']:>3}"
        state = cell(count if row["installed"] else f"{count:<5}missing")
        details = [row["problem"]] if row["problem"] else []
        lines.append(([cell(row["name"], style="bold"), cell(row["title"]), state], details))
    entries(["Family", "Name", "Environments"], lines)
    write_line("\nIds of one family:    mosaic envs list minigrid")
    write_line(
        'Your own environment: task = "module:factory"; test it with: mosaic envs check module:factory'
    )
    absent = [row for row in rows if not row["installed"] and row["install"]]
    width = max((len(row["name"]) for row in absent), default=0)
    for i, row in enumerate(absent):
        write_line(f"{'Not installed:' if i == 0 else '':<22}{row['name']:<{width}}  {row['install']}")


def _family_row(family: Family) -> dict[str, Any]:
    specs: Sequence[EnvSpec] = ()
    problem = ""
    try:
        specs = family.specs() if family.listable else ()
    except MosaicError as error:
        problem = str(error)
    known = family.listable and not problem
    return {
        "name": family.name,
        "title": family.title,
        "installed": family.installed,
        "count": len(specs) if known else None,
        "install": family.install,
        "problem": problem,
        "also": sorted(family.hints),
    }


def _list_family(specs: Sequence[EnvSpec], as_json: bool) -> None:
    if as_json:
        write_json([_spec_row(spec) for spec in specs])
        return
    width = max((len(spec.id) for spec in specs), default=0)
    for spec in specs:
        # Interfaces (aec, parallel) are printed only if there are two; the first is the default.
        choice = f"{spec.id:<{width}}  {' or '.join(spec.apis)}" if len(spec.apis) > 1 else spec.id
        write_line(choice)


def _spec_row(spec: EnvSpec) -> dict[str, Any]:
    return {
        "id": spec.id,
        "family": spec.family,
        "paradigm": spec.paradigm.name,
        "apis": list(spec.apis),
        "max_episode_steps": spec.max_episode_steps,
    }
