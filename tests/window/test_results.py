"""Somebody looks at a run and sees an episode of it again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.window.conftest import Start
from tests.window.program import Program

SEED = 2
"""The bar that is clicked; bars stand in the order of the seeds 0, 1, 2, …"""


def position(window: Program) -> tuple[int, int]:
    """Step that is shown, and the last one."""
    said = re.match(r"Step ([\d,]+) of ([\d,]+)", window.text("replay-where"))
    return (int(said[1].replace(",", "")), int(said[2].replace(",", ""))) if said else (-1, -1)


def ready(window: Program) -> bool:
    """Whether the whole episode has been played again."""
    return "ready" not in window.text("replay-where") and position(window)[1] > 0


def test_a_bar_leads_to_its_replay(start: Start, recorded_run: Path, tmp_path: Path) -> None:
    runs = tmp_path / "home" / "runs"
    shutil.copytree(recorded_run, runs / recorded_run.name)
    window = start()
    window.click(f"run-{recorded_run.name}")  # among the newest on Home
    window.until_page("results")
    window.until_text("results-verdict", bool, "there is a verdict")
    window.wait(lambda: window.ask("bar", index=SEED).get("seen"), "the plot of seeds is shown")
    window.click_at(window.ask("bar", index=SEED)["rect"])
    window.wait(lambda: ready(window), "the episode is played again")

    recorded = [e for e in window.episodes() if e["seed"] == SEED]
    lengths = {e["operator_id"]: e["length"] for e in recorded}
    last = position(window)[1]
    assert last == max(lengths.values())
    assert f"seed {SEED}" in window.text("replay-episode")

    picture = window.ready("frameView", within="replay-stage").rect
    beginning = window.still_look(picture)
    for keys, place in (
        (["Right"], 1),
        (["Right", "Right"], 3),
        (["Left"], 2),
        (["End"], last),
        (["Home"], 0),
        (["Next"], min(10, last)),
    ):
        window.press(*keys)
        window.wait(lambda at=place: position(window)[0] == at, f"step {place} is shown after {keys}")
    window.press("End")
    window.wait(lambda: position(window)[0] == last, "the end is shown")
    window.wait(lambda: window.desktop.look_of(*picture) != beginning, "the end looks unlike the beginning")

    scrub = window.ready("scrub-bar").rect
    window.click_at((scrub[0], scrub[1], 2, scrub[3]))
    window.wait(lambda: position(window)[0] == 0, "a click on the bar's left end leads to the beginning")
    window.wait(lambda: window.desktop.look_of(*picture) == beginning, "the beginning looks as before")

    window.press("alt+Left")
    window.until_text("results-verdict", bool, "back at the verdict")
