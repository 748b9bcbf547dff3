"""Which GPUs a worker gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.workers import gpus
from gym_gui.workers.definition import WorkerTypeDefinition
from tests.support.little_workers import RANDOM, little_worker


@pytest.fixture
def definition(tmp_path: Path) -> WorkerTypeDefinition:
    return little_worker(tmp_path, RANDOM)


@pytest.fixture
def greedy(tmp_path: Path) -> WorkerTypeDefinition:
    return little_worker(tmp_path, RANDOM, "greedy_worker", capabilities={"requires_gpu": True})


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The GPUs that the driver would list."""
    devices: list[str] = []
    monkeypatch.setattr(gpus, "detected_gpus", lambda: tuple(devices))
    return devices


def test_gpus_that_the_driver_lists_are_found(monkeypatch: pytest.MonkeyPatch):
    listed = Path("/proc/driver/nvidia/gpus")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    expected = len(list(listed.iterdir())) if listed.is_dir() else 0
    assert gpus.detected_gpus() == tuple(str(i) for i in range(expected))


@pytest.mark.parametrize(
    ("given", "ours"),
    [("2", ("2",)), ("3, 1", ("3", "1")), ("", ()), ("7", ()), ("GPU-5f,NoDevFiles", ("GPU-5f",))],
)
def test_a_job_has_the_gpus_that_its_scheduler_gave_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, ours: tuple[str, ...]
):
    for address in ("01", "02", "03", "04"):
        (tmp_path / f"0000:{address}:00.0").mkdir()
    monkeypatch.setattr(gpus, "LISTED_BY_DRIVER", tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert gpus.detected_gpus() == ours


def test_preference_gets_the_next_in_turn(greedy: WorkerTypeDefinition, machine: list[str]):
    machine += ["0", "1"]
    assert [gpus.assign_gpus(greedy, {}, n) for n in range(3)] == [("0",), ("1",), ("0",)]


def test_preference_is_none_where_there_is_no_gpu(greedy: WorkerTypeDefinition, machine: list[str]):
    assert gpus.assign_gpus(greedy, {}, 0) == ()


def test_who_prefers_none_gets_none(definition: WorkerTypeDefinition, machine: list[str]):
    machine += ["0"]
    assert gpus.assign_gpus(definition, {}, 0) == ()


def test_the_setting_decides(
    definition: WorkerTypeDefinition, greedy: WorkerTypeDefinition, machine: list[str]
):
    machine += ["0", "1", "2"]
    assert gpus.assign_gpus(definition, {"gpu": 1}, 0) == ("1",)
    assert gpus.assign_gpus(definition, {"gpu": [2, 0]}, 0) == ("2", "0")
    assert gpus.assign_gpus(greedy, {"gpu": "none"}, 0) == ()


@pytest.mark.parametrize(("here", "words"), [([], "no GPU"), (["0", "1"], "GPUs 0, 1")])
def test_a_gpu_that_is_not_there(
    definition: WorkerTypeDefinition, machine: list[str], here: list[str], words: str
):
    machine += here
    with pytest.raises(UsageError, match=f"gpu 5 is requested, but this machine has {words}"):
        gpus.assign_gpus(definition, {"gpu": 5}, 0)
