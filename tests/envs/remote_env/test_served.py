"""Environments in another process: the same episodes, and what becomes of them when it goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_gui.core.errors import EnvironmentFailure, EnvironmentLostError, UsageError
from gym_gui.core.paradigms import ParadigmAdapter, adapt
from gym_gui.core.paradigms.check import check_environment
from gym_gui.core.spaces import SpaceCodec, sample_legal
from gym_gui.core.types import StepResult
from gym_gui.envs.remote_env import InstanceRequest, LocalServer, RemoteServer, close_servers, make_served
from gym_gui.envs.remote_env.servers import server_of
from tests.support.waiting import eventually

_ROOT = Path(__file__).parents[3]
HERE = LocalServer("tests", path=(_ROOT,))
GAMES = "tests.support.served_games"


@pytest.fixture(autouse=True, scope="module")
def servers() -> Iterator[None]:
    yield
    close_servers()


def served(entry: str, api: str = "", begin_s: float = 60.0, step_s: float = 60.0, **arguments: Any) -> Any:
    return make_served(HERE, InstanceRequest(entry, arguments, api, begin_s, step_s))


def corridor(name: str = "Corridor", **arguments: Any) -> Any:
    return served(f"{GAMES}:{name}", **arguments)


def trajectory(adapter: ParadigmAdapter, seed: int, steps: int = 80) -> list[Any]:
    """All that an adapter shows under random legal actions."""
    shown = adapter.reset(seed=seed)
    told: list[Any] = [_encoded(adapter, shown)]
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        current = adapter.get_current_agents()
        if not current:
            break
        actions = {}
        for agent in current:
            space = SpaceCodec(adapter.action_space(agent)).space
            actions[agent] = sample_legal(space, adapter.action_mask(agent), int(rng.integers(1 << 62)))
        result = adapter.step(actions)
        told.append((_encoded(adapter, result.observations), *_plain(result), tuple(adapter.owed().items())))
    return told


def _encoded(adapter: ParadigmAdapter, observations: Mapping[str, Any]) -> Any:
    return {
        agent: SpaceCodec(adapter.observation_space(agent)).encode(seen)
        for agent, seen in observations.items()
    }


def _plain(result: StepResult) -> Any:
    return result.rewards, result.terminated, result.truncated


def _parallel(entry: str) -> Any:
    module, _, name = entry.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)()


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [
        ("gymnasium:make", {"id": "CartPole-v1"}),
        ("gymnasium:make", {"id": "minigrid:MiniGrid-DoorKey-5x5-v0"}),
        ("gymnasium:make", {"id": "Taxi-v4"}),
        ("gymnasium:make", {"id": "Blackjack-v1"}),
        ("mpe2.simple_tag_v3:parallel_env", {}),
        ("mpe2.simple_spread_v3:env", {}),
        ("pettingzoo.classic.connect_four_v3:env", {}),
        ("pettingzoo.classic.leduc_holdem_v4:env", {}),
        ("gymnasium:make", {"id": "mosaic_multigrid:MosaicMultiGrid-S-2v2-IndAgObs-v1"}),
    ],
)
def test_an_episode_elsewhere_is_the_one_here(entry: str, arguments: dict[str, Any]) -> None:
    here = adapt(gymnasium.make(**arguments) if arguments else _parallel(entry))
    there = adapt(served(entry, **arguments))
    assert there.possible_agents == here.possible_agents
    assert there.paradigm is here.paradigm
    for seed in (0, 7):
        assert trajectory(there, seed) == trajectory(here, seed)
    here.close()
    there.close()


def test_the_contract_holds_through_it() -> None:
    report = check_environment(lambda: adapt(corridor(render_mode="rgb_array")))
    assert report.ok, "\n".join(report.lines())


def test_steps_begun_together_are_those_taken_one_by_one() -> None:
    together = [adapt(corridor()) for _ in range(5)]
    alone = [adapt(corridor()) for _ in range(5)]
    for seed, adapter in enumerate([*together, *alone]):
        adapter.reset(seed=seed % 5)
    for k in range(3):
        actions = {"agent_0": 2 if k else 1}
        for adapter in together:
            assert adapter.step_async is not None
            adapter.step_async(actions)
        for one, other in zip(together, alone, strict=True):
            assert _told(one.step(actions)) == _told(other.step(actions))


def _told(result: StepResult) -> str:
    return repr(result)


def test_infos_pictures_and_texts_arrive() -> None:
    env = corridor(length=5, render_mode="rgb_array")
    _, info = env.reset(seed=0, options={"at": 2})
    assert info["name"] == "corridor"
    assert info["doors"].dtype == np.int16
    assert info["doors"].tolist() == [0, 1, 2]
    picture = env.render()
    assert picture.shape == (8, 40, 3)
    assert (picture[:, 16:24] == 200).all()
    assert picture.sum() == 200 * 8 * 8 * 3
    env.step(2)
    assert (picture[:, 16:24] == 200).all(), "a picture that was handed out stays as it was"
    written = corridor(render_mode="ansi")
    written.reset(options={"at": 3})
    assert written.render() == "...@"


def test_a_picture_may_grow() -> None:
    small, large = corridor(length=2, render_mode="rgb_array"), corridor(length=9000, render_mode="rgb_array")
    small.reset()
    large.reset()
    assert small.render().shape == (8, 16, 3)
    assert large.render().shape == (8, 72000, 3)
    assert small.render().shape == (8, 16, 3)


def test_it_says_what_it_is_asked() -> None:
    env = corridor()
    env.reset(options={"at": 2})
    assert set(env.answers) == {"text", "facts", "briefing", "success"}
    assert env.ask("text") == "You stand at 2 of 3."
    assert env.ask("facts") == [["at", 2], ["end", 3]]
    assert env.ask("success") is False
    env.step(2)
    assert env.ask("success") is True


def test_what_the_game_is_may_be_asked_before_an_episode() -> None:
    corridor().close()  # the server knows by now what it is, and makes no more of them than are played
    env = corridor()
    assert env.ask("briefing") == corridor().ask("briefing")
    env.reset(options={"at": 2})
    assert env.ask("text") == "You stand at 2 of 3."
    env.close()


def test_old_gym_has_the_interface_of_today() -> None:
    env = corridor("OldCorridor", render_mode="rgb_array")
    first, _ = env.reset(seed=5)
    again, _ = env.reset(seed=5)
    assert first == again
    assert env.render().shape == (4, 4, 3)
    for _ in range(9):
        seen, reward, terminated, truncated, _ = env.step(2)
        if truncated:
            break
    assert (int(seen[0]), reward, terminated, truncated) == (9, 1.0, False, True)


# -- what goes wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("no_such_module:make", "no_such_module"),
        (f"{GAMES}:nothing", "nothing"),
        (f"{GAMES}", "module:factory"),
        ("json:loads", "TypeError"),
    ],
)
def test_what_cannot_be_made_is_said(entry: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        served(entry)


def test_another_interface_than_asked_for_is_said() -> None:
    with pytest.raises(UsageError, match="gymnasium interface, not parallel"):
        served(f"{GAMES}:Corridor", api="parallel")


def test_arguments_are_plain_data() -> None:
    with pytest.raises(UsageError, match="plain data"):
        corridor(length=object())


def test_what_it_raises_is_named_as_it_would_be_here() -> None:
    adapter = adapt(corridor("Faulty", what="raise"))
    adapter.reset(seed=0)
    adapter.step({"agent_0": 1})
    with pytest.raises(EnvironmentFailure, match=r"raised KeyError in step\(\): 'the lamp is out'") as caught:
        adapter.step({"agent_0": 1})
    assert "served_games.py" in str(caught.value)
    adapter.reset(seed=0)
    adapter.step({"agent_0": 1})  # the instance, and its server, go on


def test_what_is_no_observation_is_said() -> None:
    adapter = adapt(corridor("Faulty", what="outside"))
    adapter.reset(seed=0)
    adapter.step({"agent_0": 1})
    with pytest.raises(EnvironmentFailure, match="NotInSpace"):
        adapter.step({"agent_0": 1})


@pytest.mark.parametrize(
    ("what", "said"),
    [("segfault", r"killed \(signal"), ("exit", "status 3"), ("hang", "did not answer for 0.5 s in step")],
)
def test_a_server_that_is_lost_says_how_and_the_next_episode_has_another(
    what: str, said: str, tmp_path: Path
) -> None:
    once = str(tmp_path / "done")
    faulty = adapt(corridor("Faulty", what=what, once=once, step_s=0.5))
    other = adapt(corridor())
    faulty.reset(seed=1)
    other.reset(seed=1)
    faulty.step({"agent_0": 1})
    with pytest.raises(EnvironmentLostError, match=said):
        faulty.step({"agent_0": 1})
    with pytest.raises(EnvironmentLostError):
        other.step({"agent_0": 1})
    assert trajectory(other, 3) == trajectory(adapt(corridor()), 3)
    faulty.reset(seed=1)
    for _ in range(3):
        faulty.step({"agent_0": 1})


def test_a_reset_that_blocks_is_given_up(tmp_path: Path) -> None:
    once = str(tmp_path / "done")
    adapter = adapt(corridor("Faulty", what="hang_in_reset", once=once, begin_s=1.0))
    with pytest.raises(EnvironmentLostError, match=r"did not answer for 1 s in reset"):
        adapter.reset(seed=0)
    assert adapter.reset(seed=0)


def test_killed_and_stopped_servers_are_replaced() -> None:
    env = corridor(step_s=0.5)
    adapter = adapt(env)
    adapter.reset(seed=0)
    first = server_of(HERE).pid
    os.kill(first, signal.SIGKILL)
    with pytest.raises(EnvironmentLostError, match="SIGKILL"):
        adapter.step({"agent_0": 1})
    adapter.reset(seed=0)
    second = server_of(HERE).pid
    assert second not in (0, first)
    os.kill(second, signal.SIGSTOP)
    with pytest.raises(EnvironmentLostError, match="did not answer"):
        adapter.step({"agent_0": 1})
    adapter.reset(seed=0)
    assert server_of(HERE).pid not in (0, second)
    eventually(lambda: not Path(f"/proc/{second}").exists(), "the stopped server is gone")


def test_it_does_not_outlive_whoever_started_it() -> None:
    code = (
        "import time; from pathlib import Path; from gym_gui.envs.remote_env import *;"
        "from gym_gui.envs.remote_env.servers import server_of;"
        f"p = Here('orphan', path=(Path({str(_ROOT)!r}),));"
        f"make_served(p, Wanted('{GAMES}:Corridor')).reset();"
        "print(server_of(p).pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as player:
        assert player.stdout is not None
        pid = int(player.stdout.readline())
        player.kill()
    eventually(lambda: not Path(f"/proc/{pid}").exists(), "the server is gone")


# -- other carriers ----------------------------------------------------------------------


def test_a_program_may_speak_json_lines() -> None:
    place = LocalServer("lines", path=(_ROOT,), command=(sys.executable, "-m", "mosaic_env_server"))
    there = adapt(
        make_served(
            place, InstanceRequest("gymnasium:make", {"id": "CartPole-v1", "render_mode": "rgb_array"})
        )
    )
    here = adapt(gymnasium.make("CartPole-v1", render_mode="rgb_array"))
    assert trajectory(there, 4) == trajectory(here, 4)
    assert (there.render() == here.render()).all()
    close_servers([place])


def test_what_is_no_server_is_said() -> None:
    place = LocalServer("nonsense", command=(sys.executable, "-c", "print('hello')"))
    with pytest.raises(UsageError, match="invalid message"):
        make_served(place, InstanceRequest("x:y"))
    gone = LocalServer("gone", python=Path("/nowhere/bin/python"))
    with pytest.raises(UsageError, match="/nowhere/bin/python"):
        make_served(gone, InstanceRequest("x:y"))


_TOKEN = "a-token-of-some-length"


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[str]:
    """Address of a server, started as a user starts one on another machine."""
    token = tmp_path / "token"
    token.write_text(_TOKEN)
    command = [sys.executable, "-m", "mosaic_env_server.remote", "--listen", "localhost:0"]
    command += ["--token-file", str(token), "--env", f"corridor={GAMES}:Corridor"]
    env = {**os.environ, "PYTHONPATH": str(_ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        yield f"localhost:{line.split('port ')[1].split(',')[0]}"
        server.terminate()


def test_one_on_another_machine_serves_what_it_was_started_with(remote: str) -> None:
    place = RemoteServer("far", remote, _TOKEN)
    there = adapt(make_served(place, InstanceRequest("corridor", {"render_mode": "rgb_array"})))
    assert trajectory(there, 2) == trajectory(adapt(corridor()), 2)
    assert there.render().shape == (8, 32, 3)
    with pytest.raises(UsageError, match="not served here; this server has corridor"):
        make_served(place, InstanceRequest("os:system", {"command": "true"}))
    close_servers([place])


def test_a_wrong_token_and_nobody_there_are_said(remote: str) -> None:
    with pytest.raises(UsageError, match="refused our token"):
        make_served(RemoteServer("far", remote, "another-token-of-length"), InstanceRequest("corridor"))
    close_servers()
    with pytest.raises(UsageError, match="nothing answers at localhost:1"):
        make_served(RemoteServer("far", "localhost:1", _TOKEN), InstanceRequest("corridor"))


def test_a_lost_line_is_renewed_with_the_next_episode(remote: str) -> None:
    place = RemoteServer("far", remote, _TOKEN)
    adapter = adapt(make_served(place, InstanceRequest("corridor", step_s=5.0)))
    adapter.reset(seed=0)
    far = _its_process()
    os.kill(far, signal.SIGKILL)
    with pytest.raises(EnvironmentLostError, match="signal 9"):
        adapter.step({"agent_0": 1})
        time.sleep(0.2)
        adapter.step({"agent_0": 1})
    adapter.reset(seed=0)
    adapter.step({"agent_0": 1})
    close_servers([place])


def _its_process() -> int:
    import psutil

    for process in psutil.process_iter(["cmdline", "ppid"]):
        line = process.info["cmdline"] or []
        if "mosaic_env_server" in line and "remote" in line and f"corridor={GAMES}:Corridor" in line:
            return int(process.pid)
    raise AssertionError("the server has no process for us")
