"""Keys as a person's actions: when a press counts, for whom, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gym_gui.controllers.human.human_input import (
    AHEAD_S,
    ActionBounds,
    AnsweredQuestion,
    HumanSeat,
    HumanSeats,
    Refused,
    split_chord,
)
from gym_gui.core.live import HumanQuestion
from gym_gui.core.plain_data import action_from_plain
from gym_gui.core.spaces import Space, to_space
from gym_gui.envs.keymaps import Axis, KeyScheme

GRID = KeyScheme({"Left": 0, "Right": 1, "Up": 2})
GAME = KeyScheme({"N": 0, "Left": 1, "Right": 2, "Up": 3, "Up+Right": 4}, realtime=True, idle=0)
POLE = KeyScheme({"Left": 0, "Right": 1}, realtime=True)
DISCRETE = {"kind": "Discrete", "n": 5, "start": 0, "dtype": "int64"}


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def question(
    number: int = 1,
    slot: str = "agent_0",
    legal: tuple[int, ...] | None = None,
    space: Mapping[str, Any] = DISCRETE,
) -> HumanQuestion:
    return HumanQuestion(number, 0, 0, slot, slot, legal=legal, space=space)


def seat(scheme: KeyScheme, slot: str = "agent_0", **options: Any) -> HumanSeat:
    return HumanSeat(slot, scheme, **options)


def test_the_key_that_lets_time_begin_is_not_lost_however_long_the_first_question_takes() -> None:
    clock = Clock()
    one = seat(GAME, clock=clock)
    one.press("Right")
    one.release("Right")
    clock.now += 10 * AHEAD_S
    assert one.offer(question(1)) == AnsweredQuestion(question(1), 2)
    one.press("Left")
    one.release("Left")
    clock.now += 10 * AHEAD_S
    assert one.offer(question(2)) is None, "from then on a press is for what is asked soon"
    one.forget()
    one.press("Left")
    clock.now += 10 * AHEAD_S
    assert one.offer(question(3)) == AnsweredQuestion(question(3), 1), "a new episode, a new beginning"


class TestTurnBased:
    def test_a_press_answers_the_open_question(self) -> None:
        one = seat(GRID)
        asked = question()
        assert one.offer(asked) is None
        assert one.press("Right") == AnsweredQuestion(asked, 1)
        assert one.question is None

    def test_a_key_that_stays_down_moves_once(self) -> None:
        one = seat(GRID)
        one.offer(question(1))
        assert isinstance(one.press("Up"), AnsweredQuestion)
        assert one.offer(question(2)) is None
        assert one.press("Up") is None  # auto-repeat
        one.release("Up")
        assert one.press("Up") == AnsweredQuestion(question(2), 2)

    def test_fast_typing_loses_nothing(self) -> None:
        one = seat(GRID, clock=Clock())
        for key in ("Left", "Up", "Right"):
            one.press(key)
            one.release(key)
        played = [one.offer(question(n)) for n in (1, 2, 3, 4)]
        assert [a.action for a in played if isinstance(a, AnsweredQuestion)] == [0, 2, 1]
        assert played[3] is None

    def test_an_old_press_does_not_count(self) -> None:
        clock = Clock()
        one = seat(GRID, clock=clock)
        one.press("Left")
        clock.now += AHEAD_S + 0.01
        assert one.offer(question()) is None

    def test_what_was_typed_does_not_reach_the_next_episode(self) -> None:
        one = seat(GRID, clock=Clock())
        one.press("Left")
        one.forget()
        assert one.offer(question()) is None

    def test_an_illegal_action_is_refused_in_words_and_the_question_stays(self) -> None:
        one = seat(GRID, words={2: "forward"})
        asked = question(legal=(0, 1))
        one.offer(asked)
        assert one.press("Up") == Refused(asked, "Forward is not possible now")
        assert one.question is asked
        assert one.press("Left") == AnsweredQuestion(asked, 0)

    def test_a_press_ahead_that_is_illegal_by_then_is_dropped(self) -> None:
        one = seat(GRID, clock=Clock())
        one.press("Up")
        assert one.offer(question(legal=(0, 1))) is None

    def test_keys_that_mean_nothing_do_nothing(self) -> None:
        one = seat(GRID)
        one.offer(question())
        assert one.press("X") is None
        assert one.keys_down == ()

    def test_withdrawn_questions_are_not_answered(self) -> None:
        one = seat(GRID)
        one.offer(question())
        one.withdraw()
        assert one.choose(1) is None


class TestRealTime:
    def test_a_held_key_answers_every_question(self) -> None:
        one = seat(GAME)
        one.press("Right")
        for number in range(1, 4):
            answer = one.offer(question(number))
            assert isinstance(answer, AnsweredQuestion) and answer.action == 2

    def test_without_repeat_it_answers_one(self) -> None:
        one = seat(GAME, repeat=False, clock=Clock())
        one.press("Right")
        assert isinstance(one.offer(question(1)), AnsweredQuestion)
        assert one.offer(question(2)) is None

    def test_nothing_held_is_no_answer_where_there_is_a_noop(self) -> None:
        one = seat(GAME)
        one.offer(question(1))
        one.press("Right")
        one.release("Right")
        assert one.offer(question(2)) is None

    def test_the_key_pressed_last_counts_and_the_other_comes_back(self) -> None:
        one = seat(GAME)
        one.press("Left")
        one.press("N")
        first = one.offer(question(1))
        assert isinstance(first, AnsweredQuestion) and first.action == 1  # typed ahead, oldest first
        one.offer(question(2))
        one.release("N")
        last = one.offer(question(3))
        assert isinstance(last, AnsweredQuestion) and last.action == 1

    def test_two_keys_make_the_chord(self) -> None:
        one = seat(GAME, clock=Clock())
        one.offer(question(1))
        one.press("Up")
        one.press("Right")
        answer = one.offer(question(2))
        assert isinstance(answer, AnsweredQuestion) and answer.action == 4

    def test_without_a_noop_the_last_action_goes_on(self) -> None:
        one = seat(POLE)
        assert one.offer(question(1)) is None  # nothing before the first key
        one.press("Right")
        one.release("Right")
        later = [one.offer(question(n)) for n in (2, 3)]
        assert [a.action for a in later if isinstance(a, AnsweredQuestion)] == [1, 1]

    def test_losing_the_keyboard_ends_that(self) -> None:
        one = seat(POLE)
        one.offer(question(1))
        one.press("Right")
        one.release_all()
        assert one.offer(question(2)) is None

    def test_the_clock_may_differ_from_the_scheme(self) -> None:
        one = seat(GAME, realtime=False, clock=Clock())
        one.offer(question(1))
        one.press("Right")
        assert one.offer(question(2)) is None


class TestContinuous:
    SPACE = to_space(pytest.importorskip("gymnasium").spaces.Box(-1.0, 1.0, (3,), "float32"))
    KEYS = KeyScheme(axes=(Axis("Left", 0, -1.0), Axis("Right", 0, 1.0), Axis("Up", 1, 2.0)), realtime=True)

    def test_held_keys_add_up_within_the_bounds(self) -> None:
        one = seat(self.KEYS, clock=Clock())
        one.offer(question(1, space=self.SPACE.to_json()))
        one.press("Left")
        answer = one.offer(question(2, space=self.SPACE.to_json()))
        assert isinstance(answer, AnsweredQuestion) and answer.action == [-1.0, 0.0, 0.0]
        one.press("Up")
        answer = one.offer(question(3, space=self.SPACE.to_json()))
        assert isinstance(answer, AnsweredQuestion) and answer.action == [-1.0, 1.0, 0.0]
        assert self.SPACE.shape == action_from_plain(self.SPACE, answer.action).shape

    def test_opposite_keys_cancel(self) -> None:
        one = seat(self.KEYS, clock=Clock())
        one.offer(question(1, space=self.SPACE.to_json()))
        one.press("Left")
        one.press("Right")
        answer = one.offer(question(2, space=self.SPACE.to_json()))
        assert isinstance(answer, AnsweredQuestion) and answer.action == [0.0, 0.0, 0.0]

    def test_no_key_is_no_answer(self) -> None:
        assert seat(self.KEYS).offer(question(space=self.SPACE.to_json())) is None

    @pytest.mark.parametrize(
        ("space", "values", "action"),
        [
            ({"shape": [], "low": -2, "high": 2}, [5.0], 2.0),
            ({"shape": [2], "low": [0.0, -1.0], "high": 1.0}, [-3.0, -3.0], [0.0, -1.0]),
            ({"shape": [2, 2], "low": "-Infinity", "high": "Infinity"}, [1, 2, 3, 4], [[1, 2], [3, 4]]),
        ],
    )
    def test_bounds_as_json(self, space: dict[str, Any], values: list[float], action: Any) -> None:
        assert ActionBounds.read(space).action(values) == action


class TestButtonsAndMouse:
    """Buttons held at once, and numbers that the mouse gives."""

    SPACE: Mapping[str, Any] = {
        "kind": "Dict",
        "spaces": [
            ["binary", {"kind": "MultiBinary", "shape": [3], "dtype": "int8"}],
            ["continuous", {"kind": "Box", "shape": [2], "low": -10.0, "high": 10.0, "dtype": "float32"}],
        ],
    }
    KEYS = KeyScheme(
        axes=(Axis("Up", 0, 1.0), Axis("Space", 2, 1.0), Axis("Left", 3, -5.0)),
        pointer=(Axis("MouseLeft", 2, 1.0), Axis("MouseX", 3, 0.5), Axis("MouseY", 4, -0.5)),
        realtime=True,
    )

    def ask(self, one: HumanSeat, number: int = 1) -> Any:
        return one.offer(question(number, space=self.SPACE))

    def test_all_that_is_held_counts_together(self) -> None:
        one = seat(self.KEYS)
        self.ask(one)
        assert one.press("Up").action == {"binary": [1, 0, 0], "continuous": [0.0, 0.0]}  # type: ignore[union-attr]
        one.press("MouseLeft")
        one.press("Left")
        assert self.ask(one, 2).action == {"binary": [1, 0, 1], "continuous": [-5.0, 0.0]}
        one.press("Space")  # the same button twice is still pressed once
        assert self.ask(one, 3).action["binary"] == [1, 0, 1]

    def test_a_key_that_was_up_again_before_the_question_counts(self) -> None:
        one = seat(self.KEYS)
        one.press("Space")
        one.release("Space")
        assert self.ask(one).action["binary"] == [0, 0, 1]
        assert self.ask(one, 2) is None

    def test_what_the_mouse_moved_since_the_last_answer_is_told_once(self) -> None:
        one = seat(self.KEYS)
        one.move("MouseX", 6)
        one.move("MouseX", 2)
        one.move("MouseY", 4)
        assert self.ask(one).action["continuous"] == [4.0, -2.0]
        assert self.ask(one, 2) is None
        assert one.move("MouseX", 999).action["continuous"] == [10.0, 0.0]  # type: ignore[union-attr]

    def test_a_motion_that_means_nothing_is_none(self) -> None:
        one = seat(KeyScheme(axes=(Axis("Up", 0, 1.0),), realtime=True))
        self.ask(one)
        assert one.move("MouseX", 5) is None

    def test_answers_are_in_the_space(self) -> None:
        one, space = seat(self.KEYS), Space.from_json(dict(self.SPACE))
        one.press("Up")
        one.move("MouseX", 3)
        action = action_from_plain(space, self.ask(one).action)
        assert action["binary"].tolist() == [1, 0, 0] and action["continuous"].tolist() == [1.5, 0.0]


class TestTyping:
    KEYS = KeyScheme(typed=True)
    SPACE: Mapping[str, Any] = Space("Discrete", n=82).to_json()

    def test_digits_and_return(self) -> None:
        one = seat(self.KEYS)
        asked = question(space={**self.SPACE, "start": 0})
        one.offer(asked)
        for key in ("7", "1", "Backspace", "9"):
            assert one.press(key) is None
        assert one.typed == "79"
        assert one.press("Return") == AnsweredQuestion(asked, 79)
        assert one.typed == ""

    def test_a_number_that_is_no_action_is_refused(self) -> None:
        one = seat(self.KEYS)
        one.offer(question(space={**self.SPACE, "start": 0}))
        for key in "99":
            one.press(key)
        answer = one.press("Return")
        assert isinstance(answer, Refused) and "0 to 81" in answer.reason


class TestSeveralPeople:
    WASD = KeyScheme({"A": 0, "D": 1, "W": 2})

    def test_two_people_at_one_keyboard(self) -> None:
        seats = HumanSeats([seat(GRID, "one"), seat(self.WASD, "two")])
        for number, slot in ((1, "one"), (2, "two")):
            seats.offer(question(number, slot))
        answers = [*seats.press("Right"), *seats.press("A")]
        assert [(a.question.slot, a.action) for a in answers if isinstance(a, AnsweredQuestion)] == [
            ("one", 1),
            ("two", 0),
        ]

    def test_a_shared_key_is_for_whoever_is_asked(self) -> None:
        seats = HumanSeats([seat(GRID, "one"), seat(GRID, "two")])
        assert seats.press("Up") == []
        seats.release("Up")
        asked = question(1, "two")
        seats.offer(asked)
        assert seats.press("Up") == [AnsweredQuestion(asked, 2)]
        assert seats.offer(question(2, "one")) is None

    def test_a_keyboard_of_ones_own(self) -> None:
        seats = HumanSeats([seat(GRID, "one", device="/dev/input/event3"), seat(GRID, "two")])
        seats.offer(question(1, "one"))
        seats.offer(question(2, "two"))
        assert [a.question.slot for a in seats.press("Left", "/dev/input/event3")] == ["one"]
        assert [a.question.slot for a in seats.press("Left")] == ["two"]
        seats.release_all("/dev/input/event3")
        assert seats.seat("one").keys_down == () and seats.seat("two").keys_down == ("Left",)  # type: ignore[union-attr]

    def test_withdrawing_by_number(self) -> None:
        seats = HumanSeats([seat(GRID, "one"), seat(GRID, "two")])
        seats.offer(question(1, "one"))
        seats.offer(question(2, "two"))
        seats.withdraw(1)
        assert [q.id for q in seats.questions] == [2]

    def test_a_question_for_nobody_here(self) -> None:
        assert HumanSeats().offer(question()) is None
        assert HumanSeats().choose("agent_0", 1) is None


@pytest.mark.parametrize(("chord", "parts"), [("Up", ("Up",)), ("Up+W", ("Up", "W")), ("+", ("+",))])
def test_chords(chord: str, parts: tuple[str, ...]) -> None:
    assert split_chord(chord) == parts
