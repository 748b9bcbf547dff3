"""Links from a message to the line of a file that the message names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import FilePosition
from gym_gui.services.file_references import folders_of, place_in
from gym_gui.ui.editor.file_request import FileRequest
from gym_gui.ui.widgets.message_panels import Action
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import Setting


class Opens(Protocol):
    """Protocol of window services that open files in the editor."""

    def edit(self, request: FileRequest) -> None:
        """Open a file in the editor."""
        ...


def link_of(
    context: Opens,
    sentence: str,
    operator: OperatorConfig | None = None,
    *,
    folders: Sequence[Path] = (),
    place: FilePosition | None = None,
    experiment: bool = False,
    again: Action | None = None,
) -> Action | None:
    """Return text and function of a button that opens the file named in a message.

    Returns ``None`` if the message names no existing file.

    Args:
        context: The window's services.
        sentence: The message.
        operator: Operator that the message is about. Files named without a folder may lie beside its files,
            and its worker checks its program in the editor.
        folders: Other folders in which files may lie.
        place: File and line, if known; otherwise the message is searched for a file and line.
        experiment: Whether the file is an experiment file.
        again: Text and function of a button that the user presses after the correction.
    """
    beside = folders_of(operator) if operator is not None else []
    found = place or place_in(sentence, [*folders, *beside])
    if found is None:
        return None
    act = partial(_open, context, found, sentence, operator, experiment=experiment, again=again)
    return words_for(found), act


def _open(
    context: Opens,
    place: FilePosition,
    sentence: str,
    operator: OperatorConfig | None,
    *,
    experiment: bool,
    again: Action | None,
) -> None:
    from gym_gui.ui.editor.checks import at_place, for_setting
    from gym_gui.ui.editor.file_request import Problem

    reader = _reader_of(place, operator)
    if reader is None:
        context.edit(at_place(place, sentence, experiment=experiment, again=again))
    else:
        problems = (Problem(place.line, sentence, column=place.column),)
        request = for_setting(*reader, place.file, (), None)
        context.edit(replace(request, problems=problems, again=again))


def _reader_of(
    place: FilePosition, operator: OperatorConfig | None
) -> tuple[WorkerTypeDefinition, Setting] | None:
    """Return the worker and the setting that use a file, if the worker can check it, else ``None``."""
    from gym_gui.workers.registry import WorkerTypeRegistry

    for player in operator.resolved_slots().values() if operator is not None else ():
        worker = WorkerTypeRegistry.get(player.worker_id)
        for setting in worker.settings_schema if worker is not None else ():
            value = player.settings.get(setting.name)
            if setting.checked and isinstance(value, str) and value:
                path = Path(value).expanduser()
                if path.exists() and path.samefile(place.file):
                    assert worker is not None
                    return worker, setting
    return None


def words_for(place: FilePosition) -> str:
    """Return the text of a link to a file, such as ``Open a.py, line 12``."""
    name = Path(place.file).name
    return f"Open {name}, line {place.line}" if place.line else f"Open {name}"
