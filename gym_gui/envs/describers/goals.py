"""Describes observations with goals: the desired goal, the achieved goal, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.describers.vectors import Component, numbered_actions, table_of
from gym_gui.envs.facts import Fact, atom, fact
from gym_gui.envs.instance import Instance

_WANTED, _ACHIEVED, _REST = "desired_goal", "achieved_goal", "observation"
_MARKS = re.compile(r"</?\w+>")
_PLACE = ("x", "y", "z")
_NAMES: Mapping[int, tuple[str, ...]] = {
    2: _PLACE[:2],
    3: _PLACE,
    7: (*_PLACE, *(f"{part} of a quaternion" for part in "wxyz")),
    15: tuple(f"{part} of fingertip {i}" for i in range(1, 6) for part in _PLACE),
}
"""Names of a goal's components by their number: positions in meters, and orientation."""


class GoalDescriber(SpaceDescriber):
    """Describes goals first, then each number with its name from the package's documentation.

    Args:
        environment: An environment with ``observation``, ``achieved_goal`` and ``desired_goal``.
        documentation: Docstring of the environment, with tables like Gymnasium's.
        parts: Names of action components, for components that a table does not name.
    """

    def __init__(self, environment: Instance, documentation: str, parts: Sequence[str] = ()) -> None:
        super().__init__(environment)
        self._observed = [_short(each) for each in table_of(documentation, "Observation").named]
        acted = table_of(documentation, "Action").named
        self._acted = [
            parts[i] if each.name == "-" and i < len(parts) else each.name for i, each in enumerate(acted)
        ]

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return (
            "\n".join(self._lines(observation))
            if self._fits(observation)
            else super().text(agent, observation, mode)
        )

    def can_say(self, agent: AgentID) -> bool:
        return True

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return goals as ``desired_goal(1, 0.3)`` with index and value, and documented numbers by name."""
        found = [
            fact(key, i, round(value, 6))
            for key in (_WANTED, _ACHIEVED)
            if isinstance(observation.get(key), np.ndarray)
            for i, value in enumerate(_values(observation[key]), 1)
        ]
        values = _values(observation[_REST])
        named: Sequence[Component] = self._observed if len(self._observed) == len(values) else ()
        return found + [
            fact(atom(each.name), round(value, 6)) for each, value in zip(named, values, strict=False)
        ]

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "You are told what is wanted, what is achieved of it now, and then what else you observe; places "
            "are in metres."
        )

    def _fits(self, observation: Any) -> bool:
        return all(isinstance(observation.get(key), np.ndarray) for key in (_WANTED, _ACHIEVED, _REST))

    def _lines(self, observation: Any) -> Iterator[str]:
        yield f"Wanted: {_named(observation[_WANTED])}"
        yield f"Achieved: {_named(observation[_ACHIEVED])}"
        values = _values(observation[_REST])
        if len(self._observed) == len(values):
            for each, value in zip(self._observed, values, strict=True):
                yield f"{each.name}: {number(value)}{f' {each.unit}' if each.unit else ''}"
        else:
            yield f"Observed, {len(values)} numbers: {', '.join(map(number, values))}"

    def _how_to_act(self, agent: AgentID) -> str:
        action_space = self.environment.adapter.action_space(agent)
        return numbered_actions(action_space, self._acted) or super()._how_to_act(agent)


def _short(component: Component) -> Component:
    """Return a component with its name shortened to the first sentence, without formulas."""
    return component._replace(name=_MARKS.sub("", component.name.partition(". ")[0]))


def _values(array: Any) -> list[float]:
    return np.asarray(array, np.float64).ravel().tolist()


def _named(goal: Any) -> str:
    values = _values(goal)
    names = _NAMES.get(len(values))
    if names is None:
        return ", ".join(map(number, values))
    return ", ".join(f"{name} {number(value)}" for name, value in zip(names, values, strict=True))
