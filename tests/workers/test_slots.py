"""A slot is checked against its own spaces and inputs, nothing else."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.registry import WorkerInputs, WorkerTypeDefinition
from gym_gui.workers.slots import check_slot

BOX = gym.spaces.Box(-1, 1, (4,))
IMAGE = gym.spaces.Box(0, 255, (8, 8, 3), np.uint8)
TWO = gym.spaces.Discrete(2)


def worker(inputs: WorkerInputs | None = None, **capabilities: object) -> WorkerTypeDefinition:
    return WorkerTypeDefinition(
        "test_slot_worker",
        "Tester",
        "",
        WorkerCapabilities("test_slot_worker", **capabilities),  # type: ignore[arg-type]
        inputs=inputs or WorkerInputs(),
    )


def test_single_agent_policy_plays_one_seat_of_a_team_without_gpu():
    assert check_slot(worker(max_agents=1, requires_gpu=True, env_types=["gymnasium"]), BOX, TWO) == []


@pytest.mark.parametrize(
    ("observation", "action", "words"),
    [
        (TWO, TWO, ["Tester observes box spaces, this slot's is discrete: Discrete(2)"]),
        (BOX, BOX, ["Tester acts in discrete spaces, this slot's is continuous"]),
        (gym.spaces.Dict(a=TWO), gym.spaces.MultiBinary(3), ["acts in", "observes"]),
    ],
)
def test_spaces_that_do_not_fit_are_named(observation: object, action: object, words: list[str]):
    reasons = check_slot(worker(), observation, action)
    assert len(reasons) == len(words)
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))


def test_image_is_a_box_and_any_is_anything():
    assert check_slot(worker(), IMAGE, TWO) == []
    assert check_slot(worker(observation_spaces=["image"]), IMAGE, TWO) == []
    assert check_slot(worker(observation_spaces=["image"]), BOX, TWO) != []
    assert check_slot(worker(observation_spaces=["any"], action_spaces=["any"]), TWO, IMAGE) == []


def test_required_input_must_be_there_and_an_optional_one_need_not():
    asks = worker(WorkerInputs(image="required", messages="optional"))
    assert check_slot(asks, BOX, TWO, inputs=["image"]) == []
    assert check_slot(asks, BOX, TWO, inputs=[]) == [
        "Tester needs image, but here there is no picture of what this seat may see"
    ]


def test_worker_that_reads_words_need_not_understand_the_observation():
    reader = worker(WorkerInputs(text="required"), observation_spaces=["text"])
    grid = gym.spaces.Dict(image=IMAGE)
    assert check_slot(reader, grid, TWO, inputs=["text"]) == []
    assert len(check_slot(reader, grid, TWO, inputs=[])) == 2


def test_long_spaces_are_shortened():
    (reason,) = check_slot(worker(), gym.spaces.Dict({f"k{i}": TWO for i in range(50)}), TWO)
    assert len(reason) < 200
