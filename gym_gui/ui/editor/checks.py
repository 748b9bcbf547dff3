"""Checks that find errors in a text with a worker's module, a data format's parser or Python's parser."""

from __future__ import annotations

import ast
import asyncio
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import FilePosition, MosaicError, UsageError
from gym_gui.core.record_fields import count, items, mapping, text
from gym_gui.core.toml_positions import place_in_toml
from gym_gui.envs.families import own_servers
from gym_gui.services.module_query import Conversation
from gym_gui.ui.editor.completion import offers_in_experiment, offers_in_manifest
from gym_gui.ui.editor.file_request import Checked, FileCheck, FileRequest, Offers, Problem
from gym_gui.ui.widgets.message_panels import Action
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import parse_manifest
from gym_gui.workers.settings.settings_schema import Setting

Find = Callable[[Path, str], "MosaicError | None"]
"""Function that returns the first error in a file's text, with its line and column, or ``None``."""
Offer = Callable[[str, str, int], "Offers | None"]
"""Function that returns completions for a file suffix, a text and the cursor's offset, or ``None``."""


class WorkerCheck:
    """Check that runs a worker's module or command, so that the window does not depend on the file's
    language.

    Args:
        worker: Worker type that reads the file.
        setting: Setting that names the module or the command.
        actions: Names of the slot's actions; empty if unknown.
    """

    def __init__(self, worker: WorkerTypeDefinition, setting: Setting, actions: tuple[str, ...]) -> None:
        self.worker, self.setting, self.actions = worker, setting, actions
        self._conversation = Conversation(worker, setting)

    async def ask(self, path: Path | None, written: str) -> Checked:
        """Check a text in a process of the worker's module."""
        question: dict[str, Any] = {"name": path.name if path is not None else "", "text": written}
        if path is not None:
            question["folder"] = str(path.parent)
        if self.actions:
            question["actions"] = list(self.actions)
        said = await self._conversation.ask(question)
        rules = [items(each) or () for each in items(said.get("colors")) or ()]
        templates = [mapping(each) or {} for each in items(said.get("templates")) or ()]
        return Checked(
            tuple(_problems_of(said)),
            text(said.get("ending")) or ".txt",
            tuple((str(rule[0]), str(rule[1])) for rule in rules if len(rule) == 2),
            tuple((text(t.get("name")) or "Example", text(t.get("text")) or "") for t in templates),
            "" if self.actions else "actions cannot be checked until the environment is known",
        )

    def offers(self, path: Path | None, written: str, at: int) -> Offers | None:
        """Return ``None``, because a worker's module offers no completions."""
        return None

    async def close(self) -> None:
        """End the process of the worker's module."""
        await self._conversation.close()


class TextCheck:
    """Check that parses a text in a thread, as the engine does, without running it.

    Args:
        find: Returns the first error in a text, or ``None``.
        unchecked: Note about errors that the check cannot find.
        offer: Returns completions for a suffix, a text and an offset.
    """

    def __init__(self, find: Find, unchecked: str = "", offer: Offer | None = None) -> None:
        self._find, self._unchecked, self._offer = find, unchecked, offer

    async def ask(self, path: Path | None, written: str) -> Checked:
        """Check a text in a thread."""
        error = await asyncio.to_thread(self._find, path or Path("file"), written)
        problems = () if error is None else (problem_of(error),)
        return Checked(problems, unchecked=self._unchecked)

    def offers(self, path: Path | None, written: str, at: int) -> Offers | None:
        """Return completions at an offset of a text; ``None`` if there are none."""
        return self._offer(path.suffix, written, at) if self._offer is not None and path is not None else None

    async def close(self) -> None:
        """Do nothing, because the check has no process."""


def check_of(path: Path, *, experiment: bool = False) -> FileCheck:
    """Return the check for a file by its suffix.

    Args:
        path: The file.
        experiment: Whether a ``.py`` file is an experiment; data files identify themselves by their keys.
    """
    if path.suffix == ".py" and experiment:
        return TextCheck(_find_in_experiment, "the program is not run by this check", offers_in_experiment)
    find, unchecked = _BY_SUFFIX.get(path.suffix, (_find_nothing, "no check exists for this file type"))
    offer = offers_in_manifest if path.name == "worker.toml" else None
    return TextCheck(find, unchecked, offers_in_experiment if find is _find_in_experiment else offer)


def for_setting(
    worker: WorkerTypeDefinition,
    setting: Setting,
    path: str,
    actions: Sequence[str],
    choose: Callable[[str], None] | None,
) -> FileRequest:
    """Return a request to edit the file of a worker's setting, with a check by the worker.

    Args:
        worker: Worker type of the setting.
        setting: The setting.
        path: Path of the file; ``""`` if there is no file yet.
        actions: Names of the slot's actions; empty if unknown.
        choose: Called with the path of the file each time the file has been saved.
    """
    return FileRequest(path, WorkerCheck(worker, setting, tuple(actions)), setting.label, choose)


def at_place(
    place: FilePosition,
    sentence: str = "",
    *,
    experiment: bool = False,
    again: Action | None = None,
) -> FileRequest:
    """Return a request to edit a file at a line, with a problem marked there.

    Args:
        place: File, line and column.
        sentence: Description of the problem; ``""`` for no problem.
        experiment: Whether a ``.py`` file is an experiment; data files identify themselves by their keys.
        again: Text and function of a button that the user presses after the correction.
    """
    said = (Problem(place.line, sentence, column=place.column),) if sentence else ()
    return FileRequest(
        place.file, check_of(Path(place.file), experiment=experiment), "File", None, said, again
    )


def problem_of(error: MosaicError) -> Problem:
    """Return an error as a problem that the editor shows."""
    place = error.place
    return Problem(0, str(error)) if place is None else Problem(place.line, str(error), column=place.column)


def _problems_of(said: Mapping[str, Any]) -> list[Problem]:
    """Return the problems in a worker's reply, sorted by line."""
    found = [mapping(each) or {} for each in items(said.get("problems")) or ()]
    problems = [
        Problem(count(p.get("line")) or 0, text(p.get("text")) or "", text(p.get("word")) or "")
        for p in found
    ]
    return sorted(problems, key=lambda problem: problem.line)


def _find_nothing(_path: Path, _written: str) -> MosaicError | None:
    return None


def _find_in_python(path: Path, written: str) -> MosaicError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(written)
    except SyntaxError as error:
        place = FilePosition(str(path), error.lineno or 1, error.offset or 0)
        return UsageError(f"not valid Python: {error.msg}", place=place)
    except (ValueError, RecursionError, MemoryError) as error:
        return UsageError(f"not valid Python: {error or 'nested too deeply'}")
    return None


def _find_in_experiment(path: Path, written: str) -> MosaicError | None:
    from gym_gui.services.experiment_file import find_problem

    return find_problem(path, written)


def _find_in_toml(path: Path, written: str) -> MosaicError | None:
    try:
        if path.name == own_servers.FILE:
            own_servers.parse_description(written, path)
        elif path.name == "worker.toml":
            parse_manifest(written, path)
        else:
            tomllib.loads(written)
    except MosaicError as error:
        return error
    except ValueError as error:
        return UsageError(f"not valid TOML: {error}", place=place_in_toml(str(path), written, str(error)))
    return None


_BY_SUFFIX: Final[Mapping[str, tuple[Find, str]]] = {
    ".py": (_find_in_python, "the program is not run by this check"),
    ".yaml": (_find_in_experiment, ""),
    ".yml": (_find_in_experiment, ""),
    ".json": (_find_in_experiment, ""),
    ".toml": (_find_in_toml, ""),
}
