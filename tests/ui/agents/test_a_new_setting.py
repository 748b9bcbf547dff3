"""A setting is added to a worker in its manifest alone: check, list and form have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtWidgets import QLabel

from gym_gui.cli.listing import show_worker
from gym_gui.core.errors import ExperimentError, UnknownNameError
from gym_gui.ui.agents.setting_controls import NumberBox
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.workers.manifest import read_manifest

MANIFEST = """
id = "dice_worker"
name = "Dice"
kind = "baseline"
[launch]
entry = "dice_worker.main:Dice"
[settings.favorite]
type = "whole"
default = 0
"""
TABLE = """
[settings.courage]
type = "number"
title = "Courage"
meaning = "How much it dares"
default = 0.5
minimum = 0
maximum = 1
"""
OUTRIGHT = """
[schema.properties.courage]
type = "number"
title = "Courage"
description = "How much it dares"
default = 0.5
minimum = 0
maximum = 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    made = tmp_path / "workers/dice_worker"
    (made / "dice_worker").mkdir(parents=True)
    (made / "dice_worker/main.py").write_text("class Dice: ...\n")
    (made / "worker.toml").write_text(MANIFEST)
    return made


@pytest.mark.parametrize("patch", ["table", "outright"])
def test_one_file_is_touched(
    folder: Path, patch: str, qtbot: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = folder / "worker.toml"
    with pytest.raises(UnknownNameError, match="courage"):
        read_manifest(manifest).check_settings({"courage": 0.7}, "here")
    before = MANIFEST if patch == "table" else MANIFEST.partition("[settings")[0]
    manifest.write_text(before + (TABLE if patch == "table" else OUTRIGHT))

    worker = read_manifest(manifest)
    worker.check_settings({"courage": 0.7}, "here")
    with pytest.raises(ExperimentError, match="Courage must be a number from 0 to 1, not 2"):
        worker.check_settings({"courage": 2}, "here")

    show_worker("dice_worker")
    listed = capsys.readouterr().out
    assert "How much it dares." in listed and "Takes a number from 0 to 1." in listed

    form = SettingsForm(worker.settings_schema)
    qtbot.addWidget(form)
    form.show()
    box = form.findChild(NumberBox, "setting_courage")
    assert box is not None and box.text() == "0.5" and "How much it dares" in box.toolTip()
    box.selectAll()
    qtbot.keyClicks(box, "2")
    said = form.findChild(QLabel, "setting_courage_problem")
    assert said is not None and said.text() == "Courage must be a number from 0 to 1, not 2"
