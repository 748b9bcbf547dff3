"""The language worker as a process in the engine: what it is asked, what it answers, what is recorded."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.workers.check import check_worker
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.controllers.engine.test_session_workers import operator
from tests.support.engine import plans
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.language import LLM, match, soccer_policy
from tests.support.model_server import ModelServer
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
STEPS = 6


def slot(server: FakeModelServer, on_invalid: Any = "error", **settings: Any) -> dict[str, Any]:
    """A slot that asks the fake server."""
    given = {"client_name": "custom", "base_url": server.url, "model_id": "m", **settings}
    return {"worker_id": "mosaic_llm_worker", "type": "llm", "settings": given, "on_invalid": on_invalid}


async def played(players: dict[str, Any], task: str, seeds: list[int], steps: int) -> SessionLog:
    """All episodes at once, cut off after so many steps."""
    listener = SessionLog()
    settings = SessionSettings(len(seeds), max_steps=steps)
    session = LocalSession(resolve_operator(operator(players, task)), settings, listener)
    try:
        await session.start()
        session.play(plans(seeds))
        await in_time(lambda: len(listener.episodes) == len(seeds), "all episodes are over")
    finally:
        await session.close()
    return listener


async def test_few_shot_shows_turns_of_the_environment_that_is_played() -> None:
    def script(request: Request) -> str:
        return "Action: south"

    with FakeModelServer(script) as server:
        shown = slot(server, strategy="few_shot", max_tokens=50)
        sheet = await played({"agent": shown}, "Taxi-v4", [0], 3)
    assert sheet.episodes[0]["status"] == "completed" and set(sheet.column(0, "action")) == {0}
    rules = server.requests[0].json["messages"][0]["content"]
    assert len(re.findall(r"<observation>\nTaxi: row \d, column \d", rules)) == 3
    answers = re.findall(r"^Action: (\w+)$", rules, re.MULTILINE)
    assert len(set(answers)) == 3 and set(answers) < {"south", "north", "east", "west", "pickup", "dropoff"}


async def test_team_mates_play_and_talk_and_every_call_is_recorded() -> None:
    def script(request: Request) -> str:
        who = re.match(r"You are (\w+),", request.words)
        assert who is not None
        return f"SAY: {who[1]} turns\n<action>{'left' if who[1] == 'green_0' else 'right'}</action>"

    with FakeModelServer(script) as server:
        talks = slot(server, talk=True, observation_mode="visible_teammates", coordination_level=3)
        others = {"blue_0": {"type": "random"}, "blue_1": {"type": "random"}}
        sheet = await played({"green_0": talks, "green_1": talks, **others}, SOCCER, [0, 1, 2], STEPS)
    assert {episode["status"] for episode in sheet.episodes.values()} == {"completed"}
    for index in range(3):
        assert set(sheet.column(index, "action", "green_0")) == {1}
        assert set(sheet.column(index, "said", "green_1")) == {"green_1 turns"}
        assert sheet.episodes[index]["tokens"]["green_0"] == {"input": 100 * STEPS, "output": 10 * STEPS}
    heard = [request.words for request in server.requests if "You are green_0," in request.words]
    assert sum("<messages>\ngreen_1: green_1 turns\n</messages>" in words for words in heard) == 3 * (
        STEPS - 1
    )
    assert all("You look" in words and "Your role is forward." in words for words in heard)
    calls = sheet.calls
    refs = Counter(call["ref"] for call in calls)
    assert len(refs) == 3 * 2 * STEPS and set(refs.values()) == {1}
    row = sheet.rows[0][0]
    assert row["call_ref"] == "green_0/0/0/0/0"


async def test_an_unusable_reply_is_asked_again_and_then_the_rule_of_the_slot_holds() -> None:
    replies = {0: "Let me look at the pole.", 1: "<action>dance</action>"}
    with FakeModelServer(lambda request: replies.get(request.number, "<action>right</action>")) as server:
        player = slot(server, {"retry": 1, "then": "random_legal"})
        sheet = await played({"agent": player}, "CartPole-v1", [4], 3)
    sources = sheet.column(0, "action_source")
    assert sources[0] != "policy" and set(sources[1:]) == {"policy"}
    assert sheet.rows[0][0]["raw"] == "<action>dance</action>"
    assert sheet.episodes[0]["invalid_actions"]["agent_0"] == 2
    assert "Let me look at the pole." in server.requests[1].messages[-2]["content"]
    assert 'names no action: "Let me look at the pole."' in server.requests[1].messages[-1]["content"]


async def test_an_answer_that_nobody_waits_for_is_given_up() -> None:
    def script(request: Request) -> Reply:
        return Reply("<action>right</action>", after_s=600.0 if request.number == 0 else 0.0)

    with FakeModelServer(script) as server:
        player = {**slot(server, {"retry": 1, "then": "error"}), "deadline_s": 6.0}
        sheet = await played({"agent": player}, "CartPole-v1", [4], 2)
    assert sheet.episodes[0]["status"] == "completed", sheet.episodes[0]["error"]
    late = [call for call in sheet.calls if call["error"]]
    assert [call["ref"] for call in late] == ["agent_0/0/0/0/0"]
    assert late[0]["error"].startswith("no answer in time: the server at")


async def test_a_spent_budget_ends_the_episode_with_the_figures() -> None:
    with FakeModelServer(lambda request: "<action>right</action>") as server:
        player = slot(server, token_budget=1500, max_tokens=50)
        sheet = await played({"agent": player}, "CartPole-v1", [4], 8)
    assert sheet.episodes[0]["status"] == "aborted", "it can be played again when there is more"
    assert sheet.episodes[0]["unplayed"] is True
    assert "the token budget of the slot is used up" in sheet.episodes[0]["error"]
    assert 0 < len(server.requests) < 8


async def test_an_episode_ends_truncated_at_its_own_limit(tmp_path: Path) -> None:
    with FakeModelServer(lambda request: "<action>right</action>") as server:
        player = slot(server, episode_token_limit=1500, max_tokens=50)
        sheet = await played({"agent": player}, "CartPole-v1", [4, 5], 8)
    for episode in sheet.episodes.values():
        assert (episode["status"], episode["truncated"]) == ("completed", True)
        assert 0 < episode["length"] < 8
        assert episode["total_reward"] == episode["length"]
        assert "the token budget of the episode is used up" in episode["limit"]


def test_the_worker_keeps_the_contract_and_stays_small() -> None:
    """The reply is a legal action of the question alone, so that the contract's comparisons hold."""

    def script(request: Request) -> str:
        legal = re.search(r"Legal moves: (\d+)", request.words)
        return f"<action>{legal[1] if legal else 1}</action>"

    discover()
    definition = WorkerTypeRegistry.require("mosaic_llm_worker")
    with FakeModelServer(script) as server:
        settings = slot(server)["settings"]
        report = check_worker(
            definition, action_space=spaces.Discrete(5), settings=settings, patience_s=120, grace_s=60
        )
    assert report.ok, "\n".join(report.lines())
    assert report.memory_mb is not None and report.memory_mb <= 130


def _open_here(resolved: Any, settings: SessionSettings, on_event: OnSessionEvent) -> LocalSession:
    return LocalSession(resolved, settings, on_event)


@pytest.mark.full
async def test_a_real_model_plays_with_rl_against_rl_and_random(
    tmp_path: Path, model_server: ModelServer
) -> None:
    """The model is tiny and random: what it says is seldom an action, and the record says who chose."""
    server = {
        "client_name": "transformers", "base_url": model_server.url, "model_id": model_server.model,
        "max_tokens": 12, "strategy": "naive", "history": 1,
    }  # fmt: skip
    fallback = {"retry": 1, "then": "random_legal"}
    experiment = match(
        soccer_policy(tmp_path / "policy"), server, on_invalid=fallback, seeds=[3, 4], max_steps=STEPS
    )
    resolved_operators = [resolve_operator(config, {}) for config in experiment.operators]
    done = await OperatorScriptExecutionManager(
        experiment, resolved_operators, _open_here, tmp_path / "run"
    ).run()
    run = open_run(done.folder)
    match_run = run.operators["heterogeneous_team"]
    episodes, calls = list(match_run.episodes()), list(match_run.calls())
    assert [episode.status for episode in episodes] == ["completed", "completed"]
    asked = Counter((call["episode"], call["step"]) for call in calls if call["turn"] == 0)
    rows = [row for row in match_run.steps() if row.agent_id == LLM]
    assert len(rows) == len(asked) == 2 * STEPS
    sources = Counter(row.action_source for row in rows)
    # One call for an answer that was played, two where it was asked again.
    assert len(calls) == sources["policy"] + 2 * (sources["retry"] + sources["random_legal"])
    assert sum(episode.invalid_actions[LLM] for episode in episodes) == (
        sources["retry"] + 2 * sources["random_legal"]
    )
    assert all(0 <= row.action < 8 for row in rows)
    assert all(call["tokens"]["output"] > 0 and call["model_reported"] for call in calls)
    assert all(call["reply"] for call in calls if call["finish"] == "length")
    verification = await verify(run)
    assert verification.episodes == 2 and not verification.divergences
