"""From keys to a person's actions: what was pressed, for whom, and when it counts.

Knows nothing of windows: a window (or a keyboard of its own, through evdev) reports keys
by name, and learns which questions they answered. Keys are named as Qt writes them
(``Up``, ``W``, ``Space``), see :mod:`gym_gui.envs.keymaps`.

When a key counts

* While a question is open, a press answers it at once.
* In real time a key that is held answers every question as it is asked; of several, the
  one pressed last. While no key is held, no answer is given, and after the slot's deadline its
  fallback is played and recorded as such. Where no action does nothing, as in CartPole, the
  last action is repeated until another key is pressed (``goes_on``).
* Where an action has several components, all keys that are held count together; the mouse's movement since
  the last answer is added.
* In turn-based play every press is one move; a key that stays down does not move again.
* Where there are more actions than keys, a number is typed and Return pressed.
* A press shortly before a question (:data:`AHEAD_S`) counts for it, so that fast typing
  loses nothing while the environment steps; older ones are forgotten. In real time the key with
  which a person lets time begin counts for the first question, however long that takes to come.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any, Final, cast

from gym_gui.core.live import HumanQuestion
from gym_gui.envs.keymaps import Axis, KeyScheme

AHEAD_S: Final = 0.4
"""How long a press is remembered for a question that is still to come."""
_AHEAD_MOST: Final = 3
_DIGITS: Final = frozenset("0123456789")
_TYPING: Final = frozenset({"Return", "Enter", "Backspace"})
_TYPED_MOST: Final = 7
KEYBOARD: Final = ""
"""The device of keys that come through the window."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question got its answer.

    Attributes:
        question: Which one.
        action: Plain data of the action, in the slot's action space.
    """

    question: HumanQuestion
    action: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """A key or button meant an action that cannot be played now; the question stays open.

    Attributes:
        question: Which one.
        reason: Why, as a sentence without a full stop.
    """

    question: HumanQuestion
    reason: str


Reaction = Answered | Refused
"""The effect of a key, a button or a question."""


class HumanSeat:
    """One slot that a person plays.

    Args:
        slot: The slot.
        scheme: Its keys.
        realtime: Whether time runs (see the module); the scheme's own by default.
        device: The keyboard it listens to; :data:`KEYBOARD` for the window's.
        words: A word for each action number.
        repeat: Whether a key that is held answers every question in real time, or only one.
        goes_on: Whether in real time the last action goes on while no key is down; by default
            where the scheme is of real time and has no ``idle`` action.
        clock: Seconds, for tests.
    """

    def __init__(
        self,
        slot: str,
        scheme: KeyScheme,
        *,
        realtime: bool | None = None,
        device: str = KEYBOARD,
        words: Mapping[int, str] | None = None,
        repeat: bool = True,
        goes_on: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.slot, self.scheme, self.device = slot, scheme, device
        self.realtime = scheme.realtime if realtime is None else realtime
        self.words, self._repeat = dict(words or {}), repeat
        self._goes_on = goes_on
        if goes_on is None:
            self._goes_on = scheme.realtime and scheme.idle is None and bool(scheme.bindings)
        self.question: HumanQuestion | None = None
        self.typed = ""
        self._numbers: Numbers | None = None
        self._moved: dict[str, float] = {}  # pixels since the last answer
        self._tapped: dict[str, float] = {}  # keys of pushes that went down since then, and when
        self._last: Any = None
        self._begun = False  # asked anything in this episode
        self._held: dict[str, None] = {}  # in the order of pressing
        self._ahead: deque[tuple[float, Any]] = deque(maxlen=_AHEAD_MOST)
        self._clock = clock

    @property
    def held(self) -> tuple[str, ...]:
        """Keys that are down, the oldest first."""
        return tuple(self._held)

    def knows(self, key: str) -> bool:
        """Whether a key means anything here."""
        if self.scheme.typed and (key in _DIGITS or key in _TYPING):
            return True
        return any(key in split_chord(chord) for chord in self.scheme.bindings) or any(
            axis.key == key for axis in self._pushes
        )

    @property
    def _pushes(self) -> tuple[Axis, ...]:
        return (*self.scheme.axes, *self.scheme.pointer)

    def press(self, key: str) -> Reaction | None:
        """A key went down; one that is down already (auto-repeat) does nothing."""
        if key in self._held or not self.knows(key):
            return None
        if self.scheme.typed and (key in _DIGITS or key in _TYPING):
            return self._type(key)
        self._held[key] = None
        if self._pushes:
            self._tapped[key] = self._clock()
        action = self._meaning()
        if action is None:
            return None
        if self.question is not None:
            return self.choose(action)
        if self._pushes:
            return None
        self._ahead.append((self._clock(), action))
        return None

    def move(self, motion: str, pixels: float) -> Reaction | None:
        """The mouse moved; that answers in real time, and else goes with the next press."""
        if not self.knows(motion):
            return None
        self._moved[motion] = self._moved.get(motion, 0.0) + pixels
        if self.question is None or not self.realtime:
            return None
        action = self._meaning()
        return None if action is None else self.choose(action)

    def hold(self, key: str) -> None:
        """A key is down after all: what was taken for its release was an auto-repeat."""
        if self.knows(key) and not self.scheme.typed:
            self._held[key] = None

    def release(self, key: str) -> None:
        """A key went up."""
        self._held.pop(key, None)

    def release_all(self) -> None:
        """Nothing is held any more, as when the window loses the keyboard."""
        self._held.clear()
        self._moved.clear()
        self._tapped.clear()
        self._ahead.clear()
        self._last = None

    def offer(self, question: HumanQuestion) -> Reaction | None:
        """A question is asked; it is answered at once where a key says how."""
        self.question = question
        if self._pushes:
            self._numbers = Numbers.read(question.space)
        since = -inf if self.realtime and not self._begun else self._clock() - AHEAD_S
        self._begun = True
        while self._ahead:
            pressed, action = self._ahead.popleft()
            if pressed >= since and not self._trouble(action):
                return self.choose(action)
        self._tapped = {key: pressed for key, pressed in self._tapped.items() if pressed >= since}
        goes_on = self.realtime and ((self._repeat and self._held) or self._moved)
        if goes_on or self._tapped:
            action = self._meaning()
            if action is not None and not self._trouble(action):
                return self.choose(action)
        if self.realtime and self._goes_on and self._last is not None and not self._trouble(self._last):
            return self.choose(self._last)
        return None

    def withdraw(self) -> None:
        """Forget the question: the session no longer waits for its answer."""
        self.question = None

    def forget(self) -> None:
        """The episode is over: what was typed ahead does not count for the next."""
        self.question, self._begun = None, False
        self.typed, self._last = "", None
        self._moved.clear()
        self._tapped.clear()
        self._ahead.clear()

    def choose(self, action: Any) -> Reaction | None:
        """Answer the open question, by whatever means; ``None`` without one."""
        question = self.question
        if question is None:
            return None
        trouble = self._trouble(action)
        if trouble:
            return Refused(question, trouble)
        self.question = None
        self._last = action
        self._moved.clear()
        self._tapped.clear()
        return Answered(question, action)

    def _type(self, key: str) -> Reaction | None:
        """Digits make a number, Return plays it."""
        if key in _DIGITS:
            self.typed = (self.typed + key)[-_TYPED_MOST:]
        elif key == "Backspace":
            self.typed = self.typed[:-1]
        elif self.typed and self.question is not None:
            number, self.typed = int(self.typed), ""
            return self.choose(number)
        return None

    def _trouble(self, action: Any) -> str:
        """Why the action cannot be played now; empty when it can."""
        if self.question is None or not isinstance(action, int):
            return ""
        legal, space = self.question.legal, self.question.space
        if legal is None and space.get("kind") == "Discrete":
            first, n = int(space.get("start", 0)), int(space["n"])
            if not first <= action < first + n:
                return f"There is no action {action}: they are {first} to {first + n - 1}"
        if legal is None or action in legal:
            return ""
        word = self.words.get(action) or f"action {action}"
        return f"{word[:1].upper()}{word[1:]} is not possible now"

    def _meaning(self) -> Any | None:
        """What the keys that are down mean together; ``None`` for nothing."""
        if self._pushes:
            return self._pushed()
        best: tuple[int, int] | None = None
        action: int | None = None
        order = {key: place for place, key in enumerate(self._held)}
        for chord, number in self.scheme.bindings.items():
            parts = split_chord(chord)
            if all(part in order for part in parts):
                rank = (len(parts), max(order[part] for part in parts))
                if best is None or rank > best:
                    best, action = rank, number
        return action

    def _pushed(self) -> Any | None:
        """Sum of what keys and mouse push, component by component, within the bounds."""
        if self._numbers is None:
            return None
        amounts = {**self._moved, **dict.fromkeys((*self._held, *self._tapped), 1.0)}
        pushes = [axis for axis in self._pushes if amounts.get(axis.key)]
        if not pushes:
            return None
        values = [0.0] * self._numbers.size
        for axis in pushes:
            if axis.component < len(values):
                values[axis.component] += axis.value * amounts[axis.key]
        return self._numbers.action(values)


@dataclass(frozen=True, slots=True)
class Numbers:
    """An action of several numbers, laid out flat: a box, buttons, or a mapping or tuple of these.

    Attributes:
        parts: Each box with its name in a mapping, in the order of the space; one without a name is the
            whole action.
        named: Whether the action is a mapping of the parts.
        listed: Whether it is a list of them.
    """

    parts: tuple[tuple[Any, Box], ...]
    named: bool = False
    listed: bool = False

    @classmethod
    def read(cls, space: Mapping[str, Any]) -> Numbers | None:
        """From a question's ``space``; ``None`` where a part of it is neither a box nor buttons."""
        kind = space.get("kind")
        if kind not in ("Dict", "Tuple"):
            box = _box_of(space)
            return None if box is None else cls((("", box),))
        named = kind == "Dict"
        spaces: list[Any] = space["spaces"]
        children: list[tuple[Any, Any]] = [(k, c) for k, c in spaces] if named else list(enumerate(spaces))
        parts = [(key, box) for key, child in children if (box := _box_of(child)) is not None]
        return cls(tuple(parts), named, not named) if len(parts) == len(children) else None

    @property
    def size(self) -> int:
        """Number of components."""
        return sum(box.size for _, box in self.parts)

    def action(self, values: Sequence[float]) -> Any:
        """Plain data of the action nearest to ``values`` (flat) within the bounds."""
        read, found = iter(values), dict[Any, Any]()
        for name, box in self.parts:
            found[name] = box.action([next(read) for _ in range(box.size)])
        if self.named:
            return found
        return list(found.values()) if self.listed else found[""]


@dataclass(frozen=True, slots=True)
class Box:
    """Bounds of a continuous action, or of buttons, read from the JSON data of its space.

    Attributes:
        shape: Shape of the action.
        low: Least value of each component, flat.
        high: Greatest value of each.
        whole: Whether its components are whole numbers, as buttons are.
    """

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    whole: bool = False

    @classmethod
    def read(cls, space: Mapping[str, Any]) -> Box:
        """From a question's ``space``; the bounds in it are numbers, lists or ``"Infinity"``."""
        shape = tuple(int(n) for n in space["shape"])
        size = prod(shape)
        return cls(shape, _flat(space.get("low", -inf), size), _flat(space.get("high", inf), size))

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.low)

    def action(self, values: Sequence[float]) -> Any:
        """Plain data of the action nearest to ``values`` (flat) within the bounds."""
        near = [min(max(v, low), high) for v, low, high in zip(values, self.low, self.high, strict=True)]
        return _nested([round(v) for v in near] if self.whole else near, self.shape)


def _box_of(space: Mapping[str, Any]) -> Box | None:
    if space.get("kind") == "Box":
        return Box.read(space)
    if space.get("kind") != "MultiBinary":
        return None
    shape = tuple(int(n) for n in space["shape"])
    return Box(shape, (0.0,) * prod(shape), (1.0,) * prod(shape), whole=True)


def _flat(bound: Any, size: int) -> tuple[float, ...]:
    if isinstance(bound, Sequence) and not isinstance(bound, str):
        return tuple(value for part in cast("Sequence[Any]", bound) for value in _flat(part, 1))
    return (float(bound),) * size


def _nested(values: Sequence[float], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return list(values)
    width = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * width : (i + 1) * width], shape[1:]) for i in range(shape[0])]


class HumanSeats:
    """All slots that people play at one machine, and which of them a key is for.

    Args:
        seats: The slots; those of one keyboard may share keys where they take turns.
    """

    def __init__(self, seats: Iterable[HumanSeat] = ()) -> None:
        self._seats = {seat.slot: seat for seat in seats}

    def __iter__(self) -> Iterator[HumanSeat]:
        return iter(self._seats.values())

    def __contains__(self, slot: str) -> bool:
        return slot in self._seats

    def seat(self, slot: str) -> HumanSeat | None:
        """The seat of a slot, or ``None`` where no person plays it."""
        return self._seats.get(slot)

    def put(self, seat: HumanSeat) -> None:
        """Add a seat, or change a slot's."""
        before = self._seats.get(seat.slot)
        if before is not None and seat.question is None:
            seat.question = before.question
        self._seats[seat.slot] = seat

    def remove(self, slot: str) -> None:
        """No person plays the slot any more."""
        self._seats.pop(slot, None)

    def press(self, key: str, device: str = KEYBOARD) -> list[Reaction]:
        """A key went down on a keyboard.

        Where several seats know the key, it is for those that are asked; while none is, for none.
        """
        concerned = [seat for seat in self if seat.device == device and seat.knows(key)]
        if len(concerned) > 1:
            asked = [seat for seat in concerned if seat.question is not None]
            if not any(seat.realtime for seat in concerned):
                concerned = asked
        return [reaction for seat in concerned if (reaction := seat.press(key)) is not None]

    def move(self, motion: str, pixels: float) -> list[Reaction]:
        """The mouse moved; it belongs to the window's keyboard."""
        seats = [seat for seat in self if seat.device == KEYBOARD]
        return [reaction for seat in seats if (reaction := seat.move(motion, pixels)) is not None]

    def hold(self, key: str, device: str = KEYBOARD) -> None:
        """See :meth:`HumanSeat.hold`."""
        for seat in self:
            if seat.device == device:
                seat.hold(key)

    def release(self, key: str, device: str = KEYBOARD) -> None:
        """A key went up."""
        for seat in self:
            if seat.device == device:
                seat.release(key)

    def release_all(self, device: str | None = None) -> None:
        """All keys of a keyboard, or of all, are up."""
        for seat in self:
            if device is None or seat.device == device:
                seat.release_all()

    def offer(self, question: HumanQuestion) -> Reaction | None:
        """A question is asked of a slot; see :meth:`HumanSeat.offer`."""
        seat = self._seats.get(question.slot)
        return seat.offer(question) if seat is not None else None

    def withdraw(self, question_id: int) -> None:
        """Forget a question: the session no longer waits for its answer."""
        for seat in self:
            if seat.question is not None and seat.question.id == question_id:
                seat.withdraw()

    def forget(self) -> None:
        """The episode is over."""
        for seat in self:
            seat.forget()

    def choose(self, slot: str, action: Any) -> Reaction | None:
        """A button or the mouse chose a slot's action."""
        seat = self._seats.get(slot)
        return seat.choose(action) if seat is not None else None

    @property
    def questions(self) -> tuple[HumanQuestion, ...]:
        """What people are being asked now."""
        return tuple(seat.question for seat in self if seat.question is not None)


def split_chord(chord: str) -> tuple[str, ...]:
    """``"Up+Right"`` is ``("Up", "Right")``; ``"+"`` is a key of its own."""
    return tuple(part for part in chord.split("+") if part) or (chord,)
