"""A tiny random CLIP, which torch computes: what it chooses, and what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gym_gui.cli.contract_tests import check_worker
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, Invalid, LoadError, PolicyFailed, Slot, Worker
from tests.support.runs import played_here
from tests.support.tiny_clip import build_clip

WORDS = ("left", "right", "forward", "pickup")
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_clip(tmp_path_factory.mktemp("clip") / "tiny")


def slot(model: Path | str, **settings: Any) -> Slot:
    space = Space("Discrete", "int64", n=len(WORDS))
    return Slot(0, "agent_0", "Example-v0", space, space, {"model": str(model), **settings}, WORDS)


def loaded(slot: Slot) -> Worker:
    # Here, because it imports all of transformers: every process of the tests collects this module.
    from clip_worker.main import ClipWorker

    worker = ClipWorker()
    worker.load(slot)
    return worker


def picture(color: str, size: tuple[int, int] = (60, 40)) -> tuple[bytes, str]:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue(), "image/png"


def batch(slot: Slot, colors: Sequence[str], mask: Any = None, **more: Any) -> Batch:
    n = len(colors)
    seeds, seen = np.zeros(n, np.uint64), np.zeros(n, np.int64)
    masks = None if mask is None else np.array([mask] * n, bool)
    images = [picture(each) for each in colors]
    return Batch(slot, range(n), range(n), [0] * n, seeds, seen, masks, images=images, **more)


def scores(answer: Any) -> list[dict[str, float]]:
    return [extra["scores"] for extra in answer.extras]


def test_the_action_with_the_highest_score_is_played_and_the_picture_matters(clip: Path) -> None:
    seat = slot(clip)
    answer = loaded(seat).select_actions(batch(seat, ["red", "blue", "green", "white", "black"]))
    told = scores(answer)
    for action, each in zip(answer.actions, told, strict=True):
        assert tuple(each) == WORDS and sum(each.values()) == pytest.approx(1, abs=1e-3)
        assert WORDS[action] == max(each, key=lambda word: each[word])
    assert len(set(answer.actions)) > 1, "the same for every picture"


def test_it_is_what_the_library_s_own_model_says(clip: Path) -> None:
    import torch
    from transformers import CLIPModel, CLIPTokenizer
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    seat = slot(clip, caption="go {action}")
    (told,) = scores(loaded(seat).select_actions(batch(seat, ["blue"])))
    frame = Image.new("RGB", (60, 40), "blue")
    tokens = CLIPTokenizer.from_pretrained(clip)(
        [f"go {w}" for w in WORDS], padding=True, return_tensors="pt"
    )
    pixels = CLIPImageProcessorPil.from_pretrained(clip)(images=frame, return_tensors="pt")
    with torch.inference_mode():
        found = CLIPModel.from_pretrained(clip)(**tokens, **pixels).logits_per_image.softmax(-1)[0]
    assert list(told.values()) == pytest.approx(found.tolist(), abs=0.01)


def test_pictures_looked_at_together_get_what_they_get_alone(clip: Path) -> None:
    seat, colors = slot(clip), ["red", "blue", "green", "white", "black", "orange", "grey"]
    worker = loaded(seat)
    together = worker.select_actions(batch(seat, colors))
    alone = [loaded(seat).select_actions(batch(seat, [each])) for each in reversed(colors)][::-1]
    assert [each.actions[0] for each in alone] == together.actions
    assert [scores(each)[0] for each in alone] == scores(together)


def test_only_legal_actions_are_compared(clip: Path) -> None:
    seat = slot(clip)
    answer = loaded(seat).select_actions(batch(seat, ["red", "blue"], [False, True, False, True]))
    assert [list(each) for each in scores(answer)] == [["right", "pickup"]] * 2
    assert set(answer.actions) <= {1, 3}
    none = loaded(seat).select_actions(batch(seat, ["red"], [False] * 4))
    assert isinstance(none.actions[0], Invalid)


def test_words_that_depend_on_the_position_are_compared_instead(clip: Path) -> None:
    seat = replace(slot(clip), action_meanings=())
    answer = loaded(seat).select_actions(batch(seat, ["red"], choices=[[(3, "e2e4"), (1, "g1f3")]]))
    assert list(scores(answer)[0]) == ["e2e4", "g1f3"] and answer.actions[0] in (1, 3)
    with pytest.raises(PolicyFailed, match="no words"):
        loaded(seat).select_actions(batch(seat, ["red"]))


def test_a_caption_of_its_own_counts_for_its_action_alone(clip: Path) -> None:
    plain, other = slot(clip), slot(clip, captions={"left": "the agent at the door"})
    logits = [loaded(each).select_actions(batch(each, ["blue"])) for each in (plain, other)]
    before, after = (scores(each)[0] for each in logits)
    assert before["left"] != after["left"]
    assert before["right"] / before["pickup"] == pytest.approx(after["right"] / after["pickup"], rel=0.02)


def test_without_a_picture_the_answer_is_unusable(clip: Path) -> None:
    seat = slot(clip)
    (answer,) = loaded(seat).select_actions(replace(batch(seat, ["red"]), images=())).actions
    assert isinstance(answer, Invalid) and "no image" in answer.reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"caption": "go"}, "has no {action}"),
        ({"captions": {"lefft": "x"}}, "'lefft', which is not an action of the slot; actions are left"),
        ({"captions": "left"}, "captions must be an object"),
        ({"captions": {"left": None}}, "captions: the caption of 'left' is None, which is not text"),
        ({"captions": {"left": 3}}, "which is not text"),
    ],
)
def test_captions_that_cannot_be_are_refused(clip: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(LoadError) as refused:
        loaded(slot(clip, **settings))
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_too_many_actions_are_refused(clip: Path) -> None:
    many = [f"move {i}" for i in range(1001)]
    with pytest.raises(LoadError, match="1001 actions, and CLIP is asked to tell at most 1000 apart"):
        loaded(replace(slot(clip), action_meanings=many))
    seat = replace(slot(clip), action_meanings=())
    with pytest.raises(PolicyFailed, match="1001 actions"):
        loaded(seat).select_actions(batch(seat, ["red"], choices=[list(enumerate(many))]))


def _without(name: str) -> Any:
    return lambda folder: (folder / name).unlink()


def _config(**changes: Any) -> Any:
    def change(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))

    return change


def _pickled(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")


def _linked(folder: Path) -> None:
    weights = (folder / WEIGHTS).rename(folder.parent / "elsewhere")
    (folder / WEIGHTS).symlink_to(weights)


def _cut(folder: Path) -> None:
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:1000])


def _other_weights(folder: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"logit_scale": np.zeros((), np.float32)}, folder / WEIGHTS)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (shutil.rmtree, "there is no folder"),
        (_without("config.json"), "it has no config.json"),
        (_without("vocab.json"), "has no tokenizer"),
        (_without("preprocessor_config.json"), "it has no preprocessor_config.json"),
        (_config(model_type="siglip"), "is not a CLIP model: its config.json has the model_type siglip"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json is not JSON"),
        (_pickled, "pytorch_model.bin is a pickle, which is never opened"),
        (_linked, "which makes no links"),
        (_cut, "cannot be loaded"),
        (_config(projection_dim=24), "cannot be loaded"),
        (_other_weights, "lacks 77 weights"),
    ],
)
def test_what_is_no_clip_model_is_refused_in_one_line(
    clip: Path, tmp_path: Path, harm: Any, words: str
) -> None:
    harm(shutil.copytree(clip, folder := tmp_path / "mine"))
    with pytest.raises(LoadError) as refused:
        loaded(slot(folder))
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_weights_that_are_no_numbers_fail_the_episode(clip: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(clip, tmp_path / "mine")
    weights = {name: np.full_like(each, np.nan) for name, each in load_file(folder / WEIGHTS).items()}
    save_file(weights, folder / WEIGHTS)
    seat = slot(folder)
    with pytest.raises(PolicyFailed, match="not a number"):
        loaded(seat).select_actions(batch(seat, ["red"]))


GRID = "MiniGrid-Empty-5x5-v0"


def experiment(task: str, model: Path, *agents: str) -> dict[str, Any]:
    seat = {"worker_id": "clip_worker", "settings": {"model": str(model)}}
    operator = {"id": "clip", "task": task, "workers": dict.fromkeys(agents or ("agent",), seat)}
    return {"operators": [operator], "execution": {"num_episodes": 3, "seeds": 7, "max_steps": 5}}


async def test_it_plays_what_it_sees_and_the_record_says_why(clip: Path, tmp_path: Path) -> None:
    recorded = await played_here(tmp_path, experiment(GRID, clip))
    steps = recorded.steps("clip")
    assert len(steps) == 15
    for step in steps:
        told = step.extra["scores"]
        assert len(told) == 7 and list(told)[int(step.action)] == max(told, key=lambda word: told[word])
    digest = hashlib.sha256((clip / WEIGHTS).read_bytes()).hexdigest()
    assert f"clip:tiny:{digest[:8]}" in str(recorded.header())


@pytest.mark.full
def test_a_check_in_an_environment_shows_it_the_environment_s_pictures(
    clip: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_worker("clip_worker", [f"model={clip}"], env=GRID) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("task", "agents", "words"),
    [
        ("open_spiel/tic_tac_toe", ("player_0", "player_1"), "needs image"),
        ("Pendulum-v1", ("agent",), "clip_worker"),
    ],
)
def test_where_there_is_no_picture_or_nothing_to_choose_it_is_refused_before_the_start(
    clip: Path, task: str, agents: Sequence[str], words: str
) -> None:
    (operator,) = experiment_from_data(experiment(task, clip, *agents)).operators
    with pytest.raises(UsageError, match=words):
        resolve_operator(operator)
