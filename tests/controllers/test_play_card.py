"""What a person must know of an environment, asked of a real one in a process of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gym_gui.controllers import play_card
from gym_gui.controllers.candidates import candidates
from gym_gui.controllers.play_card import PlayCards, describe, from_json, to_json
from gym_gui.controllers.play_setup import (
    Clock,
    assignment_of,
    game,
    hands,
    is_person,
    opponent,
    people,
    person,
    with_clock,
)
from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.policy_files import find_policy_files

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "checkpoints"


def test_a_card_survives_the_way() -> None:
    card = describe("FrozenLake-v1")
    assert from_json(to_json(card)) == card
    assert card.title and card.summary and "rgb_array" in card.looks
    slot = card.slots["agent_0"]
    assert slot.words[0] == "left" and slot.action["n"] == 4
    assert set(slot.schemes[0].bindings.values()) == {0, 1, 2, 3}


async def test_a_child_process_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await PlayCards(tmp_path).card("CartPole-v1")
    assert first.slots["agent_0"].schemes[0].realtime
    asked: list[str] = []

    async def refuse(question: str) -> dict[str, object]:
        asked.append(question)
        raise AssertionError("the answer is on the disk")

    monkeypatch.setattr(play_card, "_ask_child", refuse)
    assert await PlayCards(tmp_path).card("CartPole-v1") == first
    assert not asked


async def test_a_damaged_answer_is_asked_again(tmp_path: Path) -> None:
    first = await PlayCards(tmp_path).card("CartPole-v1")
    (path,) = tmp_path.glob("*.json")
    path.write_text("{}", "utf-8")
    assert await PlayCards(tmp_path).card("CartPole-v1") == first


async def test_what_does_not_exist_is_said_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="CartPole-v1"):
        await PlayCards(tmp_path).card("CartPol-v1")


async def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="could not be made"):
        await PlayCards(tmp_path).card("FrozenLake-v1", env_kwargs={"map_name": "none such"})
    assert not list(tmp_path.glob("*.json"))


async def test_cancelling_leaves_no_child(tmp_path: Path) -> None:
    task = asyncio.ensure_future(PlayCards(tmp_path).card("CartPole-v1"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.fixture(scope="module")
def connect_four() -> play_card.PlayCard:
    return describe("classic/connect_four_v3")


def test_who_may_play_connect_four(connect_four: play_card.PlayCard) -> None:
    slot = connect_four.slots["player_1"]
    found = candidates(connect_four.env_id, "player_1", slot.observation, slot.action, [])
    labels = {each.key: each for each in found}
    assert not labels["operators_worker:connect_four_one_ply"].reason
    assert "operators_worker:soccer_chaser" not in labels  # made for another game
    assert all(each.worker_id != "human_worker" for each in found)
    chosen = opponent(found)
    assert chosen is not None and chosen.settings == {"behavior": "connect_four_one_ply"}
    assert assignment_of(chosen).worker_type == "baseline"


def test_trained_policies_are_offered_where_their_spaces_fit() -> None:
    card = describe("CartPole-v1")
    slot = card.slots["agent_0"]
    found = candidates(card.env_id, "agent_0", slot.observation, slot.action, find_policy_files([EXAMPLES]))
    (policy,) = [c for c in found if c.settings.get("checkpoint")]
    assert policy.label == "PPO (ppo_cartpole)" and policy.kind == "rl" and not policy.reason
    there = describe("Acrobot-v1").slots["agent_0"]
    policies = find_policy_files([EXAMPLES])
    elsewhere = candidates("Acrobot-v1", "agent_0", there.observation, there.action, policies)
    assert not [c for c in elsewhere if c.settings.get("checkpoint")]
    assert {c.asks_policy for c in elsewhere if c.asks_policy} == {"checkpoint"}


def test_who_does_not_fit_says_why() -> None:
    import gymnasium

    from gym_gui.core.spaces import space_to_spec

    see = space_to_spec(gymnasium.spaces.Box(-1, 1, (2,)))
    does = space_to_spec(gymnasium.spaces.MultiBinary(3))
    found = candidates("Switches-v0", "agent_0", see, does, [])
    (cleanrl,) = [c for c in found if c.worker_id == "cleanrl_worker"]
    assert "discrete" in cleanrl.reason
    assert opponent(found) is not None


def test_a_model_that_looks_is_refused_where_a_seat_has_no_picture() -> None:
    for task, agent, why in (
        ("mpe2/simple_crypto_v3", "eve_0", "no picture of what this seat may see"),
        ("leduc_holdem_v4", "player_0", "choose it in Agents"),
    ):
        slot = play_card.from_json(play_card.to_json(describe(task))).slots[agent]
        found = candidates(task, agent, slot.observation, slot.action, [], slot.offers)
        reasons = {each.worker_id: each.reason for each in found}
        assert "not for" in reasons["stockfish_worker"] and "not for" in reasons["chess_worker"]
        assert why in reasons["vlm_worker"] and "choose it in Agents" in reasons["mosaic_llm_worker"]


def test_a_broken_policy_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "policy.json").write_text("{", "utf-8")
    assert find_policy_files([tmp_path]) == []
    slot = describe("CartPole-v1").slots["agent_0"]
    found = candidates("CartPole-v1", "agent_0", slot.observation, slot.action, find_policy_files([tmp_path]))
    assert not [c for c in found if c.settings.get("checkpoint")]


def test_people_and_the_clock() -> None:
    waits, runs = Clock(False, 5.0), Clock(True, 10.0)
    assert person(waits).deadline_s is None
    hurried = person(runs)
    assert hurried.deadline_s is not None and hurried.deadline_s < 0.1
    assert hurried.on_invalid.then == "noop"
    config = game(
        "classic/connect_four_v3", {"player_0": person(waits), "player_1": WorkerAssignment("", "random")}
    )
    assert people(config) == ("player_0",)
    faster = with_clock(config, runs)
    assert faster.workers["player_0"] == hurried
    assert faster.workers["player_1"] == config.workers["player_1"]
    assert not is_person(WorkerAssignment("human", "human", {"script": [0, 1]}))


@pytest.mark.parametrize(
    ("keys", "mouse", "typed", "words"),
    [
        (["Left", "Right"], False, False, "arrow keys"),
        (["W", "A", "S", "D", "E"], False, False, "W A S D"),
        (["1", "2"], True, False, "mouse"),
        ([], False, True, "typed numbers"),
        (["1", "2", "3", "4", "5"], False, False, "keys 1 2 3 4 …"),
    ],
)
def test_hands(keys: list[str], mouse: bool, typed: bool, words: str) -> None:
    assert hands(keys, mouse=mouse, typed=typed) == words
