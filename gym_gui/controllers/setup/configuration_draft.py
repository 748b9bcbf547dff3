"""A configuration while it is being written: always whole, not always right.

An :class:`OperatorConfig` refuses what cannot be; a person on the way to one passes through
such states. A draft holds them, every edit makes a new one (so that edits can be undone),
and :meth:`Draft.config` makes the configuration or says in a sentence why not.
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
"""Who plays each slot."""

SHARED = ("checkpoint", "algorithm")
"""Settings that a link group has in common."""


@dataclass(frozen=True)
class Link:
    """Agents that share one checkpoint file.

    Attributes:
        primary: The agent whose row says which.
        linked: The agents that follow it.
        color: ``#rrggbb`` of its mark; empty: by the primary.
        group_id: As files name it; empty: by the primary.
    """

    primary: AgentID
    linked: tuple[AgentID, ...]
    color: str = ""
    group_id: str = ""

    @property
    def agents(self) -> tuple[AgentID, ...]:
        """The primary, then those that follow it."""
        return (self.primary, *self.linked)


@dataclass(frozen=True)
class Draft:
    """What stands in the table.

    Attributes:
        task: Environment id; empty: none chosen yet.
        operator_id: Its id in files.
        name: As people read it.
        env_name: Environment family, or empty.
        api: Interface, or ``None`` for the native one.
        env_kwargs: Passed to the environment's factory.
        max_steps: Limit of an episode, or ``None``.
        seats: ``fixed`` or ``swap``.
        teams: Agents of each team, or ``None`` for the family's own.
        rows: The player of each slot; managers are the slots ``<agent>/goal``.
        links: Slots that share a file.
        origin: The file that the draft was read from, which may name its environment no more than any file.
        named: Whether the user or the file chose the name.
        host: Which of the user's hosts it runs on; empty: this machine.
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
        """The draft that a configuration is."""
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
        """The configuration it is.

        Raises:
            ConfigError: It is none yet; one sentence with the place.
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
        """Its environment, for the probe."""
        return EnvironmentRequest(
            self.task, self.env_name, self.api, self.env_kwargs, self.managed, self.teams, self.origin
        )

    # -- edits -----------------------------------------------------------------------

    def following(self, before: Draft, name_of: Callable[[Rows], str]) -> Draft:
        """The draft, renamed after its deciding players where these changed and its name was not chosen.

        Args:
            before: The draft before the change.
            name_of: Gives the name of an operator with these rows.
        """
        name = name_of(self.rows)
        if self.named or name == name_of(before.rows):
            return self
        return replace(self, name=name)

    def with_row(self, agent: AgentID, row: WorkerAssignment) -> Draft:
        """The draft with this player in a slot; linked slots follow, keeping their own part of the file."""
        rows = {**self.rows, agent: row}
        link = self.link_of(agent)
        if link is None or link.primary != agent:
            return replace(self, rows=rows)
        for follower in link.linked:
            own = self.rows.get(follower)
            rows[follower] = replace(row, checkpoint_agent=None if own is None else own.checkpoint_agent)
        return replace(self, rows=rows)

    def seated(self, env_info: EnvironmentInfo, default: Callable[[AgentID], WorkerAssignment]) -> Draft:
        """The draft with exactly the slots of its environment.

        A row whose name is a pattern says who plays the slots that it stands for.

        Args:
            env_info: The environment.
            default: Gives the player of a slot that has none yet.
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
        """The link that an agent belongs to."""
        return next((link for link in self.links if agent in link.agents), None)

    def linked(self, primary: AgentID, agents: Sequence[AgentID]) -> Draft:
        """``agents`` follow ``primary`` from now on; they leave the links they were in.

        Each takes its own part of the file, where the file has one by its name.
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
        """An agent leaves its link; a link without its primary, or without linked slots, is removed."""
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
        """Exactly these agents have managers."""
        rows = {slot: row for slot, row in self.rows.items() if not slot.endswith(GOAL_SUFFIX)}
        for agent in agents:
            rows[agent + GOAL_SUFFIX] = self.rows.get(agent + GOAL_SUFFIX, default)
        return replace(self, rows=rows)
