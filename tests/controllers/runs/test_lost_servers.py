"""Episodes that an environment's server took along are played again; one that kills it every time fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run, summarize
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager, RunResult
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.paths import data_dir
from gym_gui.envs.environment_registry import families
from gym_gui.envs.remote_env import close_servers
from gym_gui.host.host_client import HostSession

_ROOT = Path(__file__).parents[3]
EPISODES = 6


@pytest.fixture(autouse=True)
def corridors(tmp_path: Path) -> Iterator[None]:
    """A person's own server, of corridors in which something goes wrong."""
    folder = data_dir() / "environment_servers" / "corridors"
    folder.mkdir(parents=True)
    (folder / "server.toml").write_text(
        f'path = ["{_ROOT}"]\nstep_s = 1.0\n[environments]\n'
        '"Faulty-v0" = "tests.support.served_games:Faulty"\n'
        '"Calm-v0" = "tests.support.served_games:Corridor"\n'
    )
    alone = folder.parent / "alone"
    alone.mkdir()
    (alone / "server.toml").write_text(
        f'path = ["{_ROOT}"]\none_at_a_time = true\n[environments]\n'
        '"Only-v0" = "tests.support.served_games:Only"\n'
    )
    families.cache_clear()
    yield
    close_servers()
    families.cache_clear()


async def played(
    out: Path, session: Any = LocalSession, task: str = "Faulty-v0", **env_kwargs: Any
) -> RunResult:
    random = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}
    operator = {
        "id": "op",
        "task": task if "/" in task else f"corridors/{task}",
        "env_kwargs": env_kwargs,
        "workers": {"agent": random},
    }
    execution = {"num_episodes": EPISODES, "seeds": 100, "concurrency": 4, "max_steps": 20}
    experiment = experiment_from_data({"operators": [operator], "execution": execution})
    resolved = [resolve_operator(each) for each in experiment.operators]
    return await OperatorScriptExecutionManager(experiment, resolved, session, out).run()


@pytest.mark.parametrize(
    ("session", "what"),
    [
        (LocalSession, "hang"),
        (HostSession, "segfault"),
        pytest.param(LocalSession, "segfault", marks=pytest.mark.full),
        pytest.param(HostSession, "hang", marks=pytest.mark.full),
    ],
)
async def test_one_loss_costs_a_retry_and_changes_nothing(tmp_path: Path, what: str, session: Any) -> None:
    hit = await played(tmp_path / "hit", session, what=what, once=str(tmp_path / "once"))
    assert (hit.status, hit.episodes, hit.failed) == ("completed", EPISODES, 0)
    run = open_run(hit.folder)
    retries = run.record.retries
    assert retries
    assert {retry.lost for retry in retries} == {"environment"}
    assert all(retry.reason.startswith("the server of corridors ") for retry in retries)
    assert any("server of the environment lost" in note for note in summarize([run]).notes)
    calm = await played(tmp_path / "calm", session, what=what, once=str(tmp_path / "once"))
    assert compare_runs(hit.folder, calm.folder) is None


async def test_a_world_that_is_lost_fails_no_episode_that_can_be_begun_again(tmp_path: Path) -> None:
    """The server is still there: what it speaks to, a simulator, was gone for a moment."""
    result = await played(tmp_path / "runs", what="lose", once=str(tmp_path / "once"))
    assert (result.status, result.episodes, result.failed) == ("completed", EPISODES, 0)
    (retry,) = open_run(result.folder).record.retries
    assert retry.lost == "environment" and retry.reason.startswith("the corridor has fallen in")
    for_good = await played(tmp_path / "runs", what="lose")
    assert for_good.failed == EPISODES
    (said,) = {episode.error for episode in open_run(for_good.folder).operators["op"].episodes()}
    assert said is not None and said.startswith("the corridor has") and said.endswith(", 3 times")


async def test_a_server_that_says_so_has_one_episode_at_a_time(tmp_path: Path) -> None:
    result = await played(tmp_path, HostSession, "alone/Only-v0", lock=str(tmp_path / "lock"))
    assert (result.status, result.episodes, result.failed) == ("completed", EPISODES, 0)


async def test_one_that_kills_every_time_fails_and_says_how(tmp_path: Path) -> None:
    result = await played(tmp_path, what="exit", at_step=3)
    assert result.failed == EPISODES
    episodes = list(open_run(result.folder).operators["op"].episodes())
    assert {episode.error for episode in episodes} == {
        "the server of corridors ended with exit status 3, 3 times"
    }


async def test_its_own_words_are_in_the_record(tmp_path: Path) -> None:
    result = await played(tmp_path, task="Calm-v0", length=3)
    run = open_run(result.folder)
    episodes = list(run.operators["op"].episodes())
    assert any(episode.success for episode in episodes)
    assert all(episode.success is not None for episode in episodes)
