"""Summaries, reports and tables made in a process of their own."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from gym_gui.analysis import open_run, summarize, write_report
from gym_gui.analysis.reporting import find_standings
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.run_analysis import analyze, write_run_table
from gym_gui.services.subprocess_job import SubprocessJobError, run_subprocess_job
from tests.analysis.tournaments.conftest import write_tournament
from tests.support.engine import player, record_run
from tests.support.no_processes import analyzes_here
from tests.support.processes import Offspring

__all__ = ["analyzes_here"]


@pytest.fixture
async def run(tmp_path: Path) -> Path:
    def playing(name: str, action: int) -> tuple[OperatorConfig, dict[str, object]]:
        policy = player(lambda s: (s.step_index + action) % 2)
        return OperatorConfig(name, name.upper(), "", "CartPole-v1", {}), {"agent_0": policy}

    return await record_run(tmp_path / "runs", playing("a", 0), playing("b", 1))


async def test_the_same_summary_as_here(run: Path, offspring: Offspring) -> None:
    result = await analyze(run)
    assert result == summarize(open_run(run))
    offspring.assert_none()


@pytest.mark.usefixtures("analyzes_here")
async def test_a_tournament_with_its_standings(tmp_path: Path) -> None:
    run = write_tournament(tmp_path, ["a", "b"], lambda first, second, seed: 0.5, range(6))
    found = await analyze(run)
    assert found.standings == find_standings([open_run(run)]) is not None
    write_report(summarize(open_run(run)), run, [open_run(run)])
    assert "standings" not in (run / "summary.json").read_text()
    assert '"claim": "Who is best is not decided"' in (run / "tournament.json").read_text()


@pytest.mark.usefixtures("analyzes_here")
async def test_tables(run: Path, tmp_path: Path) -> None:
    assert await write_run_table([run], "operators", tmp_path / "o.csv") == 2
    assert await write_run_table([run], "episodes", tmp_path / "e.csv") == 6
    with pytest.raises(UsageError, match=r"neither a \.csv"):
        await write_run_table([run], "episodes", tmp_path / "e.txt")


async def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run at"):
        await analyze(tmp_path)
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises((UsageError, SubprocessJobError), match="damaged"):
        await analyze(tmp_path)


@pytest.mark.parametrize("times", [1, 3])
async def test_cancelling_ends_the_process(offspring: Offspring, times: int) -> None:
    task = asyncio.create_task(run_subprocess_job("http.server", "0"))
    await asyncio.sleep(0)
    while not offspring.pids():
        await asyncio.sleep(0.01)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    offspring.assert_none()


async def test_progress_and_verdict_of_a_verification(run: Path) -> None:
    told: list[object] = []
    finished = await run_subprocess_job("gym_gui", "verify", str(run), "--json", on_progress=told.append)
    assert finished.status == 0 and finished.json()["equal"] is True
    assert told and told[-1][-1]["done"] == 3  # type: ignore[index]


async def test_a_process_that_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "falls.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(SubprocessJobError, match="was killed"):
        await run_subprocess_job("falls")


async def test_a_report_of_a_run_that_was_deleted_meanwhile_does_not_bring_it_back(run: Path) -> None:
    opened = open_run(run)
    summary = summarize(opened)
    shutil.rmtree(run)
    with pytest.raises(UsageError, match="was deleted while its report was made"):
        write_report(summary, run, [opened])
    assert not run.exists()


async def test_the_summary_is_written_with_the_digests_of_its_pages_or_not_at_all(run: Path) -> None:
    (run / "report.html").mkdir()  # so that the page cannot be written
    opened = open_run(run)
    with pytest.raises(UsageError):
        write_report(summarize(opened), run, [opened])
    assert not (run / "summary.json").exists()


async def test_what_a_command_says_to_programs_is_a_sentence_to_people(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        await run_subprocess_job("gym_gui", "report", str(tmp_path / "nowhere"), "--json")
    said = refused.value.sentence
    assert said.startswith("No run at") and "{" not in said and "event" not in said
