"""The benchmark of IPPO asks three workers for the same training, and says no more than its figures carry."""

from __future__ import annotations

import importlib
import json
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from gym_gui.services.trainer import TrainRequest
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS / "bench"))
    return importlib.import_module("bench_marl")


@pytest.mark.parametrize("processes", [1, 2])
def test_every_worker_takes_what_it_is_told(bench: ModuleType, tmp_path: Path, processes: int) -> None:
    discover()
    for plan in bench.PLANS:
        for side, (worker, algorithm) in bench.WORKERS.items():
            command = bench.command_of(side, plan, plan.batch * 2, tmp_path / "out", processes)
            settings = [text for flag, text in pairwise(command) if flag == "--set"]
            texts = dict(text.split("=", 1) for text in settings)
            definition = WorkerTypeRegistry.require(worker)
            request = TrainRequest.checked(definition, algo=algorithm, env=plan.env, texts=texts)
            given = request.train_json.given
            copies = given["num_envs"] * max(given.get("num_env_runners", 0), 1)
            rollout = given.get("num_steps", given.get("n_steps", given.get("train_batch_size", 0) // copies))
            assert (copies, rollout, given["gamma"]) == (plan.copies, plan.rollout, plan.gamma)


def test_a_rate_is_that_between_the_first_update_and_the_last(bench: ModuleType, tmp_path: Path) -> None:
    rows = [
        {"step": 100, "t": 50.0, "m": {}},
        {"step": 200, "t": 51.0, "m": {}},
        {"step": 400, "t": 52.0, "m": {}},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert bench.measured_rate(tmp_path) == (150.0, 2.0)


def test_the_interval_of_a_difference_is_welchs(bench: ModuleType) -> None:
    between, low, high = bench.difference_of([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    # Two means of three with a variance of 1: four degrees of freedom, t = 2.776, error sqrt(2 / 3).
    assert (between, low, high) == pytest.approx((-1.0, -3.267, 1.267), abs=1e-3)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((3.0, -9.0, 15.0), "ours is no more than 10 % of the range below"),
        ((3.0, -11.0, 15.0), "is not decided"),
        ((-30.0, -40.0, -20.0), "ours is more than 10 % of the range below"),
    ],
)
def test_it_says_what_the_interval_carries(bench: ModuleType, shares: tuple[float, ...], words: str) -> None:
    assert words in bench.sentence(shares)
