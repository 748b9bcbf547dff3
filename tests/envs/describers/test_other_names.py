"""The same game in other names: nothing of the usual ones is left, and all else is as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from gym_gui import envs
from gym_gui.core.experiment.prompt_inputs import PromptInputs, Renaming
from gym_gui.core.types import Shown
from gym_gui.envs import Environment
from mosaic_worker.renaming import Names

RENAMED = [
    "FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "MiniGrid-DoorKey-6x6-v0", "MiniGrid-Fetch-5x5-N2-v0",
    "MosaicMultiGrid-S-2v2-IndAgObs-v1",
]  # fmt: skip
BOARDS = ["connect_four_v3", "chess_v6", "tictactoe_v3", "open_spiel/tic_tac_toe", "open_spiel/checkers"]


@contextmanager
def begun(task: str) -> Iterator[tuple[Environment, str, Any]]:
    """An environment at its first decision, with who decides and what that one sees."""
    with closing(envs.make(task)) as environment:
        observations = environment.adapter.reset(seed=3)
        agent = environment.adapter.get_current_agents()[0]
        yield environment, agent, observations[agent]


def view(rename: Renaming = "both", seed: int = 0, *, hide: bool = False) -> PromptInputs:
    return PromptInputs(text=True, rename=rename, rename_seed=seed, hide_legal=hide)


def told(environment: Environment, agent: str, seen: Any, how: PromptInputs) -> tuple[str, Shown]:
    """What is told once, and at this decision."""
    mask = environment.adapter.action_mask(agent)
    return environment.briefing(agent, how), environment.show(agent, seen, how, mask)


@pytest.mark.parametrize("task", RENAMED)
def test_no_usual_name_is_left_where_a_game_is_told_in_other_ones(task: str) -> None:
    with begun(task) as (environment, agent, seen):
        briefing, shown = told(environment, agent, seen, view())
        words = f"{briefing}\n{shown.text}"
        names = environment.other_names(agent, view())
        assert len({*names.actions.values(), *names.things.values()}) == len(names.actions) + len(
            names.things
        )
        for thing in names.things:
            assert not re.search(rf"(?<!\w){re.escape(thing)}s?(?!\w)", words, re.IGNORECASE), thing
        for usual, other in names.actions.items():
            assert f"\n- {other}: " in briefing and f"\n- {usual}" not in briefing
            assert f'"{usual}"' not in words and f"({usual})" not in words
        # Back in the usual ones it is word for word what it was; a title has its capitals.
        back = Names(
            {new: old for old, new in names.actions.items()}, {v: k for k, v in names.things.items()}
        )
        usual_text = told(environment, agent, seen, PromptInputs(text=True))[1].text
        again = back.text(shown.text).casefold()
        for other, sign in {new: old for old, new in names.marks.items()}.items():
            assert len(other) == len(sign) == 1, "letters of a map"
        if not names.marks:
            assert again == usual_text.casefold()


def test_directions_are_no_actions() -> None:
    """Left is a direction in what is seen, and an action in the list alone."""
    with begun("MiniGrid-DoorKey-6x6-v0") as (environment, agent, seen):
        usual = told(environment, agent, seen, PromptInputs(text=True))[1].text
        assert told(environment, agent, seen, view("actions"))[1].text == usual
        assert "Left: " in usual


def test_the_map_of_a_lake_is_drawn_with_other_letters() -> None:
    with begun("FrozenLake-v1") as (environment, agent, _):
        briefing = environment.briefing(agent, view())
        marks = environment.other_names(agent, view()).marks
        assert "".join(marks[sign] for sign in "FHFH") in briefing.splitlines()
        assert f"{marks['S']} is the start, {marks['F']} " in briefing
        assert set(marks.values()).isdisjoint("SFHG")


@pytest.mark.parametrize("task", ["FrozenLake-v1", "chess_v6"])
def test_names_are_those_of_their_seed(task: str) -> None:
    with begun(task) as (environment, agent, _), begun(task) as (other, _, _):
        first = environment.other_names(agent, view(seed=1))
        assert first and first == other.other_names(agent, view(seed=1))
        assert first != environment.other_names(agent, view(seed=2))
        assert not environment.other_names(agent, PromptInputs(text=True))


def test_team_mates_with_one_seed_share_their_names() -> None:
    with begun("MosaicMultiGrid-S-2v2-IndAgObs-v1") as (environment, _, _):
        names = [environment.other_names(agent, view(seed=4)) for agent in ("green_0", "green_1", "blue_0")]
        assert names[0] == names[1] == names[2]


@pytest.mark.parametrize("task", BOARDS)
def test_a_board_is_drawn_and_played_with_other_marks(task: str) -> None:
    with begun(task) as (environment, agent, seen):
        _, usual = told(environment, agent, seen, PromptInputs(text=True))
        _, other = told(environment, agent, seen, view())
        names = environment.other_names(agent, view())
        assert len(set(names.marks.values())) == len(names.marks)
        assert [c.action for c in usual.choices] == [c.action for c in other.choices]
        assert {c.word for c in usual.choices}.isdisjoint(c.word for c in other.choices)
        assert len({c.word for c in other.choices}) == len(other.choices)
        foot = [names.marks[mark] for mark in names.marks if mark.startswith("column")]
        assert any(line.split() == foot for line in other.text.splitlines())
        assert "FEN" not in other.text and "Legal moves" not in other.text
        board = environment.board()
        assert board is not None
        for cell in filter(None, board.cells):
            assert names.marks[f"piece {cell[0].upper()}"].casefold() in other.text.casefold()


def test_words_of_actions_that_name_columns_follow_the_marks() -> None:
    with begun("connect_four_v3") as (environment, agent, seen):
        names = environment.other_names(agent, view("actions"))
        assert names.actions["column 3"] == f"column {names.marks['column 3']}"
        briefing, shown = told(environment, agent, seen, view("actions"))
        assert f"- {names.actions['column 3']}" in briefing and "column 3" not in briefing
        assert "You are to move, with X." in shown.text, "pieces are objects"
        briefing, shown = told(environment, agent, seen, view("objects"))
        assert "- column 3" in briefing and f"with {names_of_pieces(environment, agent)['X']}." in shown.text


def names_of_pieces(environment: Environment, agent: str) -> dict[str, str]:
    marks = environment.other_names(agent, view("objects")).marks
    return {mark.removeprefix("piece "): other for mark, other in marks.items()}


def test_a_promotion_has_the_other_letter_of_the_piece() -> None:
    with begun("chess_v6") as (environment, agent, seen):
        names = environment.other_names(agent, view("objects"))
        briefing, shown = told(environment, agent, seen, view("objects"))
        assert f"e2e4, e7e8{names.marks['piece Q'].lower()}." in briefing
        assert f"{names.marks['piece N']} knight" in briefing
        assert "e2e4" in {choice.word for choice in shown.choices}


def test_hidden_legal_actions_are_told_nowhere() -> None:
    with begun("chess_v6") as (environment, agent, seen):
        briefing, shown = told(environment, agent, seen, view("none", hide=True))
        assert "Which moves are legal you are not told." in briefing and "you are shown" not in briefing
        assert "Legal moves" not in shown.text and "FEN: " in shown.text
        assert len(shown.choices) == 20, "the reader of the answer knows"
    with begun("connect_four_v3") as (environment, agent, seen):
        briefing, _ = told(environment, agent, seen, view("none", hide=True))
        assert "- column 7" in briefing and "Which moves are legal you are not told." in briefing


@pytest.mark.parametrize(
    ("task", "ways"),
    [
        ("CartPole-v1", {"other_actions", "hidden_legal"}),
        ("FrozenLake-v1", {"other_actions", "other_objects", "hidden_legal"}),
        ("Pendulum-v1", {"hidden_legal"}),
        ("chess_v6", {"other_actions", "other_objects", "hidden_legal", "names_on_pictures"}),
        ("open_spiel/kuhn_poker", {"hidden_legal"}),
    ],
)
def test_an_environment_says_how_it_can_be_told_otherwise(task: str, ways: set[str]) -> None:
    with begun(task) as (environment, agent, _):
        assert set(environment.retellings(agent)) == ways
