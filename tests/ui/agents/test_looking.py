"""Environments are looked at in a process of their own, which may be kept waiting and ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QSpinBox

from gym_gui.controllers.setup.check_message import Level
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.agents.checks_panel import ChecksPanel
from gym_gui.ui.agents.model import RANDOM
from gym_gui.ui.agents.preview_panel import PreviewPanel
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers.frame_view import FrameView
from tests.support.commands import ROOT
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

FOUR = "classic/connect_four_v3"
NOOP = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
Wait = Callable[[], None]
Choose = Callable[[str], None]


def test_changing_ones_mind_while_it_is_looked_at(tab: AdvancedConfigTab, qtbot: Any, checked: Wait) -> None:
    for task in ("CartPole-v1", FOUR, "Pendulum-v1", "CartPole-v1"):
        tab.model.choose_environment(task)
        assert tab.model.is_reading and "Reading" in named(tab, ChecksPanel, "checks_panel").sentences[0]
    checked()
    assert tab.model.env_info is not None and tab.model.env_info.env_id == "CartPole-v1"


def test_looking_can_be_cancelled(
    tab: AdvancedConfigTab, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    body = f"    pathlib.Path({str(started)!r}).touch()\n    time.sleep(600)\n"
    (tmp_path / "endless.py").write_text(f"import pathlib, time\ndef make(**_):\n{body}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tab.model.choose_environment("endless:make")
    qtbot.waitUntil(started.exists, timeout=PATIENCE_MS)
    checks = named(tab, ChecksPanel, "checks_panel")
    button = checks.findChild(object, "cancel_looking")
    assert button is not None and button.isVisible()  # type: ignore[attr-defined]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.model.is_reading, timeout=PATIENCE_MS)
    assert "it was stopped" in checks.sentences[0]


@pytest.mark.full
def test_whoever_cannot_play_in_another_environment_stays_behind(
    tab: AdvancedConfigTab, qtbot: Any, choose: Choose, context: AppContext, checked: Wait
) -> None:
    told: list[str] = []
    context.noticed.connect(lambda notice: told.append(notice.text))
    team = WorkerAssignment(
        "cleanrl_worker", "rl", {"checkpoint": str(ROOT / "docs/examples/zero_shot/seed1")}
    )
    choose("mpe2/simple_spread_v3")
    tab.model.set_row("agent_0", team, "choose a policy")
    checked()
    choose("MiniGrid-Empty-5x5-v0")
    assert tab.model.draft.rows == {"agent_0": RANDOM} and tab.model.config is not None
    assert any("agent_0" in each and "fit" in each for each in told)
    tab.model.set_row("agent_0", NOOP, "choose a policy")
    choose("MiniGrid-DoorKey-5x5-v0")
    assert tab.model.draft.rows == {"agent_0": NOOP}
    while tab.model.draft.task != "mpe2/simple_spread_v3":
        tab.model.undo_stack.undo()
    checked()
    assert tab.model.draft.rows["agent_0"] == team


def drawn(tab: AdvancedConfigTab, qtbot: Any) -> Any:
    frame = named(tab, FrameView, "frameView")
    qtbot.waitUntil(
        lambda: not named(tab, PreviewPanel, "preview_panel").drawing and frame.image() is not None,
        timeout=PATIENCE_MS,
    )
    return frame.image()


def test_the_seed_is_drawn_and_another_differs(tab: AdvancedConfigTab, qtbot: Any, choose: Choose) -> None:
    choose("MiniGrid-Empty-Random-6x6-v0")
    first = drawn(tab, qtbot)
    seen = {first.cacheKey()}
    spin, frame = named(tab, QSpinBox, "seed"), named(tab, FrameView, "frameView")
    for seed in (7, 42):
        spin.setValue(seed)
        qtbot.waitUntil(
            lambda: (
                not named(tab, PreviewPanel, "preview_panel").drawing and frame.image().cacheKey() not in seen
            ),
            timeout=PATIENCE_MS,
        )
        image = frame.image()
        assert image is not None
        seen.add(image.cacheKey())
        assert (image == first) is (seed == 42)


def test_who_plays_does_not_draw_it_anew(tab: AdvancedConfigTab, qtbot: Any, choose: Choose) -> None:
    choose(FOUR)
    drawn(tab, qtbot)
    tab.model.set_row("player_1", NOOP, "choose a policy")
    assert not named(tab, PreviewPanel, "preview_panel").drawing


def test_a_program_that_cannot_be_read_is_an_error_on_the_page(
    tab: AdvancedConfigTab, choose: Choose, checked: Wait, tmp_path: Path
) -> None:
    program = tmp_path / "solve.asl"
    program.write_text("+!decide <- forward(\n")
    choose("MiniGrid-DoorKey-5x5-v0")
    row = WorkerAssignment("spade_bdi_worker", "bdi", {"program": str(program)})
    tab.model.set_row("agent_0", row, "choose a program")
    checked()
    assert tab.model.verdict is not None and tab.model.verdict.level is Level.ERROR
    assert "solve.asl, line 1" in tab.model.verdict.text and tab.model.config is None
    program.write_text("+!decide <- forward.\n")
    tab.model.check_again()
    checked()
    assert tab.model.verdict.level is Level.OK and tab.model.config is not None
