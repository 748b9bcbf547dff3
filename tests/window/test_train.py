"""A training whose policy is looked at while it plays, and a page that is left meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.window.conftest import Start
from tests.window.program import Program


@pytest.fixture
def window(start: Start) -> Iterator[Program]:
    """The program; the trainer that it starts ends with the test."""
    result = start()
    yield result
    result.end_trainer()


@pytest.mark.full
def test_leaving_train_with_the_live_picture_on(window: Program) -> None:
    window.press("ctrl+5")
    window.until_page("train")
    window.click("setting_total_steps", times=3)
    window.press("ctrl+a")
    window.type("6000\t")
    window.click("train-start")
    window.wait(lambda: list((window.runs.parent / "data" / "training").glob("*/**/policy.json")), "a policy")
    window.tab_to("training-runs")
    window.press("Home")
    for _ in range(2):  # left, and left again after it was come back to
        if not window.ready("policy-now-live").checked:
            window.click("policy-now-live")
        window.until_text("policy-now-step", lambda text: text.startswith("live"), "the policy plays")
        picture = window.ready("frameView", within="policy-now").rect
        before = window.desktop.look_of(*picture)
        window.wait(lambda at=picture, then=before: window.desktop.look_of(*at) != then, "it moves")
        window.press("ctrl+1")
        window.until_page("home")
        window.wait(
            lambda: not window.offspring.find("mosaic_worker", "cleanrl_worker"), "nothing plays unseen"
        )
        window.press("ctrl+5")
        window.until_page("train")
    assert window.quit() == 0
    assert "deleted" not in window.log, window.log
