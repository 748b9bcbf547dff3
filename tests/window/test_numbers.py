"""Numbers of a form that was kept, in the locales of four desktops, by real keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gym_gui.services.trainings.training_presets import TrainingPreset, save_training
from tests.window.desktop import Desktop, missing
from tests.window.program import Program

Start = Callable[..., Program]
STEPS = "setting_total_steps"


@pytest.fixture(params=["de_DE", "en_US", "ja_JP", "C"])
def desktop(request: pytest.FixtureRequest) -> Iterator[Desktop]:
    if absent := missing():
        pytest.skip(f"not installed: {', '.join(absent)}")
    locale = request.param if request.param == "C" else f"{request.param}.UTF-8"
    result = Desktop(also={"LC_ALL": locale, "LANG": locale})
    yield result
    result.close()


@pytest.mark.full
def test_a_kept_training_is_read_as_it_was_written(desktop: Desktop, start: Start, tmp_path: Path) -> None:
    file = tmp_path / "home" / "data" / "training.json"
    file.parent.mkdir(parents=True)
    save_training(TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", {"total_steps": 20_000}), file)
    before = file.read_bytes()
    window = start()
    group = "." if desktop.variables["LC_ALL"].startswith("de") else ","
    window.click("go-train")
    window.until_page("train")
    window.until_text(STEPS, lambda text: text == f"20{group}000", "the kept number is shown")
    window.ready("train-start")
    assert file.read_bytes() == before
    window.click(STEPS)
    window.press("End", "0")
    window.until_text(STEPS, lambda text: text == f"200{group}000", "the thousands stay apart")
    window.wait(lambda: _kept(file) == 200_000, "the number is kept")
    window.press("ctrl+a")
    window.type("30000")
    window.wait(lambda: _kept(file) == 30_000, "what was typed without a mark is kept")
    window.end_trainer()  # which outlives the window


def _kept(file: Path) -> object:
    return json.loads(file.read_bytes())["settings"].get("total_steps")
