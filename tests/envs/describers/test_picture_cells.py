"""A grid over a picture follows the game's own cells."""

from __future__ import annotations

import pytest

from gym_gui import envs
from gym_gui.core.experiment.prompt_inputs import FRAMES


@pytest.mark.parametrize(
    "task",
    [
        "MiniGrid-DoorKey-16x16-v0",
        "MiniGrid-Empty-5x5-v0",
        "BabyAI-GoTo-v0",
        "MosaicMultiGrid-S-2v2-IndAgObs-v1",
        "CrafterReward-v1",
        "MiniHack-Room-5x5-v0",
    ],
)
def test_cells_are_squares_of_the_picture(task: str) -> None:
    environment = envs.make(task, render_mode="rgb_array")
    try:
        seen = environment.adapter.reset(seed=1)
        agent = environment.adapter.possible_agents[0]
        describer = environment.describer(agent)
        drawn = {"whole": environment.picture(), "egocentric": environment.seat_picture(agent, seen[agent])}
        for frame in FRAMES:
            picture, cells = drawn[frame], describer.cells(agent, frame)
            assert picture is not None and cells is not None
            (high, rest), (wide, more) = (
                divmod(n, count) for n, count in zip(picture.shape[:2], cells, strict=True)
            )
            assert (rest, more) == (0, 0) and high == wide >= 16
    finally:
        environment.close()
