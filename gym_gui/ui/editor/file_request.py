"""Data types of the file editor: requests, problems, check results and completions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from gym_gui.ui.widgets.message_panels import Action


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem in a text, with its position.

    Attributes:
        line: Line number, from 1; 0 for the whole text.
        text: Description of the problem, as a sentence.
        word: The wrong word; ``""`` if all text from ``column`` on is wrong.
        column: Column number, from 1; 0 for the whole line.
    """

    line: int
    text: str
    word: str = ""
    column: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of checking a text.

    Attributes:
        problems: Problems, sorted by line.
        ending: Usual file suffix; ``""`` if the file type has no usual suffix.
        colors: Pairs of a regular expression and its kind of text; if empty, a lexer for the suffix colors
            the file.
        templates: Examples to start from: name and text.
        unchecked: Note about what was not checked, shown after "No errors found".
    """

    problems: tuple[Problem, ...] = ()
    ending: str = ""
    colors: tuple[tuple[str, str], ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    unchecked: str = ""


class Offer(NamedTuple):
    """One completion that the editor offers.

    Attributes:
        name: Name that the user sees.
        written: Text that is inserted.
        about: Description.
        usual: Default value of a key, or ``required``; ``""`` for values.
    """

    name: str
    written: str
    about: str = ""
    usual: str = ""


class Offers(NamedTuple):
    """Completions for a position in a text.

    Attributes:
        start: Start offset of the text that a completion replaces.
        end: End offset of that text.
        begun: Whether the user has typed a part of the word.
        fitting: Completions, the best first.
    """

    start: int
    end: int
    begun: bool
    fitting: tuple[Offer, ...]


class FileCheck(Protocol):
    """Protocol of a check that finds problems in a text; one call at a time."""

    async def ask(self, path: Path | None, written: str) -> Checked:
        """Return the problems of a text.

        Raises:
            MosaicError: The check itself fails.
        """
        ...

    def offers(self, path: Path | None, written: str, at: int) -> Offers | None:
        """Return completions at an offset of a text; ``None`` if there are none or the check offers none."""
        ...

    async def close(self) -> None:
        """Stop the check."""
        ...


@dataclass(frozen=True)
class FileRequest:
    """Request to open a file in the editor.

    Attributes:
        path: Path of the file; ``""`` for a new file.
        check: Check that finds problems in the file's text.
        title: Kind of file as the user reads it, such as ``"Program"``.
        choose: Called with the path of the file each time the file has been saved.
        problems: Problems found by code that read, ran or played the file.
        again: Action to offer after the correction: the text of a button, and its function.
    """

    path: str
    check: FileCheck
    title: str = "File"
    choose: Callable[[str], None] | None = None
    problems: Sequence[Problem] = ()
    again: Action | None = None
