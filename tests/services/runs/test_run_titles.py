"""Runs of one title are told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gym_gui.core.run_labels import RunLabels
from gym_gui.services.runs.run_library import RunEntry, RunOperator
from gym_gui.services.runs.run_settings import settings_of
from gym_gui.services.runs.run_titles import RunTitles


def run(number: int, **settings: str) -> RunEntry:
    operator = RunOperator("op", "Random", "gymnasium/CartPole-v1", ("baseline",))
    told = {name: (value,) for name, value in settings.items()}
    return RunEntry(Path(f"/runs/{number}"), str(number), "completed", operators=(operator,), settings=told)


def titles(*runs: RunEntry) -> list[str]:
    return [each.full_title for each in RunTitles().distinguish(runs)]


def test_by_what_differs_and_else_by_a_number_from_the_oldest_on() -> None:
    assert titles(run(1, max_steps="5")) == ["Random"]
    assert titles(run(2, max_steps="9"), run(1, max_steps="5")) == [
        "Random · max steps 9",
        "Random · max steps 5",
    ]
    same = [run(number, num_episodes="5") for number in (3, 2, 1)]
    assert titles(*same) == ["Random · #3", "Random · #2", "Random · #1"]
    assert titles(run(4, num_episodes="9"), *same[1:]) == [
        "Random · episodes 9",
        "Random · episodes 5 #2",
        "Random · episodes 5 #1",
    ]


def test_a_name_or_another_environment_needs_nothing_beside_it() -> None:
    named = replace(run(2), labels=RunLabels("Mine"))
    operator = RunOperator("op", "Random", "gymnasium/Taxi-v3", ())
    assert titles(named, run(1), replace(run(3), operators=(operator,))) == ["Mine", "Random", "Random"]


def test_those_that_are_as_before_are_the_same_objects() -> None:
    told, runs = RunTitles(), [run(2), run(1)]
    first = told.distinguish(runs)
    again = told.distinguish(list(runs))
    assert all(a is b for a, b in zip(first, again, strict=True))
    (alone,) = told.distinguish(runs[:1])
    assert alone.full_title == "Random", "the other is gone"


def test_settings_are_those_of_execution_environments_and_slots() -> None:
    slot = {"worker_id": "w", "type": "rl", "settings": {"temperature": 0.5, "tools": ["a", "b"]}}
    operators = [{"id": "a", "name": "A", "task": "T", "env_kwargs": {"size": 8}, "workers": {"x": slot}}]
    execution = {"max_steps": 100, "processes": 4, "seeds": list(range(20)), "fair": True, "none": None}
    assert settings_of({"operators": operators, "execution": execution}) == {
        "max_steps": ("100",),
        "seeds": ("0, 1, 2, 3, 4, 5, … (20)",),
        "fair": ("true",),
        "env_kwargs.size": ("8",),
        "temperature": ("0.5",),
        "tools": ("a, b",),
    }
    assert settings_of({}) == {} and settings_of({"operators": "x", "execution": 3}) == {}
