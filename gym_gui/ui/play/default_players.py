"""The default players of a game, and what is known of an environment without creating it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_gui import envs
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Offer
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.controllers.setup.play_setup import Clock, game, opponent, others, person
from gym_gui.core.config import OperatorConfig


@dataclass(frozen=True)
class Facts:
    """What is known of an environment without creating it.

    Attributes:
        env_id: Canonical id.
        single: Whether it has only one agent.
        turns: Whether its agents move one after the other.
        realtime: Whether it is played in real time by default.
        rate: Default rate, in steps per second.
    """

    env_id: str
    single: bool
    turns: bool
    realtime: bool
    rate: float


def request_of(task: str, config: OperatorConfig | None) -> EnvironmentRequest:
    """Return the request for an environment, as ``config`` or by default."""
    return (Draft(task) if config is None else Draft.of(config)).request()


def facts_of(request: EnvironmentRequest) -> Facts:
    """Return what is known of an environment without creating it.

    Raises:
        MosaicError: There is no such environment.
    """
    spec = envs.resolve(
        request.task, env_name=request.env_name or None, api=request.api, origin=request.origin
    )
    pace = envs.families()[spec.family].pace(spec)
    return Facts(spec.id, spec.api == "gymnasium", spec.api == "aec", pace.realtime, pace.rate)


def clock_of(facts: Facts) -> Clock:
    """Return the clock of an environment: real time or not, and its rate."""
    return Clock(facts.realtime, facts.rate)


def alone(env_id: str, clock: Clock) -> OperatorConfig:
    """Return an operator with a person in the only slot."""
    return game(env_id, {"agent_0": person(clock)})


def offers_of(env_info: EnvironmentInfo, checks: ConfigurationChecks) -> dict[str, list[Offer]]:
    """Return, by agent, the players that each slot may have."""
    return {agent: others(checks.offers(slot), env_info.env_id) for agent, slot in env_info.slots.items()}


def default_operator(
    env_info: EnvironmentInfo, offers: Mapping[str, Sequence[Offer]], clock: Clock
) -> OperatorConfig:
    """Return an operator with a person in the first slot and fitting opponents in the others.

    A slot without a fitting opponent gets a person.
    """
    first, *rest = env_info.agents
    players = {first: person(clock)}
    for agent in rest:
        other = opponent(offers[agent], env_info.env_id)
        players[agent] = person(clock) if other is None else other.assignment()
    return game(env_info.env_id, players)
