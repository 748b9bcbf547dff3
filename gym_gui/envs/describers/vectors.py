"""Describes vectors with named components, whose names come from the environment's documentation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import action_form, bounds_of, number
from gym_gui.envs.facts import Fact, atom, fact
from gym_gui.envs.instance import Instance

_REST = 512
"""Largest number of unnamed components for which the text lists each value."""
_RULE = re.compile(r"[\s|:-]+")
_UNIT = re.compile(r"\(([^()]+)\)\s*$")
_NO_UNITS = frozenset({"", "v", "unitless"})


class Component(NamedTuple):
    """Named component of an observation or action vector.

    Attributes:
        name: Name of the component.
        unit: Unit; ``""`` if it has none or the unit is unknown.
        switch: Whether the value is 0 or 1, written as no or yes.
    """

    name: str
    unit: str = ""
    switch: bool = False


class Table(NamedTuple):
    """Table of a vector's components in a docstring.

    Attributes:
        named: Components of the vector, in order.
        left_out: Components that an option adds in front.
    """

    named: tuple[Component, ...] = ()
    left_out: tuple[Component, ...] = ()


def table_of(documentation: str, of: str) -> Table:
    """Return the components in a docstring's table whose columns begin with ``Num`` and ``of``.

    Gymnasium's docstrings have such tables with ``of`` = ``Observation`` and ``Action``. A row that is in the
    vector only with an option has ``excluded`` in place of its number.
    """
    columns: list[str] = []
    numbers: list[str] = []
    named: list[Component] = []
    left_out: list[Component] = []
    for line in documentation.splitlines():
        bare = line.strip()
        if not bare.startswith("|"):
            if columns:
                break
            continue
        cells = [cell.strip() for cell in bare.strip("|").split("|")]
        if not columns:
            columns = cells if cells[:2] == ["Num", of] else []
        elif cells[0] == "excluded":
            left_out.append(_component(columns, cells))
        elif not _RULE.fullmatch(bare):
            numbers.append(cells[0])
            named.append(_component(columns, cells))
    if numbers != [str(i) for i in range(len(named))]:
        return Table()  # a row for several components does not name each one
    return Table(tuple(named), tuple(left_out))


def _component(columns: Sequence[str], cells: Sequence[str]) -> Component:
    row = dict(zip(columns, cells, strict=False))
    said = row.get("Unit") or row.get("Type (Unit)") or row.get("Type(Unit)") or ""
    found = _UNIT.search(said)
    unit = found[1] if found else ""
    name = cells[1].replace("`", "")
    if not found and " rad" in row.get("Min", ""):
        unit = "rad"
    if unit == "rad" and name.lower().startswith("angular velocity"):
        unit = "rad/s"  # the table of Ant states the angle's unit
    if "-orientation of the " in name:
        name, unit = f"{name}, of a quaternion", ""  # the tables give quaternions a unit of angles
    return Component(name, "" if unit in _NO_UNITS else unit)


class VectorDescriber(SpaceDescriber):
    """Describes each number of a vector with name and unit; only the briefing contains the bounds.

    Args:
        environment: An environment whose observation is a vector.
        observed: Components of an observation, as far as they are known.
        acted: Components of a continuous action.
        about: Further sentences about the game.
        reads: Further sentences about reading an observation.
        meanings: Meanings of discrete actions, by name.
    """

    def __init__(
        self,
        environment: Instance,
        observed: Sequence[Component] = (),
        acted: Sequence[Component] = (),
        *,
        about: str = "",
        reads: str = "",
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(environment)
        self._observed, self._acted = tuple(observed), tuple(acted)
        self._about, self._reads, self._meanings = about, reads, dict(meanings or {})
        self._bounds: dict[AgentID, list[Fact]] = {}

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        if not self._fits(agent):
            return super().text(agent, observation, mode)
        values: list[float] = np.asarray(observation).tolist()
        lines = [_component_words(each, value) for each, value in zip(self._observed, values, strict=False)]
        rest = values[len(self._observed) :]
        if rest:
            lines.append(f"{len(rest)} more numbers: {_unnamed_values(rest)}")
        return "\n".join(lines)

    def can_state(self, agent: AgentID) -> bool:
        return self._fits(agent)

    def measures(self, agent: AgentID) -> bool:
        return self._fits(agent)

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return each named number and its bounds: ``pole_angle(0.03)``, ``bounds(pole_angle, -0.4, 0.4)``.

        A number without a name is ``observed(28, 0.5)``, counted from 1 over the whole vector.
        """
        values: list[float] = np.asarray(observation, np.float64).tolist()
        found = [
            fact(atom(each.name), _plain(value))
            for each, value in zip(self._observed, values, strict=False)
            if math.isfinite(value)
        ]
        found += [
            fact("observed", number, _plain(value))
            for number, value in enumerate(values[len(self._observed) :], len(self._observed) + 1)
            if math.isfinite(value)
        ]
        if agent not in self._bounds:
            self._bounds[agent] = self._bound_facts(agent)
        return found + self._bounds[agent]

    def _bound_facts(self, agent: AgentID) -> list[Fact]:
        """Return the facts about a vector's bounds, which are the same at every step."""
        space = self._space(agent)
        ends = (np.asarray(end, np.float64) for end in (space.low, space.high))
        low, high = (np.broadcast_to(end, space.shape) for end in ends)
        return [
            fact("bounds", atom(each.name), _plain(float(a)), _plain(float(b)))
            for each, a, b in zip(self._observed, low, high, strict=False)
            if math.isfinite(a) and math.isfinite(b) and bounds_of(float(a), float(b))
        ]

    def game(self, agent: AgentID) -> str:
        return " ".join(filter(None, (super().game(agent), self._about)))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        if not self._fits(agent):
            return super().reading(agent, mode)
        space = self._space(agent)
        assert space.low is not None
        assert space.high is not None
        low, high = (np.broadcast_to(each, space.shape) for each in (space.low, space.high))
        bounds = [
            f"{each.name} {bounded}"
            for each, a, b in zip(self._observed, low, high, strict=False)
            if not each.switch and (bounded := bounds_of(float(a), float(b)))
        ]
        told = f"Bounds: {'; '.join(bounds)}." if bounds else ""
        return " ".join(filter(None, (self._reads, told)))

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [ActionWord(each.word, self._meanings.get(each.word, "")) for each in super().actions(agent)]

    def can_say(self, agent: AgentID) -> bool:
        return self._fits(agent) or super().can_say(agent)

    def _fits(self, agent: AgentID) -> bool:
        space = self._space(agent)
        return (
            bool(self._observed)
            and space.kind == "Box"
            and len(space.shape) == 1
            and space.shape[0] >= len(self._observed)
        )

    def _how_to_act(self, agent: AgentID) -> str:
        names = [f"{each.name}{_in_unit(each.unit)}" for each in self._acted]
        return numbered_actions(self.environment.adapter.action_space(agent), names) or super()._how_to_act(
            agent
        )


def numbered_actions(action_space: Any, names: Sequence[str]) -> str:
    """Return how to act if each number of an action has a name; ``""`` if the number of names differs."""
    space = to_space(action_space)
    if space.kind != "Box" or space.shape != (len(names),):
        return ""
    lines = [f"{i}. {name}" for i, name in enumerate(names, 1)]
    return "\n".join((f"{action_form(space).rstrip('.')}:", *lines))


def _plain(value: float) -> float:
    """Return a number rounded to six significant digits."""
    return float(f"{value:.6g}")


def _component_words(component: Component, value: float) -> str:
    if component.switch:
        return f"{component.name}: {'yes' if value else 'no'}"
    unit = f" {component.unit}" if component.unit else ""
    return f"{component.name}: {number(value)}{unit}"


def _in_unit(unit: str) -> str:
    return f", in {unit}" if unit else ""


def _unnamed_values(values: Sequence[float]) -> str:
    if len(values) <= _REST:
        return ", ".join(map(number, values))
    low, high, mean = number(min(values)), number(max(values)), number(sum(values) / len(values))
    return f"from {low} to {high}, {mean} on average"


def documented(
    environment: Instance, documentation: str, about: str = "", reads: str = ""
) -> VectorDescriber:
    """Return a describer with the names in a docstring's tables, if the vector is long enough for them.

    Args:
        environment: The environment.
        documentation: Docstring of the environment.
        about: Further sentences about the game.
        reads: Further sentences about reading an observation.
    """
    acted = table_of(documentation, "Action").named
    return VectorDescriber(
        environment, observed_in(environment, documentation), acted, about=about, reads=reads
    )


def observed_in(environment: Instance, documentation: str) -> tuple[Component, ...]:
    """Return the named components of an observation from a docstring's table; empty without a table."""
    space: Any = environment.adapter.observation_space(environment.adapter.possible_agents[0])
    size = int(np.prod(getattr(space, "shape", None) or (0,)))
    return tuple(_of_size(table_of(documentation, "Observation"), environment, size))


def _of_size(table: Table, environment: Instance, size: int) -> Iterator[Component]:
    """Yield the components of a vector of ``size``; positions come first if they are not excluded."""
    named = table.named
    if getattr(environment.env, "_exclude_current_positions_from_observation", True) is False:
        named = (*table.left_out, *named)
    if len(named) <= size:
        yield from named
