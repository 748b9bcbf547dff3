"""EnvPool as a family: episodes follow from their seeds, however they are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.index import is_installed


@pytest.mark.skipif(is_installed("envpool"), reason="EnvPool is installed")
def test_without_it_the_line_that_installs_it_is_named() -> None:
    with pytest.raises(MissingDependencyError, match="mosaic envs install envpool"):
        envs.resolve("envpool/CartPole-v1")


def _played(adapters: list[Any], together: bool) -> list[list[bytes]]:
    for seed, adapter in enumerate(adapters):
        if together:
            adapter.reset_async(seed)
    shown = [[adapter.reset(seed=seed)["agent_0"].tobytes()] for seed, adapter in enumerate(adapters)]
    for step in range(30):
        living = [i for i, adapter in enumerate(adapters) if adapter.get_current_agents()]
        actions = {"agent_0": np.int64(step % 2)}
        if together:
            for i in living:
                adapters[i].step_async(actions)
        for i in living:
            shown[i].append(adapters[i].step(actions).observations["agent_0"].tobytes())
    return shown


def test_together_and_alone_are_the_same_episodes() -> None:
    pytest.importorskip("envpool", reason="EnvPool is not installed")
    made = [[envs.make("envpool/CartPole-v1").adapter for _ in range(5)] for _ in range(2)]
    assert _played(made[0], together=True) == _played(made[1], together=False)
    # Some episodes end before others: environments that begin anew at the same time are batched.
    assert _played(made[0], together=True) == _played(made[0], together=False)


@pytest.mark.parametrize("task", ["CartPole-v1", "MiniGrid-Empty-8x8-v0", "Pong-v5"])
def test_the_contract_is_kept(task: str) -> None:
    pytest.importorskip("envpool", reason="EnvPool is not installed")
    report = envs.check(f"envpool/{task}", steps=60)
    assert report.ok, "\n".join(report.lines())
