"""What a session host is asked for, as messages, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import (
    LiveSettings,
    SessionReady,
    SessionSettings,
    default_concurrency,
)
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan, Opening, TimeControl
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.spending import Amount
from gym_gui.host.service_names import pb
from gym_gui.host.view_messages import text_by_name, texts, words, words_by_name
from gym_gui.services.secrets import resolve_secrets


def launch_message(
    resolved: ResolvedOperator, settings: SessionSettings, *, keys: bool = True
) -> pb.LaunchRequest:
    """The operator and how it plays.

    Args:
        resolved: The operator.
        settings: How it plays.
        keys: Whether it is sent what its settings refer to; else the host has keys of its own.

    Raises:
        ExperimentError: A secret that its settings refer to is not there.
    """
    found = keys_of(resolved) if keys else {}
    secrets = {f"{agent} {place}": secret for agent, kept in found.items() for place, secret in kept.items()}
    return pb.LaunchRequest(
        operator=json.dumps(resolved.config.to_record()).encode(),
        concurrency=settings.concurrency,
        max_steps=settings.max_steps or 0,
        observations=settings.observations,
        secrets=secrets,
        live=None if settings.live is None else live_message(settings.live),
    )


def keys_of(resolved: ResolvedOperator) -> dict[str, dict[str, str]]:
    """The keys that an operator's settings refer to, by slot and place; raises as :func:`launch_message`."""
    return {agent: resolve_secrets(assignment) for agent, assignment in resolved.assignments.items()}


def operator_of(message: pb.LaunchRequest) -> ResolvedOperator:
    """The operator that is to be launched.

    Raises:
        UsageError: It cannot play here.
    """
    experiment = experiment_from_data({"operators": [json.loads(message.operator)]})
    return resolve_operator(experiment.operators[0])


def settings_of(message: pb.LaunchRequest, resolved: ResolvedOperator) -> SessionSettings:
    """How it is to play."""
    return SessionSettings(
        message.concurrency or default_concurrency(resolved, 1 << 30),
        message.max_steps or None,
        message.observations,
        live_of(message.live) if message.HasField("live") else None,
    )


def secrets_of(message: pb.LaunchRequest) -> dict[str, dict[str, str]]:
    """Its keys, by slot and place."""
    secrets: dict[str, dict[str, str]] = {}
    for key, secret in message.secrets.items():
        agent, _, place = key.partition(" ")
        secrets.setdefault(agent, {})[place] = secret
    return secrets


def live_message(live: LiveSettings) -> pb.Live:
    """How a session is watched."""
    first = None if live.first is None else episode_message(live.first)
    return pb.Live(fps=live.fps, render=live.render, everything=live.everything, first=first)


def live_of(message: pb.Live) -> LiveSettings:
    """How a session is watched.

    Raises:
        UsageError: So often, or in that way, nothing can be shown.
    """
    render: Any = message.render  # checked by the settings themselves
    first = plan_of(message.first) if message.HasField("first") else None
    return LiveSettings(message.fps, render, first, message.everything)


def episode_message(plan: EpisodePlan) -> pb.Episode:
    """An episode to be played."""
    allowances = [allowance_message(slot, allowance) for slot, allowance in plan.allowances.items()]
    before = plan.opening
    opening = None if before is None else pb.Opening(episode=before.episode, step=before.step)
    time = plan.time_control
    control = None if time is None else pb.TimeControl(seconds=time.seconds, increment_s=time.increment_s)
    return pb.Episode(
        index=plan.index,
        seed=plan.seed,
        seating=plan.seating,
        allowances=allowances,
        opening=opening,
        time_control=control,
    )


def allowance_message(slot: str, allowance: Amount) -> pb.Allowance:
    """What a slot may take in an episode."""
    return pb.Allowance(slot=slot, tokens=allowance.tokens, usd=allowance.usd)


def amount_of(message: pb.Allowance) -> Amount:
    """The allowance of a message."""
    return Amount(message.tokens, message.usd)


def plan_of(message: pb.Episode) -> EpisodePlan:
    """The episode that a message asks for."""
    allowances = {a.slot: amount_of(a) for a in message.allowances}
    before = message.opening
    opening = Opening(before.episode, before.step) if message.HasField("opening") else None
    time = message.time_control
    control = TimeControl(time.seconds, time.increment_s) if message.HasField("time_control") else None
    return EpisodePlan(message.index, message.seed, message.seating, allowances, opening, control)


def assignment_of(message: pb.RebindRequest) -> WorkerAssignment:
    """Who is to play a slot."""
    record: dict[str, Any] = json.loads(message.assignment)
    return WorkerAssignment(worker_type=record.pop("type"), **record)


# -- what is answered -------------------------------------------------------------------------


def ready_message(ready: SessionReady) -> pb.Ready:
    """What a session says of itself once everybody sits."""
    return pb.Ready(
        pid=ready.pid,
        players=[player_message(slot, player) for slot, player in ready.players.items()],
        concurrency=ready.concurrency,
        versions=texts(ready.versions),
        actions=words(ready.actions),
        renamed=words(ready.renamed),
        seats=texts(ready.seats),
        announcing=ready.announcing,
    )


def ready_of(message: pb.Ready) -> SessionReady:
    """What a message says of a session."""
    return SessionReady(
        message.pid,
        {player.slot: player_of(player) for player in message.players},
        message.concurrency,
        text_by_name(message.versions),
        words_by_name(message.actions),
        words_by_name(message.renamed),
        text_by_name(message.seats),
        announcing=tuple(message.announcing),
    )


def player_message(slot: str, player: Mapping[str, str]) -> pb.Player:
    """Who plays a slot."""
    return pb.Player(slot=slot, **player)


def player_of(message: pb.Player) -> dict[str, str]:
    """Worker, type, policy, version."""
    player = {"worker_id": message.worker_id, "worker_type": message.worker_type, "policy": message.policy}
    return {**player, "version": message.version} if message.HasField("version") else player
