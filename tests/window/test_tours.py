"""Each of the six tours, taken by a user with mouse and keyboard, to a result of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer, model_server
from tests.window.conftest import EXPERIMENT, Start
from tests.window.program import Program
from tests.window.test_keyboard_alone import run_command
from tests.window.test_script import choose, until_shown

__all__ = ["model_server"]

pytestmark = pytest.mark.full


@pytest.fixture
def window(start: Start) -> Iterator[Program]:
    """The program; a trainer that it starts ends with the test."""
    result = start()
    yield result
    if result.process.poll() is None:
        result.quit()
    result.end_trainer()


def begin(window: Program, name: str, steps: int) -> None:
    """Start a tour from the palette."""
    run_command(window, "tours", "Tours…")
    window.until("the tours are shown", lambda s: s["dialog"] == "tours")
    window.click(f"tour-{name}")
    until_step(window, 1, steps)


def until_step(window: Program, number: int, steps: int) -> None:
    """Wait until a tour is at a step, and points at something that is seen."""
    window.until_text(
        "tour-place", lambda text: f"STEP {number} OF {steps}" in text, f"step {number} is shown"
    )
    window.wait(lambda: window.find("tour-ring"), f"something is pointed at in step {number}")


def until_done(window: Program, title: str) -> str:
    """Wait until a tour is over; what it says then."""
    window.until_text("tour-place", lambda text: text == f"TOUR: {title.upper()}, DONE", "the tour is over")
    assert window.find("tour-ring") is None
    return window.text("tour-text")


def as_fast_as_possible(window: Program) -> None:
    window.click("operators-speed")
    window.pick("operators-speed-menu", "As fast as possible")


def save_as(window: Program, dialog: str, path: Path) -> None:
    """Type a file's name into a dialog that is open."""
    window.until(f"{dialog} is open", lambda s: s["dialog"] == dialog)
    window.until("one can type", lambda s: s["focus"][:1] == ["fileNameEdit"])
    window.press("ctrl+a")
    window.type(str(path))
    window.press("Return")
    window.until("the dialog is shut", lambda s: s["dialog"] == "")


def test_play_with_the_keyboard_alone_left_and_taken_up_again(start: Start) -> None:
    window = start()
    run_command(window, "tours", "Tours…")
    window.until("the first is ready", lambda s: s["focus"][:1] == ["tour-play"])
    window.press("Return")
    until_step(window, 1, 5)
    window.press("F6")
    window.until("the card has the keyboard", lambda s: s["focus"][:1] == ["start-cartpole"])
    window.press("Return")
    until_step(window, 2, 5)
    window.until_text("prompt", lambda text: "to begin" in text, "it waits for the first key")
    window.kill()  # in the middle of it

    again = start()
    until_step(again, 2, 5)
    again.until_text("prompt", lambda text: "to begin" in text, "the game is there again")
    again.press("F6")
    again.desktop.hold("Right")
    again.wait(lambda: again.text("result-headline"), "the pole has fallen")
    again.desktop.release("Right")
    again.until_recorded()
    until_step(again, 3, 5)
    again.press("F6")
    again.until("it is pointed at", lambda s: s["focus"][:1] == ["show-in-results"])
    again.press("space")
    until_step(again, 4, 5)
    again.press("F6")
    again.until("replay is pointed at", lambda s: s["focus"][:1] == ["results-replay"])
    again.press("space")
    until_step(again, 5, 5)
    again.press("alt+Left", "alt+Left")
    again.wait(lambda: again.find("run-table"), "the list is shown")
    again.tab_to("run-table")
    again.press("Home", "F2")
    again.until("the name can be typed", lambda s: s["focus"][:1] == ["run-name-editor"])
    again.type("My first game")
    again.press("Return")
    assert "yours" in until_done(again, "Play")
    (folder,) = again.run_folders()
    assert json.loads((folder / "labels.json").read_text())["name"] == "My first game"
    assert again.quit() == 0


def test_compare(window: Program, tmp_path: Path) -> None:
    begin(window, "compare", 5)
    window.click("start-duel")
    until_step(window, 2, 5)
    as_fast_as_possible(window)
    until_step(window, 3, 5)
    window.click("operators-run")
    until_step(window, 4, 5)
    window.press("ctrl+6")
    window.until_page("results")
    window.tab_to("run-table")
    window.press("Home", "Return")
    until_step(window, 5, 5)
    assert "PPO" in window.text("results-verdict")
    window.press("ctrl+3", "ctrl+s")
    file = tmp_path / "duel.yaml"
    save_as(window, "comparison-save-dialog", file)
    until_done(window, "Compare")
    assert "ppo" in file.read_text() and window.text("comparison").startswith("duel")


def test_mix_a_team(window: Program) -> None:
    begin(window, "team", 5)
    window.choose("environment-picker", "s-2v2-ind", "Soccer 2v2")
    until_step(window, 2, 5)
    window.choose("policy_green_0", "chaser", "Soccer chaser")
    until_step(window, 3, 5)
    window.click("apply")
    until_step(window, 4, 5)
    as_fast_as_possible(window)
    window.click("operators-run")
    until_step(window, 5, 5)
    window.press("ctrl+4")
    window.until_page("agents")
    window.press("ctrl+s")
    asked = "preset_name_dialog"
    window.until("it asks for a name", lambda s: s["dialog"] == asked and s["focus"][:1] == [asked])
    window.press("ctrl+a")
    window.type("My team")
    window.press("Return")
    until_done(window, "Mix a team")
    (file,) = (window.runs.parent / "data" / "presets").glob("*.preset.json")
    assert "soccer_chaser" in file.read_text()


def test_ask_a_model(window: Program, model_server: ModelServer) -> None:
    begin(window, "ask", 7)
    window.press("ctrl+n", "ctrl+shift+n")
    until_step(window, 2, 7)
    window.choose("operator-environment", "frozenlake-v1", "FrozenLake")
    until_step(window, 3, 7)
    window.choose("player-agent_0", "language model", "Language model…")
    until_step(window, 4, 7)
    window.click("setting_client_name")
    window.type("transformers")
    window.press("Return")
    for field, text in (("setting_base_url", model_server.url), ("setting_model_id", model_server.model)):
        window.click(field)
        window.press("ctrl+a")
        window.type(text)
        window.press("Tab")
    window.click("setting_base_url_test")
    until_step(window, 5, 7)
    window.click("operator-max-steps", times=3)
    window.press("ctrl+a")
    window.type("5\t")
    until_step(window, 6, 7)
    window.click("operators-run")
    until_step(window, 7, 7)
    window.press("ctrl+6")
    window.until_page("results")
    window.tab_to("run-table")
    window.press("Home", "Return")
    window.click("results-report")
    until_done(window, "Ask a model")
    (transcript,) = window.runs.glob("*/transcript.html")
    assert model_server.model in transcript.read_text()


def test_train(window: Program) -> None:
    begin(window, "train", 5)
    window.click("setting_total_steps", times=3)
    window.press("ctrl+a")
    window.type("20000\t")
    until_step(window, 2, 5)
    window.click("train-start")
    until_step(window, 3, 5)
    until_step(window, 4, 5)
    window.tab_to("training-runs")
    window.press("Down")
    window.click("train-run-use")
    window.pick("train-use-menu", "Watch in Operators")
    until_step(window, 5, 5)
    as_fast_as_possible(window)
    window.press("ctrl+r")
    until_done(window, "Train")
    (policy,) = (window.runs.parent / "data" / "training").glob("*/**/policy.json")
    assert "CartPole" in policy.read_text()
    assert any(e["agents"]["agent_0"]["worker_type"] == "rl" for e in window.episodes())


def test_publish(window: Program, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(EXPERIMENT)
    choose(window, file)
    until_shown(window, file)
    window.ready("script-run")
    window.press("ctrl+r")
    window.until_text("message-ok", lambda text: text == "Done: 16 episodes.", "all episodes are played")
    begin(window, "publish", 4)
    window.until_page("results")
    window.tab_to("run-table")
    window.press("Home", "Return")
    until_step(window, 2, 4)
    window.click("results-verify")
    until_step(window, 3, 4)
    window.click("results-report")
    until_step(window, 4, 4)
    window.click("results-export")
    window.pick("results-export-menu", "Comparison as a table…")
    table = tmp_path / "comparison.csv"
    dialog = window.wait(lambda: window.state["dialog"], "it asks where to")
    save_as(window, dialog, table)
    until_done(window, "Publish")
    assert "Random" in table.read_text() and list(window.runs.glob("*/report.html"))
