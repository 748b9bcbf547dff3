"""How fast the MuJoCo planners plan, and what their plans earn; every planner has the same budget.

    python scripts/bench/bench_mpc.py --quick          # what an action costs, in some seconds
    python scripts/bench/bench_mpc.py --seeds 5 --steps 1000

Cart-pole swing-up (goal: 50 actions a second on two cores), Hopper-v5 (20) and HalfCheetah-v5, random actions
beside them, and on the cart-pole control_worker's LQR and PID. The planners take turns seed by seed, so that
other work on the machine hits all alike; its load is printed, and of an action both the wall time and the CPU
time of all threads, which the load changes less.
"""

# MuJoCo and Gymnasium's environments have no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "3rd_party" / name) for name in ("mujoco_mpc_worker", "control_worker", "mosaic_worker_sdk")
]

import mujoco  # noqa: E402

from control_worker.controllers import controller  # noqa: E402
from control_worker.tasks import task_of  # noqa: E402
from gym_gui import envs  # noqa: E402
from gym_gui.services.mujoco_mpc_controller import MuJoCoMPCController  # noqa: E402
from mujoco_mpc_worker.main import make_planner  # noqa: E402
from mujoco_mpc_worker.planners import Settings  # noqa: E402
from mujoco_mpc_worker.rewards import Array, StepRewards, Steps  # noqa: E402
from mujoco_mpc_worker.simulation import Simulation  # noqa: E402
from mujoco_mpc_worker.task_file import Task, task_file_for  # noqa: E402

PLANNERS = ("predictive_sampling", "cem", "mppi", "ilqg")
_ALL = mujoco.mjtState.mjSTATE_INTEGRATION
_CART_POLE = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="x" type="slide" axis="1 0 0" damping="0.1"/><geom type="box" size=".2 .1 .1" mass="1"/>
    <body><joint name="pole" type="hinge" axis="0 1 0" damping="0.001"/>
      <geom type="capsule" fromto="0 0 0 0 0 1" size="0.045" mass="0.1"/></body></body>
</worldbody><actuator><motor joint="x" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>
"""


class Played(NamedTuple):
    """One episode: its return, its steps, and the seconds and CPU seconds that planning took."""

    earned: float
    steps: int
    seconds: float
    cpu: float


class _Watch:
    """Adds up the time that planning takes, by the clock and in all threads."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    def __enter__(self) -> None:
        self._begun = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._begun[0]
        self.cpu += time.process_time() - self._begun[1]


Act = Callable[[int, Array], Array]
"""(step, state) -> action."""
Plans = Callable[[Simulation], Act]


def _upright(steps: Steps, _: Any) -> StepRewards:
    """The pole's height, near the middle; from 0 to 1 a step."""
    reward = (1 + np.cos(steps.qpos[..., 1])) / 2 - 0.02 * steps.qpos[..., 0] ** 2
    return StepRewards(reward, np.zeros(reward.shape, np.bool_))


def _cart_pole(act: Plans, seed: int, length: int) -> Played:
    """From hanging down; a step is 0.02 s."""
    model = mujoco.MjModel.from_xml_string(_CART_POLE)
    data, simulation = mujoco.MjData(model), Simulation.of(model, _upright, 2)
    data.qpos[1] = np.pi + np.random.default_rng(seed).uniform(-0.1, 0.1)
    state = np.empty(int(mujoco.mj_stateSize(model, _ALL)))
    decide, earned, watch = act(simulation), 0.0, _Watch()
    for step in range(length):
        mujoco.mj_getState(model, data, state, _ALL)
        with watch:
            data.ctrl[:] = decide(step, state)
        mujoco.mj_step(model, data, nstep=2)
        earned += float((1 + np.cos(data.qpos[1])) / 2 - 0.02 * data.qpos[0] ** 2)
    simulation.close()
    return Played(earned, length, watch.seconds, watch.cpu)


def _gymnasium(name: str) -> Callable[[Plans, int, int], Played]:
    """One of Gymnasium's, played until its end as the worker plays it where nothing is set."""

    def play(act: Plans, seed: int, length: int) -> Played:
        environment = envs.make(name)
        inside, adapter = environment.simulator, environment.adapter
        assert inside is not None
        simulation = simulation_for(inside.description())
        (agent,) = adapter.possible_agents
        adapter.reset(seed=seed)
        decide, earned, watch, step = act(simulation), 0.0, _Watch(), 0
        for step in range(length):
            with watch:
                action = decide(step, np.array(inside.state()))
            result = adapter.step({agent: action.astype(np.float32)})
            earned += result.rewards[agent]
            if result.terminated[agent] or result.truncated[agent]:
                break
        simulation.close()
        environment.close()
        return Played(earned, step + 1, watch.seconds, watch.cpu)

    return play


def simulation_for(description: Mapping[str, Any]) -> Simulation:
    """Copies of an environment's simulator as the worker makes them where nothing is set."""
    given = {each.name: each.default for each in MuJoCoMPCController().definition.settings_schema}
    file = task_file_for(str(description["task"]))
    task = Task(file) if file else None
    return Simulation(description, step_ms=given["step_ms"], survival=given["survival"], task=task)


def _planned(planner: str, rollouts: int, horizon: int, seed: int) -> Plans:
    settings = Settings(planner, horizon=horizon, rollouts=rollouts)
    return lambda simulation: make_planner(simulation, settings, seed).act


def _random(seed: int) -> Plans:
    rng = np.random.default_rng(seed)
    return lambda simulation: lambda _step, _state: rng.uniform(simulation.low, simulation.high)


def _controlled(kind: str) -> Plans:
    """control_worker's, with its model of CartPole, which the one here is, with some friction."""
    task = task_of("CartPole-v1")
    assert task is not None
    friction = {"gravity": 9.81, "cart_damping": 0.1, "pole_damping": 0.001}
    make = controller({"controller": kind, "model": friction}, task, (-1.0, 1.0))

    def begun(_: Simulation) -> Act:
        control = make()

        def act(_step: int, state: Array) -> Array:
            place, angle, speed, turning = state[1:5].tolist()
            angle = (angle + np.pi) % (2 * np.pi) - np.pi
            measured = dict(zip(task.state, (place, speed, angle, turning), strict=True))
            return np.clip([control(measured)], -1.0, 1.0)

        return act

    return begun


_PUBLISHED = """\
Published, after a million steps of training, episodes of up to 1,000 steps (--steps 1000):
                                   Hopper-v2       HalfCheetah-v2
  SAC, CleanRL, training returns   2310 ± 343      9635 ± 1424      CleanRL, docs/rl-algorithms/sac.md
  SAC, its authors, evaluation     about 3250      about 11,250     arXiv 1812.05905, as cited there"""


class _Task(NamedTuple):
    """What is played, how many rollouts an action has, how far they go (0: as where nothing is set), and who
    plays it by feedback."""

    title: str
    play: Callable[[Plans, int, int], Played]
    rollouts: int = 64
    horizon: int = 0
    controllers: Sequence[str] = ()


_TASKS = (
    _Task("cart-pole swing-up", _cart_pole, 32, 60, ("lqr", "pid")),
    _Task("Hopper-v5", _gymnasium("Hopper-v5")),
    _Task("HalfCheetah-v5", _gymnasium("HalfCheetah-v5")),
)
_QUICK = 2
"""Of these."""


def main() -> None:
    """Play all, and print a table for each task."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="what an action costs, from 30 steps")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args()
    seeds, steps = (1, 30) if given.quick else (given.seeds, given.steps)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; mujoco {mujoco.__version__}")
    for task in _TASKS[: _QUICK if given.quick else None]:
        found: dict[str, list[Played]] = defaultdict(list)
        for seed in range(seeds):
            for planner in PLANNERS:
                act = _planned(planner, task.rollouts, task.horizon, seed)
                found[planner].append(task.play(act, seed, steps))
            for kind in task.controllers:
                found[kind].append(task.play(_controlled(kind), seed, steps))
            found["random"].append(task.play(_random(seed), seed, steps))
        print(f"\n{task.title}, {task.rollouts} rollouts an action, {seeds} seeds, up to {steps} steps")
        for name, played in found.items():
            print(f"  {name:<20} {_told(played)}", flush=True)
    print(f"\n{_PUBLISHED}")
    print(f"\nload {os.getloadavg()[0]:.1f}")


def _told(played: Sequence[Played]) -> str:
    """What an action cost, and what each episode came to."""
    taken = sum(each.steps for each in played)
    wall, cpu = (
        1000 * sum(times) / taken for times in zip(*((p.seconds, p.cpu) for p in played), strict=True)
    )
    returns = " ".join(f"{each.earned:.1f}" for each in played)
    steps = " ".join(str(each.steps) for each in played)
    return f"{cpu:6.1f} ms CPU {wall:6.1f} ms wall an action   return {returns}   steps {steps}"


if __name__ == "__main__":
    main()
