"""Chooses the OpenGL backend with which MuJoCo renders on this machine: a window's, EGL, or OSMesa.

MuJoCo uses the first library that can be imported. Without a display that library may be unable to render,
and MuJoCo fails in the middle of an episode. This module tries each backend by rendering in a separate
process, because a bad driver ends the process, and caches the answer. OSMesa renders in software.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.paths import cache_dir
from gym_gui.processes.run_child import run_child_sync
from mosaic_worker.plain_files import replace_file

VARIABLE: Final = "MUJOCO_GL"
_TIMEOUT_S: Final = 60.0
_TRY: Final = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
renderer = mujoco.Renderer(model, 16, 16)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer.update_scene(data)
assert renderer.render().shape == (16, 16, 3)
"""


def choose() -> str:
    """Set ``MUJOCO_GL`` to a backend that can render here, unless it is set already, and return it.

    Raises:
        MissingDependencyError: No backend can render.
    """
    if not os.environ.get(VARIABLE):
        os.environ[VARIABLE] = _remembered() or _first_that_draws()
    return os.environ[VARIABLE]


def drawable(env: Any) -> Any:
    """Return the environment after :func:`choose`; call this before its first picture.

    Raises:
        MissingDependencyError: No backend can render here; the environment is closed.
    """
    try:
        choose()
    except MissingDependencyError:
        env.close()
        raise
    return env


def _first_that_draws() -> str:
    for way in _ways():
        if _draws(way):
            _remember(way)
            return way
    raise MissingDependencyError("MuJoCo's rendering library (OSMesa or EGL)", "apt-get install libosmesa6")


def _ways() -> Iterator[str]:
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        yield "glfw"
    yield from ("egl", "osmesa")


def _draws(way: str) -> bool:
    """Return whether a separate process can render with a backend."""
    environment = {**inherited(), VARIABLE: way}
    command = (sys.executable, "-c", _TRY)
    done = run_child_sync(*command, name="MuJoCo", environment=environment, within_s=_TIMEOUT_S)
    return done.outcome.succeeded


def _kept() -> Path:
    """Return the file that caches the chosen backend, for this version, Python and display."""
    display = os.environ.get("DISPLAY", "") or os.environ.get("WAYLAND_DISPLAY", "")
    facts = "\n".join([metadata.version("mujoco"), sys.executable, display])
    return cache_dir() / "mujoco" / hashlib.sha256(facts.encode()).hexdigest()[:16]


def _remembered() -> str:
    try:
        way = _kept().read_text("utf-8")
    except (OSError, ValueError):
        return ""
    return way if way in _ways() else ""


def _remember(way: str) -> None:
    with contextlib.suppress(OSError):  # a read-only home: searched again the next time
        _kept().parent.mkdir(parents=True, exist_ok=True)
        replace_file(_kept(), way.encode(), sync=False)
