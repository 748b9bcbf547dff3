"""The default players of a game, and facts about an environment that need no instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_gui import envs
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.controllers.setup.play_setup import Clock, game, opponent, others, person
from gym_gui.core.config import OperatorConfig


@dataclass(frozen=True)
class EnvironmentFacts:
    """Facts about an environment that are known without creating it.

    Attributes:
        env_id: Canonical id of the environment.
        single: Whether the environment has a single agent.
        turns: Whether agents move one after the other.
        realtime: Whether people play in real time by default.
        rate: Default rate, in steps per second.
    """

    env_id: str
    single: bool
    turns: bool
    realtime: bool
    rate: float


def request_of(task: str, config: OperatorConfig | None) -> EnvironmentRequest:
    """Return the request for an environment, with the settings of a configuration if one is given."""
    return (Draft(task) if config is None else Draft.of(config)).request()


def facts_of(request: EnvironmentRequest) -> EnvironmentFacts:
    """Return the facts about an environment that are known without creating it.

    Raises:
        MosaicError: The environment does not exist.
    """
    spec = envs.resolve(
        request.task, env_name=request.env_name or None, api=request.api, origin=request.origin
    )
    pace = envs.families()[spec.family].pace(spec)
    return EnvironmentFacts(spec.id, spec.api == "gymnasium", spec.api == "aec", pace.realtime, pace.rate)


def clock_of(facts: EnvironmentFacts) -> Clock:
    """Return the default clock of an environment: whether it runs in real time, and its rate."""
    return Clock(facts.realtime, facts.rate)


def single_person(env_id: str, clock: Clock) -> OperatorConfig:
    """Return a configuration with a person in the only slot."""
    return game(env_id, {"agent_0": person(clock)})


def offers_of(env_info: EnvironmentInfo, checks: ConfigurationChecks) -> dict[str, list[OfferedPolicy]]:
    """Return the players that can play each slot, by agent."""
    return {agent: others(checks.offers(slot), env_info.env_id) for agent, slot in env_info.slots.items()}


def default_operator(
    env_info: EnvironmentInfo, offers: Mapping[str, Sequence[OfferedPolicy]], clock: Clock
) -> OperatorConfig:
    """Return a configuration with a person in the first slot and a fitting policy in each other slot.

    A slot without a fitting policy gets a person.
    """
    first, *rest = env_info.agents
    players = {first: person(clock)}
    for agent in rest:
        other = opponent(offers[agent], env_info.env_id)
        players[agent] = person(clock) if other is None else other.assignment()
    return game(env_info.env_id, players)
