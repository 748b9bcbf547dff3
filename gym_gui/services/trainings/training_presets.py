"""Presets of trainings: worker, algorithm, environment and settings under a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.services.preset_store import PresetError, PresetKind


@dataclass(frozen=True)
class TrainingPreset:
    """A training as entered in the form of the Train page.

    Attributes:
        worker: Id of the worker.
        algorithm: Name of the algorithm.
        env_id: Id of the environment.
        settings: Settings that differ from their defaults.
    """

    worker: str
    algorithm: str
    env_id: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _to_data(_: str, preset: TrainingPreset) -> dict[str, Any]:
    return {
        "worker": preset.worker,
        "algorithm": preset.algorithm,
        "env_id": preset.env_id,
        "settings": dict(preset.settings),
    }


def _from_data(path: Path, content: Mapping[str, Any]) -> TrainingPreset:
    settings: Any = content.get("settings", {})
    texts = [content.get(key) for key in ("worker", "algorithm", "env_id")]
    if not isinstance(settings, dict) or not all(isinstance(text, str) for text in texts):
        raise PresetError(f"{path.name} is damaged", fix="Delete the file, or save the preset again")
    worker, algorithm, env_id = map(str, texts)
    return TrainingPreset(worker, algorithm, env_id, cast("dict[str, Any]", settings))


TRAININGS: Final = PresetKind[TrainingPreset](
    ".training.json", "mosaic_training_preset", _to_data, _from_data, lambda preset: preset.env_id
)


def load_training(path: Path) -> TrainingPreset | None:
    """Return the training in a file, or ``None`` if the file does not exist.

    Raises:
        PresetError: The file cannot be read or is not a preset of a training.
    """
    return TRAININGS.read(path)[1] if path.is_file() else None


def save_training(preset: TrainingPreset, path: Path) -> None:
    """Write a training to a file. Raises like :meth:`PresetKind.write`."""
    TRAININGS.write(path, TRAININGS.name_of(path), preset)
