"""Implements ``mosaic policies``: commands on the library of trained policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from gym_gui.analysis.words.wording import count, number
from gym_gui.cli.errors import DONE, print_message
from gym_gui.cli.output import cell, entries, write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.named_training_groups import GROUP_PREFIX
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.compatibility import space_words
from gym_gui.services.policies.policy_exchange import export_policy
from gym_gui.services.policies.policy_import import ImportRequest, add_policy
from gym_gui.services.policies.policy_library import PolicyEntry
from gym_gui.services.policies.policy_parts import AgentPart, networks_in_words, parts_of
from gym_gui.services.policies.policy_scores import PolicyScore
from gym_gui.services.trainings.training_groups import TrainingGroup, TrainingGroups, group_of
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.preprocessing import describe_steps

_NONE_YET: Final = (
    "No policies. Train one: mosaic train --algo ppo --env CartPole-v1. Import one: mosaic policies add FILE"
)


def list_policies(*, as_json: bool) -> None:
    """Print all policies and groups of trainings."""
    found = bootstrap_default_services().policies.entries()
    groups = {entry.name: group_of(entry.file.path) for entry in found}
    if as_json:
        write_json([{**entry.to_json(), "group": groups[entry.name] or None} for entry in found])
        return
    rows = [_row(entry) for entry in found if not groups[entry.name]]
    rows += map(_group_row, TrainingGroups().all())
    if rows:
        entries(["Policy", "Algorithm", "Environment", "Score"], rows)
    else:
        write_line(_NONE_YET)


def _row(entry: PolicyEntry) -> tuple[Sequence[Text], Sequence[str]]:
    about = entry.file.description
    cells = [
        cell(entry.name, style="bold"),
        cell(about.algorithm),
        cell(about.env_id),
        cell(_score(entry.score)),
    ]
    steps = f"{about.total_steps:,} steps, seed {about.seed}, " if about.total_steps else ""
    joint = f"{len(about.agents)} agents, " if len(about.agents) > 1 else ""
    called = f"{entry.file.called}: " if entry.file.called else ""
    return cells, [f"{called}{steps}{joint}{about.worker}: {entry.file.path}"]


def _score(score: PolicyScore | None) -> str:
    if score is None:
        return ""
    digits = 1 if abs(score.mean) >= 10 else 3
    return f"{score.mean:,.{digits}f} ± {score.deviation:,.{digits}f}"


def show_policy(name: str, *, as_json: bool) -> None:
    """Print all information on a policy or on a group of trainings."""
    known = {group.name: group for group in TrainingGroups().all()}
    if (group := known.get(name.removeprefix(GROUP_PREFIX))) is not None:
        _show_group(group, as_json=as_json)
        return
    policies = bootstrap_default_services().policies
    entry = policies.find_folder(Path(name)) if Path(name).is_dir() else policies.find(name)
    if as_json:
        write_json(entry.to_json())
        return
    write_line(entry.name)
    for heading, text in _facts(entry):
        if text:
            write_line(f"  {heading + ':':<15}{text}")


def _facts(entry: PolicyEntry) -> list[tuple[str, str]]:
    about = entry.file.description
    parts = parts_of(about)
    named = entry.name if entry.name == str(entry.file.path) else f"library:{entry.name}"
    played = f'worker_id: {about.worker}, checkpoint: "{named}"'
    return [
        ("called", entry.file.called),
        ("folder", str(entry.file.path)),
        ("worker", about.worker),
        ("algorithm", about.algorithm),
        ("environment", about.env_id),
        ("agents", ", ".join(about.agents)),
        ("networks", networks_in_words(parts) if parts else ""),
        *([(part.agent, _agent_in_words(part, parts)) for part in parts] or _spaces(about)),
        ("training", f"{about.total_steps:,} steps, seed {about.seed}" if about.total_steps else ""),
        ("score", _score_in_words(entry)),
        ("sha256", about.weights_sha256),
        ("licence", about.licence or "not stated"),
        ("origin", _origin(about.origin)),
        ("written", about.trained_at),
        ("in a file", f"{{{played}}}"),
        ("one agent", f"{{{played}, checkpoint_agent: {about.agents[0]}}}" if parts else ""),
    ]


def _spaces(about: PolicyDescription) -> list[tuple[str, str]]:
    return [
        ("observes", space_words(about.observation_space)),
        ("preprocessing", describe_steps(about.preprocessing)),
        ("is shown", space_words(about.shown_space) if about.preprocessing else ""),
        ("acts in", space_words(about.action_space)),
    ]


def _agent_in_words(part: AgentPart, parts: Sequence[AgentPart]) -> str:
    """Return the spaces and the network of one agent of a joint policy, on one line."""
    some_share = 1 < len({each.network for each in parts}) < len(parts)
    prepared = f", is shown {part.shown} after {part.prepared_by}" if part.prepared_by else ""
    return f"observes {part.sees}{prepared}; acts in {part.does}" + (
        f"; network {part.network}" if some_share else ""
    )


def _score_in_words(entry: PolicyEntry) -> str:
    score = entry.score
    if score is None:
        known = entry.name != str(entry.file.path)
        return f"not measured; run: mosaic policies score {entry.name}" if known else "not measured"
    return f"{_score(score)} on {len(score.seeds)} seeds from {score.seeds[0]}"


def _origin(origin: Any) -> str:
    kind = str(origin.get("kind", ""))
    if kind != "imported":
        return kind
    file, form, digest = (origin.get(key, "") for key in ("file", "format", "sha256"))
    return f"imported from {file} ({form}, sha256 {digest})"


def add(request: ImportRequest, *, as_json: bool) -> int:
    """Import a policy into the library and print it; return the exit status."""
    entry = add_policy(bootstrap_default_services().policies, request)
    if as_json:
        write_json(entry.to_json())
    else:
        about = entry.file.description
        write_line(f"{entry.name}: {about.algorithm} for {about.env_id}, played by {about.worker}")
        write_line(f"  {entry.file.path}")
        write_line(f"  Measure its score: mosaic policies score {entry.name}")
    return DONE


def score(name: str, *, as_json: bool) -> int:
    """Play a policy on the standard seeds and store its score; return the exit status."""
    from gym_gui.evaluation import score_policy

    library = bootstrap_default_services().policies
    entry = library.find(name)
    if not as_json:
        print_message(f"playing {entry.name} in {entry.file.env_id}")
    measured = score_policy(entry.file)
    library.scores.save(entry.file, measured)
    if as_json:
        write_json({"name": entry.name, **measured.to_json()})
    else:
        write_line(
            f"{entry.name}: {_score(measured)} on {len(measured.seeds)} seeds from {measured.seeds[0]}"
        )
    return DONE


def remove(name: str, *, as_json: bool) -> int:
    """Move a policy to the trash; return the exit status."""
    library = bootstrap_default_services().policies
    entry = library.find(name)
    trashed = library.remove(entry.name)
    if as_json:
        write_json({"name": entry.name, "trashed": None if trashed is None else str(trashed)})
    else:
        write_line(f"{entry.name} is in the trash{'' if trashed is None else f': {trashed}'}")
    return DONE


def export(name: str, target: Path | None, *, as_json: bool) -> int:
    """Write a policy to a folder or a zip file; return the exit status."""
    entry = bootstrap_default_services().policies.find(name)
    written = export_policy(entry, target or Path(f"{entry.file.path.name}.zip"))
    if as_json:
        write_json({"name": entry.name, "written": str(written.absolute())})
    else:
        write_line(f"{written}: import it elsewhere with mosaic policies add {written}")
    return DONE


def folders(add_it: Path | None, remove_it: Path | None, *, as_json: bool) -> int:
    """Add or remove a folder that is searched for policies, and print all such folders."""
    if add_it is not None and remove_it is not None:
        raise UsageError("--add and --remove cannot be combined", fix="Give one of them")
    library = bootstrap_default_services().policies
    if add_it is not None:
        library.watch_folder(add_it)
    if remove_it is not None:
        library.forget_folder(remove_it)
    if as_json:
        write_json([{"place": place, "folder": str(root.absolute())} for place, root in library.roots()])
    else:
        for place, root in library.roots():
            write_line(f"{place:<9} {root.absolute()}")
    return DONE


def _group_row(group: TrainingGroup) -> tuple[Sequence[Text], Sequence[str]]:
    """Return the table cells of a group of trainings, and lines with its details."""
    cells = [cell(group.name, style="bold"), cell(group.about.algorithm), cell(group.env_id), cell("")]
    done = ", ".join(number(member.score) for member in group.completed if member.score is not None)
    about = f"group of {count(len(group.members), 'training')}, {len(group.completed)} done"
    return cells, [f"{about}: mean return {done}" if done else about]


def _show_group(group: TrainingGroup, *, as_json: bool) -> None:
    """Print a group of trainings and each of its trainings."""
    known = bootstrap_default_services().policies.entries()
    names = {entry.file.path.resolve(): entry.name for entry in known}
    about = group.about
    policies = {member.seed: names.get(member.folder.resolve()) for member in group.members}
    if as_json:
        rows = [
            {
                "seed": member.seed,
                "policy": policies[member.seed],
                "state": member.state,
                "reason": member.reason,
                "steps": member.step,
                "mean_return": member.score,
                "path": str(member.folder),
            }
            for member in group.members
        ]
        facts = {"group": group.name, "worker": about.worker, "algorithm": about.algorithm}
        write_json({**facts, "env_id": group.env_id, "given": dict(about.given), "trainings": rows})
        return
    write_line(group.name)
    settings = ", ".join(f"{name} {value}" for name, value in about.given.items())
    for heading, text in (
        ("worker", about.worker),
        ("algorithm", about.algorithm),
        ("environment", group.env_id),
        ("settings", settings),
        ("in a file", f'{{worker_id: {about.worker}, checkpoint: "{GROUP_PREFIX}{group.name}"}}'),
    ):
        if text:
            write_line(f"  {heading + ':':<15}{text}")
    for member in group.members:
        mean = "" if member.score is None else f", mean return {number(member.score)}"
        why = f" ({member.reason})" if member.reason else ""
        where = policies[member.seed] or member.folder
        write_line(f"  seed {member.seed}: {member.state}{why}{mean}: {where}")
