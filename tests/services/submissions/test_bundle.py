"""What hosts are sent: the experiment with its files, and what was allowed, by hash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted import user_code
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.experiments.experiment_identity import identity_digest
from gym_gui.services.submissions.bundle import (
    FILES,
    allowed_on,
    bundle_player,
    holds_files,
    needs_in,
    write_bundle,
)
from gym_gui.services.submissions.shell import EXPERIMENT
from tests.support.commands import experiment


def code(folder: Path) -> RequiredSubject:
    """Code of one's own in a folder, as it was allowed."""
    digest = user_code.digest(user_code.fingerprints(folder))
    return RequiredSubject(Subject("folder", str(folder), digest), "maze:make", "imports")


def test_files_travel_with_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "policy.pt").write_bytes(b"weights")
    played = {"type": "rl", "worker_id": "cleanrl_worker", "checkpoint": "a/policy.pt"}
    asked = load_experiment(experiment(tmp_path, {"workers": {"agent": played}}), allow_code=False)
    write_bundle(tmp_path / "bundle", asked, [])
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "bundle").rename(elsewhere)
    (tmp_path / "a" / "policy.pt").unlink()
    monkeypatch.chdir(elsewhere)
    there = load_experiment(EXPERIMENT, allow_code=False)
    assert identity_digest(there.to_record()) == identity_digest(asked.to_record())
    (player,) = there.operators[0].workers.values()
    path = player.settings["checkpoint"]
    assert isinstance(path, str) and path.startswith(f"{FILES}/")
    assert Path(path).read_bytes() == b"weights"


def test_code_is_sent_and_allowed_by_its_hash(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "maze.py").write_text("size = 3\n")
    (mine / "notes.txt").write_text("not sent\n")
    asked = load_experiment(experiment(tmp_path), allow_code=False)
    need = code(mine)
    write_bundle(
        tmp_path / "bundle", asked, [need, RequiredSubject(Subject("server", "http://x"), "http://x", "asks")]
    )
    assert (tmp_path / "bundle" / "maze.py").read_text() == "size = 3\n"
    assert not (tmp_path / "bundle" / "notes.txt").exists()
    rows = json.loads(allowed_on(needs_in(tmp_path / "bundle"), "/there"))
    allowed = {(row["kind"], row["name"], row["sha256"]) for row in rows}
    assert allowed == {
        ("file", "/there/files", ""),
        ("folder", "/there", need.subject.sha256),
        ("server", "http://x", ""),
    }
    sent = user_code.digest(user_code.fingerprints(tmp_path / "bundle"))
    assert sent == need.subject.sha256, "what lies there has the hash that was allowed"


def test_code_that_has_changed_since_it_was_allowed_is_not_sent(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "maze.py").write_text("size = 3\n")
    need = code(mine)
    (mine / "maze.py").write_text("size = 4\n")
    asked = load_experiment(experiment(tmp_path), allow_code=False)
    with pytest.raises(UsageError, match="has changed since it was submitted"):
        write_bundle(tmp_path / "bundle", asked, [need])


def test_one_player_is_sent_with_its_files_alone(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "model.safetensors").write_bytes(b"weights")
    (policy / "out").symlink_to("/etc")
    settings = {"checkpoint": str(policy), "deterministic": True}
    player = WorkerAssignment("cleanrl_worker", "rl", settings)
    moved = bundle_player(tmp_path / "bundle", player, "/there/1")
    sent = moved.settings["checkpoint"]
    assert isinstance(sent, str) and sent.startswith(f"/there/1/{FILES}/")
    assert moved.settings["deterministic"] is True and moved.worker_id == player.worker_id
    copied = tmp_path / "bundle" / Path(sent).relative_to("/there/1")
    assert [file.name for file in copied.iterdir()] == ["model.safetensors"], "no link is followed out of it"
    assert holds_files(tmp_path / "bundle") and player.settings["checkpoint"] == str(policy)


def test_a_player_without_files_is_sent_as_it_is(tmp_path: Path) -> None:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    assert bundle_player(tmp_path / "bundle", player, "/there/1") == player
    assert not holds_files(tmp_path / "bundle")
