"""Who plays a game that is opened: what is known of its environment without an instance, and a line-up."""

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
    """What is known without an instance.

    Attributes:
        env_id: Canonical id.
        single: Whether it has one agent.
        turns: Whether its agents move one after the other.
        realtime: Whether time runs.
        rate: Steps a second.
    """

    env_id: str
    single: bool
    turns: bool
    realtime: bool
    rate: float


def request_of(task: str, config: OperatorConfig | None) -> EnvironmentRequest:
    """What to ask of an environment: as ``config`` makes it, or as it is usually made."""
    return (Draft(task) if config is None else Draft.of(config)).request()


def facts_of(request: EnvironmentRequest) -> Facts:
    """What is known of an environment without an instance.

    Raises:
        MosaicError: There is no such environment.
    """
    spec = envs.resolve(
        request.task, env_name=request.env_name or None, api=request.api, origin=request.origin
    )
    pace = envs.families()[spec.family].pace(spec)
    return Facts(spec.id, spec.api == "gymnasium", spec.api == "aec", pace.realtime, pace.rate)


def clock_of(facts: Facts) -> Clock:
    """How the time of an environment runs."""
    return Clock(facts.realtime, facts.rate)


def alone(env_id: str, clock: Clock) -> OperatorConfig:
    """A person in the only slot."""
    return game(env_id, {"agent_0": person(clock)})


def offers_of(env_info: EnvironmentInfo, checks: ConfigurationChecks) -> dict[str, list[Offer]]:
    """Who may play each slot, by agent."""
    return {agent: others(checks.offers(slot), env_info.env_id) for agent, slot in env_info.slots.items()}


def default_operator(
    env_info: EnvironmentInfo, offers: Mapping[str, Sequence[Offer]], clock: Clock
) -> OperatorConfig:
    """A person in the first slot, an opponent that fits in each of the others; a person where none fits."""
    first, *rest = env_info.agents
    players = {first: person(clock)}
    for agent in rest:
        other = opponent(offers[agent], env_info.env_id)
        players[agent] = person(clock) if other is None else other.assignment()
    return game(env_info.env_id, players)
