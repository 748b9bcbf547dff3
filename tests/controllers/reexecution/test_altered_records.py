"""What playing a run again cannot tell is held against the digests that were written with it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.controllers.reexecution.verification import Verification, verify
from gym_gui.core.config import OperatorConfig
from gym_gui.services.runs.recorder import Recorder
from tests.support.engine import arena, player, record_run

Rows = list[dict[str, Any]]
CALL = {"kind": "chat", "ref": "agent_0/0/0/0/0", "reply": "1", "tokens": {"input": 9, "output": 1}}


async def _record(out: Path) -> Path:
    config = OperatorConfig("op", "", "", arena("Corridor"), {})
    folder = await record_run(out, (config, {"agent_0": player(lambda s: s.step_index % 3)}))
    # A model's call, as a worker sends it while the run is on.
    recorder, _ = Recorder.reopen(folder)
    recorder.call("op", json.dumps({**CALL, "latency_ms": 5.0}).encode())
    recorder.close("completed")
    return folder


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(_record(tmp_path_factory.mktemp("sound")))


@pytest.fixture
def run(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "run")


def verified(run: Path) -> Verification:
    return asyncio.run(verify(open_run(run)))


def alter(run: Path, name: str, change: Callable[[Rows], object]) -> None:
    path = run / "operators" / "op" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def alter_header(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    header = json.loads((run / "run.json").read_text())
    change(header)
    (run / "run.json").write_text(json.dumps(header))


def test_a_run_as_it_was_written_is_verified_in_whole(run: Path) -> None:
    result = verified(run)
    assert not result.divergences and result.uncovered == ""


ALTERED: dict[str, tuple[str, Callable[[Rows], object]]] = {
    "source": ("steps", lambda rows: rows[7].update(action_source="human")),
    "an extra key": ("steps", lambda rows: rows[7].update(value=0.5)),
    "what was said": ("steps", lambda rows: rows[7].update(said="go left")),
    "player": ("episodes", lambda rows: rows[1]["agents"]["agent_0"].update(policy="another")),
    "tokens": ("episodes", lambda rows: rows[1].update(tokens={"agent_0": {"input": 1, "output": 1}})),
    "invalid actions": ("episodes", lambda rows: rows[1]["invalid_actions"].update(agent_0=7)),
    "error": ("episodes", lambda rows: rows[1].update(error="it was not me")),
    "digest": ("episodes", lambda rows: rows[1].update(record_sha256="0" * 64)),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_playing_again_cannot_tell_is_noticed(name: str, run: Path) -> None:
    file, change = ALTERED[name]
    alter(run, file, change)
    (divergence,) = verified(run).divergences
    assert (divergence.operator_id, divergence.episode_index) == ("op", 1)


def test_a_call_that_was_altered_is_noticed(run: Path) -> None:
    alter(run, "calls", lambda rows: rows[0].update(reply="2"))
    (divergence,) = verified(run).divergences
    assert str(divergence).startswith("operators/op/calls.jsonl is not as it was")


@pytest.mark.parametrize(
    "change", [{"players": {}}, {"status": "stopped"}, {"machine": {"processors": 512}}, {"commit": "beef"}]
)
def test_a_run_description_that_was_altered_is_noticed(change: dict[str, Any], run: Path) -> None:
    alter_header(run, lambda header: header.update(change))
    (divergence,) = verified(run).divergences
    assert str(divergence).startswith("run.json is not as it was")


def test_an_episode_that_was_taken_out_is_noticed(run: Path) -> None:
    alter(run, "episodes", lambda rows: rows.pop())
    alter(run, "steps", lambda rows: rows.__delitem__(slice(10, None)))
    alter_header(run, lambda header: header.update(status="stopped"))
    told = [str(divergence) for divergence in verified(run).divergences]
    assert any(sentence.startswith("operators/op/episodes.jsonl is not") for sentence in told)


def test_times_are_not_part_of_it_and_equal_runs_have_equal_digests(sound: Path, tmp_path: Path) -> None:
    again = asyncio.run(_record(tmp_path))
    digests = [
        [json.loads(line)["record_sha256"] for line in file.read_text().splitlines()]
        for file in (run / "operators/op/episodes.jsonl" for run in (sound, again))
    ]
    assert sorted(digests[0]) == sorted(digests[1]) and len(set(digests[0])) == 3
    alter(again, "steps", lambda rows: [row.update(latency_ms=0.5) for row in rows])
    alter(again, "calls", lambda rows: [row.update(latency_ms=0.5) for row in rows])
    assert not verified(again).divergences


def test_a_run_of_an_earlier_version_verifies_with_what_was_not_checked(sound: Path, run: Path) -> None:
    alter(run, "episodes", lambda rows: [row.pop("record_sha256") for row in rows])
    alter_header(run, lambda header: [header.pop(key) for key in ("record_sha256", "files_sha256")])
    assert any("lost its digest" in each.what for each in verified(run).divergences), "now all runs have them"
    alter_header(run, lambda header: header.update(format=1))
    result = verified(run)
    assert not result.divergences
    assert "3 episodes of an earlier version" in result.uncovered and "run.json" in result.uncovered
    assert compare_runs(sound, run) is None


def test_a_run_that_goes_on_is_sealed_anew_when_it_ends(run: Path) -> None:
    recorder, _ = Recorder.reopen(run)
    recorder.update(status="running")
    assert "run.json" in verified(run).uncovered and not verified(run).divergences
    recorder.close("completed")
    assert not verified(run).divergences and verified(run).uncovered == ""
