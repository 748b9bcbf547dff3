"""Hierarchical play from an experiment's own words: manager and skills in processes of their own."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.columns.result_columns import file_row
from gym_gui.analysis.pages.report_page import render_html
from gym_gui.analysis.terminal_report import text_of
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.replays.replay_reel import StoredState
from gym_gui.controllers.replays.replay_track import ReplayTrack
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.records import StepRecord
from gym_gui.services.runs.recorded_episode import load_episode
from tests.support.engine import record_run
from tests.support.fake_model_server import FakeModelServer, Request

OPERATOR = {
    "id": "two",
    "task": "MiniGrid-DoorKey-5x5-v0",
    "manager": {"agent": {"type": "baseline", "behavior": "minigrid_manager"}},
    "workers": {"agent": {"type": "baseline", "behavior": "minigrid_skills"}},
}


async def test_a_scripted_manager_and_scripted_skills_open_the_door(tmp_path: Path) -> None:
    (operator,) = experiment_from_data({"operators": [OPERATOR]}, complete=False).operators
    run = open_run(await record_run(tmp_path, (operator, {}), seeds=range(5)))
    recorded = run.operators["two"]
    for episode in recorded.episodes():
        assert episode.success, episode.error
        assert {seat: player.policy for seat, player in episode.agents.items()} == {
            "agent_0": "minigrid_skills",
            "agent_0/goal": "minigrid_manager",
        }
        assert episode.returns["agent_0"] == episode.returns["agent_0/goal"] == episode.total_reward
    assert (await verify(run)).divergences == []


_PLACE = re.compile(r"(?:(\d+) (ahead|behind))?(?:, )?(?:(\d+) (left|right))?")


class _Sensible:
    """A model of which every reply is known: it goes by the words of its prompt alone, in either role."""

    def __init__(self) -> None:
        self.rng, self.through = Random(1), False

    def __call__(self, request: Request) -> str:
        seen = str(request.messages[-1]["content"])
        listed = re.search(r"Legal moves: (.*)", seen)
        return f"<action>{self.asks(listed[1]) if listed else self.moves(seen)}</action>"

    def asks(self, listed: str) -> str:
        # Commas stand between options alone here: none has two arguments.
        can = listed.split(", ")
        wanted = ("go to(green goal)", "open(yellow door)", "pick up(yellow key)", "explore")
        return next(option for option in wanted if option in can)

    def moves(self, seen: str) -> str:
        where = {}
        for name, places in re.findall(r"^- ([a-z ]+): (.*)$", seen, re.MULTILINE):
            found = _PLACE.fullmatch(places.split(";")[0].strip())
            assert found is not None
            ahead = int(found[1] or 0) * (-1 if found[2] == "behind" else 1)
            where[name] = ahead, int(found[3] or 0) * (-1 if found[4] == "left" else 1)
        ready = "You carry a yellow key" in seen
        target = where.get("green goal") or where.get("open yellow door" if ready else "yellow key")
        door = where.get("locked yellow door") if ready else None
        if (target or door) == (1, 0):
            return "toggle" if target is None else "forward" if ready or "green goal" in where else "pickup"
        free = re.search(r"Ahead: (?!0|wall|yellow|locked|.* then)", seen) or "Ahead: wall" not in seen
        ahead, right = target or door or (0, self.rng.choice((-1, 0, 1)))
        if free and (ahead > 0 or right == 0) and self.rng.random() < 0.8:
            return "forward"
        return "left" if right < 0 else "right"


async def test_a_language_model_that_manages_is_asked_a_fifth_as_often(
    tmp_path: Path,
) -> None:
    with FakeModelServer(_Sensible()) as server:
        settings = {"client_name": "vllm", "base_url": server.url, "model_id": "tiny"}
        model = {"type": "llm", "settings": settings}
        task = "MiniGrid-DoorKey-8x8-v0"
        manages = {"id": "manages", "task": task, "manager": {"agent": model}, "workers": OPERATOR["workers"]}
        moves = {"id": "moves", "task": task, "workers": {"agent": model}, "max_steps": 100}
        operators = experiment_from_data({"operators": [manages, moves]}, complete=False).operators
        # One episode at a time: what the model draws must not depend on who asks first.
        players = [(each, {}) for each in operators]
        run = open_run(await record_run(tmp_path, *players, seeds=range(4), concurrency=1))
    summary = summarize(run)
    of = {each.operator_id: each for each in summary.operators}
    for each in of.values():
        assert each.success is not None and each.success.hits == 4
    calls = {name: each.calls.total / each.completed for name, each in of.items() if each.calls}
    assert calls["manages"] * 5 <= calls["moves"]
    told = {each.option: each for each in of["manages"].options}
    assert told["pick up(yellow key)"].slot == "agent_0/goal"
    assert told["pick up(yellow key)"].over == told["pick up(yellow key)"].chosen >= 4
    assert told["go to(green goal)"].episode == 4 and (told["go to(green goal)"].mean_return or 0.0) > 0.5
    assert sum(each.chosen for each in told.values()) == calls["manages"] * 4 and not of["moves"].options
    for shown in (text_of(summary, width=160), render_html(summary)):
        assert "pick up(yellow key)" in shown and "Out of moves" in shown
        assert "Options of manages" in shown and "Options of moves" not in shown
    row = file_row(of["manages"])
    assert row["calls_per_episode"] == calls["manages"] and row["tokens_per_episode"] > 0


async def test_a_replay_shows_what_was_asked_and_since_when(tmp_path: Path) -> None:
    (operator,) = experiment_from_data({"operators": [OPERATOR]}, complete=False).operators
    track = ReplayTrack(
        load_episode(open_run(await record_run(tmp_path, (operator, {}), seeds=[3])), "two", 0)
    )
    old = ReplayTrack(track.recorded)
    old.steps[:] = [replace(s, option=None) if s.agent_id.endswith("/goal") else s for s in old.steps]
    for row, step in enumerate(track.steps, 1):
        agents = {each.agent: each for each in track.view(_look(row, step), {}).agents}
        if step.agent_id == "agent_0":
            shown = agents["agent_0"]
            assert shown.option == agents["agent_0/goal"].action == step.option
            assert shown.option_since == step.extra["option_since"] <= step.step_index
        else:
            assert agents["agent_0/goal"].option == "" and old.words(step, {}) == step.option


def _look(row: int, step: StepRecord) -> StoredState:
    return StoredState(row, step.step_index + 1, row)


TASK = "MiniGrid-DoorKey-5x5-v0"


def choosing(action: int) -> type:
    """A policy that always answers the same."""

    class Always:
        def select_action(self, observation: Any) -> int:
            return action

    return Always


async def test_a_manager_that_chooses_what_cannot_start_is_told_and_the_other_operator_goes_on(
    tmp_path: Path,
) -> None:
    wrong = {"worker_id": "test_worker", "type": "baseline", "settings": {"fault": "illegal", "times": 0}}
    strict = {**OPERATOR, "id": "strict", "task": TASK, "manager": {"agent": wrong}}
    substituted = {"agent": {**wrong, "on_invalid": "random_legal"}}
    lenient = {**strict, "id": "lenient", "manager": substituted, "max_steps": 60}
    data = {"operators": [strict, lenient, {**OPERATOR, "id": "good"}]}
    operators = experiment_from_data(data, complete=False).operators
    run = open_run(await record_run(tmp_path, *((each, {}) for each in operators), seeds=[0, 1]))
    for episode in run.operators["strict"].episodes():
        assert episode.status == "failed"
        assert re.fullmatch(
            r"agent_0/goal: unusable action at step 0: (go to|pick up|open|drop)\b.* cannot start: "
            r"what can start now is explore\b.*",
            str(episode.error),
        )
    assert [episode.error for episode in run.operators["lenient"].episodes()] == [None, None]
    sources = {s.action_source for s in run.operators["lenient"].steps() if s.agent_id == "agent_0/goal"}
    assert "random_legal" in sources
    for step in run.operators["lenient"].steps():
        if step.action_source == "random_legal" and step.agent_id == "agent_0/goal":
            assert " cannot start: what can start now is " in step.extra["refused"]
            assert step.option in step.extra["refused"].partition(" now is ")[2]
    assert all(episode.status == "completed" for episode in run.operators["lenient"].episodes())
    assert all(episode.success for episode in run.operators["good"].episodes())


async def test_a_skill_that_breaks_ends_its_episode_with_a_line_and_what_it_was_asked(tmp_path: Path) -> None:
    class Diverges:
        moves = 0

        def select_action(self, observation: Any) -> Any:
            self.moves += 1
            return float("nan") if self.moves == 5 else 6

    (operator,) = experiment_from_data({"operators": [{**OPERATOR, "task": TASK}]}, complete=False).operators
    run = open_run(await record_run(tmp_path, (operator, {"agent_0": Diverges}), seeds=[0]))
    (episode,) = run.operators["two"].episodes()
    assert episode.status == "failed" and "agent_0: unusable action at step 4" in str(episode.error)
    choice, *moves = run.operators["two"].steps()
    assert {step.option for step in moves} == {choice.option} and len(moves) == 4
    assert "option_ended_by" not in choice.extra  # it had not ended


async def test_an_option_that_nobody_carries_out_ends_with_its_budget(tmp_path: Path) -> None:
    (operator,) = experiment_from_data(
        {"operators": [{**OPERATOR, "task": TASK, "max_steps": 45}]}, complete=False
    ).operators
    run = open_run(await record_run(tmp_path, (operator, {"agent_0": choosing(6)}), seeds=[0]))
    ends = [s.extra["option_ended_by"] for s in run.operators["two"].steps() if s.agent_id.endswith("/goal")]
    assert ends[:-1] == ["budget"] * (len(ends) - 1) and ends[-1] in ("budget", "episode")


async def test_several_agents_have_managers_of_their_own(tmp_path: Path) -> None:
    team = ("agent_0", "agent_1")
    rooms = {
        "id": "rooms",
        "task": "MultiGrid-Empty-8x8-v0",
        "manager": {agent: {"type": "baseline", "behavior": "minigrid_manager"} for agent in team},
        "workers": {agent: {"type": "baseline", "behavior": "minigrid_skills"} for agent in team},
        "max_steps": 60,
    }
    (operator,) = experiment_from_data({"operators": [rooms]}, complete=False).operators
    run = open_run(await record_run(tmp_path, (operator, {}), seeds=range(2)))
    assert all(episode.success for episode in run.operators["rooms"].episodes())
    asked = {s.agent_id: s.option for s in run.operators["rooms"].steps() if s.agent_id.endswith("/goal")}
    assert set(asked) == {"agent_0/goal", "agent_1/goal"} and set(asked.values()) == {"go to(green goal)"}
    assert (await verify(run)).divergences == []
