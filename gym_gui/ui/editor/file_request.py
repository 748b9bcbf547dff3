"""What the editor of files is asked, and what is wrong in a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from gym_gui.ui.widgets.message_panels import Action


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a text.

    Attributes:
        line: Its line, from 1; 0: the whole text.
        text: What is wrong, as a sentence.
        word: The word that is; empty: what stands from ``column`` on.
        column: Its column, from 1; 0: the whole line.
    """

    line: int
    text: str
    word: str = ""
    column: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check says.

    Attributes:
        problems: What is wrong, by line.
        ending: The usual ending of such files; empty: whatever the file has.
        colors: Patterns, and what it is that fits one; without any, a lexer of its suffix colors the file.
        templates: Examples to begin with: name and text.
        unchecked: What was not looked at, to be put behind "No mistake is known".
    """

    problems: tuple[Problem, ...] = ()
    ending: str = ""
    colors: tuple[tuple[str, str], ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    unchecked: str = ""


class Offer(NamedTuple):
    """One thing that fits.

    Attributes:
        name: As people read it.
        written: As it is written there.
        about: What is said of it.
        usual: What holds where it is left out; empty for values.
    """

    name: str
    written: str
    about: str = ""
    usual: str = ""


class Offers(NamedTuple):
    """What fits at a place.

    Attributes:
        start: Where what it takes the place of begins.
        end: Where that ends.
        begun: Whether something of it is typed.
        fitting: What fits, the nearest first.
    """

    start: int
    end: int
    begun: bool
    fitting: tuple[Offer, ...]


class FileCheck(Protocol):
    """Says what is wrong with a text; one question at a time."""

    async def ask(self, path: Path | None, written: str) -> Checked:
        """What is wrong. Raises :class:`~gym_gui.core.errors.MosaicError` where that cannot be said."""
        ...

    def offers(self, path: Path | None, written: str, at: int) -> Offers | None:
        """What fits at a place of a text; ``None`` where nothing does, or that is not known."""
        ...

    async def close(self) -> None:
        """Ask no more."""
        ...


@dataclass(frozen=True)
class FileRequest:
    """A request to open a file in the editor.

    Attributes:
        path: The file; empty: there is none yet.
        check: Says what is wrong with its text.
        title: What the file is, in words for the user: ``"Program"``.
        choose: Called with the path of the file each time it has been saved.
        problems: Problems that were found where the file was read, run or played.
        again: What to offer once the file is mended: the text of a button, and what the button does.
    """

    path: str
    check: FileCheck
    title: str = "File"
    choose: Callable[[str], None] | None = None
    problems: Sequence[Problem] = ()
    again: Action | None = None
