"""Copies of the session's simulator, many at once."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from mujoco.rollout import Rollout
from numpy.typing import NDArray

from mosaic_worker.worker import LoadError, PolicyFailed
from mujoco_mpc_worker.rewards import REWARDS, Array, Reward, Steps

_ALL = mujoco.mjtState.mjSTATE_INTEGRATION
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS


class Simulation:
    """A model, what its steps earn, and threads that roll it out.

    Args:
        about: What the session says of its simulator.
        threads: That simulate; 0: as many as there are cores.

    Attributes:
        low, high: Ends of the controls, (nu,).

    Raises:
        LoadError: It is another version of MuJoCo, or a task whose reward is not known here.
    """

    def __init__(self, about: Mapping[str, Any], threads: int = 0) -> None:
        theirs, ours = f"{about.get('engine')} {about.get('version')}", f"mujoco {mujoco.__version__}"
        if theirs != ours:
            raise LoadError(
                f"the session simulates with {theirs}, this worker with {ours}, and one's plans are not "
                f"the other's: install mujoco=={about.get('version')} for the worker"
            )
        task = str(about.get("task"))
        if task not in REWARDS:
            raise LoadError(f"the reward of {task} is not known here; known are {', '.join(REWARDS)}")
        model: Any = mujoco.MjModel.from_xml_string(str(about["model"]))
        self._set_up(model, REWARDS[task], about["constants"], int(about["frame_skip"]), threads)

    @classmethod
    def of(cls, model: Any, reward: Reward, frame_skip: int, threads: int = 0) -> Simulation:
        """One of a model and a reward of one's own."""
        made = cls.__new__(cls)
        made._set_up(model, reward, {}, frame_skip, threads)
        return made

    def _set_up(
        self, model: Any, reward: Reward, constants: Mapping[str, Any], frame_skip: int, threads: int
    ) -> None:
        self.model, self._reward, self._constants, self._skip = model, reward, constants, frame_skip
        self.seconds = float(model.opt.timestep) * frame_skip
        limited = np.asarray(model.actuator_ctrllimited, np.bool_)
        self.low: Array = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
        self.high: Array = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
        self._threads = threads or len(os.sched_getaffinity(0))
        self._pool: Any = Rollout(nthread=self._threads)
        self._data = [mujoco.MjData(model) for _ in range(self._threads)]
        self._size = int(mujoco.mj_stateSize(model, _ALL))

    def returns(self, state: Array, actions: Array) -> Array:
        """What plans earn from a state on.

        Args:
            state: ``mjSTATE_INTEGRATION``.
            actions: (plans, horizon, nu).

        Returns:
            (plans,); minus infinity for plans whose simulation diverges.

        Raises:
            PolicyFailed: All do, or the state is none of this model.
        """
        if state.shape != (self._size,):
            raise PolicyFailed(f"the session's state has {state.size} numbers, its model {self._size}")
        model, data = self.model, self._data[0]
        mujoco.mj_setState(model, data, state, _ALL)
        start = np.empty(int(mujoco.mj_stateSize(model, _PHYSICS)))
        mujoco.mj_getState(model, data, start, _PHYSICS)
        plans, horizon, _ = actions.shape
        states, _ = self._pool.rollout(
            model,
            self._data,
            np.tile(start, (plans, 1)),
            np.repeat(actions, self._skip, axis=1),
            initial_warmstart=np.tile(np.asarray(data.qacc_warmstart), (plans, 1)),
        )
        ends = states[:, self._skip - 1 :: self._skip]
        return self._earned(start, ends, actions, self._whole(states, start[0], horizon))

    def _whole(self, states: Array, begun: float, horizon: int) -> NDArray[np.bool_]:
        """Which plans were simulated to their end: others stand still in time, or are no numbers."""
        due = begun + horizon * self.seconds
        return np.isfinite(states).all((1, 2)) & (np.abs(states[:, -1, 0] - due) < self.seconds / 2)

    def _earned(self, start: Array, ends: Array, actions: Array, whole: NDArray[np.bool_]) -> Array:
        nq, nv = int(self.model.nq), int(self.model.nv)
        qpos, qvel = ends[..., 1 : 1 + nq], ends[..., 1 + nq : 1 + nq + nv]
        first = np.broadcast_to(start[1 : 1 + nq], (len(ends), 1, nq))
        before = np.concatenate((first, qpos[:, :-1]), axis=1)
        with np.errstate(all="ignore"):
            paid = self._reward(Steps(before, qpos, qvel, actions, self.seconds), self._constants)
        over = np.cumsum(paid.ends, axis=1)
        # The step that ends an episode is paid, those behind it are not.
        lives = np.concatenate((np.zeros((len(ends), 1)), over[:, :-1]), axis=1) == 0
        # A plan that breaks after the episode's end has earned all it could.
        sane = whole | ((over[:, -1] > 0) & np.isfinite(np.where(lives, paid.reward, 0.0)).all(1))
        if not sane.any():
            raise PolicyFailed(f"all {len(ends)} rollouts diverged: from this state on the simulation breaks")
        return np.where(sane, np.sum(np.where(lives, paid.reward, 0.0), axis=1), -np.inf)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()
