"""What is said of rules and rewards in MultiGrid's sports, against games that are played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment

NOOP = 0


class Match:
    """A match in which only players move that a test tells to."""

    def __init__(self, sport: str, seed: int = 3, **env_kwargs: Any) -> None:
        self.environment: Environment = envs.make(f"MosaicMultiGrid-{sport}-v1", env_kwargs=env_kwargs)
        self.agents = self.environment.adapter.possible_agents
        self.before = self.said()
        self.environment.adapter.reset(seed=seed)
        self.game = self.environment.env
        self.players = dict(zip(self.agents, self.game.agents, strict=True))

    def said(self, agent: str = "") -> str:
        chosen = agent or self.agents[0]
        return self.environment.describer(chosen).briefing(chosen)

    def put(self, agent: str, x: int, y: int, direction: int = 0) -> None:
        self.players[agent].state.pos = (x, y)
        self.players[agent].state.dir = direction
        if hasattr(self.game, "_prev_pos"):
            self.game._prev_pos[self.players[agent].index] = (x, y)

    def take_ball(self, agent: str | None = None) -> Any:
        """Take the ball off the field and put it into an agent's hands, if one is named."""
        for x in range(self.game.width):
            for y in range(self.game.height):
                thing = self.game.grid.get(x, y)
                if thing is not None and thing.type.value == "ball":
                    self.game.grid.set(x, y, None)
                    if agent is not None:
                        self.players[agent].state.carrying = thing
                    return thing
        raise AssertionError("no ball")

    def do(self, **words: str) -> Any:
        meanings = self.environment.action_meanings(self.agents[0])
        current = self.environment.adapter.get_current_agents()
        return self.environment.adapter.step({a: meanings.index(words.get(a, "noop")) for a in current})


@pytest.mark.parametrize(("sport", "agent"), [("S-2v2-IndAgObs", "green_0"), ("AF-2v2-IndAgObs", "red_0")])
@pytest.mark.parametrize("limit", [60, 200])
def test_a_goal_pays_by_the_steps_that_are_left(sport: str, agent: str, limit: int) -> None:
    kwargs = {} if sport.startswith("AF") else {"max_steps": limit}
    match = Match(sport, reward_shaping=False, **kwargs)
    limit, east = match.game.max_steps, match.game.width - 2
    match.take_ball(agent)
    for index, each in enumerate(match.agents):
        match.put(each, 5, 2 + index)
    match.put(agent, east - 1, 5)
    step = match.do(**{agent: "forward"})
    team, mates, others = match.environment.team_and_others(agent)
    assert step.rewards[agent] == pytest.approx(1 + 0.05 * (limit - 1))
    assert step.rewards[mates[0]] == step.rewards[agent] and step.rewards[others[0]] == 0
    assert "pays each of your team 1 + 0.05 x the steps that are left;" in match.before
    assert "at the east end" in match.before and f"after {limit} steps" in match.before
    assert "pays you 0.01" not in match.before
    assert f"Who has scored {match.game.goals_to_win} times wins, and the game ends." in match.before
    assert team in match.environment.teams


def test_rules_are_the_same_before_and_after_the_beginning() -> None:
    for sport in ("S-2v2-IndAgObs", "AF-2v2-IndAgObs", "BB-3v1-IndAgObs", "C-2v2-IndAgObs", "AF-G-1v0"):
        match = Match(sport)
        assert match.before == match.said()
        assert ("You score by going with the ball" in match.before) is (not sport.startswith("C"))


def test_shaping_is_told_where_there_is_some() -> None:
    match = Match("S-2v2-IndAgObs")
    match.take_ball("green_0")
    for index, each in enumerate(match.agents):
        match.put(each, 4, 2 + 2 * index)
    assert match.do(green_0="forward").rewards["green_0"] == pytest.approx(0.01)
    match.put("green_0", 7, 2, direction=2)
    assert match.do(green_0="forward").rewards["green_0"] == pytest.approx(-0.01)
    match.put("green_0", 7, 2)
    match.put("blue_0", 8, 2, direction=2)
    assert match.do(blue_0="pickup").rewards["blue_0"] == pytest.approx(0.3)
    assert "A theft pays the thief 0.3." in match.before and "pays you 0.01" in match.before
    alone = Match("S-G-2v0-IndAgObs").before
    assert "theft" not in alone and "steal" not in alone and "pays you 0.01" in alone


def test_who_was_robbed_waits_as_long_as_is_told() -> None:
    match = Match("S-2v2-IndAgObs", steal_cooldown=4)
    match.take_ball("green_0")
    match.put("green_1", 2, 8)
    match.put("blue_1", 12, 8)
    match.put("green_0", 7, 2, 0)
    match.put("blue_0", 8, 2, 2)
    match.do(blue_0="pickup")
    waited = 0
    while match.players["green_0"].state.carrying is None:
        match.do(green_0="pickup")
        waited += 1
    assert f"neither of the two can steal in the next {waited - 1} steps" in match.before


def test_a_pass_goes_to_a_mate_with_empty_hands_by_chance() -> None:
    match, got = Match("S-3v3-IndAgObs"), set[str]()
    match.take_ball("green_0")
    assert "of several one by chance" in match.before
    for _ in range(60):
        holder = next(a for a in match.agents if match.players[a].state.carrying is not None)
        match.do(**{holder: "drop"})
        new = next(a for a in match.agents if match.players[a].state.carrying is not None)
        if holder == "green_0":
            got.add(new)
    assert got == {"green_1", "green_2"}
    assert "- drop: put the ball down" in Match("S-1v1-IndAgObs").before


def test_the_last_ball_ends_collecting_and_costs_the_others() -> None:
    match = Match("C-2v2-IndAgObs", max_steps=100)
    count, over = sum(match.game.num_balls), False
    assert f"There are {count} balls." in match.before
    assert (
        "pays each of your team 1 + 0.05 x the steps that are left, and each opponent loses as much"
        in match.before
    )
    for taken in range(count):
        ball = match.take_ball()
        for index, each in enumerate(match.agents):
            match.put(each, 8, 2 + index, 1)
        match.put("blue_0", 2, 2)
        match.game.grid.set(3, 2, ball)
        step = match.do(blue_0="pickup")
        worth = 1 + 0.05 * (100 - taken - 1)
        assert step.rewards["blue_0"] == pytest.approx(worth) == -step.rewards["green_0"]
        over = bool(np.all(list(step.terminated.values())))
    assert over and "When the last one is taken, the game ends." in match.before


def test_an_end_zone_is_called_after_who_defends_it() -> None:
    match = Match("AF-2v2-IndAgObs")
    for x, direction in ((2, 2), (match.game.width - 3, 0)):
        match.put("red_0", x, 5, direction)
        view = match.game.gen_obs()[match.players["red_0"].index]
        owner = match.game.endzone_positions[(x - 1 if direction == 2 else x + 1, 5)]
        name = {0: "red", 1: "green"}[owner]
        assert f"{name} end zone" in match.environment.describer("red_0").text("red_0", view)
        assert (f"the {name} end zone at the {'west' if direction == 2 else 'east'} end" in match.said()) is (
            name == "green"
        )


@pytest.mark.parametrize(
    ("sport", "agent", "mark"),
    [("S-2v2-IndAgObs", "green_0", "a goal"), ("AF-2v2-IndAgObs", "red_0", "an end zone")],
)
def test_where_one_scores_is_told_to_be_walked_on_and_is(sport: str, agent: str, mark: str) -> None:
    match = Match(sport)
    agent = agent if agent in match.agents else match.agents[0]
    assert f"{mark} is free to walk on" in match.said(agent)
    kinds = {"objgoal", "endzone"}
    x, y = next(
        (x, y)
        for x in range(match.game.width - 1, 0, -1)
        for y in range(match.game.height)
        if (thing := match.game.grid.get(x, y)) is not None and thing.type.value in kinds
    )
    match.put(agent, x - 1, y)
    match.do(**{agent: "forward"})
    assert tuple(match.players[agent].state.pos) == (x, y)
