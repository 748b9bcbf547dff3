"""DM Control's tasks through Shimmy, with reproducible episodes and rendering on any machine."""

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
        domain: The suite's name of the domain.
        task: The suite's name of the task.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: ``task_kwargs`` and ``environment_kwargs`` of the suite, ``render_kwargs`` of Shimmy.

    Raises:
        MissingDependencyError: Pictures are requested, but no rendering library works on this machine.
    """
    choose_renderer(render_mode)
    suite: Any = import_module("dm_control.suite")
    _restore_in1d(import_module("dm_control.suite.quadruped"))
    kwargs = dict(env_kwargs)
    drawn = {**_PICTURE, **kwargs.pop("render_kwargs", {})}
    # Some models are generated at random when they are made (lqr): fix the seed.
    kwargs["task_kwargs"] = {"random": 0, **(kwargs.get("task_kwargs") or {})}
    return _suite_class()(suite.load(domain, task, **kwargs), render_mode=render_mode, render_kwargs=drawn)


def choose_renderer(render_mode: str | None) -> None:
    """Make dm_control use a rendering library that works on this machine.

    By default dm_control takes the first library that it can import, which may need a display. It chooses at
    its import. If Shimmy has imported it earlier, for an OpenSpiel game, its rendering module is reloaded.

    Args:
        render_mode: Render mode of the environment; with ``None`` this function does nothing.

    Raises:
        MissingDependencyError: No rendering library works on this machine.
    """
    if render_mode is None:
        return
    way = mujoco_gl.choose()
    drawing: Any = import_module("dm_control._render")
    if way != drawing.BACKEND:
        reload(drawing)


def _suite_class() -> Callable[..., Any]:
    """Return a subclass of Shimmy's environment, defined at call time because the import loads MuJoCo."""
    base: Any = import_module("shimmy.dm_control_compatibility").DmControlCompatibilityV0

    class SuiteTask(base):
        """Shimmy's environment with copied observations and pictures; it may be closed twice.

        Attributes:
            actuators: Actuator of each component of an action.
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
    """Module ``numpy`` with ``in1d``, which the quadruped calls and which numpy 2.4 replaced by ``isin``."""

    in1d = staticmethod(np.isin)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _restore_in1d(module: Any) -> None:
    if module.np is np and not hasattr(np, "in1d"):
        module.np = _OlderNumpy()
