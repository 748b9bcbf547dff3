"""Programs whose messages go over XMPP as SPADE agents send them: on record, and on this machine alone."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("agentspeak")

from gym_gui.cli.installing.install import install_worker
from gym_gui.core.errors import MosaicError
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from spade_bdi_worker.xmpp import Mailbox, XmppError
from spade_bdi_worker.xmpp_server import LOOPBACK, agent_of, user_of
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring
from tests.support.staff import hired, request
from tests.support.talk import Agent, Talk
from tests.support.waiting import eventually
from tests.workers.test_bdi_worker import EXAMPLES, played, slot

DOORS = EXAMPLES / "doors.asl"
PAIR_OF_DOORS = "MultiGrid-RedBlueDoors-6x6-v0"
SERVER = "spade_bdi_worker.xmpp_server"
NAMES = ("green_0", "green_1")
SECRET = "of this session alone"
TELLS = '!go. +!go <- .send(green_1, tell, ball(2, 3)); .broadcast(tell, says("<&>")); left; !go.'
STRANGER = Path(__file__).with_name("spade_stranger.py")
TELLS_A_STRANGER = """
!go.
+!go : ball(4, 5)[source(stranger)] <- forward; !go.
+!go : told <- left; !go.
+!go <- +told; .send(stranger, tell, ball(2, 3)); left; !go.
"""
HEARS = "!go. +!go : ball(2, 3)[source(green_0)] <- forward; !go. +!go <- left; !go."


@pytest.fixture
def spade(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """spade_worker, copied and installed as a person does it, once."""
    data = tmp_path_factory.getbasetemp() / "data-with-spade"
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(data))
    # Compiling what XMPP needs takes ten times as long as importing it.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    with WorkerTypeRegistry.isolated():
        if not data.is_dir():
            shutil.copytree(EXAMPLES.parent / "spade_worker", data / "workers" / "spade_worker")
            discover()
            assert install_worker("spade_worker") == 0
        discover()
        yield


@contextlib.contextmanager
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        yield taken.getsockname()[1]


@given(st.text(min_size=1, max_size=30))
def test_any_agent_has_an_address_and_is_known_by_it(agent: str) -> None:
    assert agent_of(user_of(agent)) == agent
    assert user_of(agent) == user_of(agent).lower() and not set(user_of(agent)) & set("@/:<>'\"& ")


def test_a_port_that_is_taken_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with taken_port() as port, pytest.raises(XmppError) as refused:
        Mailbox("green_0", SECRET, port)
    line = f"port {port} of {LOOPBACK} is taken by another program: set another xmpp_port, or 0"
    assert line in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.skipif(find_spec("slixmpp") is not None, reason="slixmpp is installed here")
async def test_without_xmpp_it_is_refused_with_where_there_is_some() -> None:
    xmpp = slot("spade_bdi_worker", EXAMPLES / "empty.asl", transport="xmpp")
    with pytest.raises(MosaicError, match=r"transport xmpp needs slixmpp.* use spade_worker"):
        await played({"agent": xmpp}, "MiniGrid-Empty-5x5-v0", range(1))


TOLD = RANDOM + (
    "    def load(self, slot):\n"
    "        return str(sorted(slot.secrets)) + slot.secrets.get('session', '')[::-1]\n"
)


async def test_a_session_has_a_secret_for_those_workers_that_ask(tmp_path: Path) -> None:
    asks = little_worker(tmp_path, TOLD, "asking_worker", launch={"session_secret": True})
    async with hired(asks) as (_, one), hired(asks) as (_, other):
        named: list[list[str]] = []
        for supervisor in (one, other):
            more = [await supervisor.start_worker(asks, [request(f"agent_{i}")], print) for i in range(2)]
            named.append([policy for started in more for _, policy in started])
    assert named[0][0] == named[0][1] != named[1][0] == named[1][1]
    assert named[0][0].startswith("['session']") and len(named[0][0]) > 30
    async with hired(little_worker(tmp_path, TOLD, "silent_worker")) as (_, supervisor):
        silent = little_worker(tmp_path, TOLD, "still_worker")
        ((_, policy),) = await supervisor.start_worker(silent, [request()], print)
        assert policy == "[]"


@pytest.mark.full
async def test_two_programs_tell_each_other_by_xmpp_what_they_would_by_the_host(
    spade: None, offspring: Offspring
) -> None:
    pytest.importorskip("multigrid")
    xmpp, host = [
        await played(dict.fromkeys(("agent_0", "agent_1"), slot(worker, DOORS)), PAIR_OF_DOORS, range(3))
        for worker in ("spade_worker", "spade_bdi_worker")
    ]
    for index in xmpp.episodes:
        assert xmpp.episodes[index]["success"]
        assert xmpp.column(index, "action") == host.column(index, "action")
        (said,) = [row for row in xmpp.rows[index] if "said" in row]
        assert said["said"] == ".send(agent_1, tell, may_open(blue))"
        (heard,) = [row for row in xmpp.rows[index] if "heard" in row["bdi"]]
        assert (heard["agent_id"], heard["step_index"]) == ("agent_1", said["step_index"] + 1)
        assert heard["bdi"].pop("heard") == [
            f"agent_0: tell may_open(blue), sent at step {said['step_index']}"
        ]
        assert xmpp.column(index, "bdi") == host.column(index, "bdi")


@pytest.mark.full
async def test_a_port_that_is_taken_fails_its_session_and_no_other(spade: None, tmp_path: Path) -> None:
    xmpp = slot("spade_worker", EXAMPLES / "empty.asl")
    with taken_port() as port, pytest.raises(MosaicError) as refused:
        taken = {**xmpp, "settings": {**xmpp["settings"], "xmpp_port": port}}
        await played({"agent": taken}, "MiniGrid-Empty-5x5-v0", range(1))
    assert "\n" not in str(refused.value) and f"port {port} of {LOOPBACK} is taken" in str(refused.value)


class Pair:
    """Two agents of a team, each in its worker's process."""

    def __init__(self, folder: Path) -> None:
        self.talks = [
            Talk(
                folder / name,
                worker="spade_worker",
                agent=name,
                teammates=[other for other in NAMES if other != name],
                secrets={"session": SECRET},
            )
            for name in NAMES
        ]

    def agents(self, *texts: str, **settings: Any) -> list[Agent]:
        """Their programs, loaded at the same time."""
        for talk, text in zip(self.talks, texts, strict=True):
            talk.begin_load(text, transport="xmpp", **settings)
        assert [talk.hear()["loaded"].get("error") for talk in self.talks] == [None, None]
        return [
            Agent(talk, 1, name, 1) for talk, name in zip(self.talks, ("green_0", "green_1"), strict=True)
        ]

    def close(self) -> None:
        for talk in self.talks:
            talk.close()


@pytest.fixture
def pair(spade: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    pair = Pair(tmp_path)
    yield pair
    pair.close()
    assert not list(temporary.iterdir())


def listening(pids: list[int]) -> set[str]:
    """Addresses at which processes listen."""
    sockets = [each for pid in pids for each in psutil.Process(pid).net_connections("inet")]
    return {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN}


@pytest.mark.full
def test_a_message_is_heard_when_it_has_come_and_no_stranger_is_let_in(
    pair: Pair, offspring: Offspring
) -> None:
    one, other = pair.agents(TELLS, HEARS, deliberation_s=1)
    action, told = one.decide()
    assert action == "left"
    action, told = other.decide(heard=[f"green_0: {told['said']}"])
    came = ["ball(2, 3)", 'says("<&>")']
    assert told["bdi"]["heard"] == [f"green_0: tell {each}, sent at step 0" for each in came]
    assert (action, told["bdi"]["added"]) == ("forward", came)
    # The agent does not wait for agents that have said nothing, or that have no mailbox.
    assert other.decide()[0] == "forward"
    assert "heard" not in other.decide(heard=["green_2: .broadcast(tell, ball(1, 1))"])[1]["bdi"]
    # What was announced and does not come cuts the agent off for the episode, and no further.
    for _ in range(2):
        problem, _ = other.decide(heard=["green_0: .send(green_1, tell, never(sent))"])
        assert problem == "never(sent) of green_0 has not arrived over XMPP in time"
    assert other.again().decide()[0] == "left"
    (server,) = offspring.find(SERVER)
    assert listening(offspring.pids()) == {LOOPBACK}
    lines = " ".join(word for line in offspring.command_lines().values() for word in line)
    assert SECRET not in lines + Path(f"/proc/{server}/environ").read_text()


@pytest.mark.full
def test_a_server_that_dies_costs_the_episodes_that_need_it_and_is_started_again(
    pair: Pair, offspring: Offspring
) -> None:
    one, other = pair.agents(TELLS, HEARS)
    assert one.decide()[0] == "left"
    (server,) = offspring.find(SERVER)
    os.kill(server, signal.SIGKILL)
    eventually(lambda: not offspring.find(SERVER), "the server is gone")
    problem, told = one.decide()
    assert problem == "ball(2, 3) cannot be sent: the XMPP server has ended"
    assert one.decide()[0] == problem
    assert other.decide()[0] == "left"  # who needs no message goes on
    action, told = one.again().decide()
    assert action == "left"
    later = other.again()
    assert later.decide()[0] == "left"
    # The second has met the first at the new server.
    _, told = one.again().decide()
    assert later.decide(heard=[f"green_0: {told['said']}"])[0] == "forward"


@pytest.fixture
def python_with_spade(spade: None) -> Path:
    """Python of an environment of its own, which has what a stranger is made of."""
    folder = Path(os.environ["MOSAIC_DATA_DIR"]) / "workers" / "stranger"
    if not folder.is_dir():
        folder.mkdir()
        text = (EXAMPLES.parent / "spade_worker" / "worker.toml").read_text()
        text = text.replace('id = "spade_worker"', 'id = "stranger"').replace('aliases = ["spade"]', "")
        text = re.sub(r'"slixmpp[^"]*"', '"spade>=4.1.4,<5", "spade-bdi>=0.3.3"', text)
        (folder / "worker.toml").write_text(text)
        discover()
        assert install_worker("stranger") == 0
    return folder / "env" / "bin" / "python"


@pytest.mark.full
def test_an_agent_of_spade_bdi_hears_and_is_heard(python_with_spade: Path, tmp_path: Path) -> None:
    talk = Talk(
        tmp_path / "one",
        worker="spade_worker",
        agent="green_0",
        teammates=["stranger"],
        secrets={"session": SECRET},
    )
    talk.begin_load(TELLS_A_STRANGER, transport="xmpp", deliberation_s=60)
    assert talk.hear()["loaded"].get("error") is None
    agent = Agent(talk, 1, "green_0", 1)
    command = [python_with_spade, STRANGER, SECRET, "stranger", "green_0"]
    paths = os.pathsep.join(sys.path)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as stranger:
        assert stranger.stdout
        assert stranger.stdout.readline() == "joined\n"
        assert agent.decide()[0] == "left"
        assert stranger.stdout.readline() == "ball(2, 3)\n"
        action, told = agent.decide(heard=["stranger: .send(green_0, tell, ball(4, 5))"])
    talk.close()
    assert action == "forward"
    assert told["bdi"]["heard"] == ["stranger: tell ball(4, 5), sent at step 0"]
