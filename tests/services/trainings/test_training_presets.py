"""Trainings that are kept under a name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.services.preset_store import PresetError, PresetStore
from gym_gui.services.trainings.training_presets import TRAININGS, TrainingPreset

PRESET = TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", {"hidden": [32], "gamma": 0.9})


def stored(folder: Path) -> PresetStore[TrainingPreset]:
    return PresetStore(folder, TRAININGS, Path.unlink)


def names(presets: PresetStore[TrainingPreset]) -> list[str]:
    return [preset.name for preset in presets.presets()]


def test_a_preset_is_kept_and_read(tmp_path: Path) -> None:
    presets = stored(tmp_path / "presets")
    assert names(presets) == []
    presets.save("Mine", PRESET)
    assert names(presets) == ["Mine"] and presets.load("Mine") == PRESET
    content = presets.delete("Mine")
    assert names(presets) == []
    presets.restore("Mine", content)
    assert presets.load("Mine") == PRESET


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    written = {
        "mosaic_training_preset": 1,
        "worker": "w",
        "algorithm": "a",
        "env_id": "e",
        "settings": {"x": 1},
    }
    (tmp_path / "Old.training.json").write_text(json.dumps(written))
    assert stored(tmp_path).load("Old") == TrainingPreset("w", "a", "e", {"x": 1})


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"mosaic_training_preset": 1}'])
def test_what_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "Bad.training.json").write_text(content)
    with pytest.raises(PresetError, match=r"is not a preset|damaged"):
        stored(tmp_path).load("Bad")
    (listed,) = stored(tmp_path).presets()
    assert listed.name == "Bad" and "Bad.training.json" in listed.problem


def test_one_of_a_later_version_is_not_to_be_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "New.training.json").write_text('{"mosaic_training_preset": 2}')
    with pytest.raises(PresetError, match=r"later version.*Install"):
        stored(tmp_path).load("New")


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PresetError, match="cannot have this name"):
        stored(tmp_path).path_of("../elsewhere")
    with pytest.raises(PresetError, match="cannot be read"):
        stored(tmp_path).load("Nobody")
