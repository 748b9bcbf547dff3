"""How a program that was started has ended: what is known of it, and one sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gym_gui.processes.tree import signal_name


class ChildStatus(StrEnum):
    """What kind of end it was."""

    EXITED = "exited"
    """It ended by itself, with an exit status."""
    KILLED = "killed"
    """A signal ended it, and not for a reason that was given here."""
    ENDED = "ended"
    """It was ended from here, for a reason."""
    TIMED_OUT = "timed_out"
    """It was ended from here because its time was over."""
    LOST = "lost"
    """It runs elsewhere, and the connection to it broke."""
    FAILED_TO_START = "failed_to_start"
    """It never ran."""


@dataclass(frozen=True)
class ChildOutcome:
    """How a program ended.

    Attributes:
        status: What kind of end it was.
        code: Its exit status; ``None`` where a signal ended it, or where it never ran.
        signal: Number of the signal that ended it.
        reason: Why, where that is known: from the code that ended it, from the system that would not start
            it, or from the program itself.
        stderr_tail: The last lines that it printed, oldest first.
        asked: Whether it had been asked to end.
        left_behind: Processes that it had started and that were still there when it ended by itself;
            they have been killed.
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
        """The last line that it printed; empty where it said nothing."""
        return self.stderr_tail[-1] if self.stderr_tail else ""

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with exit status 0, and nothing to complain of."""
        return self.status is ChildStatus.EXITED and self.code == 0 and not self.reason

    @property
    def words(self) -> str:
        """What a person reads, after the program's name: ``was killed (signal 9, SIGKILL)``."""
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
    """The outcome of a program of which only the exit status is known, negative for a signal."""
    if code < 0:
        return ChildOutcome(ChildStatus.KILLED, signal=-code, stderr_tail=stderr_tail)
    return ChildOutcome(ChildStatus.EXITED, code, stderr_tail=stderr_tail)
