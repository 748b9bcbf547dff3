"""What to plan for, from a file: what it pays, and what is said of a file that says nothing sensible."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mujoco: Any = pytest.importorskip("mujoco")
gym: Any = pytest.importorskip("gymnasium")

from gym_gui.envs.simulator import MuJoCoSimulator  # noqa: E402
from mosaic_worker.worker import LoadError  # noqa: E402
from mujoco_mpc_worker.main import make_planner  # noqa: E402
from mujoco_mpc_worker.planners import Settings  # noqa: E402
from mujoco_mpc_worker.simulation import Simulation  # noqa: E402
from mujoco_mpc_worker.task_file import Task, task_file_for  # noqa: E402

EXAMPLE = Path(task_file_for("hopper_v5"))
REACH = """
control_cost = 0.5
[[terms]]
body_position = "fingertip"
from = "target"
norm = "l2"
weight = 3.0
[[terms]]
qvel = "joint0"
norm = "abs"
weight = 0.25
"""


def env_of(name: str) -> Any:
    env = gym.make(name).unwrapped
    env.reset(seed=3)
    return env


def planned(env: Any, path: Path, **settings: Any) -> Simulation:
    return Simulation(MuJoCoSimulator(env).description(), 1, task=Task(str(path)), **settings)


def written(folder: Path, text: str, name: str = "task.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_file_pays_what_it_says(tmp_path: Path) -> None:
    env = env_of("Reacher-v5")
    simulation = planned(env, written(tmp_path, REACH), step_ms=10)
    state, actions = np.array(MuJoCoSimulator(env).state()), np.full((1, 6, 2), 0.4)
    model, data = simulation.model, mujoco.MjData(simulation.model)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    due = 0.0
    for action in actions[0].astype(np.float32):
        data.ctrl[:] = action
        mujoco.mj_step(model, data, nstep=2)
        # What is measured is measured where the last step of the simulator began.
        far = data.body("fingertip").xpos - data.body("target").xpos
        due -= 3 * np.linalg.norm(far) + 0.25 * abs(data.qvel[0]) + 0.5 * float(np.square(action).sum())
    (found,) = simulation.returns(state, actions)
    assert found == pytest.approx(due, abs=1e-4)
    simulation.close()


def test_json_says_the_same(tmp_path: Path) -> None:
    env = env_of("Reacher-v5")
    toml = written(tmp_path, REACH)
    same = written(tmp_path, json.dumps(tomllib.loads(REACH)), "task.json")
    state = np.array(MuJoCoSimulator(env).state())
    actions = np.random.default_rng(0).uniform(-1, 1, (4, 5, 2))
    first, second = (planned(env, path).returns(state, actions) for path in (toml, same))
    assert first.tolist() == second.tolist()
    assert len(set(first)) == 4


def test_bounds_end_what_is_paid() -> None:
    env = env_of("Hopper-v5")
    simulation = planned(env, EXAMPLE, step_ms=4)
    state = np.array(MuJoCoSimulator(env).state())
    short, long = (simulation.returns(state, np.ones((1, steps, 3)))[0] for steps in (90, 140))
    assert short == long, "it has fallen before"
    simulation.close()


@pytest.mark.parametrize("planner", ["cem", "ilqg"])
def test_a_task_without_a_reward_model_is_planned_from_a_file(tmp_path: Path, planner: str) -> None:
    env = env_of("Pusher-v5")
    near = '[[terms]]\nbody_position = "tips_arm"\nfrom = "object"\n'
    calm = '[[terms]]\nqvel = "r_elbow_flex_joint"\nweight = 0.01\n'
    simulation = planned(env, written(tmp_path, near + calm), step_ms=25)
    plan = make_planner(simulation, Settings(planner, horizon=8, rollouts=40, knots=4), seed=0)
    before = None
    for step in range(6):
        env.step(plan.act(step, np.array(MuJoCoSimulator(env).state())).astype(np.float32))
        before = plan.value if before is None else before
    assert plan.value > before
    simulation.close()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("terms = 3", "terms: must be a list of tables"),
        ("control_cost = 1", "terms: there is none"),
        ('[[terms]]\nqpos = "rootz"\nwieght = 1', r"terms\[0\].wieght: is not known; did you mean weight\?"),
        ('[[terms]]\nqpos = "knee"', r"terms\[0\].qpos: the model has no joint 'knee'; it has rootx, rootz"),
        ('[[terms]]\nsensor = "x"', r"terms\[0\].sensor: the model has no sensor 'x'; it has none"),
        ('[[terms]]\nqpos = "rootz"\nqvel = "rootz"', r"terms\[0\]: must name one of .* not 2 of them"),
        ("[[terms]]\nweight = 1", r"terms\[0\]: must name one of .* not 0 of them"),
        ('[[terms]]\nqpos = "rootz"\nnorm = "huge"', r"terms\[0\].norm: is 'huge'; norms are linear"),
        ('[[terms]]\nqpos = "rootz"\ntarget = "up"', r"terms\[0\].target: must be a number or a list"),
        ('[[terms]]\nqpos = "rootz"\ntarget = [1, 2]', r"terms\[0\].target: has 2 numbers, and rootz has 1"),
        ('[[terms]]\nqpos = "rootz"\nweight = nan', r"terms\[0\].weight: must be a number, not nan"),
        ('[[terms]]\nbody_position = "torso"\naxis = "w"', r"terms\[0\].axis: must be x, y or z"),
        ('[[terms]]\nqpos = "rootz"\n[[bounds]]\nqpos = "rootz"', r"bounds\[0\]: needs low, high or both"),
        ("[[terms", "task.toml is neither TOML nor JSON: "),
        ('[[terms]]\nqpos = "rootz"\nnorm = ["l2"]', r"terms\[0\].norm: is \['l2'\]; norms are linear"),
        (f'[[terms]]\nqpos = "rootz"\nweight = 1{"0" * 400}', r"terms\[0\].weight: must be a number"),
    ],
)
def test_a_key_that_says_nothing_is_named(tmp_path: Path, text: str, says: str) -> None:
    env = env_of("Hopper-v5")
    with pytest.raises(LoadError, match=says) as caught:
        planned(env, written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"gone\.toml cannot be read: No such file"):
        Task(str(tmp_path / "gone.toml"))


def test_the_environments_own_reward_may_count_too(tmp_path: Path) -> None:
    env = env_of("Hopper-v5")
    state, actions = np.array(MuJoCoSimulator(env).state()), np.ones((1, 140, 3))
    term = '[[terms]]\nqvel = "rootx"\nweight = {weight}\n'
    nothing = written(tmp_path, "reward = 2.0\n" + term.format(weight=0.0), "nothing.toml")
    alone = Simulation(MuJoCoSimulator(env).description(), 1, step_ms=4).returns(state, actions)[0]
    twice = planned(env, nothing, step_ms=4).returns(state, actions)[0]
    assert twice == pytest.approx(2 * alone), "and the fall ends both"
    slower = written(tmp_path, "reward = 2.0\n" + term.format(weight=1.0), "slower.toml")
    assert planned(env, slower, step_ms=4).returns(state, actions)[0] < twice
    with pytest.raises(LoadError, match=r"nothing\.toml: reward: the environment's own reward is not known"):
        planned(
            env_of("Ant-v5"), written(tmp_path, 'reward = 1\n[[terms]]\nqvel = "hip_1"\n', "nothing.toml")
        )


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "task.toml")
    with pytest.raises(LoadError, match="is a named pipe, not a regular file"):
        Task(str(tmp_path / "task.toml"))


def test_differences_are_of_things_of_one_size(tmp_path: Path) -> None:
    sensors = "<sensor><framequat name='turn' objtype='body' objname='ball'/>"
    sensors += "<framepos name='place' objtype='body' objname='ball'/></sensor>"
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='ball'><freejoint/><geom size='.1'/></body></worldbody>"
        f"{sensors}</mujoco>"
    )
    task = Task(str(written(tmp_path, '[[terms]]\nsensor = "turn"\nfrom = "place"')))
    with pytest.raises(LoadError, match=r"terms\[0\].from: place has 3 numbers, but turn has 4"):
        task.reward(model, None)
