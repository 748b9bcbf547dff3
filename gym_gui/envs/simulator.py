"""The simulator inside an environment, for who plans with it: what it is, and all of its state."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np


class Simulator(Protocol):
    """What a family hands out of an environment whose simulator can be copied.

    It says more than any observation does; who is handed it is marked in every table.
    """

    def description(self) -> Mapping[str, Any]:
        """Engine, version, model and constants of the task: plain data, told once."""
        ...

    def state(self) -> tuple[float, ...]:
        """All that the next steps follow from, at this moment."""
        ...


def mujoco_in(env: Any) -> bool:
    """Whether an environment, innermost, is one of MuJoCo as Gymnasium has them."""
    known = sys.modules.get("gymnasium.envs.mujoco.mujoco_env")
    return known is not None and isinstance(env, known.MujocoEnv)


def simulator_in(env: Any) -> Simulator | None:
    """The simulator inside an environment, innermost, where its state can be handed out; else ``None``."""
    return MuJoCoSimulator(env) if mujoco_in(env) else None


def as_json(description: Mapping[str, Any]) -> str:
    """A description as it is sent; infinities are the strings that protobuf's JSON has for them."""
    return json.dumps(_finite(description))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return {key: _finite(each) for key, each in table.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


class MuJoCoSimulator:
    """MuJoCo within one of Gymnasium's environments.

    Args:
        env: A ``MujocoEnv``, innermost.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._mujoco: Any = import_module("mujoco")

    def description(self) -> Mapping[str, Any]:
        """The model's XML, how many of its steps are one of the environment's, and the task's numbers."""
        env, own = self._env, cast("dict[str, Any]", vars(self._env))
        return {
            "engine": "mujoco",
            "version": str(self._mujoco.__version__),
            "model": Path(env.fullpath).read_text("utf-8"),
            "model_sha256": self._digest(),
            "task": _task_of(env),
            "frame_skip": int(env.frame_skip),
            "constants": {name.strip("_"): value for name, value in own.items() if _plain(value)},
        }

    def _digest(self) -> str:
        """Of the compiled model: its text does not say what was changed in it since."""
        binary = np.zeros(int(self._mujoco.mj_sizeModel(self._env.model)), np.uint8)
        self._mujoco.mj_saveModel(self._env.model, None, binary)
        return hashlib.sha256(binary.tobytes()).hexdigest()

    def state(self) -> tuple[float, ...]:
        """``mjSTATE_INTEGRATION``: time, positions, speeds, activations, warm start and what acts on it."""
        engine = self._mujoco
        what = engine.mjtState.mjSTATE_INTEGRATION
        model, data = self._env.model, self._env.data
        state = np.empty(int(engine.mj_stateSize(model, what)))
        engine.mj_getState(model, data, state, what)
        return tuple(state.tolist())


def _task_of(env: object) -> str:
    """``hopper_v5``; of one's own ``module:Class``, which is taken for none of Gymnasium's."""
    kind = type(env)
    package, _, module = kind.__module__.rpartition(".")
    return module if package == "gymnasium.envs.mujoco" else f"{kind.__module__}:{kind.__qualname__}"


def _plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_plain, cast("list[Any]", value)))
    return isinstance(value, (bool, int, float))
