"""What a training will remember is counted before it begins, as it is then kept."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import probes  # noqa: F401  # registers the environments
import pytest
import trainings

from cleanrl_worker.registry import ALGORITHMS
from cleanrl_worker.train import main
from cleanrl_worker.training import check_memory
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_memory import MEMORY_MB

SHORT = {"total_steps": 300, "learning_starts": 100, "batch_size": 8, "hidden": (8,)}


def counted(name: str, settings: dict[str, Any], patch: pytest.MonkeyPatch) -> int:
    """Bytes of a row, out of the refusal of far too many of them."""
    patch.setenv(MEMORY_MB, "600")
    config = ALGORITHMS[name].config_class(**settings, buffer_size=10**9)
    with contextlib.closing(Environments(config)) as environments, pytest.raises(ConfigError) as caught:
        check_memory(config, environments)
    found = re.search(r"steps of ([\d,]+) bytes", str(caught.value))
    assert found is not None
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(
    ("name", "env_id"), [("dqn", "CartPole-v1"), ("dqn", "BigPicture-v0"), ("sac", "Target-v0")]
)
def test_a_step_is_counted_as_it_is_kept(name: str, env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"env_id": env_id, **SHORT}
    ring = trainings.learn(name, {**settings, "buffer_size": 250}).ring
    assert len(ring) == 250  # it has taken 300 steps: the ring is full
    kept = sum(x.nbytes for key, x in ring.state().items() if key not in ("ring.place", "ring.next_masks"))
    assert counted(name, settings, monkeypatch) * 250 == kept


def test_a_rollout_is_refused_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(MEMORY_MB, "600")
    args = ["--num-envs=8", "--num-steps=1000000", "--total-steps=200000000", f"--out={tmp_path / 'run'}"]
    assert main(["--algo=ppo", *args]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("error: num_envs x num_steps = 8,000,000 steps of 40 bytes need 0.3 GiB")
    assert said.out == ""
    assert not (tmp_path / "run").exists()
