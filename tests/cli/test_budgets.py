"""What a run may spend holds for all of it: its operators, its processes, and processes that resume it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.services.runs.budget_ledger import NAME
from tests.support.commands import COMMAND, Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, Request
from tests.support.processes import Offspring

VARIABLE = "INNOCENT_NAME"
KEY = {VARIABLE: "sk-planted-by-a-test-0123456789abcdef"}
STEPS = 4
TOKENS = 1000, 50
PRICES = {"gpt-4.1-mini": (0.4, 1.6), "gpt-4o": (2.5, 10.0)}
"""US dollars per million tokens, by model."""


def price(model: str, tokens: tuple[int, int] = TOKENS) -> float:
    """What a call costs."""
    read, written = PRICES[model]
    return (read * tokens[0] + written * tokens[1]) / 1e6


def asks(url: str, model: str, **settings: Any) -> dict[str, Any]:
    """An operator whose one slot asks a model; each episode takes ``STEPS`` calls."""
    given = {"base_url": url, "model_id": model, "api_key": f"env:{VARIABLE}", "max_tokens": 100, **settings}
    player = {"type": "llm", "settings": given, "on_invalid": "random_legal"}
    return {
        "id": model.replace(".", "-"),
        "task": "CartPole-v1",
        "workers": {"agent": player},
        "max_steps": STEPS,
    }


def said(request: Request) -> Reply:
    """Both directions in turn keep the pole up for so few steps."""
    return Reply("<action>right</action>" if request.number % 2 else "<action>left</action>", tokens=TOKENS)


def paid(server: FakeModelServer) -> float:
    """What the server has been asked for, in US dollars."""
    return sum(price(request.json["model"]) for request in server.requests)


def rows(run: Path) -> dict[str, list[dict[str, Any]]]:
    """Lines of episodes, by operator."""
    files = run.glob("operators/*/episodes.jsonl")
    return {f.parent.name: [json.loads(line) for line in f.read_text().splitlines()] for f in files}


def test_a_budget_holds_for_all_operators_and_processes_and_can_be_raised(mosaic: Mosaic) -> None:
    seed = STEPS * sum(map(price, PRICES))
    budget = round(5.5 * seed, 4)
    with FakeModelServer(said) as server:
        operators = [asks(server.url, model) for model in PRICES]
        file = experiment(
            mosaic.home, *operators, num_episodes=9, processes=3, money_budget_usd=budget, seeds=100
        )
        done = mosaic("run", file, "--json", **KEY)
        result = done.json()
        run = mosaic.home / result["run"]
        assert done.status == 1, done.err
        assert result["status"] == "stopped" and result["failed"] == 0
        assert "the money budget of the run does not suffice for another episode" in result["problem"]
        assert "are left unplayed" in result["problem"]
        assert 0.5 * budget < paid(server) <= budget
        written = sum(call["usd"] for o in open_run(run).operators.values() for call in o.calls())
        assert written == pytest.approx(paid(server), abs=0.00005), "to the cent, and far below"

        # Nothing has failed, and the operators that are compared have played the same seeds.
        counts = {operator: len(episodes) for operator, episodes in rows(run).items()}
        assert {row["status"] for episodes in rows(run).values() for row in episodes} == {"completed"}
        assert min(counts.values()) >= 2 and max(counts.values()) - min(counts.values()) <= 1
        assert result["verdicts"]

        # With no more money nothing more is asked; with more it goes on, and stays within that.
        asked = len(server.requests)
        again = mosaic("run", "--resume", run, "--json", **KEY)
        assert again.status == 1 and len(server.requests) == asked
        more = ("--money-budget", str(9.6 * seed), "--processes", "1")
        done = mosaic("run", "--resume", run, *more, "--json", **KEY)
        assert (done.status, done.json()["status"]) == (0, "completed"), done.err
        assert {len(episodes) for episodes in rows(run).values()} == {9}
        assert paid(server) <= 9.6 * seed
        assert json.loads((run / "run.json").read_text())["experiment"]["execution"][
            "money_budget_usd"
        ] == pytest.approx(9.6 * seed)


def test_what_was_asked_before_a_kill_is_paid_for_after_it(mosaic: Mosaic, offspring: Offspring) -> None:
    model = "gpt-4o"
    budget = 30 * price(model)
    stalled = 14

    def script(request: Request) -> Reply | Raw:
        return Raw(stall_after=0) if request.number == stalled else said(request)

    with FakeModelServer(script) as server:
        file = experiment(
            mosaic.home, asks(server.url, model), num_episodes=40, concurrency=1, processes=1,
            money_budget_usd=budget,
        )  # fmt: skip
        process = subprocess.Popen(
            [*COMMAND, "run", str(file)],
            cwd=mosaic.home,
            env={**mosaic.env, **KEY},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server.wait_for(stalled + 1)
        finally:
            process.kill()
            process.wait()
        offspring.assert_none()
        (run,) = (mosaic.home / "runs").iterdir()
        done = mosaic("run", "--resume", run, "--json", **KEY)
        assert done.status == 1 and done.json()["failed"] == 0, done.err
        assert stalled * price(model) < paid(server) <= budget
        assert all(row["status"] == "completed" for row in rows(run)["gpt-4o"])


def kill_while_stopped(mosaic: Mosaic, server: FakeModelServer, *run: str | Path) -> int:
    """Have a run hear nothing for as long as its sessions would play on, and kill it then.

    Returns:
        Requests that were sent while it heard nothing.
    """
    before = len(server.requests)
    process = subprocess.Popen(
        [*COMMAND, "run", *map(str, run)],
        cwd=mosaic.home,
        env={**mosaic.env, **KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        server.wait_for(before + 3)
        process.send_signal(signal.SIGSTOP)
        stopped = asked = len(server.requests)
        time.sleep(2.0)
        while asked < len(server.requests):
            asked = len(server.requests)
            time.sleep(2.0)
    finally:
        process.kill()
        process.wait()
    return asked - stopped


@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.full)])
def test_what_a_run_has_not_heard_of_before_it_was_killed_is_within_its_budget(
    mosaic: Mosaic, offspring: Offspring, kills: int
) -> None:
    """It was stopped before, as a machine in need of memory stops programs: its workers went on."""
    model, steps = "gpt-4o", 20
    budget = 70 * price(model)
    with FakeModelServer(said) as server:
        operator = {**asks(server.url, model), "max_steps": steps}
        file = experiment(
            mosaic.home, operator, num_episodes=40, concurrency=1, processes=1, money_budget_usd=budget
        )
        said_to: tuple[str | Path, ...] = (file,)
        for _ in range(kills):
            assert kill_while_stopped(mosaic, server, *said_to) <= 1, "the next one is not on record"
            offspring.assert_none()
            (run,) = (mosaic.home / "runs").iterdir()
            said_to = "--resume", run
        done = mosaic("run", "--resume", run, "--json", **KEY)
        assert done.status == 1 and done.json()["failed"] == 0, done.err
        assert 0.5 * budget < paid(server) <= budget
        lines = [json.loads(line) for line in (run / NAME).read_text().splitlines()]
        settled = sum(line["amounts"].get("run", {}).get("usd", 0) for line in lines if "settle" in line)
        most = max(line["amounts"]["agent_0"]["usd"] for line in lines if "announce" in line)
        assert paid(server) - 1e-9 <= settled <= paid(server) + kills * most, "one request a kill is unsure"


@pytest.mark.usefixtures("sessions_here")
@pytest.mark.parametrize("at", [3, STEPS * 2], ids=["in an episode", "between episodes"])
def test_a_run_whose_budgets_cannot_be_kept_stops_and_goes_on_later(mosaic: Mosaic, at: int) -> None:
    books = mosaic.home / "books"

    def script(request: Request) -> Reply:
        if request.number == at - 1:
            (found,) = mosaic.home.glob(f"runs/*/{NAME}")
            found.rename(books)
            found.mkdir()
        return said(request)

    with FakeModelServer(script) as server:
        file = experiment(
            mosaic.home, asks(server.url, "gpt-4o"), num_episodes=6, concurrency=1, processes=1,
            money_budget_usd=1.0,
        )  # fmt: skip
        done = mosaic("run", file, "--json", **KEY)
        assert done.out, done.err
        assert (
            done.status == 1 and "the ledger of the run's budgets cannot be written" in done.json()["problem"]
        )
        assert len(server.requests) == at, "what is not on record is not sent"
        run = mosaic.home / done.json()["run"]
        (run / NAME).rmdir()
        books.rename(run / NAME)
        done = mosaic("run", "--resume", run, "--json", **KEY)
        assert (done.status, done.json()["episodes"]) == (0, 6), done.err


def test_requests_of_a_worker_that_was_killed_are_paid_for(mosaic: Mosaic, offspring: Offspring) -> None:
    """Five are under way; the worker that comes after it has as much less to spend."""
    model, at_once = "gpt-4o", 5
    budget = 34 * price(model)
    killed = range(2 * at_once, 3 * at_once)

    def script(request: Request) -> Reply | Raw:
        return Raw(stall_after=0) if request.number in killed else said(request)

    with FakeModelServer(script) as server:
        operator = {**asks(server.url, model, samples=at_once, temperature=0.7), "max_steps": 100}
        file = experiment(
            mosaic.home, operator, num_episodes=1, concurrency=1, processes=1, money_budget_usd=budget
        )
        process = subprocess.Popen(
            [*COMMAND, "run", str(file)],
            cwd=mosaic.home,
            env={**mosaic.env, **KEY},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server.wait_for(killed.stop)
            (worker,) = offspring.workers("gpt-4o", "mosaic_llm_worker")
            os.kill(worker, signal.SIGKILL)
            assert process.wait(120) == 1, "the budget carries no whole episode"
        finally:
            process.kill()
            process.wait()
        assert killed.stop + at_once < len(server.requests), "it was asked anew"
        assert paid(server) <= budget


@pytest.mark.usefixtures("sessions_here")
def test_a_model_that_never_answers_ends_the_run_and_is_not_said_to_be_free(mosaic: Mosaic) -> None:
    with FakeModelServer(lambda request: Raw(stall_after=0)) as server:
        operator = asks(server.url, "gpt-4o", timeout_s=0.5, retries=1)
        file = experiment(
            mosaic.home, operator, num_episodes=30, concurrency=2, processes=1, money_budget_usd=0.01
        )
        done = mosaic("run", file, "--json", **KEY)
        assert done.status == 1 and "money budget" in done.json()["problem"], done.err
        assert len(server.requests) < 10, "each may have cost a fifth of a cent"
        report = mosaic(
            "report", "--no-replays", mosaic.home / done.json()["run"], "--json", "--out", mosaic.home
        )
        calls = json.loads(report.out)["operators"][0]["calls"]
        assert calls["usd"] in (None, 0) and calls["unsure"] >= len(server.requests)
        assert calls["unsure_usd"] > 0


@pytest.mark.full
@pytest.mark.usefixtures("sessions_here")
def test_no_episode_is_begun_once_the_runs_time_is_over(mosaic: Mosaic) -> None:
    """The first reply comes after it: what is on is played to its end, what waits in a session is not."""

    def script(request: Request) -> Reply:
        return replace(said(request), after_s=9.0 if request.number == 0 else 0.0)

    with FakeModelServer(script) as server:
        file = experiment(
            mosaic.home, asks(server.url, "gpt-4o"), num_episodes=4, concurrency=1, processes=1,
            time_budget_s=8,
        )  # fmt: skip
        done = mosaic("run", file, "--json", **KEY)
        assert done.out, done.err
        result = done.json()
        assert (done.status, result["status"], result["failed"]) == (1, "stopped", 0), done.err
        assert "the run has used its time budget of 8 s (raise --time-budget); 3 of 4" in result["problem"]
        run = mosaic.home / result["run"]
        assert len(rows(run)["gpt-4o"]) == 1 and len(server.requests) == STEPS
        done = mosaic("run", "--resume", run, "--json", **KEY)
        assert done.status == 1 and len(server.requests) == STEPS, "its time is over for a resumed run too"
        done = mosaic("run", "--resume", run, "--time-budget", "600", "--json", **KEY)
        assert (done.status, done.json()["episodes"]) == (0, 4), done.err


@pytest.mark.usefixtures("sessions_here")
def test_an_episode_ends_with_its_time_and_its_line_says_so(mosaic: Mosaic) -> None:
    def script(request: Request) -> Reply | Raw:
        return Raw(stall_after=0) if request.number == 2 else said(request)

    with FakeModelServer(script) as server:
        operator = asks(server.url, "gpt-4o", episode_time_limit_s=3, timeout_s=60)
        done = mosaic("run", experiment(mosaic.home, operator, num_episodes=1), "--json", **KEY)
        (row,) = rows(mosaic.home / done.json()["run"])["gpt-4o"]
    assert (row["status"], row["truncated"], row["length"]) == ("completed", True, 2)
    assert row["limit"] == "agent_0: the episode has used its 3 s (episode_time_limit_s)"


@pytest.mark.usefixtures("sessions_here")
def test_only_budgets_of_a_run_can_be_changed(mosaic: Mosaic) -> None:
    with FakeModelServer(said) as server:
        slot = asks(server.url, "gpt-4o", token_budget=13_000)
        file = experiment(mosaic.home, slot, num_episodes=4, concurrency=1, processes=1)
        done = mosaic("run", file, "--json", **KEY)
        run = mosaic.home / done.json()["run"]
        assert done.status == 1 and "the token budget of slot gpt-4o/agent_0" in done.json()["problem"]
        assert 1 <= len(rows(run)["gpt-4o"]) < 4
        assert sum(TOKENS) * len(server.requests) <= 13_000
        other = experiment(mosaic.home, asks(server.url, "gpt-4o", temperature=1.0), num_episodes=4)
        assert "only budgets can be changed" in mosaic.refused("run", other, "--resume", run)
        more = experiment(
            mosaic.home, asks(server.url, "gpt-4o", token_budget=40_000), num_episodes=4, concurrency=1,
            processes=1,
        )  # fmt: skip
        done = mosaic("run", more, "--resume", run, "--json", **KEY)
        assert (done.status, done.json()["episodes"]) == (0, 4), done.err


@pytest.mark.usefixtures("sessions_here")
def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_played(mosaic: Mosaic) -> None:
    with FakeModelServer(said) as server:
        slot = asks(server.url, "my-own-model")
        file = experiment(mosaic.home, slot, num_episodes=2, money_budget_usd=1.0)
        done = mosaic("run", file, **KEY)
        assert done.status == 2 and "no price for openai model 'my-own-model'" in done.err
        assert not server.requests
    assert "must be more than 0" in mosaic.refused("run", file, "--money-budget", "0")
