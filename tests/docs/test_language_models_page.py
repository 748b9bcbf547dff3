"""The pages on language models: their experiments are sound, and they name every setting and option."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.config import Experiment
from gym_gui.services.experiment_file import load_experiment
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.settings.settings_schema import problems
from tests.docs.pages import blocks
from tests.support.commands import ROOT

PAGE = ROOT / "docs" / "language_models.md"
SET_BY_OPTIONS = {"cassette_file", "dry_run"}
"""What ``--replay`` and ``--dry-run`` set."""


def shown(folder: Path, name: str) -> Experiment:
    """An experiment file of the page."""
    (text,) = (block.text for block in blocks(PAGE) if block.text.startswith(f"# {name}\n"))
    (folder / name).write_text(text)
    return load_experiment(folder / name, allow_code=False)


@pytest.mark.parametrize("name", ["lake.yaml", "team.yaml"])
def test_the_experiments_of_the_page_are_sound(tmp_path: Path, name: str) -> None:
    discover()
    experiment = shown(tmp_path, name)
    models = [
        slot
        for operator in experiment.operators
        for slot in operator.resolved_slots().values()
        if slot.worker_type == "llm"
    ]
    assert models
    for slot in models:
        schema = WorkerTypeRegistry.require(slot.worker_id).settings_schema
        assert not problems(schema, slot.settings)
        assert set(slot.settings) <= {setting.name for setting in schema}


def test_every_setting_and_option_is_named() -> None:
    discover()
    pages = "".join(file.read_text() for file in (PAGE, *PAGE.with_suffix("").glob("*.md")))
    for setting in WorkerTypeRegistry.require("mosaic_llm_worker").settings_schema:
        assert f"`{setting.name}`" in pages or setting.name in SET_BY_OPTIONS, setting.name
        for option in setting.options:
            assert f"`{option.value}`" in pages, (setting.name, option.value)
