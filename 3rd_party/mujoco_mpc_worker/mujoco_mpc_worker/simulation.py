"""Simulates many copies of the session's simulator at once."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from mosaic_worker.worker import LoadError, PolicyFailed
from mujoco_mpc_worker.rewards import REWARDS, Array, Flags, Reward, StepRewards, Steps
from mujoco_mpc_worker.session_model import compiled
from mujoco_mpc_worker.tangents import Tangents
from mujoco_mpc_worker.task_file import Task

_ALL = mujoco.mjtState.mjSTATE_INTEGRATION
_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CONTROLS = mujoco.mjtState.mjSTATE_CTRL
_APPLIED = mujoco.mjtState.mjSTATE_USER
_FEW = 50
"""Number of simulator steps below which one thread simulates alone."""
_AT_ONCE = 64 * 2**20
"""Largest size of states and their derived data in memory, in bytes."""
_COPIES = 3
"""Number of copies of a state: the simulated one, and its components for the reward."""


class Rollouts(NamedTuple):
    """Simulation results of plans.

    Attributes:
        states: ``mjSTATE_FULLPHYSICS`` after each environment step, (plans, horizon, size).
        sensors: Sensor measurements then, (plans, horizon, nsensordata).
        whole: Whether a plan was simulated to its end, (plans,); other plans have NaN or constant states.
    """

    states: Array
    sensors: Array
    whole: Flags


class Course(NamedTuple):
    """Courses of plans at some of their steps, from the start to the end.

    Attributes:
        steps: Numbers of the environment steps, counted from the start.
        points: Course of the first plan in world coordinates, in meters.
        earned: Reward of each plan until then, (plans, steps); NaN if a plan's simulation diverges.
        beyond: Additional value of each plan after its end, for survival, (plans,).
    """

    steps: list[int]
    points: list[list[float]]
    earned: Array
    beyond: Array


class SimulatedSteps(NamedTuple):
    """Results of single steps.

    Attributes:
        states: ``mjSTATE_FULLPHYSICS`` after each step, (steps, size).
        inputs: Inputs of the reward, (steps, inputs).
        reward: Rewards of the steps, (steps,).
        ends: Whether the step ends the episode, (steps,).
    """

    states: Array
    inputs: Array
    reward: Array
    ends: Flags


Controls = Callable[[int, Array, int], Array]
"""Maps a step number, states (plans, size) and a number of steps to controls, (plans, steps, nu)."""


class Simulation:
    """A model with its reward, and threads that simulate it.

    Args:
        about: The session's description of its simulator.
        threads: Number of threads; 0 for one per core.
        step_ms: Longest simulator step, with the ``implicitfast`` integrator, which costs a quarter of
            Runge-Kutta; 0 keeps the environment's step and integrator.
        survival: Additional value of a plan that does not end the episode.
        task: Task file whose reward replaces that of the environment.
        aim: Reward that replaces that of the environment, as in :meth:`plan_for`.

    Attributes:
        model: MuJoCo model for planning.
        seconds: Duration of one environment step.
        low, high: Bounds of the controls, (nu,).

    Raises:
        LoadError: The version of MuJoCo or the model differs, or the task's reward is unknown.
    """

    def __init__(
        self,
        about: Mapping[str, Any],
        threads: int = 0,
        step_ms: float = 0.0,
        survival: float = 0.0,
        task: Task | None = None,
        aim: Reward | None = None,
    ) -> None:
        model, reward = compiled(about), aim or REWARDS.get(str(about.get("task")))
        if task is not None:
            task.check_names(model)
            measuring: Any = mujoco.MjSpec.from_string(str(about["model"]))
            task.measure(measuring)
            model = measuring.compile()
            reward = task.reward(model, reward)
        if reward is None:
            raise LoadError(
                f"the reward of {about.get('task')} is not known: name a task_file with the goal of "
                f"plans (docs/control.md); known rewards are those of {', '.join(REWARDS)}"
            )
        skip = int(about["frame_skip"])
        self._set_up(model, reward, about["constants"], skip, threads, step_ms, survival)

    @classmethod
    def of(
        cls,
        model: Any,
        reward: Reward,
        frame_skip: int,
        threads: int = 0,
        step_ms: float = 0.0,
        survival: float = 0.0,
    ) -> Simulation:
        """Make a simulation of a given model and reward."""
        made = cls.__new__(cls)
        made._set_up(model, reward, {}, frame_skip, threads, step_ms, survival)
        return made

    def _set_up(
        self,
        model: Any,
        reward: Reward,
        constants: Mapping[str, Any],
        frame_skip: int,
        threads: int,
        step_ms: float,
        survival: float,
    ) -> None:
        self.model, self._reward, self._constants, self._survival = model, reward, constants, survival
        self.seconds = float(model.opt.timestep) * frame_skip
        self._skip = self._coarsened(frame_skip, step_ms / 1000) if step_ms else frame_skip
        limited = np.asarray(model.actuator_ctrllimited, np.bool_)
        self.low: Array = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
        self.high: Array = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
        # Diverging plans are dropped by their reward; MuJoCo would write a log file for each to the current
        # folder.
        mujoco.set_mju_user_warning(_discard)
        self._threads = threads or len(os.sched_getaffinity(0))
        self._pool: Any = Rollout(nthread=self._threads)
        self._alone: Any = Rollout(nthread=0)
        self._data = [mujoco.MjData(model) for _ in range(self._threads)]
        self._size = int(mujoco.mj_stateSize(model, _ALL))
        self.tangents = Tangents(model, self.high)
        self._warm: Array = np.zeros(int(model.nv))
        self._unapplied = self._part(self._data[0], _APPLIED)[int(model.nu) :]
        self._applied = self._unapplied

    def _coarsened(self, frame_skip: int, longest: float) -> int:
        """Use the largest allowed simulator step; return the number of simulator steps per environment
        step.
        """
        options, cheap = self.model.opt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        steps = min(frame_skip, math.ceil(self.seconds / longest - 1e-9))
        if steps < frame_skip or options.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            options.timestep, options.integrator = self.seconds / steps, cheap
        return steps

    def _part(self, data: Any, what: Any) -> Array:
        part = np.empty(int(mujoco.mj_stateSize(self.model, what)))
        mujoco.mj_getState(self.model, data, part, what)
        return part

    def plan_for(self, reward: Reward) -> None:
        """Replace the reward for which plans are made."""
        self._reward = reward

    def start(self, state: Array) -> Array:
        """Load the session's state and return its ``mjSTATE_FULLPHYSICS``.

        Args:
            state: ``mjSTATE_INTEGRATION``. Its external forces act in all rollouts until the next call.

        Raises:
            PolicyFailed: The state does not belong to this model.
        """
        if state.shape != (self._size,):
            raise PolicyFailed(f"the session's state has {state.size} numbers, its model {self._size}")
        data = self._data[0]
        mujoco.mj_setState(self.model, data, state, _ALL)
        self._warm = np.array(data.qacc_warmstart)
        self._applied = self._part(data, _APPLIED)[int(self.model.nu) :]
        return self._part(data, _PHYSICS)

    def _roll(self, starts: Array, actions: Array) -> tuple[Array, Array]:
        """Return states and sensors after each environment step.

        Args:
            starts: ``mjSTATE_FULLPHYSICS``, (plans, size).
            actions: (plans, horizon, nu).
        """
        what, controls = _CONTROLS, np.repeat(actions, self._skip, axis=1)
        if not np.array_equal(self._applied, self._unapplied):  # external forces or moved mocap bodies
            what = _APPLIED
            outside = np.broadcast_to(self._applied, (*controls.shape[:2], self._applied.size))
            controls = np.concatenate((controls, outside), axis=2)
        alone = controls.shape[0] * controls.shape[1] < _FEW  # starting threads would take longer
        states, sensors = (self._alone if alone else self._pool).rollout(
            self.model,
            self._data[:1] if alone else self._data,
            starts,
            controls,
            control_spec=int(what),
            initial_warmstart=np.tile(self._warm, (len(actions), 1)),
        )
        return states[:, self._skip - 1 :: self._skip], sensors[:, self._skip - 1 :: self._skip]

    def _portions(self, plans: int, horizon: int) -> list[slice]:
        """Divide plans into portions to simulate together; results do not depend on the division."""
        numbers = _COPIES * self._size + int(self.model.nsensordata)
        count = max(1, _AT_ONCE // (8 * numbers * horizon * self._skip))
        return [slice(begin, begin + count) for begin in range(0, plans, count)]

    def rollouts(self, start: Array, actions: Array) -> Rollouts:
        """Simulate plans from a result of :meth:`start`; ``actions`` are (plans, horizon, nu)."""
        states, sensors = self._roll(np.tile(start, (len(actions), 1)), actions)
        return Rollouts(states, sensors, self._whole(start, states))

    def _whole(self, start: Array, states: Array) -> Flags:
        due = start[0] + states.shape[1] * self.seconds
        # A broken simulation restarts or stops, which its time shows.
        return np.isfinite(states).all((1, 2)) & (np.abs(states[:, -1, 0] - due) < self.seconds / 2)

    def returns(self, state: Array, actions: Array) -> Array:
        """Return the rewards of plans from a state on.

        Args:
            state: ``mjSTATE_INTEGRATION``.
            actions: (plans, horizon, nu).

        Returns:
            Rewards (plans,); minus infinity for plans whose simulation diverges.

        Raises:
            PolicyFailed: All plans diverge, no reward is a number, or the state does not belong to this
                model.
        """
        start = self.start(state)
        portions = [self._tried(start, actions[part]) for part in self._portions(*actions.shape[:2])]
        earned, whole = (np.concatenate(each) for each in zip(*portions, strict=True))
        if not np.isfinite(earned).any():
            raise PolicyFailed(
                f"the returns of {len(actions)} rollouts are not numbers: the reward of plans, or the task "
                "file's targets and weights, are far out of range"
                if whole.any()
                else f"all {len(actions)} rollouts diverged: from this state on the simulation breaks"
            )
        return earned

    def _tried(self, start: Array, actions: Array) -> tuple[Array, Flags]:
        """Return the rewards of plans, and whether they were simulated to their end, (plans,)."""
        found = self.rollouts(start, actions)
        return self._earned(start, found, actions), found.whole

    def _earned(self, start: Array, found: Rollouts, actions: Array) -> Array:
        rewards, over = self._rewarded(start, found, actions)
        total = np.sum(rewards, axis=1) + self._survival * ~over
        # A plan that diverges after the episode's end already has all its rewards.
        sane = (found.whole | over) & np.isfinite(total)
        return np.where(sane, total, -np.inf)

    def _rewarded(self, start: Array, found: Rollouts, actions: Array) -> tuple[Array, Flags]:
        """Return the reward of each step of plans, (plans, horizon), and which plans end the episode,
        (plans,).
        """
        nq = int(self.model.nq)
        first = np.broadcast_to(start[1 : 1 + nq], (len(actions), 1, nq))
        before = np.concatenate((first, found.states[:, :-1, 1 : 1 + nq]), axis=1)
        paid = self._paid(before, found.states, actions, found.sensors)
        over = np.cumsum(paid.ends, axis=1)
        # The step that ends an episode has a reward; later steps have none.
        lives = np.concatenate((np.zeros((len(actions), 1)), over[:, :-1]), axis=1) == 0
        return np.where(lives, paid.reward, 0.0), over[:, -1] > 0

    def _paid(self, before: Array, states: Array, actions: Array, sensors: Array) -> StepRewards:
        nq, nv = int(self.model.nq), int(self.model.nv)
        qpos, qvel = states[..., 1 : 1 + nq], states[..., 1 + nq : 1 + nq + nv]
        with np.errstate(all="ignore"):
            return self._reward(Steps(before, qpos, qvel, actions, self.seconds, sensors), self._constants)

    def step(self, states: Array, actions: Array) -> SimulatedSteps:
        """Do one environment step from each state.

        Args:
            states: ``mjSTATE_FULLPHYSICS``, (steps, size).
            actions: (steps, nu).
        """
        portions = self._portions(len(states), 1)
        rolled = [self._roll(states[part], actions[part, None]) for part in portions]
        ends, sensors = (np.concatenate(each)[:, 0] for each in zip(*rolled, strict=True))
        nq, nv = int(self.model.nq), int(self.model.nv)
        before = states[:, 1 : 1 + nq]
        paid = self._paid(before, ends, actions, sensors)
        inputs = np.concatenate((before, ends[:, 1 : 1 + nq + nv], actions, sensors), axis=1)
        return SimulatedSteps(ends, inputs, paid.reward, paid.ends)

    def rewards(self, inputs: Array) -> Array:
        """Return the rewards of steps from the inputs, (..., inputs), of :class:`SimulatedSteps`."""
        sizes = np.cumsum([self.model.nq, self.model.nq, self.model.nv, self.model.nu])
        before, qpos, qvel, actions, sensors = np.split(inputs, sizes, axis=-1)
        with np.errstate(all="ignore"):
            steps = Steps(before, qpos, qvel, actions, self.seconds, sensors)
            return self._reward(steps, self._constants).reward

    def follow(self, start: Array, plan: Array) -> tuple[Array, float]:
        """Return the states along one plan, with its start first, (horizon + 1, size), and its return."""
        found = self.rollouts(start, plan[None])
        (earned,) = self._earned(start, found, plan[None])
        return np.concatenate((start[None], found.states[0])), float(earned)

    def matters(self, inputs: Array) -> Flags:
        """Return which of a step's inputs the reward reads, (inputs,): without them, it is not a number."""
        return np.isnan(self.rewards(np.where(np.eye(len(inputs), dtype=np.bool_), np.nan, inputs)))

    def closed_loop(
        self, start: Array, controls: Controls, plans: int, horizon: int, stride: int
    ) -> tuple[Array, Array, Array]:
        """Simulate plans whose controls depend on the state.

        Args:
            start: State returned by :meth:`start`.
            controls: Returns the controls of ``stride`` steps at a time.
            plans: Number of plans.
            horizon: Number of steps.
            stride: Number of steps simulated at once.

        Returns:
            Controls, (plans, horizon, nu); states, (plans, horizon + 1, size); returns, (plans,).
        """
        states: list[Array] = [np.tile(start, (plans, 1, 1))]
        actions: list[Array] = []
        sensors: list[Array] = []
        for step in range(0, horizon, stride):
            actions.append(controls(step, states[-1][:, -1], min(stride, horizon - step)))
            after, measured = self._roll(states[-1][:, -1], actions[-1])
            states.append(after)
            sensors.append(measured)
        done, paths = np.concatenate(actions, axis=1), np.concatenate(states, axis=1)
        found = Rollouts(paths[:, 1:], np.concatenate(sensors, axis=1), self._whole(start, paths[:, 1:]))
        return done, paths, self._earned(start, found, done)

    def course(self, state: Array, plans: Array, trace: str, count: int) -> Course:
        """Return the courses of plans from a state.

        Args:
            state: ``mjSTATE_INTEGRATION``.
            plans: (plans, horizon, nu).
            trace: Name of the point of the first plan to follow, see :meth:`traced`.
            count: Number of steps in the result, at least one.
        """
        start = self.start(state)
        found = self.rollouts(start, plans)
        steps = np.unique(np.linspace(0, plans.shape[1], count).round().astype(int))
        rewards, over = self._rewarded(start, found, plans)
        rewards[~(found.whole | over)] = np.nan
        earned = np.concatenate((np.zeros((len(plans), 1)), np.cumsum(rewards, axis=1)), axis=1)
        chosen = np.concatenate((start[None], found.states[0]))[steps]
        points, beyond = self._traced(chosen, trace), np.where(over, 0.0, self._survival)
        return Course([int(step) for step in steps], points, earned[:, steps], beyond)

    def _traced(self, states: Array, trace: str) -> list[list[float]]:
        data, points = self._data[0], list[list[float]]()
        for each in states[np.isfinite(states).all(1)]:
            mujoco.mj_setState(self.model, data, each, _PHYSICS)
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_comPos(self.model, data)
            points.append([round(float(x), 4) for x in self.traced(trace)])
        return points

    def traced(self, name: str) -> Array:
        """Return the position of a site or body.

        Without a name, return the center of mass of the model's first body with all bodies attached to it.

        Raises:
            LoadError: The model has no site or body of that name.
        """
        data = self._data[0]
        if not name:
            return np.asarray(data.subtree_com[min(1, int(self.model.nbody) - 1)])
        site = int(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name))
        if site >= 0:
            return np.asarray(data.site_xpos[site])
        body = int(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name))
        if body < 0:
            names = [self.model.body(i).name for i in range(1, int(self.model.nbody))]
            names += [self.model.site(i).name for i in range(int(self.model.nsite))]
            raise LoadError(f"trace: the model has no body or site {name!r}; it has {', '.join(names)}")
        return np.asarray(data.xipos[body])

    def close(self) -> None:
        """End the threads."""
        self._pool.close()
        self._alone.close()


def _discard(_: str) -> None:
    """Discard a warning of MuJoCo."""
