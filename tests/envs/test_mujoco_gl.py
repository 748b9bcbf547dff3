"""MuJoCo draws without a display, or says in one sentence what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs import mujoco_gl

pytest.importorskip("mujoco")


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path))
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", mujoco_gl.VARIABLE):
        monkeypatch.delenv(variable, raising=False)


def test_a_picture_without_a_display(tmp_path: Path) -> None:
    try:
        environment = envs.make("InvertedPendulum-v5", render_mode="rgb_array")
    except MissingDependencyError as error:
        assert error.install == "apt-get install libosmesa6"
        pytest.skip("neither EGL nor OSMesa draws on this machine")
    try:
        environment.adapter.reset(seed=1)
        picture = environment.picture()
        assert picture is not None
        assert picture.std() > 0, "a picture of something"
    finally:
        environment.close()
    (kept,) = (tmp_path / "mujoco").iterdir()
    assert kept.read_text() in ("egl", "osmesa")


def test_what_somebody_chose_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mujoco_gl.VARIABLE, "osmesa")
    assert mujoco_gl.choose() == "osmesa"
