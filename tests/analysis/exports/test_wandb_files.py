"""Episodes as offline runs of Weights & Biases, read back with its own messages."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.columns.result_columns import file_row
from gym_gui.analysis.exports.wandb_files import wandb_records, write_wandb_runs
from gym_gui.core.errors import UsageError

messages: Any = pytest.importorskip("wandb.proto.wandb_internal_pb2")


def records(file: Path) -> list[Any]:
    return [messages.Record.FromString(record) for record in wandb_records(file)]


def updates(parts: Any) -> dict[str, Any]:
    """Values by name."""
    return {"/".join(part.nested_key) or part.key: json.loads(part.value_json) for part in parts}


@pytest.mark.full
def test_operators_are_runs_that_sync_finds(
    tmp_path: Path, runs: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [runs.single("a", i, float(10 - i)) for i in (2, 0, 1)]
    rows.append({**runs.single("a", 3, 9.0), "status": "failed", "error": "broken"})
    games = [runs.match("te;am", 0, {"green": 2, "blue": 1})]
    run = open_run(runs.write_run(tmp_path, runs.Plan({"a": rows, "te;am": games, "none": []})))
    home = tmp_path / "home"
    home.mkdir()
    children = set(psutil.Process().children(recursive=True))

    with socket.create_server(("127.0.0.1", 0)) as server:
        # What a person has set says where to send things, and in whose name: none of it holds here.
        server.setblocking(False)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setenv("WANDB_MODE", "online")
        monkeypatch.setenv("WANDB_API_KEY", "f" * 40)
        monkeypatch.setenv("WANDB_TAGS", "theirs")
        (home / "config-defaults.yaml").write_text("lr: {value: 3}")
        monkeypatch.chdir(home)
        before = dict(os.environ)
        written = write_wandb_runs(run, tmp_path / "out")
        with pytest.raises(BlockingIOError):
            server.accept()

    assert dict(os.environ) == before and len(list(home.rglob("*"))) == 1
    assert set(psutil.Process().children(recursive=True)) <= children
    assert sorted(written.values()) == [1, 3]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(written)
    assert capfd.readouterr() == ("", "")

    files = {records(file)[1].run.display_name: file for file in (tmp_path / "out").glob("*/*.wandb")}
    alone = records(files["a"])
    (head,) = [record.run for record in alone if record.HasField("run")]
    assert (head.project, head.run_group, head.job_type) == ("mosaic", run.run_id, "evaluation")
    assert head.run_id == f"{run.run_id}-a" and "mosaic" in head.tags and "theirs" not in head.tags
    config = updates(head.config.update)
    assert config["operator"] == dict(run.operators["a"].config) and config["seeds"] == list(run.record.seeds)
    assert not head.host and "lr" not in config
    points = [updates(record.history.item) for record in alone if record.HasField("history")]
    episodes = sorted(run.operators["a"].episodes(), key=lambda e: e.episode_index)[:3]
    for point, episode in zip(points, episodes, strict=True):
        assert point["_step"] == episode.episode_index and point["episode/seed"] == episode.seed
        assert (point["episode/return"], point["episode/length"]) == (episode.total_reward, episode.length)
    told: dict[str, Any] = {}
    for record in alone:
        told |= updates(record.summary.update)
    (summary,) = [each for each in summarize([run]).operators if each.operator_id == "a"]
    row = {name: value for name, value in file_row(summary).items() if value is not None}
    assert row["mean_return"] == 9 and row.items() <= told.items()
    assert "episode/return" not in told, "the last episode is no summary"
    assert alone[-1].HasField("exit")
    (game,) = [updates(r.history.item) for r in records(files["te;am"]) if r.HasField("history")]
    assert (game["won/green"], game["won/blue"], game["score/green"]) == (1, 0, 2)

    with pytest.raises(UsageError, match="exists already"):
        write_wandb_runs(run, tmp_path / "out")


def test_what_cannot_be_written_is_said(tmp_path: Path, runs: Any) -> None:
    plan = runs.Plan({"a": [{**runs.single("a", 0, 1.0), "status": "failed", "error": "broken"}]})
    empty = open_run(runs.write_run(tmp_path, plan))
    with pytest.raises(UsageError, match="no episode is completed"):
        write_wandb_runs(empty, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    run = open_run(runs.write_run(tmp_path / "second", runs.Plan({"a": [runs.single("a", 0, 1.0)]})))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_wandb_runs(run, tmp_path / "file")
