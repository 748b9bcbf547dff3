"""What a session host is told first, as a message."""

from __future__ import annotations

import json

from gym_gui.controllers.resolved_operator import ResolvedOperator
from gym_gui.controllers.session_interface import LiveSettings, SessionSettings
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.spending import Amount
from gym_gui.host.service import pb
from gym_gui.services.secrets import resolve_secrets


def launch_message(resolved: ResolvedOperator, settings: SessionSettings) -> pb.Launch:
    """The operator and how it plays.

    Raises:
        ExperimentError: A secret that its settings refer to is not there.
    """
    secrets = {
        f"{agent} {place}": secret
        for agent, assignment in resolved.assignments.items()
        for place, secret in resolve_secrets(assignment).items()
    }
    return pb.Launch(
        operator=json.dumps(resolved.config.to_record()),
        concurrency=settings.concurrency,
        max_steps=settings.max_steps or 0,
        observations=settings.observations,
        secrets=secrets,
        live=None if settings.live is None else _live_message(settings.live),
    )


def episode_message(plan: EpisodePlan) -> pb.Episode:
    """An episode to be played."""
    allowances = [allowance_message(slot, allowance) for slot, allowance in plan.allowances.items()]
    return pb.Episode(index=plan.index, seed=plan.seed, seating=plan.seating, allowances=allowances)


def allowance_message(slot: str, allowance: Amount) -> pb.Allowance:
    """What a slot may take in an episode."""
    return pb.Allowance(slot=slot, tokens=allowance.tokens, usd=allowance.usd)


def plan_of(message: pb.Episode) -> EpisodePlan:
    """The episode that a message asks for."""
    allowances = {a.slot: Amount(a.tokens, a.usd) for a in message.allowances}
    return EpisodePlan(message.index, message.seed, message.seating, allowances)


def _live_message(live: LiveSettings) -> pb.Live:
    message = pb.Live(fps=live.fps, render=live.render, everything=live.everything)
    if live.first is not None:
        message.first.CopyFrom(episode_message(live.first))
    return message
