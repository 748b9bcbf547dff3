"""Subjects: things that a file may name and the user must allow; see :mod:`gym_gui.core.trusted.trust`."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import normpath
from typing import Any, Final, Literal, get_args

Kind = Literal["folder", "package", "program", "file", "arguments", "server", "name", "path"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


@dataclass(frozen=True, order=True)
class Subject:
    """Code, a program, a file or a server that a user can allow.

    Attributes:
        kind: ``folder`` of code, installed ``package``, ``program``, ``file`` or folder of data,
            ``arguments`` that the record in a folder passes to its worker, ``server``; ``name``: something
            that the user has named, for one call, and ``path``: the folder of the import path in which it
            was found.
        name: Path, address or name of the subject.
        sha256: Fingerprint of code, programs and arguments; other content is another subject.
    """

    kind: Kind
    name: str
    sha256: str = ""

    @property
    def words(self) -> str:
        """The subject in words, for a sentence."""
        return {
            "folder": f"code in {self.name}",
            "package": f"the package in {self.name}",
            "program": f"the program {self.name}",
            "file": f"the path {self.name}",
            "arguments": f"the arguments in {self.name}",
            "server": f"the server {self.name}",
        }.get(self.kind, self.name)


@dataclass(frozen=True)
class RequiredSubject:
    """A subject that a file names and that the user must allow.

    Attributes:
        subject: The subject.
        named: The subject as the file writes it: ``maze:make``.
        purpose: What the file does with the subject: ``imports``, ``starts``.
    """

    subject: Subject
    named: str
    purpose: str

    @property
    def words(self) -> str:
        """What the file does with the subject, as the rest of a sentence that begins with the file's name."""
        # Another spelling of the same path (…/everyone/../bdi) adds nothing.
        shown = "" if normpath(self.named) == self.subject.name else f"{self.named}, "
        return f"{self.purpose} {shown}{self.subject.words}"


def subject_of(row: Any) -> Subject:
    """Return a subject from its JSON data.

    Raises:
        ValueError: The data is not a subject.
    """
    try:
        kind, name, sha = row["kind"], row["name"], row.get("sha256", "")
    except (TypeError, KeyError, AttributeError):
        raise ValueError("is not a subject") from None
    if kind not in KINDS or not isinstance(name, str) or not isinstance(sha, str):
        raise ValueError("is not a subject")
    return Subject(kind, name, sha)
