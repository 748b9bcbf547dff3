"""Options for managers in MOSAIC MultiGrid's soccer: fetch, pass, score, defend and search.

The conditions of the options use the decoded cells that the agent observes now, as its text and its facts do,
and no earlier observations. A ball that is out of view can therefore only be searched for, not fetched,
although the policy that plays the option may remember where the ball was. After a goal the observation shows
the carried ball once more, so ``score`` ends one move later. ``operators_worker`` has a scripted manager
(``soccer_manager``) and scripted skills (``soccer_skills``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gym_gui.core.paradigms import Option, OptionLibrary, RelativePosition
from gym_gui.envs.describers.grid_words import GridObject, GridView
from gym_gui.envs.describers.multigrid import MultiGridDescriber
from gym_gui.envs.instance import Instance

FETCH, CARRY, STAY, SEARCH = 20, 40, 15, 20
"""Largest number of moves of soccer's options "fetch", "score", "defend" and "search".

The field is 14 cells long, and a turn takes a move.
"""


def soccer_options(environment: Instance, agent: str) -> OptionLibrary:
    """Return the options of one soccer player.

    A pass goes to a random team-mate, so the option "pass" names the team-mate only if there is exactly one.
    """
    team = agent.rpartition("_")[0]
    mates = [
        other
        for other in environment.adapter.possible_agents
        if other != agent and other.rpartition("_")[0] == team  # passes go by color, not by team
    ]
    read = partial(MultiGridDescriber(environment).view, mates={})

    def at_stake(seen: GridView) -> tuple[RelativePosition, ...]:
        """Return the positions of the free ball and of opponents that carry a ball."""
        return _places(seen, lambda each: _is_ball(each) or (_has_ball(each) and each.said[1] != team))

    def at_teammate(seen: GridView) -> bool:
        return bool(_places(seen, lambda each: _has_ball(each) and each.said[1] == team))

    def is_fetched(seen: GridView, began: GridView) -> bool:
        return _holds(seen) or at_teammate(seen)

    def has_ball_event(seen: GridView, began: GridView) -> bool:
        """Return whether the agent holds the ball, or a ball is newly in view, free or held by a player."""
        new = (at_stake(seen) and not at_stake(began)) or (at_teammate(seen) and not at_teammate(began))
        return _holds(seen) or bool(new)

    def goal(own: bool) -> Callable[[GridView], tuple[RelativePosition, ...]]:
        return lambda seen: _places(seen, lambda e: e.said[0] == "goal" and (e.said[1] == team) == own)

    options = [
        Option(
            "fetch",
            (),
            FETCH,
            lambda seen: not _holds(seen) and bool(at_stake(seen)),
            is_fetched,
            at_stake,
            "get the ball that is in view: take it up, or steal it from an opponent",
        ),
        Option(
            "score",
            (),
            CARRY,
            _holds,
            _holds_no_ball,
            goal(own=False),
            "carry the ball into the other side's goal",
        ),
        Option(
            "defend",
            (),
            STAY,
            _is_free,
            has_ball_event,
            goal(own=True),
            "go before the own goal and guard it",
        ),
        Option(
            "search",
            (),
            SEARCH,
            _is_free,
            has_ball_event,
            meaning="go where the ball may be until it is in view",
        ),
    ]
    if mates:
        to = tuple(mates) if len(mates) == 1 else ()
        meaning = "give the ball away, wherever the team-mate is"
        options.insert(1, Option("pass", to, 1, _holds, _holds_no_ball, meaning=meaning))
    return OptionLibrary(tuple(options), read)


def _places(seen: GridView, wanted: Callable[[GridObject], bool]) -> tuple[RelativePosition, ...]:
    return tuple(RelativePosition(each.ahead, each.right) for each in seen.things if wanted(each))


def _is_ball(thing: GridObject) -> bool:
    return thing.said[0] == "ball"


def _has_ball(thing: GridObject) -> bool:
    return thing.said[0] == "agent" and thing.said[-1] == "ball"


def _holds(seen: GridView) -> bool:
    return bool(seen.carried)


def _is_free(seen: GridView) -> bool:
    return not _holds(seen)


def _holds_no_ball(seen: GridView, began: GridView) -> bool:
    return not _holds(seen)
