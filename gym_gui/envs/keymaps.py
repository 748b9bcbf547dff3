"""Default keys for the actions of every environment.

Keys are named as Qt writes them in portable text (``Up``, ``W``, ``Space``, ``Shift``); several keys joined
by ``+`` are held together. The first person at a keyboard uses the arrow keys, the second uses W A S D; their
further keys differ, too.

The name of an action determines its key: ``left`` is the left arrow in every environment, ``UPRIGHT`` is both
arrows, ``pickup`` is Space. Actions without a name have number keys: ``1``, ``2``, ….
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, isfinite
from typing import Any, NamedTuple

import numpy as np

MOTIONS = ("MouseX", "MouseY")
"""Names of mouse motion to the right and down, which replace the name of a key."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Effect of one key on one component of an action with several numbers or buttons.

    Attributes:
        key: Name of the key, or of a mouse motion.
        component: Index of the component, in the flattened order of the action space.
        value: Value of the component while the key is held, or per pixel of mouse motion; the values of
            several keys for one component add up.
        word: Name of the effect.
    """

    key: str
    component: int
    value: float
    word: str = ""


class Pace(NamedTuple):
    """Speed at which a person plays an environment, and whether the game waits for the person.

    Attributes:
        realtime: Whether time runs without waiting for the person; grids and boards wait.
        rate: Suitable steps per second; in turn-based play, the speed of the other players.
    """

    realtime: bool = False
    rate: float = 5.0


@dataclass(frozen=True, slots=True)
class KeyScheme:
    """Keys with which one person plays a slot.

    Attributes:
        bindings: Action number by key.
        axes: Pushes of an action with several components. A component without a pressed key is 0, or the
            nearest value in the space.
        pointer: Pushes by the mouse: its buttons (``MouseLeft``, ``MouseMiddle``, ``MouseRight``) and its
            motion (:data:`MOTIONS`), while the picture has grabbed the mouse.
        realtime: See :class:`Pace`.
        rate: See :class:`Pace`.
        idle: Action while no key is held in real time. If it is ``None``, the last action is repeated, and
            time waits for the first key.
        mouse: Whether moves are made on a drawn board.
        typed: Whether there are more actions than keys, so that a number is typed and confirmed with Return.
    """

    bindings: Mapping[str, int] = field(default_factory=dict[str, int])
    axes: tuple[Axis, ...] = ()
    pointer: tuple[Axis, ...] = ()
    realtime: bool = False
    rate: float = 5.0
    idle: int | None = None
    mouse: bool = False
    typed: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KeyScheme:
        """Return a scheme from its JSON data."""
        pushes = {name: tuple(Axis(**axis) for axis in data.get(name, ())) for name in ("axes", "pointer")}
        fields: dict[str, Any] = {**data, **pushes}
        return cls(**fields)

    @property
    def playable(self) -> bool:
        """Whether a person can play with these keys; false for spaces that no keys can express."""
        return bool(self.bindings or self.axes or self.mouse or self.typed)


class Layout(NamedTuple):
    """Keys in one person's half of the keyboard.

    Attributes:
        roles: Key by role.
        pairs: Pairs of keys for the components of a continuous action: decrease, increase.
        few: Keys for up to ten actions without words.
        many: Keys for more than ten actions.
        square: Keys arranged like the squares of a 3 x 3 board, row by row.
    """

    roles: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...]
    few: str
    many: str
    square: str


LAYOUTS: tuple[Layout, Layout] = (
    Layout(
        roles={
            "up": "Up",
            "down": "Down",
            "left": "Left",
            "right": "Right",
            "act": "Space",
            "alter": "Shift",
            "put": "M",
            "end": "B",
            "wait": "N",
        },
        pairs=(("Left", "Right"), ("Down", "Up"), ("J", "L"), ("K", "I"), ("N", "M"), ("U", "O")),
        few="1234567890",
        many="1234567890YUIOPHJKLNM",
        square="123456789",
    ),
    Layout(
        roles={
            "up": "W",
            "down": "S",
            "left": "A",
            "right": "D",
            "act": "E",
            "alter": "F",
            "put": "R",
            "end": "T",
            "wait": "Q",
        },
        pairs=(("A", "D"), ("S", "W"), ("F", "H"), ("G", "T"), ("Z", "X"), ("Q", "E")),
        few="QWERTYUIOP",
        many="QWERTASDFGZXCVB",
        square="QWEASDZXC",
    ),
)
_ROLES: Mapping[str, tuple[str, ...]] = {
    "left": ("left",),
    "west": ("left",),
    "turn left": ("left",),
    "left engine": ("left",),
    "torque -1": ("left",),
    "right": ("right",),
    "east": ("right",),
    "turn right": ("right",),
    "right engine": ("right",),
    "torque +1": ("right",),
    "up": ("up",),
    "north": ("up",),
    "forward": ("up",),
    "gas": ("up",),
    "main engine": ("up",),
    "down": ("down",),
    "south": ("down",),
    "backward": ("down",),
    "brake": ("down",),
    "fire": ("act",),
    "attack": ("act",),
    "pickup": ("act",),
    "hit": ("act",),
    "toggle": ("alter",),
    "stick": ("alter",),
    "stand": ("alter",),
    "drop": ("down", "put"),
    "dropoff": ("alter", "put"),
    "done": ("end",),
    "noop": ("wait",),
    "stay": ("wait",),
}
"""Roles for the name of an action, the best first; an action gets the first role that is free."""
_PARTS = re.compile(r"UP|DOWN|LEFT|RIGHT|FIRE")
_JOINED = re.compile(r"(?:UP|DOWN)?(?:LEFT|RIGHT)?(?:FIRE)?")


def of_space(
    space: Any,
    player: int,
    pace: Pace = Pace(),  # noqa: B008  # immutable
    *,
    words: Sequence[str] = (),
    idle: Any = None,
    mouse: bool = False,
    components: Sequence[str] = (),
) -> KeyScheme:
    """Return keys for the actions of a space, by their names or else by their numbers.

    Args:
        space: Gymnasium action space.
        player: 0 for the first person at the keyboard, 1 for the second.
        pace: Pace of the environment.
        words: Words for discrete actions; empty if the actions have none.
        idle: The discrete action that does nothing; ``None`` if there is none.
        mouse: Whether moves are made on a drawn board.
        components: Names of the components of a continuous action; empty if unknown.
    """
    n: int | None = getattr(space, "n", None)
    if isinstance(n, (int, np.integer)) and not getattr(space, "shape", ()):
        first = int(getattr(space, "start", 0))
        return of_actions(
            words or ("",) * int(n),
            player,
            pace,
            first=first,
            idle=int(idle) if idle is not None else None,
            mouse=mouse,
        )
    if hasattr(space, "low") and np.issubdtype(space.dtype, np.floating):
        low: list[float] = np.ravel(space.low).tolist()
        high: list[float] = np.ravel(space.high).tolist()
        return of_components(low, high, player, pace, names=components)
    return KeyScheme(realtime=pace.realtime, rate=pace.rate)


def of_actions(
    words: Sequence[str],
    player: int,
    pace: Pace = Pace(),  # noqa: B008  # immutable
    *,
    first: int = 0,
    idle: int | None = None,
    mouse: bool = False,
) -> KeyScheme:
    """Return keys for numbered actions.

    Args:
        words: A word for each action; ``""`` for an action without a word.
        player: 0 for the first person at the keyboard, 1 for the second.
        pace: Pace of the environment.
        first: Number of the first action.
        idle: As in :class:`KeyScheme`; used only in real time.
        mouse: As in :class:`KeyScheme`.
    """
    layout = LAYOUTS[player]
    # The names of options have arguments; an option "drop" must not take the key of the action "drop".
    options = any(word.endswith(")") for word in words)
    found = {} if options else _by_words(words, layout)
    rest = [number for number in range(len(words)) if number not in found.values()]
    pool = layout.few if len(rest) <= len(layout.few) else layout.many
    free = [key for key in pool if key not in _single_keys(found)]
    typed = len(rest) > len(free)
    if typed:  # type all numbers: a mix of keys and numbers would be confusing
        found, rest = {}, []
    keys = {**found, **dict(zip(free, rest, strict=False))}
    return KeyScheme(
        {key: first + number for key, number in sorted(keys.items(), key=lambda item: item[1])},
        realtime=pace.realtime,
        rate=pace.rate,
        idle=idle if pace.realtime else None,
        mouse=mouse,
        typed=typed and not mouse,
    )


def _single_keys(chords: Iterable[str]) -> set[str]:
    return {key for chord in chords for key in chord.split("+")}


def _by_words(words: Sequence[str], layout: Layout) -> dict[str, int]:
    """Return keys for the actions whose name has a role; each key is used once."""
    found: dict[str, int] = {}
    waiting: list[tuple[int, tuple[str, ...]]] = []
    for number, word in enumerate(words):
        if word.isupper() and word != "NOOP" and _JOINED.fullmatch(word):
            roles = [part.lower().replace("fire", "act") for part in _PARTS.findall(word)]
            found.setdefault("+".join(layout.roles[role] for role in roles), number)
        elif len(roles := _ROLES.get(word.lower(), ())) == 1:
            found.setdefault(layout.roles[roles[0]], number)
        elif roles:
            waiting.append((number, roles))
    for number, roles in waiting:  # words with several possible roles take a free one
        key = next((layout.roles[role] for role in roles if layout.roles[role] not in found), None)
        if key is not None:
            found[key] = number
    return found


def of_components(
    low: Sequence[float],
    high: Sequence[float],
    player: int,
    pace: Pace = Pace(),  # noqa: B008  # immutable
    *,
    names: Sequence[str] = (),
) -> KeyScheme:
    """Return keys for a continuous action: a pair of keys for each of its first components.

    Args:
        low: Smallest value of each component.
        high: Largest value of each component.
        player: 0 for the first person at the keyboard, 1 for the second.
        pace: Pace of the environment.
        names: Names of the components.
    """
    axes: list[Axis] = []
    for component, (pair, least, most) in enumerate(zip(LAYOUTS[player].pairs, low, high, strict=False)):
        name = names[component] if component < len(names) else f"value {component + 1}"
        for key, bound, sign in ((pair[0], least, "-"), (pair[1], most, "+")):
            value = bound if isfinite(bound) else copysign(1.0, bound)
            if value and (value < 0) == (sign == "-"):
                axes.append(Axis(key, component, value, f"{name} {sign}"))
    return KeyScheme(axes=tuple(axes), realtime=pace.realtime, rate=pace.rate)


def of_pushes(
    pushes: Iterable[tuple[str, int, float, str]],
    player: int,
    pace: Pace = Pace(),  # noqa: B008
) -> KeyScheme:
    """Return keys for a continuous action, given as (role, component, value, name of the effect)."""
    roles = LAYOUTS[player].roles
    axes = tuple(Axis(roles[role], component, value, word) for role, component, value, word in pushes)
    return KeyScheme(axes=axes, realtime=pace.realtime, rate=pace.rate)
