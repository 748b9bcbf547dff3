"""Draft of an operator's configuration, which may be incomplete or invalid.

An :class:`OperatorConfig` refuses invalid states, but a user who writes one passes through them; a draft can
hold such states. Every edit makes a new draft, so that edits can be undone. :meth:`Draft.config` makes the
configuration, or raises an error with the reason why it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.core.config import GOAL_SUFFIX, OperatorConfig
from gym_gui.core.experiment.assignment import GROUP_COLORS, LinkGroup, WorkerAssignment
from gym_gui.core.experiment.slot_patterns import slot_for
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.types import AgentID

Rows = Mapping[AgentID, WorkerAssignment]
"""Player of each slot."""

SHARED = ("checkpoint", "algorithm")
"""Settings that all slots of a link group have in common."""


@dataclass(frozen=True)
class Link:
    """Agents that share one checkpoint file.

    Attributes:
        primary: The agent whose row names the file.
        linked: The agents that use the primary's file.
        color: Color of the link's mark as ``#rrggbb``; ``""`` derives it from the primary.
        group_id: Id of the link group in files; ``""`` derives it from the primary.
    """

    primary: AgentID
    linked: tuple[AgentID, ...]
    color: str = ""
    group_id: str = ""

    @property
    def agents(self) -> tuple[AgentID, ...]:
        """The primary, then the linked agents."""
        return (self.primary, *self.linked)


@dataclass(frozen=True)
class Draft:
    """State of the form in which a user writes an operator's configuration.

    Attributes:
        task: Environment id; ``""`` if none is chosen yet.
        operator_id: Id of the operator in files.
        name: Display name of the operator.
        env_name: Environment family, or ``""``.
        api: Interface, or ``None`` for the native one.
        env_kwargs: Arguments of the environment's factory.
        max_steps: Step limit of an episode, or ``None``.
        seats: ``fixed`` or ``swap``.
        teams: Agents of each team, or ``None`` for the family's own teams.
        rows: The player of each slot; managers are the slots ``<agent>/goal``.
        links: Slots that share a file.
        origin: The file that the draft was read from. Code that the file names needs the user's permission.
        named: Whether the user or the file chose the name.
        host: Host on which the operator runs, from the user's hosts; ``""`` for this machine.
    """

    task: str = ""
    operator_id: str = "operator"
    name: str = ""
    env_name: str = ""
    api: str | None = None
    env_kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_steps: int | None = None
    seats: str = "fixed"
    teams: Mapping[str, tuple[AgentID, ...]] | None = None
    rows: Mapping[AgentID, WorkerAssignment] = field(default_factory=dict[AgentID, WorkerAssignment])
    links: tuple[Link, ...] = ()
    origin: Origin = TYPED
    named: bool = False
    host: str = ""

    @classmethod
    def of(cls, config: OperatorConfig) -> Draft:
        """Return the draft of an existing configuration."""
        links = tuple(
            Link(group.primary_agent, group.linked_agents, group.color, group.group_id)
            for group in config.link_groups
        )
        return cls(
            config.task,
            config.operator_id,
            config.display_name,
            config.env_name,
            config.api,
            dict(config.env_kwargs),
            config.max_steps,
            config.seats,
            None if config.teams is None else dict(config.teams),
            config.resolved_slots(),
            links,
            config.origin,
            config.named,
            config.host,
        )

    def config(self) -> OperatorConfig:
        """Return the configuration that the draft describes.

        Raises:
            ConfigError: The draft is not valid yet; the message names the faulty key.
        """
        managers = {slot: row for slot, row in self.rows.items() if slot.endswith(GOAL_SUFFIX)}
        players = {slot: row for slot, row in self.rows.items() if slot not in managers}
        config = OperatorConfig(
            self.operator_id,
            self.name,
            self.env_name,
            self.task,
            players,
            max_steps=self.max_steps,
            env_kwargs=self.env_kwargs,
            link_groups=[self._group(link) for link in self.links],
            teams=self.teams,
            manager={slot.removesuffix(GOAL_SUFFIX): row for slot, row in managers.items()},
            api=self.api,
            seats=self.seats,
            origin=self.origin,
            named=self.named,
            host=self.host,
        )
        config.check_complete()
        return config

    def _group(self, link: Link) -> LinkGroup:
        row = self.rows.get(link.primary)
        shared = {} if row is None else {key: str(row.settings.get(key) or "") for key in SHARED}
        return LinkGroup(
            link.primary,
            link.linked,
            shared.get("checkpoint", ""),
            shared.get("algorithm", ""),
            "rl" if row is None else row.worker_type,
            link.group_id,
            link.color,
        )

    @property
    def managed(self) -> tuple[AgentID, ...]:
        """Agents that have a manager."""
        return tuple(slot.removesuffix(GOAL_SUFFIX) for slot in self.rows if slot.endswith(GOAL_SUFFIX))

    def request(self) -> EnvironmentRequest:
        """Return the request for the probe to describe the draft's environment."""
        return EnvironmentRequest(
            self.task, self.env_name, self.api, self.env_kwargs, self.managed, self.teams, self.origin
        )

    # -- edits -----------------------------------------------------------------------

    def following(self, before: Draft, name_of: Callable[[Rows], str]) -> Draft:
        """Return the draft with a new default name if its players changed and the user chose no name.

        Args:
            before: The draft before the change.
            name_of: Returns the default name of an operator with these rows.
        """
        name = name_of(self.rows)
        if self.named or name == name_of(before.rows):
            return self
        return replace(self, name=name)

    def with_row(self, agent: AgentID, row: WorkerAssignment) -> Draft:
        """Return the draft with another player in a slot.

        If the slot is the primary of a link, the linked slots get the same player, but keep their own parts
        of the policy file.
        """
        rows = {**self.rows, agent: row}
        link = self.link_of(agent)
        if link is None or link.primary != agent:
            return replace(self, rows=rows)
        for follower in link.linked:
            own = self.rows.get(follower)
            rows[follower] = replace(row, checkpoint_agent=None if own is None else own.checkpoint_agent)
        return replace(self, rows=rows)

    def seated(self, env_info: EnvironmentInfo, default: Callable[[AgentID], WorkerAssignment]) -> Draft:
        """Return the draft with exactly the slots of its environment.

        If the draft names a slot by a pattern, the pattern's player plays all slots that match.

        Args:
            env_info: Description of the environment.
            default: Returns the player of a slot that has none yet.
        """
        named = {agent: slot_for(agent, self.rows) for agent in env_info.agents}
        rows = {agent: default(agent) if row is None else self.rows[row] for agent, row in named.items()}
        links = tuple(link for link in self.links if set(link.agents) <= set(rows))
        teams = self.teams
        if teams is not None and any(a not in rows for members in teams.values() for a in members):
            teams = None
        seats = self.seats if env_info.has_seats_to_change else "fixed"
        return replace(self, rows=rows, links=links, teams=teams, seats=seats)

    def link_of(self, agent: AgentID) -> Link | None:
        """Return the link that an agent belongs to."""
        return next((link for link in self.links if agent in link.agents), None)

    def linked(self, primary: AgentID, agents: Sequence[AgentID]) -> Draft:
        """Return the draft in which ``agents`` share the policy file of ``primary`` and leave other links.

        Each agent takes its own part of the file, if the file has a part with the agent's name.
        """
        before = self.link_of(primary)
        color = before.color if before is not None and before.primary == primary else self._free_color()
        draft = self
        for agent in (primary, *agents):
            draft = draft.unlinked(agent)
        if not agents:
            return draft
        link = Link(primary, tuple(agents), color)
        return replace(draft, links=(*draft.links, link)).with_row(primary, self.rows[primary])

    def unlinked(self, agent: AgentID) -> Draft:
        """Return the draft with one agent removed from its link.

        A link without its primary, or without linked slots, is removed.
        """
        links: list[Link] = []
        for link in self.links:
            if agent == link.primary:
                continue
            rest = tuple(a for a in link.linked if a != agent)
            if rest:
                links.append(replace(link, linked=rest))
        return replace(self, links=tuple(links))

    def _free_color(self) -> str:
        taken = {link.color for link in self.links}
        return next((c for c in GROUP_COLORS if c not in taken), GROUP_COLORS[len(taken) % 8])

    def with_managers(self, agents: Sequence[AgentID], default: WorkerAssignment) -> Draft:
        """Return the draft in which exactly these agents have managers."""
        rows = {slot: row for slot, row in self.rows.items() if not slot.endswith(GOAL_SUFFIX)}
        for agent in agents:
            rows[agent + GOAL_SUFFIX] = self.rows.get(agent + GOAL_SUFFIX, default)
        return replace(self, rows=rows)
