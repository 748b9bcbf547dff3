"""Runs are compressed and decompressed without ever being without their rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from gym_gui.analysis import compare_runs, open_run, summarize
from gym_gui.analysis.records.compare import EpisodeRows
from gym_gui.core.config import OperatorConfig, RecordConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.runs import packed_files
from gym_gui.services.runs.recorded_episode import load_episode
from gym_gui.services.runs.recorder import COMPLETED, Recorder
from gym_gui.services.runs.run_library import RunLibrary
from gym_gui.services.runs.run_packing import (
    PackingError,
    PackingStoppedError,
    StopPacking,
    compress_run,
    decompress_run,
)
from tests.services.runs.test_recorder import begin, files
from tests.support.engine import record_run


def block(index: int) -> tuple[bytes, bytes]:
    """Rows and line of an episode of three steps."""
    steps = [
        {
            "episode_index": index,
            "step_index": k,
            "seed": index,
            "agent_id": "agent_0",
            "action": k,
            "reward": 1.0,
            "terminated": k == 2,
            "truncated": False,
            "action_source": "policy",
            "state_sha": f"{index:08x}{k:08x}",
        }
        for k in range(3)
    ]
    episode = {
        "operator_id": "op",
        "episode_index": index,
        "seed": index,
        "status": "completed",
        "length": 3,
        "total_reward": 3.0,
        "returns": {"agent_0": 3.0},
        "trajectory_sha256": f"{index:08x}{2:08x}" + "f" * 48,
    }
    return b"".join(orjson.dumps(row) + b"\n" for row in steps), orjson.dumps(episode) + b"\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    recorder = begin(tmp_path)
    for index in (2, 0, 1):
        recorder.episode("op", *block(index))
    recorder.close(COMPLETED)
    return recorder.folder


def names(run: Path) -> set[str]:
    return {path.name for path in (run / "operators" / "op").iterdir()}


def test_there_and_back(run: Path, tmp_path: Path) -> None:
    before = files(run)
    plain = Path(shutil.copytree(run, tmp_path / "plain"))
    header = (run / "run.json").read_bytes()

    told: list[tuple[int, int]] = []
    packing = compress_run(run, lambda done, total: told.append((done, total)))

    assert names(run) == {"episodes.jsonl.zst", "steps.jsonl.zst"}
    whole = len(before[0]) + len(before[1])
    assert (packing.files, packing.rows, packing.before) == (2, before[0].count(b"\n"), whole)
    assert told[-1] == (whole, whole)
    assert {entry.done for entry in RunLibrary(run.parent).all()} == {3}
    assert (run / "run.json").read_bytes() == header
    assert compare_runs(run, plain) is None
    assert load_episode(open_run(run), "op", 0).lines == block(0)[0]
    assert list(EpisodeRows(open_run(run).operators["op"]).steps(1)) == list(
        EpisodeRows(open_run(plain).operators["op"]).steps(1)
    )
    assert (
        summarize([open_run(run)]).operators[0].decisions
        == summarize([open_run(plain)]).operators[0].decisions
    )
    assert compress_run(run).files == 0

    assert decompress_run(run).after == whole
    assert files(run) == before and names(run) == names(plain)


def test_stopped_between_two_files_it_tells_of_the_first(run: Path) -> None:
    steps, _ = files(run)

    def stop(done: int, total: int) -> None:
        if done > len(steps):
            raise StopPacking

    with pytest.raises(PackingStoppedError) as stopped:
        compress_run(run, stop)
    packing = stopped.value.packing
    assert names(run) == {"steps.jsonl.zst", "episodes.jsonl"}
    assert (packing.files, packing.rows, packing.before) == (1, steps.count(b"\n"), len(steps))
    assert packing.after == (run / "operators" / "op" / "steps.jsonl.zst").stat().st_size
    assert compress_run(run).files == 1 and names(run) == {"steps.jsonl.zst", "episodes.jsonl.zst"}


def test_a_run_that_goes_on_is_decompressed(run: Path) -> None:
    steps = files(run)[0]
    compress_run(run)
    recorder, done = Recorder.reopen(run)
    assert done == {"op": {0, 1, 2}}
    recorder.episode("op", *block(3))
    recorder.close(COMPLETED)
    assert files(run)[0] == steps + block(3)[0] and "steps.jsonl.zst" not in names(run)


def test_a_run_that_is_on_or_was_cut_off_is_left_alone(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    recorder.episode("op", *block(0))
    with pytest.raises(UsageError, match="is being written by another process"):
        compress_run(recorder.folder)
    recorder.close("running")
    with pytest.raises(UsageError, match=r"has not ended: it was cut off.*--resume"):
        compress_run(recorder.folder)
    assert "steps.jsonl" in names(recorder.folder)


class Killed(BaseException):
    """As if the process ended here."""


@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_half_way_nothing_is_lost(
    run: Path, monkeypatch: pytest.MonkeyPatch, when: str, undo: bool
) -> None:
    before = files(run)
    if undo:
        compress_run(run)
    replace = packed_files.replace_file

    def killed(path: Path, data: object, **how: object) -> None:
        if when == "after":
            replace(path, data, **how)  # type: ignore[arg-type]
        else:
            path.with_name(f".{path.name}.12345678.new").write_bytes(b"half")
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(packed_files, "replace_file", killed)
        (decompress_run if undo else compress_run)(run)

    assert b"".join(load_episode(open_run(run), "op", k).lines for k in (2, 0, 1)) == before[0]
    (decompress_run if undo else compress_run)(run)
    assert names(run) == {f"{each}.jsonl{'' if undo else '.zst'}" for each in ("episodes", "steps")}
    decompress_run(run)
    assert files(run) == before


def test_what_cannot_be_written_or_is_damaged_stays(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(run)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(PackingError, match="are unchanged: No space left"):
        patch.setattr(packed_files, "replace_file", full)
        compress_run(run)
    assert files(run) == before

    compress_run(run)
    path = run / "operators" / "op" / "steps.jsonl.zst"
    data = path.read_bytes()
    path.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
    with pytest.raises(PackingError, match="compressed rows are damaged"):
        decompress_run(run)
    with pytest.raises(UsageError, match="cannot be continued: its compressed rows are damaged"):
        Recorder.reopen(run)
    assert names(run) == {"episodes.jsonl.zst", "steps.jsonl.zst"}


def test_no_link_is_followed(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"my own\n")
    steps = run / "operators" / "op" / "steps.jsonl"
    steps.unlink()
    steps.symlink_to(mine)
    with pytest.raises(PackingError, match="is a link"):
        compress_run(run)
    steps.unlink()
    steps.with_name("steps.jsonl.zst").symlink_to(mine)
    with pytest.raises(PackingError, match="is a link"):
        decompress_run(run)
    with pytest.raises(UsageError, match="is a link"):
        list(open_run(run).operators["op"].steps())
    assert mine.read_bytes() == b"my own\n"


async def test_a_run_is_compressed_when_all_is_played(tmp_path: Path) -> None:
    policies = {"agent_0": lambda s: 0}
    operator = OperatorConfig("op", "Op", "", "CartPole-v1", {})
    plain = await record_run(tmp_path, (operator, policies))
    small = await record_run(tmp_path, (operator, policies), record=RecordConfig(compress=True))
    assert (names(plain), names(small)) == (
        {"episodes.jsonl", "steps.jsonl"},
        {"episodes.jsonl.zst", "steps.jsonl.zst"},
    )
    assert compare_runs(small, plain) is None
