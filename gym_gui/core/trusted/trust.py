"""What a file may name by itself, and what a person has to allow first.

A file (an experiment, a run, a preset, a policy) may name registered environments and installed workers:
those are here because a person installed them. Code of other places, programs, files and servers that it
names are *subjects*: they are used only when the person has allowed them, once (:func:`allow`) or for good
(:mod:`gym_gui.core.trusted.trust_file`). What a person typed, and what was passed from Python, has no
:class:`Origin` file and is allowed by that.

Code that imports or starts something calls :func:`require` first. Processes that act for
another one (session hosts, the look at an environment) call :func:`enforce`: they use only what
they were given in :data:`VARIABLE`, even where no file but a person named the subject.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.subjects import Need, Subject, subject_of
from gym_gui.core.trusted.trust_file import TrustFile

VARIABLE: Final = "MOSAIC_ALLOWED"
"""What a process hands to one that acts for it: JSON of subjects."""


@dataclass(frozen=True)
class Origin:
    """Where a configuration comes from.

    Attributes:
        file: The file that says so, as messages call it; empty: a person, or Python.
        folder: Where modules that it names are looked for first; empty: nowhere.
    """

    file: str = ""
    folder: str = ""


TYPED: Final = Origin()
"""Said by a person, or by Python code."""


class NotAllowedError(UsageError):
    """A file names something that the person has not allowed.

    Attributes:
        file: The file.
        needs: What it names.
    """

    def __init__(self, file: str, needs: Sequence[Need]) -> None:
        what = "; ".join(need.words for need in needs)
        first = needs[0].subject.name
        super().__init__(
            f"{file or 'the configuration'} {what}, which has not been allowed",
            fix=f"Look at it; then add --trust for this once, or allow it for good: mosaic trust add {first}",
        )
        self.file = file
        self.needs = tuple(needs)


class RefusedError(UsageError):
    """A file names something that no file may name."""


# -- this process ---------------------------------------------------------------------------


@dataclass
class _State:
    granted: set[Subject]
    all: bool = False
    enforced: bool = False


_state = _State(set())


def allow(subjects: Iterable[Subject]) -> None:
    """Allow something for as long as this process lives."""
    _state.granted.update(subjects)


def allow_all(wanted: bool = True) -> None:
    """Whether all that files name is allowed (``--trust``)."""
    _state.all = wanted


def begin() -> None:
    """Begin a command: nothing is allowed but what was handed on to it."""
    _state.granted.clear()
    _state.all = False
    receive()


def enforce() -> None:
    """Use only what was handed on to this process, even where no file but a person named the subject."""
    _state.enforced = True
    receive()


def receive() -> None:
    """Allow what was handed on in :data:`VARIABLE`; it is not handed on any further by itself."""
    given = os.environ.pop(VARIABLE, "")
    if given:
        allow(subject_of(row) for row in json.loads(given))


def handed_on(environment: Mapping[str, str], subjects: Iterable[Subject] = ()) -> dict[str, str]:
    """``environment`` of a process that acts for this one.

    Args:
        environment: Its variables.
        subjects: What it needs, from :func:`vouch`; what was allowed here goes with it.
    """
    passed = sorted({*_state.granted, *subjects})
    return {**environment, VARIABLE: json.dumps([asdict(subject) for subject in passed])}


def granted() -> frozenset[Subject]:
    """What has been allowed in this process."""
    return frozenset(_state.granted)


def is_enforced() -> bool:
    """Whether this process acts for another one."""
    return _state.enforced


def is_asked(origin: Origin) -> bool:
    """Whether something that comes from there has to be allowed."""
    return bool(origin.file) or _state.enforced


def is_allowed(subject: Subject) -> bool:
    """Whether a subject may be used here."""
    return _is_among(subject, _known())


def _known() -> set[Subject]:
    return _state.granted if _state.enforced else {*_state.granted, *TrustFile().subjects()}


def _is_among(subject: Subject, known: Set[Subject]) -> bool:
    if subject in known:
        return True
    return subject.kind == "file" and any(_holds(each, subject.name) for each in known)


def _holds(place: Subject, path: str) -> bool:
    return place.kind in ("folder", "file") and Path(path).is_relative_to(place.name)


def require(needs: Sequence[Need], origin: Origin) -> None:
    """Refuse what a file names and the user has not allowed.

    Args:
        needs: The subjects that are named.
        origin: Where they are named.

    Raises:
        NotAllowedError: With all subjects that are not allowed.
    """
    if not needs or not is_asked(origin):
        return
    known = _known()
    missing = [need for need in needs if not _is_among(need.subject, known)]
    if missing and _state.all and not _state.enforced:
        allow(need.subject for need in missing)
    elif missing:
        raise NotAllowedError(origin.file, missing)
