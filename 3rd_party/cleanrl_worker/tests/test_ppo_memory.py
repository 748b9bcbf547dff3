"""PPO with a memory learns where memory decides, also where returns are large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gymnasium
import memory_probes
import numpy as np
import pytest
import torch
from torch import Tensor

from cleanrl_worker.algorithms.ppo_lstm import again, forget
from cleanrl_worker.architecture import Architecture, Encoding
from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.network import RecurrentActorCritic
from cleanrl_worker.policy import Policy
from cleanrl_worker.train import main


@pytest.fixture(autouse=True)
def probes_of_memory() -> Iterator[None]:
    """They are there for these tests alone: others list what is registered."""
    for name, entry in memory_probes.ENTRIES.items():
        gymnasium.register(name, entry, disable_env_checker=True)
    yield
    for name in memory_probes.ENTRIES:
        gymnasium.registry.pop(name)


@pytest.mark.full
def test_a_cue_is_remembered_through_noise_where_much_is_paid_for_it(tmp_path: Path) -> None:
    """Unscaled, the value's gradient leaves nothing of the policy's: the memory learns no cue."""
    args = [
        "--num-envs=16", "--num-steps=27", "--hidden", "16", "--lstm-size=16", "--learning-rate=5e-3",
        "--total-steps=17280",
    ]  # fmt: skip
    assert main(["--algo=ppo_lstm", "--env-id=Cue-v0", f"--out={tmp_path}", *args]) == 0
    assert np.mean(EVALUATION.episode_returns(Policy.load(tmp_path), "Cue-v0", range(40))) == 100.0


@pytest.mark.parametrize("resets", [0.0, 0.2, 1.0])
def test_a_rollout_played_again_at_once_is_that_played_step_by_step(resets: float) -> None:
    """Values and gradients agree, wherever episodes begin, the first step included."""
    num_steps, num_envs, size = 20, 4, 5
    generator = torch.Generator().manual_seed(3)
    network = RecurrentActorCritic(Architecture(Encoding.of((3,), False), 2, hidden=(7,), lstm_size=size))
    network.initialise(generator)
    shown = torch.randn(num_steps, num_envs, 3, generator=generator)
    memory = torch.randn(num_envs, 2 * size, generator=generator)
    begins = (torch.rand(num_steps, num_envs, generator=generator) < resets).float()

    kept, single = memory, list[tuple[Tensor, Tensor]]()
    for t in range(num_steps):
        params, values, kept = network(shown[t], forget(kept, begins[t]))
        single.append((params, values))
    one_by_one = tuple(torch.cat(parts) for parts in zip(*single, strict=True))
    at_once = again(network, shown, memory, begins)

    for one, other in zip(one_by_one, at_once, strict=True):
        torch.testing.assert_close(one, other)
    slopes = [
        torch.autograd.grad(sum(x.square().sum() for x in parts), list(network.lstm.parameters()))
        for parts in (one_by_one, at_once)
    ]
    torch.testing.assert_close(*slopes)


@pytest.mark.full
@pytest.mark.timeout(1500)
def test_a_pole_is_balanced_by_who_does_not_see_speeds(tmp_path: Path) -> None:
    """Without a memory no policy comes far beyond 50 here."""
    args = ["--algo=ppo_lstm", "--env-id=Unmoving-v0", "--total-steps=200704", f"--out={tmp_path}"]
    assert main(args) == 0
    assert np.mean(EVALUATION.episode_returns(Policy.load(tmp_path), "Unmoving-v0", range(50))) >= 400.0
