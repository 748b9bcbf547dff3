"""Trainings that are kept under a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.ui.train.presets import SUFFIX, TrainingPreset, TrainingPresetError, TrainingPresets

PRESET = TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", {"hidden": [32], "gamma": 0.9}, "Mine")


def test_a_preset_is_kept_and_read(tmp_path: Path) -> None:
    presets = TrainingPresets(tmp_path / "presets")
    assert presets.names() == []
    presets.save(PRESET)
    assert presets.names() == ["Mine"] and presets.load("Mine") == PRESET
    content = presets.delete("Mine")
    assert presets.names() == []
    presets.restore("Mine", content)
    assert presets.load("Mine") == PRESET


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"mosaic_training_preset": 1}'])
def test_what_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / f"Bad{SUFFIX}").write_text(content)
    with pytest.raises(TrainingPresetError, match=r"no preset|damaged"):
        TrainingPresets(tmp_path).load("Bad")


def test_one_of_a_later_version_is_not_to_be_thrown_away(tmp_path: Path) -> None:
    (tmp_path / f"New{SUFFIX}").write_text('{"mosaic_training_preset": 2}')
    with pytest.raises(TrainingPresetError, match="update"):
        TrainingPresets(tmp_path).load("New")


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingPresetError, match="cannot be called so"):
        TrainingPresets(tmp_path).path_of("../elsewhere")
    with pytest.raises(TrainingPresetError, match="cannot be read"):
        TrainingPresets(tmp_path).load("Nobody")
