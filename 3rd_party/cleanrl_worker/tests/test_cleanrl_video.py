"""A film of the policy is made now and then, with what is installed, and never stops a training."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from cleanrl_worker.train import main
from mosaic_worker.learning.film import CannotFilm, write_film

SMALL = ["--num-envs=4", "--num-steps=32", "--hidden", "8", "--total-steps=512"]


def events(folder: Path, name: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_bytes().splitlines()]
    return [row for row in rows if row["event"] == name]


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", pytest.param("MiniGrid-Empty-5x5-v0", marks=pytest.mark.full)]
)
def test_an_episode_is_filmed_every_so_many_steps(env_id: str, tmp_path: Path) -> None:
    args = [f"--env-id={env_id}", *SMALL, "--video-every=256", f"--out={tmp_path}"]
    assert main(args) == 0
    said = events(tmp_path, "video")
    assert [row["step"] for row in said] == [256, 512]
    assert [row["file"] for row in said] == ["videos/step-000000256.mp4", "videos/step-000000512.mp4"]
    assert {path.name for path in (tmp_path / "videos").iterdir()} == {Path(r["file"]).name for r in said}
    with av.open(str(tmp_path / said[-1]["file"])) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) > 5
    assert frames[0].std() > 1  # not a blank picture
    assert any((frame != frames[0]).any() for frame in frames[1:])


def test_the_finished_policy_is_filmed(tmp_path: Path) -> None:
    """Though the training ends before a film is due."""
    args = ["--env-id=CartPole-v1", *SMALL, "--total-steps=500", "--video-every=1000", f"--out={tmp_path}"]
    assert main(args) == 0
    (film,) = events(tmp_path, "video")
    (done,) = events(tmp_path, "done")
    assert film["step"] == done["step"] == 512


def test_films_change_nothing_that_is_learnt(tmp_path: Path) -> None:
    args = ["--env-id=CartPole-v1", *SMALL]
    assert main([*args, f"--out={tmp_path / 'a'}"]) == 0
    assert main([*args, f"--out={tmp_path / 'b'}", "--video-every=128"]) == 0
    first, second = ((tmp_path / n / "model.safetensors").read_bytes() for n in "ab")
    assert first == second


def without(names: tuple[str, ...], patch: pytest.MonkeyPatch) -> None:
    """As on a machine where these packages are not installed."""
    real = builtins.__import__

    def lacking(name: str, *args: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] in names:
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **keywords)

    patch.setattr(builtins, "__import__", lacking)


FRAMES = [np.full((20, 30, 3), shade, np.uint8) for shade in (0, 100, 200)]


def test_without_av_it_is_a_gif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(("av",), monkeypatch)
    path = write_film(FRAMES, tmp_path, 7)
    assert path.relative_to(tmp_path) == Path("videos/step-000000007.gif")
    with Image.open(path) as picture:
        assert (picture.size, picture.n_frames) == ((30, 20), 3)  # type: ignore[attr-defined]


def test_without_either_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(("av", "PIL"), monkeypatch)
    with pytest.raises(CannotFilm, match="neither av nor pillow"):
        write_film(FRAMES, tmp_path, 7)


def test_what_cannot_be_shown_is_a_warning(tmp_path: Path) -> None:
    args = ["--env-id=Constant-v0", *SMALL, "--video-every=256", f"--out={tmp_path}"]
    assert main(args) == 0
    (first, second) = events(tmp_path, "warning")
    assert "no video at step 256" in first["message"]
    assert "no video at step 512" in second["message"]
