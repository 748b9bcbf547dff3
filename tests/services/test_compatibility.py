"""Who fits a slot: its spaces, what it offers, its environment; a policy by what its steps make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.spaces import space_to_spec, to_space
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import fit, incompatibility, pipeline_of, space_words
from gym_gui.services.policy_files import read_policy_file
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerInputs, WorkerTypeDefinition, WorkerTypeRegistry
from mosaic_worker.preprocessing import PreprocessingError
from tests.support.policies import kept_policy

POLE = spaces.Box(-1, 1, (4,), np.float32)
TWO = spaces.Discrete(2)


def policy(folder: Path, **changes: Any) -> Any:
    found = read_policy_file(kept_policy(folder / "kept", **changes))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("steps", "slot", "action_space", "words"),
    [
        ([], POLE, TWO, ""),
        ([], spaces.Box(-9, 9, (4,), np.float64), TWO, ""),
        ([], spaces.Box(-1, 1, (5,)), TWO, "for observations of Box(4), this slot has Box(5)"),
        ([], POLE, spaces.Discrete(3), "for actions of Discrete(2), this slot has Discrete(3)"),
        ([], POLE, spaces.Discrete(2, start=1), "this slot has Discrete(2, start=1)"),
        ([{"step": "select", "key": "own"}], spaces.Dict(own=POLE, time=TWO), TWO, ""),
        ([{"step": "select", "key": "own"}], POLE, TWO, "step 1 (select) does not fit Box"),
        (["flatten"], spaces.Dict(a=spaces.Box(-1, 1, (2,)), b=spaces.Box(-1, 1, (2,))), TWO, ""),
        (
            ["flatten"],
            spaces.Box(-1, 1, (3, 2)),
            TWO,
            "of Box(4), this slot has Box(6) after flatten",
        ),
    ],
)
def test_what_comes_out_of_the_steps_is_compared(
    steps: Any, slot: Any, action_space: Any, words: str, tmp_path: Path
) -> None:
    file = policy(tmp_path)
    for space in (slot, to_space(slot)):
        said = incompatibility(file, space, action_space, steps)
        assert words in said
        assert bool(said) == bool(words)


def test_the_policys_own_steps_apply_unless_the_slot_has_some(tmp_path: Path) -> None:
    slot = spaces.Dict(own=POLE, time=TWO)
    file = policy(
        tmp_path, preprocessing=[{"step": "select", "key": "own"}], observation_space=space_to_spec(slot)
    )
    assert incompatibility(file, slot, TWO) == ""
    assert incompatibility(file, POLE, TWO, ["flatten"]) == ""
    assert "(select) does not fit" in incompatibility(file, POLE, TWO)


def test_pipelines_of_assignments(tmp_path: Path) -> None:
    if not WorkerTypeRegistry.all():
        discover()
    rl, human = (WorkerTypeRegistry.require(name) for name in ("cleanrl_worker", "human_worker"))
    kept = kept_policy(tmp_path / "kept", preprocessing=[{"step": "frame_stack", "size": 2}])
    bad = kept_policy(tmp_path / "bad", preprocessing=[{"step": "frame_stock"}])
    slot = SlotInfo("agent_0", POLE, TWO)
    row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(kept)})
    found = pipeline_of(row, rl, slot)
    assert found is not None
    assert found.input_space.shape == (2, 4)
    assert pipeline_of(WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/nowhere"}), rl, slot) is None
    assert pipeline_of(WorkerAssignment("cleanrl_worker", "rl"), rl, slot) is None
    own = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(kept)}, preprocess=["flatten"])
    chosen = pipeline_of(own, rl, slot)
    assert chosen is not None
    assert chosen.input_space.shape == (4,)
    with pytest.raises(PreprocessingError, match="did you mean 'frame_stack'"):
        pipeline_of(WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(bad)}), rl, slot)
    with pytest.raises(PreprocessingError, match="a person sees the environment"):
        pipeline_of(WorkerAssignment("", "human", preprocess=["flatten"]), human, slot)


def test_spaces_in_words() -> None:
    assert space_words(spaces.Dict(a=POLE, b=spaces.Tuple((TWO, TWO)))) == (
        "Dict(a: Box(4), b: Tuple(Discrete(2), Discrete(2)))"
    )
    assert space_words(spaces.MultiDiscrete([2, 3])) == "MultiDiscrete([2, 3])"
    assert len(space_words(spaces.Dict({f"key_{i}": POLE for i in range(50)}))) == 100


IMAGE = spaces.Box(0, 255, (8, 8, 3), np.uint8)


def worker(inputs: WorkerInputs | None = None, **capabilities: Any) -> WorkerTypeDefinition:
    known = WorkerCapabilities("test_slot_worker", **capabilities)
    return WorkerTypeDefinition("test_slot_worker", "Tester", "", known, inputs=inputs or WorkerInputs())


def said(
    who: WorkerTypeDefinition, observation_space: Any, action_space: Any, *offers: str, env_id: str = ""
) -> str:
    slot = SlotInfo("a", observation_space, action_space, offers=offers or ("legal_actions",), env_id=env_id)
    return fit(slot, who, WorkerAssignment(who.type_id, who.kind.value))


def test_a_policy_trained_alone_plays_one_seat_of_a_team_without_gpu() -> None:
    assert said(worker(max_agents=1, requires_gpu=True, env_types=["gymnasium"]), POLE, TWO) == ""


@pytest.mark.parametrize(
    ("observation_space", "action_space", "words"),
    [
        (TWO, TWO, "Tester observes box spaces, this slot's is discrete: Discrete(2)"),
        (POLE, POLE, "Tester acts in discrete spaces, this slot's is continuous"),
        (spaces.Dict(a=TWO), spaces.MultiBinary(3), "acts in"),
    ],
)
def test_spaces_that_do_not_fit_are_named(observation_space: Any, action_space: Any, words: str) -> None:
    assert words in said(worker(), observation_space, action_space)


def test_an_image_is_a_box_and_any_is_anything() -> None:
    assert said(worker(), IMAGE, TWO) == ""
    assert said(worker(observation_spaces=["image"]), IMAGE, TWO) == ""
    assert said(worker(observation_spaces=["image"]), POLE, TWO)
    assert said(worker(observation_spaces=["any"], action_spaces=["any"]), TWO, IMAGE) == ""


def test_what_is_required_must_be_there_and_what_is_optional_need_not() -> None:
    asks = worker(WorkerInputs(image="required", messages="optional"))
    assert said(asks, POLE, TWO, "image") == ""
    missing = "Tester needs image, but here there is no picture of what this seat may see"
    assert said(asks, POLE, TWO) == missing
    assert said(asks, POLE, TWO, "text") == f"{missing}; a worker that takes text can play it"


def test_who_reads_words_need_not_understand_the_observation() -> None:
    reader = worker(WorkerInputs(text="required"), observation_spaces=["text"])
    grid = spaces.Dict(image=IMAGE)
    assert said(reader, grid, TWO, "text") == ""
    assert "observes text" in said(reader, grid, TWO)


def test_long_spaces_are_shortened() -> None:
    assert 0 < len(said(worker(), spaces.Dict({f"k{i}": TWO for i in range(50)}), TWO)) < 200


def test_who_is_made_for_certain_environments_plays_no_others() -> None:
    player = worker(environments=["*chess*", "*shogi*"])
    assert said(player, POLE, TWO, env_id="OpenSpiel/Chess") == ""
    assert said(player, POLE, TWO, env_id="") == "", "the name of one's own environment says nothing"
    refused = "Tester is made for chess or shogi, not for CartPole-v1"
    assert said(player, POLE, TWO, env_id="CartPole-v1") == refused
