"""Parts of an experiment that are played by themselves are the run that is played in one place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.analysis import compare_runs
from tests.support.commands import Mosaic, experiment

pytestmark = pytest.mark.usefixtures("all_sessions_here")

TWO = ({"id": "chance"}, {"id": "turns", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})


def shards(mosaic: Mosaic, command: str, file: Path, of: int = 3) -> list[Path]:
    """All parts, played one after the other."""
    found: list[Path] = []
    for number in range(1, of + 1):
        done = mosaic(command, file, "--shard", f"{number}/{of}", "--out", "shards", "--json")
        assert done.status == 0, done.err
        said = done.json()
        assert said["shard"] == f"{number}/{of}" and said["verdicts"] == []
        found.append(mosaic.home / said["run"])
    return found


def digests(run: Path) -> dict[str, list[tuple[int, str]]]:
    """``trajectory_sha256`` of every episode, in the order of the files."""
    return {
        file.parent.name: [
            (row["episode_index"], row["trajectory_sha256"]) for row in map(json.loads, file.open())
        ]
        for file in sorted(run.glob("operators/*/episodes.jsonl"))
    }


def run_of(mosaic: Mosaic, *arguments: str | Path) -> Path:
    """The run folder that a command says."""
    done = mosaic(*arguments, "--json")
    assert done.status == 0, done.err
    return mosaic.home / done.json()["run"]


def test_an_experiment_in_parts_is_the_experiment(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=5)
    parts = shards(mosaic, "run", file)
    whole = run_of(mosaic, "run", file)
    merged = run_of(mosaic, "runs", "merge", "shards", "-o", "merged")
    assert compare_runs(whole, merged) is None
    found = digests(merged)
    assert found == {name: sorted(rows) for name, rows in digests(whole).items()}
    assert [len(rows) for rows in found.values()] == [5, 5]

    assert mosaic("verify", merged, *parts).status == 0
    assert "Nothing is left to play: all 10 episodes" in mosaic("run", "--resume", merged).out
    assert "chance" in mosaic("report", merged, "--no-replays").out
    asked = mosaic("query", "select count(*) as n from episodes", merged, "--format", "json")
    assert asked.json() == [{"n": 10}]
    again = run_of(mosaic, "rerun", parts[0])
    assert digests(again) == digests(parts[0]), "a part is played again as a part"


def test_several_parts_by_one_command_are_what_as_many_commands_write(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=3)
    second = shards(mosaic, "run", file)[1]
    one_by_one = {part["shard"]["number"]: part for part in headers(mosaic.home / "shards")}
    cut_off = shutil.copytree(second, mosaic.home / "some" / second.name)
    cut(cut_off)
    done = mosaic("run", file, "--shard", "1,2-3/3", "--resume", "some", "--json")
    assert done.status == 0, done.err
    said = [json.loads(line) for line in done.out.splitlines()]
    assert [row["shard"] for row in said] == ["1/3", "2/3", "3/3"]
    assert said[1]["run"] == f"some/{cut_off.name}", "what was begun is resumed"
    for part in headers(mosaic.home / "some"):
        assert part == one_by_one[part["shard"]["number"]]
    whole = run_of(mosaic, "run", file)
    merged = run_of(mosaic, "runs", "merge", "some", "-o", "merged")
    assert compare_runs(whole, merged) is None
    again = mosaic("run", file, "--shard", "1-3/3", "--resume", "some")
    assert again.out.count("Nothing is left to play") == 3


def headers(folder: Path) -> list[dict[str, Any]]:
    """What run folders say, without what no two of them share."""
    own = ("run_id", "started_at", "finished_at", "files_sha256", "record_sha256")
    found = [json.loads(file.read_text()) for file in folder.glob("*/run.json")]
    return [{key: value for key, value in about.items() if key not in own} for about in found]


def cut(run: Path) -> None:
    """Leave of a run what a kill may leave."""
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**about, "status": "running"}))
    for lines in run.rglob("episodes.jsonl"):
        lines.write_bytes(b"")


@pytest.mark.full
def test_a_tournament_in_parts_is_the_tournament(mosaic: Mosaic) -> None:
    pool = {
        "random": {"type": "random"},
        "careful": {"type": "baseline", "behavior": "tictactoe_one_ply"},
        "cycle": {"type": "baseline", "behavior": "cycle"},
    }
    file = mosaic.home / "pool.yaml"
    data = {"task": "tictactoe_v3", "policies": pool, "execution": {"seeds": [0, 1], "processes": 1}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    done = mosaic("tournament", file, "--shard", "1-3/3", "--out", "shards", "--json")
    assert done.status == 0, done.err
    parts = [mosaic.home / json.loads(line)["run"] for line in done.out.splitlines()]
    whole = run_of(mosaic, "tournament", file)
    merged = run_of(mosaic, "runs", "merge", *parts)
    assert compare_runs(whole, merged) is None
    assert digests(merged) == {name: sorted(rows) for name, rows in digests(whole).items()}
    assert "Nothing is left to play: all 12 episodes" in mosaic("tournament", "--resume", merged).out
    assert "round robin, 12 games" in mosaic("report", merged, "--no-replays").out
    assert "Nothing is left to play: all 4 episodes" in mosaic("tournament", "--resume", parts[0]).out

    said = mosaic("tournament", file, "--shard", "3/3", "--dry-run").out
    assert "careful vs cycle: games 0 to 3\nShard 3 of 3: 4 games. Nothing was played." in said
    data["policies"] = {**pool, "noop": {"type": "passive"}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    done = mosaic("tournament", file, "--resume", parts[0])
    assert done.status == 2 and done.line.startswith(
        f"mosaic: the experiment has changed since {parts[0]} was begun"
    )
    file.write_text(yaml.safe_dump({**data, "schedule": "swiss"}, sort_keys=False))
    done = mosaic("tournament", file, "--shard", "1/3")
    assert done.status == 2 and "a Swiss tournament pairs each round by the results" in done.line


def test_what_is_missing_is_played_by_itself_or_where_the_rest_is(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=3)
    first, second, third = shards(mosaic, "run", file)
    lines = second / "operators/turns/episodes.jsonl"
    lines.write_bytes(b"")
    assert "has changed since its end" in mosaic.refused("runs", "merge", first, second, third)
    about = json.loads((second / "run.json").read_text())
    (second / "run.json").write_text(json.dumps({**about, "status": "running"}))  # as if it had been cut off
    said = mosaic.refused("runs", "merge", first, second, third)
    assert said.startswith("shard 2 of 3 has 1 of 2 episodes left to play: mosaic run --resume ")
    done = mosaic("runs", "merge", first, third, second, "--partial", "-o", "merged")
    assert done.status == 0 and done.out.startswith("3 shards, 5 episodes.\nRun:  merged/"), done.err
    merged = mosaic.home / done.out.split("Run:")[1].strip()
    assert "Resume:   mosaic run --resume" in mosaic("runs", "show", merged).out

    assert mosaic("run", "--resume", second).out.startswith("Shard: 2 of 3, 2 episodes\n")
    whole = run_of(mosaic, "runs", "merge", first, second, third)
    assert mosaic("run", "--resume", merged, "--json").status == 0
    assert compare_runs(whole, merged) is None
    assert json.loads((merged / "run.json").read_text())["status"] == "completed"


def test_a_part_says_what_it_is(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=1)
    said = mosaic("run", file, "--shard", "2/3", "--dry-run").out
    assert "Part to play, shard 2 of 3: 0 episodes.\n" in said
    done = mosaic("run", file, "--shard", "2/3")
    assert done.status == 0 and done.out.startswith("Shard: 2 of 3, 0 episodes\nRun:  "), "valid, and empty"
    (run,) = (mosaic.home / "runs").iterdir()
    assert list(run.rglob("*.jsonl")) == []
    assert "shard 2/3 of chance, turns: CartPole-v1; 0 episodes" in mosaic("runs", "list").out
    shown = mosaic("runs", "show", run).out
    assert "Shard:     2 of 3" in shown and f"Merge:    mosaic runs merge {run.parent}" in shown
    assert mosaic("verify", run).status == 0
    assert "Nothing is left to play: all 0 episodes" in mosaic("run", "--resume", run).out


@pytest.mark.parametrize(
    ("execution", "said"),
    [
        ({"until": "decided", "num_episodes": 20}, "a shard cannot be played 'until: decided'"),
        ({"token_budget": 100}, "token_budget holds for the whole run"),
        ({"time_budget_s": 9}, "time_budget_s holds for the whole run"),
    ],
)
def test_what_holds_for_all_episodes_has_no_parts(
    mosaic: Mosaic, execution: dict[str, Any], said: str
) -> None:
    file = experiment(mosaic.home, *TWO, **execution)
    assert said in mosaic.refused("run", file, "--shard", "1/2")


def test_a_slip_is_one_line(mosaic: Mosaic, played: Path) -> None:
    file = experiment(mosaic.home, *TWO)
    assert "there is no such shard. Shards are numbered from 1/2 to 2/2" in mosaic.refused(
        "run", file, "--shard", "3/2"
    )
    for slip in ("3", "2-1/2", "1-2-2/2", "1,/2"):
        assert ". Write for example" in mosaic.refused("run", file, "--shard", slip)
    assert "--dry-run takes one shard" in mosaic.refused("run", file, "--shard", "1-2/2", "--dry-run")
    parts = mosaic.home / "parts"
    parts.mkdir()
    refused = mosaic.refused("run", file, "--shard", "1/2", "--dry-run", "--resume", parts)
    assert "--dry-run --shard cannot be combined with --resume" in refused
    refused = mosaic.refused("tournament", "--shard", "1/2", "--dry-run", "--resume", parts)
    assert "a tournament file is needed" in refused
    assert "there is no folder nowhere" in mosaic.refused(
        "run", file, "--shard", "1/2", "--resume", "nowhere"
    )
    assert "names its shard itself" in mosaic.refused("run", "--resume", played, "--shard", "1/2")
    assert "cannot be combined with --replay" in mosaic.refused("run", "--replay", played, "--shard", "1/2")
    assert "is not a shard" in mosaic.refused("runs", "merge", played)


def test_a_part_is_gone_on_with_only_as_it_was_begun(mosaic: Mosaic) -> None:
    weights = mosaic.home / "prompt.txt"
    weights.write_text("1")
    run = run_of(mosaic, "run", experiment(mosaic.home, *TWO), "--shard", "1/2")
    about = json.loads((run / "run.json").read_text())
    about["shard"]["experiment_sha256"] = "0" * 64
    (run / "run.json").write_text(json.dumps(about))
    assert "the experiment has changed since" in mosaic.refused("run", "--resume", run)
