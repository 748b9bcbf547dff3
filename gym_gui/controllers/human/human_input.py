"""Converts key presses and mouse movements of people into actions of their slots.

This module does not depend on windows. A window (or a separate keyboard, through evdev) reports keys by name
and receives the answers. Keys are named as in Qt (``Up``, ``W``, ``Space``), see :mod:`gym_gui.envs.keymaps`.

When a key counts

* While a question is open, a press answers the question at once.
* In real time, a held key answers every new question. Of several held keys, the one pressed last counts.
  While no key is held, no answer is given: after the slot's deadline, its fallback is played and recorded as
  such. If the environment has no no-op, as in CartPole, the last action is repeated until another key is
  pressed (``goes_on``).
* If an action has several components, all held keys count together, and the mouse's movement since the last
  answer is added.
* In turn-based play, every press is one move. A key that stays down makes no further move.
* If there are more actions than keys, the person types a number and presses Return.
* A press shortly before a question (:data:`AHEAD_S`) counts for that question, so that fast typing loses
  nothing while the environment steps. Older presses are dropped. In real time, the key with which a person
  starts the game counts for the first question, however late the question arrives.
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
"""Seconds before a question within which an early key press still answers it."""
_AHEAD_MOST: Final = 3
_DIGITS: Final = frozenset("0123456789")
_TYPING: Final = frozenset({"Return", "Enter", "Backspace"})
_TYPED_MOST: Final = 7
KEYBOARD: Final = ""
"""Device name of the window's own keyboard."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """Result of a key press or a new question: the person's open question has been answered.

    Attributes:
        question: The question.
        action: The action as plain data, in the slot's action space.
    """

    question: HumanQuestion
    action: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """Result of a key or button whose action cannot be played now; the question stays open.

    Attributes:
        question: The question.
        reason: Why the action cannot be played, as a sentence without a full stop.
    """

    question: HumanQuestion
    reason: str


Reaction = AnsweredQuestion | Refused
"""Result of a person's key or button press, or of a new question."""


class HumanSeat:
    """Input state of one slot that a person plays: its keys, held keys and open question.

    Args:
        slot: The slot.
        scheme: The slot's keys.
        realtime: Whether the game runs in real time; by default the scheme's value.
        device: Keyboard for the slot; :data:`KEYBOARD` for the window's.
        words: Name of each action, by number.
        repeat: Whether a held key answers every question in real time, or only one.
        goes_on: Whether in real time the last action is repeated while no key is down. By default this
            is true if the scheme has keys, is for real time and has no ``idle`` action.
        clock: Returns the time in seconds; replaced in tests.
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
        self._numbers: NumberLayout | None = None
        self._moved: dict[str, float] = {}  # pixels since the last answer
        self._tapped: dict[str, float] = {}  # keys pressed since the last answer, and when
        self._last: Any = None
        self._asked_before = False  # whether anything was asked in this episode
        self._held: dict[str, None] = {}  # in the order of pressing
        self._ahead: deque[tuple[float, Any]] = deque(maxlen=_AHEAD_MOST)
        self._clock = clock

    @property
    def keys_down(self) -> tuple[str, ...]:
        """Keys that are down, the oldest first."""
        return tuple(self._held)

    def is_bound(self, key: str) -> bool:
        """Return whether a key or mouse movement is bound to an action of this slot."""
        if self.scheme.typed and (key in _DIGITS or key in _TYPING):
            return True
        return any(key in split_chord(chord) for chord in self.scheme.bindings) or any(
            axis.key == key for axis in self._pushes
        )

    @property
    def _pushes(self) -> tuple[Axis, ...]:
        return (*self.scheme.axes, *self.scheme.pointer)

    def press(self, key: str) -> Reaction | None:
        """Handle a key that went down; ignore the auto-repeat of a key that is already down."""
        if key in self._held or not self.is_bound(key):
            return None
        if self.scheme.typed and (key in _DIGITS or key in _TYPING):
            return self._type(key)
        self._held[key] = None
        if self._pushes:
            self._tapped[key] = self._clock()
        action = self._meant_action()
        if action is None:
            return None
        if self.question is not None:
            return self.choose(action)
        if self._pushes:
            return None
        self._ahead.append((self._clock(), action))
        return None

    def move(self, motion: str, pixels: float) -> Reaction | None:
        """Handle a movement of the mouse.

        In real time, the movement answers the open question. Otherwise it is added to the next key press.
        """
        if not self.is_bound(motion):
            return None
        self._moved[motion] = self._moved.get(motion, 0.0) + pixels
        if self.question is None or not self.realtime:
            return None
        action = self._meant_action()
        return None if action is None else self.choose(action)

    def mark_down_again(self, key: str) -> None:
        """Mark a key as down again after a release that only belonged to the keyboard's auto-repeat."""
        if self.is_bound(key) and not self.scheme.typed:
            self._held[key] = None

    def release(self, key: str) -> None:
        """Handle a key that went up."""
        self._held.pop(key, None)

    def release_all(self) -> None:
        """Mark all keys as up, for example because the window lost the keyboard focus."""
        self._held.clear()
        self._moved.clear()
        self._tapped.clear()
        self._ahead.clear()
        self._last = None

    def offer(self, question: HumanQuestion) -> Reaction | None:
        """Store a new question.

        Answer the question at once if a recent press, a held key or the mouse gives an action.
        """
        self.question = question
        if self._pushes:
            self._numbers = NumberLayout.read(question.space)
        since = -inf if self.realtime and not self._asked_before else self._clock() - AHEAD_S
        self._asked_before = True
        while self._ahead:
            pressed, action = self._ahead.popleft()
            if pressed >= since and not self._refusal(action):
                return self.choose(action)
        self._tapped = {key: pressed for key, pressed in self._tapped.items() if pressed >= since}
        goes_on = self.realtime and ((self._repeat and self._held) or self._moved)
        if goes_on or self._tapped:
            action = self._meant_action()
            if action is not None and not self._refusal(action):
                return self.choose(action)
        if self.realtime and self._goes_on and self._last is not None and not self._refusal(self._last):
            return self.choose(self._last)
        return None

    def withdraw(self) -> None:
        """Drop the open question, whose answer the session no longer needs."""
        self.question = None

    def forget(self) -> None:
        """Discard the question and all pressed and typed keys, because the episode is over."""
        self.question, self._asked_before = None, False
        self.typed, self._last = "", None
        self._moved.clear()
        self._tapped.clear()
        self._ahead.clear()

    def choose(self, action: Any) -> Reaction | None:
        """Answer the open question with an action; return ``None`` if no question is open."""
        question = self.question
        if question is None:
            return None
        trouble = self._refusal(action)
        if trouble:
            return Refused(question, trouble)
        self.question = None
        self._last = action
        self._moved.clear()
        self._tapped.clear()
        return AnsweredQuestion(question, action)

    def _type(self, key: str) -> Reaction | None:
        """Handle a key of a typed number: digits form the number, Return plays it."""
        if key in _DIGITS:
            self.typed = (self.typed + key)[-_TYPED_MOST:]
        elif key == "Backspace":
            self.typed = self.typed[:-1]
        elif self.typed and self.question is not None:
            number, self.typed = int(self.typed), ""
            return self.choose(number)
        return None

    def _refusal(self, action: Any) -> str:
        """Return the reason why the action cannot be played now; ``""`` if it can."""
        if self.question is None or not isinstance(action, int):
            return ""
        legal, space = self.question.legal, self.question.space
        if legal is None and space.get("kind") == "Discrete":
            first, n = int(space.get("start", 0)), int(space["n"])
            if not first <= action < first + n:
                return f"There is no action {action}: type a number from {first} to {first + n - 1}"
        if legal is None or action in legal:
            return ""
        word = self.words.get(action) or f"action {action}"
        return f"{word[:1].upper()}{word[1:]} is not possible now"

    def _meant_action(self) -> Any | None:
        """Return the action that the held keys mean together; ``None`` if they mean no action."""
        if self._pushes:
            return self._summed_action()
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

    def _summed_action(self) -> Any | None:
        """Return the sum of held keys and mouse movement, within the bounds; ``None`` without input."""
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
class NumberLayout:
    """Layout of an action of several numbers: a box, buttons (MultiBinary), or a mapping or tuple of both.

    Attributes:
        parts: Name and box of each part, in the order of the space. A box that is the whole action has the
            name ``""``.
        named: Whether the action is a mapping of the parts.
        listed: Whether the action is a list of the parts.
    """

    parts: tuple[tuple[Any, ActionBounds], ...]
    named: bool = False
    listed: bool = False

    @classmethod
    def read(cls, space: Mapping[str, Any]) -> NumberLayout | None:
        """Return the layout of a JSON action space; ``None`` if a part is neither a box nor buttons."""
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
        """Number of components of all parts."""
        return sum(box.size for _, box in self.parts)

    def action(self, values: Sequence[float]) -> Any:
        """Return the flat list ``values``, clipped to the bounds, as an action in plain data."""
        read, found = iter(values), dict[Any, Any]()
        for name, box in self.parts:
            found[name] = box.action([next(read) for _ in range(box.size)])
        if self.named:
            return found
        return list(found.values()) if self.listed else found[""]


@dataclass(frozen=True, slots=True)
class ActionBounds:
    """Bounds of a continuous action, or of buttons, read from the JSON data of its space.

    Attributes:
        shape: Shape of the action.
        low: Smallest value of each component, flat.
        high: Largest value of each component, flat.
        whole: Whether the components are whole numbers, as for buttons.
    """

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    whole: bool = False

    @classmethod
    def read(cls, space: Mapping[str, Any]) -> ActionBounds:
        """Return the box of a JSON action space, whose bounds are numbers, lists or ``"Infinity"``."""
        shape = tuple(int(n) for n in space["shape"])
        size = prod(shape)
        return cls(shape, _flat(space.get("low", -inf), size), _flat(space.get("high", inf), size))

    @property
    def size(self) -> int:
        """Number of components of the action."""
        return len(self.low)

    def action(self, values: Sequence[float]) -> Any:
        """Return the flat list ``values``, clipped to the bounds, as an action in plain data."""
        near = [min(max(v, low), high) for v, low, high in zip(values, self.low, self.high, strict=True)]
        return _nested([round(v) for v in near] if self.whole else near, self.shape)


def _box_of(space: Mapping[str, Any]) -> ActionBounds | None:
    if space.get("kind") == "Box":
        return ActionBounds.read(space)
    if space.get("kind") != "MultiBinary":
        return None
    shape = tuple(int(n) for n in space["shape"])
    return ActionBounds(shape, (0.0,) * prod(shape), (1.0,) * prod(shape), whole=True)


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
    """Input state of all slots that people play on one machine, which passes each key to its slots.

    Args:
        seats: Input state of each slot. Slots on one keyboard may share keys if they take turns.
    """

    def __init__(self, seats: Iterable[HumanSeat] = ()) -> None:
        self._seats = {seat.slot: seat for seat in seats}

    def __iter__(self) -> Iterator[HumanSeat]:
        return iter(self._seats.values())

    def __contains__(self, slot: str) -> bool:
        return slot in self._seats

    def seat(self, slot: str) -> HumanSeat | None:
        """Return the input state of a slot; ``None`` if no person plays the slot."""
        return self._seats.get(slot)

    def put(self, seat: HumanSeat) -> None:
        """Add or replace the input state of a slot; the slot's open question is kept."""
        before = self._seats.get(seat.slot)
        if before is not None and seat.question is None:
            seat.question = before.question
        self._seats[seat.slot] = seat

    def remove(self, slot: str) -> None:
        """Remove the input state of a slot that no person plays any more."""
        self._seats.pop(slot, None)

    def press(self, key: str, device: str = KEYBOARD) -> list[Reaction]:
        """Handle a key that went down on a keyboard.

        If several turn-based slots use the key, it counts only for the slots that have an open question.
        """
        concerned = [seat for seat in self if seat.device == device and seat.is_bound(key)]
        if len(concerned) > 1:
            asked = [seat for seat in concerned if seat.question is not None]
            if not any(seat.realtime for seat in concerned):
                concerned = asked
        return [reaction for seat in concerned if (reaction := seat.press(key)) is not None]

    def move(self, motion: str, pixels: float) -> list[Reaction]:
        """Handle a movement of the mouse for all slots on the window's keyboard."""
        seats = [seat for seat in self if seat.device == KEYBOARD]
        return [reaction for seat in seats if (reaction := seat.move(motion, pixels)) is not None]

    def mark_down_again(self, key: str, device: str = KEYBOARD) -> None:
        """Mark a key as down again; see :meth:`HumanSeat.mark_down_again`."""
        for seat in self:
            if seat.device == device:
                seat.mark_down_again(key)

    def release(self, key: str, device: str = KEYBOARD) -> None:
        """Handle a key that went up."""
        for seat in self:
            if seat.device == device:
                seat.release(key)

    def release_all(self, device: str | None = None) -> None:
        """Mark all keys of a keyboard, or of all keyboards, as up."""
        for seat in self:
            if device is None or seat.device == device:
                seat.release_all()

    def offer(self, question: HumanQuestion) -> Reaction | None:
        """Pass a question to the input state of its slot; see :meth:`HumanSeat.offer`."""
        seat = self._seats.get(question.slot)
        return seat.offer(question) if seat is not None else None

    def withdraw(self, question_id: int) -> None:
        """Drop the open question with this id, whose answer the session no longer needs."""
        for seat in self:
            if seat.question is not None and seat.question.id == question_id:
                seat.withdraw()

    def forget(self) -> None:
        """Discard questions and keys of all slots, because the episode is over."""
        for seat in self:
            seat.forget()

    def choose(self, slot: str, action: Any) -> Reaction | None:
        """Answer a slot's question with an action chosen by a button or the mouse."""
        seat = self._seats.get(slot)
        return seat.choose(action) if seat is not None else None

    @property
    def questions(self) -> tuple[HumanQuestion, ...]:
        """Questions that people have not answered yet."""
        return tuple(seat.question for seat in self if seat.question is not None)


def split_chord(chord: str) -> tuple[str, ...]:
    """Return the keys of a chord: ``"Up+Right"`` gives ``("Up", "Right")``; ``"+"`` is a key of its own."""
    return tuple(part for part in chord.split("+") if part) or (chord,)
