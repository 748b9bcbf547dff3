"""What a matrix may say, and the operators that come of it."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.matrix_data import matrix_from_data
from gym_gui.core.experiment.matrix_expansion import SlotsAndTeams, expand, without
from gym_gui.core.experiment.matrix_table import missing_in_words
from gym_gui.core.validation import ConfigError

SOCCER = SlotsAndTeams(
    ("green_0", "green_1", "blue_0", "blue_1"),
    {"green": ("green_0", "green_1"), "blue": ("blue_0", "blue_1")},
)
ALONE = SlotsAndTeams(("agent_0",), {"agent": ("agent_0",)})
POOL: dict[str, Any] = {
    "rl": {"type": "rl", "checkpoint": "solo"},
    "llm": {"type": "llm", "model_id": "gpt-4o"},
    "co_trained": {"type": "rl", "checkpoint": "pair"},
}


def places_of(operator: OperatorConfig) -> SlotsAndTeams:
    if operator.task == "nowhere":
        raise UsageError("nowhere is not installed")
    return ALONE if operator.task.startswith("alone") else SOCCER


def expanded(matrix: Any, policies: Any = POOL, **execution: Any) -> Experiment:
    return expand(matrix_from_data(matrix, policies), places_of, ExecutionConfig(4, 0, **execution))


def seated(experiment: Experiment, row: str) -> list[str]:
    """Who sits in each slot: checkpoint, model and behavior, with the level of coordination."""
    assert experiment.matrix is not None
    name = next(each.operator for each in experiment.matrix.rows if each.name == row)
    (operator,) = (each for each in experiment.operators if each.operator_id == name)
    keys = ("checkpoint", "model_id", "behavior", "coordination_level", "temperature")
    return [
        " ".join(str(player.settings[key]) for key in keys if key in player.settings)
        for player in operator.workers.values()
    ]


@pytest.mark.parametrize(
    ("row", "players"),
    [
        ("rl_vs_rl", ["solo", "solo", "solo", "solo"]),
        ("llm_vs_llm", ["gpt-4o"] * 4),
        ("rl_vs_llm", ["solo", "solo", "gpt-4o", "gpt-4o"]),
        ("rl_vs_random", ["solo", "solo", "random", "random"]),
        ("heterogeneous_vs_crippled", ["solo", "gpt-4o", "solo", "random"]),
        ("heterogeneous_vs_solo", ["solo", "gpt-4o", "solo", "noop"]),
        ("solo_pair_vs_solo_pair", ["solo", "solo", "solo", "solo"]),
        ("heterogeneous_vs_co_trained", ["solo", "gpt-4o", "pair", "pair"]),
        ("solo_pair_vs_co_trained", ["solo", "solo", "pair", "pair"]),
        ("coordination_1_vs_2", ["gpt-4o 1", "gpt-4o 1", "gpt-4o 2", "gpt-4o 2"]),
        ("coordination_1_vs_3", ["gpt-4o 1", "gpt-4o 1", "gpt-4o 3", "gpt-4o 3"]),
        ("coordination_2_vs_3", ["gpt-4o 2", "gpt-4o 2", "gpt-4o 3", "gpt-4o 3"]),
    ],
)
def test_every_row_of_the_documents_has_its_players(row: str, players: list[str]) -> None:
    found = expanded({"task": "soccer", "rows": "documents"})
    assert seated(found, row) == players
    assert found.matrix is not None and not found.matrix.missing
    # The same match is played once, in each other's seats.
    assert len(found.matrix.rows) == 12 and len(found.operators) == 11
    assert {operator.seats for operator in found.operators} == {"swap"}


def test_a_missing_policy_says_which_rows_cannot_be_played_and_the_rest_is_there() -> None:
    found = expanded({"task": "soccer", "rows": "documents"}, {"rl": POOL["rl"]})
    assert [operator.operator_id for operator in found.operators] == ["rl_vs_rl", "rl_vs_random"]
    assert found.matrix is not None
    assert missing_in_words(found.matrix.rows) == [
        "llm_vs_llm, rl_vs_llm, heterogeneous_vs_crippled, heterogeneous_vs_solo, "
        "heterogeneous_vs_co_trained, coordination_1_vs_2, coordination_1_vs_3, coordination_2_vs_3: "
        "no policy is called 'llm', and 'roles' names none",
        "solo_pair_vs_co_trained: no policy is called 'co_trained', and 'roles' names none",
    ]
    left = without(found, {"rl_vs_rl": "its checkpoint is gone"})
    assert [operator.operator_id for operator in left.operators] == ["rl_vs_random"]
    assert left.matrix is not None and [row.name for row in left.matrix.rows if not row.problem] == [
        "rl_vs_random"
    ]
    with pytest.raises(ConfigError, match=r"matrix: no row can be played: gone \(and 2 more reasons\)"):
        without(found, {"rl_vs_rl": "gone", "rl_vs_random": "gone"})


def test_roles_are_given_to_policies() -> None:
    pool = {"ppo": POOL["rl"], "ppo_1v1": POOL["co_trained"], "random": {"type": "passive"}}
    matrix = {"task": "soccer", "rows": ["rl_vs_random", "solo_pair_vs_co_trained"]}
    found = expanded({**matrix, "roles": {"rl": "ppo", "solo": "ppo_1v1", "co_trained": "ppo"}}, pool)
    assert seated(found, "rl_vs_random") == ["solo", "solo", "noop", "noop"]
    assert seated(found, "solo_pair_vs_co_trained") == ["pair", "pair", "solo", "solo"]


def test_rows_of_ones_own_by_order_and_by_team() -> None:
    rows = [
        {"name": "mixed", "sides": [["rl", {"policy": "llm", "temperature": 0}], ["random"]]},
        {"name": "named", "title": "By name", "sides": {"blue": "rl", "green": ["llm", "noop"]}},
        {"name": "trio", "sides": [["rl", "rl", "rl"], "llm"]},
        {"name": "three", "sides": ["rl", "llm", "noop"]},
        {"name": "elsewhere", "sides": {"red": "rl", "blue": "llm"}},
        {"name": "slip", "sides": ["rl", "co_traind"]},
    ]
    found = expanded({"task": "soccer", "rows": rows})
    assert seated(found, "mixed") == ["solo", "gpt-4o 0", "random", "random"]
    assert seated(found, "named") == ["gpt-4o", "noop", "solo", "solo"]
    assert [operator.display_name for operator in found.operators] == ["mixed", "By name"]
    assert found.matrix is not None
    assert list(found.matrix.rows[1].sides.items()) == [("green", ("llm", "noop")), ("blue", ("rl",))]
    assert missing_in_words(found.matrix.rows) == [
        "trio: it has 3 players for green of soccer, which has 2",
        "three: it needs 3 sides, but soccer has green, blue",
        "elsewhere: it needs red, blue, but soccer has green, blue",
        "slip: no policy is called 'co_traind' (did you mean 'co_trained'?)",
    ]


def test_a_grid_is_players_by_tasks_by_settings() -> None:
    grid = {
        "players": ["llm", "random"],
        "tasks": {"short": {"task": "alone/A-v1", "max_steps": 10}, "alone/B-v1": "alone/B-v1"},
        "env_kwargs": {"size": 5},
        "settings": {
            "cold": {"policies": {"llm": {"temperature": 0}}},
            "warm": {"policies": {"llm": {"temperature": 1, "deadline_s": 5}}, "env_kwargs": {"rows": 2}},
        },
    }
    found = expanded(grid)
    assert [operator.operator_id for operator in found.operators] == [
        *("llm.short.cold", "llm.short.warm", "llm.alone_B-v1.cold", "llm.alone_B-v1.warm"),
        *("random.short.cold", "random.short.warm", "random.alone_B-v1.cold", "random.alone_B-v1.warm"),
    ]
    assert seated(found, "llm.short.warm") == ["gpt-4o 1"]
    warm = found.operators[1]
    assert (warm.max_steps, dict(warm.env_kwargs), warm.seats) == (10, {"size": 5, "rows": 2}, "fixed")
    assert warm.workers["agent_0"].deadline_s == 5
    assert warm.display_name == "llm, warm"
    # A policy that a setting does not change plays once for all of them.
    del grid["settings"]["warm"]["env_kwargs"]
    assert len(expanded(grid).operators) == 6


def test_an_environment_that_is_not_there_costs_its_own_rows_only() -> None:
    found = expanded({"players": ["random"], "tasks": ["alone/A", "nowhere"]})
    assert [operator.operator_id for operator in found.operators] == ["random.alone_A"]
    assert found.matrix is not None
    assert missing_in_words(found.matrix.rows) == ["random.nowhere: nowhere is not installed"]


def test_it_reads_back_what_it_records_and_expands_to_the_same_again() -> None:
    found = expanded({"task": "soccer", "rows": "documents", "roles": {"solo": "rl"}})
    record = found.to_record()
    assert experiment_from_data(record) == found
    assert found.matrix is not None
    asked = found.matrix.asked
    again = expand(matrix_from_data(asked["matrix"], asked["policies"]), places_of, found.execution)
    assert again == found
    damaged = {**record, "matrix": {**found.matrix.to_record(), "rows": [{"name": "x"}]}}
    with pytest.raises(ConfigError, match=r"matrix\.rows\[0\]: must be"):
        experiment_from_data(damaged)
    with pytest.raises(ConfigError, match=r"matrix\.rows\[0\]: no operator is called 'rl_vs_rl'"):
        experiment_from_data({**record, "operators": record["operators"][1:]})  # type: ignore[index]


def test_long_names_stay_folders_and_apart() -> None:
    tasks = [f"alone/{'x' * 60}-{i}" for i in range(2)]
    names = [operator.operator_id for operator in expanded({"players": ["rl"], "tasks": tasks}).operators]
    assert len(set(names)) == 2 and max(map(len, names)) == 64


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ({"task": "soccer"}, "matrix: names no policy. Name the players: rows: documents"),
        ({"task": "soccer", "rows": []}, "matrix: names no policy"),
        ({"task": "soccer", "players": []}, "matrix: names no policy"),
        ({"rows": "documents"}, "matrix: has neither 'task' nor 'tasks'. Write task: ENVIRONMENT"),
        ({"rows": "documents", "tasks": []}, "matrix.tasks: names no environment"),
        ({"rows": "documents", "task": "a", "tasks": ["b"]}, "matrix: has 'task' and 'tasks'"),
        ({"task": "soccer", "rows": "dokuments"}, "no row is called 'dokuments'. Did you mean 'documents'?"),
        ({"task": "soccer", "rows": ["rl_vs_llm", "rl_vs_llm"]}, "matrix.rows: 'rl_vs_llm' is named twice"),
        ({"task": "soccer", "rows": [{"name": "a"}]}, "matrix.rows[0]: 'sides' is missing"),
        ({"task": "soccer", "rows": [{"name": "a", "sides": []}]}, "matrix.rows[0].sides: names no policy"),
        ({"task": "soccer", "rows": [{"name": "a", "sides": [[]]}]}, "sides[0]: names no policy"),
        (
            {"task": "soccer", "rows": [{"name": "a/b", "sides": ["rl"]}]},
            "matrix.rows[0].name: 'a/b' contains /",
        ),
        ({"task": "soccer", "rows": [{"name": "a", "sides": [{"temperature": 1}]}]}, "'policy' is missing"),
        (
            {
                "task": "soccer",
                "rows": [{"name": "a", "sides": [{"policy": "x", "api_key": "sk-abc"}, "rl"]}],
            },
            "matrix.rows[0].sides[0][0].api_key: ",
        ),
        ({"task": "soccer", "rows": "documents", "roles": {"rl": "x"}}, "roles.rl: no policy is called 'x'"),
        ({"task": "soccer", "rows": "documents", "roles": {"boss": "rl"}}, "matrix.roles.boss: unknown key"),
        ({"task": "soccer", "row": "documents"}, "matrix.row: unknown key. Did you mean 'rows'?"),
        ({"task": "soccer", "players": ["rl"], "settings": {}}, "matrix.settings: names no settings"),
        (
            {"task": "soccer", "players": ["rl"], "settings": {"a": {"policies": {"xx": {}}}}},
            "matrix.settings.a.policies: no policy is called 'xx'",
        ),
        (
            {"task": "soccer", "players": ["rl"], "settings": {"a": {"policies": {"rl": {"type": "llm"}}}}},
            "policies.rl.type: cannot change the worker of a policy",
        ),
        ({"task": "soccer", "players": ["nobody"]}, "no row can be played: no policy is called 'nobody'"),
        ({"task": "nowhere", "rows": "documents"}, "matrix: no row can be played: nowhere is not installed"),
        (
            {"players": ["rl", "llm"], "tasks": [f"alone/{i}" for i in range(501)]},
            "2 rows x 501 tasks x 1 setting are 1,002 operators, at most 1,000 are allowed",
        ),
        ([], "matrix: must be a mapping"),
    ],
)
def test_what_is_refused(matrix: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        expanded(matrix)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ({"a b": {"type": "random"}}, "policies['a b']: 'a b' is not a valid name"),
        ({"a": {"type": "random"}, "A": {"type": "random"}}, "policies: 'A' differs from 'a' only in case"),
        ({"a": "random"}, "policies.a: must name a player, not 'random'"),
        ({"a": {"type": "rondom"}}, "policies.a.type: unknown type 'rondom'"),
        ([], "policies: must be a mapping"),
    ],
)
def test_policies_that_are_refused(policies: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        expanded({"task": "soccer", "rows": "documents"}, policies)
    assert said in str(refusal.value)


def test_rows_whose_sides_compete_are_not_played_until_decided() -> None:
    with pytest.raises(ConfigError, match="'decided' compares operators, but the sides of a matrix's rows"):
        expanded({"task": "soccer", "rows": ["rl_vs_llm"]}, until="decided")
    with pytest.raises(ConfigError, match="'decided' compares operators"):
        expanded({"task": "soccer", "players": ["rl", "llm"]}, until="decided")
    matrix = matrix_from_data({"task": "alone", "players": ["rl", "random"]}, POOL)
    grid = expand(matrix, places_of, ExecutionConfig(20, 0, until="decided"))
    assert len(grid.operators) == 2
