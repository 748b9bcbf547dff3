"""Experiments that are played until it is decided who is better: what is read, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gym_gui.core.config import Experiment
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.experiment_text import describe
from gym_gui.core.validation import ConfigError

RANDOM = {"task": "CartPole-v1", "workers": {"agent": {"type": "random"}}}
TWO = [{"id": "a", **RANDOM}, {"id": "b", **RANDOM}]


def read(operators: Any = TWO, **execution: Any) -> Any:
    return experiment_from_data(
        {"operators": operators, "execution": {"until": "decided", "num_episodes": 100, **execution}}
    )


def test_it_reads_back_as_it_was_written() -> None:
    experiment = read(batch=7)
    assert (experiment.execution.until, experiment.execution.batch) == ("decided", 7)
    assert experiment_from_data(experiment.to_record()) == experiment
    assert "until" not in ExecutionConfig(3).to_record(), "older versions read what they know"


def test_it_is_described() -> None:
    said = describe(read(batch=7)).splitlines()[0]
    assert said == (
        "2 operators, at most 100 episodes each, procedural seeds 0 to 99, "
        "until every comparison is decided, evaluated every 7 seeds"
    )


@pytest.mark.parametrize(
    ("seeds", "batch", "looks"),
    [
        (100, None, list(range(10, 101, 10))),
        (14, None, [5, 10, 14]),
        (20, 8, [8, 16, 20]),
        (6, None, [5, 6]),
        (30, 99, [30]),
    ],
)
def test_when_is_looked(seeds: int, batch: int | None, looks: list[int]) -> None:
    assert ExecutionConfig(seeds, until="decided", batch=batch).interim_seed_counts(seeds) == looks


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"until": "decidd"}, "execution.until: unknown value 'decidd'. Did you mean 'decided'?"),
        ({"until": "all", "batch": 3}, "execution.batch: needs 'until: decided'"),
        ({"batch": 0}, "execution.batch: must lie between 1 and"),
        (
            {"num_episodes": 5},
            "execution.until: 'decided' needs at least 6 seeds, not 5",
        ),
        (
            {"num_episodes": 1000, "batch": 9},
            "execution.batch: 9 of 1000 seeds need more than 100 evaluations. Give at",
        ),
        ({"environment_mode": "fixed"}, "execution.until: 'decided' needs a new seed each episode"),
        ({"time_budget_s": 9}, "execution.until: 'decided' cannot be combined with time_budget_s"),
        ({"money_budget_usd": 9}, "execution.until: 'decided' cannot be combined with money_budget_usd"),
        ({"token_budget": 9}, "execution.until: 'decided' cannot be combined with token_budget"),
    ],
)
def test_refused(changes: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(**changes)
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    "other", [{"task": "Acrobot-v1"}, {"env_kwargs": {"sutton_barto_reward": True}}, {"max_steps": 7}]
)
def test_everybody_needs_somebody_of_the_same_task(other: Mapping[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"^execution\.until: .* 'c' is the only one of its task"):
        read([*TWO, {"id": "c", **RANDOM, **other}])
    both = [{"id": name, **RANDOM, **other} for name in "cd"]
    assert len(read([*TWO, *both]).operators) == 4


def test_more_than_can_be_told_apart_are_refused() -> None:
    many = [{"id": f"p{i}", **RANDOM} for i in range(33)]
    with pytest.raises(ConfigError, match="at most 32 operators of one task, but 33 play CartPole-v1"):
        read(many)
    assert len(read(many[:32]).operators) == 32


def test_a_seed_that_is_listed_twice_is_refused() -> None:
    twice = ExecutionConfig(None, [*range(9), 3], until="decided")
    with pytest.raises(ConfigError, match="3 is listed 2 times"):
        Experiment(read().operators, twice)


def test_one_operator_is_not_compared_whatever_its_teams() -> None:
    with pytest.raises(ConfigError, match="'a' is the only one of its task"):
        read(TWO[:1])


def test_a_slot_with_a_budget_of_its_own_is_refused() -> None:
    model = {"type": "llm", "model_id": "m", "api_key": "EMPTY", "settings": {"token_budget": 1000}}
    asking = [{"id": name, "task": "CartPole-v1", "workers": {"agent": model}} for name in "ab"]
    with pytest.raises(ConfigError, match=r"'decided' cannot be combined with token_budget of a/agent"):
        read(asking)
