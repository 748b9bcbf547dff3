"""BabaIsAI with Gymnasium's interface, reproducible by seed, with observations as text.

https://github.com/nacloos/baba-is-ai creates levels with NumPy's global random generator. This module seeds
the generator while a level is created and restores it afterward.
"""

# Values returned by the package are untyped.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from mosaic_env_server.shims.global_random import GlobalRandom

_BRIEFING = (
    "The rules of this world are made of words that lie in it. Three words in a row, to the right or "
    "downwards, such as door is win, are a rule while they stand like that; a colour before them makes it "
    "one for things of that colour. Who steps against a word pushes it, so that rules can be broken and "
    "made. You are whatever is you; you have won when you step onto something that is win."
)
_SIDES = (("left", "right"), ("up", "down"))


class LevelObject(NamedTuple):
    """An object on the field of a level.

    Attributes:
        name: Kind of the object, for example ``door``, or the text of a word.
        colour: Color of the object; ``""`` for words.
        word: Whether the object is a word of a rule.
        column: Column from the left.
        row: Row from the top.
    """

    name: str
    color: str
    word: bool
    column: int
    row: int


class BabaIsAI:
    """One level of BabaIsAI.

    Args:
        level: Name of the level in BabaIsAI, without ``env/``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        options: Arguments of the level's class: ``max_steps``, ``color_in_rule``, …
    """

    def __init__(self, level: str, render_mode: Optional[str] = None, **options: Any) -> None:
        self.render_mode = render_mode
        self._level, self._options = level, options
        self._env = self._make()
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "action_meanings": ["noop", "up", "right", "down", "left"],
        }
        self._won = False

    def _make(self) -> Any:
        import baba

        return baba.make(f"env/{self._level}", **self._options)

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin a level; without a seed, a random one."""
        self._won = False
        with GlobalRandom(seed).in_force():
            # A new instance, because a level remembers the positions of the rules of earlier episodes.
            self._env = self._make()
            return self._env.reset(), {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Make one move; a level that takes too many steps is truncated."""
        env = self._env
        env.is_win = env.is_lose = False
        seen, reward, over, info = env.step(int(action))
        self._won, decided = bool(env.is_win), bool(env.is_win or env.is_lose)
        return seen, float(reward), decided, bool(over) and not decided, dict(info)

    def render(self) -> Any:
        """Return an image of the field."""
        return None if self._env.grid is None else self._env.render(mode="rgb_array")

    def close(self) -> None:
        """Do nothing; the environment holds no resources."""

    # -- in words

    def mosaic_success(self) -> bool:
        """Return whether the level was won."""
        return self._won

    def mosaic_briefing(self, agent: str) -> str:
        """Return a description of the game."""
        return _BRIEFING

    def mosaic_text(self, agent: str) -> str:
        """Return the active rules, and the objects with their positions relative to the player, as text."""
        here, things = self._here(), self._things()
        places: Dict[str, List[str]] = {}
        for thing in things:
            if (thing.column, thing.row) != here or thing.word:
                places.setdefault(_called(thing), []).append(_where(thing, here))
        lines = [f"Rules that hold: {', '.join(self._rules()) or 'none'}."]
        lines.append(f"You are {self._self() or 'nothing: no rule says what is you'}.")
        lines += [f"{name}: {'; '.join(found)}." for name, found in places.items()]
        free = self._room(here)
        lines.append(f"To the border there are {free}.")
        return "\n".join(lines)

    def mosaic_facts(self, agent: str) -> List[List[Any]]:
        """Return rules, words and objects as facts; positions are columns and rows from the player."""
        column, row = self._here()
        facts: List[List[Any]] = [["rule", *rule.split(" is ")] for rule in self._rules()]
        for thing in self._things():
            away = thing.column - column, thing.row - row
            what = ["word", thing.name] if thing.word else ["thing", thing.name, thing.color]
            facts.append([*what, *away])
        return facts

    def _here(self) -> Tuple[int, int]:
        column, row = self._env.agent_pos
        return int(column), int(row)

    def _room(self, here: Tuple[int, int]) -> str:
        column, row = here
        sizes = column - 1, self._env.width - 2 - column, row - 1, self._env.height - 2 - row
        names = (*_SIDES[0], *_SIDES[1])
        return ", ".join(f"{size} {name}" for size, name in zip(sizes, names))

    def _self(self) -> str:
        cell = self._env.grid.get(*self._here())
        named = cell is not None and cell.is_agent()
        return f"the {_called(_thing(cell, *self._here()))}" if named else ""

    def _rules(self) -> List[str]:
        from baba.world_object import name_mapping as names

        found: List[str] = []
        for rule in self._env.get_ruleset().get("_rule_", []):
            if "property" in rule:
                color = f"{rule['obj_color']} " if "obj_color" in rule else ""
                found.append(f"{color}{names[rule['object']]} is {names[rule['property']]}")
            else:
                found.append(f"{names[rule['object1']]} is {names[rule['object2']]}")
        return sorted(set(found))

    def _things(self) -> List[LevelObject]:
        """Return all objects except the border, words first."""
        env = self._env
        found: List[LevelObject] = []
        for row in range(1, env.height - 1):
            for column in range(1, env.width - 1):
                cells = [cell for cell in env.grid.get(column, row, z="all") if cell is not None]
                found += [_thing(cell, column, row) for cell in cells]
        return sorted(found, key=lambda thing: (not thing.word, thing.name, thing.color))


def _thing(cell: Any, column: int, row: int) -> LevelObject:
    word = cell.type.startswith("rule")
    # An object that cannot be moved and that no rule mentions has only a type.
    name = getattr(cell, "name", "block")
    return LevelObject(str(name), "" if word else str(cell.color), word, column, row)


def _called(thing: LevelObject) -> str:
    return f'word "{thing.name}"' if thing.word else f"{thing.color} {thing.name}"


def _where(thing: LevelObject, here: Tuple[int, int]) -> str:
    parts: List[str] = []
    for away, (less, more) in zip((thing.column - here[0], thing.row - here[1]), _SIDES):
        if away:
            parts.append(f"{abs(away)} {more if away > 0 else less}")
    return " ".join(parts) or "here"
