"""Reads a planner's expected returns and controls from a step row (``planned``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.core.record_fields import items, mapping, number

_MOST = 64
"""Largest number of steps, and of lines, that are read."""


@dataclass(frozen=True, slots=True)
class PlanValues:
    """Expected returns and controls of a plan, at some of its steps.

    Attributes:
        steps: Numbers of environment steps ahead.
        earned: Expected return up to each step, of the plan and of alternatives, by name.
        beyond: Expected return after the last step, by the same names, if known.
        controls: Values of the plan's actions: one line per component of the action, one value per step.
    """

    steps: tuple[float, ...]
    earned: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    beyond: Mapping[str, float] = field(default_factory=dict[str, float])
    controls: tuple[tuple[float, ...], ...] = ()

    @property
    def words(self) -> str:
        """Expected returns of the plan and of alternatives up to the last step, one per line."""
        return "\n".join(self._line(name, line[-1]) for name, line in self.earned.items())

    def _line(self, name: str, earned: float) -> str:
        more = self.beyond.get(name)
        beyond = f", and {wording.number(more)} afterwards" if more is not None else ""
        return f"{name}: {wording.number(earned)} in {wording.count(round(self.steps[-1]), 'step')}{beyond}"


def planned_of(given: Any) -> PlanValues | None:
    """Return the plan in the field ``planned`` of a step row; ``None`` if it has no lines to draw."""
    course = mapping(given) or {}
    steps = _numbers(course.get("steps"))
    if len(steps) < 2:
        return None
    beyond = [(str(name), number(more)) for name, more in (mapping(course.get("beyond")) or {}).items()]
    earned = [(str(name), _numbers(line)) for name, line in (mapping(course.get("earned")) or {}).items()]
    controls = [_numbers(line) for line in items(course.get("controls")) or ()]
    found = PlanValues(
        steps,
        {name: line for name, line in earned[:_MOST] if len(line) == len(steps)},
        {name: more for name, more in beyond[:_MOST] if more is not None},
        tuple(line for line in controls[:_MOST] if len(line) == len(steps)),
    )
    return found if found.earned or found.controls else None


def _numbers(given: Any) -> tuple[float, ...]:
    """Return a list of numbers; an empty tuple if an element is no number or there are too many."""
    found = [number(each) for each in items(given) or ()]
    whole = [each for each in found if each is not None]
    return tuple(whole) if len(whole) == len(found) <= _MOST else ()
