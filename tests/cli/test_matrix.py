"""A matrix from a shell: what is played of it, what is missing, and what comes of that later."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import ROOT, Mosaic

pytestmark = pytest.mark.usefixtures("all_sessions_here")

TRAINED = ROOT / "docs/examples/checkpoints/ppo_cartpole"
CAREFUL = {"type": "baseline", "behavior": "tictactoe_one_ply"}
POOL: dict[str, Any] = {"rl": CAREFUL, "llm": {"type": "baseline", "behavior": "cycle"}}
ROWS: list[Any] = [
    *("rl_vs_rl", "rl_vs_random", "solo_pair_vs_co_trained", "heterogeneous_vs_solo", "coordination_1_vs_2"),
    {"name": "weak", "sides": ["random", "noop"]},
]


def _file(home: Path, policies: Any = POOL, execution: Any = None, **changes: Any) -> Path:
    path = home / "matrix.yaml"
    data = {
        "policies": policies,
        "matrix": {"task": "tictactoe_v3", "rows": ROWS, **changes},
        "execution": {"num_episodes": 4, "seeds": 0, "processes": 1, **(execution or {})},
    }
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def _episodes(run: Path) -> dict[str, list[str]]:
    return {p.parent.name: p.read_text().splitlines() for p in sorted(run.glob("operators/*/episodes.jsonl"))}


def test_the_rest_is_played_what_is_missing_is_said_first_and_rows_may_come_later(mosaic: Mosaic) -> None:
    done = mosaic("run", _file(mosaic.home), "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    missing = [
        "solo_pair_vs_co_trained was not played: no policy is called 'co_trained', and 'roles' names none.",
        "heterogeneous_vs_solo was not played: it has 2 players for player_1 of tictactoe_v3, which has 1.",
        "coordination_1_vs_2 was not played: policy 'llm': unknown setting of operators_worker "
        "'coordination_level'.",
    ]
    verdicts = done.json()["verdicts"]
    assert verdicts[:3] == missing
    assert verdicts[3].startswith("RL vs RL: player_1 (rl) against player_2 (rl) is not decided")
    assert verdicts[3].endswith("both sides have the same players.")
    assert len(verdicts) == 6 and all("Holm, 2 comparisons" in verdict for verdict in verdicts[4:])
    before = _episodes(run)
    assert {name: len(rows) for name, rows in before.items()} == dict.fromkeys(
        ("rl_vs_rl", "rl_vs_random", "weak"), 4
    )

    summary = json.loads((run / "summary.json").read_text())
    assert [(row["name"], row["operator"], row["better"]) for row in summary["matrix"]][:3] == [
        ("rl_vs_rl", "rl_vs_rl", "same players"),
        ("rl_vs_random", "rl_vs_random", "not decided"),
        ("solo_pair_vs_co_trained", "", ""),
    ]
    page = (run / "report.html").read_text()
    assert (
        page.index("solo_pair_vs_co_trained was not played")
        < page.index("Rows of the matrix")
        < page.index("tictactoe_v3</h2>")
    )
    said = mosaic("report", run, "--no-replays").out
    assert said.index("was not played") < said.index("Rows of the matrix") < said.index("Teams of RL vs RL")
    assert mosaic("verify", run).status == 0

    # Nothing has changed: nothing is left to play.
    assert "Nothing is left to play: all 12 episodes" in mosaic("run", "--resume", run).out
    grown = _file(mosaic.home, {**POOL, "co_trained": {"type": "baseline", "behavior": "cycle"}})
    done = mosaic("run", grown, "--resume", run, "--json")
    assert done.status == 0, done.err
    after = _episodes(run)
    assert len(after.pop("solo_pair_vs_co_trained")) == 4 and after == before
    assert done.json()["verdicts"][:2] == missing[1:]
    record = json.loads((run / "run.json").read_text())
    assert (
        record["episodes"]["solo_pair_vs_co_trained"] == 4 and "solo_pair_vs_co_trained" in record["players"]
    )
    assert {row["name"] for row in record["experiment"]["matrix"]["rows"] if "problem" in row} == {
        "heterogeneous_vs_solo",
        "coordination_1_vs_2",
    }

    other = mosaic("run", _file(mosaic.home, {**POOL, "rl": {"type": "random"}}), "--resume", run)
    assert other.status == 2
    assert "operator 'rl_vs_rl' of the run is missing from the file, or differs there" in other.line
    other = mosaic("run", _file(mosaic.home, execution={"seeds": 5}), "--resume", run)
    assert other.status == 2 and "the run was begun with another 'execution'" in other.line


def test_a_run_that_ends_when_it_is_decided_gains_no_rows(mosaic: Mosaic) -> None:
    limits = {"num_episodes": 8, "until": "decided", "batch": 8, "max_steps": 20}

    def asked(*players: str) -> Path:
        pool = {"gone": {"type": "rl", "checkpoint": "gone"}}
        changes = {"task": "CartPole-v1", "players": list(players), "rows": None}
        return _file(mosaic.home, pool, limits, **changes)

    done = mosaic("run", asked("random", "noop", "gone"), "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    before = _episodes(run)
    other = mosaic("run", asked("random", "noop", "gone", "cycle"), "--resume", run)
    assert other.status == 2 and "this run cannot gain rows" in other.line
    same = asked("random", "noop", "gone")
    assert "Nothing is left to play" in mosaic("run", same, "--resume", run).out
    assert _episodes(run) == before and len(before) == 2


def test_a_policy_that_is_not_there_yet_or_damaged_costs_its_own_rows(mosaic: Mosaic) -> None:
    broken = Path(shutil.copytree(TRAINED, mosaic.home / "broken"))
    weights = next(broken.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:100])
    pool = {name: {"type": "rl", "checkpoint": name} for name in ("broken", "later")}
    limits = {"num_episodes": 2, "max_steps": 20}
    players = ["random", "broken", "later"]
    file = _file(mosaic.home, pool, limits, task="CartPole-v1", players=players, rows=None)
    done = mosaic("run", file)
    assert done.status == 0, done.err
    lines = [line for line in done.err.splitlines() if line.startswith("Not played: ")]
    assert [line.split(":")[1].strip() for line in lines] == ["later", "broken"]
    (run,) = (mosaic.home / "runs").iterdir()
    assert {name: len(rows) for name, rows in _episodes(run).items()} == {"random": 2}
    record = json.loads((run / "run.json").read_text())
    assert record["status"] == "completed" and record["episodes"] == {"random": 2}

    shutil.copytree(TRAINED, mosaic.home / "later")
    done = mosaic("run", "--resume", run, "--json")
    assert done.status == 0, done.err
    assert {name: len(rows) for name, rows in _episodes(run).items()} == {"later": 2, "random": 2}
    assert done.json()["verdicts"][0].startswith("broken was not played: ")
    table = json.loads((run / "summary.json").read_text())["matrix"]
    assert [(row["name"], row["episodes"], row["mean"] is None) for row in table] == [
        ("random", 2, False),
        ("broken", 0, True),
        ("later", 2, False),
    ]


def test_what_would_be_played(mosaic: Mosaic) -> None:
    done = mosaic("run", _file(mosaic.home), "--dry-run")
    assert done.status == 0, done.err
    assert "3 operators, 4 episodes each" in done.out and "6 rows of the matrix:" in done.out
    assert "  rl_vs_random             rl against random\n" in done.out
    assert "Not played: solo_pair_vs_co_trained: no policy is called 'co_trained'" in done.out
    assert not (mosaic.home / "runs").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": None}, "matrix.yaml: matrix: names no policy"),
        ({"rows": ["llm_vs_rl"]}, "matrix.rows[0]: no row is called 'llm_vs_rl'. Did you mean"),
        ({"rows": ["coordination"]}, "matrix: no row can be played: policy 'llm': unknown setting"),
        ({"task": "nowhere_v1"}, "matrix: no row can be played: unknown environment 'nowhere_v1'"),
    ],
)
def test_a_slip_is_one_line(mosaic: Mosaic, changes: dict[str, Any], said: str) -> None:
    done = mosaic("run", _file(mosaic.home, **changes))
    assert done.status == 2
    assert said in done.line
    assert not (mosaic.home / "runs").exists()


def test_a_matrix_is_allowed_at_once_with_its_environment_and_its_players(mosaic: Mosaic) -> None:
    ran, engine = mosaic.home / "ran", mosaic.home / "engine"
    (mosaic.home / "maze.py").write_text(
        f"from pathlib import Path\nfrom pettingzoo.classic import chess_v6\nPath({str(ran)!r}).touch()\n"
        "def make(**kwargs):\n    return chess_v6.env(**kwargs)\n"
    )
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    player = {"type": "baseline", "worker_id": "stockfish_worker", "settings": {"engine_path": str(engine)}}
    rows = [{"name": "one", "sides": ["mine", "random"]}]
    file = _file(mosaic.home, {"mine": player}, task="maze:make", rows=rows)
    assert "maze:make" in mosaic.refused("run", file, "--dry-run")
    done = mosaic("trust", "add", file)
    assert done.status == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()] == ["Allowed:"] * 2
    assert f"code in {mosaic.home}\n" in done.out and str(engine) in done.out and not ran.exists()
    mosaic("run", file, "--dry-run")
    assert ran.exists()


def test_settings_of_sides_that_compete_are_held_against_the_first(mosaic: Mosaic) -> None:
    pool = {"ours": CAREFUL}
    settings = {"careful": {}, "passive": {"policies": {"ours": {"behavior": "cycle"}}}}
    rows = [{"name": "match", "sides": ["ours", "random"]}]
    file = _file(mosaic.home, pool, {"num_episodes": 24}, rows=rows, settings=settings)
    done = mosaic("run", file, "--json")
    assert done.status == 0, done.err
    summary = json.loads((mosaic.home / done.json()["run"] / "summary.json").read_text())
    first, second = summary["settings"]
    assert (first["setting"], first["players"], first["difference"]) == (
        "careful",
        "ours against random",
        None,
    )
    assert second["difference"]["value"] == pytest.approx(
        second["result"]["value"] - first["result"]["value"]
    )
    assert second["difference"]["units"] == 12, "two games of a seed are one"
    assert second["better"] == "worse" and second["p_adjusted"] < 0.05
    assert first["tokens"] is None and first["unusable"]["value"] == 0
    assert all(c["kind"] == "teams" for c in summary["comparisons"]), "rows are not compared"
