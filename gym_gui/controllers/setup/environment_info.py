"""Description of an environment for the configuration form, as plain data.

Making an environment may take seconds (imports, compilation) and may crash the process, so the window never
does it. It asks a child process (:mod:`gym_gui.controllers.setup.environment_probe`) and keeps the answer as
an :class:`EnvironmentInfo`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gym_gui.controllers.engine.environment_seats import EnvironmentSeats, slots_in
from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.spaces import NotInSpace, Space, SpaceCodec, short_space, space_to_spec
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.envs.environment_page import EnvironmentPage, document
from gym_gui.services.backends import SlotInfo

_NAMED: Mapping[SteppingParadigm, str] = {
    SteppingParadigm.SINGLE_AGENT: "one agent",
    SteppingParadigm.SIMULTANEOUS: "simultaneous",
    SteppingParadigm.SEQUENTIAL: "turn by turn",
    SteppingParadigm.HIERARCHICAL: "two levels",
}


@dataclass(frozen=True)
class EnvironmentInfo:
    """Description of one environment.

    Attributes:
        env_id: Canonical id.
        family: Name of the environment's family.
        package: Import name of the package that provides the environment.
        api: Interface that the environment is made with.
        apis: All possible interfaces, the native one first.
        paradigm: How the agents take turns.
        slots: Slots with their spaces, as :class:`~gym_gui.core.spaces.Space`. If agents may appear that
            cannot be named beforehand, each slot is a pattern of names, or a slot that was asked for.
        teams: Agents of each team.
        max_episode_steps: Step limit that the package sets, or ``None``.
        can_have_managers: Whether the family has options for a manager to choose from.
        appear: Whether agents may appear that cannot be named beforehand.
        page: Page about the environment, with documentation and default keys.
    """

    env_id: str
    family: str
    package: str
    api: str
    apis: tuple[str, ...]
    paradigm: SteppingParadigm
    slots: Mapping[AgentID, SlotInfo]
    teams: Mapping[str, tuple[AgentID, ...]]
    max_episode_steps: int | None
    can_have_managers: bool
    appear: bool
    page: EnvironmentPage

    @property
    def agents(self) -> tuple[AgentID, ...]:
        """Names of the slots, in the environment's order."""
        return tuple(self.slots)

    @property
    def single(self) -> bool:
        """Whether there is only one slot."""
        return len(self.slots) == 1

    @property
    def turns(self) -> str:
        """How the agents take turns, in words: ``one agent``, ``simultaneous``, ``turn by turn``."""
        return _NAMED[self.paradigm]

    @property
    def seats(self) -> EnvironmentSeats:
        """Slots and teams, as the engine reads them."""
        return EnvironmentSeats(
            self.env_id, self.package, self.slots, self.teams, self.page.seats, self.appear
        )

    @property
    def has_seats_to_change(self) -> bool:
        """Whether there are teams that could change sides, or teammates that could change seats."""
        several = len(self.teams) > 1 or any(len(members) > 1 for members in self.teams.values())
        return several and not self.appear

    def words_of(self, agent: AgentID) -> Sequence[str]:
        """Return the names of a slot's actions; empty if they have no names or the slot does not exist."""
        slot = self.slots.get(agent)
        return slot.action_meanings if slot is not None else ()

    def seat_name(self, agent: AgentID) -> str:
        """Return the game's own name of a slot's seat, or the agent's name if the game has none."""
        return self.page.seats.get(agent, agent)

    def team_of(self, agent: AgentID) -> str:
        """Return the team of an agent, or ``""``."""
        return next((team for team, members in self.teams.items() if agent in members), "")

    @cached_property
    def summary(self) -> str:
        """Paradigm, agents and actions on one line."""
        one, several = ("kind of agents", "kinds of agents") if self.appear else ("agent", "agents")
        agents = f"1 {one}" if self.single else f"{len(self.slots)} {several}"
        actions = list(dict.fromkeys(short_space(slot.action_space) for slot in self.slots.values()))
        shown = actions[0] if len(actions) == 1 else "different actions"
        paradigm = "" if self.paradigm is SteppingParadigm.SINGLE_AGENT else f"{_NAMED[self.paradigm]} · "
        return f"{paradigm}{agents} · {shown}"

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which :meth:`from_json` makes an equal object."""
        return {
            "env_id": self.env_id,
            "family": self.family,
            "package": self.package,
            "api": self.api,
            "apis": list(self.apis),
            "paradigm": self.paradigm.name,
            "slots": [_slot_to_json(slot) for slot in self.slots.values()],
            "teams": {team: list(agents) for team, agents in self.teams.items()},
            "max_episode_steps": self.max_episode_steps,
            "can_have_managers": self.can_have_managers,
            "appear": self.appear,
            "page": self.page.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EnvironmentInfo:
        """Read what :meth:`to_json` wrote."""
        slots = [_slot_from_json(slot) for slot in data["slots"]]
        return cls(
            data["env_id"],
            data["family"],
            data["package"],
            data["api"],
            tuple(data["apis"]),
            SteppingParadigm[data["paradigm"]],
            {slot.agent_id: slot for slot in slots},
            {team: tuple(agents) for team, agents in data["teams"].items()},
            data["max_episode_steps"],
            data["can_have_managers"],
            data["appear"],
            EnvironmentPage.from_json(data["page"]),
        )

    @classmethod
    def of(cls, environment: Environment, named: Iterable[AgentID] = ()) -> EnvironmentInfo:
        """Describe an existing environment; ``named`` and errors are as for :func:`slots_in`."""
        spec = environment.spec
        return cls(
            spec.id,
            spec.family,
            spec.package,
            spec.api,
            spec.apis,
            environment.adapter.paradigm,
            slots_in(environment, named),
            {team: tuple(agents) for team, agents in environment.teams.items()},
            spec.max_episode_steps,
            environment.can_have_managers,
            environment.adapter.is_open_ended,
            document(environment),
        )


def _slot_to_json(slot: SlotInfo) -> dict[str, Any]:
    return {
        "agent": slot.agent_id,
        "sees": space_to_spec(slot.observation_space),
        "does": space_to_spec(slot.action_space),
        "noop": _action_to_json(slot, slot.noop_action),
        "default": _action_to_json(slot, slot.default_action),
        "options": list(slot.options),
        "meanings": list(slot.action_meanings),
        "offers": list(slot.offers),
        "pictures": list(slot.pictures),
        "env_id": slot.env_id,
    }


def _slot_from_json(data: Mapping[str, Any]) -> SlotInfo:
    observations, actions = Space.from_json(data["sees"]), Space.from_json(data["does"])
    said, offers, pictures = (tuple(data[key]) for key in ("meanings", "offers", "pictures"))
    codec = SpaceCodec(actions)
    noop, default = (_action_from_json(codec, data[key]) for key in ("noop", "default"))
    return SlotInfo(
        data["agent"],
        *(observations, actions, noop, said, offers, pictures, data["env_id"]),
        tuple(data["options"]),
        default,
    )


def _action_to_json(slot: SlotInfo, action: Any) -> list[str] | None:
    """Return an action in base64 wire form; ``None`` if there is none or it is not in its space."""
    try:
        return (
            None
            if action is None
            else [base64.b64encode(p).decode() for p in slot.action_codec.encode(action)]
        )
    except NotInSpace:
        return None


def _action_from_json(codec: SpaceCodec, data: Sequence[str] | None) -> Any:
    return None if data is None else codec.decode(tuple(map(base64.b64decode, data)))
