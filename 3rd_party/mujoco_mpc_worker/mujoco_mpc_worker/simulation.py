"""Copies of the session's simulator, many at once."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco.rollout import Rollout
from numpy.typing import NDArray

from mosaic_worker.worker import LoadError, PolicyFailed
from mujoco_mpc_worker.rewards import REWARDS, Array, Reward, Steps

_ALL = mujoco.mjtState.mjSTATE_INTEGRATION
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CONTROLS = mujoco.mjtState.mjSTATE_CTRL
_APPLIED = mujoco.mjtState.mjSTATE_USER


class Rollouts(NamedTuple):
    """What became of plans.

    Attributes:
        states: ``mjSTATE_FULLPHYSICS`` behind each step of the environment, (plans, horizon, size).
        whole: Which plans were simulated to their end, (plans,); others are no numbers, or stand still.
    """

    states: Array
    whole: NDArray[np.bool_]


class Simulation:
    """A model, what its steps earn, and threads that roll it out.

    Args:
        about: What the session says of its simulator.
        threads: That simulate; 0: as many as there are cores.
        substeps: Steps of the simulator within one of the environment. 0: the environment's own, with its
            integrator; else so many, longer or shorter, with ``implicitfast``, which costs a quarter of
            Runge-Kutta.
        survival: What a plan is worth more that does not end the episode, for all that lies behind it.

    Attributes:
        model: MuJoCo's, as it plans.
        seconds: Of one step of the environment.
        low, high: Ends of the controls, (nu,).

    Raises:
        LoadError: It is another version of MuJoCo or another model, or a task whose reward is not known here.
    """

    def __init__(
        self, about: Mapping[str, Any], threads: int = 0, substeps: int = 0, survival: float = 0.0
    ) -> None:
        theirs, ours = f"{about.get('engine')} {about.get('version')}", f"mujoco {mujoco.__version__}"
        if theirs != ours:
            raise LoadError(
                f"the session simulates with {theirs}, this worker with {ours}, and one's plans are not "
                f"the other's: install mujoco=={about.get('version')} for the worker"
            )
        task = str(about.get("task"))
        if task not in REWARDS:
            raise LoadError(f"the reward of {task} is not known here; known are {', '.join(REWARDS)}")
        model = _compiled(about)
        self._set_up(
            model, REWARDS[task], about["constants"], int(about["frame_skip"]), threads, substeps, survival
        )

    @classmethod
    def of(
        cls,
        model: Any,
        reward: Reward,
        frame_skip: int,
        threads: int = 0,
        substeps: int = 0,
        survival: float = 0.0,
    ) -> Simulation:
        """One of a model and a reward of one's own."""
        made = cls.__new__(cls)
        made._set_up(model, reward, {}, frame_skip, threads, substeps, survival)
        return made

    def _set_up(
        self,
        model: Any,
        reward: Reward,
        constants: Mapping[str, Any],
        frame_skip: int,
        threads: int,
        substeps: int,
        survival: float,
    ) -> None:
        self.model, self._reward, self._constants, self._survival = model, reward, constants, survival
        self.seconds = float(model.opt.timestep) * frame_skip
        self._skip = substeps or frame_skip
        if substeps:
            model.opt.timestep = self.seconds / substeps
            model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        limited = np.asarray(model.actuator_ctrllimited, np.bool_)
        self.low: Array = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
        self.high: Array = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
        # Plans that diverge are left out by what they earn; MuJoCo would note each in a file where we stand.
        mujoco.set_mju_user_warning(_unsaid)
        self._threads = threads or len(os.sched_getaffinity(0))
        self._pool: Any = Rollout(nthread=self._threads)
        self._data = [mujoco.MjData(model) for _ in range(self._threads)]
        self._size = int(mujoco.mj_stateSize(model, _ALL))
        self._unapplied = self._part(self._data[0], _APPLIED)[model.nu :]

    def _part(self, data: Any, what: Any) -> Array:
        part = np.empty(int(mujoco.mj_stateSize(self.model, what)))
        mujoco.mj_getState(self.model, data, part, what)
        return part

    def rollouts(self, state: Array, actions: Array) -> tuple[Array, Rollouts]:
        """Simulate plans.

        Args:
            state: ``mjSTATE_INTEGRATION``.
            actions: (plans, horizon, nu).

        Returns:
            ``mjSTATE_FULLPHYSICS`` at the start, and what became of the plans.

        Raises:
            PolicyFailed: The state is none of this model.
        """
        if state.shape != (self._size,):
            raise PolicyFailed(f"the session's state has {state.size} numbers, its model {self._size}")
        data = self._data[0]
        mujoco.mj_setState(self.model, data, state, _ALL)
        start, warm = self._part(data, _PHYSICS), np.array(data.qacc_warmstart)
        what, controls = _CONTROLS, np.repeat(actions, self._skip, axis=1)
        applied = self._part(data, _APPLIED)[actions.shape[2] :]
        if not np.array_equal(applied, self._unapplied):  # forces from outside, moved mocap bodies: they stay
            what = _APPLIED
            controls = np.concatenate(
                (controls, np.broadcast_to(applied, (*controls.shape[:2], applied.size))), axis=2
            )
        states, _ = self._pool.rollout(
            self.model,
            self._data,
            np.tile(start, (len(actions), 1)),
            controls,
            control_spec=int(what),
            initial_warmstart=np.tile(warm, (len(actions), 1)),
        )
        ends = states[:, self._skip - 1 :: self._skip]
        due = start[0] + actions.shape[1] * self.seconds
        # A simulation that breaks starts again or stands still: its time says so.
        whole = np.isfinite(ends).all((1, 2)) & (np.abs(ends[:, -1, 0] - due) < self.seconds / 2)
        return start, Rollouts(ends, whole)

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
        start, (ends, whole) = self.rollouts(state, actions)
        nq, nv = int(self.model.nq), int(self.model.nv)
        qpos, qvel = ends[..., 1 : 1 + nq], ends[..., 1 + nq : 1 + nq + nv]
        first = np.broadcast_to(start[1 : 1 + nq], (len(ends), 1, nq))
        before = np.concatenate((first, qpos[:, :-1]), axis=1)
        with np.errstate(all="ignore"):
            paid = self._reward(Steps(before, qpos, qvel, actions, self.seconds), self._constants)
        over = np.cumsum(paid.ends, axis=1)
        # The step that ends an episode is paid, those behind it are not.
        lives = np.concatenate((np.zeros((len(ends), 1)), over[:, :-1]), axis=1) == 0
        total = np.sum(np.where(lives, paid.reward, 0.0), axis=1)
        total = total + self._survival * (over[:, -1] == 0)
        # A plan that breaks after the episode's end has earned all it could.
        sane = (whole | (over[:, -1] > 0)) & np.isfinite(total)
        if not sane.any():
            raise PolicyFailed(f"all {len(ends)} rollouts diverged: from this state on the simulation breaks")
        return np.where(sane, total, -np.inf)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()


def _unsaid(_: str) -> None:
    """Take a warning."""


def _compiled(about: Mapping[str, Any]) -> Any:
    """The session's model.

    Raises:
        LoadError: It does not compile from its own text, or what compiles is another than the session has.
    """
    try:
        model: Any = mujoco.MjModel.from_xml_string(str(about["model"]))
    except ValueError as error:
        raise LoadError(
            f"the environment's model cannot be copied: it needs files beside its own ({error})"
        ) from error
    binary = np.zeros(int(mujoco.mj_sizeModel(model)), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    theirs = about.get("model_sha256")
    if theirs and theirs != hashlib.sha256(binary.tobytes()).hexdigest():
        raise LoadError(
            "the environment's model has been changed since it was read from its file, so that plans made in "
            "a copy of the file would be wrong: have the environment load a file that says what it plays"
        )
    return model
