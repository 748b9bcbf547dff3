"""A run is named, thrown away and taken back, with the keyboard alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.config import OperatorConfig
from tests.support.engine import arena, player, record_run
from tests.window.conftest import Start

pytestmark = pytest.mark.full
NAME = "Mine"


def labels(folder: Path) -> dict[str, Any]:
    """The labels of a run, as kept; empty where there are none."""
    file = folder / "labels.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def test_a_name_is_kept_and_what_was_thrown_away_comes_back(start: Start, tmp_path: Path) -> None:
    config = OperatorConfig("walker", "Walker", "", arena("Corridor"), {})
    run = asyncio.run(record_run(tmp_path / "home" / "runs", (config, {"agent_0": player()})))
    window = start()
    window.press("ctrl+6")
    window.until_page("results")
    window.tab_to("run-table")
    window.press("Home", "F2")
    window.until("the name can be typed", lambda s: s["focus"][:1] == ["run-name-editor"])
    window.press("ctrl+a")
    window.type(NAME)
    window.press("Return")
    window.wait(lambda: labels(run).get("name") == NAME, "the name is kept")
    window.until("the table has the keyboard again", lambda s: s["focus"][:1] == ["run-table"])
    assert not window.widgets("results-verdict"), "Enter in the editor opens nothing"

    window.press("Delete")
    window.wait(lambda: not run.exists(), "the run is in the trash")
    window.wait(lambda: not window.current_cells("run-table"), "its row is gone")
    window.press("ctrl+z")
    window.wait(lambda: (run / "run.json").is_file(), "the run is back")
    assert labels(run).get("name") == NAME, "Undo takes back the last thing alone"
    window.press("ctrl+z")
    window.wait(lambda: not labels(run).get("name"), "a second Undo takes back the name")
    window.press("ctrl+shift+z")
    window.wait(lambda: labels(run).get("name") == NAME, "Redo names it again")
    assert window.quit() == 0
