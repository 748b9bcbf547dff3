"""What the editor of files is asked, and what is wrong in a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gym_gui.core.errors import Place
    from gym_gui.workers.definition import WorkerTypeDefinition
    from gym_gui.workers.settings_schema import Setting


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
        colours: Patterns, and what it is that fits one; a lexer of its suffix colours the file where there are none.
        templates: Examples to begin with: name and text.
        unchecked: What was not looked at, to be put behind "No mistake is known".
    """

    problems: tuple[Problem, ...] = ()
    ending: str = ""
    colours: tuple[tuple[str, str], ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    unchecked: str = ""


class FileCheck(Protocol):
    """Says what is wrong with a text; one question at a time."""

    async def ask(self, path: Path | None, text: str) -> Checked:
        """What is wrong. Raises :class:`~gym_gui.core.errors.MosaicError` where that cannot be said."""
        ...

    async def close(self) -> None:
        """Ask no more."""
        ...


@dataclass(frozen=True)
class FileRequest:
    """Somebody wants to edit a file.

    Attributes:
        path: The file; empty: there is none yet.
        check: Says what is wrong with its text.
        title: What it is, for people: ``"Program"``.
        choose: Takes the path of the file whenever it was saved.
        problems: What somebody has said is wrong with it, who had it read, run or played.
        again: What is done once it is mended: words for a button, and what it does.
    """

    path: str
    check: FileCheck
    title: str = "File"
    choose: Callable[[str], None] | None = None
    problems: Sequence[Problem] = ()
    again: tuple[str, Callable[[], object]] | None = None


def for_setting(
    worker: WorkerTypeDefinition,
    setting: Setting,
    path: str,
    actions: Sequence[str],
    choose: Callable[[str], None] | None,
) -> FileRequest:
    """The file that a setting names; the worker's module or command checks it.

    Args:
        worker: Whose.
        setting: The setting.
        path: The file; empty: there is none yet.
        actions: Words of the slot's actions, where they are known.
        choose: Takes the file that is to be used.
    """
    from gym_gui.ui.editor.checks import WorkerCheck

    return FileRequest(path, WorkerCheck(worker, setting, tuple(actions)), setting.label, choose)


def at_place(
    place: Place,
    sentence: str = "",
    *,
    experiment: bool = False,
    again: tuple[str, Callable[[], object]] | None = None,
) -> FileRequest:
    """A file, with what is wrong at its line.

    Args:
        place: File, line and column.
        sentence: What is wrong there.
        experiment: Whether it is an experiment file; a data file says so itself.
        again: What is done once it is mended.
    """
    from gym_gui.ui.editor.checks import check_of

    said = (Problem(place.line, sentence, column=place.column),) if sentence else ()
    return FileRequest(
        place.file, check_of(Path(place.file), experiment=experiment), "File", None, said, again
    )
