"""Small pictures of environments: drawn once, in a process of its own, and kept."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from gym_gui.controllers.setup.environment_pictures import LONGEST, EnvironmentPictures
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe


async def test_a_picture_is_drawn_once_and_is_there_without_the_process(tmp_path: Path) -> None:
    probe = EnvironmentProbe()
    pictures = EnvironmentPictures(tmp_path, probe)
    try:
        png = await pictures.png("CartPole-v1")
        assert max(Image.open(io.BytesIO(png)).size) == LONGEST
        assert probe.running and [file.read_bytes() for file in tmp_path.iterdir()] == [png]
    finally:
        await pictures.close()
    assert not probe.running
    unasked = EnvironmentProbe()
    assert await EnvironmentPictures(tmp_path, unasked).png("CartPole-v1") == png
    assert not unasked.running


async def test_what_cannot_be_drawn_is_not_asked_again(tmp_path: Path) -> None:
    probe = EnvironmentProbe()
    pictures = EnvironmentPictures(tmp_path, probe)
    try:
        assert await pictures.png("open_spiel/kuhn_poker") == b""  # it has letters only
        assert [file.read_bytes() for file in tmp_path.iterdir()] == [b""]
        assert await pictures.png("there_is_no_such-v0") == b""
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        await pictures.close()


async def test_one_that_takes_too_long_is_given_up_and_not_held_against_it(tmp_path: Path) -> None:
    probe = EnvironmentProbe()
    hasty = EnvironmentPictures(tmp_path, probe, patience_s=0.01)
    try:
        assert await hasty.png("CartPole-v1") == b""
        assert not list(tmp_path.iterdir())
        assert await EnvironmentPictures(tmp_path, probe).png("CartPole-v1")
    finally:
        await probe.close()


@pytest.mark.parametrize("env_id", ["AirSim/Drone-v0", "AirSim/Car-v0"])
async def test_no_simulator_is_started_for_a_list(tmp_path: Path, env_id: str) -> None:
    probe = EnvironmentProbe()
    assert await EnvironmentPictures(tmp_path, probe).png(env_id) == b""
    assert not probe.running and not list(tmp_path.iterdir())
