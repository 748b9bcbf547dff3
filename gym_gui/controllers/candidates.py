"""Who may play a slot: a person, the workers' policies that fit, trained policies on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gym_gui.controllers.play_setup import PERSON
from gym_gui.core.spaces import Space
from gym_gui.services.policy_catalogue import Policy, policies_of
from gym_gui.services.policy_files import PolicyFile
from gym_gui.services.policy_fit import misfit
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.slots import check_slot
from gym_gui.workers.status import check_installed

FAULTS: Final = "test_worker"
"""Misbehaves on purpose, for tests: not somebody to play with."""


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
    policies: Sequence[PolicyFile] = (),
    offers: Sequence[str] = ("legal_actions",),
) -> list[Candidate]:
    """Everybody who might play a slot, those that cannot with the reason; people are not among them.

    Trained policies that do not fit are left out: there may be many. Those of another
    environment come after this one's own.

    Takes the look-up of installed packages: call it off the GUI thread.

    Args:
        env_id: Canonical id of the environment.
        agent: The slot.
        observation: JSON data of the space it sees.
        action: JSON data of its action space.
        policies: Trained policies.
        offers: What the slot can be shown beside its observation.
    """
    if not WorkerTypeRegistry.all():
        discover()
    slot = _Slot(env_id, agent, Space.from_json(observation), Space.from_json(action), tuple(offers))
    here = sorted(policies, key=lambda policy: policy.env_id != env_id)
    found: list[Candidate] = []
    for definition in WorkerTypeRegistry.all():
        if definition.type_id not in (PERSON, FAULTS):
            found += _of_worker(definition, slot, policies_of([definition], here))
    return found


@dataclass(frozen=True)
class _Slot:
    """A slot that somebody is to play."""

    env_id: str
    agent: str
    sees: Space
    does: Space
    offers: tuple[str, ...]


def _of_worker(definition: WorkerTypeDefinition, slot: _Slot, policies: Sequence[Policy]) -> list[Candidate]:
    status = check_installed(definition)
    absent = f"{definition.display_name} cannot start: {status.reason}. {status.install}".rstrip(". ")
    missing = absent if status.state != "installed" else ""
    found: list[Candidate] = []
    for policy in policies:
        if policy.option is not None and policy.option.misfit(slot.env_id, slot.agent):
            continue
        if policy.file is not None and misfit(policy.file, slot.sees, slot.does):
            continue
        # What a policy that is still to be chosen sees is decided by its preprocessing.
        sees = policy.file.shown if policy.file is not None else None if policy.takes else slot.sees
        misfits = check_slot(definition, sees, slot.does, inputs=slot.offers)
        reason = (
            missing or _elsewhere(definition, slot.env_id) or next(iter(misfits), "") or _unset(definition)
        )
        found.append(_candidate(definition, policy, reason))
    return found


def _elsewhere(definition: WorkerTypeDefinition, env_id: str) -> str:
    """Why who is made for certain environments does not play this one."""
    known = definition.capabilities
    if known.is_for(env_id):
        return ""
    return f"{definition.display_name} is made for {' or '.join(known.environments)}, not for {env_id}"


def _unset(definition: WorkerTypeDefinition) -> str:
    """Why who asks a model cannot play as it is."""
    asks = any(setting.type == "model" for setting in definition.settings_schema)
    return f"{definition.display_name} needs a server and a model: choose it in Agents" if asks else ""


def _candidate(definition: WorkerTypeDefinition, policy: Policy, reason: str) -> Candidate:
    if policy.file is not None:
        file = policy.file
        key, label = f"{definition.type_id}:{file.path}", f"{file.algorithm.upper()} ({file.title})"
        meaning = f"{policy.meaning}: {file.path}"
    elif policy.option is not None:
        key, label = f"{definition.type_id}:{policy.option.value}", policy.title
        meaning = policy.meaning
    elif policy.takes:
        key, label = f"{definition.type_id}:choose", f"{definition.display_name} policy…"
        meaning = f"{definition.description}; choose the folder or file of a trained policy"
    else:
        key, label, meaning = definition.type_id, definition.display_name, definition.description
    return Candidate(
        key,
        label,
        definition.kind.value,
        definition.type_id,
        policy.settings,
        meaning,
        reason,
        policy.takes,
    )
