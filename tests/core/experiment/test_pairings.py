"""Who meets whom."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.experiment.pairings import SwissRound, most_rounds, round_robin, swiss_round, usual_rounds


@pytest.mark.parametrize("sides", [2, 3])
def test_everybody_meets_everybody_once(sides: int) -> None:
    pool = list("abcde")
    found = round_robin(pool, sides)
    assert sorted(found) == sorted(combinations(pool, sides))


def test_a_policy_that_is_added_moves_no_pairing() -> None:
    before, after = round_robin(list("abc")), round_robin(list("abcd"))
    assert after[: len(before)] == before
    assert all("d" in pairing for pairing in after[len(before) :])


def _play(pool: list[str], rounds: int, played: list[SwissRound] | None = None) -> list[SwissRound]:
    """The earlier a letter, the more points."""
    points = {name: 1 - i / 100 for i, name in enumerate(sorted(pool))}
    done = list(played or [])
    while (found := swiss_round(pool, done, points, rounds)) is not None:
        done.append(found)
    return done


@given(st.integers(2, 15), st.data())
def test_swiss_rounds_repeat_nobody_and_leave_nobody_behind(size: int, data: st.DataObject) -> None:
    pool = [f"p{i}" for i in range(size)]
    rounds = data.draw(st.integers(1, min(usual_rounds(size) + 1, most_rounds(size))))
    done = _play(pool, rounds)
    assert len(done) == rounds
    met = [frozenset(pairing) for each in done for pairing in each.pairings]
    assert len(set(met)) == len(met)
    assert all(each.present == set(pool) for each in done)
    # No policy sits out twice before all have done so once, as long as a pairing without repeats is found.
    byes = [name for each in done for name in each.byes]
    if size % 2 and len(byes) == rounds:
        assert len(set(byes)) == len(byes)
    assert done == _play(pool, rounds)


def test_neighbors_in_the_standings_meet() -> None:
    first = SwissRound((("a", "b"), ("c", "d")))
    second = swiss_round(list("abcd"), [first], {"a": 0.9, "b": 0.1, "c": 0.2, "d": 0.8}, 3)
    assert second == SwissRound((("a", "d"), ("b", "c")))


def test_who_comes_later_catches_up_and_others_play_no_more_than_that_takes() -> None:
    pool = list("abcd")
    before = _play(pool, 2)
    after = _play([*pool, "e"], 2, before)
    assert after[: len(before)] == before
    new = [pairing for each in after[len(before) :] for pairing in each.pairings]
    assert len(new) == 2 and all("e" in pairing for pairing in new)
    assert len({frozenset(pairing) for pairing in new}) == 2


def test_two_who_come_later_meet_each_other_first() -> None:
    before = _play(list("abcd"), 2)
    after = _play(list("abcdef"), 2, before)
    assert after[len(before)].pairings == (("e", "f"),)


def test_no_round_is_left() -> None:
    assert swiss_round(list("ab"), [SwissRound((("a", "b"),))], {}, 1) is None
