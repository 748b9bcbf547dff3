"""few_shot shows turns of the very environment, each with an answer that is read as the action played."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.sessions.example_turns import example_turns, turns_by_seat, with_examples
from gym_gui.controllers.sessions.slot_inputs import examples_for
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.plain_data import to_plain
from gym_gui.core.spaces import space_to_spec, spec_to_space, to_space
from mosaic_llm_worker.decisions import decision_of
from mosaic_llm_worker.forms import plain_value
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.preview import preview
from mosaic_worker.spaces import Space
from tests.envs.describers.test_same_information import LONG, QUICK, tried

COUNT = 3
ANSWER = re.compile(r"^Action: (?P<answer>.*)$", re.MULTILINE)


def slot_of(environment: envs.Environment, agent: str, turns: list[Any]) -> dict[str, Any]:
    team, mates, others = environment.team_and_others(agent)
    return {
        "agent": agent,
        "env": environment.spec.id,
        "action_meanings": list(environment.action_meanings(agent)),
        "action_space": space_to_spec(to_space(environment.adapter.action_space(agent))),
        "briefing": environment.describer(agent).briefing(agent),
        "team": team,
        "teammates": mates,
        "opponents": others,
        "example_turns": {agent: turns},
    }


def shown(slot: dict[str, Any]) -> str:
    """The rules that a model is told with few_shot."""
    asked = {"settings": {"model_id": "m", "client_name": "ollama", "strategy": "few_shot"}, "slot": slot}
    found = preview(asked)
    assert "error" not in found, found
    return found["messages"][0]["content"]


def hold(task: str) -> None:
    environment = envs.make(task)
    try:
        agent = environment.adapter.possible_agents[0]
        turns = example_turns(environment, [agent], PromptInputs(text=True), COUNT)[agent]
        again = example_turns(environment, [agent], PromptInputs(text=True), COUNT)[agent]
        assert len(turns) == COUNT and to_plain(turns) == to_plain(again)
        slot = slot_of(environment, agent, turns)
        space = Space.from_json(slot["action_space"])
        gym_space = spec_to_space(to_space(environment.adapter.action_space(agent)))
    finally:
        environment.close()
    told = shown(slot)
    answers = [found["answer"] for found in ANSWER.finditer(told)]
    assert len(answers) == COUNT, "each turn has an answer that is understood"
    reader = Reader(space, tuple(slot["action_meanings"]), task, numbered=False)
    for turn, answer in zip(turns, answers, strict=True):
        decision = decision_of(turn)
        assert " ".join(decision.text.split())[:80] in " ".join(told.split())
        read = reader.read(f"Action: {answer}", decision.action_mask, decision.choices, decision.text)
        assert not read.problem and gym_space.contains(read.action)
        if space.kind == "Discrete" and decision.action_mask is not None:
            assert decision.action_mask[int(read.action) - space.start]
        assert np.allclose(*map(numbers, (plain_value(read.action), turn["action"])), rtol=1e-4, atol=1e-5)


def numbers(action: Any) -> Any:
    """An action's numbers in a row; of a text its letters."""
    if isinstance(action, str):
        return list(action.encode())
    if isinstance(action, dict):
        return np.concatenate([np.ravel(numbers(part)) for part in action.values()])
    if isinstance(action, list):
        return np.concatenate([np.ravel(numbers(part)) for part in action]) if action else []
    return action


@pytest.mark.parametrize(
    "task", [pytest.param(each.values[0], id=each.id, marks=each.marks) for each in tried(QUICK)]
)
def test_examples_are_turns_of_the_very_environment_and_are_understood(task: str) -> None:
    hold(task)


@pytest.mark.full
@pytest.mark.parametrize(
    "task", [pytest.param(each.values[0], id=each.id, marks=each.marks) for each in tried(LONG)]
)
def test_examples_are_understood_everywhere(task: str) -> None:
    hold(task)


def test_examples_say_that_they_are_no_good_play_and_come_from_no_other_game() -> None:
    environment = envs.make("Taxi-v4")
    turns = example_turns(environment, ["agent_0"], PromptInputs(text=True), COUNT)["agent_0"]
    told = shown(slot_of(environment, "agent_0", turns))
    environment.close()
    assert "drawn at random" in told and "Taxi: row" in told
    assert len({turn["action"] for turn in turns}) == COUNT


def test_a_slot_that_changes_seats_has_turns_of_each_and_a_preview_has_them_too() -> None:
    soccer = "MosaicMultiGrid-S-1v1-IndAgObs-v1"
    reads = {"type": "llm", "settings": {"model_id": "m", "client_name": "ollama"}}
    operators = [
        {
            "id": "it",
            "task": soccer,
            "seats": "swap",
            "workers": {"green_0": reads, "blue_0": {"type": "random"}},
        }
    ]
    execution = {"num_episodes": 2, "seeds": 0, "max_steps": 5}
    experiment = experiment_from_data({"operators": operators, "execution": execution})
    resolved = resolve_operator(experiment.operators[0])
    played = examples_for(resolved, "green_0")["example_turns"]
    assert {seat: len(turns) for seat, turns in played.items()} == {"green_0": COUNT, "blue_0": COUNT}
    assert examples_for(resolved, "blue_0") == {}, "who reads nothing needs none"
    assert "example_turns" not in with_examples(resolved, "green_0", {"strategy": "robust"})
    chosen = with_examples(resolved, "green_0", {"strategy": "few_shot"})
    assert to_plain(chosen["example_turns"]) == to_plain(played)


def steps_of(task: str, agent: str, slots: int, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> int:
    """Steps that are played for the examples of one slot that asks for more than there are."""
    reads = {"type": "llm", "settings": {"model_id": "m", "client_name": "ollama"}}
    with contextlib.closing(envs.make(task, env_kwargs=settings)) as environment:
        agents, adapter = environment.adapter.possible_agents, type(environment.adapter)
    workers = {each: reads if number < slots else {"type": "random"} for number, each in enumerate(agents)}
    one = {"id": "it", "task": task, "env_kwargs": settings, "workers": workers}
    if slots < len(agents):
        one["seats"] = "swap"
    experiment = experiment_from_data({"operators": [one], "execution": {"num_episodes": 2, "seeds": 0}})
    resolved = resolve_operator(experiment.operators[0])
    steps, step = [0], adapter.step

    def counted(self: Any, moves: Any) -> Any:
        steps[0] += 1
        return step(self, moves)

    monkeypatch.setattr(adapter, "step", counted)
    found = turns_by_seat(resolved, agent, 1_000)
    assert all(found.values())
    return steps[0]


def test_all_seats_of_a_slot_are_shown_from_the_same_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    soccer = "MosaicMultiGrid-S-1v1-IndAgObs-v1"
    assert 0 < steps_of(soccer, "green_0", 1, monkeypatch) <= 480


def test_many_slots_share_the_steps_that_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = steps_of("simple_spread_v3", "agent_0", 16, monkeypatch, N=16, max_cycles=100)
    assert 0 < 16 * steps <= 4_800
