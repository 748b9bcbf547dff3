"""Two workers that train the same algorithm say where a setting of one name means two things."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3] / "3rd_party"
OTHER = {"cleanrl_worker": "sb3_worker", "sb3_worker": "cleanrl_worker"}


def settings(worker: str) -> dict[str, Any]:
    algorithms = json.loads((ROOT / worker / "train_schema.json").read_text())["algorithms"]
    return algorithms["ppo"]["properties"]


@pytest.mark.parametrize("worker", OTHER)
@pytest.mark.parametrize("name", ["vf_coef", "target_kl", "anneal_lr"])
def test_what_differs_names_the_other_worker(worker: str, name: str) -> None:
    assert OTHER[worker] in settings(worker)[name]["description"]


def test_what_the_same_weight_of_the_value_loss_is_there_is_said() -> None:
    assert "0.5 is 0.25 in sb3_worker" in settings("cleanrl_worker")["vf_coef"]["description"]
    assert "0.5 is 1.0 in cleanrl_worker" in settings("sb3_worker")["vf_coef"]["description"]
