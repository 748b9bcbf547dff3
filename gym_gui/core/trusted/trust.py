"""Decides what a file may use without permission, and what the user must allow first.

A file (an experiment, a run, a preset, a policy) may name registered environments and installed workers,
because the user installed them. Code in other places, programs, files and servers are *subjects*: they are
used only if the user has allowed them, once (:func:`allow`) or permanently
(:mod:`gym_gui.core.trusted.trust_file`). A name that the user typed, or that was passed from Python, has no
:class:`Origin` file and is allowed for that reason.

Code that imports or starts something calls :func:`require` first. A process that acts for another process
(session hosts, the inspection of an environment) calls :func:`enforce`: it uses only subjects that it
received in :data:`VARIABLE`, even if a person and no file named the subject.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.subjects import RequiredSubject, Subject, subject_of
from gym_gui.core.trusted.trust_file import TrustFile

VARIABLE: Final = "MOSAIC_ALLOWED"
"""Environment variable in which a process passes allowed subjects, as JSON, to a process that it starts."""


@dataclass(frozen=True)
class Origin:
    """The source of a configuration.

    Attributes:
        file: Name of the source file in messages; empty: a person, or Python code.
        folder: Folder in which modules that it names are looked up first; empty: none.
    """

    file: str = ""
    folder: str = ""


TYPED: Final = Origin()
"""Origin of a configuration that a person typed or Python code passed."""


class NotAllowedError(UsageError):
    """Error for a file that names something that the user has not allowed.

    Attributes:
        file: The file.
        needs: The subjects that the user has not allowed.
    """

    def __init__(self, file: str, needs: Sequence[RequiredSubject]) -> None:
        what = "; ".join(need.words for need in needs)
        first = needs[0].subject.name
        super().__init__(
            f"{file or 'the configuration'} {what}, which has not been allowed",
            fix=f"Check it; then allow it once with --trust, or permanently: mosaic trust add {first}",
        )
        self.file = file
        self.needs = tuple(needs)


class RefusedError(UsageError):
    """Error for a file that names something that no file may name."""


# -- this process ---------------------------------------------------------------------------


@dataclass
class _State:
    granted: set[Subject]
    all: bool = False
    enforced: bool = False


_state = _State(set())


def allow(subjects: Iterable[Subject]) -> None:
    """Allow subjects (such as code or a server) for the lifetime of this process."""
    _state.granted.update(subjects)


def allow_all(wanted: bool = True) -> None:
    """Set whether everything that files name is allowed (``--trust``)."""
    _state.all = wanted


def begin() -> None:
    """Begin a command: allow nothing except the subjects passed to this process."""
    _state.granted.clear()
    _state.all = False
    receive()


def enforce() -> None:
    """Refuse all subjects that were not passed to this process, even if the user and no file named them."""
    _state.enforced = True
    receive()


def receive() -> None:
    """Allow the subjects in :data:`VARIABLE`, and remove the variable so that children do not inherit it."""
    given = os.environ.pop(VARIABLE, "")
    if given:
        allow(subject_of(row) for row in json.loads(given))


def environment_with_permissions(
    environment: Mapping[str, str], subjects: Iterable[Subject] = ()
) -> dict[str, str]:
    """Return the environment variables for a process that acts for this one, with the allowed subjects.

    Args:
        environment: Variables of the process.
        subjects: Subjects from :func:`checked_permissions`; subjects allowed here are added.
    """
    passed = sorted({*_state.granted, *subjects})
    return {**environment, VARIABLE: json.dumps([asdict(subject) for subject in passed])}


def granted() -> frozenset[Subject]:
    """Return the subjects (such as code or a server) that are allowed in this process."""
    return frozenset(_state.granted)


def is_enforced() -> bool:
    """Return whether this process acts for another one."""
    return _state.enforced


def is_asked(origin: Origin) -> bool:
    """Return whether subjects of this origin must be allowed."""
    return bool(origin.file) or _state.enforced


def is_allowed(subject: Subject) -> bool:
    """Return whether a subject, such as code or a server, may be used in this process."""
    return _is_among(subject, _known())


def _known() -> set[Subject]:
    return _state.granted if _state.enforced else {*_state.granted, *TrustFile().subjects()}


def _is_among(subject: Subject, known: Set[Subject]) -> bool:
    if subject in known:
        return True
    return subject.kind == "file" and any(_holds(each, subject.name) for each in known)


def _holds(place: Subject, path: str) -> bool:
    return place.kind in ("folder", "file") and Path(path).is_relative_to(place.name)


def require(needs: Sequence[RequiredSubject], origin: Origin) -> None:
    """Refuse subjects (such as code or a server) that a file names and the user has not allowed.

    Args:
        needs: The named subjects.
        origin: Source of the configuration that names them.

    Raises:
        NotAllowedError: Subjects are not allowed; the error contains all of them.
    """
    if not needs or not is_asked(origin):
        return
    known = _known()
    missing = [need for need in needs if not _is_among(need.subject, known)]
    if missing and _state.all and not _state.enforced:
        allow(need.subject for need in missing)
    elif missing:
        raise NotAllowedError(origin.file, missing)
