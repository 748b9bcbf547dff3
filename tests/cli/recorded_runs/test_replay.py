"""``mosaic replay`` as a person starts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.core.config import OperatorConfig
from tests.support.commands import Mosaic
from tests.support.engine import player, record_run

pytestmark = pytest.mark.usefixtures("sessions_here")


@pytest.fixture
async def run(tmp_path: Path) -> Path:
    policy = player(lambda s: (s.seed + s.step_index) % 2)
    operator = OperatorConfig("pole", "Pole", "", "CartPole-v1", {})
    return await record_run(tmp_path / "runs", (operator, {"agent_0": policy}), seeds=(1, 2))


def test_a_video(mosaic: Mosaic, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "e.mp4"
    done = mosaic("replay", str(run), "--episode", "1", "--video", str(path), "--json")
    assert done.status == 0, done.err
    result = done.json()
    assert result["equal"] and result["episode_index"] == 1 and result["seed"] == 2
    progress = [json.loads(line)["progress"] for line in done.err.splitlines() if line.startswith("{")]
    assert progress[-1]["done"] == progress[-1]["total"] == result["steps"] > 0
    assert path.read_bytes()[4:8] == b"ftyp"


def test_without_a_display_a_video_is_proposed(mosaic: Mosaic, run: Path) -> None:
    nothing = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = mosaic("replay", str(run), "--episode", "1", **nothing)
    assert done.status == 2 and "there is no display" in done.line
    assert f"mosaic replay {run} --operator pole --episode 1 --video episode.mp4" in done.line


def test_without_pictures_it_is_a_check(mosaic: Mosaic, run: Path) -> None:
    assert mosaic("replay", str(run), "--json").json()["equal"] is True
    steps = run / "operators" / "pole" / "steps.jsonl"
    lines = steps.read_text().splitlines()
    lines[2] = lines[2].replace('"action":1', '"action":9').replace('"action":0', '"action":1')
    lines[2] = lines[2].replace('"action":9', '"action":0')
    steps.write_text("\n".join(lines) + "\n")
    done = mosaic("replay", str(run), "--json")
    assert done.status == 1 and "step 2" in done.json()["departs"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--operator", "x"], "no operator 'x'"),
        (["--episode", "9"], "Episodes 0 to 1 are recorded"),
        (["--video", "a.avi"], "is not an .mp4 file"),
    ],
)
def test_refusals_are_one_line(mosaic: Mosaic, run: Path, options: list[str], said: str) -> None:
    done = mosaic("replay", str(run), *options)
    assert done.status == 2 and said in done.line
