"""What the editor of files is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.workers.settings_schema import Setting

if TYPE_CHECKING:
    from gym_gui.workers.definition import WorkerTypeDefinition


@dataclass(frozen=True)
class FileRequest:
    """Somebody wants to edit the file that a setting names.

    Attributes:
        worker: Whose.
        setting: The setting; its module or command checks the text.
        path: The file; empty: there is none yet.
        actions: Words of the slot's actions, where they are known.
        choose: Takes the file that is to be used.
    """

    worker: WorkerTypeDefinition
    setting: Setting
    path: str
    actions: Sequence[str]
    choose: Callable[[str], None]
