"""A game in other names, or whose legal actions are not told: what is asked, and how replies are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mosaic_llm_worker.memory import Memory
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.player import Player
from mosaic_llm_worker.preview import preview
from mosaic_llm_worker.settings import EXAMPLES, LlmSettings
from mosaic_worker.renaming import Names
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, LoadError, Slot

NAMES = Names({"left": "dibeb", "pickup": "dejuf", "drop": "kepib"}, {"ball": "puvov", "goal": "vinag"})
BOARD = Names({"column 1": "column P", "column 2": "column Y"}, marks={"column 1": "P"}, drawn=True)


def space(n: int) -> Space:
    return Space.from_json({"kind": "Discrete", "dtype": "int64", "n": n, "start": 0})


def player(names: Names, words: tuple[str, ...], env: str, **settings: Any) -> Player:
    given = {"client_name": "custom", "base_url": "http://localhost:1/v1", "dry_run": True, **settings}
    if names:
        given["rename"] = names.to_json()
    told = tuple(map(names.action, words))
    size = space(len(words) or 20)
    slot = Slot(0, "green_0", env, size, size, given, told, team="green", teammates=("green_1",))
    settings = {name: value for name, value in given.items() if name != EXAMPLES}
    return Player(slot, LlmSettings.model_validate(settings), lambda _: None)


def decision(**more: Any) -> Decision:
    return Decision(1, 0, 0, 0, None, None, 0, "", "A puvov is ahead.")._replace(**more)


def asked(who: Player, question: Decision) -> str:
    """The whole prompt of a decision."""
    memory = Memory(who.slot.agent_id, 0, False)
    return "\n".join(str(m["content"]) for m in who.messages(question, memory))


def test_hints_roles_and_examples_are_told_in_the_other_names() -> None:
    words = ("left", "pickup", "drop")
    soccer = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
    for level in (2, 3):
        prompt = asked(player(NAMES, words, soccer, coordination_level=level), decision())
        assert "puvov" in prompt and "ball" not in prompt
        assert ("(kepib)" in prompt) == (level == 2) and "(drop)" not in prompt
    turn = {"step": 0, "text": "A puvov is ahead.", "choices": [], "mask": None, "action": 1}
    shown = {"strategy": "few_shot", EXAMPLES: {"green_0": [turn]}}
    examples = asked(player(NAMES, words, soccer, **shown), decision())
    assert "Action: dejuf" in examples and "Action: pickup" not in examples


def test_numbers_of_actions_that_have_words_are_neither_told_nor_read() -> None:
    words = ("left", "pickup", "drop")
    usual = player(Names(), words, "X")
    assert "number" not in asked(usual, decision())
    assert usual.reader.read("<action>1</action>").problem == "the number 1 names no action here"
    assert player(Names(), (), "X").reader.read("<action>1</action>").action == 1, "a number is their word"
    renamed = player(NAMES, words, "X")
    assert renamed.reader.read("<action>1</action>").problem
    assert renamed.reader.read("<action>dejuf</action>").action == 1
    assert renamed.reader.read("<action>pickup</action>").problem, "the usual name is no answer here"


def test_a_column_goes_by_its_letter_where_that_is_the_whole_answer() -> None:
    reader = Reader(space(2), ("column P", "column I"), "connect_four_v3", numbered=False)
    assert reader.read("<action>p</action>").action == 0
    assert reader.read("Action: column I").action == 1
    assert reader.read("I think that I would rather wait.").problem


def test_squares_with_other_names_are_read_as_people_write_moves() -> None:
    reader = Reader(space(100), (), "chess_v6", numbered=False)
    choices = [(4, "t33t67"), (5, "s84v55")]
    for reply in ("t33t67", "t33-t67", "t33 to t67", "Action: t33 t67"):
        assert reader.read(reply, choices=choices, text="40 h c a").action == 4, reply


def test_examples_that_are_drawn_with_the_usual_marks_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "mine.toml").write_text(
        'environments = ["*"]\n[[examples]]\nsee = "1 2"\nanswer = "column 1"\n'
    )
    own = {"strategy": "few_shot", "prompt_folder": str(tmp_path)}
    assert "1 2" in asked(player(Names(), ("column 1", "column 2"), "connect_four_v3", **own), decision())
    with pytest.raises(LoadError, match="choose another strategy"):
        player(BOARD, ("column 1", "column 2"), "connect_four_v3", **own)


FEN = "FEN: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def test_what_is_legal_is_said_neither_before_nor_after_an_answer() -> None:
    mask = np.array([True, False, True])
    question = decision(action_mask=mask)
    told = player(Names(), ("left", "pickup", "drop"), "X")
    hidden = player(Names(), ("left", "pickup", "drop"), "X", hide_legal=True)
    assert "Legal moves: left, drop\n" in asked(told, question) and "Legal" not in asked(hidden, question)
    refused = hidden.reader.read('{"action": "pickup"}', mask)
    assert refused.illegal and refused.problem == "pickup is not legal now"
    assert "legal are: left, drop" in told.reader.read('{"action": "pickup"}', mask).problem


@pytest.mark.parametrize(
    ("reply", "illegal"),
    [("e2e5", True), ("Action: Nf6", True), ("<action>O-O</action>", True), ("I pass.", False), ("", False)],
)
def test_an_illegal_move_is_no_unreadable_one(reply: str, illegal: bool) -> None:
    reader = Reader(space(100), (), "chess_v6", hides_legal=True)
    reading = reader.read(reply, choices=[(7, "e2e4"), (8, "g1f3")], text=FEN)
    assert reading.problem and reading.illegal == illegal
    assert "e2e4" not in reading.problem
    assert reader.read("Nf3", choices=[(7, "e2e4"), (8, "g1f3")], text=FEN).action == 8


def test_actions_that_have_no_words_keep_their_numbers() -> None:
    assert Reader(space(4), (), "X", numbered=False).read("<action>2</action>").action == 2


def test_parts_of_an_action_that_are_legal_are_not_told_either() -> None:
    two = Space.from_json({"kind": "MultiDiscrete", "dtype": "int64", "nvec": [2, 2], "start": [0, 0]})
    mask = np.array([True, False, True, True])
    told, hidden = (Reader(two, hides_legal=hide).read("[1, 0]", mask) for hide in (False, True))
    assert "legal are 0" in told.problem
    assert hidden.illegal and hidden.problem.endswith("which is not legal now")


def test_a_preview_has_the_names_of_its_slot() -> None:
    about = {
        "agent": "green_0", "env": "MosaicMultiGrid-S-2v2-IndAgObs-v1", "teammates": ["green_1"],
        "action_space": space(3).to_json(), "action_meanings": ["dibeb", "dejuf", "kepib"],
        "names": NAMES.to_json(),
    }  # fmt: skip
    settings = {"client_name": "ollama", "rename": "both", "coordination_level": 2}
    answer = preview({"settings": settings, "slot": about, "decision": {"text": "A puvov."}})
    words = str(answer["messages"])
    assert "(kepib)" in words and "ball" not in words
