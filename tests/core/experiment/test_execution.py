"""Seeds, episodes and seatings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.config import EpisodePlan, ExecutionConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.seed_lists import read_seeds


def refusal(call: object, *args: object, **kwargs: object) -> str:
    with pytest.raises(ExperimentError) as caught:
        call(*args, **kwargs)  # type: ignore[operator]
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestExecution:
    @pytest.mark.parametrize(
        ("seeds", "episodes", "expected"),
        [
            (None, None, (0,)),
            (None, 3, (0, 1, 2)),
            (7, None, (7,)),
            (7, 3, (7, 8, 9)),
            (range(1000, 1003), None, (1000, 1001, 1002)),
            ([5, 3, 5], None, (5, 3, 5)),
            ("range(4)", None, (0, 1, 2, 3)),
            ("range(10, 4, -2)", None, (10, 8, 6)),
        ],
    )
    def test_seeds(self, seeds: object, episodes: int | None, expected: tuple[int, ...]) -> None:
        run = ExecutionConfig(episodes, seeds)  # type: ignore[arg-type]
        assert run.seeds == expected
        assert run.num_episodes == len(expected)
        assert [plan.seed for plan in run.schedule()] == list(expected)

    @pytest.mark.parametrize(
        ("seeds", "written"),
        [
            (range(7, 1500), "range(7, 1500)"),
            (range(3), [0, 1, 2]),
            ([*range(2000), 3000], [*range(2000), 3000]),
            (range(4000, 0, -2), [*range(4000, 0, -2)]),
        ],
    )
    def test_seeds_on_record_are_the_same(self, seeds: Sequence[int], written: object) -> None:
        record = ExecutionConfig(None, seeds).to_record()
        assert record["seeds"] == written
        assert read_seeds(written) == ExecutionConfig(None, record["seeds"]).seeds == tuple(seeds)  # type: ignore[arg-type]

    def test_numpy_seeds(self) -> None:
        numpy = pytest.importorskip("numpy")
        assert ExecutionConfig(seeds=numpy.arange(3)).seeds == (0, 1, 2)

    def test_fixed_repeats_the_first(self) -> None:
        run = ExecutionConfig(3, [9, 8], "fixed")
        assert [plan.seed for plan in run.schedule()] == [9, 9, 9]

    def test_each_seed_is_played_once_per_seating(self) -> None:
        run = ExecutionConfig(5, [10, 20, 30])
        assert run.schedule(2) == [
            EpisodePlan(0, 10, 0),
            EpisodePlan(1, 10, 1),
            EpisodePlan(2, 20, 0),
            EpisodePlan(3, 20, 1),
            EpisodePlan(4, 30, 0),
        ]

    @given(st.integers(1, 10_000), st.integers(1, 8))
    def test_seeds_needed_is_the_ceiling(self, episodes: int, seatings: int) -> None:
        needed = ExecutionConfig.seeds_needed(episodes, seatings)
        assert (needed - 1) * seatings < episodes <= needed * seatings

    def test_too_few_for_the_seatings(self) -> None:
        run = ExecutionConfig(5, [1, 2])
        assert "5 episodes, each seed played in 2 seatings, need 3 seeds, 2 are given" in refusal(
            run.schedule, 2
        )

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"num_episodes": 0}, "num_episodes: must lie between 1 and 1000000, not 0"),
            ({"num_episodes": True}, "num_episodes: must be a whole number, not True"),
            ({"seeds": []}, "seeds: must not be empty"),
            ({"seeds": [1, -1]}, "seeds[1]: must be at least 0"),
            ({"seeds": [2**63]}, "seeds[0]: must lie between 0 and"),
            ({"seeds": [10**5000]}, "seeds[0]: must lie between 0 and"),
            ({"seeds": [1.5]}, "seeds[0]: must be a whole number, not 1.5"),
            ({"seeds": 2**63 - 1, "num_episodes": 2}, "seeds: 2 seeds from"),
            ({"seeds": range(10**30)}, "seeds[-1]: must lie between 0 and"),
            ({"seeds": range(2**62)}, "seeds: at most 1000000 seeds are allowed"),
            ({"seeds": range(-5, 5)}, "seeds[0]: must be at least 0"),
            ({"seeds": "1, 2"}, "seeds: cannot be read: '1, 2'"),
            ({"seeds": {"a": 1}}, "seeds: must be a whole number, not a mapping"),
            ({"environment_mode": "procedual"}, "environment_mode: unknown value 'procedual'. Did you mean"),
            ({"concurrency": 0}, "concurrency: must lie between"),
            ({"processes": "2"}, "processes: must be a whole number, not '2'"),
            ({"step_delay_ms": float("nan")}, "step_delay_ms: must lie between"),
            ({"failure_score": float("nan")}, "failure_score: must lie between"),
            ({"failure_score": "0"}, "failure_score: must be a number, not '0'"),
            ({"auto_run": "no"}, "auto_run: must be true or false, not 'no'"),
        ],
    )
    def test_refused(self, changes: dict[str, object], problem: str) -> None:
        assert refusal(ExecutionConfig, **changes).startswith(problem)
