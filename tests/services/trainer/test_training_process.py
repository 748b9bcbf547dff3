"""A training's process: it outlives who started it, is found again, and its end is told truly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.core.errors import MosaicError, RunFormatError, UsageError, WorkerLaunchError
from gym_gui.core.inherited_environment import withhold
from gym_gui.processes.tree import TAG, members, proportional_mb, resident_mb
from gym_gui.services.trainer.training_folder import EXIT, LOG, REQUEST, RUNNER, RunFolder
from gym_gui.services.trainer.training_outcome import TrainingOutcome
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import RunLimits
from gym_gui.workers.definition import WorkerTypeDefinition
from tests.support.processes import Offspring, alive
from tests.support.training import search_request, search_trainer
from tests.support.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
ENDLESS = {"total_steps": 10**9}
WAIT_S = 60.0


@pytest.fixture
def worker(tmp_path: Path) -> WorkerTypeDefinition:
    folder = tmp_path / "worker"
    folder.mkdir()
    return search_trainer(folder)


@pytest.fixture
def start(worker: WorkerTypeDefinition, tmp_path: Path) -> Callable[..., TrainingProcess]:
    """Start a training in a folder; what is no argument of ``launch`` is a setting."""

    def launch(name: str = "run", **given: Any) -> TrainingProcess:
        ours = {"limits", "tied", "cores", "gpus", "grace_s"}
        about = {key: value for key, value in given.items() if key in ours}
        settings = {key: value for key, value in given.items() if key not in ours}
        return TrainingProcess.launch(search_request(worker, tmp_path / name, **settings), **about)

    return launch


def ended(process: TrainingProcess) -> TrainingOutcome:
    assert process.wait(WAIT_S), "it goes on"
    outcome = process.outcome()
    assert outcome is not None
    assert list(members(process.tag)) == []
    return outcome


def events(process: TrainingProcess) -> list[str]:
    return [str(row["event"]) for row in process.events().read()]


def until(process: TrainingProcess, event: str) -> None:
    eventually(
        lambda: event in events(process), f"{event} was told: {process.folder.last_log_line()}", WAIT_S
    )


def test_a_training_runs_to_its_end(start: Callable[..., TrainingProcess]) -> None:
    process = start(title="First try", seed=7, spread=2)
    assert process.alive
    assert process.outcome() is None
    outcome = ended(process)
    assert (outcome.state, outcome.reason, outcome.refused) == ("completed", "", False)
    assert outcome.step >= 500
    assert outcome.mean_return is not None
    assert outcome.cpu_s > 0.05
    assert 10 < outcome.max_memory_mb < 2000
    assert abs((outcome.ended_at or 0) - time.time()) < WAIT_S
    asked = process.folder.read(REQUEST) or {}
    assert (asked["worker"], asked["algorithm"], asked["env_id"]) == (
        "search_trainer",
        "search",
        "CartPole-v1",
    )
    assert (asked["title"], asked["seed"], asked["given"]) == ("First try", 7, {"spread": 2})
    assert asked["settings"] == {"total_steps": 500, "step_s": 0.0, "spread": 2, "fault": "none"}
    assert process.folder.holds_policy
    assert "completed after" in (process.folder / LOG).read_text()
    assert not list(process.folder.path.glob("*.part"))
    with pytest.raises(UsageError, match="is over"):
        process.ask("pause")


def test_wishes_are_granted(start: Callable[..., TrainingProcess]) -> None:
    process = start(**ENDLESS, step_s=0.001)
    for wish, event in (("pause", "paused"), ("checkpoint", "checkpoint"), ("resume", "resumed")):
        process.ask(wish)
        until(process, event)
    process.ask("stop")
    outcome = ended(process)
    assert (outcome.state, outcome.reason) == ("stopped", "")
    assert outcome.step > 0


def test_a_wish_that_comes_at_once_is_heard(start: Callable[..., TrainingProcess]) -> None:
    process = start(**ENDLESS)
    process.ask("stop")  # it is still importing
    assert ended(process).state == "stopped"


def launched_elsewhere(
    worker: WorkerTypeDefinition, out: Path, *, tied: bool, **settings: Any
) -> subprocess.Popen[str]:
    """A program of its own that starts a training and then waits for ever."""
    code = f"""
import sys, time
from pathlib import Path
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.workers.manifest import read_manifest
from tests.support.training import search_request
worker = read_manifest(Path({str(worker.folder)!r}) / "worker.toml")
process = TrainingProcess.launch(search_request(worker, Path({str(out)!r}), **{settings!r}), tied={tied})
print(process.pid, flush=True)
time.sleep(600)
"""
    path = os.pathsep.join([str(ROOT), str(ROOT / "3rd_party" / "mosaic_worker_sdk")])
    # A program of its own, which has a reaper.
    environment = {**{k: v for k, v in os.environ.items() if k != TAG}, "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def killed(program: subprocess.Popen[str]) -> int:
    """End such a program as nothing can be caught; the training's process id."""
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    program.kill()
    program.wait()
    program.stdout.close()
    return pid


def test_it_outlives_a_killed_program_and_is_found_again(
    worker: WorkerTypeDefinition, tmp_path: Path, offspring: Offspring
) -> None:
    pid = killed(launched_elsewhere(worker, tmp_path / "run", tied=False, **ENDLESS))
    eventually(lambda: not offspring.find("gym_gui.processes.reaper"), "the reaper has done its work", WAIT_S)
    process = TrainingProcess.attach(tmp_path / "run")
    assert process.pid == pid
    assert process.alive
    until(process, "progress")
    process.ask("stop")
    assert ended(process).state == "stopped"


def test_it_is_found_when_it_has_ended_meanwhile(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    killed(launched_elsewhere(worker, tmp_path / "run", tied=False))
    eventually((tmp_path / "run" / EXIT).exists, "it ended", WAIT_S)
    outcome = ended(TrainingProcess.attach(tmp_path / "run"))
    assert (outcome.state, outcome.reason) == ("completed", "")


def test_it_ends_with_a_killed_program_that_it_is_tied_to(
    worker: WorkerTypeDefinition, tmp_path: Path
) -> None:
    pid = killed(launched_elsewhere(worker, tmp_path / "run", tied=True, **ENDLESS))
    eventually(lambda: not alive(pid), "the training ended", WAIT_S)
    assert ended(TrainingProcess.attach(tmp_path / "run")).state in ("stopped", "failed")


def test_it_bears_no_tag_of_ours_unless_it_is_tied(start: Callable[..., TrainingProcess]) -> None:
    free, tied = start("free", **ENDLESS), start("tied", **ENDLESS, tied=True)
    tags = [psutil.Process(process.pid).environ()[TAG] for process in (free, tied)]
    assert tags == [free.tag, f"tests:{tied.tag}"]
    for process in (free, tied):
        process.kill()
        assert ended(process).reason == "was killed on request"


@pytest.mark.parametrize("victims", ["worker", "runner", "both"])
def test_killed_from_outside(start: Callable[..., TrainingProcess], victims: str) -> None:
    process = start(**ENDLESS, fault="deaf")  # it has a child in a session of its own
    eventually(lambda: len(list(members(process.tag))) == 3, "its child is there", WAIT_S)
    runner = int((process.folder.read(RUNNER) or {})["pid"])
    for pid in {"worker": [process.pid], "runner": [runner], "both": [runner, process.pid]}[victims]:
        os.kill(pid, signal.SIGKILL)
    outcome = ended(process)
    assert outcome.state == "failed"
    expected = "was killed (signal 9, SIGKILL)"
    assert outcome.reason == (
        expected if victims == "worker" else "was killed together with the process that watched it"
    )
    # Who comes later is told the same.
    assert TrainingProcess.attach(process.folder.path).outcome() == outcome


def test_a_later_process_with_the_same_number_is_not_taken_for_it(
    start: Callable[..., TrainingProcess],
) -> None:
    process = start()
    ended(process)
    row = process.folder.read(RUNNER) or {}
    process.folder.write(RUNNER, {**row, "pid": os.getpid(), "worker": {**row["worker"], "pid": os.getpid()}})
    later = TrainingProcess.attach(process.folder.path)
    assert not later.alive
    later.kill()  # reaches no process
    assert not later.suspended
    assert later.outcome() == process.outcome()


def test_a_suspended_training_says_so_and_ends_all_the_same(start: Callable[..., TrainingProcess]) -> None:
    process = start(**ENDLESS, grace_s=0.3)
    until(process, "start")
    os.kill(process.pid, signal.SIGSTOP)
    eventually(lambda: process.suspended, "it is suspended", WAIT_S)
    assert process.alive
    process.ask("stop")
    outcome = ended(process)
    assert (outcome.state, outcome.reason) == ("stopped", "did not stop within 0.3 s and was killed")
    assert not process.suspended


def test_one_that_does_not_want_to_stop_is_killed_with_its_children(
    start: Callable[..., TrainingProcess],
) -> None:
    process = start(fault="deaf", grace_s=0.3)
    eventually(lambda: len(list(members(process.tag))) == 3, "its child is there", WAIT_S)
    process.ask("stop")
    assert ended(process).state == "stopped"


def test_what_it_leaves_behind_is_ended(start: Callable[..., TrainingProcess]) -> None:
    assert ended(start(fault="linger")).state == "completed"


def test_too_much_memory(start: Callable[..., TrainingProcess]) -> None:
    process = start(fault="greedy", limits=RunLimits(memory_mb=200))
    outcome = ended(process)
    assert (outcome.state, outcome.reason) == ("failed", "used more than 200 MB of memory")
    assert outcome.max_memory_mb > 200


def test_memory_that_its_processes_share_counts_once(start: Callable[..., TrainingProcess]) -> None:
    process = start(fault="shared", limits=RunLimits(memory_mb=400))
    eventually(lambda: resident_mb(process.tag) > 5 * 150, "its children are there", WAIT_S)
    assert proportional_mb(process.tag) < 400
    assert not process.wait(3)  # longer than it takes to count twice
    process.kill()
    assert ended(process).max_memory_mb < 400


def test_too_long(start: Callable[..., TrainingProcess]) -> None:
    process = start(**ENDLESS, limits=RunLimits(max_s=1.5))
    outcome = ended(process)
    assert (outcome.state, outcome.reason) == ("stopped", "ran longer than its limit of 1.5 s")
    assert process.folder.holds_policy


def test_what_it_may_use_and_see(
    start: Callable[..., TrainingProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "hidden-1")
    monkeypatch.setenv("MY_OWN_THING", "hidden-2")
    withhold("MY_OWN_THING")
    cores = sorted(os.sched_getaffinity(0))
    process = start(**ENDLESS, limits=RunLimits(cpu_cores=1), cores=cores[-1:], gpus=["3"])
    one = psutil.Process(process.pid)
    seen = one.environ()
    assert one.cpu_affinity() == cores[-1:]
    assert (seen["OMP_NUM_THREADS"], seen["CUDA_VISIBLE_DEVICES"]) == ("1", "3")
    everything = json.dumps([seen, one.cmdline(), one.parent() and one.parent().cmdline()])  # pyright: ignore[reportOptionalMemberAccess]
    everything += "".join(
        path.read_text(errors="replace") for path in process.folder.path.iterdir() if path.is_file()
    )
    assert "hidden-1" not in everything
    assert "hidden-2" not in everything
    process.kill()
    several = start("two", **ENDLESS, limits=RunLimits(cpu_cores=len(cores) + 5))
    assert psutil.Process(several.pid).cpu_affinity() == cores
    several.kill()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("abort", "was killed (signal 6, SIGABRT)"),
        ("untold", "ended with exit status 1: out of luck"),
        ("silent", "ended with exit status 0, but never reported that it was done"),
    ],
)
def test_a_training_that_fails_says_why(
    start: Callable[..., TrainingProcess], fault: str, words: str
) -> None:
    outcome = ended(start(fault=fault))
    assert (outcome.state, outcome.reason, outcome.refused) == ("failed", words, False)


def test_numbers_that_are_none_end_it_and_the_last_good_policy_stays(
    start: Callable[..., TrainingProcess],
) -> None:
    process = start(**ENDLESS, fault="nan", step_s=0.004)
    outcome = ended(process)
    assert outcome.state == "failed"
    assert outcome.reason.startswith("the return is not a finite number at step 2")
    assert json.loads((process.folder / "policy.json").read_text())["best"] > 0
    metrics = process.folder.follow("metrics.jsonl").read()
    assert metrics[-1]["m"]["charts/episodic_return"] is None


def test_a_full_disk(start: Callable[..., TrainingProcess], tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        process = start("small/run", fault="disk", total_steps=100)
        outcome = ended(process)
        assert outcome.state == "failed"
        assert outcome.reason == f"the disk is full: nothing more can be written to {process.folder.path}"
        assert (process.folder.read(EXIT) or {})["status"] == 1
        assert outcome.cpu_s > 0
        with pytest.raises(MosaicError, match=r"cannot be written: No space left.*free some space"):
            start("small/other")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_an_interpreter_that_is_not_there(worker: WorkerTypeDefinition, tmp_path: Path) -> None:
    gone = replace(worker, launch=replace(worker.launch, python=tmp_path / "gone" / "python"))
    with pytest.raises(WorkerLaunchError, match=r"could not be started: .*gone/python.*No such file"):
        TrainingProcess.launch(search_request(gone, tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("place", ["file/run", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written(
    start: Callable[..., TrainingProcess], tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot be written: .*Choose another --out"):
        start(place)


def test_a_policy_is_not_written_over_unless_it_is_asked_for(start: Callable[..., TrainingProcess]) -> None:
    first = start()
    ended(first)
    with pytest.raises(UsageError, match=r"already holds a policy.*--resume.*--overwrite"):
        start()
    assert (first.folder.read(REQUEST) or {})["seed"] == 1
    second = start(seed=2, overwrite=True)
    assert ended(second).state == "completed"
    assert (second.folder.read(REQUEST) or {})["seed"] == 2
    begun = [row for row in second.folder.follow("events.jsonl").read() if row["event"] == "start"]
    assert [row["seed"] for row in begun] == [2]


def test_it_goes_on_where_it_stood(start: Callable[..., TrainingProcess]) -> None:
    first = ended(start())
    more = start(resume=True, total_steps=1500)
    outcome = ended(more)
    assert outcome.state == "completed"
    assert outcome.step >= 1500
    begun = [row["step"] for row in more.folder.follow("events.jsonl").read() if row["event"] == "start"]
    assert begun == [0, first.step]
    assert [row["step"] for row in more.events().read() if row["event"] == "start"] == [first.step]


def test_there_must_be_something_to_go_on_with(start: Callable[..., TrainingProcess], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing to resume in .*contains no policy\.json"):
        start(resume=True)
    assert not (tmp_path / "run").exists()


def test_a_folder_in_which_one_runs_is_taken(start: Callable[..., TrainingProcess]) -> None:
    process = start(**ENDLESS, step_s=0.001)
    until(process, "checkpoint")
    for given in ({"resume": True}, {"overwrite": True}, {}):
        with pytest.raises(UsageError, match=r"a training is running in .*Wait for its end"):
            start(**given)
    (process.folder / RUNNER).unlink()  # whatever its files say: its runner holds the folder
    with pytest.raises(UsageError, match="a training is running in"):
        start(resume=True)
    assert process.alive
    process.kill()
    assert ended(process).state == "stopped"
    assert process.folder.holds_policy


def test_of_two_that_resume_at_once_one_does(start: Callable[..., TrainingProcess]) -> None:
    ended(start())
    begun: list[TrainingProcess] = []
    refused: list[str] = []
    gate = threading.Barrier(4)

    def resume() -> None:
        gate.wait()
        try:
            begun.append(start(resume=True, **ENDLESS))
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=resume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(begun) == 1
    assert len(refused) == 3
    assert all("a training is running" in words for words in refused)
    begun[0].kill()


def test_what_says_who_watches_it_may_be_damaged(
    start: Callable[..., TrainingProcess], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="no training was ever started in"):
        TrainingProcess.attach(tmp_path / "run")
    process = start()
    ended(process)
    (process.folder / EXIT).write_text('{"status": 0, "sig')
    assert TrainingProcess.attach(process.folder.path).outcome() is not None
    (process.folder / RUNNER).write_text('{"pid": 3')
    with pytest.raises(RunFormatError, match=r"runner\.json: is damaged or was cut off"):
        TrainingProcess.attach(process.folder.path)
    RunFolder(process.folder.path).write(RUNNER, {"pid": "3"})
    with pytest.raises(RunFormatError, match="does not name the process"):
        TrainingProcess.attach(process.folder.path)
