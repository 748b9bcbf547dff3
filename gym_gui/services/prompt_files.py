"""Prompt files of a worker: the worker's own files, and the user's files that replace them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.environment_variables import worker_environment
from mosaic_worker.plain_files import read_file, replace_file

FOLDER: Final = "prompts"
SUFFIXES: Final = (".txt", ".toml", ".md")
_MOST: Final = 512 * 1024


class PromptFiles:
    """Prompt files of a worker, each replaced by the user's file of the same name if there is one.

    Args:
        defaults: The worker's folder, which is never written to.
        own: The user's folder, created when the first file is saved.
    """

    def __init__(self, defaults: Path, own: Path) -> None:
        self.defaults, self.own = defaults, own

    def names(self) -> list[str]:
        """Return the names of all prompt files; those in subfolders come last."""
        found = {
            path.relative_to(folder).as_posix()
            for folder in (self.defaults, self.own)
            if folder.is_dir()
            for path in folder.rglob("*")
            if path.suffix in SUFFIXES and path.is_file()
        }
        return sorted(found, key=lambda name: (name.count("/"), name))

    def is_own(self, name: str) -> bool:
        """Return whether the user's file is used in place of the worker's."""
        return (self.own / name).is_file()

    def text(self, name: str) -> str:
        """Return the text of a prompt file: the user's, else the worker's.

        Raises:
            UsageError: The file cannot be read as text.
        """
        path = self.own / name if self.is_own(name) else self.defaults / name
        try:
            return read_file(path, links=True, limit=_MOST).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}", fix="Restore the worker's file") from None

    def save(self, name: str, text: str) -> None:
        """Save a text as the user's file. If it equals the worker's text, remove the user's file.

        Raises:
            UsageError: The folder cannot be written.
        """
        target = self.own / name
        default = self.defaults / name
        try:
            if default.is_file() and default.read_text(encoding="utf-8") == text:
                target.unlink(missing_ok=True)
                self.own.mkdir(parents=True, exist_ok=True)
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, text.encode(), sync=False)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {error}", fix="Choose another folder") from None

    def put_back(self, name: str) -> None:
        """Remove the user's file, so that the worker's text is used again.

        Raises:
            UsageError: The person's file cannot be removed.
        """
        try:
            (self.own / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{self.own / name} cannot be removed: {error}") from None

    def with_draft(self, folder: Path, name: str, text: str) -> Path:
        """Copy the user's folder to ``folder``, add an unsaved text, and return ``folder``."""
        if self.own.is_dir():
            shutil.copytree(self.own, folder, symlinks=True, dirs_exist_ok=True)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return folder


def default_prompts(worker: WorkerTypeDefinition, module: str) -> Path:
    """Return the folder ``prompts`` beside a worker's module or in a worker that it requires.

    Nothing is imported.

    Raises:
        UsageError: There is no such folder.
    """
    path = worker_environment(worker).get("PYTHONPATH", "")
    places = [Path(place) for place in path.split(os.pathsep) if place]
    for package in (module.rpartition(".")[0].replace(".", "/"), *worker.required_workers):
        for place in (*places, *(_installed(package) if worker.launch.python is None else ())):
            if (found := place / package / FOLDER).is_dir():
                return found
    raise UsageError(
        f"{worker.display_name} has no folder {FOLDER!r} beside {module}", fix="Reinstall the worker"
    )


def _installed(package: str) -> list[Path]:
    """Return the folders in which this interpreter has a package installed."""
    spec = importlib.util.find_spec(package.partition("/")[0])
    return [Path(place).parent for place in (spec.submodule_search_locations or ())] if spec else []
