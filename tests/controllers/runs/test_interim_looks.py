"""Runs that play until it is decided: who stops when, what is written of it, and how they go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui import evaluate
from gym_gui.analysis import open_run, summarize
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.runs.operator_execution import MAX_BROKEN_STARTS
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError

COINS = "tests.support.arenas:Coins"


def flip(number: int) -> Any:
    """A player whose calls are right half of the time, on other coins than another number's."""

    def call(observation: Any) -> int:
        return int(np.random.default_rng([number, int(observation[0])]).integers(2))

    return call


def good(observation: Any) -> int:
    """Sees what lies on top."""
    return int(observation[1])


PLAYERS = {"good": good, "fair": flip(1), "fair too": flip(2)}


def ids(players: Mapping[str, Any]) -> list[OperatorConfig]:
    return [OperatorConfig(name.replace(" ", "_"), name, "", COINS) for name in players]


def manager(
    out: Path, players: Mapping[str, Any], resume: Path | None = None, **execution: Any
) -> OperatorScriptExecutionManager:
    experiment = Experiment(ids(players), ExecutionConfig(until="decided", **execution))
    resolved = [
        resolve_operator(config, {"agent_0": policy})
        for config, policy in zip(experiment.operators, players.values(), strict=True)
    ]

    def open_session(which: Any, settings: SessionSettings, on_event: Any) -> LocalSession:
        return LocalSession(which, settings, on_event)

    return OperatorScriptExecutionManager(experiment, resolved, open_session, out, resume=resume)


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text("utf-8"))


async def test_sessions_that_cannot_be_started_are_not_tried_again_in_every_batch(tmp_path: Path) -> None:
    experiment = Experiment(ids(PLAYERS), ExecutionConfig(20, until="decided", batch=5))
    resolved = [
        resolve_operator(config, {"agent_0": policy})
        for config, policy in zip(experiment.operators, PLAYERS.values(), strict=True)
    ]
    tried: list[str] = []

    def open_session(which: Any, settings: SessionSettings, on_event: Any) -> LocalSession:
        tried.append(which.config.operator_id)
        if which.config.operator_id == "fair":
            raise MosaicError("there is no memory left")
        return LocalSession(which, settings, on_event)

    result = await OperatorScriptExecutionManager(
        experiment, resolved, open_session, tmp_path, tried=()
    ).run()
    run = open_run(result.folder)
    reasons = {episode.error for episode in run.operators["fair"].episodes()}
    assert reasons == {"no session could be started: there is no memory left"}
    assert len(list(run.operators["fair"].episodes())) > 5 and result.status == "failed"  # of several batches
    assert tried.count("fair") == MAX_BROKEN_STARTS


async def test_who_is_decided_about_stops_and_the_others_play_on(tmp_path: Path) -> None:
    result = await manager(tmp_path, PLAYERS, num_episodes=100).run()
    header = told(result.folder)
    looks = header["looks"]
    assert result.status == "completed"
    assert [look["seeds"] for look in looks] == list(range(10, 101, 10))
    assert all(look["of"] == 100 for look in looks)
    stopped = next(look["seeds"] for look in looks if "good" not in look["playing"])
    assert stopped < 60
    assert header["episodes"] == {"good": stopped, "fair": 100, "fair_too": 100}
    pairs = [{(row["first"], row["second"]) for row in look["comparisons"]} for look in looks]
    assert len(pairs[0]) == 3 and pairs[-1] == {("fair", "fair_too")}
    for look in looks:
        for row in look["comparisons"]:
            crossed = row["boundary"] is not None and row["statistic"] > row["boundary"]
            assert row["better"] in (None, "good")
            assert row["better"] is None or crossed or row["p"] <= 0.05

    summary = summarize(open_run(result.folder))
    verdicts = {(c.first, c.second): c for c in summary.comparisons}
    better = verdicts["good", "fair"]
    assert better.verdict == "first" and better.stage is not None and better.stage.seeds <= stopped
    assert f"decided after {better.stage.seeds} of 100 seeds, p = " in better.detail
    equal = verdicts.get(("fair", "fair_too")) or verdicts["fair_too", "fair"]
    assert equal.verdict == "undecided" and ", after 100 of 100 seeds, " in equal.detail
    assert "no difference larger than" in equal.detail


async def test_a_report_decides_as_the_run_did(tmp_path: Path) -> None:
    result = await manager(tmp_path, PLAYERS, num_episodes=60, batch=7).run()
    decided = {
        frozenset((row["first"], row["second"])): (look["seeds"], row["better"])
        for look in told(result.folder)["looks"]
        for row in look["comparisons"]
        if row["better"]
    }
    found = {
        frozenset((c.first, c.second)): (c.stage.seeds, c.first if c.verdict == "first" else c.second)
        for c in summarize(open_run(result.folder)).comparisons
        if c.verdict != "undecided" and c.stage is not None
    }
    assert decided == found and len(decided) == 2


async def test_nobody_plays_ahead_of_a_look(tmp_path: Path) -> None:
    """Seeds beyond the look that decides were never begun: there is nothing to choose from afterwards."""
    result = await manager(tmp_path, {"good": good, "fair": flip(1)}, num_episodes=100, batch=12).run()
    run = open_run(result.folder)
    for operator in run.operators.values():
        assert sorted(e.episode_index for e in operator.episodes()) == list(
            range(told(result.folder)["looks"][-1]["seeds"])
        )
    assert result.episodes < 200 and result.episodes % 24 == 0


async def test_it_goes_on_at_the_look_at_which_it_was_cut_off(tmp_path: Path) -> None:
    whole = await manager(tmp_path / "whole", PLAYERS, num_episodes=60).run()
    asked = 0
    running: list[OperatorScriptExecutionManager] = []

    def cuts_it_off(observation: Any) -> int:
        nonlocal asked
        asked += 1
        if asked == 10 * 26:  # in the fifth batch of six
            running[0].stop()
        return PLAYERS["fair"](observation)

    running.append(manager(tmp_path / "cut", {**PLAYERS, "fair": cuts_it_off}, num_episodes=60))
    cut = await running[0].run()
    before = told(cut.folder)["looks"]
    assert cut.status == "stopped"
    assert before == told(whole.folder)["looks"][:4] and before[-1]["seeds"] == 24

    again = await manager(tmp_path, PLAYERS, resume=cut.folder, num_episodes=60).run()
    assert again.status == "completed"
    assert told(cut.folder)["looks"] == told(whole.folder)["looks"]
    assert told(cut.folder)["episodes"] == told(whole.folder)["episodes"]


async def test_an_episode_that_was_lost_is_played_and_looked_at_once_more(tmp_path: Path) -> None:
    """Its row was never written, or told of a lost process: what was decided without it is decided again."""
    result = await manager(tmp_path, PLAYERS, num_episodes=60).run()
    whole = told(result.folder)
    rows = result.folder / "operators" / "good" / "episodes.jsonl"
    kept = [row for row in rows.read_text("utf-8").splitlines() if json.loads(row)["episode_index"] != 7]
    assert len(kept) == whole["episodes"]["good"] - 1
    rows.write_text("".join(f"{row}\n" for row in kept), "utf-8")
    header = {**whole, "status": "stopped"}
    header["looks"] = [look if i < 1 else {**look, "playing": []} for i, look in enumerate(header["looks"])]
    (result.folder / "run.json").write_text(json.dumps(header), "utf-8")

    again = await manager(tmp_path, PLAYERS, resume=result.folder, num_episodes=60).run()
    assert again.status == "completed"
    assert (
        told(result.folder)["looks"] == whole["looks"]
        and told(result.folder)["episodes"] == whole["episodes"]
    )
    assert not (await verify(open_run(result.folder))).divergences


async def test_a_run_that_ended_early_verifies(tmp_path: Path) -> None:
    result = await manager(tmp_path, {"good": good, "fair": flip(1)}, num_episodes=100).run()
    checked = await verify(open_run(result.folder))
    assert checked.episodes == result.episodes and not checked.divergences
    assert (result.folder / "run.json").exists()


def test_from_python(tmp_path: Path) -> None:
    results = evaluate(
        COINS, good, name="good", seeds=100, against={"fair": flip(1)}, until="decided", batch=8, out=tmp_path
    )
    assert str(results).startswith("good is better than fair by")
    played = len(results.returns())
    assert played == len(results.returns(of="fair")) < 100 and len(results.episodes) == 2 * played
    with pytest.raises(UsageError, match=r"no operator is called 'unfair'\. There are: good, fair"):
        results.returns(of="unfair")


def test_others_play_all_seeds_where_nothing_is_to_be_decided(tmp_path: Path) -> None:
    results = evaluate(COINS, good, seeds=12, against={"fair": flip(1)}, out=tmp_path)
    assert len(results.returns()) == len(results.returns(of="fair")) == 12
    assert results.summary.comparisons[0].stage is None


def test_one_alone_cannot_be_decided_about(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs a policy to compare with\. Add one to 'against'"):
        evaluate(COINS, good, until="decided", out=tmp_path)


def test_a_seed_of_swapped_seats_counts_once(tmp_path: Path) -> None:
    best = {"type": "baseline", "behavior": "tictactoe_one_ply"}
    players = {"player_1": best, "player_2": {"type": "random"}}
    weak = {"player_1": {"type": "random"}, "player_2": {"type": "random"}}
    results = evaluate(
        "tictactoe_v3",
        players,
        name="best",
        against={"weak": weak},
        seats="swap",
        seeds=120,
        until="decided",
        out=tmp_path,
    )
    looks = told(results.folder)["looks"]
    assert looks[0]["of"] == 60 and looks[-1]["playing"] == []
    assert told(results.folder)["episodes"]["evaluation"] == 2 * looks[-1]["seeds"] < 120
    found = next(c for c in results.summary.comparisons if c.kind == "operators")
    assert found.verdict == "first" and found.pairs == 2 * looks[-1]["seeds"] == 2 * found.difference.units
    teams = [c for c in results.summary.comparisons if c.kind == "teams"]
    assert teams and all(c.verdict == "undecided" and c.p is None for c in teams)
