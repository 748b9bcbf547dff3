"""One budget of a study played elsewhere: a real sshd, Slurm and Ray, and models whose replies are known."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.services.submissions.budget_leases import NAME
from tests.cli.test_budgets import KEY, PRICES, STEPS, TOKENS, VARIABLE, asks, paid, price, rows, said
from tests.cli.test_ray import alone, cluster, head, playing
from tests.cli.test_ray import begun as begun_on_ray
from tests.cli.test_ray import profile as ray_profile
from tests.cli.test_slurm import profile as slurm_profile
from tests.cli.test_submissions import begun, profile, submission_of
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.ray import Ray
from tests.support.slurm import slurm
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import EXPERIMENT_S, eventually

__all__ = ["alone", "cluster", "head"]

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

EPISODE = STEPS * sum(TOKENS)
"""Tokens that an episode takes."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


def hosts(mosaic: Mosaic, server: Sshd, *names: str) -> Path:
    """Hosts that have the key in a file of their owner's alone."""
    return profile(mosaic, server, *names, keys=keys(mosaic), shards=2)


def keys(mosaic: Mosaic) -> str:
    """A file with the key, of its owner's alone."""
    file = mosaic.home / "keys"
    file.write_text(f"{VARIABLE}={KEY[VARIABLE]}\n")
    file.chmod(0o600)
    return str(file)


def book(mosaic: Mosaic) -> dict[str, Any]:
    return json.loads((submission_of(mosaic) / NAME).read_text())


def test_over_four_shards_the_whole_spends_at_most_the_budget(mosaic: Mosaic, server: Sshd) -> None:
    seed = STEPS * sum(map(price, PRICES))
    budget = round(6.5 * seed, 4)
    with FakeModelServer(said) as models:
        operators = [asks(models.url, model) for model in PRICES]
        file = experiment(mosaic.home, *operators, num_episodes=12, money_budget_usd=budget, seeds=100)
        where = ("--executor", "ssh", "--profile", hosts(mosaic, server, "one", "two"), "--shards", "4")
        done = mosaic("run", file, *where, "--json", **KEY)
        assert done.status == 1, done.err
        result = done.json()
        run = Path(result["run"])
        header = json.loads((run / "run.json").read_text())
        assert result["status"] == header["status"] == "stopped" and result["failed"] == 0
        assert "the money budget of the run does not suffice for another episode" in result["problem"]
        counts = {operator: len(episodes) for operator, episodes in rows(run).items()}
        assert header["unplayed"] == 36 - sum(counts.values()) > 0
        assert f"{header['unplayed']} of 36 episodes are left unplayed" in result["problem"]
        assert 0.5 * budget < paid(models) <= budget
        spent = [each["spent"]["run"]["usd"] for each in header["shards"] if "spent" in each]
        assert sum(spent) == pytest.approx(paid(models), abs=0.00005), "by shard, and to the cent"
        assert result["verdicts"], "who is compared has played the same seeds"

        # What was merged is a run: with more money it goes on here, and knows what is spent.
        more = ("--money-budget", str(12.6 * seed), "--processes", "1")
        done = mosaic("run", "--resume", run, *more, "--json", **KEY)
        assert (done.status, done.json()["status"]) == (0, "completed"), done.err
        assert {len(episodes) for episodes in rows(run).values()} == {12}
        assert paid(models) <= 12.6 * seed


def test_what_is_enough_is_the_run_that_it_is_here(mosaic: Mosaic, server: Sshd) -> None:
    with FakeModelServer(lambda request: Reply("<action>right</action>", tokens=TOKENS)) as models:
        operators = [asks(models.url, "gpt-4o"), {"id": "chance"}]
        file = experiment(mosaic.home, *operators, num_episodes=6, token_budget=40 * EPISODE, seeds=7)
        whole = mosaic.home / mosaic("run", file, "--json", **KEY).json()["run"]
        where = ("--executor", "ssh", "--profile", hosts(mosaic, server, "one"), "--shards", "3")
        done = mosaic("run", file, *where, "--json", **KEY)
        assert done.status == 0, done.err
        assert compare_runs(whole, Path(done.json()["run"])) is None
        assert book(mosaic)["ended"] is False


@pytest.mark.parametrize("elsewhere", [False, True])
def test_requests_a_minute_hold_over_all_processes(mosaic: Mosaic, server: Sshd, *, elsewhere: bool) -> None:
    per_minute, at_once = 600, 4 if elsewhere else 1
    with FakeModelServer(said) as models:
        file = experiment(
            mosaic.home, asks(models.url, "gpt-4o", requests_per_minute=per_minute), num_episodes=20
        )
        where = ("--executor", "ssh", "--profile", hosts(mosaic, server, "one", "two"), "--shards", "4")
        done = mosaic("run", file, *(where if elsewhere else ("--processes", "2")), "--json", **KEY)
        assert done.status == 0, done.err
        asked = [request.at for request in models.requests]
        assert len(asked) == 20 * STEPS
        least_s = (len(asked) - at_once) * 60 / per_minute
        assert max(asked) - min(asked) >= least_s - 1.5, "but for how late the first may have arrived"


def test_killed_shards_and_coordinators_spend_no_more(mosaic: Mosaic, server: Sshd) -> None:
    budget = 12 * EPISODE + EPISODE // 2

    def slowly(request: Request) -> Reply:
        return Reply(said(request).text, tokens=TOKENS, after_s=0.2)

    with FakeModelServer(slowly) as models:
        file = experiment(
            mosaic.home, asks(models.url, "gpt-4o"), num_episodes=24, token_budget=budget, concurrency=1
        )
        where = ("--executor", "ssh", "--profile", hosts(mosaic, server, "one", "two"), "--shards", "4")
        first = begun(mosaic, "run", file, *where, **KEY)
        eventually(lambda: len(models.requests) > 5 * STEPS, "several shards have asked", within=120)
        first.kill()
        first.wait()
        victims = [f for host in ("one", "two") for f in (mosaic.home / host).glob("*/work/*/1/claim")]
        for name in ("pid", "run"):
            with suppress(ProcessLookupError):
                os.kill(int((victims[0].parent / name).read_text()), signal.SIGKILL)
        done = mosaic("run", "--resume", submission_of(mosaic), "--json", **KEY)
        assert done.status == 1, done.err
        assert len(models.requests) * sum(TOKENS) <= budget
        run = Path(done.json()["run"])
        played = len(rows(run)["gpt-4o"])
        assert played >= 8, "what the killed shard had not spent came back"
        assert {row["status"] for row in rows(run)["gpt-4o"]} == {"completed"}
        assert "token budget of the run does not suffice for another episode" in done.json()["problem"]
        assert open_run(run).record.status == "stopped"


def test_jobs_of_a_scheduler_spend_at_most_the_budget_of_all(mosaic: Mosaic, tmp_path: Path) -> None:
    budget = 5 * EPISODE + EPISODE // 2
    with slurm(tmp_path / "slurm") as cluster, FakeModelServer(said) as models:
        file = experiment(
            mosaic.home, asks(models.url, "gpt-4o"), num_episodes=12, token_budget=budget, seeds=100
        )
        jobs = slurm_profile(mosaic, keys=keys(mosaic))
        where = ("--executor", "slurm", "--profile", jobs, "--shards", "3")
        done = mosaic("run", file, *where, "--json", **KEY, **cluster)
        assert done.status == 1, done.err
        assert "the token budget of the run does not suffice for another episode" in done.json()["problem"]
        assert 0.5 * budget < len(models.requests) * sum(TOKENS) <= budget
        run = Path(done.json()["run"])
        header = json.loads((run / "run.json").read_text())
        played = rows(run)["gpt-4o"]
        assert {row["status"] for row in played} == {"completed"}
        assert header["unplayed"] == 12 - len(played)
        spent = [each["spent"]["run"]["tokens"] for each in header["shards"] if "spent" in each]
        assert sum(spent) == len(models.requests) * sum(TOKENS)


def test_tasks_of_a_cluster_spend_at_most_the_budget_of_all(mosaic: Mosaic, cluster: Ray) -> None:
    budget = 5 * EPISODE + EPISODE // 2
    with FakeModelServer(said) as models:
        file = experiment(
            mosaic.home, asks(models.url, "gpt-4o"), num_episodes=12, token_budget=budget, seeds=100
        )
        there = ray_profile(mosaic, cluster.address, keys=keys(mosaic))
        where = ("--executor", "ray", "--profile", there, "--shards", "3")
        done = mosaic("run", file, *where, "--json", **KEY)
        assert done.status == 1, done.err
        assert "the token budget of the run does not suffice for another episode" in done.json()["problem"]
        assert 0.5 * budget < len(models.requests) * sum(TOKENS) <= budget
        run = Path(done.json()["run"])
        header = json.loads((run / "run.json").read_text())
        played = rows(run)["gpt-4o"]
        assert {row["status"] for row in played} == {"completed"}
        assert header["unplayed"] == 12 - len(played)
        spent = [each["spent"]["run"]["tokens"] for each in header["shards"] if "spent" in each]
        assert sum(spent) == len(models.requests) * sum(TOKENS)


def test_a_lost_node_spends_no_more_than_it_was_given(mosaic: Mosaic, cluster: Ray) -> None:
    budget = 14 * EPISODE + EPISODE // 2

    def slowly(request: Request) -> Reply:
        return Reply(said(request).text, tokens=TOKENS, after_s=0.3)

    with FakeModelServer(slowly) as models:
        file = experiment(
            mosaic.home, asks(models.url, "gpt-4o"), num_episodes=24, token_budget=budget, concurrency=1
        )
        there = ray_profile(mosaic, cluster.address, keys=keys(mosaic))
        first = begun_on_ray(mosaic, "run", file, "--executor", "ray", "--profile", there, "--shards", "4")
        eventually(lambda: len(playing(mosaic)) == 2, "both nodes play", within=120)
        cluster.lose_second()
        assert first.wait(EXPERIMENT_S) == 1, (mosaic.home / "said").read_text()
        record = json.loads((submission_of(mosaic) / "submission.json").read_text())
        assert max(row["tries"] for row in record["shards"].values()) == 2
        asked = len(models.requests) * sum(TOKENS)
        assert asked <= budget
        run = Path(record["run"])
        played = rows(run)["gpt-4o"]
        assert {row["status"] for row in played} == {"completed"}
        assert len({row["episode_index"] for row in played}) == len(played) >= 6
        header = json.loads((run / "run.json").read_text())
        assert header["status"] == "stopped" and header["unplayed"] == 24 - len(played)
        assert "token budget of the run does not suffice for another episode" in header["problem"]
        lines = [json.loads(line) for line in (run / "budget.jsonl").read_text().splitlines()]
        told = sum(line["amounts"].get("run", {}).get("tokens", 0) for line in lines if "settle" in line)
        assert asked <= told <= budget, "what the lost one may have spent counts as spent"
        lost = [line["amounts"]["run"]["tokens"] for line in lines if line.get("settle") == "lost"]
        assert len(lost) == 1 and told == len(played) * EPISODE + lost[0]
