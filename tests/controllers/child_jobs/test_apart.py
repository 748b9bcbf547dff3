"""Environments that are played in a process of their own: how long they may take, and who hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.analysis import Run, open_run
from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.cli.running.dry_run_checks import check_dry_run
from gym_gui.controllers.child_jobs.filming import write_films_in_child
from gym_gui.controllers.child_jobs.replay import replay_in_child
from gym_gui.controllers.child_jobs.verification import verify_in_child
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig, WorkerAssignment
from gym_gui.core.trusted import trust
from gym_gui.services.runs.recorded_episode import load_episode
from gym_gui.services.subprocess_job import SubprocessJobError
from tests.support.engine import player, record_run

MODULE = """
import time
from pathlib import Path

import gymnasium
from gymnasium import spaces


class Slow(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    observation_space = spaces.Discrete(8)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        while Path("hangs").exists():
            time.sleep(0.1)

    def render(self):
        import numpy as np

        return np.zeros((16, 16, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        if Path("slow").exists():
            time.sleep(1)
        return self.t, 1.0, self.t == 6, False, {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, with an environment in it that may be used."""
    (tmp_path / "slow_envs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    trust.allow_all()
    yield tmp_path
    trust.begin()


async def _recorded(folder: Path, task: str = "CartPole-v1") -> Run:
    players = {"agent_0": player(lambda s: s.step_index % 2)}
    return open_run(await record_run(folder / "runs", (OperatorConfig("a", "A", "", task, {}), players)))


def _refuse(_told: object) -> None:
    raise ValueError("the listener's own error")


async def test_a_listener_that_fails_is_not_taken_for_what_an_environment_prints(tmp_path: Path) -> None:
    run = await _recorded(tmp_path)
    with pytest.raises(ValueError, match="the listener's own"):
        await verify_in_child(run, _refuse)
    with pytest.raises(ValueError, match="the listener's own"):
        await replay_in_child(load_episode(run, "a"), on_steps=_refuse)


async def test_a_dry_run_ends_where_a_constructor_never_returns(folder: Path) -> None:
    (folder / "hangs").touch()
    chance = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    operators = [OperatorConfig("stuck", "", "", "slow_envs:Slow", {"agent_0": chance})]
    with pytest.raises(SubprocessJobError, match="has not returned for 3 s at about operator stuck"):
        await check_dry_run(Experiment(operators, ExecutionConfig(1)), 1, models=False, longest_s=3)


@pytest.mark.full
async def test_a_slow_environment_is_filmed(folder: Path) -> None:
    """Its episode takes longer than one call of it may."""
    run = await _recorded(folder, "slow_envs:Slow")
    (folder / "slow").touch()
    films, made = FilmFolder(folder / "films"), list[None]()
    await write_films_in_child(
        run, "a", [0], films.place(run.run_id, "a"), 1_000_000, lambda: made.append(None), longest_s=4
    )
    assert len(made) == 1 and films[run.run_id, "a", 0].frames
