"""Access to the simulator inside an environment, for planners: its description and full state."""

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
    """Interface to the simulator inside an environment, from which a planner can make a copy.

    The state reveals more than any observation, so every results table marks agents that get the state.
    """

    def description(self) -> Mapping[str, Any]:
        """Return engine, version, model and constants of the task, as plain data that a worker gets once."""
        ...

    def state(self) -> tuple[float, ...]:
        """Return the current state, which determines all future states for given actions."""
        ...


def mujoco_in(env: Any) -> bool:
    """Return whether an innermost environment is one of Gymnasium's MuJoCo environments."""
    known = sys.modules.get("gymnasium.envs.mujoco.mujoco_env")
    return known is not None and isinstance(env, known.MujocoEnv)


def simulator_in(env: Any) -> Simulator | None:
    """Return the simulator inside an innermost environment; ``None`` if its state cannot be read."""
    return MuJoCoSimulator(env) if mujoco_in(env) else None


def as_json(description: Mapping[str, Any]) -> str:
    """Return a simulator's description as JSON; infinities become the strings that protobuf's JSON uses."""
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
    """MuJoCo simulator inside one of Gymnasium's environments.

    Args:
        env: The innermost ``MujocoEnv``.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._mujoco: Any = import_module("mujoco")

    def description(self) -> Mapping[str, Any]:
        """Return the model's XML, the frame skip and the task's constants."""
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
        """Return the digest of the compiled model, which includes changes made after its XML was read."""
        binary = np.zeros(int(self._mujoco.mj_sizeModel(self._env.model)), np.uint8)
        self._mujoco.mj_saveModel(self._env.model, None, binary)
        return hashlib.sha256(binary.tobytes()).hexdigest()

    def state(self) -> tuple[float, ...]:
        """Return MuJoCo's ``mjSTATE_INTEGRATION``: time, positions, velocities, activations and forces."""
        engine = self._mujoco
        what = engine.mjtState.mjSTATE_INTEGRATION
        model, data = self._env.model, self._env.data
        state = np.empty(int(engine.mj_stateSize(model, what)))
        engine.mj_getState(model, data, state, what)
        return tuple(state.tolist())


def _task_of(env: object) -> str:
    """Return the task's name: ``hopper_v5``, or ``module:Class`` for a class outside Gymnasium."""
    kind = type(env)
    package, _, module = kind.__module__.rpartition(".")
    return module if package == "gymnasium.envs.mujoco" else f"{kind.__module__}:{kind.__qualname__}"


def _plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_plain, cast("list[Any]", value)))
    return isinstance(value, (bool, int, float))
