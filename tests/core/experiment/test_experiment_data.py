"""From plain data to an experiment: places in errors, and garbage of every kind."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.experiment_data import experiment_from_data

EXPERIMENT: dict[str, object] = {
    "operators": [
        {
            "id": "team",
            "task": "soccer",
            "env_name": "multigrid",
            "workers": {
                "green_0": {"type": "rl", "policy_path": "m.pt", "on_invalid": {"retry": 2, "then": "noop"}},
                "green_1": {"type": "llm", "settings": {"api_key": "env:KEY"}, "deadline_s": 3},
                "blue_0": {"worker_id": "passive_worker"},
            },
            "link_groups": [{"primary_agent": "green_0", "linked_agents": ["blue_1"]}],
            "teams": {"green": ["green_0", "green_1"], "blue": ["blue_0", "blue_1"]},
            "env_kwargs": {"size": 8},
            "seats": "swap",
            "api": "parallel",
        },
        {"id": "old", "type": "random", "task": "soccer", "on_invalid": "noop"},
    ],
    "execution": {
        "num_episodes": 2,
        "seeds": [3, 4],
        "env_mode": "procedural",
        "record": {"observations": True, "compress": True},
        "failure_score": 0,
    },
}


class TestPlaces:
    @pytest.mark.parametrize(
        ("place", "value", "expected"),
        [
            ("operators.0.workers.green_0.polcy_path", "x", "unknown key. Did you mean 'policy_path'?"),
            ("operators.0.workers.green_0.type", "rll", "unknown type 'rll'. Did you mean 'rl'?"),
            ("operators.0.workers.green_0.checkpoint", "n.pt", "differs from another spelling"),
            ("operators.0.workers.green_1.settings.api_key", "abc", "a secret must not be written"),
            ("operators.0.workers.green_1.token", "abc", "unknown key"),
            ("operators.0.workers.blue_0", {}, "'type' is missing"),
            ("operators.0.workers.blue_0", None, "must be a mapping, not None"),
            ("operators.0.type", "random", "unknown key"),
            ("operators.0.link_groups[0].primry_agent", 1, "unknown key. Did you mean 'primary_agent'?"),
            ("operators.1.tsk", 1, "unknown key. Did you mean 'task'?"),
            ("operators.1.on_invalid", "nop", "unknown value 'nop'. Did you mean 'noop'?"),
            ("operators.1.id", "TEAM", "'TEAM' is used by an earlier operator"),
            ("execution.sedes", 1, "unknown key. Did you mean 'seeds'?"),
            ("execution.record.observation", True, "unknown key. Did you mean 'observations'?"),
            ("execution.seeds", [1], "2 episodes need 2 seeds, 1 are given"),
            ("execution.seeds", [3, 3], "3 is listed 2 times"),
        ],
    )
    def test_place_is_named(self, place: str, value: object, expected: str) -> None:
        data = copy.deepcopy(EXPERIMENT)
        *path, last = place.replace("[0]", ".0").split(".")
        target: object = data
        for key in path:
            target = target[int(key)] if isinstance(target, list) else target[key]  # type: ignore[index]
        target[last] = value  # type: ignore[index]
        with pytest.raises(ExperimentError) as caught:
            experiment_from_data(data)
        named, _, problem = str(caught.value).partition(": ")
        wanted = place.replace("operators.0", "operators[0]").replace("operators.1", "operators[1]")
        assert named == wanted
        assert problem.startswith(expected)


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KNOWN = st.sampled_from(
    [
        "id",
        "task",
        "type",
        "workers",
        "settings",
        "link_groups",
        "teams",
        "seeds",
        "rl",
        "random",
        "agent",
        "swap",
    ]
)
NEAR_MISS = st.recursive(
    JSON_LIKE | KNOWN | st.just(10**4000),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KNOWN | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def places(value: object, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, item in items for place in places(item, (*at, key)))]


class TestGarbage:
    """Whatever stands in a file: an experiment, or an ExperimentError of one line."""

    @staticmethod
    def check(data: object) -> None:
        try:
            experiment = experiment_from_data(data)
        except ExperimentError as error:
            assert "\n" not in str(error)
            str(error).encode()
        else:
            record = json.loads(json.dumps(experiment.to_record(), allow_nan=False))
            assert experiment_from_data(record) == experiment

    @given(NEAR_MISS)
    def test_anything(self, data: object) -> None:
        self.check(data)

    @given(NEAR_MISS, NEAR_MISS)
    def test_anything_in_the_right_frame(self, operator: object, execution: object) -> None:
        self.check({"operators": [operator], "execution": execution})

    @given(st.sampled_from(places(EXPERIMENT)[1:]), NEAR_MISS | st.just("delete"))
    def test_one_thing_changed(self, place: tuple[object, ...], value: object) -> None:
        data = copy.deepcopy(EXPERIMENT)
        target: object = data
        for key in place[:-1]:
            target = target[key]  # type: ignore[index]
        if value == "delete":
            del target[place[-1]]  # type: ignore[attr-defined]
        else:
            target[place[-1]] = value  # type: ignore[index]
        self.check(data)

    def test_a_recorded_run_may_have_repeated_a_seed(self) -> None:
        data = copy.deepcopy(EXPERIMENT) | {"execution": {"seeds": [3, 3], "num_episodes": 2}}
        assert experiment_from_data({"experiment": data}).execution.seeds == (3, 3)

    @given(
        st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=5),
        st.sampled_from(["procedural", "fixed"]),
        st.dictionaries(st.text(max_size=5), JSON_LIKE, max_size=3),
    )
    def test_record_round_trip(self, seeds: list[int], mode: str, extra: dict[str, object]) -> None:
        operator = {"id": "a", "task": "T", "type": "baseline", "settings": extra}
        self.check({"operators": [operator], "execution": {"seeds": seeds, "env_mode": mode}})
