"""Pure functions that decide which policies play each other in a tournament.

A pairing is a set of policies that play each other, one for each side of the game. It is played with each
seed once in each seating, so that the policy named first has no advantage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from gym_gui.core.record_fields import items, mapping, strings

Pairing = tuple[str, ...]
"""Policies that play each other, in the order of the pool; in cross-play, the policy in each seat."""

_MOST_TRIES = 20_000
"""Largest number of pairings tried in the search for a round that repeats no earlier pairing."""


@dataclass(frozen=True)
class SwissRound:
    """One round of a Swiss tournament.

    Attributes:
        pairings: The policies that played each other.
        byes: Policies without an opponent, which sat out.
    """

    pairings: tuple[Pairing, ...]
    byes: tuple[str, ...] = ()

    @property
    def present(self) -> frozenset[str]:
        """Policies that took part in the round or had a bye."""
        return frozenset([*self.byes, *(name for pairing in self.pairings for name in pairing)])


def round_robin(policies: Sequence[str], sides: int = 2) -> list[Pairing]:
    """Return all pairings of the policies.

    Args:
        policies: The pool. A policy added at its end adds pairings at the end and keeps the order of the
            others.
        sides: Number of policies in a game.
    """
    numbers = sorted(combinations(range(len(policies)), sides), key=lambda chosen: chosen[::-1])
    return [tuple(policies[i] for i in chosen) for chosen in numbers]


def cross_play(
    policies: Sequence[str], held_out: Collection[str], seats: int, *, fixed: bool = False
) -> list[Pairing]:
    """Return teams of each policy with itself, and teams in which one policy joins another.

    Args:
        policies: All policies. One that is added at the end adds teams at the end, and moves none.
        held_out: Policies that play only with others.
        seats: Number of seats of a team. With two, it does not matter which policy joins the other.
        fixed: Whether seats are fixed. If so, the joining policy takes each seat of the team in turn.
    """
    found: list[Pairing] = []
    for i, last in enumerate(policies):
        for other in policies[: i + 1]:
            if last in held_out and other in held_out:
                continue
            if fixed and other != last:
                found += [
                    (*[team] * at, joins, *[team] * (seats - 1 - at))
                    for at in range(seats)
                    for joins, team in ((other, last), (last, other))
                ]
                continue
            found.append((other, *[last] * (seats - 1)))
            if other != last and seats > 2:
                found.append((last, *[other] * (seats - 1)))
    return list(dict.fromkeys(found))


def who_joins(pairing: Pairing) -> tuple[str, str]:
    """Return the policy that has one seat (or the first of two seats), and the policy of all other seats."""
    alone = next((name for name in pairing if pairing.count(name) == 1), pairing[0])
    return alone, next((name for name in pairing if name != alone), alone)


def most_rounds(policies: int) -> int:
    """Return the number of rounds after which each of this number of policies has met all others."""
    return policies - 1 if policies % 2 == 0 else policies


def usual_rounds(policies: int) -> int:
    """Return the number of rounds that find the best policy, as each halves the unbeaten policies."""
    return max(1, (policies - 1).bit_length())


def rounds_left(policies: Sequence[str], played: Sequence[SwissRound], rounds: int) -> int:
    """Return the number of rounds of a Swiss tournament to pair until each policy has had ``rounds``."""
    return max(rounds - min(_rounds_had(policies, played).values()), 0)


def _rounds_had(policies: Sequence[str], played: Sequence[SwissRound]) -> dict[str, int]:
    return {name: sum(name in each.present for each in played) for name in policies}


def rounds_from_record(written: object) -> list[SwissRound] | None:
    """Read rounds from ``run.json``; ``None`` if a round cannot be read."""
    found: list[SwissRound] = []
    for each in items(written) or []:
        row = mapping(each) or {}
        met = [strings(pairing) for pairing in items(row.get("pairings")) or []]
        if None in met:
            return None
        found.append(SwissRound(tuple(p for p in met if p), strings(row.get("byes")) or ()))
    return found


def swiss_round(
    policies: Sequence[str], played: Sequence[SwissRound], points: Mapping[str, float], rounds: int
) -> SwissRound | None:
    """Return the next round of a Swiss tournament: it pairs neighbors in the standings that have not met yet.

    Each policy plays ``rounds`` rounds. A policy that was added later has extra rounds until it has caught
    up. In these it meets policies that are as new or, if there is none, the nearest in the standings.

    Args:
        policies: The pool. Policies with equal standings are in its order, and so is the first round.
        played: The rounds so far.
        points: Mean points of each policy per game so far: 1 for a win, ½ for a draw.
        rounds: Number of rounds that each policy plays.

    Returns:
        The round; ``None`` if no policy has a round left.
    """
    had = _rounds_had(policies, played)
    least = min(had.values())
    if least >= rounds:
        return None
    due = [name for name in policies if had[name] == least]
    met = {frozenset(pairing) for each in played for pairing in each.pairings}
    sat_out = [name for each in played for name in each.byes]
    ranked = sorted(due, key=lambda name: -points.get(name, 0.5))
    byes: list[str] = []
    extra: list[str] = []
    if len(ranked) % 2:
        others = [name for name in policies if name not in due]
        extra = _extra_opponent(ranked, others, met, points)
        if not extra:
            # The lowest-ranked of the policies that have sat out least often.
            byes = [min(reversed(ranked), key=sat_out.count)]
            ranked.remove(byes[0])
    order = sorted([*ranked, *extra], key=lambda name: -points.get(name, 0.5))
    pairs = _without_repeats(order, met)
    byes += [name for name in order if not any(name in pair for pair in pairs) and name not in extra]
    place = {name: i for i, name in enumerate(policies)}
    found = tuple(tuple(sorted(pair, key=place.__getitem__)) for pair in pairs)
    return SwissRound(found, tuple(byes))


def _extra_opponent(
    due: Sequence[str], others: Sequence[str], met: set[frozenset[str]], points: Mapping[str, float]
) -> list[str]:
    """Return the policy that makes an odd number even: the nearest in points to the last one that is due."""
    last = due[-1]
    free = [name for name in others if frozenset((name, last)) not in met]
    return sorted(free, key=lambda name: abs(points.get(name, 0.5) - points.get(last, 0.5)))[:1]


def _without_repeats(order: Sequence[str], met: set[frozenset[str]]) -> list[tuple[str, str]]:
    """Pair neighbors that have not met before. Policies for which that is impossible remain unpaired."""
    tries = iter(range(_MOST_TRIES))
    found = _pair_up(tuple(order), met, tries)
    if found is not None:
        return found
    left, pairs = list(order), list[tuple[str, str]]()
    while left:
        first = left.pop(0)
        other = next((name for name in left if frozenset((first, name)) not in met), None)
        if other is not None:
            left.remove(other)
            pairs.append((first, other))
    return pairs


def _pair_up(
    order: tuple[str, ...], met: set[frozenset[str]], tries: Iterator[int]
) -> list[tuple[str, str]] | None:
    if not order:
        return []
    first, rest = order[0], order[1:]
    for i, other in enumerate(rest):
        if frozenset((first, other)) in met:
            continue
        if next(tries, None) is None:
            return None
        others = _pair_up(rest[:i] + rest[i + 1 :], met, tries)
        if others is not None:
            return [(first, other), *others]
    return None
