"""An experiment is cut into parts: every episode is in one of them, and all parts are alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.experiment.shards import ScheduledEpisodes, Shard, schedule_of, stretches

COUNTS = st.integers(1, 12)
SEATINGS = st.integers(1, 3)
OPERATORS = st.lists(st.tuples(COUNTS, SEATINGS), min_size=1, max_size=5)


def cut(operators: list[ScheduledEpisodes], of: int) -> list[dict[str, range]]:
    """All parts."""
    return [Shard(number, of).episodes(operators) for number in range(1, of + 1)]


def sizes(parts: list[dict[str, range]]) -> list[int]:
    """Episodes of each part."""
    return [sum(map(len, part.values())) for part in parts]


@given(OPERATORS, st.integers(1, 40))
def test_every_episode_is_in_one_part(counts: list[tuple[int, int]], of: int) -> None:
    operators = [ScheduledEpisodes(f"op_{i}", *each) for i, each in enumerate(counts)]
    parts = cut(operators, of)
    for operator in operators:
        name = operator.operator_id
        played = [index for part in parts for index in part.get(name, ())]
        assert played == list(range(operator.episodes)), "in order: parts that are joined need no sorting"
    if sum(operator.seeds for operator in operators) < of:
        assert max(sizes(parts)) - min(sizes(parts)) <= 1


@given(st.integers(1, 5), st.integers(1, 20), SEATINGS, st.data())
def test_parts_have_whole_seeds_and_are_as_large(
    many: int, seeds: int, seatings: int, data: st.DataObject
) -> None:
    of = data.draw(st.integers(1, many * seeds))
    parts = cut([ScheduledEpisodes(f"op_{i}", seeds * seatings, seatings) for i in range(many)], of)
    for part in parts:
        for episodes in part.values():
            assert episodes.start % seatings == 0 and episodes.stop % seatings == 0
    assert min(sizes(parts)) > 0 and max(sizes(parts)) - min(sizes(parts)) <= seatings


def test_a_part_has_few_operators() -> None:
    parts = cut([ScheduledEpisodes(f"op_{i}", 40) for i in range(45)], 64)
    assert max(map(len, parts)) == 2 and sum(map(len, parts)) <= 64 + 45 - 1


def test_there_may_be_more_parts_than_episodes() -> None:
    parts = cut([ScheduledEpisodes("op", 2)], 5)
    assert sorted(sizes(parts)) == [0, 0, 0, 1, 1]


@given(st.integers(1, 4), st.integers(6, 40), SEATINGS, st.integers(1, 9), st.data())
def test_no_part_reaches_over_a_look(
    many: int, seeds: int, seatings: int, each: int, data: st.DataObject
) -> None:
    execution = ExecutionConfig(seeds * seatings, until="decided", batch=data.draw(st.integers(5, 40)))
    scheduled = schedule_of(execution, {f"op_{i}": seatings for i in range(many)})
    looks = [at * seatings for at in execution.interim_seed_counts(seeds)]
    parts = cut(scheduled, each * len(stretches(scheduled)))
    for operator in scheduled:
        assert operator.looks == tuple(looks)
        played = [part[operator.operator_id] for part in parts if operator.operator_id in part]
        assert [index for episodes in played for index in episodes] == list(range(seeds * seatings))
        for episodes in played:
            assert episodes.start % seatings == 0 and episodes.stop % seatings == 0
            assert not any(episodes.start < at < episodes.stop for at in looks)
    assert max(map(len, parts)) <= 1, "who plays on is known only at the look"


def test_it_is_read_as_it_is_written() -> None:
    shard = Shard.parse(" 3/64 ")
    assert shard == Shard(3, 64) and str(shard) == "3/64" and shard.words == "shard 3 of 64"
    assert Shard.of_run({"shard": {"number": 3, "of": 64}}) == shard
    assert Shard.of_run({}) is Shard.of_run({"shard": {"number": 3, "of": 2}}) is None


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("3", "--shard '3' is not a shard. Write for example 3/64"),
        ("three/4", "is not a shard"),
        ("-1/4", "is not a shard"),
        ("0/64", "--shard 0/64: there is no such shard. Shards are numbered from 1/64 to 64/64"),
        ("65/64", "--shard 65/64: there is no such shard. Shards are numbered from 1/64 to 64/64"),
        ("3/0", "--shard 3/0: an experiment is cut into 1 to 1,000,000 shards, not 0"),
        ("1/2000000", "1 to 1,000,000 shards, not 2,000,000"),
    ],
)
def test_a_slip_is_one_sentence(written: str, said: str) -> None:
    with pytest.raises(UsageError) as told:
        Shard.parse(written)
    assert said in str(told.value)
