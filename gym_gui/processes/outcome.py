"""Describes how a started program has ended, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gym_gui.processes.tree import signal_name


class ChildStatus(StrEnum):
    """Way in which a program ended."""

    EXITED = "exited"
    """The program ended by itself, with an exit status."""
    KILLED = "killed"
    """A signal ended the program, and this program did not send it."""
    ENDED = "ended"
    """This program ended the other one, for a reason."""
    TIMED_OUT = "timed_out"
    """This program ended the other one because its time was over."""
    LOST = "lost"
    """The program runs on another machine, and the connection to it broke."""
    FAILED_TO_START = "failed_to_start"
    """The program never ran."""


@dataclass(frozen=True)
class ChildOutcome:
    """Description of how a program ended.

    Attributes:
        status: Way in which the program ended.
        code: Exit status; ``None`` if a signal ended the program, or if it never ran.
        signal: Number of the signal that ended the program, or ``None``.
        reason: Why the program ended, from the code that ended it, from the system that did not start it, or
            from the program itself; ``""`` if unknown.
        stderr_tail: Last lines that the program printed, oldest first.
        asked: Whether MOSAIC had requested the program's end.
        left_behind: Ids of processes that the program had started and that still ran when it ended by
            itself; they have been killed.
    """

    status: ChildStatus
    code: int | None = None
    signal: int | None = None
    reason: str = ""
    stderr_tail: tuple[str, ...] = ()
    asked: bool = False
    left_behind: tuple[int, ...] = ()

    @property
    def last_line(self) -> str:
        """Last line that the program printed; ``""`` if it printed none."""
        return self.stderr_tail[-1] if self.stderr_tail else ""

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with exit status 0 and reported no failure."""
        return self.status is ChildStatus.EXITED and self.code == 0 and not self.reason

    @property
    def words(self) -> str:
        """Text that follows the program's name, such as ``was killed (signal 9, SIGKILL)``."""
        match self.status:
            case ChildStatus.FAILED_TO_START:
                return f"could not be started: {self.reason}"
            case ChildStatus.KILLED:
                return f"was killed ({signal_name(self.signal or 0)})"
            case ChildStatus.ENDED:
                return f"was ended: {self.reason}" if self.reason else "was ended"
            case ChildStatus.TIMED_OUT:
                return self.reason or "did not end in time"
            case ChildStatus.LOST:
                return f"was lost: {self.reason}"
            case ChildStatus.EXITED if self.reason:
                return f"failed: {self.reason}"
            case ChildStatus.EXITED if self.code is None:
                return "ended"
            case ChildStatus.EXITED:
                said = f": {self.last_line}" if self.last_line and self.code else ""
                return f"ended with exit status {self.code}{said}"


def from_code(code: int, stderr_tail: tuple[str, ...] = ()) -> ChildOutcome:
    """Return the outcome of a program from its exit status, which is negative if a signal ended it."""
    if code < 0:
        return ChildOutcome(ChildStatus.KILLED, signal=-code, stderr_tail=stderr_tail)
    return ChildOutcome(ChildStatus.EXITED, code, stderr_tail=stderr_tail)
