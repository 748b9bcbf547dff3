"""In-process policies behind a slot: made per episode, checked, and never able to end the engine."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.policy_source import ActorContext
from gym_gui.core.types import Answer, Decision, EpisodeSummary, StepOutcome, StepSnapshot
from gym_gui.services.backends import ActorBackend, SlotInfo
from tests.support.engine import Player, player

SEES = spaces.Box(-1, 1, (1,), np.float32)


def slot(action_space: Any, **more: Any) -> SlotInfo:
    return SlotInfo("a", SEES, action_space, **more)


def backend(make: Any, action_space: Any = None, **more: Any) -> tuple[ActorBackend, list[Answer]]:
    answers: list[Answer] = []
    info = slot(spaces.Discrete(3) if action_space is None else action_space)
    return ActorBackend("a", make, answers.extend, slot=info, **more), answers


def asked(episode: int = 0, step: int = 0, mask: Any = None, **more: Any) -> Decision:
    seen = np.zeros(1, np.float32)
    return Decision(1, episode, step, "seat", "a", 99, seen, (seen.tobytes(),), mask, **more)


def outcome(episode: int = 0) -> StepOutcome:
    return StepOutcome(episode, 4, "seat", "a", "seen", (), 2, 1.5, True, False, {"key": 1})


def test_a_policy_is_made_when_its_episode_begins() -> None:
    made = player()
    table, _ = backend(made, config={"depth": 3})
    table.begin(5, 77, "seat")
    (actor,) = made.made
    context = actor.context
    assert (context.agent_id, context.episode_index, context.seed) == ("seat", 5, 77)
    assert context.action_space == spaces.Discrete(3) and context.config == {"depth": 3}
    table.begin(6, 78)
    table.ask([asked(5), asked(6)])
    assert [len(p.asked) for p in made.made] == [1, 1]


def test_it_is_shown_all_that_is_known() -> None:
    made = player(lambda s: 1)
    table, answers = backend(made)
    mask = np.array([1, 1, 0], np.int8)
    table.ask([asked(2, 7, mask, info={"lives": 3})])
    snapshot = made.made[0].asked[0]
    assert (snapshot.step_index, snapshot.agent_id, snapshot.episode_index) == (7, "seat", 2)
    assert snapshot.legal_actions == [0, 1] and snapshot.info == {"lives": 3} and snapshot.seed == 99
    assert [(a.action, a.invalid, a.failure) for a in answers] == [(1, "", "")]
    assert answers[0].latency_ms >= 0


def test_it_is_told_what_its_action_led_to() -> None:
    made = player()
    table, _ = backend(made)
    table.begin(0, 1)
    table.result(outcome())
    (told,) = made.made[0].results
    assert (told.step_index, told.reward, told.terminated, told.action) == (4, 1.5, True, 2)
    assert told.observation == "seen" and told.info == {"key": 1}


def test_it_is_forgotten_when_its_episode_is_over() -> None:
    made = player()
    table, _ = backend(made)
    table.begin(0, 1)
    summary = EpisodeSummary(0, 3.0, 5, 1, "a")
    table.end(summary)
    assert made.made[0].summaries == [summary]
    table.end(summary)  # its player is gone already
    table.begin(0, 1)
    assert len(made.made) == 2


CANONICAL: dict[str, tuple[Any, Any, Any]] = {
    "numpy integer": (spaces.Discrete(3), np.int32(2), np.int64(2)),
    "array without dimensions": (spaces.Discrete(3), np.array(2), np.int64(2)),
    "start": (spaces.Discrete(3, start=-1), -1, np.int64(-1)),
    "float64": (spaces.Box(-1, 1, (2,), np.float32), np.array([0.1, 1]), np.array([0.1, 1], np.float32)),
    "list": (spaces.Box(-1, 1, (2,), np.float32), [0.5, 1], np.array([0.5, 1], np.float32)),
    "integers": (spaces.Box(-1, 1, (2,), np.float32), [0, 1], np.array([0, 1], np.float32)),
    "multi": (spaces.MultiDiscrete([2, 3]), [1, 2], np.array([1, 2])),
    "tuple": (spaces.MultiDiscrete([2, 3]), (1, 2), np.array([1, 2])),
    "bits": (spaces.MultiBinary(2), [1, 0], np.array([1, 0], np.int8)),
    "text": (spaces.Text(5), "go", "go"),
}


@pytest.mark.parametrize("name", CANONICAL)
def test_actions_reach_the_environment_in_their_spaces_own_type(name: str) -> None:
    action_space, given, expected = CANONICAL[name]
    table, answers = backend(player(lambda s: given), action_space)
    table.ask([asked()])
    assert not answers[0].invalid, answers[0].invalid
    action = answers[0].action
    assert type(action) is type(expected)
    np.testing.assert_array_equal(action, expected)
    if isinstance(expected, np.ndarray):
        assert action.dtype == expected.dtype and action.flags.writeable


def test_actions_in_containers_are_made_canonical_too() -> None:
    action_space = spaces.Dict({"go": spaces.Discrete(3), "push": spaces.Box(0, 1, (1,), np.float32)})
    table, answers = backend(player(lambda s: {"go": 1, "push": [0.25]}), action_space)
    table.ask([asked()])
    assert answers[0].action["push"].dtype == np.float32 and answers[0].action["go"] == 1


@pytest.mark.parametrize(
    ("action_space", "given"),
    [
        (spaces.Sequence(spaces.Discrete(2)), 5),
        (spaces.OneOf([spaces.Discrete(2), spaces.Text(3)]), 1),
        (spaces.OneOf([spaces.Discrete(2), spaces.Text(3)]), (7, "x")),
        (spaces.Graph(spaces.Box(0, 1, (1,)), None), "no graph"),
        (spaces.Box(0, 1, (1,)), object()),
        (spaces.MultiDiscrete([2, 2]), [[1], [1, 1]]),
        (spaces.MultiBinary(2), [[1], [1, 1]]),
    ],
)
def test_an_action_that_is_none_is_unusable_and_raises_nothing(action_space: Any, given: Any) -> None:
    table, answers = backend(player(lambda s: given), action_space)
    table.ask([asked()])
    assert answers[0].invalid and not answers[0].failure


def test_without_a_slot_answers_pass_as_they_are() -> None:
    answers: list[Answer] = []
    table = ActorBackend("a", player(lambda s: "anything"), answers.extend)
    table.ask([asked()])
    assert answers[0].action == "anything" and not answers[0].invalid


class Breaking(Player):
    made: list[Player] = []  # noqa: RUF012

    def __init__(self, context: ActorContext, where: str) -> None:
        super().__init__(context)
        self.where = where
        if where == "made" and context.episode_index == 1:
            raise OSError("no such file")

    def choose(self, snapshot: StepSnapshot) -> int:
        if self.where == "asked" and snapshot.episode_index == 1:
            raise ValueError("no idea")
        return 0

    def on_step(self, snapshot: StepSnapshot) -> None:
        if self.where == "told" and snapshot.episode_index == 1:
            raise KeyError("reward")

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        if self.where == "end" and summary.episode_index == 1:
            raise RuntimeError("cannot forget")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("made", "OSError: no such file"),
        ("asked", "ValueError: no idea"),
        ("told", "KeyError: 'reward'"),
    ],
)
def test_a_policy_that_raises_fails_in_its_own_episode(where: str, words: str) -> None:
    table, answers = backend(lambda context: Breaking(context, where))
    for episode in (0, 1, 2):
        table.begin(episode, 1)
    for episode in (0, 1, 2):
        table.ask([asked(episode)])
        table.result(outcome(episode))
    table.ask([asked(1, 5), asked(2, 5)])
    by_episode = {a.decision.episode: a.failure for a in answers}
    said = by_episode.pop(1)
    assert said.startswith(words) and "test_backends.py, line " in said
    assert by_episode == {0: "", 2: ""}
    for episode in (0, 1, 2):
        table.end(EpisodeSummary(episode))
    table.begin(3, 1)
    table.ask([asked(3)])
    assert not answers[-1].failure


@pytest.mark.parametrize(("where", "call"), [("told", "on_step"), ("end", "on_episode_end")])
def test_raising_when_it_is_told_something_is_logged(
    where: str, call: str, caplog: pytest.LogCaptureFixture
) -> None:
    table, _ = backend(lambda context: Breaking(context, where))
    table.begin(1, 1)
    with caplog.at_level(logging.WARNING):
        table.result(outcome(1))
        table.end(EpisodeSummary(1))
    (record,) = caplog.records
    assert f"{call} raised" in record.message and "episode 1" in record.message


def test_a_slot_knows_its_codecs() -> None:
    info = slot(spaces.Discrete(3), noop_action=1, action_meanings=("left", "stay", "right"))
    assert info.observation_codec.decode(info.observation_codec.encode(np.array([0.5], np.float32)))[0] == 0.5
    assert info.action_codec is info.action_codec and info.action_codec.space.kind == "Discrete"
