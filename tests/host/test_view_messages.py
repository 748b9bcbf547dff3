"""Looks and questions as messages: what arrives is what was sent."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from msgspec.structs import replace

from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.drawing.packed_picture import pack
from gym_gui.core.enums import ActionSource, Outcome
from gym_gui.core.live import AgentView, Board, HumanQuestion, LiveView, Move, Pointing
from gym_gui.core.spaces import to_space
from gym_gui.host.service_names import pb
from gym_gui.host.view_messages import (
    board_message,
    board_of,
    frame_with,
    observation_message,
    observation_of,
    picture_in,
    question_message,
    question_of,
    view_message,
    view_of,
)
from mosaic_worker.spaces import Space

AGENT = AgentView(
    "a", "b", "left", 2, str(ActionSource.NOOP), 0.5, 1.5, -0.25, "go", 12.5, 3, "", 0, "up cannot start"
)
BOARD = Board(
    "chess",
    2,
    2,
    ("K", "", "", "q"),
    (Move(7, (0, 1), (1, 1), "a1a2", "Q"), Move(3, (1, 0))),
    ((0, 0), (1, 1)),
    "b",
    True,
)


def arrived(view: LiveView) -> LiveView:
    return view_of(pb.View.FromString(view_message(view).SerializeToString()))


def asked(question: HumanQuestion) -> HumanQuestion:
    return question_of(pb.Question.FromString(question_message(question).SerializeToString()))


@pytest.mark.parametrize(
    "view",
    [
        LiveView(0, 0, 0, ()),
        LiveView(3, 2**63, 9, (AGENT, AgentView("c", "c")), ("a", "c"), text="ümlaut\n\x1b[31m"),
        LiveView(1, 1, 4, (AGENT,), over="completed", outcome={"x": "win"}, board=BOARD, frame=8, sent_ns=5),
        LiveView(1, 1, 4, (), pointing=Pointing(3, 5, (Move(2, (1, 4), label="go to(ball)"),))),
        LiveView(1, 1, 5, (), pointing=Pointing(3, 5, (), (0.5, 0.0, 0.5, 1.0))),
        LiveView(1, 1, 4, (), over="failed", error="it broke", scores={"x": 1.0, "y": -2.5}),
    ],
)
def test_a_view_arrives_as_it_was(view: LiveView):
    assert arrived(view) == view


def test_values_of_environments_become_plain():
    view = LiveView(0, 0, 0, (AgentView("a", "a", reward=np.float32(0.5)),), scores={"x": np.int64(2)})  # type: ignore[arg-type]
    got = arrived(view)
    assert type(got.agents[0].reward) is float and got.scores == {"x": 2.0}  # type: ignore[index]
    outcome = arrived(LiveView(0, 0, 0, (), outcome={"x": Outcome.WIN})).outcome
    assert outcome == {"x": "win"} and type(outcome["x"]) is str


@pytest.mark.parametrize("space", [gym.spaces.Discrete(4, start=2), gym.spaces.Box(-np.inf, 3, (2,))])
def test_a_question_arrives_as_it_was(space: gym.Space):
    question = HumanQuestion(5, 1, 2, "a", "b", (2, 3), 1.5, 1, "no", to_space(space).to_json())
    got = asked(question)
    assert got == question
    assert Space.from_json(got.space) == to_space(space)
    assert asked(HumanQuestion(1, 0, 0, "a", "a")).legal is None


@pytest.mark.parametrize(
    "observed",
    [
        AgentObservation("a", 3),
        AgentObservation(
            "a",
            3,
            "a wall",
            "[1, 2]",
            "flatten",
            ("up", "down"),
            "Drawn",
            pack(np.eye(6, dtype=np.uint8).reshape(3, 4, 3)),
        ),
    ],
)
def test_what_an_agent_sees_arrives_as_it_was(observed: AgentObservation) -> None:
    assert (
        observation_of(pb.AgentObservation.FromString(observation_message(observed).SerializeToString()))
        == observed
    )


def test_a_picture_can_travel_in_the_message():
    picture = np.random.default_rng(1).integers(0, 256, (30, 40, 3), np.uint8)
    message = frame_with(picture)
    assert np.array_equal(picture_in(message), picture)
    assert picture_in(message).flags.writeable
    message.pixels.height = 31
    with pytest.raises(ValueError, match="reshape"):
        picture_in(message)


def test_a_board_may_travel_without_its_moves():
    got = board_of(pb.Board.FromString(board_message(BOARD, moves=False).SerializeToString()))  # type: ignore[union-attr]
    assert got == replace(BOARD, moves=())
    assert board_message(None) is None
