"""Trainings under a name: worker, algorithm, environment and settings, to begin from again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.checks import ConfigError, folder_name
from gym_gui.core.errors import MosaicError
from gym_gui.core.formats import NewerFormatError, check_format
from mosaic_worker.plain_files import read_file

SUFFIX: Final = ".training.json"
FORMAT: Final = 1
_KEY: Final = "mosaic_training_preset"
_MAX_BYTES: Final = 1 << 20


class TrainingPresetError(MosaicError):
    """A preset of a training cannot be saved or read."""


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class TrainingPreset:
    """A training as the form holds it.

    Attributes:
        worker: Who trains.
        algorithm: With what.
        env_id: Where.
        settings: Those that differ from their defaults.
        name: What it is called.
    """

    worker: str
    algorithm: str
    env_id: str
    settings: Mapping[str, Any] = field(default_factory=_nothing)
    name: str = ""


class TrainingPresets:
    """The presets of a folder, a file each.

    Args:
        folder: Made when the first one is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """All of them, by name."""
        found = self.folder.glob(f"*{SUFFIX}")
        return sorted((path.name.removesuffix(SUFFIX) for path in found), key=str.casefold)

    def path_of(self, name: str) -> Path:
        """The file of a preset, there or not.

        Raises:
            TrainingPresetError: No file can be called so.
        """
        try:
            return self.folder / f"{folder_name(name.strip(), 'name')}{SUFFIX}"
        except ConfigError as error:
            problem = error.problem.removesuffix("; it names a folder of the run")
            raise TrainingPresetError(f"a preset cannot be called so: {problem}", fix=error.fix) from None

    def save(self, preset: TrainingPreset) -> None:
        """Write a preset; one of that name is replaced.

        Raises:
            TrainingPresetError: It cannot be written.
        """
        path = self.path_of(preset.name)
        content = {
            _KEY: FORMAT,
            "worker": preset.worker,
            "algorithm": preset.algorithm,
            "env_id": preset.env_id,
            "settings": dict(preset.settings),
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".preset.")
            part = Path(name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise TrainingPresetError(
                f"{path} cannot be written: {reason}", fix="Set MOSAIC_DATA_DIR to a folder that can be"
            ) from error

    def load(self, name: str) -> TrainingPreset:
        """Read a preset.

        Raises:
            TrainingPresetError: It is not there, or no preset.
        """
        path = self.path_of(name)
        try:
            data: Any = json.loads(read_file(path, links=True, limit=_MAX_BYTES))
        except OSError as error:
            raise TrainingPresetError(f"{path} cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            try:
                check_format(str(path), cast("dict[str, Any]", data).get(_KEY), FORMAT)
            except NewerFormatError as error:
                raise TrainingPresetError(error.message, fix=error.fix) from None
        if not isinstance(data, dict) or _KEY not in data:
            raise TrainingPresetError(
                f"{path.name} is no preset of a training", fix="Delete it, or save it anew"
            )
        about = cast("dict[str, Any]", data)
        settings: Any = about.get("settings", {})
        texts = [about.get(key) for key in ("worker", "algorithm", "env_id")]
        if not isinstance(settings, dict) or not all(isinstance(text, str) for text in texts):
            raise TrainingPresetError(f"{path.name} is damaged", fix="Delete it, or save it anew")
        worker, algorithm, env_id = map(str, texts)
        return TrainingPreset(worker, algorithm, env_id, cast("dict[str, Any]", settings), name)

    def delete(self, name: str) -> bytes:
        """Throw a preset away; returns its content, for :meth:`restore`.

        Raises:
            TrainingPresetError: It is not there.
        """
        path = self.path_of(name)
        try:
            content = read_file(path, links=True, limit=_MAX_BYTES)
            path.unlink()
        except OSError as error:
            raise TrainingPresetError(f"{path} cannot be deleted: {error.strerror or error}") from None
        return content

    def restore(self, name: str, content: bytes) -> None:
        """Undo :meth:`delete`."""
        self.path_of(name).write_bytes(content)
