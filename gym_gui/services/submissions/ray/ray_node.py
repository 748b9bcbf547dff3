"""Functions that run on nodes of a Ray cluster: the check of a node, and a task that plays a shard.

Ray pickles this module by value, with :mod:`.ray_keeper` and :mod:`gym_gui.services.submissions.archive`,
because the Python of a node's Ray need not contain MOSAIC. The command of the profile starts MOSAIC. So
these modules import only the standard library, Ray and one another.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from gym_gui.services.submissions.archive import pack, unpack
from gym_gui.services.submissions.ray.ray_budget import NodeBudget
from gym_gui.services.submissions.ray.ray_trainings import NodeTraining

PLACE: Final = "/MOSAIC-PLACE"
"""Placeholder for the folder on a node in the list of permissions."""
CHUNK: Final = 4 << 20
"""Bytes of a file that are sent in one message."""
WAITING: Final = "waiting"
PLAYING: Final = "playing"
ENDED: Final = "ended"
REFUSED: Final = "refused"
_CHECK_S: Final = 120.0
_TAIL_BYTES: Final = 1 << 15
SAVE_S, _SAVE_SHARE = 15.0, 30.0
"""Seconds between two saves of a running shard, and factor by which a slow save's duration lengthens them."""
_LEFT_S: Final = 60.0
"""Seconds to wait until the processes of a lost task on this node have ended."""
_END_S, _KEEP_S, _KILL_S = 20, 40, 10
"""Seconds for a shard to end, for a training to save what it has learned, and extra before a kill."""
_GUARD: Final = """
exec 3<&0
sh play.sh "$1" "$2" </dev/null 3<&- &
play=$!
# Its standard input ends when it shall end, and with the task.
{
  while read -r line; do :; done
  kill -TERM $play
  seconds=0
  while kill -0 $play && [ $seconds -lt $3 ]; do sleep 1; seconds=$((seconds + 1)); done
  kill -KILL 0
} <&3 2>/dev/null &
watch=$!
exec 3<&-
wait $play
kill $watch
"""
_RAYS_OWN: Final = ("RAY_", "PYTHONBREAKPOINT", "PYTHONUNBUFFERED")


class Line:
    """Calls the keeper from a separate thread.

    While a task's main thread waits for Ray's answer, Ray gives the task's cores to another task.

    Args:
        keeper: Handle of the keeper actor.
    """

    def __init__(self, keeper: Any) -> None:
        self._keeper, self._thread = keeper, ThreadPoolExecutor(1)
        self._ray: Any = importlib.import_module("ray")

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the keeper and return its answer."""
        answer = getattr(self._keeper, method).remote(*arguments)
        return self._thread.submit(self._ray.get, answer).result()

    def bring(self, name: str, target: Path) -> None:
        """Copy one of the keeper's files to this node."""
        with target.open("wb") as file:
            while data := self.ask("get", name, file.tell()):
                file.write(data)

    def send(self, source: Path, name: str) -> None:
        """Copy a file to the keeper."""
        with source.open("rb") as file:
            while data := file.read(CHUNK):
                self.ask("put", name, file.tell() - len(data), data)
        self.ask("put", name, 0, b"")


def bundle_name(plan: Mapping[str, Any]) -> str:
    """Return the name of the keeper's file with the bundle for nodes."""
    return f"bundle-{plan['digest']}"


def check_node(plan: Mapping[str, Any]) -> str:
    """Return the output of the check on this node."""
    try:
        return _check(plan)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{plan['mark']} trouble {error}\n"


def clear_node(plan: Mapping[str, Any]) -> None:
    """Remove the submission's files from this node."""
    shutil.rmtree(_base(plan), ignore_errors=True)


@dataclass(frozen=True)
class _Attempt:
    """An attempt to play a shard or a training on this node."""

    line: Line
    work: Path
    number: int
    attempt: int
    budget: NodeBudget
    training: NodeTraining | None

    @property
    def here(self) -> Path:
        """Folder of the attempt, beside the folders of other attempts."""
        return self.work / str(self.attempt)

    @property
    def end_s(self) -> int:
        """Seconds that the attempt has to end after a request."""
        return _KEEP_S if self.training else _END_S


def play(keeper: Any, plan: Mapping[str, Any], number: int, attempt: int) -> None:
    """Play an attempt of a shard on this node and send its result to the keeper."""
    line = Line(keeper)
    place, said = _bundle_folder(line, plan)
    if said:
        line.ask("note", number, attempt, {"state": REFUSED, "said": said, "node": _node()})
        return
    work = place / "work" / str(number)
    here = work / str(attempt)
    work.mkdir(parents=True, exist_ok=True)
    with _alone(work) as lock:
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        training = NodeTraining(line, work, number, attempt) if plan.get("trains") else None
        this = _Attempt(line, work, number, attempt, NodeBudget(line, plan, here, number, attempt), training)
        _restore(this)
        _follow(this, _begin(this, place, lock))
        this.budget.exchange()
        code = "".join(_tail(here / "code", 1))
        ended = {"code": int(code) if code.isdigit() else None, **_tails(here)}
        if training is not None:
            training.report(at_once=True)
        _save(this, has_ended=True)
        line.ask("note", number, attempt, {"state": ENDED, **ended})
        shutil.rmtree(work, ignore_errors=True)


def _node() -> str:
    ray: Any = importlib.import_module("ray")
    return str(ray.get_runtime_context().get_node_id())


def _base(plan: Mapping[str, Any]) -> Path:
    return Path.home() / plan["folder"] / plan["name"]


def _bundle_folder(line: Line, plan: Mapping[str, Any]) -> tuple[Path, str]:
    """Return the folder of the bundle on this node, and the check's output if the node cannot be used."""
    # Nodes may share a home, so the folder's name contains the node's id.
    place = _base(plan) / f"{_node()[:16]}-{plan['digest'][:16]}"
    checked = place / "checked"
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                _unpack_bundle(line, plan, place)
            if not checked.exists():
                said = _check(plan)
                if said != plan["expected"]:
                    return place, said or "\n"
                checked.touch()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return place, f"{plan['mark']} trouble {error}\n"
    return place, ""


def _unpack_bundle(line: Line, plan: Mapping[str, Any], place: Path) -> None:
    sent, new = place.with_suffix(".sent"), place.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    line.bring(bundle_name(plan), sent)
    unpack(sent, new)
    sent.unlink()
    rows = json.loads(plan["allowed"])
    for row in rows:
        if (row["name"] + "/").startswith(f"{PLACE}/"):
            row["name"] = f"{place}{row['name'][len(PLACE) :]}"
    allowed = new / plan["allowed_name"]
    allowed.touch(0o600)
    allowed.write_text(json.dumps(rows))
    new.rename(place)


def _check(plan: Mapping[str, Any]) -> str:
    """Return the lines that the check itself prints, without output of start files and set-up."""
    done = subprocess.run(
        ["sh", "-s"],
        input=plan["check"].encode(),
        cwd=Path.home(),
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_CHECK_S,
        check=False,
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.startswith(f"{plan['mark']} "))


def _environment() -> dict[str, str]:
    """Return the node's environment without the variables that Ray sets for its workers."""
    return {key: value for key, value in os.environ.items() if not key.startswith(_RAYS_OWN)}


@contextlib.contextmanager
def _alone(work: Path) -> Generator[IO[str]]:
    """Wait until no process of a lost attempt runs on this node. Processes of an attempt hold its lock."""
    with (work / "lock").open("w") as lock:
        deadline = time.monotonic() + _LEFT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        yield lock


def _restore(this: _Attempt) -> None:
    """Restore the latest state of a shard: of an attempt lost here, or of a later attempt elsewhere.

    If this node's lost attempt is complete, the budget gets the name of the holder whose record continues.
    """
    runs, by, taken = this.work / "runs", this.work / "by", this.work / "taken"
    last, _, before = (by.read_text() if by.exists() else "").partition(" ")
    saved = this.line.ask("saved", this.number)
    latest = max(int(saved.partition("-")[2] or 0), this.training.by if this.training else 0)
    brought = latest > int(last or 0)
    if brought:
        before = ""
        shutil.rmtree(taken, ignore_errors=True)
        if saved:
            this.line.bring(saved, this.work / "sent")
            unpack(this.work / "sent", taken)
        else:
            taken.mkdir()
        by.unlink(missing_ok=True)  # if the process is killed after this, the runs belong to no try
        shutil.rmtree(runs, ignore_errors=True)
        taken.rename(runs)
    runs.mkdir(exist_ok=True)
    if this.training is not None:
        this.training.restore_files(brought=brought)
    by.write_text(f"{this.attempt} {this.budget.holder}")
    this.budget.after = before


def _begin(this: _Attempt, place: Path, lock: IO[str]) -> subprocess.Popen[bytes]:
    with (this.here / "err").open("ab") as err:
        return subprocess.Popen(
            ["sh", "-c", _GUARD, "mosaic-shard", *map(str, (this.number, this.attempt, this.end_s))],
            cwd=place,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=err,
            start_new_session=True,
            pass_fds=[lock.fileno()],
        )


def _follow(this: _Attempt, guard: subprocess.Popen[bytes]) -> None:
    """Report the status of an attempt until its end. End the attempt if the keeper orders it."""
    assert guard.stdin is not None
    training = this.training
    least_s = 0.0 if training else SAVE_S
    due = time.monotonic() + least_s
    machine = f"{os.uname().nodename} ({_node()[:6]})"
    try:
        while guard.poll() is None:
            told = {"state": PLAYING, "machine": machine, **_tails(this.here)}
            order, every_s = this.line.ask("note", this.number, this.attempt, told)
            if order:
                guard.stdin.close()
            if order == "KILL":
                os.killpg(guard.pid, signal.SIGKILL)
            this.budget.exchange()
            if training is not None:
                with contextlib.suppress(OSError):  # a disk is full; try again next time
                    training.report()
            if (begun := time.monotonic()) > due and (training is None or training.has_checkpoint):
                with contextlib.suppress(OSError):  # a file changed during packing; try again next time
                    _save(this)
                due = time.monotonic() + max(least_s, _SAVE_SHARE * (time.monotonic() - begun))
            with contextlib.suppress(subprocess.TimeoutExpired):
                guard.wait(every_s)
    finally:
        guard.stdin.close()
        try:
            guard.wait(this.end_s + _KILL_S)
        except subprocess.TimeoutExpired:
            os.killpg(guard.pid, signal.SIGKILL)


def _save(this: _Attempt, *, has_ended: bool = False) -> None:
    """Send the results so far to the keeper; for a running training, its checkpoint."""
    runs, packed = this.work / "runs", this.work / "packed"
    training = None if has_ended else this.training
    if not any(path.is_file() for path in runs.rglob("*")):
        return
    if training is None:
        pack(runs, packed)
    elif not training.pack(packed):
        return
    this.line.send(packed, f"{this.number}-{this.attempt}")
    if training is not None:
        training.has_checkpoint = False


def _tails(here: Path) -> dict[str, list[str]]:
    return {"out": _tail(here / "out", 60), "err": _tail(here / "err", 20)}


def _tail(path: Path, lines: int) -> list[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-lines:]
    except OSError:
        return []
