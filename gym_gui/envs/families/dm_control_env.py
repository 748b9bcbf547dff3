"""DM Control's tasks through Shimmy, repeatable and drawn as this machine can."""

# dm_control is untyped, and Shimmy's environment knows types of it.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeArgument=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module, reload
from typing import Any

import numpy as np

from gym_gui.envs import mujoco_gl

_PICTURE: Mapping[str, int] = {"width": 480, "height": 360, "camera_id": 0}
_SEEDS = 2**32


def suite_task(domain: str, task: str, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
    """Make a task of the suite.

    Args:
        domain: As the suite calls it.
        task: As the suite calls it.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: ``task_kwargs`` and ``environment_kwargs`` of the suite, ``render_kwargs`` of Shimmy.

    Raises:
        MissingDependencyError: Pictures are wanted, and nothing draws here.
    """
    draw_with_what_there_is(render_mode)
    suite: Any = import_module("dm_control.suite")
    _mend_quadruped(import_module("dm_control.suite.quadruped"))
    kwargs = dict(env_kwargs)
    drawn = {**_PICTURE, **kwargs.pop("render_kwargs", {})}
    # Some models are drawn at random when they are made (lqr): the same in every process.
    kwargs["task_kwargs"] = {"random": 0, **(kwargs.get("task_kwargs") or {})}
    return _of_shimmy()(suite.load(domain, task, **kwargs), render_mode=render_mode, render_kwargs=drawn)


def draw_with_what_there_is(render_mode: str | None) -> None:
    """dm_control takes the first library it can import, which without a display is one that cannot draw.

    It does so while it is imported, be it by Shimmy for a game of OpenSpiel's: then it is to choose again.

    Args:
        render_mode: Where it is ``None``, nothing is drawn, and nothing happens.

    Raises:
        MissingDependencyError: Nothing draws here.
    """
    if render_mode is None:
        return
    way = mujoco_gl.choose()
    drawing: Any = import_module("dm_control._render")
    if way != drawing.BACKEND:
        reload(drawing)


def _of_shimmy() -> Callable[..., Any]:
    """Made here because its base imports MuJoCo's drawing."""
    base: Any = import_module("shimmy.dm_control_compatibility").DmControlCompatibilityV0

    class SuiteTask(base):
        """Shimmy's environment: observations and pictures are the caller's own, and it may be closed twice.

        Attributes:
            actuators: What the components of an action drive.
        """

        def __init__(self, env: Any, **kwargs: Any) -> None:
            super().__init__(env, **kwargs)
            model = env.physics.model
            names = [str(model.id2name(i, "actuator")) for i in range(model.nu)]
            self.actuators = tuple(name.replace("_", " ") or f"motor {i}" for i, name in enumerate(names, 1))
            self._open = True

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            seen, _ = super().reset(seed=None if seed is None else seed % _SEEDS, options=options)
            return _copied(seen), {}

        def step(self, action: Any) -> Any:
            seen, reward, ended, cut, _ = super().step(action)
            return _copied(seen), float(reward), ended, cut, {}

        def render(self) -> Any:
            picture = super().render()
            return None if picture is None else np.array(picture)

        def close(self) -> None:
            if self._open:
                self._open = False
                super().close()

    return SuiteTask


def _copied(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.array(value) for name, value in seen.items()}


class _OlderNumpy:
    """numpy with a function that the quadruped asks for and 2.4 has no more; ``isin`` took its place."""

    in1d = staticmethod(np.isin)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _mend_quadruped(module: Any) -> None:
    if module.np is np and not hasattr(np, "in1d"):
        module.np = _OlderNumpy()
