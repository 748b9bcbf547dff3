"""Checks a configuration while the user writes it: who can play each slot, and what is wrong.

All checks are fast and make no environment: they use the environment's description and the policies'
metadata. The engine's own check (:func:`gym_gui.controllers.engine.resolved_operator.resolve_operator`) is
requested separately, in another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gym_gui.controllers.engine.bound_operator import nothing_to_do, seatings
from gym_gui.controllers.setup.check_message import ConfigurationMessage, Level, listed, worst
from gym_gui.controllers.setup.configuration_draft import Draft, Rows
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.joint_parts import part_findings, part_of, parts_played
from gym_gui.core.config import GOAL_SUFFIX, OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError, without_capital
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.secret_refs import references
from gym_gui.core.types import AgentID
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import fit
from gym_gui.services.policies.policy_catalog import (
    Policy,
    names_in_words,
    policies_of,
    policy_of,
    title_of,
)
from gym_gui.services.policy_files import PolicyFile, read_policy_file
from gym_gui.services.secrets import resolve_secrets
from gym_gui.workers.patterns import made_for_others
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import problems
from gym_gui.workers.status import WorkerStatus

_HEEDLESS = ("random", "noop", "cycle")
"""Baseline behaviors that ignore the goals which a manager sets."""

__all__ = ["ConfigurationChecks", "ConfigurationMessage", "Level", "OfferedPolicy", "Report", "WorkerOffer"]


@dataclass(frozen=True)
class OfferedPolicy:
    """A policy that is offered for a slot.

    Attributes:
        policy: The policy.
        reason: Why the policy cannot play the slot, as a sentence without a full stop; ``""`` if it can.
        fits: Whether the policy could play the slot if its worker were installed.
    """

    policy: Policy
    reason: str = ""
    fits: bool = True


@dataclass(frozen=True)
class WorkerOffer:
    """A worker that is offered for a slot.

    Attributes:
        worker: The worker.
        reason: Why the worker cannot play the slot, as for :class:`OfferedPolicy`.
    """

    worker: WorkerTypeDefinition
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """Result of checking the draft of a configuration.

    Attributes:
        findings: The findings, the worst first.
        policies: All policies by slot, with a reason if they cannot play the slot.
        workers: All workers by slot, with a reason if they cannot play the slot.
        config: The configuration; ``None`` if it has an error.
        parts: Agent whose part of a joint policy plays a slot, by slot. Other slots are left out.
    """

    findings: tuple[ConfigurationMessage, ...]
    policies: Mapping[AgentID, tuple[OfferedPolicy, ...]]
    workers: Mapping[AgentID, tuple[WorkerOffer, ...]]
    config: OperatorConfig | None
    parts: Mapping[AgentID, str] = field(default_factory=dict[AgentID, str])

    @property
    def level(self) -> Level:
        """Worst severity of the findings."""
        return worst(finding.level for finding in self.findings)

    def of(self, agent: AgentID) -> list[ConfigurationMessage]:
        """Return the findings about one slot."""
        return [finding for finding in self.findings if finding.agent == agent]


class ConfigurationChecks:
    """Checks drafts of configurations against the known workers and policies.

    Args:
        workers: All known worker types.
        statuses: Status of workers on this machine; workers without a status count as installed.
        files: Trained policies that are offered by name.
    """

    def __init__(
        self,
        workers: Sequence[WorkerTypeDefinition],
        statuses: Iterable[WorkerStatus] = (),
        files: Sequence[PolicyFile] = (),
    ) -> None:
        self.workers = {worker.type_id: worker for worker in workers}
        self.policies = policies_of(workers, files)
        absent = [s for s in statuses if s.state != "installed"]
        self._absent = {s.worker_id: _absence(s) for s in absent}
        self._installable = {s.worker_id for s in absent if s.install.startswith("mosaic ")}

    def worker(self, row: WorkerAssignment) -> WorkerTypeDefinition | None:
        """Return the worker of a slot's assignment, by id or alias; ``None`` if it is unknown."""
        known = self.workers.get(row.worker_id)
        return known or next((w for w in self.workers.values() if row.worker_id in w.aliases), None)

    def policy(self, row: WorkerAssignment) -> Policy | None:
        """Return the policy that a slot's assignment describes; ``None`` if no known worker has it."""
        return policy_of(row, self.policies, self.worker(row))

    def name_of(self, rows: Rows) -> str:
        """Return the default name of an operator, made from its players."""
        return names_in_words([self.title(row) for row in rows.values()])

    def check(self, draft: Draft, env_info: EnvironmentInfo) -> Report:
        """Check a draft, and return all findings with the policies and workers for each slot."""
        workers = {agent: tuple(self._worker_offers(slot)) for agent, slot in env_info.slots.items()}
        policies = {agent: self.offers(slot) for agent, slot in env_info.slots.items()}
        findings = [*self._rows(draft, env_info), *self._links(draft), *self._seats(draft, env_info)]
        parts = parts_played(draft)
        wrong = {finding.agent for finding in findings if finding.level is Level.ERROR}
        findings += part_findings(draft, {a: p for a, p in parts.items() if a not in wrong}, self.title)
        config: OperatorConfig | None = None
        if worst(finding.level for finding in findings) is not Level.ERROR:
            try:
                config = draft.config()
            except MosaicError as error:
                findings.append(ConfigurationMessage(Level.ERROR, str(error)))
            else:
                findings.append(ConfigurationMessage(Level.OK, _all_fit(env_info)))
        offered = {o.policy.worker_id for of_slot in policies.values() for o in of_slot if not o.reason}
        findings += self._not_offered(draft, env_info.env_id, workers, offered)
        order = list(Level)
        findings.sort(key=lambda finding: order.index(finding.level))
        whose = {agent: part for agent, (_, part) in parts.items()}
        return Report(tuple(dict.fromkeys(findings)), policies, workers, config, whose)

    def title(self, row: WorkerAssignment) -> str:
        """Return the display name of a slot's player."""
        return title_of(row, self.policies, self.worker(row))

    def problem(self, slot: SlotInfo, row: WorkerAssignment) -> str:
        """Return the first reason why an assignment's worker cannot play a slot; ``""`` without a reason."""
        worker = self.worker(row)
        if worker is None:
            return f"There is no worker {row.worker_id}"
        wrong = self._absent.get(worker.type_id) or fit(slot, worker, row, self._file(row))
        if not wrong:
            wrong = next(iter(problems(worker.settings_schema, row.settings).values()), "")
        return wrong

    def _file(self, row: WorkerAssignment) -> PolicyFile | None:
        """Return an assignment's trained policy, read again under its offered name.

        ``None`` without a file.
        """
        policy = self.policy(row)
        if policy is None or policy.file is None:
            return None
        now = read_policy_file(policy.file.path)
        return now and replace(now, name=policy.file.name, called=policy.file.called)

    def misfits(self, rows: Rows, env_info: EnvironmentInfo) -> dict[AgentID, str]:
        """Return the slots whose player cannot play them, with the reasons."""
        workers = {agent: self.worker(row) for agent, row in rows.items() if agent in env_info.slots}
        wrong = {
            agent: fit(env_info.slots[agent], worker, rows[agent], self._file(rows[agent]))
            for agent, worker in workers.items()
            if worker is not None
        }
        return {agent: reason for agent, reason in wrong.items() if reason}

    # -- offered players --------------------------------------------------------------

    def offers(self, slot: SlotInfo) -> tuple[OfferedPolicy, ...]:
        """Return an offer for each policy, including policies that cannot play the slot."""
        return tuple(self._offer(slot, policy) for policy in self.policies)

    def policy_for(self, slot: SlotInfo, policy_id: object) -> Policy | None:
        """Return the policy with this id as it is offered for a slot; ``None`` if the id is unknown."""
        policy = next((each for each in self.policies if each.policy_id == policy_id), None)
        return None if policy is None else self._offer(slot, policy).policy

    def _offer(self, slot: SlotInfo, policy: Policy) -> OfferedPolicy:
        worker = self.workers[policy.worker_id]
        unfit = fit(slot, worker, policy.assignment(), policy.file)
        if unfit and (part := _other_part(slot, worker, policy)):
            policy, unfit = replace(policy, part=part), ""
        return OfferedPolicy(policy, self._absent.get(worker.type_id) or unfit, fits=not unfit)

    def _worker_offers(self, slot: SlotInfo) -> Iterator[WorkerOffer]:
        for worker in self.workers.values():
            player = WorkerAssignment(worker.type_id, worker.kind.value)
            yield WorkerOffer(worker, self._absent.get(worker.type_id) or fit(slot, worker, player))

    # -- what is wrong ---------------------------------------------------------------

    def _rows(self, draft: Draft, env_info: EnvironmentInfo) -> Iterator[ConfigurationMessage]:
        for agent, slot in env_info.slots.items():
            row = draft.rows.get(agent)
            if row is None:
                yield ConfigurationMessage(
                    Level.ERROR, f"No policy plays {agent}: choose one in its row", agent
                )
                continue
            worker = self.worker(row)
            if worker is None:
                known = listed(sorted(self.workers))
                text = f"{agent}: there is no worker {row.worker_id}; there are {known}"
                yield ConfigurationMessage(Level.ERROR, text, agent)
                continue
            if reason := self._absent.get(worker.type_id) or fit(slot, worker, row, self._file(row)):
                yield ConfigurationMessage(Level.ERROR, f"{agent}: {reason}", agent, self._remedy(worker))
                continue  # further findings would not help
            yield from self._row(agent, row, worker, env_info, slot)

    def _row(
        self,
        agent: AgentID,
        row: WorkerAssignment,
        worker: WorkerTypeDefinition,
        env_info: EnvironmentInfo,
        slot: SlotInfo,
    ) -> Iterator[ConfigurationMessage]:
        if row.worker_type != worker.kind.value:
            text = f"{agent}: {worker.type_id} is of type {worker.kind.value}, not {row.worker_type}"
            yield ConfigurationMessage(Level.ERROR, f"{text}; choose its policy again", agent)
        wrong = list(problems(worker.settings_schema, row.settings).values())
        for sentence in wrong:
            yield ConfigurationMessage(Level.ERROR, f"{agent}: {sentence}", agent)
        if not wrong:
            try:
                worker.check_settings(row.settings, agent)
            except UsageError as error:
                yield ConfigurationMessage(Level.ERROR, str(error), agent)
        for setting in worker.settings_schema:
            if setting.kind == "policy":
                yield from _checkpoint(agent, row, setting.name, env_info)
        manager = f"{agent}{GOAL_SUFFIX}"
        if manager in env_info.slots and row.settings.get("behavior") in _HEEDLESS:
            text = f"{agent}: {self.title(row)} takes no notice of what {manager} asks for; choose skills"
            yield ConfigurationMessage(Level.WARNING, text, agent)
        if note := nothing_to_do(slot, row, env_info.env_id):
            yield ConfigurationMessage(Level.NOTE, note, agent)
        yield from _secrets(agent, row)
        if row.worker_type == "human" and "script" not in row.settings:
            limit = row.deadline_s
            time = "waited for" if limit is None else f"given {limit:g} s for each move"
            yield ConfigurationMessage(Level.NOTE, f"{agent} is played by a person, who is {time}", agent)

    def _links(self, draft: Draft) -> Iterator[ConfigurationMessage]:
        for link in draft.links:
            row = draft.rows.get(link.primary)
            path = str(row.settings.get("checkpoint") or "") if row is not None else ""
            if row is None or not path:
                text = f"{link.primary} has no checkpoint that {listed(link.linked)} could share"
                yield ConfigurationMessage(
                    Level.ERROR, f"{text}: choose one in its row, or unlink them", link.primary
                )
                continue
            yield ConfigurationMessage(
                Level.OK, f"{listed(link.agents)} share {self.title(row)}, which is loaded once"
            )
            file = read_policy_file(Path(path))
            if file is not None and len(file.agents) == 1:
                yield ConfigurationMessage(
                    Level.NOTE, f"{self.title(row)} holds one policy: {listed(link.agents)} play it"
                )

    def _seats(self, draft: Draft, env_info: EnvironmentInfo) -> Iterator[ConfigurationMessage]:
        if draft.seats != "swap":
            return
        try:
            count = len(seatings(env_info.teams, env_info.slots, swap=True))
        except MosaicError as error:
            yield ConfigurationMessage(Level.ERROR, str(error))
        else:
            who = "teams change sides" if len(env_info.teams) > 1 else "agents change seats"
            yield ConfigurationMessage(Level.OK, f"Every seed is played {count} times: the {who}")

    def _not_offered(
        self,
        draft: Draft,
        env_id: str,
        workers: Mapping[AgentID, Sequence[WorkerOffer]],
        offered: set[str],
    ) -> Iterator[ConfigurationMessage]:
        """Yield notes on workers that fit no slot.

        There is one note per worker, one for all workers that can be installed, and one for all made for
        other environments. A chosen worker is left out, because its slot already reports the problem.
        """
        used = {row.worker_id for row in draft.rows.values()} | offered
        offers = [offer for of_slot in workers.values() for offer in of_slot]
        elsewhere: list[str] = []
        absent: list[WorkerTypeDefinition] = []
        for worker in self.workers.values():
            reasons = [offer.reason for offer in offers if offer.worker is worker]
            if not reasons or not all(reasons) or worker.type_id in used:
                continue
            if made_for_others(env_id, worker.capabilities.environments):
                elsewhere.append(worker.display_name)
                continue
            if self._remedy(worker):
                absent.append(worker)
                continue
            yield ConfigurationMessage(
                Level.NOTE, f"{worker.display_name} is not offered: {_after(worker, reasons[0])}"
            )
        if absent:
            are = "are" if len(absent) > 1 else "is"
            text = f"{listed([worker.display_name for worker in absent])} {are} not installed"
            yield ConfigurationMessage(Level.NOTE, text, workers=tuple(worker.type_id for worker in absent))
        if elsewhere:
            are = "are" if len(elsewhere) > 1 else "is"
            yield ConfigurationMessage(Level.NOTE, f"{listed(elsewhere)} {are} made for other environments")

    def _remedy(self, worker: WorkerTypeDefinition) -> tuple[str, ...]:
        """Return the worker's id in a tuple if installing the worker solves the problem; else ``()``."""
        return (worker.type_id,) if worker.type_id in self._installable else ()


def _absence(status: WorkerStatus) -> str:
    install = f". Run: {status.install}" if status.install else ""
    return f"Cannot start here: {status.reason}{install}"


def _after(worker: WorkerTypeDefinition, reason: str) -> str:
    """Return a reason in the form that follows the worker's name and a colon, without repeating the name."""
    rest = reason.removeprefix(f"{worker.display_name} ")
    return f"it {rest}" if rest != reason else without_capital(reason)


def _all_fit(env_info: EnvironmentInfo) -> str:
    if env_info.single:
        return "Observation and action spaces fit"
    count = len(env_info.slots)
    where = "both" if count == 2 else f"all {_NUMBERS.get(count, str(count))}"
    return f"Observation and action spaces fit in {where} slots"


_NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


def _other_part(slot: SlotInfo, worker: WorkerTypeDefinition, policy: Policy) -> str:
    """Return a part of a joint policy that fits a slot without its own part; ``""`` if none fits."""
    file = policy.file
    if file is None or len(file.agents) < 2 or part_of(file, slot.agent_id, None):
        return ""
    fitting = (a for a in file.agents if not fit(slot, worker, replace(policy, part=a).assignment(), file))
    return next(fitting, "")


def _checkpoint(
    agent: AgentID,
    row: WorkerAssignment,
    setting: str,
    env_info: EnvironmentInfo,
) -> Iterator[ConfigurationMessage]:
    written = row.settings.get(setting)
    if not isinstance(written, str) or not written:
        return
    path = Path(written).expanduser()
    if not path.exists():
        yield ConfigurationMessage(
            Level.ERROR, f"{agent}: there is no {written}; choose another checkpoint", agent
        )
        return
    file = read_policy_file(path)
    if file is None:
        return  # only its worker can read the file's format
    if file.env_id != env_info.env_id:
        yield ConfigurationMessage(Level.WARNING, f"{agent}: {path.name} was trained in {file.env_id}", agent)
    algorithm = str(row.settings.get("algorithm") or "").lower()
    if algorithm and file.algorithm and algorithm != file.algorithm:
        text = f"{agent}: {path.name} was trained with {file.algorithm}, not {algorithm}"
        yield ConfigurationMessage(Level.ERROR, f"{text}; leave the algorithm at its default", agent)


def _secrets(agent: AgentID, row: WorkerAssignment) -> Iterator[ConfigurationMessage]:
    """Yield a warning if a secret is missing, so that it shows before the run fails."""
    if not any(references(row.settings)):
        return
    try:
        resolve_secrets(row)
    except MosaicError as error:
        yield ConfigurationMessage(Level.WARNING, f"{agent}: {error}", agent)
