"""Box2D's environments, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs.environment_registry import family_of

pytest.importorskip("Box2D")


@pytest.mark.parametrize("env_id", ["BipedalWalker-v3", "BipedalWalkerHardcore-v3", "LunarLander-v3"])
def test_what_an_instance_played_before_changes_nothing_or_it_gets_a_new_one(env_id: str) -> None:
    spec = envs.resolve(env_id)
    environment = envs.make(spec)
    try:
        space = environment.adapter.action_space("agent_0")
        space.seed(1)
        actions = [space.sample() for _ in range(20)]

        def played(seed: int) -> list[np.ndarray]:
            seen = [environment.adapter.reset(seed=seed)["agent_0"]]
            seen += [environment.adapter.step({"agent_0": a}).observations["agent_0"] for a in actions]
            return seen

        first, _, again = played(1), played(2), played(1)
    finally:
        environment.close()
    same = all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert same or not family_of(spec).reusable(spec)
