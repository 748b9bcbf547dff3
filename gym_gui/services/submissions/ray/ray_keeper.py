"""What keeps a submission on a Ray cluster: an actor that begins tries of shards, and keeps what they play.

It is detached, without a core, and beside the cluster's own head. It owns the tasks, so they go on whether a
process follows them or none. Run folders come to it as files, so nodes need no common disk.
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
"""Notes that are taken in a second."""


class Keeper:
    """Keeps one submission. Tries are pairs of a shard's number and the try's.

    Args:
        name: The submission's name.
        folder: Folder for submissions, from the home or absolute.
        kept_s: Seconds that it stays when nothing is played and no process asks for it.
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
        """What holders of leases were given and have not fetched."""
        self._is_used = False
        self._handed: set[int] = set()
        self._grown = GrownFiles(self._place / "grown")
        self._without: dict[str, str] = {}
        self._asked = time.monotonic()
        threading.Thread(target=self._leave, args=(kept_s,), daemon=True).start()

    def use(self, plan: Mapping[str, Any]) -> bool:
        """Play by this plan from now on; returns whether what nodes are sent is here."""
        self._plan = plan
        return (self._place / bundle_name(plan)).exists()

    def is_new(self) -> bool:
        """Whether this is the first call: an earlier keeper is lost, or there was none."""
        asked, self._is_used = self._is_used, True
        return not asked

    def put(self, name: str, offset: int, data: bytes) -> None:
        """Take a part of a file; one without data is its end."""
        new = self._place / f"{name}.new"
        if not data:
            new.rename(self._place / name)
            self._remove_earlier(*name.split("-"))
            return
        with new.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(data)

    def get(self, name: str, offset: int) -> bytes:
        """Hand on a part of a file; nothing at its end."""
        with (self._place / name).open("rb") as file:
            file.seek(offset)
            return file.read(CHUNK)

    def begin(self, tries: Sequence[tuple[int, int]]) -> None:
        """Begin tries of shards, each once."""
        for number, attempt in tries:
            if (number, attempt) not in self._tries:
                self._latest[number] = attempt
                self._hand_in(number, attempt)

    def note(self, number: int, attempt: int, told: Mapping[str, Any]) -> tuple[str, float]:
        """Take down how a try stands; returns what it is to do, and in how many seconds to tell more."""
        self._asked = time.monotonic()
        if not self._is_followed(number, attempt):
            return "KILL", 1.0
        self._tries[number, attempt] |= told
        playing = sum(row["state"] == PLAYING for row in self._tries.values())
        return self._orders.get((number, attempt), ""), max(1.0, playing / _EACH_S)

    def claim(self, number: int, attempt: int, holder: str, said: str, after: str) -> str:
        """Take down where a try stands with its lease; returns what it was given since, as a line.

        Args:
            number: The shard's.
            attempt: The try's.
            holder: Who it is, among all that play it or have.
            said: Its claim, as a line.
            after: The holder whose record it began with, to the end of that.
        """
        if not self._is_followed(number, attempt):
            return ""
        self._tries[number, attempt] |= {"claim": said, "holder": holder, "after": after}
        return self._leases.pop(holder, "")

    def tell(self, lines: Mapping[str, str]) -> None:
        """Keep what holders of leases are given, as a line for each, until they fetch it."""
        self._leases = dict(lines)

    def look(self, tries: Sequence[tuple[int, int]]) -> tuple[list[Any], Mapping[str, str]]:
        """How tries stand, and what the check has said on nodes that are left out."""
        self._asked = time.monotonic()
        self._find_lost()
        wanted = {number for number, _ in tries}
        for number in self._handed - wanted:
            # Who follows it has written down that it is there.
            for file in self._place.glob(f"{number}-*"):
                file.unlink()
            self._grown.forget(number)
        self._handed &= wanted
        unknown: dict[str, Any] = {"state": LOST, "why": "nothing is known of it there any more"}
        rows = [(number, attempt, self._tries.get((number, attempt), unknown)) for number, attempt in tries]
        return rows, self._without

    def grow(self, number: int, attempt: int, start: str, more: Mapping[str, Any], heard: int) -> bytes:
        """Take what a training's files have grown by; returns wishes (:meth:`.GrownFiles.grow`)."""
        if self._latest.get(number) != attempt:
            return b""
        return self._grown.grow(number, attempt, start, more, heard)

    def standing(self, number: int) -> dict[str, Any]:
        """What was told of a training (:meth:`.GrownFiles.standing`)."""
        return self._grown.standing(number)

    def exchange(self, known: Mapping[int, tuple[str, tuple[int, ...], bytes]]) -> Mapping[int, Any]:
        """Take wishes, and hand on what files of trainings have grown by (:meth:`.GrownFiles.exchange`)."""
        return self._grown.exchange(known)

    def saved(self, number: int) -> str:
        """The file with what was played of a shard; empty: there is none."""
        found = [file.name for file in self._place.glob(f"{number}-*") if file.suffix != ".new"]
        return max(found, key=lambda name: int(name.partition("-")[2]), default="")

    def handed(self, number: int) -> None:
        """A shard was fetched: it need not be kept once it is not asked for any more."""
        self._handed.add(number)

    def leave_out(self, nodes: Mapping[str, str]) -> None:
        """Play nothing on these nodes; by id what the check has said there."""
        self._without.update(nodes)

    def stop(self, tries: Sequence[tuple[int, int]], at_once: bool) -> None:
        """Ask tries to end, or end them."""
        ray: Any = importlib.import_module("ray")
        for number, attempt in tries:
            self._orders[number, attempt] = "KILL" if at_once else "TERM"
            if self._tries.get((number, attempt), {}).get("state") == WAITING:
                ray.cancel(self._tasks[number, attempt])

    def clear(self) -> None:
        """Remove what is kept."""
        shutil.rmtree(self._base, ignore_errors=True)

    def _remove_earlier(self, number: str, attempt: str) -> None:
        """Remove what earlier tries of a shard have brought: the last one has taken it up."""
        for file in self._place.glob(f"{number}-*"):
            earlier = file.name.partition("-")[2]
            if earlier.isdigit() and attempt.isdigit() and int(earlier) < int(attempt):
                file.unlink()

    def _is_followed(self, number: int, attempt: int) -> bool:
        """Whether a try was not given up as lost, whatever it tells later."""
        lost = self._tries.get((number, attempt), {}).get("state") == LOST
        return self._latest.get(number) == attempt and not lost

    def _hand_in(self, number: int, attempt: int) -> None:
        ray: Any = importlib.import_module("ray")
        # Lost ones are begun again by who follows them, who counts them.
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
                self._hand_in(*key)
            elif row["state"] != ENDED:
                row |= {"state": LOST, "why": _why(ray, task)}

    def _leave(self, kept_s: float) -> None:
        while (left := self._asked + kept_s - time.monotonic()) > 0:
            time.sleep(left)
        self.clear()
        os._exit(0)


def _why(ray: Any, task: Any) -> str:
    """Why a task was lost, in a line."""
    try:
        ray.get(task)
    except Exception as error:  # what Ray raises, and what the task did
        cause = getattr(error, "cause", None)
        said = f"{type(cause).__name__}: {cause}" if cause else str(error)
        return (said.strip() or type(error).__name__).splitlines()[0][:300]
    return "its task ended early"
