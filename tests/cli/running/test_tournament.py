"""``mosaic tournament``: played, grown and resumed from a shell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import ROOT, Mosaic

pytestmark = pytest.mark.usefixtures("all_sessions_here")

EXAMPLE = ROOT / "docs/examples/tournaments/connect_four.yaml"
POOL: dict[str, Any] = {
    "random": {"type": "random"},
    "careful": {"type": "baseline", "behavior": "tictactoe_one_ply"},
}


def _file(home: Path, **changes: Any) -> Path:
    path = home / "pool.yaml"
    execution = {"seeds": "range(0, 3)"}
    data = {"task": "tictactoe_v3", "policies": POOL, "execution": execution, **changes}
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def test_a_pool_plays_grows_and_is_gone_on_with(mosaic: Mosaic) -> None:
    done = mosaic("tournament", _file(mosaic.home), "--processes", "1", "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    progress = [json.loads(line)["progress"] for line in done.err.splitlines() if "progress" in line]
    assert progress[-1] == [
        {"operator_id": "tournament", "done": 6, "total": 6, "failed": 0, "steps": progress[-1][0]["steps"]}
    ]
    episodes = run / "operators/random_vs_careful/episodes.jsonl"
    first = episodes.read_text()

    # Cut off in the middle, and with a policy more.
    episodes.write_text("".join(first.splitlines(keepends=True)[:4]))
    grown = _file(mosaic.home, policies={**POOL, "cycle": {"type": "baseline", "behavior": "cycle"}})
    done = mosaic("tournament", grown, "--resume", run.name, "--processes", "1")
    assert done.status == 0, done.err
    lines = {
        path.parent.name: path.read_text().splitlines() for path in run.glob("operators/*/episodes.jsonl")
    }
    assert {key: len(rows) for key, rows in lines.items()} == dict.fromkeys(
        ("random_vs_careful", "random_vs_cycle", "careful_vs_cycle"), 6
    )
    assert lines["random_vs_careful"][:4] == first.splitlines()[:4]
    digests = [
        sorted(json.loads(row)["trajectory_sha256"] for row in rows)
        for rows in (first.splitlines(), lines["random_vs_careful"])
    ]
    assert digests[0] == digests[1]
    assert "at least 6 seeds are needed" in done.out and "Points of the row against the column" in done.out
    assert {path.name for path in run.iterdir()} >= {"tournament.json", "report.html", "summary.json"}

    done = mosaic("tournament", "--resume", run)
    assert done.status == 0 and "Nothing is left to play: all 18 episodes are done" in done.out
    assert mosaic("verify", run).status == 0


def test_what_would_be_played(mosaic: Mosaic) -> None:
    done = mosaic("tournament", EXAMPLE, "--dry-run")
    assert done.status == 0, done.err
    assert "mcts_10 vs mcts_100" in done.out
    assert "10 pairings, 40 games each: 400 games. Nothing was played." in done.out
    assert not (mosaic.home / "runs").exists()


def test_policies_of_all_kinds_can_meet(mosaic: Mosaic) -> None:
    for package in ("pyspiel", "agentspeak", "stable_baselines3"):
        pytest.importorskip(package)
    done = mosaic("tournament", EXAMPLE.parent / "connect_four_kinds.yaml", "--dry-run", "--trust")
    assert done.status == 0, done.err
    assert "28 pairings, 40 games each: 1,120 games. Nothing was played." in done.out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policies": {"random": {"type": "random"}}}, "at least two policies, 1 is named"),
        ({"schedule": "knockout"}, "schedule: unknown value 'knockout'"),
        ({"task": "CartPole-v1"}, "CartPole-v1 has one agent"),
        (
            {"policies": {**POOL, "chaser": {"type": "baseline", "behavior": "soccer_chaser"}}},
            "policy 'chaser': operators_worker cannot play player_1",
        ),
    ],
)
def test_a_slip_is_one_line(mosaic: Mosaic, changes: dict[str, Any], said: str) -> None:
    done = mosaic("tournament", _file(mosaic.home, **changes))
    assert done.status == 2
    assert said in done.err and done.err.count("\n") == 1
    assert not (mosaic.home / "runs").exists()


@pytest.mark.full
def test_the_seats_of_a_team_are_filled_with_each_two(mosaic: Mosaic) -> None:
    shutil.copytree(ROOT / "docs/examples/bdi", mosaic.home / "bdi")
    file = mosaic.home / "bdi/cross_play.yaml"
    data = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**data, "execution": {"seeds": [0], "max_steps": 60}}, sort_keys=False))
    assert "doors.asl, which has not been allowed" in mosaic.refused("tournament", file, "--dry-run")
    assert mosaic("trust", "add", file).out.count("Allowed: ") == 2
    planned = mosaic("tournament", file, "--dry-run").out
    assert "cross-play; seats: agent_0, agent_1" in planned
    assert "  zero_leads with one_leads\n" in planned and "cycle with random" not in planned
    assert "7 pairings, 2 games each: 14 games. Nothing was played." in planned

    done = mosaic("tournament", file, "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    found = json.loads((run / "tournament.json").read_text())
    made = {(team["policy"], team["partner"]): team["value"]["value"] for team in found["teams"]}
    assert made["zero_leads", "zero_leads"] > 1.9 and made["one_leads", "one_leads"] > 1.9
    assert made["zero_leads", "one_leads"] == made["one_leads", "zero_leads"] == 0
    assert [verdict["decided"] for verdict in found["verdicts"]] == [False, False]
    told = mosaic("report", run, "--no-replays").out
    assert "Self-play against cross-play is not decided" in told and "random (held" in told
    assert "<h1>Cross-play</h1>" in (run / "report.html").read_text()
    assert "Nothing is left to play: all 14 episodes are done" in mosaic("tournament", "--resume", run).out


def test_a_run_that_is_none_is_not_gone_on_with(mosaic: Mosaic, played: Path) -> None:
    done = mosaic("tournament", "--resume", played)
    assert done.status == 2 and "is not a tournament" in done.err


def test_the_example_is_played(mosaic: Mosaic) -> None:
    pytest.importorskip("pyspiel")
    folder = Path(shutil.copytree(EXAMPLE.parent, mosaic.home / "tournaments"))
    data = yaml.safe_load(EXAMPLE.read_text())
    data["execution"] = {"seeds": [1]}
    data["policies"] = {name: data["policies"][name] for name in ("random", "mcts_10")}
    (folder / EXAMPLE.name).write_text(yaml.safe_dump(data, sort_keys=False))
    done = mosaic("tournament", folder / EXAMPLE.name, "--processes", "1", "--json")
    assert done.status == 0, done.err
    assert (done.json()["episodes"], done.json()["failed"]) == (2, 0)


def test_what_a_person_should_know_is_told_once_for_all_pairings(mosaic: Mosaic) -> None:
    pool = {**POOL, "idle": {"type": "baseline", "behavior": "noop"}}
    done = mosaic("tournament", _file(mosaic.home, policies=pool), "--processes", "1")
    assert done.status == 0, done.err
    notes = [line for line in done.err.splitlines() if line.startswith("Note: ")]
    # One for each seat: two pairings have the idle policy, which has no move that does nothing there.
    assert len(notes) == len({note.partition(" (operator")[0] for note in notes}) > 0
    assert all("_vs_idle and 1 more)." in note for note in notes)
