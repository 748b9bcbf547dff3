"""Data types of the file editor: requests, problems, check results and completions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from gym_gui.ui.widgets.message_panels import Action


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a text.

    Attributes:
        line: Line, from 1; 0 for the whole text.
        text: Description of the problem, as a sentence.
        word: The wrong word; empty if all text from ``column`` on is wrong.
        column: Column, from 1; 0 for the whole line.
    """

    line: int
    text: str
    word: str = ""
    column: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of a check.

    Attributes:
        problems: Problems, by line.
        ending: Usual suffix of such files; empty if any suffix is usual.
        colors: Patterns, each with its kind of text; if empty, a lexer for the suffix colors the file.
        templates: Examples to start from: name and text.
        unchecked: Note about what was not checked, shown after "No mistake is known".
    """

    problems: tuple[Problem, ...] = ()
    ending: str = ""
    colors: tuple[tuple[str, str], ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    unchecked: str = ""


class Offer(NamedTuple):
    """One completion.

    Attributes:
        name: Name that people see.
        written: Text that is inserted.
        about: Description.
        usual: Default value; empty for values.
    """

    name: str
    written: str
    about: str = ""
    usual: str = ""


class Offers(NamedTuple):
    """Completions for a place in a text.

    Attributes:
        start: Start offset of the text that a completion replaces.
        end: End offset of that text.
        begun: Whether a part of the word is typed.
        fitting: Completions, the best first.
    """

    start: int
    end: int
    begun: bool
    fitting: tuple[Offer, ...]


class FileCheck(Protocol):
    """Finds problems in a text; it answers one question at a time."""

    async def ask(self, path: Path | None, written: str) -> Checked:
        """Return the problems. Raises :class:`~gym_gui.core.errors.MosaicError` if the check fails."""
        ...

    def offers(self, path: Path | None, written: str, at: int) -> Offers | None:
        """Return completions at an offset of a text; ``None`` if there are none or the check knows none."""
        ...

    async def close(self) -> None:
        """Stop the check."""
        ...


@dataclass(frozen=True)
class FileRequest:
    """A request to open a file in the editor.

    Attributes:
        path: The file; empty: there is none yet.
        check: Check that finds problems in the file's text.
        title: Kind of file, in words for the user: ``"Program"``.
        choose: Called with the path of the file each time it has been saved.
        problems: Problems found by code that read, ran or played the file.
        again: Action to offer once the file is corrected: the text of a button, and its function.
    """

    path: str
    check: FileCheck
    title: str = "File"
    choose: Callable[[str], None] | None = None
    problems: Sequence[Problem] = ()
    again: Action | None = None
