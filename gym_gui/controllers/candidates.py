"""Who may play a slot: a person, the workers' policies that fit, trained policies on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.controllers.play_setup import PERSON
from gym_gui.core.spaces import Space
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.settings_schema import Setting
from gym_gui.workers.slots import check_slot
from gym_gui.workers.status import check_installed

_log = logging.getLogger(__name__)

FAULTS: Final = "test_worker"
"""Misbehaves on purpose, for tests: not somebody to play with."""
POLICY_FILE: Final = "policy.json"
"""What a folder with a trained policy has in it."""


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody who may play a slot.

    Attributes:
        key: Names it among the slot's candidates.
        label: As people read it.
        kind: Of worker (``rl``, ``baseline``, …).
        worker_id: The worker.
        settings: Its settings.
        meaning: A sentence about it.
        reason: Why it cannot play the slot, as a sentence; empty when it can.
        asks_policy: A trained policy must be chosen first; the setting that takes it.
    """

    key: str
    label: str
    kind: str
    worker_id: str
    settings: Mapping[str, Any] = field(default_factory=_nothing)
    meaning: str = ""
    reason: str = ""
    asks_policy: str = ""


def candidates(
    env_id: str,
    agent: str,
    observation: Mapping[str, Any],
    action: Mapping[str, Any],
    policies: Iterable[Path] = (),
) -> list[Candidate]:
    """Everybody who might play a slot, those that cannot with the reason; people are not among them.

    Takes file reads and the look-up of installed packages: call it off the GUI thread.

    Args:
        env_id: Canonical id of the environment.
        agent: The slot.
        observation: JSON data of the space it sees.
        action: JSON data of its action space.
        policies: Folders with trained policies.
    """
    if not WorkerTypeRegistry.all():
        discover()
    sees, does = Space.from_json(observation), Space.from_json(action)
    found: list[Candidate] = []
    trained = [policy for folder in policies if (policy := _read_policy(folder)) is not None]
    for definition in WorkerTypeRegistry.all():
        if definition.type_id in (PERSON, FAULTS):
            continue
        reasons = check_slot(definition, sees, does)
        status = check_installed(definition)
        if status.state != "installed":
            reasons = [
                f"{definition.display_name} cannot start: {status.reason}. {status.install}".rstrip(". ")
            ]
        found += _of_worker(definition, env_id, agent, reasons[0] if reasons else "", trained)
    return found


def _of_worker(
    definition: WorkerTypeDefinition,
    env_id: str,
    agent: str,
    reason: str,
    trained: Iterable[tuple[Path, Mapping[str, Any]]],
) -> list[Candidate]:
    schema = definition.settings_schema
    choice = next((s for s in schema if s.policies), None)
    takes = next((s for s in schema if s.type == "policy" and s.required), None)
    base = (definition.kind.value, definition.type_id)
    if choice is not None:
        return _by_choice(definition, choice, env_id, agent, reason)
    if takes is None:
        name, meaning = definition.display_name, definition.description
        return [Candidate(definition.type_id, name, *base, {}, meaning, reason)]
    found = [
        _trained(definition, takes.name, folder, about, env_id, reason)
        for folder, about in trained
        if about.get("env_id") == env_id
    ]
    asks = Candidate(
        f"{definition.type_id}:choose",
        f"{definition.display_name} policy…",
        *base,
        {},
        f"{definition.description}; choose the folder or file of a trained policy",
        reason,
        takes.name,
    )
    return [*found, asks]


def _by_choice(
    definition: WorkerTypeDefinition, choice: Setting, env_id: str, agent: str, reason: str
) -> list[Candidate]:
    """One candidate per option that is meant for this slot."""
    return [
        Candidate(
            f"{definition.type_id}:{option.value}",
            option.label,
            definition.kind.value,
            definition.type_id,
            {choice.name: option.value},
            option.meaning,
            reason,
        )
        for option in choice.options
        if not option.misfit(env_id, agent)
    ]


def _trained(
    definition: WorkerTypeDefinition,
    setting: str,
    folder: Path,
    about: Mapping[str, Any],
    env_id: str,
    reason: str,
) -> Candidate:
    algorithm, steps = str(about.get("algorithm", "")).upper(), about.get("total_steps")
    trained = f" trained for {steps:,} steps" if isinstance(steps, int) else ""
    label = f"{algorithm or definition.display_name} ({folder.name})"
    meaning = f"{algorithm or 'A policy'} on {env_id}{trained}: {folder}"
    settings = {setting: str(folder)}
    return Candidate(
        f"{definition.type_id}:{folder}",
        label,
        definition.kind.value,
        definition.type_id,
        settings,
        meaning,
        reason,
    )


def _read_policy(folder: Path) -> tuple[Path, Mapping[str, Any]] | None:
    try:
        about: Any = json.loads((folder / POLICY_FILE).read_text("utf-8"))
    except (OSError, ValueError) as error:
        _log.info("%s holds no policy that can be read: %s", folder, error)
        return None
    return (folder, cast("Mapping[str, Any]", about)) if isinstance(about, dict) else None


def trained_policies(*roots: Path) -> list[Path]:
    """Folders of trained policies in some folders, and one level below."""
    found: list[Path] = []
    for root in roots:
        for pattern in (POLICY_FILE, f"*/{POLICY_FILE}", f"*/*/{POLICY_FILE}"):
            found += sorted(path.parent for path in root.glob(pattern))
    return list(dict.fromkeys(found))
