"""How long a training will take, judged by earlier ones."""

from __future__ import annotations

from typing import Any

from gym_gui.services.trainings.training_estimate import before_it, estimate
from tests.support.training_records import record


def test_the_estimate_is_honest() -> None:
    about: dict[str, Any] = {
        "worker": "cleanrl_worker",
        "algorithm": "ppo",
        "env_id": "CartPole-v1",
        "total_steps": 300_000,
    }
    assert estimate([], settings={}, **about).seconds is None
    assert "unknown until it runs" in estimate([], settings={}, **about).sentence()
    fast = record("a", step=100_000, elapsed_s=50.0, settings={"num_envs": 16})
    slow = record("b", step=100_000, elapsed_s=100.0)
    other = record("c", env_id="Acrobot-v1", step=1, elapsed_s=1000.0)
    judged = estimate([fast, slow, other], settings={}, **about)
    assert (judged.seconds, judged.runs, judged.alike) == (300.0, 1, True)
    assert judged.sentence() == "About 5 min on one core, judging by one earlier run."
    there = record("e", step=100_000, elapsed_s=1.0, settings={}, place="one")
    assert estimate([there], settings={}, **about).seconds is None, "another machine's speed"
    resumed = record("d", step=1_000_000, elapsed_s=10.0, steps_per_s=1000.0)
    assert estimate([resumed], settings={}, **about).seconds == 300.0
    assert estimate([fast], settings={}, **about).sentence(3).endswith("one earlier run with other settings.")


def test_what_waits_elsewhere_waits_for_no_core_here() -> None:
    here, there = record("a", state="queued"), record("b", state="queued", place="one")
    assert before_it([there]) == ""
    assert before_it([here, there]) == " One training waits before it."
    assert before_it([here, here]) == " 2 trainings wait before it."
