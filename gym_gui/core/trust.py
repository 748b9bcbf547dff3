"""What a file may name by itself, and what a person has to allow first.

A file (an experiment, a run, a preset, a policy) may name registered environments and
installed workers: those are here because a person installed them. Code of other places,
programs, files and servers that it names are *subjects*: they are used only when the person
has allowed them, once (:func:`allow`) or for good (:mod:`gym_gui.core.trust_file`). What a person typed,
and what was passed from Python, has no :class:`Origin` file and is allowed by that.

:func:`require` is asked where something is imported or started. Processes that act for
another one (session hosts, the look at an environment) call :func:`enforce`: they use what
they were given in :data:`VARIABLE` and nothing else, whoever names it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from gym_gui.core.errors import UsageError

VARIABLE: Final = "MOSAIC_ALLOWED"
"""What a process hands to one that acts for it: JSON of subjects."""

Kind = Literal["folder", "package", "program", "file", "server", "name", "path"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


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


@dataclass(frozen=True, order=True)
class Subject:
    """What is allowed.

    Attributes:
        kind: ``folder`` of code, installed ``package``, ``program``, ``file`` or folder of data,
            ``server``; ``name``: something that a person has named, for one call, and ``path``: the
            folder of their import path where it was found.
        name: Its path, address or name.
        sha256: Fingerprint of code and programs: other content is another subject.
    """

    kind: Kind
    name: str
    sha256: str = ""

    @property
    def words(self) -> str:
        """What it is, for a sentence."""
        return {
            "folder": f"code in {self.name}",
            "package": f"the package in {self.name}",
            "program": f"the program {self.name}",
            "file": f"the path {self.name}",
            "server": f"the server {self.name}",
        }.get(self.kind, self.name)


@dataclass(frozen=True)
class Need:
    """Something that a file names and a person has to allow.

    Attributes:
        subject: What.
        named: As the file writes it: ``maze:make``.
        purpose: What would happen: ``imports``, ``starts``.
    """

    subject: Subject
    named: str
    purpose: str

    @property
    def words(self) -> str:
        """What it would do, as the rest of a sentence that begins with the file's name."""
        shown = "" if self.named == self.subject.name else f"{self.named}, "
        return f"{self.purpose} {shown}{self.subject.words}"


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
    """Use only what was handed on to this process, whoever names it."""
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
    known = _state.granted if _state.enforced else {*_state.granted, *_remembered()}
    if subject in known:
        return True
    return subject.kind == "file" and any(_holds(each, subject.name) for each in known)


def _remembered() -> list[Subject]:
    from gym_gui.core.trust_file import TrustFile  # which is made of subjects

    return TrustFile().subjects()


def _holds(place: Subject, path: str) -> bool:
    return place.kind in ("folder", "file") and Path(path).is_relative_to(place.name)


def require(needs: Sequence[Need], origin: Origin) -> None:
    """Refuse what a file names and nobody has allowed.

    Args:
        needs: What is named.
        origin: Who names it.

    Raises:
        NotAllowedError: With all that is missing.
    """
    if not is_asked(origin):
        return
    missing = [need for need in needs if not is_allowed(need.subject)]
    if missing and _state.all and not _state.enforced:
        allow(need.subject for need in missing)
    elif missing:
        raise NotAllowedError(origin.file, missing)


def subject_of(row: Any) -> Subject:
    """A subject from its JSON.

    Raises:
        ValueError: It is none.
    """
    try:
        kind, name, sha = row["kind"], row["name"], row.get("sha256", "")
    except (TypeError, KeyError, AttributeError):
        raise ValueError("is no subject") from None
    if kind not in KINDS or not isinstance(name, str) or not isinstance(sha, str):
        raise ValueError("is no subject")
    return Subject(kind, name, sha)
