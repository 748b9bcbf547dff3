"""Runs of several folders in one list; runs of another machine, whose locks are not seen here."""

from __future__ import annotations

import os
import time
from pathlib import Path

import orjson

from gym_gui.core.run_labels import change_labels
from gym_gui.services.runs.recorder import Recorder
from gym_gui.services.runs.run_library import RESTS_S, RunLibrary
from gym_gui.services.submissions.all_runs import AllRuns, folder_problem
from tests.services.runs.test_run_library import header, write


def listed(all_runs: AllRuns) -> list[Path]:
    return [run.path for run in all_runs.in_order([run for batch in all_runs.scan() for run in batch])]


def test_the_runs_of_all_folders_are_one_list_newest_first(tmp_path: Path) -> None:
    first = write(tmp_path / "own", "CartPole-v1")
    other = write(tmp_path / "theirs", "CartPole-v1")
    last = write(tmp_path / "own", "CartPole-v1")
    all_runs = AllRuns(tmp_path / "own")
    assert listed(all_runs) == [last, first]
    all_runs.set_others([tmp_path / "theirs"])
    runs = all_runs.in_order([run for batch in all_runs.scan() for run in batch])
    assert [run.path for run in runs] == [last, other, first]
    assert [run.elsewhere for run in runs] == ["", str(tmp_path / "theirs"), ""]
    assert [run.full_title for run in runs] == [f"Player 0 · #{n}" for n in (3, 2, 1)], "over all of them"
    change_labels(other, {"name": "Theirs"})
    assert [run.title for run in all_runs.again(runs, [other])] == ["Player 0", "Theirs", "Player 0"]
    write(tmp_path / "theirs", "CartPole-v1")
    assert all_runs.refresh() is None, "another run has come there"
    all_runs.set_others([])
    assert listed(all_runs) == [last, first]


def test_a_run_of_another_machine_is_running_while_its_files_change(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path, ["op0"], header("CartPole-v1"))
    episodes = recorder.folder / "operators" / "op0" / "episodes.jsonl"
    data = (recorder.folder / "run.json").read_bytes()
    recorder.close("completed")
    (recorder.folder / "run.json").write_bytes(data)  # as on a disk whose locks are not seen
    assert RunLibrary(tmp_path).all()[0].status == "cut off"
    library = RunLibrary(tmp_path, elsewhere=True)
    (run,) = library.all()
    assert run.is_live and run.elsewhere == str(tmp_path)
    episodes.write_bytes(orjson.dumps({"operator_id": "op0", "episode_index": 0}) + b"\n")
    looked = library.refresh()
    assert looked is not None and looked[0].done == 1, "it is watched while it grows"
    long_ago = time.time() - RESTS_S - 1
    for name in ("episodes.jsonl", "steps.jsonl"):
        os.utime(episodes.with_name(name), (long_ago, long_ago))
    looked = library.refresh()
    assert looked is not None and looked[0].status == "cut off"
    os.utime(episodes)
    looked = library.refresh()
    assert looked is not None and looked[0].is_live, "it went on"


def test_why_a_folder_cannot_be_opened(tmp_path: Path) -> None:
    run = write(tmp_path / "own", "CartPole-v1")
    own = [tmp_path / "own"]
    assert "is not a folder" in folder_problem(tmp_path / "nowhere", own)
    assert f"the folder that it is in: {run.parent}" in folder_problem(run, own)
    (tmp_path / "again").symlink_to(tmp_path / "own")
    assert "in the list already" in folder_problem(tmp_path / "again", own)
    (tmp_path / "other").mkdir()
    assert folder_problem(tmp_path / "other", own) == ""
