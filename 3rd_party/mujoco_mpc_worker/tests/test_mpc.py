"""Planning by itself: rewards against the environments' own, splines, planners, and what they refuse."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mujoco: Any = pytest.importorskip("mujoco")
gym: Any = pytest.importorskip("gymnasium")

from mosaic_worker.worker import LoadError, PolicyFailed  # noqa: E402
from mujoco_mpc_worker.planners import Planner, Settings, weights  # noqa: E402
from mujoco_mpc_worker.rewards import REWARDS, Paid, Steps  # noqa: E402
from mujoco_mpc_worker.simulation import Simulation  # noqa: E402

ALL = mujoco.mjtState.mjSTATE_INTEGRATION
IDS = [
    "InvertedPendulum",
    "InvertedDoublePendulum",
    "Hopper",
    "HalfCheetah",
    "Walker2d",
    "Reacher",
    "Swimmer",
]

SHAKEN = {"Walker2d": 0.6}
TOLERANCES = {"InvertedDoublePendulum": 0.01}
"""The environment reads its tip where the last stage of Runge-Kutta has left it, not where the step has."""


def about(env: Any) -> dict[str, Any]:
    plain = {k.strip("_"): v for k, v in vars(env).items() if isinstance(v, (int, float, tuple))}
    model = Path(env.fullpath).read_text("utf-8")
    task = type(env).__module__.rpartition(".")[2]
    more = {"engine": "mujoco", "version": mujoco.__version__, "frame_skip": env.frame_skip}
    return {**more, "model": model, "task": task, "constants": plain}


def state_of(env: Any) -> Any:
    state = np.empty(mujoco.mj_stateSize(env.model, ALL))
    mujoco.mj_getState(env.model, env.data, state, ALL)
    return state


@pytest.mark.parametrize("name", IDS)
def test_rewards_are_those_of_the_environment_on_random_states(name: str) -> None:
    env = gym.make(f"{name}-v5").unwrapped
    simulation = Simulation(about(env), threads=1)
    rng = np.random.default_rng(7)
    seen = set()
    for seed in range(12):
        env.reset(seed=seed)
        env.set_state(
            env.data.qpos + rng.normal(0, SHAKEN.get(name, 0.1), env.model.nq),
            env.data.qvel + rng.normal(0, 0.5, env.model.nv),
        )
        space = env.action_space
        actions = rng.uniform(space.low, space.high, (5, env.model.nu)).astype(np.float32)
        state, total = state_of(env), 0.0
        for action in actions:
            _, reward, terminated, _, _ = env.step(action)
            total += reward
            if terminated:
                break
        seen.add(terminated)
        (found,) = simulation.returns(state, actions[None].astype(np.float64))
        assert found == pytest.approx(total, abs=TOLERANCES.get(name, 1e-5))
    if name in ("Hopper", "Walker2d", "InvertedPendulum"):
        assert True in seen, "ends are held against the environment's too"


@pytest.mark.parametrize("spline", ["zero", "linear", "cubic"])
def test_splines_go_through_what_is_between_their_knots(spline: Any) -> None:
    w = weights(spline, 5, 21)
    np.testing.assert_allclose(w.sum(1), 1)
    np.testing.assert_allclose(w[0], np.eye(5)[0], atol=1e-12)
    line = w @ np.linspace(0, 1, 5)
    if spline == "zero":
        assert sorted(set(line.round(6))) == [0, 0.25, 0.5, 0.75, 1]
    else:
        np.testing.assert_allclose(line, np.linspace(0, 1, 21), atol=1e-9)


@pytest.mark.parametrize("planner", ["predictive_sampling", "cem", "mppi"])
def test_a_planner_drives_a_mass_to_its_place_and_repeats(planner: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.02'/><worldbody><body><joint type='slide' axis='1 0 0' name='x'/>"
        "<geom size='.1' mass='1'/></body></worldbody>"
        "<actuator><motor joint='x' ctrllimited='true' ctrlrange='-5 5'/></actuator></mujoco>"
    )

    def near(steps: Steps, _: Any) -> Paid:
        reward = -((steps.qpos[..., 0] - 1) ** 2) - 0.05 * steps.qvel[..., 0] ** 2
        return Paid(reward, np.zeros(reward.shape, bool))

    def driven(threads: int) -> list[float]:
        simulation, data = Simulation.of(model, near, 2, threads), mujoco.MjData(model)
        plan = Planner(simulation, Settings(planner, horizon=25, rollouts=40, knots=5), seed=3)
        places = []
        for step in range(80):
            state = np.empty(mujoco.mj_stateSize(model, ALL))
            mujoco.mj_getState(model, data, state, ALL)
            data.ctrl[:] = plan.act(step, state)
            mujoco.mj_step(model, data, nstep=2)
            places.append(float(data.qpos[0]))
        simulation.close()
        return places

    one = driven(1)
    assert one[-1] == pytest.approx(1.0, abs=0.1)
    assert driven(2) == one, "the same whatever the number of threads"


def test_a_budget_in_time_ends_with_it() -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    env.reset(seed=0)
    ticks = itertools.count()
    simulation = Simulation(about(env), threads=1)
    settings = Settings(budget_ms=3500, rollouts=8, iterations=1, horizon=5)
    tried: list[int] = []
    returns = simulation.returns
    simulation.returns = lambda state, actions: (tried.append(len(actions)), returns(state, actions))[1]  # type: ignore[method-assign]
    Planner(simulation, settings, 0, clock=lambda: float(next(ticks))).act(0, state_of(env))
    assert tried == [8] * 4


def test_rollouts_that_diverge_are_left_out_and_all_of_them_are_an_error() -> None:
    env = gym.make("HalfCheetah-v5").unwrapped
    env.reset(seed=0)
    simulation = Simulation(about(env), threads=1)
    calm, wild = np.zeros((1, 4, 6)), np.full((1, 4, 6), np.nan)
    found = simulation.returns(state_of(env), np.concatenate((calm, wild)))
    assert np.isfinite(found[0]) and found[1] == -np.inf
    with pytest.raises(PolicyFailed, match="all 1 rollouts diverged"):
        simulation.returns(state_of(env), wild)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"version": "3.0.0"}, "simulates with mujoco 3.0.0, this worker with mujoco"),
        ({"task": "ant_v5"}, "reward of ant_v5 is not known here; known are inverted_pendulum_v5"),
    ],
)
def test_another_version_or_task_is_refused_in_a_sentence(changed: dict[str, str], says: str) -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    with pytest.raises(LoadError, match=says):
        Simulation({**about(env), **changed})
    assert "hopper_v5" in REWARDS
