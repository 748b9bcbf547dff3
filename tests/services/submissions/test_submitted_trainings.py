"""Trainings as parts: what hosts are told by a real shell, what comes back of them, and when."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from gym_gui.core.errors import ProtocolError, UsageError
from gym_gui.services.submissions import shell
from gym_gui.services.submissions.collect_parts import move_part
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.submission_errors import HostFailedError
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    SENT,
    STOPPED,
    ShardState,
    Submission,
    open_submission,
)
from gym_gui.services.submissions.submitted_trainings import Training, Trainings
from gym_gui.services.submissions.training_files import (
    FileGrowth,
    ReceivedFiles,
    exchange_script,
    grown_in,
    grown_of,
)
from gym_gui.services.submissions.training_mirror import TrainingMirror
from gym_gui.services.trainer.remote_training import read_remote_training
from mosaic_worker.training import ask
from tests.support.waiting import eventually

REQUEST = {
    "format_version": 1,
    "run_id": "x",
    "worker": "w",
    "algorithm": "a",
    "env_id": "e",
    "seed": 7,
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A submission's folder as it lies on a host, with a blank in its path."""
    found = tmp_path / "a place"
    found.mkdir()
    return found


def two(home: Path, *, is_group: bool = True) -> Trainings:
    parts = tuple(Training(seed, home / f"seed{seed}", f"01RUN{seed}") for seed in (4, 7))
    return Trainings(("--algo", "ppo", "--set", "x=a b"), is_group, parts)


def submission(home: Path, **states: ShardState) -> Submission:
    kept = {int(name[1:]): state for name, state in states.items()}
    home.mkdir(exist_ok=True)
    found = Submission(home, "ssh", {}, "train", 2, 200, home / "out", kept, trainings=two(home / "out"))
    found.save()
    return found


def begun(place: Path, start: str, part: int = 2, **files: str) -> Path:
    """A beginning of a part, the one with seed 7, as a worker leaves it on a host."""
    run = place / "work" / str(part) / "runs" / start / "seed7"
    run.mkdir(parents=True)
    for name, text in files.items():
        (run / name.replace("_", ".")).write_text(text)
    (run / "runner.json").write_text("{}")
    return run


def tell(script: str) -> bytes:
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("is_group", [True, False])
def test_a_training_is_begun_and_gone_on_with_where_its_checkpoint_is(place: Path, is_group: bool) -> None:
    (place / "command.sh").write_text('printf "%s\\n" "$*" >> calls')
    (place / shell.ALLOWED).write_text("[]")
    (place / "seeds").write_text("4\n7\n")
    script = shell.play_script("train", 2, Command("sh command.sh"), two(place, is_group=is_group))
    (place / shell.PLAY).write_text(script)

    def tried(attempt: int) -> str:
        tell(shell.begin(str(place), [[(2, attempt)]]))
        eventually((place / f"work/2/{attempt}/code").exists, "it ends")
        return (place / "calls").read_text().splitlines()[-1]

    asked = "train --algo ppo --set x=a b"
    where = "--seeds 7, --out {}" if is_group else "--seed 7 --out {}/seed7"
    assert tried(1) == f"{asked} {where.format('work/2/runs/0001-0001')} --json"
    begun(place, "0001-0001")
    # Nothing was kept: a second beginning stands beside the first.
    assert tried(2) == f"{asked} {where.format('work/2/runs/0002-0002')} --json"
    begun(place, "0002-0002", policy_json="{}")
    again = f"{asked} {where}" if is_group else "train --resume {}/seed7"
    assert tried(3) == f"{again.format('work/2/runs/0002-0002')} --json"


@pytest.mark.parametrize("over", ["ssh", "a shared disk"])
def test_files_are_asked_for_what_is_new_in_them(place: Path, over: str) -> None:
    def look(**known: object) -> FileGrowth | None:
        asked = ReceivedFiles(**known)  # pyright: ignore[reportArgumentType]
        if over == "ssh":
            return grown_of(tell(exchange_script(str(place), {2: asked}))).get(2)
        return grown_in(place / "work" / "2", asked)

    assert look() is None, "it has not begun"
    run = begun(place, "0001", events_jsonl='{"a": "ä"}\n', log_txt="hello\nwor")
    assert look() == FileGrowth("0001", {"events.jsonl": '{"a": "ä"}\n'.encode(), "log.txt": b"hello\nwor"})
    with (run / "events.jsonl").open("a") as file:
        file.write("more\n")
    known = {"start": "0001", "sizes": (12, 0, 0, 9), "requests": b'{"do": "pause"}\n'}
    assert look(**known) == FileGrowth("0001", {"events.jsonl": b"more\n"})
    assert (run / "control.jsonl").read_text() == '{"do": "pause"}\n'
    begun(place, "0002", metrics_jsonl="m\n")
    assert look(start="0001", sizes=(17, 0, 0, 9)) == FileGrowth("0002", {"metrics.jsonl": b"m\n"}), (
        "begun anew"
    )


@pytest.mark.parametrize(
    "output",
    [b"", b"mosaic-file part 1 0001\n", b"mosaic-file more events.jsonl 3\nabc\nmosaic-file end\n"]
    + [
        b"mosaic-file part 1 0001\nmosaic-file more " + more for more in (b"../x 2\nab\n", b"log.txt 9\nab\n")
    ],
)
def test_an_answer_that_was_cut_off_is_none(output: bytes) -> None:
    with pytest.raises(ProtocolError):
        grown_of(output)


class Place:
    """A place on a disk that is seen here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stopped: list[int] = []

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        self.stopped += tries

    async def exchange(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        found = {number: grown_in(self.folder / "work" / str(number), each) for number, each in known.items()}
        return {number: each for number, each in found.items() if each is not None}


def event(name: str, **fields: object) -> str:
    return json.dumps({"event": name, **fields}) + "\n"


def test_a_run_folder_here_grows_with_the_one_there(place: Path, tmp_path: Path) -> None:
    asked = submission(tmp_path / "sub", _2=ShardState(SENT, "one", 1))
    assert asked.trainings is not None
    here, backend = asked.trainings.part(2).folder, Place(place)
    mirror = TrainingMirror(asked, asked.trainings)
    mirror.note()
    first = asked.trainings.part(1).folder
    states = [where.state for folder in (first, here) if (where := read_remote_training(folder)) is not None]
    assert states == ["waiting", "waiting"]
    run = begun(
        place, "0001", events_jsonl=event("start", step=0) + event("progress", step=50, mean_return=2.5)
    )
    with (run / "events.jsonl").open("a") as file:
        file.write('{"event": "prog')
    asyncio.run(mirror.follow(backend, {2: 1}))
    mirror.note()
    state, where = asked.states[2], read_remote_training(here)
    assert (state.done, state.safe, state.score) == (50, 0, 2.5)
    assert where is not None and (where.state, where.place) == ("running", "one")
    assert len((here / "events.jsonl").read_text().splitlines()) == 2, "whole lines alone"
    with (run / "events.jsonl").open("a") as file:
        file.write('ress", "step": 60}\n' + event("checkpoint", step=60))
    # Who comes after a coordinator goes on where that was.
    again = TrainingMirror(asked, asked.trainings)
    ask(here, "pause")
    asyncio.run(again.follow(backend, {2: 1}))
    asyncio.run(again.follow(backend, {2: 1}))
    assert (state.done, state.safe, state.score) == (60, 60, 2.5)
    assert (here / "events.jsonl").read_bytes() == (run / "events.jsonl").read_bytes()
    assert (run / "control.jsonl").read_text().count("pause") == 1, "passed on once"
    # One that has kept nothing begins anew, and so does what is here.
    begun(place, "0002", events_jsonl=event("start", step=0))
    asyncio.run(again.follow(backend, {2: 2}))
    assert (here / "events.jsonl").read_text() == event("start", step=0)
    assert (state.done, state.safe) == (0, 0)


def test_a_single_training_is_in_the_folder_of_the_submission_itself(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "ppo_seed7"
    alone = Trainings(("--algo", "ppo"), False, (Training(7, out, "01RUN7"),))
    states = {1: ShardState(SENT, "one", 1)}
    (tmp_path / "sub").mkdir()
    asked = Submission(tmp_path / "sub", "ssh", {}, "train", 1, 100, out, states, trainings=alone)
    asked.save()
    mirror = TrainingMirror(asked, alone)
    mirror.note()
    run = begun(place, "0001", 1, events_jsonl=event("start", step=0), policy_json="{}")
    asyncio.run(mirror.follow(Place(place), {1: 1}))
    assert (out / "events.jsonl").read_text() == event("start", step=0)
    where = read_remote_training(out)
    assert where is not None and where.start == "0001"
    (run / "train.json").write_text(json.dumps(REQUEST))
    (run / "exit.json").write_text("{}")
    move_part(place / "work/1/runs", asked, 1)
    assert (out / "policy.json").exists() and read_remote_training(out) is None


def test_a_training_is_stopped_from_its_run_folder(place: Path, tmp_path: Path) -> None:
    asked = submission(tmp_path / "sub", _2=ShardState(SENT, "one", 1))
    assert asked.trainings is not None
    mirror, backend = TrainingMirror(asked, asked.trainings), Place(place)
    mirror.note()
    for training in asked.trainings.parts:
        ask(training.folder, "stop")
    asyncio.run(mirror.follow(backend, {2: 1}))
    mirror.note()
    assert (backend.stopped, asked.states[2].asked, asked.states[2].status) == ([2], True, SENT)
    assert asked.states[1].status == STOPPED, "one that waits does not begin"
    where = read_remote_training(asked.trainings.part(1).folder)
    assert where is not None and where.has_ended


def test_a_training_that_is_here_is_elsewhere_no_more(place: Path, tmp_path: Path) -> None:
    asked = submission(tmp_path / "sub", _2=ShardState(SENT, "one", 1))
    assert asked.trainings is not None
    mirror, here = TrainingMirror(asked, asked.trainings), asked.trainings.part(2).folder
    mirror.note()
    run = begun(place, "0001", events_jsonl=event("start", step=0), policy_json="{}")
    asyncio.run(mirror.follow(Place(place), {2: 1}))
    grows = (here / "events.jsonl").stat().st_ino
    with (run / "events.jsonl").open("a") as file:
        file.write(event("done", status="completed", step=100))
    (run / "train.json").write_text(json.dumps(REQUEST))
    with pytest.raises(HostFailedError, match="is incomplete"):
        move_part(place / "work/2/runs", asked, 2)
    (run / "exit.json").write_text("{}")
    with pytest.raises(
        HostFailedError, match="results of the training with seed 4 are those of another training"
    ):
        move_part(place / "work/2/runs", asked, 1)
    (run / "state").mkdir()
    (run / "state" / "kept.json").write_text("{}")
    (run / "state" / "passwd").symlink_to("/etc/passwd")
    (run / "passwd").symlink_to("/etc/passwd")
    move_part(place / "work/2/runs", asked, 2)
    assert read_remote_training(here) is None
    names = {str(path.relative_to(here)) for path in here.rglob("*")}
    files = {"events.jsonl", "policy.json", "train.json", "runner.json", "exit.json"}
    assert names == {*files, "state", "state/kept.json"}
    assert (here / "events.jsonl").read_bytes() == (run / "events.jsonl").read_bytes()
    assert (here / "events.jsonl").stat().st_ino == grows, "who follows it goes on where it is"
    with pytest.raises(HostFailedError, match="is incomplete"):
        move_part(place / "work/1/runs", asked, 1)


def test_a_record_of_trainings_reads_back(tmp_path: Path) -> None:
    states = {
        "_1": ShardState(COLLECTED, "one", 1, done=100, safe=100, score=0.0),
        "_2": ShardState(FAILED, asked=True),
    }
    asked = submission(tmp_path / "sub", **states)
    assert open_submission(asked.folder) == asked
    assert asked.called(2) == "the training with seed 7"
    data = json.loads((asked.folder / "submission.json").read_text())
    for wrong in ({"of": 3}, {"command": "run"}, {"trainings": {"arguments": [1]}}, {"trainings": None}):
        (asked.folder / "submission.json").write_text(json.dumps(data | wrong))
        with pytest.raises(UsageError, match="is damaged"):
            open_submission(asked.folder)


def test_nothing_is_written_or_read_through_a_link(place: Path, tmp_path: Path) -> None:
    asked = submission(tmp_path / "sub", _2=ShardState(SENT, "one", 1))
    assert asked.trainings is not None
    theirs, here = tmp_path / "documents", asked.trainings.part(2).folder
    theirs.mkdir()
    kept = {"events.jsonl": "mine\n", "control.jsonl": "secret\n", "state": None}
    (theirs / "events.jsonl").write_text("mine\n")
    (theirs / "control.jsonl").write_text("secret\n")
    (theirs / "state").mkdir()
    here.parent.mkdir()
    here.symlink_to(theirs)
    mirror, run = TrainingMirror(asked, asked.trainings), begun(place, "0001", events_jsonl="theirs\n")
    (run / "train.json").write_text(json.dumps(REQUEST))
    (run / "exit.json").write_text("{}")
    (run / "state").mkdir()
    for act in (
        mirror.note,
        lambda: asyncio.run(mirror.follow(Place(place), {2: 1})),
        lambda: move_part(place / "work/2/runs", asked, 2),
        asked.check_folders,
    ):
        with pytest.raises(UsageError, match="is a link"):
            act()
    assert {file.name: file.read_text() if file.is_file() else None for file in theirs.iterdir()} == kept
    assert not (run / "control.jsonl").exists(), "what was read would have been sent"


def test_what_is_taken_in_is_written_through_no_link(place: Path, tmp_path: Path) -> None:
    asked = submission(tmp_path / "sub", _2=ShardState(SENT, "one", 1))
    assert asked.trainings is not None
    here, run = asked.trainings.part(2).folder, begun(place, "0001", policy_json="{}", log_txt="theirs\n")
    theirs = tmp_path / "documents"
    (theirs / "state").mkdir(parents=True)
    (theirs / "state" / "kept").write_text("mine")
    (theirs / "file").write_text("mine")
    here.mkdir(parents=True)
    (here / ".coming-policy.json").symlink_to(theirs / "file")
    (here / ".coming-state").symlink_to(theirs / "state")
    (here / "state").symlink_to(theirs / "state")
    (here / "log.txt").symlink_to(theirs / "file")
    (run / "train.json").write_text(json.dumps(REQUEST))
    (run / "exit.json").write_text("{}")
    (run / "state").mkdir()
    (run / "state" / "new").write_text("theirs")
    move_part(place / "work/2/runs", asked, 2)
    assert (theirs / "file").read_text() == "mine"
    assert [file.name for file in (theirs / "state").iterdir()] == ["kept"]
    assert not any(path.is_symlink() for path in here.rglob("*"))
    assert (here / "state" / "new").read_text() == "theirs"
