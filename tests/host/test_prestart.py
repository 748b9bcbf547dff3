"""A host that is started before it is known what it will play."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.inherited_environment import withhold
from gym_gui.core.trusted.trust import Origin, allow_all
from gym_gui.host.prestart import CommandHosts
from gym_gui.processes.child import start_with_retry
from tests.support.processes import Offspring
from tests.support.runs import operator
from tests.support.session_log import SessionLog
from tests.support.waiting import eventually


def resolved(name: str = "op") -> ResolvedOperator:
    return resolve_operator(experiment_from_data({"operators": [operator(name)]}).operators[0])


def start_one(hosts: CommandHosts, name: str = "op") -> int:
    """Start a session and end it; returns its process."""

    async def once() -> int:
        session = hosts.open_session(resolved(name), SessionSettings(1), SessionLog())
        try:
            return (await session.start()).pid
        finally:
            await session.close()

    return hosts.run(start_with_retry(once, [].append))


def the_host(offspring: Offspring) -> int:
    (pid,) = eventually(lambda: offspring.find("gym_gui.host"), "it is started")
    return pid


def test_the_first_session_gets_it_and_the_second_its_own(offspring: Offspring) -> None:
    with CommandHosts() as hosts:
        ahead = the_host(offspring)

        async def both() -> list[int]:
            sessions = [
                hosts.open_session(resolved(name), SessionSettings(1), SessionLog())
                for name in ("one", "two")
            ]
            try:
                pids = [(await session.start()).pid for session in sessions]
                assert [offspring.hosts(name) for name in ("one", "two")] == [[pid] for pid in pids]
                return pids
            finally:
                for session in sessions:
                    await session.close()

        first, second = hosts.run(both())
        assert first == ahead != second
    assert offspring.pids() == []


def test_one_that_nobody_takes_ends_with_the_context(offspring: Offspring) -> None:
    with pytest.raises(KeyError), CommandHosts():
        the_host(offspring)
        raise KeyError
    assert offspring.pids() == []


def test_none_is_started_where_nothing_is_played(offspring: Offspring) -> None:
    with CommandHosts(wanted=False) as hosts:
        assert offspring.find("gym_gui.host") == []
        assert start_one(hosts) > 0


def test_one_that_has_ended_is_replaced(offspring: Offspring) -> None:
    with CommandHosts() as hosts:
        ahead = the_host(offspring)
        os.kill(ahead, signal.SIGKILL)
        assert start_one(hosts) != ahead
    assert offspring.pids() == []


def test_one_that_has_a_variable_that_is_now_withheld_is_not_used(
    offspring: Offspring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "MOSAIC_TEST_OF_HOSTS_AHEAD", "x"
    )  # of a family that children get, and a secret's for an experiment
    with CommandHosts() as hosts:
        ahead = the_host(offspring)
        withhold("MOSAIC_TEST_OF_HOSTS_AHEAD")
        assert start_one(hosts) != ahead
    assert offspring.pids() == []


def test_an_environment_that_does_not_answer_when_it_is_looked_at_is_a_sentence(
    tmp_path: Path, offspring: Offspring
) -> None:
    (tmp_path / "endless.py").write_text("import time\ndef make(**_):\n    time.sleep(600)\n")
    config = OperatorConfig("a", task="endless:make", origin=Origin("e.json", str(tmp_path)))
    allow_all()
    with (
        CommandHosts(wanted=False, longest_s=0.5) as hosts,
        pytest.raises(
            UsageError, match=r"endless:make could not be described: it has not returned for 0.5 s"
        ),
    ):
        hosts.seats(config)
    offspring.assert_none()
