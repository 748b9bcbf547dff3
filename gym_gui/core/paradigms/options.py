"""Options: skills that a manager can request from a controller.

They are options in the sense of Sutton, Precup, Singh, "Between MDPs and semi-MDPs" (1999). An option may
start in some observations and runs until its own end condition holds or its budget of moves is spent. The
manager receives the sum of the rewards during the option.
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


def _nowhere(seen: Any) -> tuple[RelativePosition, ...]:
    return ()


def _as_it_is(observation: Any) -> Any:
    return observation


class RelativePosition(NamedTuple):
    """Position of something relative to an agent, in cells.

    Attributes:
        ahead: Cells in front of the agent; negative behind it.
        right: Cells to the right of the agent; negative to its left.
    """

    ahead: int
    right: int


@dataclass(frozen=True)
class Option:
    """A skill with the values of its parameters, which a manager can request from a controller.

    The conditions are functions of the agent's observation alone, so that episodes never mix. They receive
    the result of :attr:`OptionLibrary.read`, or the observation itself if there is no library.

    Attributes:
        skill: The skill in a word or two, for people and language models: ``"go to"``.
        arguments: Values of the skill's parameters: ``("yellow key",)``.
        budget: Number of the controller's moves after which the manager is asked again.
        can_start: ``can_start(seen)``: whether the manager may choose the option now.
        is_over: ``is_over(seen, began)``: whether the option has reached its end, given the observation at
            its start; called after each move.
        places: ``places(seen)``: places that the option refers to, for people who click on a picture.
        meaning: What the skill does, in a few words without a full stop.
    """

    skill: str
    arguments: tuple[str, ...] = ()
    budget: int = 20
    can_start: Callable[[Any], bool] = _anywhere
    is_over: Callable[[Any, Any], bool] = _never
    places: Callable[[Any], Sequence[RelativePosition]] = _nowhere
    meaning: str = ""

    @property
    def name(self) -> str:
        """The skill with its arguments: ``"go to(yellow key)"``, ``"explore"``."""
        return f"{self.skill}({', '.join(self.arguments)})" if self.arguments else self.skill

    def starts(self, seen: Any) -> bool:
        """Return :attr:`can_start` for an observation.

        Raises:
            EnvironmentFailure: The condition raised an error.
        """
        try:
            return bool(self.can_start(seen))
        except Exception as exc:  # the border to the library of a family
            raise EnvironmentFailure(f"the library cannot say whether {self.name} can start: {exc}") from exc

    def ends(self, seen: Any, began: Any) -> bool:
        """Return :attr:`is_over` for an observation.

        Raises:
            EnvironmentFailure: The condition raised an error.
        """
        try:
            return bool(self.is_over(seen, began))
        except Exception as exc:  # the border to the library of a family
            raise EnvironmentFailure(f"the library cannot say whether {self.name} is over: {exc}") from exc


@dataclass(frozen=True)
class OptionLibrary:
    """The options of one agent's manager; the manager's action is the number of an option.

    Attributes:
        options: The options in the order of their numbers, which is the same in all episodes of a task.
        read: Converts an observation for the conditions; called once per observation.

    Raises:
        UsageError: There are no options, a budget is below 1, or two options have the same name.
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
        """Names of the options, in their order."""
        return tuple(option.name for option in self.options)


class OptionEnd(NamedTuple):
    """How an option has ended.

    Attributes:
        why: ``"over"`` (the option reached its end), ``"budget"``, or ``"episode"``.
        moves: Number of the controller's moves since the option was chosen.
    """

    why: str
    moves: int
