"""Who is with whom in a tournament's environment: sides that meet, or one team whose seats are filled."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gym_gui.controllers.lineup import read_slots, seatings
from gym_gui.controllers.resolved_operator import make_environment
from gym_gui.core.errors import ExperimentError
from gym_gui.core.tournament import Schedule, Tournament

WITH = "_with_"
"""Between two names, in the id of an operator that is a team of both."""


def sides_of(tournament: Tournament) -> tuple[Tournament, Mapping[str, Sequence[str]]]:
    """Slots by side, or each slot by itself where all are on one side and it is cross-play.

    Args:
        tournament: What is asked for; its schedule may be left to the environment.

    Returns:
        The tournament with its schedule, and the sides.

    Raises:
        ExperimentError: Neither sides nor agents could change seats, or the schedule does not suit them.
    """
    task, kind = tournament.operator.task, tournament.schedule.kind
    with contextlib.closing(make_environment(tournament.operator)) as environment:
        slots, teams = read_slots(environment), {t: tuple(who) for t, who in environment.teams.items()}
        if len(slots) < 2:
            raise ExperimentError(
                f"{task} has one agent: a tournament needs several",
                fix="Compare policies there with: mosaic run FILE",
            )
        together = len(teams) < 2
        if together and kind not in ("", "cross_play"):
            raise ExperimentError(
                f"all agents of {task} are on one side: nobody can win",
                fix="Use schedule: cross_play, or say who is with whom under 'teams'",
            )
        if not together and kind == "cross_play":
            raise ExperimentError(
                f"the sides of {task} compete: cross-play is for one team",
                fix="Use schedule: round_robin",
            )
        if not together and tournament.held_out:
            raise ExperimentError(
                f"the sides of {task} compete: held-out partners are for one team",
                fix="Leave 'held_out' out",
            )
        try:
            seatings(teams, slots, swap=True)
        except ExperimentError as error:
            what, who = ("cross-play", "agents") if together else ("a tournament", "sides")
            raise ExperimentError(
                f"{task} is no game for {what}: {error.message}",
                fix=f"Choose one whose {who} can change seats",
            ) from None
    if left := [slot for slot in slots if not any(slot in who for who in teams.values())]:
        raise ExperimentError(f"{task}: {', '.join(left)} is on no side", fix="Name it under 'teams'")
    if not kind:
        tournament = replace(tournament, schedule=Schedule("cross_play" if together else "round_robin"))
    if not together:
        return tournament, teams
    if joined := next((name for name in tournament.policies if WITH in name), ""):
        raise ExperimentError(
            f"{joined!r} is no name of a policy in cross-play",
            fix=f"Leave {WITH!r} out, which joins names of two",
        )
    return tournament, {slot: (slot,) for slot in slots}
