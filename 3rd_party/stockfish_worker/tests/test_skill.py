"""The lower the skill, the more often and the worse it errs; the same numbers give the same error."""

from __future__ import annotations

import pytest

from mosaic_worker.rng import bits_of
from stockfish_worker.skill import choose, depth_of

SCORES = [60, 30, 10, -20]


def loss(skill: int, scores: list[int], games: int = 400) -> float:
    """Centipawns that are given away on average."""
    drawn = [[bits_of(seed, 3, stream) for stream in range(len(scores))] for seed in range(games)]
    return sum(scores[0] - scores[choose(scores, skill, randoms)] for randoms in drawn) / games


def test_weaker_levels_give_more_away() -> None:
    losses = [loss(skill, SCORES) for skill in (0, 5, 10, 15, 19)]
    assert losses == sorted(losses, reverse=True) and losses[0] > 2 * losses[-1] > 0


@pytest.mark.parametrize("skill", [0, 10, 19])
def test_no_level_gives_up_a_mate_or_errs_without_a_choice(skill: int) -> None:
    assert loss(skill, [100_000, 50, 40, 30]) == 0
    assert choose([12], skill, [bits_of(1, 2)]) == 0


def test_depth_grows_with_skill() -> None:
    assert [depth_of(skill) for skill in (0, 5, 19)] == [1, 6, 20]
