"""Assigns parts of joint policies to slots while the user writes a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gym_gui.controllers.setup.check_message import ConfigurationMessage, Level
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.types import AgentID
from gym_gui.services.policy_files import PolicyFile, read_policy_file
from mosaic_worker.worker import LoadError


def joint_file(row: WorkerAssignment) -> PolicyFile | None:
    """Return the joint policy of a slot's assignment; ``None`` for a policy of a single agent or none."""
    written = row.settings.get("checkpoint")
    file = read_policy_file(Path(written)) if isinstance(written, str) and written else None
    return file if file is not None and len(file.agents) > 1 else None


def part_of(file: PolicyFile, agent: AgentID, chosen: str | None) -> str:
    """Return the agent whose part of a joint policy plays a slot; ``""`` if no part fits.

    Args:
        file: The policy.
        agent: The slot's agent.
        chosen: The slot's ``checkpoint_agent``, or ``None``.
    """
    try:
        played = file.played_by(agent, chosen).agents
    except LoadError:
        return ""
    return played[0] if len(played) == 1 else ""


def parts_played(draft: Draft) -> dict[AgentID, tuple[PolicyFile, str]]:
    """Return the slots played by a part of a joint policy, each with the policy and the part's agent."""
    found: dict[AgentID, tuple[PolicyFile, str]] = {}
    for agent, row in draft.rows.items():
        file = joint_file(row)
        if file is not None and (part := part_of(file, agent, row.checkpoint_agent)):
            found[agent] = (file, part)
    return found


def part_findings(
    draft: Draft,
    played: Mapping[AgentID, tuple[PolicyFile, str]],
    title: Callable[[WorkerAssignment], str],
) -> Iterator[ConfigurationMessage]:
    """Yield a finding for each slot in ``played`` with the part of a joint policy that plays it.

    ``title`` returns the display name of a player.
    """
    for agent, (_, part) in played.items():
        whose = "its own part" if part == agent else f"the part of {part}"
        by_kind = part != agent and draft.rows[agent].checkpoint_agent is None
        why = ", the only one of its kind" if by_kind else ""
        where = "the linked file" if draft.link_of(agent) is not None else title(draft.rows[agent])
        yield ConfigurationMessage(Level.OK, f"{agent} takes {whose} of {where}{why}", agent)
