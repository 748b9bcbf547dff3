"""Language models: priced before they are asked, played, played again without a server; no key anywhere."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.processes.tree import TAG
from tests.support.browser import chromium
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, Request
from tests.support.in_process import run_here
from tests.support.language import EXAMPLE, LLM, match, soccer_policy
from tests.support.processes import Offspring
from tests.support.runs import MosaicRun
from tests.support.waiting import LONG_S

pytestmark = pytest.mark.usefixtures("all_sessions_here")

KEY = "sk-planted-by-a-test-0123456789abcdef"
VARIABLE = "INNOCENT_NAME"
EPISODES, STEPS = 2, 4
FILM = "document.querySelector('.film.with-words')"
PRICED = "gpt-4o-mini"


def lake(url: str, **settings: Any) -> dict[str, Any]:
    """An operator whose one slot asks a model what to do on the ice."""
    player = {
        "type": "llm",
        "worker_id": "mosaic_llm_worker",
        "settings": {"base_url": url, "model_id": PRICED, "api_key": f"env:{VARIABLE}", **settings},
        "on_invalid": {"retry": 1, "then": "random_legal"},
    }
    return {"id": "lake", "task": "FrozenLake-v1", "workers": {"agent": player}, "max_steps": STEPS}


def said(request: Request) -> Reply:
    """Every third reply cannot be played."""
    words = "I would rather not." if request.number % 3 == 1 else "<action>right</action>"
    return Reply(words, tokens=(200, 10))


@dataclass(frozen=True)
class Asked:
    """Two runs: one with a server that is gone since, the other played from what was recorded."""

    first: Path
    again: Path


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The runs, for all tests; they are not to be changed."""
    home = tmp_path_factory.mktemp("language")
    mosaic = Mosaic(home, Offspring(f"language-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as runtime:
        variables = {TAG: "tests", "MOSAIC_RUNTIME_DIR": runtime}
        with FakeModelServer(said) as server:
            file = experiment(home, lake(server.url), num_episodes=EPISODES, concurrency=1)
            done = mosaic("run", file, "--json", **variables, **{VARIABLE: KEY})
            assert done.status == 0, done.err
            assert {request.key for request in server.requests} == {KEY}
        first = home / done.json()["run"]
        done = mosaic("run", "--replay", first, "--json", **variables)
        assert done.status == 0, done.err
    return Asked(first, home / done.json()["run"])


@pytest.fixture
def run(mosaic: Mosaic, asked: Asked) -> Path:
    """A copy of the first."""
    return Path(shutil.copytree(asked.first, mosaic.home / "runs" / asked.first.name))


# ---------------------------------------------------------------------------- reported


@pytest.mark.full
def test_a_transcript_stands_beside_its_replay_and_follows_it(
    asked: Asked, mosaic: Mosaic, tmp_path: Path
) -> None:
    assert mosaic("report", asked.first, "-o", "out").status == 0
    assert mosaic("report", asked.first, "--site", "site").status == 0
    with chromium(tmp_path / "profile") as page:
        for file in ("out/report.html", "site/agents/lake/episode-0.html"):
            page.open((mosaic.home / file).as_uri())
            page.tell(f"{FILM}.scrollIntoView()")
            page.wait(f"{FILM}.dataset.shown === '0'")
            turns = page.tell(f"[...{FILM}.querySelectorAll('.said [data-step]')].map((t) => t.dataset.step)")
            assert sorted(set(map(int, turns))) == list(range(int(turns[-1]) + 1)) and len(turns) > 2
            assert "I would rather not." in page.tell(f"{FILM}.querySelector('.said').textContent")
            page.tell(f"[...{FILM}.querySelectorAll('.said [data-step]')].at(-1).click()")
            last = page.tell(f"{FILM}.querySelector('output').textContent")
            assert last.startswith(f"step {int(turns[-1]) + 1} of ")
            page.tell(f"{FILM}.focus()")
            page.press("Home")
            page.press("ArrowRight")
            now = page.tell(f"{FILM}.querySelector('.said .now').dataset.step")
            assert now == "0", "what was said last is marked as the replay goes on"
            assert page.complaints == []
        # Prompts are below, on the site's page of the episode.
        assert page.tell("document.querySelectorAll('section.episode details').length") >= len(turns)
    site = "".join(file.read_text() for file in (mosaic.home / "site").rglob("*.html"))
    assert KEY not in site


# ---------------------------------------------------------------------------- replayed


def test_a_run_is_played_again_from_its_calls_without_server_or_key(mosaic: Mosaic, asked: Asked) -> None:
    assert asked.again != asked.first
    assert compare_runs(asked.first, asked.again) is None
    first, second = (list(open_run(path).operators["lake"].calls()) for path in (asked.first, asked.again))
    assert [call["ref"] for call in second] == [call["ref"] for call in first]
    assert {call["replayed"] for call in second} == {True}
    assert open_run(asked.again).record.extra["replay"] == str(asked.first)
    assert mosaic("verify", asked.again).status == 0
    report = json.loads(mosaic("report", "--no-replays", asked.again, "--json", "--out", mosaic.home).out)
    assert report["operators"][0]["calls"]["usd"] == 0
    assert report["operators"][0]["calls"]["replayed"] == len(first)


def test_a_replay_that_was_cut_off_goes_on_as_a_replay(mosaic: Mosaic, asked: Asked) -> None:
    cut = Path(shutil.copytree(asked.again, mosaic.home / "runs" / asked.again.name))
    header = json.loads((cut / "run.json").read_text())
    (cut / "run.json").write_text(json.dumps(header | {"status": "running"}))
    place = cut / "operators" / "lake"
    whole = (place / "episodes.jsonl").read_bytes()
    (place / "episodes.jsonl").write_bytes(whole.splitlines(keepends=True)[0])
    with (place / "calls.jsonl").open("ab") as file:
        file.write(b'{"kind": "chat", "re')  # the writer died within a line
    done = mosaic("run", "--resume", cut, "--json")
    assert (done.status, done.json()["episodes"]) == (0, EPISODES), done.err
    assert compare_runs(asked.first, cut) is None
    # What the first try asked stands there as well, every line of it whole.
    refs = [[call["ref"] for call in open_run(p).operators["lake"].calls()] for p in (asked.first, cut)]
    assert set(refs[0]) == set(refs[1]) and len(refs[1]) > len(refs[0])


def test_going_on_pays_nothing_twice(mosaic: Mosaic) -> None:
    """A run that was cut off within its last episode: what that had paid for is on record."""
    with FakeModelServer(lambda request: "<action>right</action>") as server:
        keyed = {VARIABLE: KEY}
        file = experiment(mosaic.home, lake(server.url), num_episodes=EPISODES, concurrency=1)
        whole = mosaic.home / mosaic("run", file, "--json", **keyed).json()["run"]
        cut = Path(shutil.copytree(whole, mosaic.home / "runs" / "cut"))
        header = json.loads((cut / "run.json").read_text())
        (cut / "run.json").write_text(json.dumps(header | {"status": "running"}))
        place = cut / "operators" / "lake"
        first, *_ = (place / "episodes.jsonl").read_bytes().splitlines(keepends=True)
        (place / "episodes.jsonl").write_bytes(first)
        paid = (place / "calls.jsonl").read_bytes().splitlines(keepends=True)
        (place / "calls.jsonl").write_bytes(b"".join(paid[:-1]))  # the last one was under way
        sent = len(server.requests)
        done = mosaic("run", "--resume", cut, "--json", **keyed)
        assert (done.status, done.json()["episodes"]) == (0, EPISODES), done.err
        assert len(server.requests) == sent + 1
    assert compare_runs(whole, cut) is None
    calls = list(open_run(cut).operators["lake"].calls())
    again = calls[len(paid) - 1 :]
    assert [call["replayed"] for call in again] == [True] * (len(again) - 1) + [False]
    assert {call["usd"] for call in again[:-1]} == {0.0}
    spent = sum(json.loads(line)["usd"] for line in paid)
    assert sum(call["usd"] for call in calls) == pytest.approx(spent)
    assert json.loads((cut / "run.json").read_text())["experiment"] == header["experiment"]
    assert mosaic("verify", cut).status == 0


def test_a_recording_that_ends_too_early_says_which_call_is_missing(mosaic: Mosaic, run: Path) -> None:
    file = run / "operators" / "lake" / "calls.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]))
    missing = json.loads(lines[-1])["ref"]
    # The worker's log goes to stderr as it is.
    status, out, _ = run_here(["run", "--replay", str(run), "--json"], mosaic.home, mosaic.env)
    result = json.loads(out)
    assert (status, result["failed"]) == (1, 1)
    assert missing in mosaic("runs", "show", mosaic.home / result["run"]).out


def test_what_cannot_be_replayed_is_refused(mosaic: Mosaic, run: Path) -> None:
    file = experiment(mosaic.home)
    assert "--replay" in mosaic.refused("run", file, "--replay", run)
    (run / "operators" / "lake" / "calls.jsonl").unlink()
    assert "no recorded calls of operator 'lake'" in mosaic.refused("run", "--replay", run)
    assert "no run at" in mosaic.refused("run", "--replay", mosaic.home / "nowhere")


def test_a_run_without_models_has_nothing_to_replay(mosaic: Mosaic) -> None:
    run = mosaic.home / mosaic("run", experiment(mosaic.home), "--json").json()["run"]
    refused = mosaic.refused("run", "--replay", run)
    assert "asks a model" in refused and "mosaic replay" in refused


# ------------------------------------------------------------------------ before it is paid


def test_dry_run_projects_calls_and_price_and_asks_for_no_reply(mosaic: Mosaic) -> None:
    with FakeModelServer(said) as server:
        path = experiment(mosaic.home, lake(server.url), num_episodes=50)
        done = mosaic("run", path, "--dry-run", "--json")  # without a key
        assert server.listed and not server.requests, "whether the server is there, and no more"
    assert done.status == 0, done.err
    assert sorted(mosaic.home.iterdir()) == [path]
    plan = done.json()
    (slot,) = plan["models"]
    assert (slot["provider"], slot["model"], slot["dry_episodes"]) == ("openai", PRICED, 2)
    first = slot["first_prompt"]
    assert [message["role"] for message in first] == ["system", "user"]
    assert "Step 1." in first[-1]["text"]
    assert slot["calls"] == slot["dry_calls"] * 25  # 50 episodes for the two that were played
    assert 0 < slot["output_tokens"] < slot["calls"] * 512, "replies of a usual length"
    price = (slot["input_tokens"] * 0.15 + slot["output_tokens"] * 0.6) / 1e6
    assert slot["usd"] == pytest.approx(price, rel=0.01)
    # Every answer is asked for twice, and every request sent five times.
    requests = 50 * STEPS * 2 * 5
    assert slot["usd_at_most"] > requests * 512 * 0.6 / 1e6 and slot["tokens_at_most"] > requests * 512
    assert not slot["unbounded"] and slot["steps_at_most"] == STEPS
    assert "random legal actions" in plan["basis"]


@pytest.mark.full
def test_the_dry_run_says_how_far_a_budget_reaches_and_what_is_unbounded(mosaic: Mosaic) -> None:
    ice = lake("http://127.0.0.1:9/v1")
    free = experiment(mosaic.home, ice, num_episodes=50)
    (slot,) = mosaic("run", free, "--dry-run", "--json").json()["models"]
    an_episode = slot["usd"] / 50
    path = experiment(mosaic.home, ice, num_episodes=50, money_budget_usd=10.5 * an_episode)
    (budget,) = mosaic("run", path, "--dry-run", "--json").json()["budgets"]
    assert (budget["of"], budget["episodes"], budget["episodes_carried"]) == ("the run", 50, 10)
    assert budget["episodes_carried_at_least"] == int(10.5 * an_episode / (slot["usd_at_most"] / 50))
    assert "is enough for about 10 of 50 episodes" in mosaic("run", path, "--dry-run").out

    seats = {"player_1": ice["workers"]["agent"], "player_2": {"type": "random"}}
    game = {"task": "classic/tictactoe_v3", "workers": seats}
    done = mosaic("run", experiment(mosaic.home, game, num_episodes=2), "--dry-run", "--json").json()
    (slot,) = done["models"]
    assert slot["unbounded"] and slot["usd_at_most"] is None and slot["usd"] > 0
    seats["player_1"] = lake("http://127.0.0.1:9/v1", episode_cost_limit_usd=0.25)["workers"]["agent"]
    (slot,) = mosaic("run", experiment(mosaic.home, game, num_episodes=2), "--dry-run", "--json").json()[
        "models"
    ]
    assert not slot["unbounded"] and slot["usd_at_most"] == 0.5


def test_no_run_costs_more_than_the_bound_of_its_dry_run(mosaic: Mosaic) -> None:
    """Every second request fails and is paid for, no answer can be used, and replies have full length."""

    def dear(request: Request) -> Reply:
        lost = {"choices": []} if request.number % 2 else {}
        prompt = len(request.body) // 3
        return Reply("I would rather not say. " * 40, tokens=(prompt, 512), finish="length", more=lost)

    more = {"history": 3, "summary": True, "retries": 1, "samples": 2, "temperature": 0.7}
    with FakeModelServer(dear) as server:
        path = experiment(mosaic.home, {**lake(server.url, **more), "max_steps": 10}, num_episodes=2)
        (slot,) = mosaic("run", path, "--dry-run", "--json").json()["models"]
        done = mosaic("run", path, "--json", **{VARIABLE: KEY})
        run = open_run(mosaic.home / done.json()["run"])
        calls = list(run.operators["lake"].calls())
    real = sum(call["usd"] or 0.0 for call in calls)
    tokens = sum(sum(call["tokens"].values()) for call in calls)
    assert len(server.requests) > 40 and real > slot["usd"]
    assert real <= slot["usd_at_most"] and tokens <= slot["tokens_at_most"]


def test_dry_run_shows_the_first_prompt_and_makes_up_no_price(mosaic: Mosaic) -> None:
    asks = lake("http://127.0.0.1:9/v1", model_id="nobody-knows-it")["workers"]["agent"]
    seats = {"player_1": asks, "player_2": {"type": "random"}}
    game = {"task": "classic/tictactoe_v3", "seats": "swap", "workers": seats}
    path = experiment(mosaic.home, game, num_episodes=10)
    done = mosaic("run", path, "--dry-run")
    assert done.status == 0, done.err
    for part in (
        "10 episodes",
        "[system]",
        "<observation>",
        "Price:   unknown",
        "1 slot with an unknown price",
        "No model was called, and no run was recorded.",
    ):
        assert part in done.out
    # Of two games, one in each seat, both count: the shortest has 5 moves.
    found = re.search(r"\((\S+) an episode", done.out)
    assert found and float(found[1]) >= 2.5
    assert sorted(mosaic.home.iterdir()) == [path]


def test_dry_run_of_a_replay_would_pay_nothing(mosaic: Mosaic, run: Path) -> None:
    before = sorted(mosaic.home.rglob("*"))
    done = mosaic("run", "--replay", run, "--dry-run")
    assert done.status == 0 and "Nothing was played." in done.out
    assert sorted(mosaic.home.rglob("*")) == before


# ------------------------------------------------------------------- the example, and the key


def of_process(pid: int, what: str) -> bytes:
    """A file of ``/proc``; empty of a process that has ended meanwhile."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/{what}").read_bytes()
    return b""


class Held:
    """Replies that wait until the test has looked around."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> Reply:
        self.asked.set()
        assert self.go_on.wait(LONG_S)
        return Reply("<action>left</action>" if request.number % 2 else "<action>forward</action>")


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    yield held
    held.go_on.set()


def test_the_example_of_the_design_is_played_and_its_key_is_nowhere(
    tmp_path: Path, mosaic: Mosaic, offspring: Offspring, held: Held
) -> None:
    compile(EXAMPLE, "design/heterogeneous_decision_makers.rst", "exec")
    with FakeModelServer(held) as server:
        own = {"base_url": server.url, "api_key": f"env:{VARIABLE}"}
        policy = soccer_policy(tmp_path / "policy")
        played = match(policy, own, num_episodes=EPISODES, max_steps=STEPS, processes=1)
        home = tmp_path / "there"
        home.mkdir()
        run = MosaicRun(home, offspring, played.to_record(), environment={VARIABLE: KEY})
        assert held.asked.wait(LONG_S), run.err
        pids = [pid for pid in offspring.pids() if pid != run.process.pid]
        assert offspring.workers("heterogeneous_team", "mosaic_llm_worker")
        for pid in pids:
            assert KEY.encode() not in of_process(pid, "cmdline") + of_process(pid, "environ")
        assert KEY.encode() not in of_process(run.process.pid, "cmdline")
        held.go_on.set()
        assert run.wait() == 0, run.err
        assert {request.key for request in server.requests} == {KEY}
    done = mosaic("report", "--no-replays", run.folder)
    assert mosaic("verify", run.folder).status == 0
    turns = list(Transcript(open_run(run.folder).operators["heterogeneous_team"]).turns())
    assert len(turns) == EPISODES * STEPS
    assert {(turn.agent, turn.source) for turn in turns} == {(LLM, "policy")}
    for turn in turns:
        system, seen = turn.messages
        assert "You are green_1, of team green" in system.text
        assert "You look" in seen.text  # what it really sees stands in its prompt
        assert turn.word in ("forward", "left")
    rows = [row for row in run.steps("heterogeneous_team") if row.agent_id == LLM]
    assert {row.action_source.value for row in rows} == {"policy"}
    page = (run.folder / "transcript.html").read_text()
    assert page.count("<article") == len(turns)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not written
    assert KEY not in run.out + run.err + done.out + done.err


def test_dry_run_refuses_a_server_that_a_key_would_be_sent_to(mosaic: Mosaic) -> None:
    url = "https://elsewhere.example/v1"
    file = experiment(mosaic.home, lake(url), num_episodes=2)
    line = mosaic.refused("run", file, "--dry-run")
    assert url in line and "mosaic trust add" in line
    assert mosaic("run", file, "--dry-run", "--trust").status == 0


# ---------------------------------------------------------------------------- a server that is down


def _broken(request: Request) -> Raw:
    return Raw(502, b"<html>Bad gateway</html>", content_type="text/html")


def test_a_server_that_is_down_is_found_before_anything_is_played(mosaic: Mosaic) -> None:
    with FakeModelServer() as server:
        gone = server.url
    file = experiment(mosaic.home, lake(gone), num_episodes=2)
    before = sorted(mosaic.home.rglob("*"))
    line = mosaic.is_refused(mosaic("run", file, **{VARIABLE: KEY}), before)
    assert gone in line and "cannot be reached" in line
    dry = mosaic("run", file, "--dry-run")
    assert dry.status == 0 and "a run would be refused now" in dry.err and gone in dry.err
    assert gone in mosaic("run", file, "--dry-run", "--json").json()["models"][0]["unreachable"]


def test_a_dry_run_asks_a_server_once(mosaic: Mosaic) -> None:
    with FakeModelServer() as server:
        file = experiment(mosaic.home, lake(server.url), num_episodes=2)
        assert mosaic("run", file, "--dry-run", "--trust").status == 0
        assert len(server.listed) == 1 and not server.requests


def test_calls_without_a_reply_stop_the_run_which_goes_on_when_the_server_is_back(mosaic: Mosaic) -> None:
    """Not one of its episodes is played at random."""
    with FakeModelServer(_broken) as server:
        operator = lake(server.url)
        operator["workers"]["agent"]["settings"]["retries"] = 0
        file = experiment(mosaic.home, operator, num_episodes=EPISODES, concurrency=1)
        done = mosaic("run", file, **{VARIABLE: KEY})
        assert done.status == 1 and "10 calls in a row" in done.err and server.url in done.err
        assert "resume with" in done.err
        (run,) = (mosaic.home / "runs").iterdir()
        assert json.loads((run / "run.json").read_text())["status"] == "stopped"
        assert len(server.requests) < 20
        server.script = said
        done = mosaic("run", "--resume", run, "--json", **{VARIABLE: KEY})
        assert done.status == 0, done.err
    assert done.json()["episodes"] == EPISODES


def test_recorded_replies_need_no_server(mosaic: Mosaic, asked: Asked) -> None:
    """The server of the first run is long gone."""
    assert mosaic("run", "--replay", asked.first, "--json").status == 0
