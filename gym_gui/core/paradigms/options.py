"""What a manager can ask of a controller.

Options in the sense of Sutton, Precup, Singh, "Between MDPs and semi-MDPs" (1999): an
option may start in some observations, runs until its own end condition holds or its
budget of moves is spent. The manager earns the sum of the option's rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gym_gui.core.errors import EnvironmentFailure, UsageError


def _anywhere(seen: Any) -> bool:
    return True


def _never(seen: Any, began: Any) -> bool:
    return False


def _nowhere(seen: Any) -> tuple[Place, ...]:
    return ()


def _as_it_is(observation: Any) -> Any:
    return observation


class Place(NamedTuple):
    """Where something is from an agent, in cells.

    Attributes:
        ahead: Cells in front of it; negative behind it.
        right: Cells to its right; negative to its left.
    """

    ahead: int
    right: int


@dataclass(frozen=True)
class Option:
    """A skill with the values of its parameters: something a manager can ask of a controller.

    Its conditions are functions of what the agent sees, so that episodes never mix. They take what
    :attr:`OptionLibrary.read` makes of an observation; the observation itself where there is no library.

    Attributes:
        skill: What is to be done, a word or two for people and language models: ``"go to"``.
        arguments: The values of its parameters: ``("yellow key",)``.
        budget: Moves of the controller after which the manager is asked again.
        can_start: ``can_start(seen)``: whether the manager may choose it now.
        is_over: ``is_over(seen, began)``: whether it has reached its end, given what was seen when it
            began; asked after each move.
        places: ``places(seen)``: where that is which it is about, for who points at a picture.
        meaning: What the skill does, in a few words without a full stop.
    """

    skill: str
    arguments: tuple[str, ...] = ()
    budget: int = 20
    can_start: Callable[[Any], bool] = _anywhere
    is_over: Callable[[Any, Any], bool] = _never
    places: Callable[[Any], Sequence[Place]] = _nowhere
    meaning: str = ""

    @property
    def name(self) -> str:
        """The skill with its arguments: ``"go to(yellow key)"``, ``"explore"``."""
        return f"{self.skill}({', '.join(self.arguments)})" if self.arguments else self.skill

    def starts(self, seen: Any) -> bool:
        """As :attr:`can_start`.

        Raises:
            EnvironmentFailure: It cannot say.
        """
        try:
            return bool(self.can_start(seen))
        except Exception as exc:  # the border to the library of a family
            raise EnvironmentFailure(f"the library cannot say whether {self.name} can start: {exc}") from exc

    def ends(self, seen: Any, began: Any) -> bool:
        """As :attr:`is_over`.

        Raises:
            EnvironmentFailure: It cannot say.
        """
        try:
            return bool(self.is_over(seen, began))
        except Exception as exc:  # the border to the library of a family
            raise EnvironmentFailure(f"the library cannot say whether {self.name} is over: {exc}") from exc


@dataclass(frozen=True)
class OptionLibrary:
    """What the manager of one agent chooses from; its action is the number of an option.

    Attributes:
        options: In the order of their numbers, which does not change between episodes of a task.
        read: What conditions take of an observation; read once per observation.

    Raises:
        UsageError: No options, a budget below 1, or two of one name.
    """

    options: tuple[Option, ...]
    read: Callable[[Any], Any] = _as_it_is

    def __post_init__(self) -> None:
        if not self.options:
            raise UsageError("a manager needs at least one option")
        if len({option.name for option in self.options}) != len(self.options):
            raise UsageError("two options have the same name")
        for option in self.options:
            if option.budget < 1:
                raise UsageError(
                    f"option {option.name!r} has a budget of {option.budget}", fix="Give it at least 1"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the options, in their order."""
        return tuple(option.name for option in self.options)


class OptionEnd(NamedTuple):
    """How an option has ended.

    Attributes:
        why: ``"over"`` (it reached its end), ``"budget"``, or ``"episode"``.
        moves: Of the controller, since it was chosen.
    """

    why: str
    moves: int
