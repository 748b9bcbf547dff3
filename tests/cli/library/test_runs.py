"""``mosaic runs``: how runs stand, those that were cut off among them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gym_gui.services.run_lock import is_being_written
from tests.support.commands import COMMAND, ROOT, Mosaic, experiment
from tests.support.processes import Offspring
from tests.support.runs import GATED, Gate
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("sessions_here")


def only_run(mosaic: Mosaic) -> dict[str, Any]:
    """The one run there is."""
    (row,) = mosaic("runs", "list", "--json").json()
    return row


def test_no_runs_is_no_error(mosaic: Mosaic) -> None:
    done = mosaic("runs", "list")
    assert (done.status, done.err) == (0, "")
    assert "mosaic run FILE" in done.out
    assert mosaic("runs", "list", "--json").json() == []


def test_newest_first_with_counts(mosaic: Mosaic, played: Path) -> None:
    path = experiment(mosaic.home, {"id": "a", "name": "Random"})
    first = f"runs/{played.name}"
    second = mosaic("run", path, "--json", "--episodes", "3").json()["run"]
    listed = mosaic("runs", "list", "--json").json()
    assert [row["run"] for row in listed] == [second, first]
    assert listed[0]["status"] == "completed"
    assert listed[0]["operators"] == [
        {"operator_id": "a", "name": "Random", "task": "CartPole-v1", "episodes": 3, "done": 3, "failed": 0}
    ]
    text = mosaic("runs", "list").out
    assert "Random: CartPole-v1" in text
    assert text.index(Path(second).name) < text.index(Path(first).name)
    shown = mosaic("runs", "show", Path(first).name)  # its name suffices
    assert "operators_worker (random)" in shown.out
    assert f"mosaic verify {first}" in shown.out


def test_a_finished_run_has_nothing_left_to_play(mosaic: Mosaic, played: Path) -> None:
    before = (played / "run.json").read_bytes()
    done = mosaic("run", "--resume", played)
    assert done.status == 0
    assert "Nothing is left to play: all 2 episodes are done" in done.out
    assert mosaic("run", "--resume", played, "--json").json()["episodes"] == 2
    assert (played / "run.json").read_bytes() == before


def test_episodes_that_have_no_line_any_more_are_named_and_played_again(mosaic: Mosaic, played: Path) -> None:
    lines = played / "operators" / "a" / "episodes.jsonl"
    whole = lines.read_text().splitlines(keepends=True)
    lines.write_text(whole[0])
    shown = mosaic("runs", "show", played).out
    assert "1 of 2" in shown and f"Resume:   mosaic run --resume {played}" in shown
    done = mosaic("run", "--resume", played)
    assert done.status == 0 and "is missing" not in done.out
    assert len(lines.read_text().splitlines()) == 2
    assert "Resume it" not in mosaic("runs", "show", played).out
    assert mosaic("verify", played).status == 0


def test_failed_episodes_stay_failed_after_a_resume(mosaic: Mosaic) -> None:
    player = {
        "agent": {
            "type": "baseline",
            "worker_id": "test_worker",
            "settings": {"fault": "illegal", "times": 0},
        }
    }
    run = mosaic.home / mosaic("run", experiment(mosaic.home, {"workers": player}), "--json").json()["run"]
    assert mosaic("run", "--resume", run).status == 1
    # Cut off after the first of its two episodes, which had failed.
    episodes = run / "operators" / "op_0" / "episodes.jsonl"
    episodes.write_text(episodes.read_text().splitlines(keepends=True)[0])
    header = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**header, "status": "stopped"}))
    again = mosaic("run", "--resume", run, "--json").json()
    assert (again["status"], again["episodes"], again["failed"]) == ("failed", 2, 2)


def test_running_then_cut_off_then_resumed(mosaic: Mosaic, offspring: Offspring) -> None:
    # It waits for us in its 30th episode, and takes no processor time meanwhile.
    gate = Gate(mosaic.home / "gate")
    path = experiment(
        mosaic.home, {"task": GATED, "env_kwargs": gate.kwargs(at=30)}, num_episodes=5000, concurrency=1
    )
    with started(mosaic, path) as process:
        try:
            gate.reached()
            it_is_said_to_run_and_not_gone_on_with(mosaic)
        finally:
            process.kill()
    offspring.assert_none()
    cut = it_is_said_to_be_cut_off(mosaic)
    resumed = started(mosaic, "--resume", cut["run"])
    gate.reached(2)
    it_grows_while_it_is_written(mosaic.home / cut["run"], gate)
    it_stops_and_says_how_to_go_on(mosaic, resumed, cut)


def started(mosaic: Mosaic, *arguments: object) -> subprocess.Popen[str]:
    """``mosaic run --trust`` as a process of its own."""
    return subprocess.Popen(
        [*COMMAND, "run", "--trust", *map(str, arguments)],
        cwd=mosaic.home,
        env={**mosaic.env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def it_is_said_to_run_and_not_gone_on_with(mosaic: Mosaic) -> None:
    def some_done() -> bool:
        files = (mosaic.home / "runs").glob("*/operators/*/episodes.jsonl")
        return any(file.stat().st_size for file in files)

    eventually(some_done, "an episode is written")
    row = only_run(mosaic)
    assert row["status"] == "running"
    assert row["operators"][0]["episodes"] == 5000
    line = mosaic("run", "--trust", "--resume", row["run"], PYTHONPATH=str(ROOT))
    assert line.status == 2
    assert "another process" in line.line


def it_is_said_to_be_cut_off(mosaic: Mosaic) -> dict[str, Any]:
    row = only_run(mosaic)
    assert row["status"] == "cut off"
    assert 0 < row["operators"][0]["done"] < 5000
    assert f"mosaic run --resume {row['run']}" in mosaic("runs", "show", row["run"]).out
    return row


def it_grows_while_it_is_written(run: Path, gate: Gate) -> None:
    episodes = run / "operators" / "op_0" / "episodes.jsonl"
    before = episodes.stat().st_size
    gate.open()
    eventually(lambda: episodes.stat().st_size > before, "it goes on")
    assert is_being_written(run)


def it_stops_and_says_how_to_go_on(
    mosaic: Mosaic, resumed: subprocess.Popen[str], cut: dict[str, Any]
) -> None:
    resumed.send_signal(signal.SIGINT)
    _, said = resumed.communicate(timeout=60)
    assert resumed.returncode == 130
    assert f"resume with: mosaic run --resume {cut['run']}" in said
    after = only_run(mosaic)
    assert after["status"] == "stopped"
    assert after["operators"][0]["done"] >= cut["operators"][0]["done"]


def test_a_copy_of_a_run_that_is_on_counts_as_cut_off(mosaic: Mosaic, played: Path) -> None:
    copy = shutil.copytree(played, played.with_name("01COPY"))
    header = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**header, "status": "running"}))
    states = {Path(row["run"]).name: row["status"] for row in mosaic("runs", "list", "--json").json()}
    assert states == {played.name: "completed", "01COPY": "cut off"}


def test_names_from_a_run_are_no_markup(mosaic: Mosaic, played: Path) -> None:
    header = json.loads((played / "run.json").read_text())
    header["experiment"]["operators"][0]["name"] = "[red]Evil[/red] :smile:"
    (played / "run.json").write_text(json.dumps(header))
    assert "[red]Evil[/red] :smile:" in mosaic("runs", "list").out
    assert "[red]Evil[/red] :smile:" in mosaic("runs", "show", played).out


@pytest.mark.parametrize("arguments", ["envs list minigrid", "workers list", "policies list", "--help"])
def test_a_reader_who_has_seen_enough_is_no_error(mosaic: Mosaic, arguments: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, *arguments.split()]
    done = subprocess.run(
        command, env=mosaic.env, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_went_wrong_is_no_less_wrong_for_a_closed_pipe(mosaic: Mosaic, played: Path) -> None:
    steps = played / "operators" / "a" / "steps.jsonl"
    steps.write_text(steps.read_text().replace('"action":1', '"action":0'))
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "verify", str(played)]
    done = subprocess.run(command, env=mosaic.env, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 1


def test_several_runs_are_verified_one_after_the_other(mosaic: Mosaic, played: Path) -> None:
    other = Path(shutil.copytree(played, played.with_name("01M7XC2FC3SJDZTP4ZDAN19XJT")))
    done = mosaic("verify", played, other)
    assert done.status == 0 and done.out.count("Verified: 2 episodes") == 2
    assert str(played) in done.out and str(other) in done.out
    steps = other / "operators" / "a" / "steps.jsonl"
    steps.write_text(steps.read_text().replace('"action":1', '"action":0'))
    done = mosaic("verify", other, "nowhere", played, "--json")
    assert done.status == 1 and "nowhere" in done.err
    assert [json.loads(line)["equal"] for line in done.out.splitlines()] == [False, True]
    assert mosaic("verify", "nowhere", played).status == 2


def test_a_table_is_as_wide_as_columns_says(mosaic: Mosaic, played: Path) -> None:
    assert " Kind " in mosaic("report", "--no-replays", played).out
    narrow = mosaic("report", "--no-replays", played, COLUMNS="60").out
    assert all(len(line) <= 60 for line in narrow.splitlines()[:4])
    assert all(heading in narrow for heading in ("Kind", "IQM [95 %]", "Length", "Decision")), (
        "nothing vanishes"
    )
    assert max(map(len, mosaic("report", "--no-replays", played, COLUMNS="200").out.splitlines())) > 100


def test_a_report_for_programs_says_who_is_better_and_where_the_page_is(mosaic: Mosaic, played: Path) -> None:
    told = mosaic("report", "--no-replays", played, "--json").json()
    assert told["verdicts"][0]["text"].startswith("Random has")
    assert Path(told["report"]) == played / "report.html" and Path(told["report"]).is_file()


def test_output_for_an_ascii_terminal(mosaic: Mosaic) -> None:
    assert os.linesep.join(mosaic.process("workers", "list", PYTHONIOENCODING="ascii").out.splitlines()) != ""


def test_a_report_writes_games_of_chess_beside_its_tables(mosaic: Mosaic, played: Path) -> None:
    seats = {f"player_{i}": {"type": "random"} for i in (0, 1)}
    chess = {"id": "chess", "name": "Two at random", "task": "classic/chess_v6", "workers": seats}
    path = experiment(mosaic.home, chess, max_steps=6)
    run = mosaic.home / mosaic("run", path, "--json", "--episodes", "2").json()["run"]
    done = mosaic("report", "--no-replays", run)
    assert done.status == 0 and "games.pgn (2 games)" in done.out
    assert (run / "games.pgn").read_text().count('[White "') == 2
    json.loads(mosaic("report", "--no-replays", run, "--json").out)  # nothing stands beside the summary there
    # Of several runs each has a file of its own; who plays no chess has none.
    out = mosaic.home / "both"
    assert mosaic("report", "--no-replays", run, played, "--out", out).status == 0
    assert [file.name for file in out.glob("*.pgn")] == [f"games-{run.name}.pgn"]
    assert not list(played.glob("*.pgn"))


def test_a_compressed_run_is_read_by_every_command(mosaic: Mosaic, played: Path) -> None:
    name = played.name
    before, shown = mosaic("report", played, "--json").json(), mosaic("runs", "list", "--json").out
    done = mosaic("runs", "compress", name, "nowhere")
    assert done.status == 2 and "nowhere is not a run folder" in done.err
    assert "bytes a row)" in done.out
    assert (played / "operators" / "a" / "steps.jsonl.zst").exists()
    assert not (played / "operators" / "a" / "steps.jsonl").exists()
    after = mosaic("report", played, "--json").json()
    assert after["operators"] == before["operators"] and mosaic("runs", "list", "--json").out == shown
    assert "every one as recorded" in mosaic("verify", played).out
    assert mosaic("replay", played, "--json").json()["equal"] is True
    assert "Nothing is left to play" in mosaic("run", "--resume", played).out
    (undone,) = mosaic("runs", "compress", name, "--undo", "--json").json()
    assert not undone["compressed"] and (played / "operators" / "a" / "steps.jsonl").exists()
    assert "no rows are compressed" in mosaic("runs", "compress", name, "--undo").out
