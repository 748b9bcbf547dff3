"""How trainings on a Ray cluster are followed and taken up elsewhere, without a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from gym_gui.core.errors import ProtocolError
from gym_gui.services.submissions.archive import unpack
from gym_gui.services.submissions.ray import ray_trainings
from gym_gui.services.submissions.ray.ray_driver import TRAVELS
from gym_gui.services.submissions.ray.ray_keeper import Keeper
from gym_gui.services.submissions.ray.ray_node import play
from gym_gui.services.submissions.ray.ray_trainings import GrownFiles, NodeTraining
from gym_gui.services.submissions.training_files import MOST, ReceivedFiles, grown_from

Handed = tuple[str, dict[str, bytes]]
START = "0001-0001"
PART = 2


class Here:
    """The way to what a keeper has, in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.grown = folder, GrownFiles(folder / "grown")

    def ask(self, method: str, *arguments: Any) -> Any:
        return {"grow": self.grown.grow, "standing": self.grown.standing}[method](*arguments)

    def bring(self, name: str, target: Path) -> None:
        target.write_bytes((self.folder / name).read_bytes())

    def exchange(self, start: str = "", *sizes: int, wishes: bytes = b"") -> Handed | None:
        """What is asked for from here, of our part."""
        known = {PART: (start, sizes or (0, 0, 0, 0), wishes)}
        return self.grown.exchange(known).get(PART)


@pytest.fixture
def line(tmp_path: Path) -> Here:
    return Here(tmp_path / "head")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder on a node, whose training listens."""
    return begun(tmp_path / "node", START)


def begun(work: Path, start: str) -> Path:
    found = work / "runs" / start / "seed7"
    found.mkdir(parents=True)
    (found / "runner.json").write_text("{}")
    (found / "events.jsonl").write_text(event("start", step=0))
    return found


def event(name: str, **fields: object) -> str:
    return json.dumps({"event": name, **fields}, separators=(",", ":")) + "\n"


def add(file: Path, text: str) -> None:
    with file.open("a") as to:
        to.write(text)


def test_what_a_training_writes_comes_here_by_the_keeper(line: Here, run: Path, tmp_path: Path) -> None:
    training = NodeTraining(line, tmp_path / "node", PART, 1)
    assert line.exchange() is None
    add(run / "events.jsonl", '{"event":"prog')
    training.report(at_once=True)
    first = event("start", step=0).encode()
    assert line.exchange() == (START, {"events.jsonl": first}), "whole lines alone"
    add(run / "events.jsonl", 'ress","step":5}\n')
    (run / "metrics.jsonl").write_text("m\n")
    training.report(at_once=True)
    more = {"events.jsonl": b'{"event":"progress","step":5}\n', "metrics.jsonl": b"m\n"}
    assert line.exchange(START, len(first), 0, 0, 0) == (START, more)
    # Wishes reach it once, and what it has heard is not said to the next try.
    assert line.exchange(START, 0, 0, 0, 0, wishes=b'{"do":"pause"}\n') is not None
    training.report(at_once=True)
    training.report(at_once=True)
    assert (run / "control.jsonl").read_text() == '{"do":"pause"}\n'
    again = NodeTraining(line, tmp_path / "node", PART, 1)
    again.restore_files(brought=False)
    begun_again = run / "runner.json"
    assert not begun_again.exists(), "the process that listened is gone"
    begun_again.write_text("{}")
    assert line.exchange(START, 0, 0, 0, 0, wishes=b'{"do":"resume"}\n') is not None
    again.report(at_once=True)
    assert (run / "control.jsonl").read_text() == '{"do":"pause"}\n{"do":"resume"}\n'


def test_one_that_was_given_up_says_nothing_more(tmp_path: Path) -> None:
    keeper = Keeper("01SUBMISSION", str(tmp_path))
    keeper.grow(PART, 1, START, {"log.txt": (0, b"late\n")}, 0)
    assert (keeper.standing(PART), keeper.exchange({PART: ("", (0, 0, 0, 0), b"")})) == ({}, {})


def test_a_checkpoint_is_gone_on_with_on_another_node(line: Here, run: Path, tmp_path: Path) -> None:
    training = NodeTraining(line, tmp_path / "node", PART, 1)
    training.report(at_once=True)
    assert not training.has_checkpoint
    (run / "policy.json").write_text("{}")
    (run / "state").mkdir()
    (run / "state" / "kept").write_bytes(b"at 5")
    add(run / "events.jsonl", event("checkpoint", step=5))
    training.report(at_once=True)
    assert training.has_checkpoint
    assert training.pack(tmp_path / "packed")
    add(run / "events.jsonl", event("progress", step=8))
    training.report(at_once=True)
    told = (run / "events.jsonl").read_bytes()
    add(run / "events.jsonl", event("progress", step=9))  # and then the node is lost

    other = tmp_path / "other"
    unpack(tmp_path / "packed", other / "runs")
    line.grown = GrownFiles(line.folder / "grown")  # of a keeper that came after the one that was killed
    elsewhere = NodeTraining(line, other, PART, 2)
    assert elsewhere.by == 1
    elsewhere.restore_files(brought=True)
    assert not elsewhere.has_checkpoint, "the keeper has it"
    taken = other / "runs" / START / "seed7"
    assert (taken / "events.jsonl").read_bytes() == told
    assert (taken / "state/kept").read_bytes() == b"at 5"
    add(taken / "events.jsonl", event("start", step=5))
    (taken / "runner.json").write_text("{}")
    elsewhere.report(at_once=True)
    assert line.exchange(START, len(told), 0, 0, 0) == (
        START,
        {"events.jsonl": event("start", step=5).encode()},
    )


def test_one_that_is_begun_anew_begins_anew_here(line: Here, run: Path, tmp_path: Path) -> None:
    NodeTraining(line, tmp_path / "node", PART, 1).report(at_once=True)
    anew = begun(tmp_path / "other", "0002-0001")
    other = NodeTraining(line, tmp_path / "other", PART, 2)
    other.restore_files(brought=True)
    (anew / "runner.json").write_text("{}")
    other.report(at_once=True)
    assert line.exchange(START, 100, 0, 0, 0) == (
        "0002-0001",
        {"events.jsonl": event("start", step=0).encode()},
    )


def test_a_checkpoint_that_changes_meanwhile_is_none(
    line: Here, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run / "policy.json").write_text("{}")
    training = NodeTraining(line, tmp_path / "node", PART, 1)
    training.restore_files(brought=False)
    (run / "runner.json").write_text("{}")
    assert training.has_checkpoint, "it may not have been brought"
    packs = ray_trainings.pack

    def replaced(*arguments: Any) -> None:
        packs(*arguments)
        (run / "policy.new").write_text("{ }")
        (run / "policy.new").replace(run / "policy.json")

    monkeypatch.setattr(ray_trainings, "pack", replaced)
    assert not training.pack(tmp_path / "packed")


def test_much_is_handed_on_in_turns(line: Here, tmp_path: Path) -> None:
    parts = range(1, 5)
    size = MOST - 1
    for number in parts:
        run = begun(tmp_path / str(number), START)
        for name in ("events.jsonl", "metrics.jsonl", "episodes.jsonl", "log.txt"):
            (run / name).write_bytes(b"x" * (size - 1) + b"\n")
        NodeTraining(line, tmp_path / str(number), number, 1).report(at_once=True)
    known = dict.fromkeys(parts, ("", (0, 0, 0, 0), b""))

    def served() -> set[int]:
        found = line.grown.exchange(known)
        assert found.keys() == set(parts), "each says where it is"
        assert sum(len(data) for _, more in found.values() for data in more.values()) <= 8 * MOST
        return {number for number, (_, more) in found.items() if any(more.values())}

    first = served()
    assert first and first != set(parts)
    assert served() == set(parts) - first


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [[7, START, {}]],
        [[PART, "", {}]],
        [[PART, START, {"../x": ""}]],
        [[PART, START, {"log.txt": "€"}]],
        [[PART, START, []]],
        [[[], START, {}]],
        [[PART]],
    ],
)
def test_what_makes_no_sense_is_not_taken(rows: object) -> None:
    with pytest.raises(ProtocolError):
        grown_from(rows, {PART: ReceivedFiles()})


def test_what_travels_needs_no_mosaic(tmp_path: Path) -> None:
    for module in TRAVELS:
        cloudpickle.register_pickle_by_value(module)
    try:
        (tmp_path / "sent").write_bytes(cloudpickle.dumps((Keeper, play)))
    finally:
        for module in TRAVELS:
            cloudpickle.unregister_pickle_by_value(module)
    line = (
        "import sys, pickle; sys.path.insert(0, sys.argv[1]); import cloudpickle;"
        "keeper, play = pickle.load(open(sys.argv[2], 'rb'));"
        "keeper('01SUBMISSION', sys.argv[3]).exchange({1: ('', (0,), b'')});"
        "print([name for name in sys.modules if name.startswith(('gym_gui', 'mosaic'))])"
    )
    packages = Path(cloudpickle.__file__).parent
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "cloudpickle").symlink_to(packages)
    command = [sys.executable, "-I", "-S", "-c", line, tmp_path / "only", tmp_path / "sent", tmp_path / "at"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
