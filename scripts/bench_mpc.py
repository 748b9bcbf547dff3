"""How fast the MuJoCo planners plan, and what their plans earn; every planner has the same budget.

    python scripts/bench_mpc.py [--seeds 2] [--steps 200] [--rollouts 48]

Cart-pole swing-up (goal: 50 actions a second on two cores) and Hopper-v5 (20), random actions beside
them; Hopper by its own reward and by ``docs/examples/hopper.toml``. The planners take turns seed by seed,
so that other work on the machine hits all of them; its load is printed, and what an action costs in CPU
time, which the load changes less: on two cores, 40 ms are 50 actions a second, 100 ms are 20.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "3rd_party" / "mujoco_mpc_worker"), str(ROOT / "3rd_party" / "mosaic_worker_sdk")]

import mujoco  # noqa: E402

from gym_gui import envs  # noqa: E402
from mujoco_mpc_worker.main import make_planner  # noqa: E402
from mujoco_mpc_worker.planners import Settings  # noqa: E402
from mujoco_mpc_worker.rewards import Array, Paid, Steps  # noqa: E402
from mujoco_mpc_worker.simulation import Simulation  # noqa: E402
from mujoco_mpc_worker.task_file import Task  # noqa: E402

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


def _upright(steps: Steps, _: Any) -> Paid:
    """The pole's height, near the middle; from 0 to 1 a step."""
    reward = (1 + np.cos(steps.qpos[..., 1])) / 2 - 0.02 * steps.qpos[..., 0] ** 2
    return Paid(reward, np.zeros(reward.shape, np.bool_))


def _cart_pole(act: Callable[[Simulation], Act], seed: int, length: int) -> Played:
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


def _hopper(act: Callable[[Simulation], Act], seed: int, length: int, task: Task | None = None) -> Played:
    """Until it falls; plans are made in copies whose step is the environment's, 8 ms."""
    environment = envs.make("Hopper-v5")
    inside, adapter = environment.simulator, environment.adapter
    assert inside is not None
    simulation = Simulation(inside.description(), substeps=1, survival=100.0, task=task)
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


def _hopper_by_file(act: Callable[[Simulation], Act], seed: int, length: int) -> Played:
    return _hopper(act, seed, length, Task(str(ROOT / "docs" / "examples" / "hopper.toml")))


def _planned(planner: str, rollouts: int, horizon: int, seed: int) -> Callable[[Simulation], Act]:
    settings = Settings(planner, horizon=horizon, rollouts=rollouts, knots=6)
    return lambda simulation: make_planner(simulation, settings, seed).act


def _random(seed: int) -> Callable[[Simulation], Act]:
    rng = np.random.default_rng(seed)
    return lambda simulation: lambda _step, _state: rng.uniform(simulation.low, simulation.high)


_PUBLISHED = """\
Published, Hopper-v2 after a million steps of training, episodes of up to 1,000 steps (--steps 1000):
  SAC, CleanRL         2310 ± 343   training return (CleanRL, docs/rl-algorithms/sac.md)
  SAC, its authors     about 3250   evaluation return (arXiv 1812.05905, as cited there)"""

_TASKS = (
    ("cart-pole swing-up", _cart_pole, 60),
    ("Hopper-v5 by its reward", _hopper, 60),
    ("Hopper-v5 by hopper.toml", _hopper_by_file, 60),
)


def main() -> None:
    """Play all, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rollouts", type=int, default=48)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; mujoco {mujoco.__version__}")
    for title, play, horizon in _TASKS:
        found: dict[str, list[Played]] = defaultdict(list)
        for seed in range(given.seeds):
            for planner in PLANNERS:
                act = _planned(planner, given.rollouts, horizon, seed)
                found[planner].append(play(act, seed, given.steps))
            found["random"].append(play(_random(seed), seed, given.steps))
        print(f"\n{title}, {given.rollouts} rollouts of {horizon} steps an action, {given.seeds} seeds")
        for name, played in found.items():
            returns = " ".join(f"{each.earned:.1f}" for each in played)
            taken = sum(each.steps for each in played)
            rate = taken / sum(each.seconds for each in played)
            cost = 1000 * sum(each.cpu for each in played) / taken
            steps = " ".join(str(each.steps) for each in played)
            cpu = f"{cost:.1f} ms of CPU time an action"
            print(f"  {name:<20} return {returns}   steps {steps}   {cpu}, {rate:,.0f} a second", flush=True)
    print(f"\n{_PUBLISHED}")
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
