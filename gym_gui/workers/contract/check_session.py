"""Performs the checks of the contract test on a worker process and words each finding."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field, replace

from gym_gui.core.enums import WorkerKind
from gym_gui.core.errors import MosaicError, SlotRefusedError, WorkerLaunchError
from gym_gui.core.paradigms.check import CheckResult, CheckStatus
from gym_gui.processes.tree import resident_mb
from gym_gui.wire import add_columns, pb
from gym_gui.workers.contract.check_probe import BEAT_S, Probe, ProbeLost
from gym_gui.workers.contract.check_rounds import Rounds, Table, first_difference, first_problem
from gym_gui.workers.contract.check_spaces import UNHEARD_OF, plays_anything
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.supervisor import SlotRequest

_THINKERS = (WorkerKind.LLM, WorkerKind.VLM, WorkerKind.HUMAN)
_RAISED = re.compile(r"[A-Z]\w*(Error|Exception|Interrupt)\b: ?")


@dataclass
class Ledger:
    """Findings and measurements of one contract test.

    Attributes:
        blame_load: Whether the test fails if the worker refuses the slot, because the caller gave the slot.
        grace_s: Seconds for the worker to end after a request to stop, or after the host has ended.
        found: Findings by name.
        stopped_by: Why the remaining checks were not done; ``""`` if all were.
    """

    blame_load: bool = False
    grace_s: float = 10.0
    found: dict[str, CheckResult] = field(default_factory=dict[str, CheckResult])
    stopped_by: str = ""
    policy: str = ""
    startup_s: float | None = None
    load_s: float | None = None
    memory_mb: float | None = None
    decision_ms: float | None = None

    def passed(self, name: str, detail: str) -> None:
        """Record that a check passed, unless it has a finding already."""
        self.found.setdefault(name, CheckResult(name, CheckStatus.PASSED, detail))

    def failed(self, name: str, detail: str) -> None:
        """Record that a check failed; the first failure of a check stays."""
        if name not in self.found or self.found[name].status is not CheckStatus.FAILED:
            self.found[name] = CheckResult(name, CheckStatus.FAILED, detail)

    def skipped(self, name: str, detail: str) -> None:
        """Record that a check does not apply, unless it has a finding already."""
        self.found.setdefault(name, CheckResult(name, CheckStatus.SKIPPED, detail))

    def verdict(self, name: str, problem: str, good: str) -> None:
        """Record a failure with ``problem``, or a pass with ``good`` if ``problem`` is empty."""
        if problem:
            self.failed(name, problem)
        else:
            self.passed(name, good)


async def check_session(
    definition: WorkerTypeDefinition,
    request: SlotRequest,
    rounds: Rounds,
    ledger: Ledger,
    patience_s: float,
    start_s: float,
) -> None:
    """Start a worker process, perform the checks that play with it, and stop the process."""
    probe = Probe(definition, request, patience_s, start_s)
    try:
        if await _begin(probe, definition, ledger):
            await _play(probe, definition, rounds, ledger)
        await _stop(probe, ledger)
    finally:
        await probe.process.stop(0.2)


async def _begin(probe: Probe, definition: WorkerTypeDefinition, ledger: Ledger) -> bool:
    try:
        ledger.startup_s = await probe.start()
    except WorkerLaunchError as exc:
        name = "handshake" if probe.process.welcome.ByteSize() else "start"
        if name == "handshake":
            ledger.passed("start", "it started and answered")
        ledger.failed(name, str(exc))
        ledger.stopped_by = "the process did not become ready"
        return False
    welcome = probe.process.welcome
    ledger.passed("start", f"ready after {ledger.startup_s:.2f} s")
    wrong = "" if welcome.worker == definition.type_id else f"it says it is {welcome.worker!r}"
    spoken = f"protocol {welcome.protocol}, {welcome.sdk or 'no SDK named'}"
    ledger.verdict("handshake", wrong, spoken)
    try:
        ledger.policy, ledger.load_s = await probe.load()
    except (SlotRefusedError, WorkerLaunchError) as exc:
        return _not_loaded(ledger, exc)
    shown = f" as {ledger.policy!r}" if ledger.policy else ""
    ledger.passed("load", f"loaded in {ledger.load_s:.2f} s{shown}")
    return True


def _not_loaded(ledger: Ledger, exc: MosaicError) -> bool:
    refused = isinstance(exc, SlotRefusedError)
    if refused and not ledger.blame_load and not _RAISED.search(exc.message):
        ledger.skipped(
            "load",
            f"{exc.message} (the test invented this slot: name an environment that the worker can play)",
        )
    else:
        ledger.failed("load", str(exc))
    ledger.stopped_by = "no slot was loaded"
    return False


async def _play(probe: Probe, definition: WorkerTypeDefinition, rounds: Rounds, ledger: Ledger) -> None:
    try:
        table = await _company(probe, definition, rounds, ledger)
        await _masks(probe, rounds, ledger)
        await _retries(probe, rounds, ledger)
        await _results(probe, rounds, ledger, table)
        await _endings(probe, rounds, ledger)
        await _refusal(probe, definition, rounds, ledger)
    except ProbeLost as exc:
        name = next(n for n in _STAGES if n not in ledger.found)
        ledger.failed(name, str(exc))
        ledger.stopped_by = "it was lost before"
        return
    finally:
        if probe.strays:
            ledger.failed("answers", probe.strays[0])
    ledger.memory_mb = await asyncio.to_thread(resident_mb, probe.process.tag)
    ledger.passed("output", f"{probe.process.lines:,} printed and logged lines disturbed no message")


_STAGES = ("answers", "masks", "retries", "results", "endings", "refusal", "output")


async def _company(probe: Probe, definition: WorkerTypeDefinition, rounds: Rounds, ledger: Ledger) -> Table:
    together = await rounds.play_all_at_once(probe)
    begin = time.perf_counter()
    alone = await rounds.one_by_one(probe)
    ledger.decision_ms = (time.perf_counter() - begin) * 1e3 / len(alone)
    in_turn = await rounds.in_turn(probe)
    problem = first_problem(together) or first_problem(alone) or first_problem(in_turn)
    ledger.verdict("legal", problem, f"{3 * len(together)} actions checked")
    for name, other in (("batches", alone), ("episodes", in_turn)):
        differs = first_difference(together, other)
        if problem:
            ledger.skipped(name, "not compared: answers are missing or illegal")
        elif differs and definition.kind in _THINKERS:
            ledger.skipped(name, f"{differs}: an answer of a {definition.kind} need not repeat")
        else:
            ledger.verdict(name, differs, "the same answers in other batches and orders")
    ledger.passed("answers", f"{len(together)} decisions, alone and together")
    return together


async def _masks(probe: Probe, rounds: Rounds, ledger: Ledger) -> None:
    if not rounds.can_mask:
        ledger.skipped("masks", "no actions are masked here")
        return
    table = await rounds.play_all_at_once(probe, masked=True)
    ledger.verdict("masks", first_problem(table), f"{len(table)} masked actions checked")


async def _retries(probe: Probe, rounds: Rounds, ledger: Ledger) -> None:
    probe.send_results(starts={0: rounds.seeds[0]})
    asked = [rounds.question(0, 0, attempt=attempt) for attempt in (0, 1, 2)]
    table: Table = {}
    for k, question in enumerate(asked):
        (table[0, k],) = await probe.ask([question])
    probe.send_results(ends=[0])
    ledger.verdict("retries", first_problem(table), "repeated decisions were answered")


async def _results(probe: Probe, rounds: Rounds, ledger: Ledger, table: Table) -> None:
    if not probe.process.welcome.wants_results:
        ledger.skipped("results", "the worker requests no results")
        return
    results, usable = pb.Results(), [(e, reply) for (e, t), reply in table.items() if t == 0 and reply.parts]
    for episode, _ in usable:
        results.episodes.append(episode)
        results.steps.append(0)
        results.rewards.append(-0.5)
        results.terminated.append(False)
        results.truncated.append(False)
    seen = [probe.observation_codec.encode(rounds.question(episode, 1).observation) for episode, _ in usable]
    add_columns(results.observation, probe.observation_codec.join(seen))
    add_columns(results.action, probe.action_codec.join([reply.parts for _, reply in usable]))
    probe.send_results(starts=rounds.seeds)
    probe.send_results(results=results)
    await probe.ask([rounds.question(e, 1) for e in rounds.seeds])
    probe.send_results(ends=list(rounds.seeds))
    ledger.passed("results", f"{len(usable)} results accepted")


async def _endings(probe: Probe, rounds: Rounds, ledger: Ledger) -> None:
    probe.send_results(starts={0: rounds.seeds[0], 1: rounds.seeds[1]})
    probe.post([rounds.question(0, 0)])
    probe.send_results(ends=[0, 1])
    probe.send_results(starts={0: rounds.seeds[0]})
    (reply,) = await probe.ask([rounds.question(0, 0)])
    probe.send_results(ends=[0])
    ledger.verdict(
        "endings", reply.problem, "episodes ended with an open decision and without one, and began again"
    )


async def _refusal(probe: Probe, definition: WorkerTypeDefinition, rounds: Rounds, ledger: Ledger) -> None:
    odd = replace(probe.request, agent_id="agent_1", observation_space=UNHEARD_OF, action_space=UNHEARD_OF)
    if definition.kind is WorkerKind.HUMAN or plays_anything(definition.capabilities.action_spaces):
        ledger.skipped("refusal", "the worker claims to support every action space")
        return
    try:
        await probe.process.load(odd.message(1))
    except WorkerLaunchError as exc:
        raise ProbeLost(f"over a slot that it cannot play, it {probe.process.outcome_words}") from exc
    except SlotRefusedError as exc:
        sentence = exc.message.partition(f"cannot play {odd.agent_id}: ")[2]
        raised = f"it raised instead of saying why: {sentence}" if _RAISED.match(sentence) else ""
        ledger.verdict("refusal", raised, sentence)
    else:
        ledger.failed("refusal", "it loaded a slot whose action space it cannot know")
        return
    probe.send_results(starts={0: rounds.seeds[0]})
    await probe.ask([rounds.question(0, 0)])
    probe.send_results(ends=[0])


async def _stop(probe: Probe, ledger: Ledger) -> None:
    process = probe.process
    if process.outcome is not None:
        return
    begin = time.perf_counter()
    await process.stop(ledger.grace_s)
    assert process.outcome is not None
    words = process.outcome.words
    if process.outcome.succeeded:
        ledger.passed("stop", f"ended {time.perf_counter() - begin:.2f} s after the request")
    else:
        ledger.failed("stop", f"asked to stop, it {words} after {time.perf_counter() - begin:.1f} s")
    left = len(process.outcome.left_behind)
    problem = f"{left} process{'es' if left > 1 else ''} that it started remained" if left else ""
    ledger.verdict("leftovers", problem, "no process remained")


async def check_end_of_input(
    definition: WorkerTypeDefinition,
    request: SlotRequest,
    ledger: Ledger,
    patience_s: float,
    start_s: float,
    idle_s: float,
) -> None:
    """Check the heartbeat of a second, idle process, and whether it ends when the connection closes.

    Args:
        definition: The worker.
        request: The slot.
        ledger: Collects the findings.
        patience_s: Longest wait for an answer in seconds.
        start_s: Longest wait for the process to be ready in seconds.
        idle_s: Longest wait for a heartbeat in seconds.
    """
    probe = Probe(definition, request, patience_s, start_s)
    try:
        await probe.start()
        if ledger.found["load"].status is CheckStatus.PASSED:
            await probe.load()
        await _heartbeat(probe, idle_s, ledger)
        if probe.process.outcome is None:
            await _hang_up(probe, ledger)
    except WorkerLaunchError as exc:
        ledger.failed("end_of_input", f"a second process did not start: {exc}")
    finally:
        await probe.process.stop(0.2)


async def _heartbeat(probe: Probe, idle_s: float, ledger: Ledger) -> None:
    if not probe.process.welcome.alive:
        ledger.skipped("heartbeat", "the worker promises none: only deadlines detect that it hangs")
        return
    try:
        await asyncio.wait_for(probe.process.alive.wait(), idle_s)
    except TimeoutError:
        ledger.failed("heartbeat", f"no heartbeat in {idle_s:g} s, but one every {BEAT_S:g} s was requested")
    else:
        ledger.passed("heartbeat", "a heartbeat arrived")


async def _hang_up(probe: Probe, ledger: Ledger) -> None:
    begin = time.perf_counter()
    probe.process.hang_up()
    try:
        await asyncio.wait_for(probe.ended.wait(), ledger.grace_s)
    except TimeoutError:
        ledger.failed("end_of_input", f"still runs {ledger.grace_s:g} s after the host ended")
        return
    ledger.passed("end_of_input", f"ended {time.perf_counter() - begin:.2f} s after the host ended")
