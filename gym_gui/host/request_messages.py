"""Converts requests to a session host and the host's answers to messages and back."""

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
    """Return the message that asks a host to launch an operator's session.

    Args:
        resolved: The operator.
        settings: Concurrency, step limit and live view of the session.
        keys: Whether to send the secrets to which the operator's settings refer; otherwise the host uses
            its own.

    Raises:
        ExperimentError: A secret to which the operator's settings refer does not exist.
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
    """Return an operator's secrets by slot and path in the settings.

    Errors are as for :func:`launch_message`.
    """
    return {agent: resolve_secrets(assignment) for agent, assignment in resolved.assignments.items()}


def operator_of(message: pb.LaunchRequest) -> ResolvedOperator:
    """Return the operator of a launch request, checked on this machine.

    Raises:
        UsageError: The operator cannot play on this machine.
    """
    experiment = experiment_from_data({"operators": [json.loads(message.operator)]})
    return resolve_operator(experiment.operators[0])


def settings_of(message: pb.LaunchRequest, resolved: ResolvedOperator) -> SessionSettings:
    """Return the session settings of a launch request."""
    return SessionSettings(
        message.concurrency or default_concurrency(resolved, 1 << 30),
        message.max_steps or None,
        message.observations,
        live_of(message.live) if message.HasField("live") else None,
    )


def secrets_of(message: pb.LaunchRequest) -> dict[str, dict[str, str]]:
    """Return the secrets of a launch request, by slot and path in the slot's settings."""
    secrets: dict[str, dict[str, str]] = {}
    for key, secret in message.secrets.items():
        agent, _, place = key.partition(" ")
        secrets.setdefault(agent, {})[place] = secret
    return secrets


def live_message(live: LiveSettings) -> pb.Live:
    """Return the settings for watching a session as a message."""
    first = None if live.first is None else episode_message(live.first)
    return pb.Live(fps=live.fps, render=live.render, everything=live.everything, first=first)


def live_of(message: pb.Live) -> LiveSettings:
    """Return the settings for watching a session from a message.

    Raises:
        UsageError: The frame rate or the render mode is not valid.
    """
    render: Any = message.render  # checked by the settings themselves
    first = plan_of(message.first) if message.HasField("first") else None
    return LiveSettings(message.fps, render, first, message.everything)


def episode_message(plan: EpisodePlan) -> pb.Episode:
    """Return a planned episode as a message."""
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
    """Return the amount that a slot may spend in an episode as a message."""
    return pb.Allowance(slot=slot, tokens=allowance.tokens, usd=allowance.usd)


def amount_of(message: pb.Allowance) -> Amount:
    """Return the amount of tokens and money from a message."""
    return Amount(message.tokens, message.usd)


def plan_of(message: pb.Episode) -> EpisodePlan:
    """Return the planned episode from a message."""
    allowances = {a.slot: amount_of(a) for a in message.allowances}
    before = message.opening
    opening = Opening(before.episode, before.step) if message.HasField("opening") else None
    time = message.time_control
    control = TimeControl(time.seconds, time.increment_s) if message.HasField("time_control") else None
    return EpisodePlan(message.index, message.seed, message.seating, allowances, opening, control)


def assignment_of(message: pb.RebindRequest) -> WorkerAssignment:
    """Return the new player of a slot from a rebinding request."""
    record: dict[str, Any] = json.loads(message.assignment)
    return WorkerAssignment(worker_type=record.pop("type"), **record)


# -- answers ----------------------------------------------------------------------------------


def ready_message(ready: SessionReady) -> pb.Ready:
    """Return the description of a started session as a message."""
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
    """Return the description of a started session from a message."""
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
    """Return the player of a slot as a message."""
    return pb.Player(slot=slot, **player)


def player_of(message: pb.Player) -> dict[str, str]:
    """Return worker, type, policy and version of a player from a message."""
    player = {"worker_id": message.worker_id, "worker_type": message.worker_type, "policy": message.policy}
    return {**player, "version": message.version} if message.HasField("version") else player
