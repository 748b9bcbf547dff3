"""Whatever stands in a matrix: operators, or an error of one line."""

from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.config import ExecutionConfig, OperatorConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.matrix_data import matrix_from_data
from gym_gui.core.experiment.matrix_expansion import SlotsAndTeams, expand
from tests.core.experiment.test_experiment_data import NEAR_MISS, places

MATRIX: dict[str, object] = {
    "policies": {"rl": {"type": "rl", "checkpoint": "x"}, "llm": {"type": "llm", "settings": {"a": [1]}}},
    "matrix": {
        "tasks": {"one": {"task": "A-v1", "env_kwargs": {"size": 2}, "seats": "swap"}, "two": "B-v1"},
        "roles": {"co_trained": "rl"},
        "rows": ["adversarial", {"name": "mine", "sides": [["rl", {"policy": "llm", "role": "x"}], "noop"]}],
        "players": ["rl", "random"],
        "settings": {"hot": {"policies": {"llm": {"temperature": 1}}, "max_steps": 5}, "cold": None},
        "teams": {"green": ["a", "b"], "blue": ["c", "d"]},
    },
}


def places_of(operator: OperatorConfig) -> SlotsAndTeams:
    teams = operator.teams or {"green": ("a", "b"), "blue": ("c", "d")}
    return SlotsAndTeams(tuple("abcd"), teams)


def check(data: object, policies: object) -> None:
    try:
        experiment = expand(matrix_from_data(data, policies), places_of, ExecutionConfig(2))
    except ExperimentError as error:
        assert "\n" not in str(error)
        str(error).encode()
        return
    record = json.loads(json.dumps(experiment.to_record(), allow_nan=False))
    assert experiment_from_data(record) == experiment
    assert experiment.matrix is not None
    asked = experiment.matrix.asked
    again = expand(matrix_from_data(asked["matrix"], asked["policies"]), places_of, experiment.execution)
    assert again == experiment


def test_it_is_one_as_it_stands() -> None:
    data = copy.deepcopy(MATRIX)
    found = expand(matrix_from_data(data["matrix"], data["policies"]), places_of, ExecutionConfig(2))
    assert len(found.operators) > 10


@given(NEAR_MISS, NEAR_MISS)
def test_anything(data: object, policies: object) -> None:
    check(data, policies)


@given(st.sampled_from(places(MATRIX)[1:]), NEAR_MISS | st.just("delete") | st.just("line\nline") | st.text())
def test_one_thing_changed(place: tuple[object, ...], value: object) -> None:
    data = copy.deepcopy(MATRIX)
    target: object = data
    for key in place[:-1]:
        target = target[key]  # type: ignore[index]
    if value == "delete":
        del target[place[-1]]  # type: ignore[attr-defined]
    else:
        target[place[-1]] = value  # type: ignore[index]
    check(data.get("matrix"), data.get("policies"))
