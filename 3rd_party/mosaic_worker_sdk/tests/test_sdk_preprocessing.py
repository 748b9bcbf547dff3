"""Steps as data; the same observations in training and at a slot, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation, FrameStackObservation
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mosaic_worker.gymnasium_spaces import build, describe
from mosaic_worker.observation_wrappers import area_resize
from mosaic_worker.preprocessing import (
    STEPS,
    Pipeline,
    PreprocessingError,
    check_steps,
    describe_steps,
    wrap,
)

IMAGE = spaces.Box(0, 255, (7, 7, 3), np.uint8)
VECTOR = spaces.Box(-1, 1, (4,), np.float32)
CARTPOLE: list[Any] = [
    {"step": "frame_stack", "size": 4},
    "flatten",
    {"step": "normalize", "mean": [0.1 * i for i in range(16)], "var": [0.3] * 16, "clip": 5},
    {"step": "append", "values": [0, 1, 0.5]},
]
MINIGRID: list[Any] = [
    {"step": "select", "key": "image"},
    {"step": "resize", "shape": [14, 10]},
    {"step": "grayscale", "keep_dim": True},
    {"step": "frame_stack", "size": 4, "axis": -1},
    "transpose",
]


def roll(env_id: str, steps: Any, episodes: int = 3, length: int = 100) -> None:
    """Training's observations beside a slot's, from the same episodes."""
    trained, raw = wrap(gym.make(env_id), steps), gym.make(env_id)
    pipeline = Pipeline(steps, raw.observation_space)
    assert pipeline.input_space == trained.observation_space
    stream = pipeline.stream()
    trained.action_space.seed(0)
    for episode in range(episodes):
        wanted, _ = trained.reset(seed=episode)
        seen, _ = raw.reset(seed=episode)
        stream.reset()
        over, step = False, 0
        while not over and step < length:
            given_ = stream.apply(seen)
            assert (given_.dtype, given_.shape) == (wanted.dtype, wanted.shape)
            assert given_.tobytes() == wanted.tobytes()
            assert given_ in pipeline.input_space
            action, step = trained.action_space.sample(), step + 1
            wanted, _, ended, cut, _ = trained.step(action)
            seen = raw.step(action)[0]
            over = ended or cut


def test_cartpole_is_seen_as_in_training() -> None:
    roll("CartPole-v1", CARTPOLE)


def test_minigrid_is_seen_as_in_training() -> None:
    pytest.importorskip("minigrid")
    roll("MiniGrid-Empty-5x5-v0", MINIGRID)
    roll(
        "MiniGrid-Empty-5x5-v0",
        [
            {"step": "select", "key": "image"},
            {"step": "one_hot", "sizes": [11, 6, 3]},
            {"step": "frame_stack", "size": 2, "padding": "zero"},
            "flatten",
            {"step": "dtype", "dtype": "float32"},
        ],
    )


def test_entries_are_kept_at_any_depth() -> None:
    inner = spaces.Dict(image=IMAGE, mission=spaces.Text(9))
    pipeline = Pipeline(
        [{"step": "keep", "keys": ["option", "inner/image"]}, "flatten"],
        spaces.Dict(inner=inner, option=spaces.Discrete(3)),
    )
    image = np.arange(147, dtype=np.uint8).reshape(IMAGE.shape)
    seen = pipeline.stream().apply({"inner": {"image": image, "mission": "go"}, "option": 2})
    assert seen.tolist() == [*range(147), 0, 0, 1]  # by name, as Gymnasium's Dict has them


def test_the_wrappers_are_gymnasiums() -> None:
    ours = wrap(gym.make("CartPole-v1"), [{"step": "frame_stack", "size": 3}, "flatten"])
    theirs = FlattenObservation(FrameStackObservation(gym.make("CartPole-v1"), 3))
    assert (ours.reset(seed=3)[0] == theirs.reset(seed=3)[0]).all()
    for action in (0, 1, 1, 0):
        assert (ours.step(action)[0] == theirs.step(action)[0]).all()


def test_streams_do_not_mix() -> None:
    pipeline = Pipeline([{"step": "frame_stack", "size": 2}], spaces.Box(0, 9, (1,), np.float32))
    one, other = pipeline.stream(), pipeline.stream()
    assert one.apply(np.float32([1])).ravel().tolist() == [1, 1]
    assert other.apply(np.float32([5])).ravel().tolist() == [5, 5]
    kept = one.apply(np.float32([2]))
    assert one.apply(np.float32([3])).ravel().tolist() == [2, 3]
    assert kept.ravel().tolist() == [1, 2]
    assert other.apply(np.float32([6])).ravel().tolist() == [5, 6]
    one.reset()
    assert one.apply(np.float32([7])).ravel().tolist() == [7, 7]


def test_a_step_on_an_entry_leaves_the_others_as_they_are() -> None:
    inner = spaces.Dict(image=IMAGE, speed=VECTOR)
    space = spaces.Dict(seen=inner, gear=spaces.Discrete(3))
    steps = [
        {"step": "transpose", "key": "seen/image"},
        {"step": "frame_stack", "size": 2, "axis": 0, "padding": "zero", "key": "seen/speed"},
        {"step": "one_hot", "key": "gear"},
    ]
    pipeline = Pipeline(steps, space)
    assert pipeline.input_space["seen"]["image"].shape == (3, *IMAGE.shape[:2])
    assert pipeline.input_space["gear"].shape == (3,)
    one, other = pipeline.stream(), pipeline.stream()
    rows = [space.sample() for _ in range(3)]
    first, second, _ = (one.apply(row) for row in rows)
    np.testing.assert_array_equal(second["seen"]["image"], rows[1]["seen"]["image"].transpose(2, 0, 1))
    np.testing.assert_array_equal(
        second["seen"]["speed"], np.concatenate([rows[0]["seen"]["speed"], rows[1]["seen"]["speed"]])
    )
    assert not first["seen"]["speed"][: VECTOR.shape[0]].any()
    assert other.apply(rows[1])["seen"]["speed"][: VECTOR.shape[0]].any() == np.False_
    assert pipeline.input_space.contains(second)
    assert describe_steps(steps) == "transpose of seen/image, frame_stack 2 of seen/speed, one_hot of gear"


def test_an_entry_that_was_kept_by_its_path_is_named_by_it() -> None:
    space = spaces.Dict(seen=spaces.Dict(image=IMAGE), gear=spaces.Discrete(3))
    steps = [{"step": "keep", "keys": ["seen/image"]}, {"step": "flatten", "key": "seen/image"}]
    shown = Pipeline(steps, space).stream().apply(space.sample())
    assert shown["seen/image"].shape == (np.prod(IMAGE.shape),)


def test_without_steps_nothing_happens() -> None:
    env, seen = gym.make("CartPole-v1"), object()
    assert wrap(env, []) is env
    pipeline = Pipeline([], IMAGE)
    assert pipeline.input_space is IMAGE
    assert pipeline.stream().apply(seen) is seen


def test_statistics_do_not_learn_and_are_exact_in_json() -> None:
    mean = [0.1, 1 / 3, 2.0**-40, 1e300]
    steps = check_steps([{"step": "normalize", "mean": mean, "var": [1.0] * 4}])
    read = json.loads(json.dumps(steps))
    assert read == steps
    assert read[0]["mean"] == mean
    pipeline = Pipeline([{"step": "normalize", "mean": 0.5, "var": 0.25, "epsilon": 1e-12}], VECTOR)
    stream = pipeline.stream()
    first = stream.apply(np.float32([1, 0, 0.5, 0]))
    for _ in range(20):
        stream.apply(np.float32([1, 1, 1, 1]))
    assert (stream.apply(np.float32([1, 0, 0.5, 0])) == first).all()
    np.testing.assert_allclose(first, [1, -1, 0, -1], rtol=1e-6)


@given(st.data())
def test_resizing_keeps_means_and_constants(data: st.DataObject) -> None:
    sides = st.integers(1, 12)
    before = (data.draw(sides), data.draw(sides), 3)
    after = (data.draw(sides), data.draw(sides))
    image = data.draw(hnp.arrays(np.uint8, before))
    small = area_resize(before, after)(image)
    assert small.shape == (*after, 3)
    assert small.dtype == np.uint8
    assert abs(small.mean() - image.mean()) <= 0.5 + 1e-9  # each pixel is rounded by half at most
    flat = np.full(before, 77, np.uint8)
    assert (area_resize(before, after)(flat) == 77).all()
    if after == before[:2]:
        assert (small == image).all()


def test_resizing_averages_areas() -> None:
    image = np.arange(16, dtype=np.uint8).reshape(4, 4)
    assert area_resize((4, 4), (2, 2))(image).tolist() == [[3, 5], [11, 13]]  # of 2.5, 4.5, 10.5, 12.5


def test_opencv_is_gymnasiums_wrapper_or_said_to_be_missing() -> None:
    steps = [{"step": "resize", "shape": [4, 5], "method": "opencv"}]
    try:
        import cv2  # noqa: F401 # pyright: ignore[reportMissingImports]
    except ImportError:
        with pytest.raises(PreprocessingError, match=r"opencv .* is not installed"):
            Pipeline(steps, IMAGE)
    else:
        assert Pipeline(steps, IMAGE).input_space.shape == (4, 5, 3)


@pytest.mark.parametrize(
    ("steps", "space", "words"),
    [
        ("flatten", VECTOR, "is a list of steps"),
        (3, VECTOR, "is a list of steps"),
        ([None], VECTOR, "step 1 must have its name under"),
        ([{"size": 4}], VECTOR, "step 1 must have its name under"),
        (["color_reduction_v0"], VECTOR, "SuperSuit's color_reduction_v0 is 'grayscale' here"),
        (["flaten"], VECTOR, "there is no step 'flaten'; did you mean 'flatten'?"),
        (["zzzz"], VECTOR, "there are select, keep, flatten"),
        ([{"step": "resize", "shap": [4, 4]}], IMAGE, "has no option 'shap'; did you mean 'shape'?"),
        ([{"step": "flatten", "x": 1}], IMAGE, "has no option 'x'; there are key"),
        (
            [{"step": "transpose", "key": "view"}],
            spaces.Dict(image=IMAGE),
            "no entry 'view'; the entries are: image",
        ),
        ([{"step": "transpose", "key": "image/red"}], spaces.Dict(image=IMAGE), "no entry 'image/red'"),
        ([{"step": "flatten", "key": 3}], spaces.Dict(image=IMAGE), "key must be the name of an entry"),
        ([{"step": "rescale", "key": "image"}], IMAGE, "no entry 'image'"),
        (["resize"], IMAGE, "(resize) needs 'shape'"),
        ([{"step": "resize", "shape": [4]}], IMAGE, "shape must be 2 whole numbers"),
        ([{"step": "resize", "shape": [0, 4]}], IMAGE, "shape must be between 1 and 4096"),
        ([{"step": "resize", "shape": "ab"}], IMAGE, "must be a list of whole numbers"),
        ([{"step": "resize", "shape": [4, 4]}], VECTOR, "step 1 (resize) does not fit Box"),
        ([{"step": "frame_stack", "size": 0}], VECTOR, "size must be between"),
        ([{"step": "frame_stack", "size": True}], VECTOR, "size must be a whole number"),
        ([{"step": "frame_stack", "size": 2, "padding": "x"}], VECTOR, "padding must be reset or zero"),
        ([{"step": "frame_stack", "size": 2, "axis": 1}], VECTOR, "it has no axis 1"),
        ([{"step": "frame_stack", "size": 4}, "grayscale"], IMAGE, "step 2 (grayscale) does not fit"),
        ([{"step": "grayscale", "keep_dim": 1}], IMAGE, "keep_dim must be true or false"),
        ([{"step": "select", "key": "imag"}], spaces.Dict(image=IMAGE), "it has no 'imag'; it has image"),
        ([{"step": "select", "key": "image"}], IMAGE, "leave this step out"),
        (
            [{"step": "keep", "keys": ["imag"]}],
            spaces.Dict(image=IMAGE),
            "no entry 'imag'; the entries are: image",
        ),
        ([{"step": "keep", "keys": ["image/x"]}], spaces.Dict(image=IMAGE), "image is no Dict"),
        ([{"step": "keep", "keys": "image"}], spaces.Dict(image=IMAGE), "must be a list of names"),
        ([{"step": "keep", "keys": ["a", "a"]}], spaces.Dict(a=IMAGE), "name each entry once"),
        ([{"step": "select", "key": 1.5}], IMAGE, "key must be a name"),
        ([{"step": "one_hot"}], IMAGE, "'sizes' needs one number for each of its 3 channels"),
        ([{"step": "one_hot"}], VECTOR, "it takes whole numbers"),
        ([{"step": "transpose", "axes": [0, 0, 1]}], IMAGE, "must name every axis"),
        (["transpose"], VECTOR, "it has 1 axes"),
        (["rescale"], spaces.Box(-np.inf, np.inf, (2,)), "its bounds are infinite"),
        ([{"step": "append", "values": [1]}], IMAGE, "it takes a vector and a list of numbers"),
        ([{"step": "append", "values": [[1]]}], VECTOR, "it takes a vector and a list of numbers"),
        ([{"step": "rescale", "low": 1, "high": 0}], IMAGE, "must be less than"),
        ([{"step": "normalize", "mean": [0, 0], "var": 1}], VECTOR, "'mean' is of shape (2,)"),
        ([{"step": "normalize", "mean": 0, "var": -1}], VECTOR, "var must not be negative"),
        ([{"step": "normalize", "mean": ["a"], "var": 1}], VECTOR, "mean must be numbers"),
        ([{"step": "normalize", "mean": 0, "var": float("nan")}], VECTOR, "var must be finite"),
        ([{"step": "normalize", "mean": 0, "var": 1, "clip": 0}], VECTOR, "clip must be more than 0"),
        ([{"step": "dtype", "dtype": "object"}], VECTOR, "must be a type of numbers"),
        ([{"step": "dtype", "dtype": "strange"}], VECTOR, "is no element type"),
        ([{"step": "dtype", "dtype": "uint8"}], spaces.Box(-1, 300, (2,)), "uint8 cannot hold"),
        (["flatten"], spaces.Sequence(VECTOR), "select the others first"),
    ],
)
def test_what_cannot_be_is_one_sentence(steps: Any, space: Any, words: str) -> None:
    with pytest.raises(PreprocessingError) as caught:
        Pipeline(steps, space)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_steps_are_equal_however_they_are_written() -> None:
    written_out = [{"step": "flatten"}, {"step": "transpose", "axes": [2, 0, 1]}]
    assert check_steps(["flatten", "transpose"]) == check_steps(written_out)
    assert check_steps([{"step": "frame_stack", "size": 4}]) != check_steps(
        [{"step": "frame_stack", "size": 2}]
    )
    assert describe_steps(MINIGRID) == "select image, resize 14x10, grayscale, frame_stack 4, transpose"


def test_every_step_is_in_the_table() -> None:
    import mosaic_worker.preprocessing as module

    for step in STEPS:
        assert f"``{step}``" in str(module.__doc__)


def test_checking_needs_no_gymnasium() -> None:
    code = (
        "import sys; from mosaic_worker.preprocessing import check_steps;"
        "check_steps(['flatten']); sys.exit('gymnasium' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    "space",
    [
        IMAGE,
        spaces.Box(np.float32([0, -np.inf]), np.float32([1, np.inf])),
        spaces.Discrete(4, start=2),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary((2, 2)),
        spaces.Text(5, charset="abc"),
        spaces.Dict(b=VECTOR, a=spaces.Tuple((IMAGE, spaces.Discrete(2)))),
        spaces.Sequence(VECTOR, stack=True),
        spaces.Graph(VECTOR, spaces.Discrete(2)),
        spaces.OneOf((VECTOR, spaces.Discrete(2))),
    ],
)
def test_spaces_come_back_from_their_descriptions(space: Any) -> None:
    assert build(describe(space)) == space


def test_a_custom_space_beside_what_is_selected_does_not_matter() -> None:
    class Mission(spaces.Space[str]):
        def contains(self, x: Any) -> bool:
            return isinstance(x, str)

    space = spaces.Dict(image=IMAGE, mission=Mission(None, None))
    steps = [{"step": "select", "key": "image"}]
    assert Pipeline(steps, describe(space)).input_space == IMAGE
    with pytest.raises(PreprocessingError, match="select the others first"):
        Pipeline(["flatten"], describe(space))
