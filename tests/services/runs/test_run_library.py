"""The list of runs: what it says of each, also while they are written, cut off or damaged."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.core.experiment.shards import Shard
from gym_gui.core.run_labels import change_labels
from gym_gui.services.runs.recorder import COMPLETED, Recorder
from gym_gui.services.runs.run_filter import RunFilter
from gym_gui.services.runs.run_library import CUT_OFF, DAMAGED, RunLibrary


def header(*tasks: str, kind: str = "baseline") -> dict[str, Any]:
    operators = [
        {"id": f"op{i}", "name": f"Player {i}", "env_name": "gymnasium", "task": task}
        for i, task in enumerate(tasks)
    ]
    players = {o["id"]: {"agent_0": {"worker_type": kind}} for o in operators}
    totals = {o["id"]: 2 for o in operators}
    return {"experiment": {"operators": operators}, "players": players, "episodes": totals}


def write(
    out: Path, *tasks: str, episodes: int = 2, status: str = "completed", kind: str = "baseline"
) -> Path:
    ids = [f"op{i}" for i in range(len(tasks))]
    recorder = Recorder.create(out, ids, header(*tasks, kind=kind))
    for operator in ids:
        for index in range(2):
            line = {"operator_id": operator, "episode_index": index, "status": "completed", "length": 1}
            recorder.episode(operator, b"", orjson.dumps(line) + b"\n")
    recorder.close(status)
    time.sleep(0.002)  # ULIDs of one millisecond sort by chance
    return recorder.folder


@pytest.mark.parametrize(("schedule", "said"), [("swiss", "Tournament"), ("cross_play", "Cross-play")])
def test_a_tournament_is_recognized_by_its_pool(tmp_path: Path, schedule: str, said: str) -> None:
    about = {"schedule": schedule, "policies": dict.fromkeys(("strong", "fair"))}
    recorder = Recorder.create(tmp_path, ["op0"], header("tictactoe_v3") | {"tournament": about})
    recorder.close("completed")
    (run,) = RunLibrary(tmp_path).all()
    assert run.title == f"{said}: strong and fair"


def test_a_tournament_whose_pool_is_lost_is_listed_by_its_pairings(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path, ["op0"], header("tictactoe_v3") | {"tournament": {}})
    recorder.close("completed")
    (run,) = RunLibrary(tmp_path).all()
    assert run.title == "Player 0"


def test_newest_first_with_what_a_person_recognizes(tmp_path: Path) -> None:
    first = write(tmp_path, "CartPole-v1")
    second = write(tmp_path, "Taxi-v3", "Taxi-v3", kind="rl")
    (tmp_path / "notes").mkdir()
    runs = RunLibrary(tmp_path).all()
    assert [run.path for run in runs] == [second, first]
    assert runs[0].title == "Player 0 and Player 1"
    assert runs[0].environment == "Taxi-v3" and runs[0].kinds == ("rl",)
    assert (runs[0].done, runs[0].planned, runs[0].status) == (4, 4, "completed")
    assert runs[0].started_at is not None


def test_no_folder_is_no_runs(tmp_path: Path) -> None:
    assert RunLibrary(tmp_path / "nowhere").all() == []


def test_a_run_that_is_written_grows_and_one_that_nobody_writes_was_cut_off(tmp_path: Path) -> None:
    library = RunLibrary(tmp_path)
    recorder = Recorder.create(tmp_path, ["op0"], header("CartPole-v1"))
    (run,) = library.all()
    assert run.is_live and run.done == 0
    line = {"operator_id": "op0", "episode_index": 0, "status": "completed", "length": 1}
    recorder.episode("op0", b"", orjson.dumps(line) + b"\n")
    assert library.all()[0].done == 1
    half = recorder.folder / "operators" / "op0" / "episodes.jsonl"
    with half.open("ab") as file:
        file.write(b'{"operator_id": "op0"')
    assert library.all()[0].done == 1, "half a line is no episode"
    recorder.close("completed")
    header_file = recorder.folder / "run.json"
    data = orjson.loads(header_file.read_bytes())
    header_file.write_bytes(orjson.dumps({**data, "status": "running"}))
    assert library.all()[0].status == CUT_OFF


def test_a_damaged_run_is_listed_with_its_reason(tmp_path: Path) -> None:
    folder = write(tmp_path, "CartPole-v1")
    (folder / "run.json").write_bytes(b"{")
    (run,) = RunLibrary(tmp_path).all()
    assert run.status == DAMAGED and "run.json" in run.problem


def test_what_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "CartPole-v1")
    library = RunLibrary(tmp_path)
    before = library.all()

    def refuse(path: Path) -> None:
        raise AssertionError(f"{path} was opened again")

    monkeypatch.setattr("gym_gui.services.runs.run_library.open_run", refuse)
    assert library.all() == before


def test_a_run_that_is_gone_is_not_listed(tmp_path: Path) -> None:
    import shutil

    folder = write(tmp_path, "CartPole-v1")
    library = RunLibrary(tmp_path)
    assert len(library.all()) == 1
    shutil.rmtree(folder)
    assert library.all() == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RunFilter(), 2),
        (RunFilter("taxi"), 1),
        (RunFilter("PLAYER 0"), 2),
        (RunFilter("taxi cartpole"), 0),
        (RunFilter(environment="gymnasium/CartPole-v1"), 1),
        (RunFilter(status="failed"), 1),
        (RunFilter("rl", status="completed"), 0),
    ],
)
def test_filters(tmp_path: Path, wanted: RunFilter, found: int) -> None:
    write(tmp_path, "CartPole-v1")
    write(tmp_path, "Taxi-v3", status="failed", kind="rl")
    assert sum(wanted.accepts(run) for run in RunLibrary(tmp_path).all()) == found


def test_two_thousand_runs_are_listed_in_batches_and_again_at_once(tmp_path: Path) -> None:
    for i in range(2000):
        folder = tmp_path / f"01{i:024d}"
        folder.mkdir()
        data = {"run_id": folder.name, "status": "completed", **header("CartPole-v1")}
        (folder / "run.json").write_bytes(orjson.dumps(data))
    library = RunLibrary(tmp_path)
    scan = library.scan()
    assert 0 < len(next(scan)) < 200, "the first ones come before the rest is read"
    scan.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert len(library.all()) == 2000
    start = time.process_time()
    assert len(library.all()) == 2000
    assert time.process_time() - start < 1.0


def test_a_quick_look_follows_what_is_written_and_asks_for_a_scan_when_folders_come_or_go(
    tmp_path: Path,
) -> None:
    write(tmp_path, "CartPole-v1")
    library = RunLibrary(tmp_path)
    assert library.refresh() is None, "nothing is known yet"
    recorder = Recorder.create(tmp_path, ["op0"], header("CartPole-v1"))
    before = library.all()
    assert library.refresh() == before
    line = {"operator_id": "op0", "episode_index": 0, "status": "completed", "length": 1}
    recorder.episode("op0", b"", orjson.dumps(line) + b"\n")
    looked = library.refresh()
    assert looked is not None and looked[0].done == 1
    recorder.close("completed")
    looked = library.refresh()
    assert looked is not None and looked[0].status == "completed"
    (tmp_path / "being-made").mkdir()
    assert library.refresh() is None
    library.all()
    data = {"run_id": "x", "status": "completed", **header("Taxi-v3")}
    (tmp_path / "being-made" / "run.json").write_bytes(orjson.dumps(data))
    looked = library.refresh()
    assert looked is not None and len(looked) == 3, "its folder was there before its run.json"


def test_a_part_of_an_experiment_says_which(tmp_path: Path) -> None:
    header = {"experiment": {"operators": [{"id": "a", "task": "CartPole-v1"}]}, "episodes": {"a": 0}}
    part = {"number": 3, "of": 64}
    Recorder.create(tmp_path, ["a"], {**header, "shard": part}).close(COMPLETED)
    (entry,) = RunLibrary(tmp_path).all()
    assert entry.title == "Shard 3 of 64: a" and entry.shard == Shard(3, 64)
    assert RunFilter("shard 3/64").accepts(entry) and not RunFilter("shard 4/64").accepts(entry)


def test_labels_are_told_and_read_anew_when_they_change(tmp_path: Path) -> None:
    folder = write(tmp_path, "CartPole-v1")
    library = RunLibrary(tmp_path)
    assert library.all()[0].title == "Player 0"
    change_labels(folder, {"name": "Mine", "tags": ["a"]})
    (run,) = library.all()
    assert run.title == "Mine" and run.labels.tags == ("a",) and run.played == "Player 0"
    (folder / "labels.json").write_text("{")
    (run,) = library.all()
    assert run.title == "Player 0" and "is damaged" in run.labels_problem and run.status == "completed"


def test_many_runs_are_known_from_the_cache_at_the_next_start(tmp_path: Path) -> None:
    runs, cache = tmp_path / "runs", tmp_path / "cache"
    for i in range(70):
        folder = runs / f"01{i:024d}"
        folder.mkdir(parents=True)
        data = {"run_id": folder.name, "status": "completed", **header("CartPole-v1")}
        (folder / "run.json").write_bytes(orjson.dumps(data))
    before = RunLibrary(runs, cache=cache).all()
    (file,) = cache.iterdir()
    kept = file.read_bytes()
    file.write_bytes(kept.replace(b'"Player 0"', b'"Kept one"'))
    oldest = runs / f"01{0:024d}"
    assert RunLibrary(runs, cache=cache).all()[-1].title == "Kept one", "which is not read again"
    change_labels(oldest, {"name": "Changed"})
    episodes = oldest / "operators" / "op0" / "episodes.jsonl"
    (oldest.with_name(f"01{1:024d}") / "operators" / "op0").mkdir(parents=True)
    (oldest.with_name(f"01{1:024d}") / "operators" / "op0" / episodes.name).write_bytes(b"{}\n")
    now = RunLibrary(runs, cache=cache).all()
    assert now[-1].title == "Changed" and now[-2].done == 1, "what has changed is"
    (oldest / "labels.json").unlink()
    for content in (
        b"{",
        b"[]",
        kept.replace(b'"version":"', b'"version":"x'),
        kept.replace(b'"stamp"', b'"s"'),
    ):
        file.write_bytes(content)
        assert [run.title for run in RunLibrary(runs, cache=cache).all()] == [run.title for run in before]
