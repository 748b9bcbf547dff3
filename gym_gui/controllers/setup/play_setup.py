"""Chooses the players of a game that a person plays or watches: people, opponents, deadlines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gym_gui.core.config import GOAL_SUFFIX, LinkGroup, OperatorConfig
from gym_gui.core.enums import WorkerKind
from gym_gui.core.experiment.assignment import WorkerAssignment

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import OfferedPolicy
    from gym_gui.services.policies.policy_catalog import Policy

PERSON: Final = "human_worker"
"""Id of the worker through which people play."""
OPERATOR: Final = "play"
"""Operator id of a game in the Play page, which also names the operator's folder in a run."""
_MODELS: Final = frozenset({WorkerKind.LLM.value, WorkerKind.VLM.value})
_IN_TIME: Final = 0.9
"""Fraction of a step's time that a person has to answer.

The rest is for messages to and from the session, so that a fallback does not make the step late.
"""


@dataclass(frozen=True, slots=True)
class Clock:
    """Speed of a game, and whether it waits for people.

    Attributes:
        realtime: Whether the game continues while a person thinks.
        rate: Environment steps per second; in turn-based play, moves per second of the other players.
    """

    realtime: bool
    rate: float


def person(clock: Clock) -> WorkerAssignment:
    """Return the assignment of a slot that a person plays.

    In real time, if the person does not answer within the step, the environment's no-op or the nearest action
    is played and recorded as a fallback. Otherwise the game waits for the person.
    """
    if not clock.realtime:
        return WorkerAssignment(PERSON, "human")
    return WorkerAssignment(PERSON, "human", on_invalid="noop", deadline_s=round(_IN_TIME / clock.rate, 4))


def is_person(assignment: WorkerAssignment) -> bool:
    """Return whether a person chooses the actions of a slot; a scripted human player does not count."""
    return assignment.worker_id == PERSON and "script" not in assignment.settings


def people(config: OperatorConfig) -> tuple[str, ...]:
    """Return the slots that people play, in the order of the configuration."""
    return tuple(slot for slot, player in config.resolved_slots().items() if is_person(player))


def others(offers: Sequence[OfferedPolicy], env_id: str) -> list[OfferedPolicy]:
    """Return the offered players other than people, those trained in another environment last.

    Behaviors and trained policies that do not fit are left out, because there may be many. Workers that
    cannot play are included with their reason.
    """
    shown = [
        offer
        for offer in offers
        if offer.policy.worker_id != PERSON
        and (offer.fits or (offer.policy.option is None and offer.policy.file is None))
    ]
    return sorted(shown, key=lambda o: o.policy.file is not None and o.policy.file.env_id != env_id)


def opponent(offers: Sequence[OfferedPolicy], env_id: str) -> Policy | None:
    """Return the default opponent: a baseline for this game, else random moves, else any fitting policy."""
    fitting = [offer.policy for offer in offers if not offer.reason and offer.policy.complete]
    knowing = [policy for policy in fitting if policy.kind == "baseline" and policy.is_made_for(env_id)]
    chance = [policy for policy in fitting if policy.policy_id == "random"]
    return next(iter([*knowing, *chance, *fitting]), None)


def game(
    task: str,
    players: Mapping[str, WorkerAssignment],
    *,
    name: str = "",
    env_name: str = "",
    api: str | None = None,
) -> OperatorConfig:
    """Return the operator configuration of a game with these players.

    Raises:
        ConfigError: A value of the configuration is invalid.
    """
    return OperatorConfig(OPERATOR, name or "You", env_name, task, players, api=api, named=bool(name))


def seated_as_written(config: OperatorConfig) -> OperatorConfig:
    """Return the operator with fixed seats, because agents keep their seats in live play."""
    return config if config.seats == "fixed" else replace(config, seats="fixed")


def asks_models(config: OperatorConfig) -> bool:
    """Return whether a language model plays any slot, so that decisions may cost money."""
    return any(player.worker_type in _MODELS for player in config.resolved_slots().values())


def runs_programs(config: OperatorConfig) -> bool:
    """Return whether a BDI program, which reports its reasoning, plays any slot."""
    return any(player.worker_type == "bdi" for player in config.resolved_slots().values())


def with_player(config: OperatorConfig, agent: str, player: WorkerAssignment) -> OperatorConfig:
    """Return the operator with another player in one slot, which leaves its link group."""
    if agent.endswith(GOAL_SUFFIX) and agent.removesuffix(GOAL_SUFFIX) in config.manager:
        return replace(config, manager={**config.manager, agent.removesuffix(GOAL_SUFFIX): player})
    workers, groups = {**config.workers, agent: player}, list[LinkGroup]()
    for group in config.link_groups:
        rest = tuple(other for other in group.linked_agents if other != agent)
        if agent != group.primary_agent and rest:
            groups.append(replace(group, linked_agents=rest))
        elif agent in group.agents:  # each remaining slot plays the group's policy on its own
            slots = config.resolved_slots()
            workers |= {other: slots[other] for other in group.agents if other != agent}
    return replace(config, workers=workers, link_groups=groups)


def with_clock(config: OperatorConfig, clock: Clock) -> OperatorConfig:
    """Return the game's configuration with another clock for its people."""
    changed = {
        slot: replace_person(player, clock) if is_person(player) else player
        for slot, player in config.workers.items()
    }
    return replace(config, workers=changed)


def replace_person(player: WorkerAssignment, clock: Clock) -> WorkerAssignment:
    """Return a person's assignment with another clock and the same settings."""
    fresh = person(clock)
    return WorkerAssignment(
        player.worker_id,
        player.worker_type,
        dict(player.settings),
        on_invalid=fresh.on_invalid,
        deadline_s=fresh.deadline_s,
    )


def hands(scheme_keys: Sequence[str], *, mouse: bool, typed: bool) -> str:
    """Return a person's input device as text, such as ``arrow keys``, ``W A S D`` or ``mouse``."""
    keys = set(scheme_keys)
    if mouse:
        return "mouse"
    if typed:
        return "typed numbers"
    if keys & {"Up", "Down", "Left", "Right"}:
        return "arrow keys"
    if len(keys & set("WASD")) > 1:
        return "W A S D"
    return "keys " + " ".join(scheme_keys[:4]) + (" …" if len(scheme_keys) > 4 else "") if keys else ""
