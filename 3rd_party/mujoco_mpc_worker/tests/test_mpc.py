"""Planning by itself: rewards against the environments' own, splines, planners, and what they refuse."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

mujoco: Any = pytest.importorskip("mujoco")
gym: Any = pytest.importorskip("gymnasium")

from gym_gui.envs.simulator import MuJoCoSimulator  # noqa: E402
from mosaic_worker.gymnasium_spaces import describe  # noqa: E402
from mosaic_worker.spaces import Space  # noqa: E402
from mosaic_worker.worker import Batch, EpisodeStart, LoadError, PolicyFailed, Slot  # noqa: E402
from mujoco_mpc_worker.ilqg import bounded_step  # noqa: E402
from mujoco_mpc_worker.main import MpcWorker, make_planner  # noqa: E402
from mujoco_mpc_worker.planners import Planner, Settings, weights  # noqa: E402
from mujoco_mpc_worker.rewards import REWARDS, StepRewards, Steps  # noqa: E402
from mujoco_mpc_worker.simulation import Simulation  # noqa: E402
from mujoco_mpc_worker.task_file import Task, task_file_for  # noqa: E402
from tests.support.seldom import some_of  # noqa: E402

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


@pytest.mark.parametrize(
    "planner", some_of(["predictive_sampling", "cem", "mppi", "ilqg"], "predictive_sampling", "ilqg")
)
def test_a_planner_drives_a_mass_to_its_place_and_repeats(planner: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.02'/><worldbody><body><joint type='slide' axis='1 0 0' name='x'/>"
        "<geom size='.1' mass='1'/></body></worldbody>"
        "<actuator><motor joint='x' ctrllimited='true' ctrlrange='-5 5'/></actuator></mujoco>"
    )

    def near(steps: Steps, _: Any) -> StepRewards:
        reward = -((steps.qpos[..., 0] - 1) ** 2) - 0.05 * steps.qvel[..., 0] ** 2
        return StepRewards(reward, np.zeros(reward.shape, bool))

    def driven(threads: int) -> list[float]:
        simulation, data = Simulation.of(model, near, 2, threads), mujoco.MjData(model)
        plan = make_planner(simulation, Settings(planner, horizon=25, rollouts=40, knots=5), seed=3)
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
        (
            {"task": "ant_v5"},
            "ant_v5 is not known: name a task_file .* known rewards are those of inverted_pendulum_v5",
        ),
    ],
)
def test_another_version_or_task_is_refused_in_a_sentence(changed: dict[str, str], says: str) -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    with pytest.raises(LoadError, match=says):
        Simulation({**about(env), **changed})
    assert "hopper_v5" in REWARDS


def _state(model: Any, data: Any) -> Any:
    state = np.empty(mujoco.mj_stateSize(model, ALL))
    mujoco.mj_getState(model, data, state, ALL)
    return state


MASS = (
    "<mujoco><option timestep='0.02'/><worldbody>{more}<body><joint type='slide' axis='1 0 0' name='x'/>"
    "<geom size='.1' mass='1'/></body></worldbody>"
    "<actuator><motor joint='x' ctrllimited='true' ctrlrange='-5 5'/></actuator></mujoco>"
)


@pytest.mark.parametrize("planner", ["predictive_sampling", "cem", "mppi"])
def test_plans_whose_reward_is_no_number_are_no_part_of_the_next(planner: str) -> None:
    def left_alone_is_defined(steps: Steps, _: Any) -> StepRewards:
        reward = np.where(steps.action[..., 0] > 0, np.nan, 1.0)
        return StepRewards(reward, np.zeros(reward.shape, bool))

    model = mujoco.MjModel.from_xml_string(MASS.format(more=""))
    simulation = Simulation.of(model, left_alone_is_defined, 1, threads=1)
    plan = Planner(simulation, Settings(planner, horizon=6, rollouts=24, knots=2, elites=0.9), seed=1)
    state = _state(model, mujoco.MjData(model))
    for step in range(5):
        (force,) = plan.act(step, state)
        assert force <= 0 and np.isfinite(plan.value)
    simulation.close()


@pytest.mark.parametrize(("rollouts", "iterations"), [(7, 3), (2, 1000), (64, 2)])
def test_a_budget_in_rollouts_is_kept_to_one(rollouts: int, iterations: int) -> None:
    rounds = Settings(rollouts=rollouts, iterations=iterations).rounds
    assert sum(rounds) == rollouts and min(rounds) >= 2


def test_what_acts_from_outside_acts_in_plans_too() -> None:
    held = (
        "<body mocap='true' name='hand'><geom size='.05' contype='0' conaffinity='0'/></body>"
        "<body name='held' pos='1 0 0'><freejoint/><geom size='.1' contype='0' conaffinity='0'/></body>"
    )
    xml = MASS.format(more=held).replace(
        "</worldbody>", "</worldbody><equality><weld body1='hand' body2='held'/></equality>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.mocap_pos[0] = (0, 0, 2)
    data.xfrc_applied[3, 0] = 4.0
    simulation = Simulation.of(
        model, lambda s, _: StepRewards(s.qpos.sum(-1), np.zeros(s.qpos.shape[:-1], bool)), 1, 1
    )
    states, _, whole = simulation.rollouts(simulation.start(_state(model, data)), np.ones((3, 20, 1)))
    data.ctrl[:] = 1
    mujoco.mj_step(model, data, nstep=20)
    assert whole.all()
    np.testing.assert_allclose(states[1, -1, 1 : 1 + model.nq], data.qpos, atol=1e-9)
    simulation.close()


def test_diverging_rollouts_leave_no_file_where_we_stand(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    env = gym.make("HalfCheetah-v5").unwrapped
    env.reset(seed=0)
    simulation = Simulation(about(env), threads=1)
    with pytest.raises(PolicyFailed):
        simulation.returns(state_of(env), np.full((2, 3, 6), np.nan))
    simulation.close()
    assert not list(tmp_path.iterdir())


def test_coarser_copies_cost_less_and_say_nearly_the_same() -> None:
    env = gym.make("Hopper-v5").unwrapped
    env.reset(seed=1)
    actions = np.random.default_rng(0).uniform(-0.3, 0.3, (8, 10, 3))
    found = [Simulation(about(env), 1, step_ms).returns(state_of(env), actions) for step_ms in (0, 2, 4)]
    np.testing.assert_allclose(found[1], found[0], atol=0.2)
    np.testing.assert_allclose(found[2], found[0], atol=0.4)
    assert (found[1] != found[0]).all()


def test_who_does_not_fall_is_worth_what_comes_after() -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    env.reset(seed=0)
    falls = np.stack((np.zeros((12, 1)), np.full((12, 1), 3.0)))
    plain, more = (
        Simulation(about(env), 1, survival=survival).returns(state_of(env), falls) for survival in (0, 50)
    )
    assert plain[0] == 12 and plain[1] < 12
    assert (more - plain).tolist() == [50, 0]


def test_a_model_that_is_not_its_files_is_not_planned_with() -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    inside = MuJoCoSimulator(env)
    Simulation(inside.description(), 1).close()
    env.model.opt.gravity[2] = -1.0
    with pytest.raises(LoadError, match="has been changed since it was read from its file"):
        Simulation(inside.description(), 1)


def test_actions_that_are_scaled_on_their_way_are_refused() -> None:
    env = gym.wrappers.RescaleAction(gym.make("InvertedPendulum-v5"), np.float32(-1), np.float32(1))
    space = describe(env.action_space)
    slot = Slot(0, "agent_0", "InvertedPendulum-v5", space, space, simulator=about(env.unwrapped))
    with pytest.raises(LoadError, match="plan without the wrapper"):
        MpcWorker().load(slot)


def _quadratic(steps: Steps, _: Any) -> StepRewards:
    reward = (
        -(steps.qpos[..., 0] ** 2) - 0.1 * steps.qvel[..., 0] ** 2 - 0.05 * np.square(steps.action).sum(-1)
    )
    return StepRewards(reward, np.zeros(reward.shape, bool))


def _crossed(steps: Steps, _: Any) -> StepRewards:
    """What the place and the speed cost together, too."""
    place, speed = steps.qpos[..., 0], steps.qvel[..., 0]
    reward = -((place + 0.3 * speed) ** 2) - 0.05 * np.square(steps.action).sum(-1)
    return StepRewards(reward, np.zeros(reward.shape, bool))


@pytest.mark.parametrize(
    ("reward", "costs"), [(_quadratic, [[1, 0], [0, 0.1]]), (_crossed, [[1, 0.3], [0.3, 0.09]])]
)
def test_ilqg_is_lqr_where_the_task_is_linear_and_quadratic(reward: Any, costs: Any) -> None:
    model = mujoco.MjModel.from_xml_string(MASS.format(more=""))
    simulation, data = Simulation.of(model, reward, 1, threads=1), mujoco.MjData(model)
    data.qpos[0], data.qvel[0] = 0.4, -0.2
    mass, dt = float(model.body_mass[1]), 0.02
    a, b = np.array([[1, dt], [0, 1]]), np.array([[dt * dt / mass], [dt / mass]])
    p = solve_discrete_are(a, b, np.array(costs), np.array([[0.05]]))
    gain = np.linalg.solve(0.05 + b.T @ p @ b, b.T @ p @ a)
    plan = make_planner(simulation, Settings("ilqg", horizon=150, rollouts=24), seed=0)
    (force,) = plan.act(0, _state(model, data))
    assert force == pytest.approx(float((-gain @ [0.4, -0.2])[0]), rel=1e-3)
    simulation.close()


def test_a_step_within_bounds_is_the_least_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        root = rng.normal(size=(4, 4))
        hessian, gradient = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4) * 3
        low, high = -rng.uniform(0.01, 1, 4), rng.uniform(0.01, 1, 4)
        found, free = bounded_step(hessian, gradient, low, high)
        slope = gradient + hessian @ found
        assert (low <= found).all() and (found <= high).all()
        np.testing.assert_allclose(slope[free], 0, atol=1e-8)
        assert (slope[found == low] >= 0).all() and (slope[found == high] <= 0).all()


def test_ilqg_turns_what_is_turned_in_three_ways() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.02' gravity='0 0 0'/><worldbody><body><joint type='ball' name='x'/>"
        "<geom type='box' size='.1 .2 .3' mass='1'/></body></worldbody><actuator>"
        + "".join(
            f"<motor joint='x' gear='{gear}' ctrllimited='true' ctrlrange='-1 1'/>"
            for gear in ("1 0 0", "0 1 0", "0 0 1")
        )
        + "</actuator></mujoco>"
    )

    def upright(steps: Steps, _: Any) -> StepRewards:
        reward = -np.square(steps.qpos[..., 1:]).sum(-1) - 0.01 * np.square(steps.qvel).sum(-1)
        return StepRewards(reward, np.zeros(reward.shape, bool))

    simulation, data = Simulation.of(model, upright, 1, threads=1), mujoco.MjData(model)
    data.qpos[:] = np.array([0.8, 0.4, -0.4, 0.2]) / np.linalg.norm([0.8, 0.4, -0.4, 0.2])
    plan = make_planner(simulation, Settings("ilqg", horizon=20, rollouts=24), seed=0)
    for step in range(50):
        data.ctrl[:] = plan.act(step, _state(model, data))
        mujoco.mj_step(model, data)
    assert abs(data.qpos[0]) > 0.99
    simulation.close()


def test_a_budget_that_pays_for_no_round_of_ilqg_is_refused_with_the_least_that_does() -> None:
    env = gym.make("Hopper-v5").unwrapped
    simulation = Simulation(about(env), 1)
    with pytest.raises(LoadError, match="needs 24 rollouts for this model: set rollouts to 24 or more"):
        make_planner(simulation, Settings("ilqg", rollouts=23), seed=0)
    simulation.close()


def test_a_plan_tells_where_it_leads() -> None:
    env = gym.make("Hopper-v5").unwrapped
    env.reset(seed=0)
    simulation, state = Simulation(about(env), 1), state_of(env)
    plan = np.full((10, 3), 0.3)
    course = simulation.course(state, np.stack([plan, 0 * plan]), "torso", 4)
    points = course.points
    assert points[0] == pytest.approx(env.data.body("torso").xipos, abs=1e-4)
    for action in plan:
        env.step(action.astype(np.float32))
    mujoco.mj_kinematics(env.model, env.data)
    assert points[-1] == pytest.approx(env.data.body("torso").xipos, abs=1e-4)
    assert len(points) == 4 and course.steps == [0, 3, 7, 10]
    assert course.earned[:, 0].tolist() == [0.0, 0.0]
    assert course.earned[:, -1] == pytest.approx(simulation.returns(state, np.stack([plan, 0 * plan])))
    assert simulation.course(state, plan[None], "", 2).points[0] != points[0]
    with pytest.raises(LoadError, match="no body or site 'tail'; it has torso, thigh"):
        simulation.traced("tail")
    simulation.close()


def slot_of(env: Any, name: str, options: tuple[str, ...] = (), **settings: Any) -> Slot:
    space, number = describe(env.action_space), describe(gym.spaces.Discrete(max(1, len(options))))
    seen = Space("Dict", spaces={"option": number}) if options else space
    return Slot(0, "agent_0", name, seen, space, settings, simulator=about(env), options=options)


@pytest.mark.parametrize(("name", "horizon"), [("Hopper-v5", 100), ("HalfCheetah-v5", 16)])
def test_where_nothing_is_said_plans_look_as_many_seconds_ahead_everywhere(name: str, horizon: int) -> None:
    worker = MpcWorker()
    assert f"horizon {horizon}" in worker.load(slot_of(gym.make(name).unwrapped, name, threads=1))
    worker.close()


@pytest.mark.parametrize(
    ("name", "settings", "planned"),
    [
        ("Hopper-v5", {}, "hopper_v5.toml"),
        ("Hopper-v5", {"aim": "reward"}, ""),
        ("HalfCheetah-v5", {"aim": "task"}, "half_cheetah_v5.toml"),
        ("InvertedPendulum-v5", {}, "inverted_pendulum_v5.toml"),
        ("Reacher-v5", {}, ""),
    ],
)
def test_where_the_reward_alone_is_no_good_to_plan_by_more_counts(
    name: str, settings: dict[str, str], planned: str
) -> None:
    worker = MpcWorker()
    told = worker.load(slot_of(gym.make(name).unwrapped, name, threads=1, **settings))
    assert f", {planned})" in told if planned else ".toml" not in told
    worker.close()


def test_steps_that_are_long_and_cheap_already_stay_as_they_are() -> None:
    env = gym.make("HalfCheetah-v5").unwrapped
    env.reset(seed=1)
    actions = np.random.default_rng(0).uniform(-0.3, 0.3, (8, 10, 6))
    own, same, fewer = (
        Simulation(about(env), 1, step_ms).returns(state_of(env), actions) for step_ms in (0, 10, 25)
    )
    assert (own == same).all() and (own != fewer).all()


def test_what_a_reward_is_computed_from_is_found_out() -> None:
    env = gym.make("HalfCheetah-v5").unwrapped
    simulation = Simulation(about(env), 1)
    sizes = [env.model.nq, env.model.nq, env.model.nv, env.model.nu]
    matters = simulation.matters(np.zeros(sum(sizes)))
    before, after, speeds, controls = np.split(matters, np.cumsum(sizes)[:-1])
    assert np.flatnonzero(before).tolist() == np.flatnonzero(after).tolist() == [0], "the way forward alone"
    assert not speeds.any() and controls.all()


def test_below_a_manager_it_goes_where_it_is_sent() -> None:
    env = gym.make("Swimmer-v5", exclude_current_positions_from_observation=False).unwrapped
    places = {"go to(0.3 m, 0.3 m)": (0.3, 0.3), "go to(-0.3 m, 0.3 m)": (-0.3, 0.3)}
    for number, place in enumerate(places.values()):
        env.reset(seed=0)
        worker, slot = MpcWorker(), slot_of(env, "Swimmer-v5", tuple(places), rollouts=32, step_ms=10)
        worker.load(slot)
        worker.reset(slot, [EpisodeStart(0, 0)])
        began = np.linalg.norm(np.subtract(place, env.data.qpos[:2]))
        for step in range(60):
            seen, seeds = {"option": np.array([number])}, np.zeros(1, np.uint64)
            batch = Batch(slot, [step], [0], [step], seeds, seen, states=[state_of(env)])
            answer = worker.select_actions(batch)
            (action,) = answer.actions
            env.step(action)
            told = answer.extras[0]["scores"]
            assert told["best plan"] >= told["middle of 32 plans"] >= told["worst plan"]
            assert answer.values[0] >= told["plan of the step before"] - 1e-3
        worker.close()
        assert np.linalg.norm(np.subtract(place, env.data.qpos[:2])) < 0.5 * began


@pytest.mark.parametrize(
    ("option", "more", "says"),
    [
        (
            "go to(0.5 m)",
            {},
            r"positions on the ground, .*; it cannot execute 'go to\(0.5 m\)' of 'Swimmer-v5'",
        ),
        (
            "go to(1 m, 1 m)",
            {"task_file": "x.toml"},
            "and the manager define the goal of plans: leave one of them out",
        ),
    ],
)
def test_what_it_cannot_carry_out_is_refused(
    tmp_path: Path, option: str, more: dict[str, str], says: str
) -> None:
    (tmp_path / "x.toml").write_text('[[terms]]\nqpos = "slider1"\n', "utf-8")
    files = {key: str(tmp_path / value) for key, value in more.items()}
    with pytest.raises(LoadError, match=says):
        MpcWorker().load(slot_of(gym.make("Swimmer-v5").unwrapped, "Swimmer-v5", (option,), **files))


def test_controls_that_do_the_same_are_planned_with(tmp_path: Path) -> None:
    """Of two motors on one joint no equation says which is to push."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.02'/><worldbody><body><joint type='slide' axis='1 0 0' name='x'/>"
        "<geom size='.1' mass='1'/></body></worldbody><actuator>"
        + "<motor joint='x' gear='1e4' ctrllimited='true' ctrlrange='-5 5'/>" * 2
        + "</actuator></mujoco>"
    )

    def near(steps: Steps, _: Any) -> StepRewards:
        reward = -1e12 * (steps.qpos[..., 0] - 1) ** 2
        return StepRewards(reward, np.zeros(reward.shape, bool))

    simulation, data = Simulation.of(model, near, 2, 1), mujoco.MjData(model)
    plan = make_planner(simulation, Settings("ilqg", horizon=10, rollouts=200), seed=0)
    assert np.isfinite(plan.act(0, _state(model, data))).all()
    assert plan.value > -1e12 * 10
    simulation.close()


def test_rollouts_are_simulated_in_portions_that_memory_holds() -> None:
    much = '<sensor><user name="much" dim="4000"/></sensor></mujoco>'  # 32 kB for each step
    model = mujoco.MjModel.from_xml_string(MASS.format(more="").replace("</mujoco>", much))
    simulation, state = Simulation.of(model, _quadratic, 1, threads=1), _state(model, mujoco.MjData(model))
    plans = np.random.default_rng(0).uniform(-1, 1, (60, 100, 1))

    def peak(some: Any) -> tuple[Any, int]:
        tracemalloc.start()
        try:
            return simulation.returns(state, some), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (few, less), (many, more) = peak(plans[-10:]), peak(plans)
    np.testing.assert_array_equal(many[-10:], few)
    assert more < 3 * less, "six times as many are not six times as much at a time"
    simulation.close()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"iterations": 1}, "set rollouts to 3728 or less, iterations to 27 or more, or a shorter horizon"),
        ({"iterations": 2}, "set rollouts to 7456 or less, iterations to 27 or more, or a shorter horizon"),
        ({"iterations": 27}, ""),
        ({"iterations": 1, "planner": "ilqg"}, ""),
    ],
)
def test_a_round_that_memory_does_not_hold_is_refused_with_what_it_does(
    asked: dict[str, Any], says: str
) -> None:
    env = gym.make("Hopper-v5").unwrapped
    simulation, settings = Simulation(about(env), 1), Settings(rollouts=100_000, horizon=1000)
    if says:
        with pytest.raises(LoadError, match=f"steps of 3 controls needs more than 512 MB: {says}"):
            make_planner(simulation, replace(settings, **asked), seed=0)
    else:
        make_planner(simulation, replace(settings, **asked), seed=0)
    simulation.close()


@pytest.mark.parametrize("planner", ["predictive_sampling", "ilqg"])
def test_a_reward_that_is_no_number_is_not_called_a_simulation_that_breaks(planner: str) -> None:
    model = mujoco.MjModel.from_xml_string(MASS.format(more=""))
    simulation = Simulation.of(
        model,
        lambda s, _: StepRewards(s.qpos[..., 0] * np.nan, np.zeros(s.qpos.shape[:-1], bool)),
        1,
        threads=1,
    )
    plan = make_planner(simulation, Settings(planner, horizon=4, rollouts=20), seed=0)
    with pytest.raises(PolicyFailed, match=r"(is|are) not (a number|numbers)"):
        plan.act(0, _state(model, mujoco.MjData(model)))
    simulation.close()


@pytest.mark.parametrize("planner", ["predictive_sampling", pytest.param("ilqg", marks=pytest.mark.full)])
def test_a_pole_is_balanced_whose_reward_is_the_same_until_it_falls(planner: str) -> None:
    """By the reward alone it fell after 50 of these steps, and iLQG, which finds no slope in it, broke."""
    env = gym.make("InvertedPendulum-v5").unwrapped
    env.reset(seed=1)
    simulation = Simulation(
        about(env), step_ms=10, survival=100, task=Task(task_file_for("inverted_pendulum_v5"))
    )
    plan = make_planner(simulation, Settings(planner), seed=1)
    for step in range(100):
        _, _, terminated, _, _ = env.step(plan.act(step, state_of(env)).astype(np.float32))
        assert not terminated, step
    simulation.close()


def test_a_reward_that_is_the_same_everywhere_tells_ilqg_nothing_and_breaks_nothing() -> None:
    env = gym.make("InvertedPendulum-v5").unwrapped
    env.reset(seed=0)
    simulation = Simulation(about(env), 1)
    plan = make_planner(simulation, Settings("ilqg", horizon=6, rollouts=32), seed=0)
    assert np.isfinite(plan.act(0, state_of(env))).all() and plan.value == 6
    simulation.close()


@pytest.mark.full
def test_a_hopper_is_brought_past_the_step_at_which_it_used_to_fall() -> None:
    """Without a term for where its foot is, it fell after 228 of these steps."""
    env = gym.make("Hopper-v5").unwrapped
    env.reset(seed=1)
    task = Task(task_file_for("hopper_v5"))
    simulation = Simulation(about(env), step_ms=10, survival=100, task=task)
    plan = make_planner(simulation, Settings(), seed=1)
    for step in range(350):
        _, _, terminated, _, _ = env.step(plan.act(step, state_of(env)).astype(np.float32))
        assert not terminated, step
    simulation.close()
