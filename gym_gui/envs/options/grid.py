"""Options for managers on grids of square cells: MiniGrid, BabyAI, INI MultiGrid.

The conditions of the options use the decoded cells that the agent observes, as its text and its facts do.
Workers provide the managers and controllers: ``operators_worker`` has a scripted manager
(``minigrid_manager``) and scripted skills (``minigrid_skills``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType
from typing import Any

from gym_gui.core.paradigms import Option, OptionLibrary, RelativePosition
from gym_gui.envs.describers.grid_words import COLORS, GridObject, GridView
from gym_gui.envs.describers.ini_multigrid import IniMultiGridDescriber
from gym_gui.envs.describers.minigrid import MiniGridDescriber
from gym_gui.envs.instance import Instance

EXPLORE, WALK = 10, 20
"""Largest number of moves of the option "explore", and of every other option on grids."""
_MOVABLE = ("key", "ball", "box")
_KINDS = {"key": "Key", "ball": "Ball", "box": "Box", "door": "Door", "goal": "Goal"}
"""Kinds of objects that options refer to, each with the name of its class in MiniGrid."""
_ANY_COLOR = frozenset({"COLOR_NAMES", "COLORS", "COLOR_TO_IDX", "_rand_color", "Color"})
"""Names in the code of tasks that show that the task chooses a color at random."""
_GOAL = "green goal"
"""Name of a goal square, because all goals are green."""

Read = Callable[[Any], "GridView | None"]


def minigrid_options(environment: Instance, agent: str) -> OptionLibrary | None:
    """Return the options of a MiniGrid environment; ``None`` if the agent's observation is not a grid."""
    describer = MiniGridDescriber(environment)
    if not describer.can_state(agent):
        return None
    return _options(environment.env.__class__, describer.grid_view, "MiniGridEnv")


def ini_multigrid_options(environment: Instance, agent: str) -> OptionLibrary:
    """Return the options of an INI MultiGrid environment."""
    read = partial(IniMultiGridDescriber(environment).view, mates={})
    return _options(environment.env.__class__, read, "MultiGridEnv")


def _options(task: type[Any], read: Read, base: str) -> OptionLibrary:
    """Return the options of one task, for the objects that the code of its class can place in the grid.

    Args:
        task: The class of the environment.
        read: Converts an observation to the cells that it shows; ``None`` if it shows none.
        base: Name of the package's base class, whose code is not examined because it can build anything.
    """
    things = list(_placeable(task, base))
    movable = [thing for thing in things if thing.endswith(_MOVABLE)]
    doors = [thing for thing in things if thing.endswith("door")]
    options = [
        Option("explore", (), EXPLORE, is_over=_sees_more, meaning="go where something new is seen"),
        *(_go_to(thing) for thing in things),
        *(_pick_up(thing) for thing in movable),
        *(_open(thing) for thing in doors),
    ]
    if movable:
        options.append(Option("drop", (), WALK, _holds, _holds_nothing, meaning="put down what is carried"))
    return OptionLibrary(tuple(options), read)


def _go_to(thing: str) -> Option:
    onto = thing == _GOAL  # reaching the goal ends the episode
    return Option(
        "go to",
        (thing,),
        WALK,
        lambda seen: bool(_places(thing, seen)) and (onto or not _is_ahead(thing, seen)),
        lambda seen, began: not onto and _is_ahead(thing, seen),
        partial(_places, thing),
        "walk until it is directly ahead; onto a goal",
    )


def _pick_up(thing: str) -> Option:
    return Option(
        "pick up",
        (thing,),
        WALK,
        lambda seen: bool(_places(thing, seen)) and not _holds(seen),
        lambda seen, began: seen is not None and seen.carried == thing,
        partial(_places, thing),
        "go there and take it, with empty hands",
    )


def _open(thing: str) -> Option:
    return Option(
        "open",
        (thing,),
        WALK,
        lambda seen: bool(_shut(thing, seen)),
        lambda seen, began: _opened(thing, seen, began),
        partial(_shut, thing),
        "go there and open it; a locked one needs the key of its colour in your hands",
    )


def _option_name(thing: GridObject) -> str:
    """Return the name of an object in options; a door's name does not contain its state."""
    return f"{thing.said[1]} door" if thing.said[0] == "door" else thing.name


def _things(seen: GridView | None) -> Sequence[GridObject]:
    return () if seen is None else seen.things


def _places(name: str, seen: GridView | None) -> tuple[RelativePosition, ...]:
    """Return the positions of all visible objects with the name ``name``."""
    return tuple(
        RelativePosition(each.ahead, each.right) for each in _things(seen) if _option_name(each) == name
    )


def _is_ahead(name: str, seen: GridView | None) -> bool:
    return RelativePosition(1, 0) in _places(name, seen)


def _holds(seen: GridView | None) -> bool:
    return seen is not None and bool(seen.carried)


def _holds_nothing(seen: GridView | None, began: GridView | None) -> bool:
    return not _holds(seen)


def _shut(name: str, seen: GridView | None) -> tuple[RelativePosition, ...]:
    """Return the positions of the shut doors named ``name`` that the agent can open now."""
    key = seen is not None and seen.carried == name.replace("door", "key")
    can = ("closed", "locked") if key else ("closed",)
    return tuple(
        RelativePosition(each.ahead, each.right)
        for each in _things(seen)
        if each.said[0] == "door" and _option_name(each) == name and each.said[2] in can
    )


def _opened(name: str, seen: GridView | None, began: GridView | None) -> bool:
    """Return whether the option "open" has reached its end.

    A door named ``name`` must be open directly ahead. If one was already open there at the start, no shut
    door of that name that the agent can open may be in view.
    """
    open_ahead = _open_ahead(name, seen)
    return open_ahead and (not _open_ahead(name, began) or not _shut(name, seen))


def _open_ahead(name: str, seen: GridView | None) -> bool:
    return any(
        (each.ahead, each.right) == (1, 0) and each.said[0] == "door" and each.said[2] == "open"
        for each in _things(seen)
        if _option_name(each) == name
    )


def _sees_more(seen: GridView | None, began: GridView | None) -> bool:
    """Return whether the agent sees or carries an object for options that is new since the option began.

    A carried object that was put down is not new, nor is a door that was opened or shut.
    """
    return not _worthwhile(seen) <= _worthwhile(began)


def _worthwhile(seen: GridView | None) -> frozenset[str]:
    carried = [seen.carried] if seen is not None and seen.carried else []
    return frozenset([*carried, *(_option_name(each) for each in _things(seen) if each.said[0] in _KINDS)])


def _placeable(cls: type[Any], base: str) -> Iterator[str]:
    """Yield the names of the objects that a task can place, from the code of the classes below ``base``.

    If the code names no color, or chooses one at random, all colors are assumed.
    """
    words = set[str]()
    for each in cls.__mro__[: [c.__name__ for c in cls.__mro__].index(base)]:
        for member in vars(each).values():
            written = getattr(getattr(member, "__func__", member), "__code__", None)
            if isinstance(written, CodeType):
                words.update(_names_and_texts(written))
    colors = [color for color in COLORS if color in words]
    if not colors or words & _ANY_COLOR:
        colors = list(COLORS)
    kinds = [
        kind for kind, made_by in _KINDS.items() if made_by in words or (kind in words and kind != "goal")
    ]
    for kind in kinds:
        yield from [_GOAL] if kind == "goal" else [f"{color} {kind}" for color in colors]


def _names_and_texts(code: CodeType) -> Iterator[str]:
    """Yield the names and strings in the code of a function and of its nested functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from (each for each in constant if isinstance(each, str))  # pyright: ignore[reportUnknownVariableType]
        elif isinstance(constant, CodeType):
            yield from _names_and_texts(constant)
