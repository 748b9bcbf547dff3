"""What an operator on another host costs beside one here, read by the window that is measured."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

NAME = "one"
"""Of the host."""


class Cost:
    """What an operator here and one there cost from now on.

    Args:
        here: Process id of the session host on this machine.
        sshd: That of the server, of which everything there is a child.
    """

    def __init__(self, here: int, sshd: int) -> None:
        self._here, self._sshd = here, sshd
        self._from = self._now()

    def _now(self) -> dict[str, float]:
        now = time.monotonic()
        there = _tree(self._sshd)
        keeper = next(each for each in there if "session-host" in " ".join(each.cmdline()))
        played = [each for child in keeper.children() if _is_host(child) for each in _tree(child.pid)]
        received, sent = _wire(there)
        return {
            "wall_s": now,
            "here_cpu_s": _cpu_s(_tree(self._here)),
            "there_cpu_s": _cpu_s(played),
            "way_cpu_s": _cpu_s(each for each in there if each not in played),
            "ssh_cpu_s": _cpu_s(each for each in _tree(os.getpid()) if each.name() == "ssh"),
            "received_bytes": received,
            "sent_bytes": sent,
        }

    def read(self) -> dict[str, float]:
        """Processor seconds of each part, and bytes over the connection of ssh, as this machine sees them."""
        return {name: value - self._from[name] for name, value in self._now().items()}


def _tree(pid: int) -> list[Any]:
    import psutil

    first: Any = psutil.Process(pid)
    return [first, *first.children(recursive=True)]


def _is_host(process: Any) -> bool:
    return "gym_gui.host" in process.cmdline()


def _cpu_s(processes: Iterable[Any]) -> float:
    import psutil

    total = 0.0
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            used = each.cpu_times()
            total += used.user + used.system
    return total


def _wire(there: Iterable[Any]) -> tuple[int, int]:
    """Bytes received from the host and sent to it, by the ends of its connections that its sshd holds."""
    pids = {each.pid for each in there}
    listed = subprocess.run(["ss", "-tinpHO"], capture_output=True, text=True, check=True).stdout
    received = sent = 0
    for line in listed.splitlines():
        if pids & {int(pid) for pid in re.findall(r"pid=(\d+)", line)} and "ESTAB" in line:
            received += _count(line, "bytes_sent")
            sent += _count(line, "bytes_received")
    return received, sent


def _count(line: str, name: str) -> int:
    found = re.search(rf"\b{name}:(\d+)", line)
    return int(found[1]) if found else 0
