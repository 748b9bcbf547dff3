"""Actor that keeps a submission on a Ray cluster: it starts attempts of shards and stores their results.

The actor is detached, uses no core, and runs on the cluster's head node if there is one. It owns the tasks,
so they continue without a process that follows them. Run folders are sent to it as files, so nodes need no
shared disk.
"""

from __future__ import annotations

import importlib
import os
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gym_gui.services.submissions.ray.ray_node import (
    CHUNK,
    ENDED,
    PLAYING,
    REFUSED,
    WAITING,
    bundle_name,
    play,
)
from gym_gui.services.submissions.ray.ray_trainings import GrownFiles

LOST: Final = "lost"
_KEPT_S: Final = 7 * 24 * 3600.0
_EACH_S: Final = 100
"""Number of status reports per second that the keeper can process."""


class Keeper:
    """Keeps one submission. An attempt is a pair: number of the shard, number of the attempt.

    Args:
        name: The submission's name.
        folder: Folder for submissions, absolute or relative to the home.
        kept_s: Seconds that the actor stays alive if nothing is played and no process calls it.
    """

    def __init__(self, name: str, folder: str, kept_s: float = _KEPT_S) -> None:
        self._base = Path.home() / folder / name
        self._place = self._base / "keeper"
        self._place.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._plan: Mapping[str, Any] = {}
        self._tries: dict[tuple[int, int], dict[str, Any]] = {}
        self._tasks: dict[tuple[int, int], Any] = {}
        self._play: Any = None
        self._latest: dict[int, int] = {}
        self._orders: dict[tuple[int, int], str] = {}
        self._leases: dict[str, str] = {}
        """Lease lines for holders that have not fetched them yet."""
        self._is_used = False
        self._handed: set[int] = set()
        self._grown = GrownFiles(self._place / "grown")
        self._without: dict[str, str] = {}
        self._asked = time.monotonic()
        threading.Thread(target=self._exit_when_idle, args=(kept_s,), daemon=True).start()

    def use(self, plan: Mapping[str, Any]) -> bool:
        """Set the plan of the submission, and return whether its bundle for nodes has arrived."""
        self._plan = plan
        return (self._place / bundle_name(plan)).exists()

    def is_new(self) -> bool:
        """Return whether this is the first call. If so, any earlier keeper was lost."""
        asked, self._is_used = self._is_used, True
        return not asked

    def put(self, name: str, offset: int, data: bytes) -> None:
        """Write a part of a file. An empty part ends the file."""
        new = self._place / f"{name}.new"
        if not data:
            new.rename(self._place / name)
            self._remove_earlier(*name.split("-"))
            return
        with new.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(data)

    def get(self, name: str, offset: int) -> bytes:
        """Return a part of a file; empty at its end."""
        with (self._place / name).open("rb") as file:
            file.seek(offset)
            return file.read(CHUNK)

    def begin(self, tries: Sequence[tuple[int, int]]) -> None:
        """Start attempts of shards, each at most once."""
        for number, attempt in tries:
            if (number, attempt) not in self._tries:
                self._latest[number] = attempt
                self._submit(number, attempt)

    def note(self, number: int, attempt: int, told: Mapping[str, Any]) -> tuple[str, float]:
        """Record an attempt's status; return an order (or ``""``) and the seconds until its next report."""
        self._asked = time.monotonic()
        if not self._is_followed(number, attempt):
            return "KILL", 1.0
        self._tries[number, attempt] |= told
        playing = sum(row["state"] == PLAYING for row in self._tries.values())
        return self._orders.get((number, attempt), ""), max(1.0, playing / _EACH_S)

    def claim(self, number: int, attempt: int, holder: str, said: str, after: str) -> str:
        """Record the lease claim of an attempt, and return its new lease line or an empty string.

        Args:
            number: Number of the shard.
            attempt: Number of the attempt.
            holder: Name of the attempt as a holder of the lease.
            said: The claim as a line.
            after: Holder whose complete record this holder began with.
        """
        if not self._is_followed(number, attempt):
            return ""
        self._tries[number, attempt] |= {"claim": said, "holder": holder, "after": after}
        return self._leases.pop(holder, "")

    def tell(self, lines: Mapping[str, str]) -> None:
        """Store a lease line for each holder until the holder fetches it."""
        self._leases = dict(lines)

    def look(self, tries: Sequence[tuple[int, int]]) -> tuple[list[Any], Mapping[str, str]]:
        """Return the status of attempts, and the check's output on excluded nodes."""
        self._asked = time.monotonic()
        self._find_lost()
        wanted = {number for number, _ in tries}
        for number in self._handed - wanted:
            # The follower has recorded that it has this shard.
            for file in self._place.glob(f"{number}-*"):
                file.unlink()
            self._grown.forget(number)
        self._handed &= wanted
        unknown: dict[str, Any] = {"state": LOST, "why": "the cluster no longer knows it"}
        rows = [(number, attempt, self._tries.get((number, attempt), unknown)) for number, attempt in tries]
        return rows, self._without

    def grow(self, number: int, attempt: int, start: str, more: Mapping[str, Any], heard: int) -> bytes:
        """Store new bytes of files, and return requests. See :meth:`.ray_trainings.GrownFiles.grow`."""
        if self._latest.get(number) != attempt:
            return b""
        return self._grown.grow(number, attempt, start, more, heard)

    def standing(self, number: int) -> dict[str, Any]:
        """Return the stored files of a training (:meth:`.ray_trainings.GrownFiles.standing`)."""
        return self._grown.standing(number)

    def exchange(self, known: Mapping[int, tuple[str, tuple[int, ...], bytes]]) -> Mapping[int, Any]:
        """Store requests, and return new bytes of files. See :meth:`.ray_trainings.GrownFiles.exchange`."""
        return self._grown.exchange(known)

    def saved(self, number: int) -> str:
        """Return the name of the file with a shard's results; empty if there is none."""
        found = [file.name for file in self._place.glob(f"{number}-*") if file.suffix != ".new"]
        return max(found, key=lambda name: int(name.partition("-")[2]), default="")

    def handed(self, number: int) -> None:
        """Record that a shard was fetched. Its files are removed when the follower no longer asks for it."""
        self._handed.add(number)

    def leave_out(self, nodes: Mapping[str, str]) -> None:
        """Exclude nodes, given with the output of their check."""
        self._without.update(nodes)

    def stop(self, tries: Sequence[tuple[int, int]], at_once: bool) -> None:
        """Ask attempts to end, or end them at once."""
        ray: Any = importlib.import_module("ray")
        for number, attempt in tries:
            self._orders[number, attempt] = "KILL" if at_once else "TERM"
            if self._tries.get((number, attempt), {}).get("state") == WAITING:
                ray.cancel(self._tasks[number, attempt])

    def clear(self) -> None:
        """Remove all of the submission's files from the keeper's node."""
        shutil.rmtree(self._base, ignore_errors=True)

    def _remove_earlier(self, number: str, attempt: str) -> None:
        """Remove the results of earlier attempts of a shard, because the latest attempt includes them."""
        for file in self._place.glob(f"{number}-*"):
            earlier = file.name.partition("-")[2]
            if earlier.isdigit() and attempt.isdigit() and int(earlier) < int(attempt):
                file.unlink()

    def _is_followed(self, number: int, attempt: int) -> bool:
        """Return whether an attempt is the latest one of its shard and does not count as lost."""
        lost = self._tries.get((number, attempt), {}).get("state") == LOST
        return self._latest.get(number) == attempt and not lost

    def _submit(self, number: int, attempt: int) -> None:
        ray: Any = importlib.import_module("ray")
        # The follower begins lost tries again and counts them, so Ray must not retry.
        options: dict[str, Any] = {
            **self._plan["options"],
            "max_retries": 0,
            "name": f"shard {number}",
        }
        if self._without:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(self._without)})"}
        keeper = ray.get_runtime_context().current_actor
        self._play = self._play or ray.remote(play)
        task = self._play.options(**options).remote(keeper, self._plan, number, attempt)
        self._tries[number, attempt], self._tasks[number, attempt] = {"state": WAITING}, task

    def _find_lost(self) -> None:
        if not self._tasks:
            return
        ray: Any = importlib.import_module("ray")
        tries = {task: key for key, task in self._tasks.items()}
        ended, _ = ray.wait(list(tries), num_returns=len(tries), timeout=0)
        for task in ended:
            key = tries[task]
            row = self._tries[key]
            del self._tasks[key]
            if row["state"] == REFUSED:
                self._without[row["node"]] = row["said"]
                self._submit(*key)
            elif row["state"] != ENDED:
                row |= {"state": LOST, "why": _why(ray, task)}

    def _exit_when_idle(self, kept_s: float) -> None:
        while (left := self._asked + kept_s - time.monotonic()) > 0:
            time.sleep(left)
        self.clear()
        os._exit(0)


def _why(ray: Any, task: Any) -> str:
    """Return in one line why a task was lost."""
    try:
        ray.get(task)
    except Exception as error:  # Ray's errors and those of the task
        cause = getattr(error, "cause", None)
        said = f"{type(cause).__name__}: {cause}" if cause else str(error)
        return (said.strip() or type(error).__name__).splitlines()[0][:300]
    return "its task ended early"
