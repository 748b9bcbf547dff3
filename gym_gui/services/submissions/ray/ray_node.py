"""What runs on nodes of a Ray cluster: the check of one, and a try of a shard as a task.

It travels by value, with :mod:`.ray_keeper` and :mod:`gym_gui.services.submissions.archive`: a node's Ray
need not know MOSAIC, which is begun by the command of the profile. So they need Python's own library, Ray,
and one another.
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
"""Stands for the folder on a node, in what was allowed."""
CHUNK: Final = 4 << 20
"""Bytes of a file that travel at once."""
WAITING: Final = "waiting"
PLAYING: Final = "playing"
ENDED: Final = "ended"
REFUSED: Final = "refused"
_CHECK_S: Final = 120.0
_TAIL_BYTES: Final = 1 << 15
SAVE_S, _SAVE_SHARE = 15.0, 30.0
"""Seconds between two savings of what is being played; after one that took long so many times that."""
_LEFT_S: Final = 60.0
"""Time in which what a lost task has begun here ends."""
_END_S, _KEEP_S, _KILL_S = 20, 40, 10
"""Seconds for a shard to end, for a training to keep what it has learnt, and for what is left after that."""
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
    """Asks the keeper, from a thread of its own.

    A task whose main thread waits for an answer of Ray's gives its cores to another task.

    Args:
        keeper: The actor.
    """

    def __init__(self, keeper: Any) -> None:
        self._keeper, self._thread = keeper, ThreadPoolExecutor(1)
        self._ray: Any = importlib.import_module("ray")

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the keeper, and wait for its answer."""
        answer = getattr(self._keeper, method).remote(*arguments)
        return self._thread.submit(self._ray.get, answer).result()

    def bring(self, name: str, target: Path) -> None:
        """Copy one of its files here."""
        with target.open("wb") as file:
            while data := self.ask("get", name, file.tell()):
                file.write(data)

    def send(self, source: Path, name: str) -> None:
        """Copy a file to it."""
        with source.open("rb") as file:
            while data := file.read(CHUNK):
                self.ask("put", name, file.tell() - len(data), data)
        self.ask("put", name, 0, b"")


def bundle_name(plan: Mapping[str, Any]) -> str:
    """The file with what nodes are sent."""
    return f"bundle-{plan['digest']}"


def check_node(plan: Mapping[str, Any]) -> str:
    """What the check says on this node."""
    try:
        return _check(plan)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{plan['mark']} trouble {error}\n"


def clear_node(plan: Mapping[str, Any]) -> None:
    """Remove what was put onto this node."""
    shutil.rmtree(_base(plan), ignore_errors=True)


@dataclass(frozen=True)
class _Try:
    """A try of a shard on this node, or of a training."""

    line: Line
    work: Path
    number: int
    attempt: int
    budget: NodeBudget
    training: NodeTraining | None

    @property
    def here(self) -> Path:
        """Its folder, beside those of other tries."""
        return self.work / str(self.attempt)

    @property
    def end_s(self) -> int:
        """Seconds that it has to end."""
        return _KEEP_S if self.training else _END_S


def play(keeper: Any, plan: Mapping[str, Any], number: int, attempt: int) -> None:
    """Play a try of a shard on this node, and bring its result to the keeper."""
    line = Line(keeper)
    place, said = _placed(line, plan)
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
        this = _Try(line, work, number, attempt, NodeBudget(line, plan, here, number, attempt), training)
        _take_up(this)
        _follow(this, _begin(this, place, lock))
        this.budget.exchange()
        code = "".join(_tail(here / "code", 1))
        ended = {"code": int(code) if code.isdigit() else None, **_tails(here)}
        if training is not None:
            training.tell(at_once=True)
        _save(this, has_ended=True)
        line.ask("note", number, attempt, {"state": ENDED, **ended})
        shutil.rmtree(work, ignore_errors=True)


def _node() -> str:
    ray: Any = importlib.import_module("ray")
    return str(ray.get_runtime_context().get_node_id())


def _base(plan: Mapping[str, Any]) -> Path:
    return Path.home() / plan["folder"] / plan["name"]


def _placed(line: Line, plan: Mapping[str, Any]) -> tuple[Path, str]:
    """Where what is sent lies on this node; and what the check has said, where it cannot be used."""
    # Nodes may share a home.
    place = _base(plan) / f"{_node()[:16]}-{plan['digest'][:16]}"
    checked = place / "checked"
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                _put(line, plan, place)
            if not checked.exists():
                said = _check(plan)
                if said != plan["expected"]:
                    return place, said or "\n"
                checked.touch()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return place, f"{plan['mark']} trouble {error}\n"
    return place, ""


def _put(line: Line, plan: Mapping[str, Any], place: Path) -> None:
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
    """What the check says of itself, without what start files and set-up print."""
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
    """The node's own, without what Ray says to its workers."""
    return {key: value for key, value in os.environ.items() if not key.startswith(_RAYS_OWN)}


@contextlib.contextmanager
def _alone(work: Path) -> Generator[IO[str]]:
    """Wait until nothing is left of a lost try here: its processes hold the lock as well."""
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


def _take_up(this: _Try) -> None:
    """Go on with what was played of a shard: by a try that was lost here, or by a later one elsewhere.

    Its budget learns whose record it begins with, where that was lost here and nothing of it is missing.
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
        by.unlink(missing_ok=True)  # a process that is killed from here on leaves runs of no try
        shutil.rmtree(runs, ignore_errors=True)
        taken.rename(runs)
    runs.mkdir(exist_ok=True)
    if this.training is not None:
        this.training.take_up(brought=brought)
    by.write_text(f"{this.attempt} {this.budget.holder}")
    this.budget.after = before


def _begin(this: _Try, place: Path, lock: IO[str]) -> subprocess.Popen[bytes]:
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


def _follow(this: _Try, guard: subprocess.Popen[bytes]) -> None:
    """Send the state of a try until it has ended, and end it when the keeper orders that."""
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
                with contextlib.suppress(OSError):  # a disk is full: the next time
                    training.tell()
            if (begun := time.monotonic()) > due and (training is None or training.has_checkpoint):
                with contextlib.suppress(OSError):  # it is being packed: the next time
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


def _save(this: _Try, *, has_ended: bool = False) -> None:
    """Bring what was played so far to the keeper; of a training that is on, its checkpoint."""
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
