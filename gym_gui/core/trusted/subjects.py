"""What a file may name that a person has to allow first: see :mod:`gym_gui.core.trusted.trust`."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import normpath
from typing import Any, Final, Literal, get_args

Kind = Literal["folder", "package", "program", "file", "arguments", "server", "name", "path"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


@dataclass(frozen=True, order=True)
class Subject:
    """What is allowed.

    Attributes:
        kind: ``folder`` of code, installed ``package``, ``program``, ``file`` or folder of data,
            ``arguments`` that the record in a folder passes to its worker, ``server``; ``name``:
            something that a person has named, for one call, and ``path``: the folder of their import
            path where it was found.
        name: Its path, address or name.
        sha256: Fingerprint of code, programs and arguments: other content is another subject.
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
            "arguments": f"the arguments in {self.name}",
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
        # A path that is written another way (…/everyone/../bdi) says nothing more.
        shown = "" if normpath(self.named) == self.subject.name else f"{self.named}, "
        return f"{self.purpose} {shown}{self.subject.words}"


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
