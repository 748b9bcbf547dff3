"""Contract test for workers, which any user can run.

``mosaic workers check ID`` runs the test; from Python::
    report = check_worker(definition)
    assert report.ok, "\\n".join(report.lines())
The test starts a real process twice and checks it against ``docs/worker_protocol.md``. It needs no
environment: it constructs a slot from the manifest, unless the caller gives one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gym_gui.core.paradigms.check import CheckReport, CheckResult, CheckStatus
from gym_gui.workers.contract.check_probe import Question
from gym_gui.workers.contract.check_rounds import Rounds
from gym_gui.workers.contract.check_session import Ledger, check_end_of_input, check_session
from gym_gui.workers.contract.check_spaces import action_space_for, observation_space_for
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.supervisor import SlotRequest

FINDINGS: Mapping[str, str] = {
    "start": "the process starts and sends Welcome",
    "handshake": "Welcome names this worker and this version of the protocol",
    "load": "a slot that fits is loaded",
    "answers": "each decision is answered once, alone and among many",
    "legal": "actions are in the action space",
    "masks": "actions respect the action mask",
    "batches": "an answer does not depend on the other questions in its batch",
    "episodes": "an answer does not depend on other episodes in flight",
    "retries": "a decision asked again with a reason is answered",
    "results": "results of actions are accepted, if the worker requests them",
    "endings": "episodes may end at any time, with an open decision or without one",
    "refusal": "a slot that the worker cannot play is refused with a sentence, and other slots continue",
    "output": "printed and logged lines do not disturb the messages",
    "stop": "the worker ends on request",
    "leftovers": "no process that the worker started remains after its end",
    "heartbeat": "promised heartbeats arrive",
    "end_of_input": "the worker ends after the host has ended",
}
"""Name and meaning of each check in the contract test of workers, in the order of the report."""


@dataclass(frozen=True)
class WorkerCheckReport(CheckReport):
    """Findings and measurements of the contract test of one worker.

    Attributes:
        worker_id: The worker.
        policy: The worker's name for its policy.
        startup_s: Seconds from the start of the process to its ``Welcome``.
        load_s: Seconds to load the slot.
        memory_mb: Resident memory of the worker's processes after the decisions, in MB.
        decision_ms: Milliseconds per decision, one decision at a time.
    """

    worker_id: str = ""
    policy: str = ""
    startup_s: float | None = None
    load_s: float | None = None
    memory_mb: float | None = None
    decision_ms: float | None = None

    def measures(self) -> list[str]:
        """Return the measurements as text with units, one string each."""
        shown = (
            ("start-up", self.startup_s, "s"),
            ("loading", self.load_s, "s"),
            ("memory", self.memory_mb, "MB"),
            ("one decision", self.decision_ms, "ms"),
        )
        return [f"{name} {value:.3g} {unit}" for name, value, unit in shown if value is not None]


def check_worker(
    definition: WorkerTypeDefinition,
    *,
    observation_space: Any = None,
    action_space: Any = None,
    settings: Mapping[str, Any] | None = None,
    env_id: str = "Check-v0",
    action_meanings: Sequence[str] = (),
    episodes: Sequence[Sequence[Question]] | None = None,
    simulator: str = "",
    must_play: bool | None = None,
    patience_s: float = 30.0,
    start_s: float = 120.0,
    idle_s: float = 5.0,
    grace_s: float = 10.0,
) -> WorkerCheckReport:
    """Start a worker and check its messages against the worker protocol.

    Must not be called while an event loop runs in this thread.

    Args:
        definition: The worker.
        observation_space: Observation space of the slot; by default one from the worker's capabilities.
        action_space: Action space of the slot; by default one from the worker's capabilities.
        settings: Settings of the slot, which override the manifest's defaults. A worker that needs a
            checkpoint gets its path here.
        env_id: Name of the environment that the slot receives.
        action_meanings: Name of each discrete action, or empty.
        episodes: Questions to the worker, episode by episode; by default made from the slot's spaces.
        simulator: Description of the simulator in the environment as JSON, see :class:`SlotRequest`.
        must_play: Whether the test fails if the worker refuses the slot; by default true if settings or an
            action space are given.
        patience_s: Longest wait for an answer in seconds.
        start_s: Longest wait for the process to be ready in seconds.
        idle_s: Longest wait for a promised heartbeat in seconds.
        grace_s: Seconds in which the worker must end after a request to stop, or after the host has ended. A
            session waits 2 s before it kills the worker; here the machine may be slow.

    Returns:
        A report with the findings of :data:`FINDINGS`. If a worker refuses a slot that it need not play, the
            test does not fail, and the other findings are ``skipped``.

    Raises:
        UsageError: The default of one of the worker's settings is not valid.
    """
    definition.check_defaults()
    definition.check_settings(settings or {}, "settings")
    capabilities = definition.capabilities
    observations, actions = observation_space, action_space
    if observations is None:
        observations = observation_space_for(capabilities.observation_spaces)
    if actions is None:
        actions = action_space_for(capabilities.action_spaces)
    given = definition.placed(definition.with_defaults(settings or {}))
    request = SlotRequest(
        "agent_0", env_id, observations, actions, given, tuple(action_meanings), simulator=simulator
    )
    if must_play is None:
        must_play = settings is not None or action_space is not None
    ledger = Ledger(blame_load=must_play, grace_s=grace_s)
    rounds = Rounds(request, episodes)
    asyncio.run(_try_both(definition, request, rounds, ledger, patience_s, start_s, idle_s))
    return _report(definition.type_id, ledger)


async def _try_both(
    definition: WorkerTypeDefinition,
    request: SlotRequest,
    rounds: Rounds,
    ledger: Ledger,
    patience_s: float,
    start_s: float,
    idle_s: float,
) -> None:
    await check_session(definition, request, rounds, ledger, patience_s, start_s)
    if "load" in ledger.found and ledger.found["load"].status is not CheckStatus.FAILED:
        await check_end_of_input(definition, request, ledger, patience_s, start_s, idle_s)


def _report(worker_id: str, ledger: Ledger) -> WorkerCheckReport:
    reason = ledger.stopped_by or "not reached"
    findings = [
        ledger.found.get(name, CheckResult(name, CheckStatus.SKIPPED, f"not checked: {reason}"))
        for name in FINDINGS
    ]
    return WorkerCheckReport(
        tuple(findings),
        worker_id=worker_id,
        policy=ledger.policy,
        startup_s=ledger.startup_s,
        load_s=ledger.load_s,
        memory_mb=ledger.memory_mb,
        decision_ms=ledger.decision_ms,
    )
