"""The options of soccer: who has which, where they start and end on a real field, what they cannot know."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("mosaic_multigrid")

from gym_gui.core.errors import EnvironmentFailure, UsageError
from gym_gui.core.paradigms import HierarchicalAdapter, OptionLibrary, RelativePosition
from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs import Environment, make

TASK = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
ME, MATE, RIVAL = "green_0", "green_1", "blue_0"
BOSS = f"{ME}/goal"
NOOP, LEFT, RIGHT, FORWARD, PICKUP, DROP = range(6)


class Game:
    """A field on which things are put where a test wants them; ``ME`` has a manager.

    A change is seen after the next step: conditions have nothing but observations.
    """

    def __init__(self, task: str = TASK) -> None:
        self.environment: Environment = make(task).with_manager(agents=[ME])
        assert isinstance(self.environment.adapter, HierarchicalAdapter)
        self.adapter = self.environment.adapter
        self.adapter.reset(seed=5)
        self.field: Any = self.environment.env
        self.bodies = dict(
            zip(self.environment.adapter.inner.possible_agents, self.field.agents, strict=True)
        )
        self.names = self.environment.action_meanings(BOSS)

    def put(self, ball: tuple[int, int] | str, **places: tuple[int, int, int]) -> None:
        """Put the ball on a cell or into a player's hands, and players at (x, y, direction)."""
        from mosaic_multigrid.core.constants import Color
        from mosaic_multigrid.core.world_object import Ball

        for x in range(1, 15):
            for y in range(1, 10):
                thing = self.field.grid.get(x, y)
                if thing is not None and thing.type.value == "ball":
                    self.field.grid.set(x, y, None)
        new = Ball(color=Color.from_index(0), index=0)
        for name, body in self.bodies.items():
            body.state.carrying = new if name == ball else None
        if isinstance(ball, tuple):
            self.field.grid.set(*ball, new)
        for name, (x, y, direction) in places.items():
            self.bodies[name].state.pos, self.bodies[name].state.dir = (x, y), direction

    def choose(self, name: str) -> None:
        self.adapter.step({BOSS: self.names.index(name)})

    def move(self, action: int) -> str:
        """How the option has ended with this move of its player, ``""`` where it goes on."""
        self.adapter.step(
            {agent: action if agent == ME else NOOP for agent in self.adapter.get_current_agents()}
        )
        ended = self.adapter.take_ended().get(BOSS)
        return "" if ended is None else ended.why

    def see(self) -> None:
        """Do nothing until the manager is asked, so that it sees what the field is now."""
        if list(self.adapter.get_current_agents()) == [BOSS]:
            number, _ = self.adapter.startable(BOSS)[-1]
            self.adapter.step({BOSS: number})
        while list(self.adapter.get_current_agents()) != [BOSS]:
            self.move(NOOP)

    @property
    def can(self) -> set[str]:
        return {option.name for _, option in self.adapter.startable(BOSS)}


FAR: dict[str, tuple[int, int, int]] = {MATE: (13, 1, 0), RIVAL: (13, 9, 0), "blue_1": (12, 9, 0)}
AT_HOME = {ME: (5, 5, 0)}


@pytest.mark.parametrize(
    ("task", "agent", "passes"),
    [
        (TASK, "green_0", ["pass(green_1)"]),
        (TASK, "blue_1", ["pass(blue_0)"]),
        ("MosaicMultiGrid-S-3v3-IndAgObs-v1", "green_2", ["pass"]),  # to whom is the field's choice
        ("MosaicMultiGrid-S-1v1-IndAgObs-v1", "blue_0", []),
        ("MosaicMultiGrid-S-G-2v0-IndAgObs-v1", "green_1", ["pass(green_0)"]),
    ],
)
def test_a_player_passes_to_whom_it_can(task: str, agent: str, passes: list[str]) -> None:
    names = make(task).with_manager(agents=[agent]).option_names(agent)
    assert names == ("fetch", *passes, "score", "defend", "search")


def test_other_sports_have_no_options() -> None:
    with pytest.raises(UsageError, match="has no options of its own"):
        make("MosaicMultiGrid-BB-2v2-IndAgObs-v1").with_manager()


def test_the_ball_is_fetched_and_passed() -> None:
    game = Game()
    game.put((7, 5), **FAR, **AT_HOME)
    game.see()
    assert game.can == {"fetch", "defend", "search"}
    number = game.names.index("fetch")
    assert (number, RelativePosition(2, 0)) in game.adapter.places(BOSS)
    game.choose("fetch")
    assert [game.move(FORWARD), game.move(PICKUP)] == ["", "over"]
    assert game.can == {"pass(green_1)", "score"}
    game.choose("pass(green_1)")
    assert game.move(DROP) == "over"
    assert game.bodies[MATE].state.carrying is not None
    assert game.can == {"defend", "search"}


def test_the_ball_is_carried_into_the_goal_or_the_manager_is_asked_again() -> None:
    game = Game()
    game.put(ME, **FAR, **{ME: (12, 5, 0)})
    game.see()
    assert (game.names.index("score"), RelativePosition(2, 0)) in game.adapter.places(BOSS)
    game.choose("score")
    assert [game.move(FORWARD), game.move(FORWARD)] == ["", ""]
    assert game.field.team_scores[1] == 1
    assert game.move(NOOP) == "over"  # the field shows the ball in hand once more after a goal
    game.put(ME, **FAR, **AT_HOME)
    game.see()
    game.choose("score")
    ends = [game.move(LEFT) for _ in range(40)]
    assert ends == [""] * 39 + ["budget"]


@pytest.mark.parametrize(
    ("holder", "fetched"), [(RIVAL, True), (MATE, False)], ids=["an opponent's", "a team-mate's"]
)
def test_whose_ball_is_fetched(holder: str, fetched: bool) -> None:
    game = Game()
    game.put(holder, **{**FAR, holder: (7, 5, 2)}, **AT_HOME)
    game.see()
    assert ("fetch" in game.can) == fetched
    if fetched:
        game.choose("fetch")
        assert [game.move(FORWARD), game.move(PICKUP)] == ["", "over"]


@pytest.mark.parametrize("option", ["defend", "search"])
def test_who_waits_for_the_ball_is_asked_again_once_it_comes(option: str) -> None:
    game = Game()
    game.put((12, 2), **FAR, **AT_HOME)
    game.see()
    game.choose(option)
    assert game.move(NOOP) == ""
    game.put((7, 5))
    assert game.move(NOOP) == "over"
    game.choose(option)  # with the ball in view: that is no news
    assert game.move(NOOP) == ""
    game.put(ME)
    assert game.move(NOOP) == "over"


def test_what_was_seen_and_is_not_is_not_known() -> None:
    game = Game()
    game.put((7, 5), **FAR, **AT_HOME)
    game.see()
    game.choose("fetch")
    assert game.move(LEFT) == ""  # it goes on, but could not start again
    assert game.adapter.info(ME)["option"] == "fetch"
    while game.move(NOOP) != "budget":
        pass
    assert "fetch" not in game.can


def test_an_option_that_cannot_start_is_refused_by_name() -> None:
    game = Game()
    game.put((12, 2), **FAR, **AT_HOME)
    game.see()
    with pytest.raises(EnvironmentFailure, match=r"green_0/goal chose pass\(green_1\), which cannot start"):
        game.choose("pass(green_1)")


def said(library: OptionLibrary, seen: Any, began: Any) -> list[Any]:
    """All that conditions say of two observations."""
    now, before = library.read(seen), library.read(began)
    return [(o.starts(now), o.ends(now, before), list(o.places(now))) for o in library.options]


def test_conditions_know_what_the_player_sees_and_nothing_else() -> None:
    """The same observations mean the same on a field where all else is different."""
    from mosaic_multigrid.core.constants import Color
    from mosaic_multigrid.core.world_object import Ball

    here, there = make(TASK), make(TASK)
    looked = here.adapter.reset(seed=1)
    there.adapter.reset(seed=2)
    libraries = {a: [e.family.options(e, a) for e in (here, there)] for a in here.adapter.possible_agents}
    verdicts = set[str]()
    for step in range(120):
        before = looked
        if step % 20 == 0:  # so that all of them have it for a while
            for player in here.env.agents:
                player.state.carrying = None
            here.env.agents[step // 20 % 4].state.carrying = Ball(Color.from_index(0), index=0)
        moves = {
            a: (FORWARD, PICKUP, LEFT, FORWARD, DROP, RIGHT)[(step + i) % 6] for i, a in enumerate(before)
        }
        looked = here.adapter.step(moves).observations
        there.adapter.step(dict.fromkeys(there.adapter.get_current_agents(), step % 6))
        for agent, (own, other) in libraries.items():
            assert own is not None and other is not None
            verdict = said(own, looked[agent], before[agent])
            assert verdict == said(other, looked[agent], before[agent])
            verdicts.add(str([each[:2] for each in verdict]))
    assert len(verdicts) > 3


@pytest.mark.parametrize("api", ["parallel", "aec"])
def test_with_managers_the_contract_is_kept(api: str) -> None:
    report = check_environment(lambda: make(TASK, api=api).with_manager().adapter, steps=40)
    assert report.ok, "\n".join(report.lines())
