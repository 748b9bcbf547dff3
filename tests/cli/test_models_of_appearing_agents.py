"""Models that play agents which appear: one slot, and on record each agent by its own name and episode."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run, summarize
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.processes.tree import TAG
from tests.support.commands import ROOT, Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.processes import Offspring
from tests.support.waiting import LONG_S

pytestmark = pytest.mark.usefixtures("all_sessions_here")

COLONY, PAINTED = "colony:Colony", "colony:PaintedColony"
"""In a file beside the experiment, so that every process finds them."""
PRICED = "gpt-4o-mini"
TOKENS = (200, 10)
EPISODES = 2
STEPS = {"bee_0": (2, 3, 4, 5, 6, 7), "bee_1": (5, 6, 7)}
"""Environment steps in which each bee acts: one hatches in the second step, the other in the fifth."""


def bees(url: str, kind: str = "llm", task: str = COLONY, **settings: Any) -> dict[str, Any]:
    """An operator whose bees all ask one model; ants play at random."""
    given = {"client_name": "openai", "base_url": url, "model_id": PRICED, "api_key": "env:BEE_KEY"}
    player = {
        "type": kind,
        "settings": {**given, **settings},
        "on_invalid": {"retry": 1, "then": "random_legal"},
    }
    return {"id": "bees", "task": task, "workers": {"ant_*": {"type": "random"}, "bee_*": player}}


KEY = {"BEE_KEY": "sk-of-the-bees"}


def said(request: Request) -> Reply:
    """Every fourth reply cannot be played."""
    words = "I would rather not." if request.number % 4 == 1 else f"<action>{request.number % 4}</action>"
    return Reply(words, tokens=TOKENS)


def steady(request: Request) -> Reply:
    return Reply("<action>2</action>", tokens=TOKENS)


def calls_of(run: Path) -> list[dict[str, Any]]:
    return list(open_run(run).operators["bees"].calls())


def rows_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "operators/bees/steps.jsonl").read_text().splitlines()]


def own_colony(home: Path) -> Path:
    """The folder, with the colony as a file in it."""
    shutil.copy(ROOT / "tests" / "support" / "colony.py", home)
    return home


@pytest.fixture
def mosaic(mosaic: Mosaic) -> Mosaic:
    """The command line in a folder with the colony."""
    own_colony(mosaic.home)
    return mosaic


def whose(system: str) -> str:
    """The agent that a prompt speaks to."""
    found = re.match(r"You are (\w+)", system)
    assert found, system
    return found[1]


@dataclass(frozen=True)
class Asked:
    """A run with several episodes in flight, and what its server was asked."""

    run: Path
    requests: list[Request]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """For all tests; it is not to be changed."""
    home = tmp_path_factory.mktemp("bees")
    mosaic = Mosaic(home, Offspring(f"bees-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as runtime, FakeModelServer(said) as server:
        operator = bees(server.url, coordination_level=2, talk=True)
        path = experiment(own_colony(home), operator, num_episodes=EPISODES, concurrency=2)
        variables = {TAG: "tests", "MOSAIC_RUNTIME_DIR": runtime, **KEY}
        done = mosaic.process("run", path, "--trust", "--json", timeout=LONG_S, **variables)
        assert done.status == 0, done.err
        return Asked(home / done.json()["run"], list(server.requests))


def test_calls_name_the_agent_and_the_episode_of_the_run(asked: Asked) -> None:
    calls, rows = calls_of(asked.run), rows_of(asked.run)
    assert len(calls) == len(asked.requests)
    assert {(c["episode"], c["agent"]) for c in calls} == {(e, b) for e in range(EPISODES) for b in STEPS}
    for call in calls:
        place = "/".join(str(call[key]) for key in ("agent", "episode", "step", "attempt", "turn"))
        assert call["ref"] == place and call["step"] in STEPS[call["agent"]]
        assert whose(call["messages"][0]["content"]) == call["agent"]
    played = {c["ref"] for c in calls}
    own = [row for row in rows if row["agent_id"] in STEPS]
    assert len(own) == EPISODES * sum(map(len, STEPS.values()))
    chosen = [row for row in own if row["action_source"] in ("policy", "retry")]
    assert chosen
    for row in chosen:
        assert row["call_ref"] in played
        assert row["call_ref"].startswith(f"{row['agent_id']}/{row['episode_index']}/{row['step_index']}/")


def test_each_is_told_the_game_under_its_own_name_with_the_mates_that_live(asked: Asked) -> None:
    mates: dict[str, set[str]] = {}
    for request in asked.requests:
        system = request.messages[0]["content"]
        told = re.search(r"team-mates?[^\n]*?\(([^)]*)\)|mates: ([^\n]*)", system)
        assert told, system
        mates.setdefault(whose(system), set()).add((told[1] or told[2]).strip())
        assert "*" not in whose(system)
    # An ant dies in the fourth step, before the second bee hatches.
    assert mates == {"bee_0": {"ant_0, ant_1"}, "bee_1": {"ant_1, bee_0"}}


def test_transcript_and_report_have_them(asked: Asked, mosaic: Mosaic) -> None:
    operator = open_run(asked.run).operators["bees"]
    turns = list(Transcript(operator).turns())
    assert {(turn.agent, turn.slot) for turn in turns} == {("bee_0", "bee_*"), ("bee_1", "bee_*")}
    assert {turn.episode for turn in turns} == set(range(EPISODES))
    answered = [turn for turn in turns if turn.source]
    assert len(answered) == EPISODES * sum(map(len, STEPS.values()))
    (summary,) = summarize([open_run(asked.run)]).operators
    by_slot = {slot.slot: slot.calls for slot in summary.slots}
    assert by_slot["ant_*"] is None
    assert by_slot["bee_*"] is not None and by_slot["bee_*"].total == len(asked.requests)
    assert mosaic("report", "--no-replays", asked.run, "--out", mosaic.home / "page").status == 0
    page = (mosaic.home / "page" / "transcript.html").read_text()
    assert "bee_1" in page and "4294967295" not in page


@pytest.fixture
def run(mosaic: Mosaic, asked: Asked) -> Path:
    """A copy of the run, with its colony beside it."""
    return Path(shutil.copytree(asked.run, mosaic.home / "runs" / asked.run.name))


@pytest.mark.full
def test_a_recording_answers_every_call(run: Path, mosaic: Mosaic) -> None:
    done = mosaic.process("run", "--replay", run, "--trust", "--json", timeout=LONG_S)
    assert done.status == 0, done.err
    again = mosaic.home / done.json()["run"]
    assert compare_runs(run, again) is None
    assert {call["ref"] for call in calls_of(again)} == {call["ref"] for call in calls_of(run)}
    assert all(call["replayed"] for call in calls_of(again))
    done = mosaic.process("verify", again, "--trust", timeout=LONG_S)
    assert done.status == 0, done.err


@pytest.mark.full
def test_recorded_replies_are_read_again(run: Path, mosaic: Mosaic) -> None:
    done = mosaic.process("reparse", run, "--trust", "--json", timeout=LONG_S)
    assert done.status == 0, done.err
    (operator,) = done.json()["operators"]
    assert operator["same"] == EPISODES * sum(map(len, STEPS.values()))
    assert operator["unrecorded"] == 0


def test_models_are_asked_anew(mosaic: Mosaic) -> None:
    with FakeModelServer(steady) as server:
        path = experiment(mosaic.home, bees(server.url), num_episodes=1)
        run = mosaic.home / mosaic("run", path, "--trust", "--json", **KEY).json()["run"]
        sent = len(server.requests)
        done = mosaic("rerun", run, "--trust", "--json", **KEY)
        assert done.status == 0, done.err
        assert done.json()["equal"] and len(server.requests) == 2 * sent


def test_going_on_pays_nothing_twice(mosaic: Mosaic) -> None:
    with FakeModelServer(steady) as server:
        path = experiment(mosaic.home, bees(server.url), num_episodes=EPISODES, concurrency=1)
        whole = mosaic.home / mosaic("run", path, "--trust", "--json", **KEY).json()["run"]
        cut = Path(shutil.copytree(whole, mosaic.home / "runs" / "cut"))
        header = json.loads((cut / "run.json").read_text())
        (cut / "run.json").write_text(json.dumps(header | {"status": "running"}))
        place = cut / "operators" / "bees"
        first, *_ = (place / "episodes.jsonl").read_bytes().splitlines(keepends=True)
        (place / "episodes.jsonl").write_bytes(first)
        paid = (place / "calls.jsonl").read_bytes().splitlines(keepends=True)
        (place / "calls.jsonl").write_bytes(b"".join(paid[:-1]))  # the last one was under way
        sent = len(server.requests)
        done = mosaic("run", "--resume", cut, "--trust", "--json", **KEY)
        assert (done.status, done.json()["episodes"]) == (0, EPISODES), done.err
        assert len(server.requests) == sent + 1
    assert compare_runs(whole, cut) is None
    spent = sum(json.loads(line)["usd"] for line in paid)
    assert sum(call["usd"] for call in calls_of(cut)) == pytest.approx(spent)


# ------------------------------------------------------------------------------ budgets


A_CALL = sum(TOKENS)


def test_an_episodes_limit_is_that_of_all_agents_of_the_slot(mosaic: Mosaic) -> None:
    """Enough for the first bee's calls alone, and not for those of both."""
    with FakeModelServer(steady) as server:
        free = experiment(mosaic.home, bees(server.url, max_tokens=16), num_episodes=1)
        first = mosaic.home / mosaic("run", free, "--trust", "--json", **KEY).json()["run"]
        most = max(call["most"]["tokens"] for call in calls_of(first))
        limit = 7 * A_CALL + most  # of nine calls
        path = experiment(
            mosaic.home, bees(server.url, max_tokens=16, episode_token_limit=limit), num_episodes=EPISODES
        )
        done = mosaic("run", path, "--trust", "--json", **KEY)
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    asked = Counter(call["episode"] for call in calls_of(run))
    assert set(asked) == set(range(EPISODES)) and set(asked.values()) <= {7, 8}
    for episode in open_run(run).operators["bees"].episodes():
        assert episode.status == "completed" and episode.limit and "the episode" in episode.limit


def test_a_runs_budget_counts_what_they_spend_together(mosaic: Mosaic) -> None:
    with FakeModelServer(steady) as server:
        free = experiment(mosaic.home, bees(server.url, max_tokens=16), num_episodes=1)
        first = mosaic.home / mosaic("run", free, "--trust", "--json", **KEY).json()["run"]
        calls = calls_of(first)
        most = max(call["most"]["tokens"] for call in calls)
        whole = len(calls) * A_CALL
        budget = 2 * whole + 2 * most + whole // 2
        path = experiment(
            mosaic.home, bees(server.url, max_tokens=16), num_episodes=6, token_budget=budget, concurrency=2
        )
        sent = len(server.requests)
        done = mosaic("run", path, "--trust", **KEY)
        assert done.status == 1 and "left unplayed" in done.err, done.err
        (run,) = set((mosaic.home / "runs").iterdir()) - {first}
        spent = (len(server.requests) - sent) * A_CALL
        assert spent <= budget
        ledger = [json.loads(line) for line in (run / "budget.jsonl").read_text().splitlines()]
        done = mosaic("run", "--resume", run, "--token-budget", str(100 * whole), "--trust", "--json", **KEY)
        assert (done.status, done.json()["episodes"]) == (0, 6), done.err
    assert ledger
    assert (
        sum(
            call["tokens"]["input"] + call["tokens"]["output"]
            for call in calls_of(run)
            if not call["replayed"]
        )
        == (len(server.requests) - sent) * A_CALL
    )


@pytest.mark.full
def test_a_dry_run_counts_them(mosaic: Mosaic) -> None:
    operator = bees("http://127.0.0.1:9/v1") | {"max_steps": 8}
    path = experiment(mosaic.home, operator, num_episodes=10)
    done = mosaic.process("run", path, "--trust", "--dry-run", "--json", timeout=LONG_S)
    assert done.status == 0, done.err
    (slot,) = done.json()["models"]
    asked = 2 * sum(map(len, STEPS.values()))  # in two episodes
    assert (slot["slot"], slot["dry_calls"]) == ("bee_*", asked)
    assert whose(slot["first_prompt"][0]["text"]) == "bee_0"
    assert slot["unbounded"], "any number may appear"


# ----------------------------------------------------------------------- other ways of asking


def test_examples_are_turns_of_such_agents(mosaic: Mosaic) -> None:
    with FakeModelServer(steady) as server:
        path = experiment(mosaic.home, bees(server.url, strategy="few_shot"), num_episodes=1)
        done = mosaic("run", path, "--trust", "--json", **KEY)
        assert done.status == 0, done.err
        for request in server.requests:
            assert "Examples of turns of this game" in request.messages[0]["content"]


@pytest.mark.full
def test_episodes_of_one_of_them_can_be_shown(mosaic: Mosaic, asked: Asked) -> None:
    shown = {"run": str(asked.run), "episode": 0}
    with FakeModelServer(steady) as server:
        path = experiment(mosaic.home, bees(server.url, demonstrations=shown), num_episodes=1)
        done = mosaic("run", path, "--trust", **KEY)
        assert done.status != 0 and "stands for agents that appear" in done.err
        one = bees(server.url, demonstrations={**shown, "agent": "bee_1"})
        done = mosaic("run", experiment(mosaic.home, one, num_episodes=1), "--trust", "--json", **KEY)
        assert done.status == 0, done.err
        for request in server.requests:
            assert len(request.messages) >= 2 + 2 * len(STEPS["bee_1"])


@pytest.mark.full
def test_a_vision_model_is_shown_the_picture(mosaic: Mosaic) -> None:
    with FakeModelServer(steady) as server:
        operator = bees(server.url, "vlm", PAINTED, image_view="whole")
        path = experiment(mosaic.home, operator, num_episodes=EPISODES, concurrency=2)
        done = mosaic("run", path, "--trust", "--json", **KEY)
        assert done.status == 0, done.err
        pictures = [
            part
            for request in server.requests
            for part in request.messages[-1]["content"]
            if part["type"] == "image_url"
        ]
        run = mosaic.home / done.json()["run"]
        done = mosaic("run", "--replay", run, "--trust", "--json")
        assert done.status == 0, done.err
    calls = calls_of(run)
    assert len(pictures) == len(calls) == EPISODES * sum(map(len, STEPS.values()))
    assert Counter((c["episode"], c["agent"]) for c in calls) == {
        (e, bee): len(steps) for e in range(EPISODES) for bee, steps in STEPS.items()
    }
    assert all(whose(call["messages"][0]["content"]) == call["agent"] for call in calls)
    assert compare_runs(run, mosaic.home / done.json()["run"]) is None
