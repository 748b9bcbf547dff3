"""Error classes. Each error says what happened and, if known, what to do about it.

``UsageError`` is an error that a person can fix (exit status 2, one line, no traceback). ``EpisodeError``
ends one episode as ``failed`` and leaves everything else running.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple


class FilePosition(NamedTuple):
    """Position of an error in a user's file.

    Attributes:
        file: The file; while it is read, the name that messages use for it.
        line: Line, from 1; 0: unknown.
        column: Column, from 1; 0: the whole line.
    """

    file: str
    line: int = 0
    column: int = 0


def with_capital(words: str) -> str:
    """Return text with a capital first letter, unless it begins with a name ("green_0 answered …")."""
    first = words.split(maxsplit=1)[:1]
    return words[:1].upper() + words[1:] if first and first[0].strip(",.:;").isalpha() else words


def without_capital(words: str) -> str:
    """Return text with a small first letter, unless it begins with a name ("LQR is …")."""
    first = words.split(maxsplit=1)[:1]
    plain = bool(first) and first[0].strip(",.:;").isalpha() and first[0][1:].islower()
    return words[:1].lower() + words[1:] if plain or words[1:2].isspace() else words


class MosaicError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What happened, as a sentence without a trailing full stop.
        fix: What to do about it, or an empty string.
        place: Place of the error in a user's file.
    """

    def __init__(self, message: str, *, fix: str = "", place: FilePosition | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.place = place

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else self.message

    @property
    def sentence(self) -> str:
        """Message and fix, with a capital first letter."""
        return with_capital(str(self))


class UsageError(MosaicError):
    """An error that the user can fix: a wrong name, a damaged file, a missing package."""


class UnknownNameError(UsageError, KeyError):
    """A name that is not among the known names; the message suggests the nearest one.

    Args:
        kind: What was looked up, for example ``"worker"``.
        name: The name that was not found.
        known: All valid names.
        hint: Fix to show if no known name is near.
        where: Place at which the name was used.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, hint: str = "", where: str = ""
    ) -> None:
        choices = sorted(set(known))
        near = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
        if near:
            fix = f"Did you mean {near[0]!r}?"
        elif hint:
            fix = hint
        elif choices:
            shown = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
            fix = f"Known: {shown}"
        else:
            fix = ""
        super().__init__(f"{where}{': ' * bool(where)}unknown {kind} {name!r}", fix=fix)
        self.name = name


class MissingDependencyError(UsageError):
    """Error for a required package that is not installed; it contains the install command."""

    def __init__(self, what: str, install: str) -> None:
        super().__init__(f"{what} is not installed", fix=f"Run: {install}")
        self.install = install


class QueueFullError(MosaicError):
    """Error for a queue that is full."""


class ExperimentError(UsageError):
    """An experiment file or configuration that cannot be run as written."""


class CheckpointError(UsageError):
    """A policy file that is missing, damaged, unsafe or made for another environment."""


class RunFormatError(UsageError):
    """A run folder that cannot be read as written.

    Args:
        where: File, and line if known.
        problem: What is wrong.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where


class SpaceError(MosaicError):
    """A space, or a value of a space, that cannot be described or sent."""


class ProtocolError(MosaicError):
    """Error for data that the other end of a connection sent and the protocol does not allow."""


class WorkerLaunchError(MosaicError):
    """Error for a worker process that could not be started or did not become ready."""


class KilledWhileStartingError(WorkerLaunchError):
    """Error for a process that was killed from outside while it started; another attempt may succeed."""


class SlotRefusedError(UsageError):
    """Error for a worker that checked its slot (checkpoint, spaces, settings) and cannot play it."""


class EpisodeError(MosaicError):
    """An error that ends its episode as ``failed``."""


class EnvironmentFailure(EpisodeError):
    """Error for an environment that raised an error or returned a value outside its own spaces."""


class EnvironmentLostError(EnvironmentFailure):
    """Error for a lost environment process or machine; another environment can play the episode again."""


class ObservationError(EnvironmentFailure):
    """An observation that is not finite or does not fit its space."""


class PolicyFailure(EpisodeError):
    """Error for a policy that raised an error, gave an unusable action, or did not answer in time."""
