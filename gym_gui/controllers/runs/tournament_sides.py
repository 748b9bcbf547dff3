"""Determines the sides of a tournament: teams that compete, or the slots of a single team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gym_gui.controllers.engine.bound_operator import seatings
from gym_gui.controllers.engine.environment_seats import SeatsOf
from gym_gui.controllers.engine.resolved_operator import seats_here
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.operator_parts import check_agent
from gym_gui.core.experiment.tournament import Schedule, Tournament
from gym_gui.core.experiment.tournament_pool import BySlot
from gym_gui.core.validation import join, key_place, nearest

WITH = "_with_"
"""Text that joins two policy names in the id of an operator in which both play in one team."""


def sides_of(
    tournament: Tournament, seats_of: SeatsOf = seats_here
) -> tuple[Tournament, Mapping[str, Sequence[str]]]:
    """Return the slots of each side; in cross-play, each slot is one side.

    Args:
        tournament: The tournament as requested; if its schedule is empty, the environment's teams decide.
        seats_of: Reads the slots and teams of the environment; by default it is made in this process.

    Returns:
        The tournament with its schedule, and the sides. The tournament has ``seats: fixed`` if policies of
        one team stay in their slots, because the slots have different spaces or are for different policies.

    Raises:
        ConfigError: A team has an agent that the environment does not have.
        ExperimentError: Sides cannot swap seats, the schedule does not fit the sides, or a policy for named
            slots misses a slot or names an unknown one.
    """
    task, kind = tournament.operator.task, tournament.schedule.kind
    found, own = seats_of(tournament.operator), tournament.operator.teams
    slots, teams = found.slots, found.teams if own is None else own
    for team, agents in teams.items():
        for agent in agents:
            check_agent(agent, slots, join("teams", key_place(team)))
    if len(slots) < 2:
        raise ExperimentError(
            f"{task} has one agent: a tournament needs several",
            fix="Compare policies in this environment with: mosaic run FILE",
        )
    together = len(teams) < 2
    if together and kind not in ("", "cross_play"):
        raise ExperimentError(
            f"all agents of {task} are on one side: no side can win",
            fix="Use schedule: cross_play, or name the agents of each team under 'teams'",
        )
    if not together and kind == "cross_play":
        raise ExperimentError(
            f"the sides of {task} compete, and cross-play needs one team",
            fix="Use schedule: round_robin",
        )
    if not together and tournament.held_out:
        raise ExperimentError(
            f"the sides of {task} compete, and held-out partners need one team",
            fix="Leave 'held_out' out",
        )
    by_slot = [name for name, player in tournament.policies.items() if isinstance(player, BySlot)]
    if by_slot and not together:
        raise ExperimentError(
            f"policy {by_slot[0]!r} has a player for each slot, and the sides of {task} change seats",
            fix="Name one player for all slots; 'slots' is for cross-play",
        )
    try:
        seatings(teams, slots, swap=True)
    except ExperimentError as error:
        if not together:
            raise ExperimentError(
                f"{task} is no game for a tournament: {error.message}",
                fix="Choose an environment whose sides can change seats, or compare policies with mosaic run",
            ) from None
        by_slot.append(task)  # the slots differ, so that policies stay in them
    if left := [slot for slot in slots if not any(slot in who for who in teams.values())]:
        raise ExperimentError(f"{task}: {', '.join(left)} is on no side", fix="List all slots under 'teams'")
    if not kind:
        tournament = replace(tournament, schedule=Schedule("cross_play" if together else "round_robin"))
    if not together:
        return tournament, teams
    if joined := next((name for name in tournament.policies if WITH in name), ""):
        raise ExperimentError(
            f"{joined!r} cannot be the name of a policy in cross-play",
            fix=f"Choose a name without {WITH!r}, which joins the names of two policies",
        )
    for name, player in tournament.policies.items():
        if isinstance(player, BySlot):
            _check_slots(name, player, list(slots))
    if by_slot:
        tournament = replace(tournament, operator=replace(tournament.operator, seats="fixed"))
    return tournament, {slot: (slot,) for slot in slots}


def _check_slots(name: str, player: BySlot, slots: Sequence[str]) -> None:
    """Check that a policy names a player for each slot, and for no unknown slot.

    Raises:
        ExperimentError: A slot is missing or unknown.
    """
    for slot in player.slots:
        if slot not in slots:
            raise ExperimentError(f"policy {name!r}: there is no slot {slot!r}", fix=nearest(slot, slots))
    if missing := [slot for slot in slots if slot not in player.slots]:
        raise ExperimentError(
            f"policy {name!r} has no player for {', '.join(missing)}", fix="Name a player under 'slots'"
        )
