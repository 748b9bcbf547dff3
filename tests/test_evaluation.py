"""``gym_gui.evaluate`` with policies of every sort in one environment's slots."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

import gym_gui
from gym_gui import aevaluate, evaluate
from gym_gui.core.errors import MissingDependencyError, UsageError
from tests.support.groups import group
from tests.support.trained import needs_a_trained_policy

DOOR = "MiniGrid-DoorKey-5x5-v0"
SKILLS = {"type": "baseline", "behavior": "minigrid_skills"}


def test_a_manager_in_a_process_of_its_own(tmp_path: Path) -> None:
    manager = {"type": "baseline", "behavior": "minigrid_manager"}
    results = evaluate(DOOR, {"agent": SKILLS, "agent/goal": manager}, seeds=4, out=tmp_path)
    assert [episode.success for episode in results.episodes] == [True] * 4
    players = results.episodes[0].agents
    assert {seat: p.worker_id for seat, p in players.items()} == dict.fromkeys(players, "operators_worker")
    assert set(players) == {"agent_0", "agent_0/goal"}


def test_a_function_as_manager(tmp_path: Path) -> None:
    asked: list[Any] = []

    def explore(seen: Any) -> int:
        asked.append(seen["direction"])
        return 0

    results = evaluate(DOOR, {"agent": SKILLS, "agent_0/goal": explore}, seeds=2, max_steps=30, out=tmp_path)
    assert results.status == "completed" and asked
    assert [episode.length for episode in results.episodes] == [30, 30]  # choices are no steps
    assert results.episodes[0].agents["agent_0/goal"].worker_id == "in_process"
    assert results.returns("agent_0/goal").tolist() == results.returns().tolist()


def test_an_environment_without_options_has_no_managers(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no options"):
        evaluate("Acrobot-v1", {"agent": {"type": "random"}, "agent/goal": lambda seen: 0}, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_a_policy_raises_is_said_with_its_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def wise(seen: Any) -> int:
        return int(1 / 0)

    results = evaluate("CartPole-v1", wise, seeds=2, out=tmp_path)
    place = f"(test_evaluation.py, line {wise.__code__.co_firstlineno + 1}, in wise)"
    for episode in results.episodes:
        assert episode.error == f"agent_0: ZeroDivisionError: division by zero {place}"
    record, summed_up = caplog.records
    assert place in record.message and "int(1 / 0)" in record.message
    shown = logging.Formatter().format(record)
    assert "RuntimeError" not in shown and "During handling" not in shown, "the policy's own exception alone"
    assert summed_up.message.startswith("2 episodes did not complete and are not in the means")
    assert place in summed_up.message


def test_what_failed_counts_as_was_declared(tmp_path: Path) -> None:
    def fragile(seen: Any) -> int:
        return int(1 / int(abs(seen[0]) > 0.02))

    results = evaluate("CartPole-v1", fragile, seeds=10, failure_score=-5, out=tmp_path)
    failed = sum(episode.status == "failed" for episode in results.episodes)
    (operator,) = results.summary.operators
    assert 0 < failed == operator.failed
    assert operator.mean.n == 10 and operator.failure_score == -5
    assert f"{failed} failed, each counted as -5" in str(results.summary.verdicts[0])


def test_a_game_without_chance_is_one_observation(tmp_path: Path) -> None:
    def lowest(seen: Any, legal_actions: Any) -> int:
        return int(legal_actions[0])

    players = {"player_1": lowest, "player_2": lowest}
    summary = evaluate("tictactoe_v3", players, seeds=8, seats="swap", out=tmp_path).summary
    (c,) = summary.comparisons
    assert (c.p, c.verdict, c.difference.n, c.difference.units) == (None, "undecided", 8, 1)
    assert "all episodes are the same, so they are a single observation" in str(summary.verdicts[0])


async def test_it_works_inside_a_running_loop(tmp_path: Path) -> None:
    results = evaluate("CartPole-v1", lambda seen: int(seen[2] > 0), seeds=3, out=tmp_path)
    assert [episode.status for episode in results.episodes] == ["completed"] * 3
    assert asyncio.get_running_loop().is_running()


async def test_it_can_be_awaited_beside_other_work(tmp_path: Path) -> None:
    assert inspect.signature(aevaluate).parameters == inspect.signature(evaluate).parameters
    first, second = await asyncio.gather(
        aevaluate("CartPole-v1", lambda seen: int(seen[2] > 0), seeds=3, out=tmp_path),
        aevaluate("CartPole-v1", {"agent": {"type": "random"}}, seeds=3, out=tmp_path),
    )
    assert first.status == second.status == "completed"
    assert first.folder != second.folder and not asyncio.all_tasks() - {asyncio.current_task()}


def test_it_is_among_the_names_of_the_package() -> None:
    assert {"evaluate", "aevaluate", "__version__"} <= set(dir(gym_gui))


class Lean:
    """All that a policy needs."""

    def select_action(self, observation: Any) -> int:
        return int(observation[2] > 0)


@pytest.mark.parametrize("policy", [Lean(), Lean])
def test_select_action_alone_is_enough(policy: Any, tmp_path: Path) -> None:
    results = evaluate("CartPole-v1", policy, seeds=2, out=tmp_path)
    assert results.status == "completed"
    assert results.episodes[0].agents["agent_0"].policy == "Lean"


@pytest.mark.parametrize("nonsense", [5, None, object(), type("Empty", (), {})])
def test_what_is_no_policy_is_refused_in_a_few_lines(nonsense: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not a policy|no select_action") as caught:
        evaluate("CartPole-v1", nonsense, out=tmp_path)
    assert "function of the observation" in caught.value.fix
    assert len("".join(traceback.format_exception(caught.value)).splitlines()) <= 10
    assert not list(tmp_path.iterdir())


def test_an_environment_that_cannot_be_made_shows_its_authors_lines_and_none_of_ours(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        evaluate("tests.support.arenas:Corridor", Lean, env_kwargs={"lenght": 3}, out=tmp_path)
    shown = "".join(traceback.format_exception(caught.value))
    assert "lenght" in str(caught.value) and len(shown.splitlines()) <= 10


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (-1, "-1 seeds cannot be played. Pass a number"),
        (0, "0 seeds cannot be played"),
        ([1, 1], "1 is listed 2 times"),
        ([], "must not be empty"),
        ([-1], r"seeds\[0\]: must be at least 0, not -1"),
        (2.5, "must be a number or a list, not 2.5"),
    ],
)
def test_seeds_that_cannot_be_are_refused_with_the_reason(seeds: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        evaluate("CartPole-v1", Lean, seeds=seeds, out=tmp_path)


def test_results_say_where_they_are_and_show_themselves_in_a_notebook(tmp_path: Path) -> None:
    results = evaluate("CartPole-v1", Lean, seeds=2, name="<b>bold</b>", out=tmp_path)
    said = str(results).splitlines()
    assert said[-2:] == [f"Run:  {results.folder}", f"Page: {results.page}"]
    assert json.loads((results.folder / "run.json").read_text())["episodes"] == {"evaluation": 2}
    assert results.page.is_file() and results.page.parent == results.folder
    for shown in (results._repr_html_(), results.summary._repr_html_()):  # pyright: ignore[reportAttributeAccessIssue]
        assert "<table" in shown and "&lt;b&gt;bold" in shown and "<b>bold" not in shown
        assert "<script" not in shown
    assert str(results.folder) in results._repr_html_()


def test_without_pandas_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = evaluate("CartPole-v1", Lean, seeds=2, out=tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=f"pandas is not installed.*{sys.executable}"):
        results.to_pandas()


def test_episodes_as_a_data_frame(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    results = evaluate("CartPole-v1", Lean, seeds=3, out=tmp_path)
    frame = results.to_pandas()
    assert len(results.to_pandas(steps=True)) == frame["length"].sum()
    assert list(frame["seed"]) == [0, 1, 2] and set(frame["status"]) == {"completed"}


def test_a_game_of_ones_own_is_won_drawn_and_lost_by_returns(tmp_path: Path) -> None:
    def outcomes(rewards: dict[str, float], task: str = "Turns", **more: Any) -> dict[str, str]:
        turns = [["a", {}, {}], ["b", rewards, {"a": "t", "b": "t"}]]
        kwargs = {"agents": ["a", "b"], "turns": turns}
        both: dict[str, Any] = dict.fromkeys("ab", lambda seen: 0)
        results = evaluate(
            f"tests.support.arenas:{task}", both, seeds=1, env_kwargs=kwargs, out=tmp_path, **more
        )
        return dict(results.episodes[0].outcome or {})

    assert outcomes({"a": 1.0, "b": -1.0}) == {"a": "win", "b": "loss"}
    assert outcomes({"a": 0.5, "b": 0.5}) == {"a": "draw", "b": "draw"}
    assert outcomes({"a": 1.0}, teams={"both": ["a", "b"]}) == {}
    assert outcomes({"a": 1.0}, max_steps=1) == {}
    assert outcomes({"b": 1.0}, task="together", teams={"x": ["a"], "y": ["b"]}) == {"x": "loss", "y": "win"}
    assert outcomes({"b": 1.0}, task="together") == {}


@needs_a_trained_policy
def test_a_group_plays_as_each_of_its_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "runs"))
    group(tmp_path / "runs", [500.0, 480.0])
    results = evaluate("CartPole-v1", {"agent": "group:ppo_CartPole-v1"}, seeds=2, max_steps=9)
    assert list(results.run.operators) == ["evaluation_seed1", "evaluation_seed2"]
    assert results.returns(of="ppo_CartPole-v1 (seed 2)").tolist() == [9.0, 9.0]
    (report,) = results.summary.trainings
    assert report.algorithms[0].trainings == 2
    assert "ppo_CartPole-v1 has a mean return of 9.00" in str(results)
