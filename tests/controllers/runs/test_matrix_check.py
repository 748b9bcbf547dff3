"""Matrices of real team games: who can play which row, played in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.pages.notebook import notebook_html
from gym_gui.controllers.engine.resolved_operator import seats_here
from gym_gui.controllers.runs.matrix_check import resolve_all, tried_of
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.matrix_data import matrix_from_data
from gym_gui.core.experiment.matrix_expansion import expand, without
from gym_gui.evaluation.evaluation_run import open_here
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.experiments.experiment_matrix import places_of
from tests.support.commands import ROOT
from tests.support.fake_model_server import FakeModelServer

EXAMPLE = ROOT / "docs/examples/matrix/soccer.yaml"
CHASER = {"type": "baseline", "behavior": "soccer_chaser"}


def _load(folder: Path, policies: Any, matrix: Any, **execution: Any) -> Experiment:
    path = folder / "matrix.yaml"
    path.write_text(
        yaml.safe_dump({"policies": policies, "matrix": matrix, "execution": execution}, sort_keys=False)
    )
    return load_experiment(path, allow_code=False)


def _play(experiment: Experiment, out: Path) -> Any:
    resolved, problems = resolve_all(experiment, seats_of=seats_here)
    left = without(experiment, problems) if problems else experiment
    manager = OperatorScriptExecutionManager(left, resolved, open_here, out)
    return open_run(asyncio.run(manager.run()).folder)


def test_teams_of_two_meet_in_each_others_seats(tmp_path: Path) -> None:
    matrix = {
        "task": "MosaicMultiGrid-S-2v2-IndAgObs-v1",
        "rows": ["cooperative", "coordination_1_vs_3", "rl_vs_llm"],
        "max_steps": 8,
    }
    pool = {
        "rl": CHASER,
        "llm": {"type": "llm", "client_name": "openai", "model_id": "m", "api_key": "env:NO_SUCH_KEY"},
    }
    run = _play(_load(tmp_path, pool, matrix, num_episodes=2, seeds=3), tmp_path)
    assert list(run.operators) == ["solo_pair_vs_solo_pair"]
    summary = summarize(run)
    assert [verdict.claim for verdict in summary.verdicts[:2]] == [
        "heterogeneous_vs_crippled, heterogeneous_vs_solo, coordination_1_vs_3 and rl_vs_llm were not played",
        "heterogeneous_vs_co_trained and solo_pair_vs_co_trained were not played",
    ]
    assert "environment variable NO_SUCH_KEY" in summary.verdicts[0].detail

    pool["llm"] = {"type": "baseline", "behavior": "cycle"}
    run = _play(_load(tmp_path, pool, matrix, num_episodes=2, seeds=3), tmp_path)
    row = next(run.operators["heterogeneous_vs_crippled"].episodes())
    players = {seat: agent.policy for seat, agent in row.agents.items()}
    assert players == {
        "green_0": "soccer_chaser",
        "green_1": "cycle",
        "blue_0": "soccer_chaser",
        "blue_1": "random",
    }
    seats = [
        {seat: agent.slot for seat, agent in episode.agents.items()}
        for episode in sorted(run.operators["rl_vs_llm"].episodes(), key=lambda e: e.episode_index)
    ]
    assert [each["green_0"] for each in seats] == ["green_0", "blue_0"]
    # Rows are told of by themselves: no row is compared with another one.
    summary = summarize(run)
    assert {comparison.kind for comparison in summary.comparisons} == {"teams"}
    assert [c.operator for c in summary.comparisons if "same players" in c.detail] == [
        "solo_pair_vs_solo_pair"
    ]
    assert "Row " in str(summary) and "Rows of the matrix" in notebook_html(summary)


def test_language_teams_meet_at_different_levels_of_coordination(tmp_path: Path) -> None:
    with FakeModelServer(lambda _: "<action>noop</action>") as server:
        llm = {
            "type": "llm",
            "settings": {"base_url": server.url, "model_id": "m", "client_name": "vllm"},
            "on_invalid": "noop",
        }
        asked = {"task": "MosaicMultiGrid-S-2v2-IndAgObs-v1", "rows": ["coordination_1_vs_3"], "max_steps": 1}
        matrix = matrix_from_data(asked, {"llm": llm})
        run = _play(expand(matrix, places_of, ExecutionConfig(2, 0)), tmp_path)
    levels: dict[str, set[bool]] = {}
    for call in run.operators["coordination_1_vs_3"].calls():
        levels.setdefault(call["agent"], set()).add("has the role" in str(call["messages"]))
    # In each other's seats: every seat was played at both levels.
    assert levels == {seat: {False, True} for seat in ("green_0", "green_1", "blue_0", "blue_1")}


def test_a_grid_of_a_cooperative_game_compares_its_players(tmp_path: Path) -> None:
    matrix = {
        "tasks": ["MultiGrid-Empty-5x5-v0", "CartPole-v1"],
        "players": ["random", "cycle", "chaser"],
        "rows": [{"name": "pair", "sides": [["random", "cycle"]]}],
        "max_steps": 5,
    }
    pool = {"cycle": {"type": "baseline", "behavior": "cycle"}, "chaser": CHASER}
    experiment = _load(tmp_path, pool, matrix, num_episodes=2, seeds=0)
    run = _play(experiment, tmp_path)
    assert list(run.operators) == [
        "pair.MultiGrid-Empty-5x5-v0",
        *(f"{name}.{task}" for name in ("random", "cycle") for task in matrix["tasks"]),
    ]
    summary = summarize(run)
    assert {(c.kind, c.first.split(".")[1]) for c in summary.comparisons} == {
        ("operators", "MultiGrid-Empty-5x5-v0"),
        ("operators", "CartPole-v1"),
    }
    missing = {row.name: row.problem for row in summary.matrix if row.problem}
    assert missing["pair.CartPole-v1"] == "it has 2 players for agent of CartPole-v1, which has 1"
    assert missing["chaser.CartPole-v1"].startswith(
        "policy 'chaser': operators_worker cannot play here: Soccer chaser is made for"
    )
    assert all(row.mean is not None for row in summary.matrix if not row.problem)
    recorded = experiment_from_data(dict(run.record.experiment))
    assert recorded.matrix is not None
    assert [row.name for row in recorded.matrix.missing] == list(missing)


def test_the_example_says_what_a_key_is_missing_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    experiment = load_experiment(EXAMPLE, allow_code=False)
    resolved, problems = resolve_all(experiment, seats_of=seats_here)
    assert [each.config.operator_id for each in resolved] == [
        *("rl_vs_rl", "rl_vs_random", "with_chaser_vs_crippled", "with_chaser_vs_solo"),
    ]
    assert {problem.split(",")[0] for problem in problems.values()} == {"environment variable OPENAI_API_KEY"}
    table = without(experiment, problems).matrix
    assert table is not None and len(table.missing) == 9 and len(table.rows) == 14
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test")
    assert not resolve_all(experiment, seats_of=seats_here)[1]


def test_of_a_large_matrix_each_player_is_tried_on_each_task(tmp_path: Path) -> None:
    settings = {f"steps_{n}": {"max_steps": n} for n in range(1, 31)}
    matrix = {"task": "CartPole-v1", "players": ["random", "noop"], "settings": settings}
    resolved, _ = resolve_all(_load(tmp_path, {}, matrix), seats_of=seats_here)
    assert len(resolved) == 60
    assert tried_of(resolved) == ["random.steps_1", "noop.steps_1"]
    assert tried_of(resolved[:50]) is None


def test_only_rows_of_a_matrix_are_left_out(tmp_path: Path) -> None:
    experiment = _load(
        tmp_path,
        {"a": {"type": "rl", "checkpoint": "gone"}},
        {"task": "CartPole-v1", "players": ["a", "random"]},
    )
    assert resolve_all(experiment, seats_of=seats_here)[1] == {
        "a": "policy 'a': checkpoint gone does not exist"
    }
    with pytest.raises(UsageError, match="operator 'a': checkpoint gone of agent_0 does not exist"):
        resolve_all(experiment, played=["a"], seats_of=seats_here)
    with pytest.raises(UsageError, match="operator 'a': checkpoint gone"):
        resolve_all(Experiment(experiment.operators, experiment.execution), seats_of=seats_here)
