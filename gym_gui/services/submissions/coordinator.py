"""Coordinates the shards of a submission on several hosts until all are collected, for every executor.

Each action is written to disk before it is done (:mod:`.submission_record`), and every request to a host
can be repeated. So the coordinator can be killed at any moment: the next coordinator reads what was begun
and continues.

A *place* is a host, this machine or a cluster that plays shards. A *try* is one start of a shard.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gym_gui.core.errors import MosaicError, ProtocolError, UsageError
from gym_gui.processes.tree import signal_name
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.host_state import not_named, note_answer, save_log_tail
from gym_gui.services.submissions.shard_progress import OnShardProgress, progress_of
from gym_gui.services.submissions.shard_scheduler import MOST_TRIES, ShardScheduler
from gym_gui.services.submissions.shard_status import KILLED, ShardStatus
from gym_gui.services.submissions.submission_errors import (
    HostFailedError,
    HostUnreachableError,
    LocalMachineError,
)
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    SENT,
    STOPPED,
    WAITING,
    ShardState,
    Submission,
)
from gym_gui.services.submissions.training_mirror import TrainingMirror, TrainingSite

_LOOK_S: Final = 2.0
_SHARE, _SELDOM_S = 4.0, 30.0
"""After a slow status request, the pause is ``_SHARE`` times its duration, at most ``_SELDOM_S`` seconds."""
_ENDING_S: Final = 45.0
"""Seconds to wait for shards to end. A training has 30 s to save what it has learned."""
_LATE_S: Final = 60.0
"""Seconds to wait for the files of a complete shard on a slow disk."""
_USAGE: Final = 2
"""Exit status of a command that refuses its arguments."""
_TROUBLE: Final = (HostUnreachableError, HostFailedError, ProtocolError)

_log = logging.getLogger(__name__)


class Coordinator:
    """Plays all shards of a submission on hosts or a cluster, and collects their results.

    Args:
        submission: The submission, which is saved after each change.
        backends: The hosts or the cluster that play the shards.
        on_standing: Called with the progress of the submission.
        look_s: Seconds between two status requests to a host.
        leases: Distributes budgets that hold for all shards together.
    """

    def __init__(
        self,
        submission: Submission,
        backends: Sequence[ExecutorBackend],
        on_standing: OnShardProgress,
        *,
        look_s: float = _LOOK_S,
        leases: BudgetLeases | None = None,
    ) -> None:
        self._submission, self._backends, self._tell = submission, backends, on_standing
        self._look_s, self._leases = look_s, leases
        trainings = submission.trainings
        self._mirror = TrainingMirror(submission, trainings) if trainings is not None else None
        self._stopping = asyncio.Event()
        self._given_up: dict[str, str] = {}
        self._prepared: set[str] = set()
        self._awaited: dict[tuple[int, int], float] = {}
        self._scheduler = ShardScheduler(submission, backends, self._given_up, leases)

    def stop(self) -> None:
        """Ask all running shards to end. Their finished episodes stay on their hosts."""
        self._stopping.set()

    @property
    def is_stopped(self) -> bool:
        """Whether the submission was stopped before all shards were played."""
        return self._stopping.is_set() and bool(self._scheduler.open)

    async def run(self) -> None:
        """Play until each shard is collected, has failed too often, or is stopped.

        Raises:
            UsageError: No host can be used. Nothing is lost, and the submission can be resumed.
        """
        names = {backend.name for backend in self._backends}
        for state in self._submission.states.values():
            # The user who resumes the submission has fixed the problem and may have changed the hosts.
            if state.status == SENT and state.host not in names and self._leases is not None:
                self._leases.charge_lost_host(state.host)
            again = state.status == FAILED and not self._stopping.is_set()
            if again or (state.status == SENT and state.host not in names):
                state.status = WAITING
            state.lost = 0
        self._submission.places.clear()
        serving = [asyncio.create_task(self._serve(backend)) for backend in self._backends]
        try:
            await asyncio.gather(*serving)
        finally:
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)
            await asyncio.gather(*(backend.close() for backend in self._backends))
            self._submission.save()
        self._show()
        if self._scheduler.open and not self._stopping.is_set():
            reasons = "; ".join(self._given_up.values())
            parts = f"{len(self._scheduler.open)} of {self._submission.of} {self._submission.parts}"
            raise UsageError(
                f"no host can play {parts}: {reasons}",
                fix=f"Solve that, then resume: mosaic {self._submission.command} --resume "
                f"{self._submission.folder}",
            )

    async def clear(self) -> bool:
        """Remove the files of the submission from all of its hosts.

        Files stay on hosts that do not answer or that the profile no longer names.

        Returns:
            Whether all files were removed.
        """
        submission = self._submission
        left: list[str] = []
        for backend in self._backends:
            if backend.name not in submission.places_used:
                continue
            try:
                await backend.check()
                await backend.clear()
            except MosaicError as error:
                left.append(str(error))
            else:
                submission.emptied.add(backend.name)
            finally:
                await backend.close()
        left += not_named(submission, [backend.name for backend in self._backends])
        for words in left:
            _log.warning("Not removed: %s", words)
        return not left

    # -- inside --------------------------------------------------------------------------

    async def _serve(self, backend: ExecutorBackend) -> None:
        away_since: float | None = None
        ready, taken_s = False, 0.0
        while self._scheduler.open and backend.name not in self._given_up:
            if self._stopping.is_set() and not self._scheduler.of(backend):
                return
            try:
                if not ready:
                    await backend.check()
                    # Record first: if this coordinator is killed now, the next one removes what was sent.
                    self._submission.used.add(backend.name)
                    self._submission.emptied.discard(backend.name)
                    self._submission.save()
                    await backend.prepare()
                    if mine := self._scheduler.of(backend):
                        # These attempts are recorded but perhaps not begun, because an earlier coordinator
                        # was killed or the host did not answer. ``start`` begins no attempt twice.
                        await backend.start(mine)
                    ready = True
                    self._prepared.add(backend.name)
                if self._stopping.is_set():
                    await self._end(backend)
                    return
                await self._fill(backend)
                begun = time.monotonic()
                await self._follow(backend)
                taken_s, away_since = time.monotonic() - begun, None
            except LocalMachineError:
                raise
            except UsageError as error:
                await self._end_unused(backend)
                self._give_up(backend, error.message)
            except _TROUBLE as error:
                if self._stopping.is_set():
                    _log.warning("Shards may still be running: %s", error)
                    return
                now = time.monotonic()
                away_since = away_since or now
                self._submission.place(backend.name).problem = error.message
                self._submission.save()
                if backend.name not in self._prepared or now - away_since >= backend.patience_s:
                    self._give_up(backend, error.message)
                ready = False
            await self._pause(max(self._look_s, min(_SHARE * taken_s, _SELDOM_S)))

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass

    def _give_up(self, backend: ExecutorBackend, reason: str) -> None:
        """Stop using a host, and return its shards to be played on other hosts."""
        self._given_up[backend.name] = reason
        place = self._submission.place(backend.name)
        place.problem, place.given_up = reason, True
        lost = self._scheduler.of(backend)
        if self._leases is not None:
            self._leases.charge_lost_host(backend.name)
        for number in lost:
            state = self._submission.states[number]
            state.status, state.problem = WAITING, reason
        self._submission.save()
        waiting = f"{len(lost)} {self._submission.parts} wait for another host"
        _log.warning("%s. The host is no longer used; %s.", reason, waiting)

    async def _end_unused(self, backend: ExecutorBackend) -> None:
        """End the shards that run on a host that is no longer used."""
        if mine := self._scheduler.of(backend):
            try:
                await backend.stop(mine, at_once=False)
            except _TROUBLE as error:
                _log.warning("Shards may still be running: %s", error)

    async def _fill(self, backend: ExecutorBackend) -> None:
        """Start shards, or batches of shards, until the host runs as many processes as it can."""
        room = self._scheduler.free_processes(backend)
        begun: dict[int, int] = {}
        while room > 0 and (batch := self._scheduler.next_batch(backend)):
            room -= 1
            for number in batch:
                state = self._submission.state(number)
                state.status, state.host, state.tries = SENT, backend.name, state.tries + 1
                state.kept, state.batch = state.done, batch[0] if len(batch) > 1 else 0
                state.playing, state.node, state.job = False, "", ""
                begun[number] = state.tries
        if begun:
            self._submission.save()
            await backend.start(begun)
        elif room > 0 and backend.deals and await self._move_waiting(backend):
            await self._fill(backend)

    async def _move_waiting(self, idle: ExecutorBackend) -> bool:
        """Move shards that wait on another host to an idle one, and return whether any were moved."""
        found = self._scheduler.steal_from(idle)
        if found is None:
            return False
        backend, late = found
        try:
            back = await backend.cancel_waiting({each: self._submission.states[each].tries for each in late})
        except _TROUBLE as error:
            _log.debug("Waiting shards were not moved: %s", error)
            return False
        for number in back:
            self._scheduler.put_back(number)
        self._submission.save()
        return bool(back)

    async def _follow(self, backend: ExecutorBackend) -> None:
        mine = self._scheduler.of(backend)
        if not mine:
            return
        refused = ""
        looks = await backend.status(mine)
        self._scheduler.saw(backend, looks)
        note_answer(self._submission.place(backend.name))
        if self._mirror is not None and isinstance(backend, TrainingSite):
            await self._mirror.follow(backend, mine)
        for number, seen in looks.items():
            state = self._submission.states[number]
            if (state.status, state.host, state.tries) != (SENT, backend.name, mine[number]):
                continue  # the shard was taken back in the meantime
            if seen.progress:
                state.done, state.failed, state.safe = seen.done, seen.failed, seen.done
            state.playing = seen.running and seen.begun
            state.node, state.job = seen.node or state.node, seen.job or state.job
            self._record_claim(backend, number, seen)
            if seen.running:
                continue
            if not seen.begun and self._scheduler.is_dealt(number):
                self._scheduler.put_back(number)  # the process that was to play the shard later was lost
            elif seen.is_complete or seen.is_out_of_budget:
                if not (missing := await self._fetch(backend, number)):
                    state.status, state.problem = COLLECTED, ""
                elif self._is_late(backend, number, state):
                    self._lose(backend, number, state, replace(seen, said=missing))
            elif state.asked:
                await self._take_stopped(backend, number, state)
            elif seen.code == _USAGE and not state.done:
                why = f"{backend.name} refuses {self._submission.called(number)}: {seen.said}"
                save_log_tail(self._submission.log(number, state.tries), seen.lines)
                refused = refused or why
            else:
                self._lose(backend, number, state, seen)
        self._submission.save()
        self._show()
        await self._send_leases(backend, mine, looks)
        if refused:
            raise UsageError(refused.rstrip("."))

    async def _fetch(self, backend: ExecutorBackend, number: int) -> str:
        """Collect the results of a shard; return why that failed, or ``""``."""
        try:
            await backend.fetch(number)
        except HostFailedError as error:
            return error.message
        return ""

    def _is_late(self, backend: ExecutorBackend, number: int, state: ShardState) -> bool:
        """Return whether the wait for the files of a complete shard has timed out."""
        now = time.monotonic()
        first = self._awaited.setdefault((number, state.tries), now)
        return now - first >= min(backend.patience_s, _LATE_S)

    def _record_claim(self, backend: ExecutorBackend, number: int, seen: ShardStatus) -> None:
        if self._leases is not None:
            self._leases.record_claim(
                number,
                backend.name,
                seen.claim,
                is_live=seen.running,
                is_over=seen.is_over,
                holder=seen.holder,
                after=seen.after,
            )

    async def _send_leases(
        self, backend: ExecutorBackend, tries: Mapping[int, int], looks: Mapping[int, ShardStatus]
    ) -> None:
        """Renew the budget leases of a host's shards, and send them to the host."""
        if self._leases is None:
            return
        states, known = (
            self._submission.states,
            {each.name for each in self._backends} - self._given_up.keys(),
        )
        again = (states[n] for n in self._submission.numbers(WAITING) if n in states)
        self._leases.grant_budgets(more_to_come=any(each.tries and each.host in known for each in again))
        told = {number: tries[number] for number, seen in looks.items() if seen.running and seen.claim}
        if told:
            words = {n: self._leases.lease(n, backend.name, looks[n].holder) for n in told}
            await backend.write_leases(told, words)

    def _lose(self, backend: ExecutorBackend, number: int, state: ShardState, seen: ShardStatus) -> None:
        killed = (seen.code or 0) > KILLED
        why = str(seen.result.get("problem") or (seen.said if not killed else "") or _ended(seen.code))
        state.problem = f"{backend.name}: {why}"
        save_log_tail(self._submission.log(number, state.tries), seen.lines)
        # A try that has safe new work, for example until its time limit, does not count as lost in vain.
        state.lost = 1 if state.safe > state.kept else state.lost + 1
        state.status = WAITING if state.lost < MOST_TRIES else FAILED
        then = "begun again" if state.status == WAITING else f"given up after {state.lost} tries"
        called = self._submission.called(number)
        _log.warning("%s%s, %s; %s.", called[0].upper(), called[1:], state.problem.rstrip("."), then)

    async def _take_stopped(self, backend: ExecutorBackend, number: int, state: ShardState) -> None:
        """Collect a shard that the user has stopped. Nothing more of the shard will be played."""
        try:
            await backend.fetch(number)
        except HostFailedError:
            state.problem = "it was stopped before it had begun"
        state.status = STOPPED

    async def _end(self, backend: ExecutorBackend) -> None:
        """Ask the shards on a host to end, and wait until they have ended."""
        deadline = time.monotonic() + _ENDING_S
        mine = self._scheduler.of(backend)
        ended = dict(mine)
        if mine:
            await backend.stop(mine, at_once=False)
        while mine and time.monotonic() < deadline:
            for number, seen in (await backend.status(mine)).items():
                self._record_claim(backend, number, seen)
                if seen.running:
                    continue
                del mine[number]
                state = self._submission.states[number]
                if seen.progress:
                    state.done = state.safe = seen.done
                # The shard ended on request, so the try does not count as failed.
                state.status, state.batch, state.playing = WAITING, 0, False
            if mine:
                await asyncio.sleep(min(self._look_s, 1.0))
        if mine:
            await backend.stop(mine, at_once=True)
        if self._mirror is not None and isinstance(backend, TrainingSite):
            await self._mirror.follow(backend, ended)
        if self._leases is not None:
            self._leases.save()
        self._submission.save()

    def _show(self) -> None:
        if self._mirror is not None:
            self._mirror.note()
        self._tell(progress_of(self._submission))


def _ended(code: int | None) -> str:
    if code is None:
        return "its process was lost"
    if code <= KILLED:
        return f"ended with exit status {code}"
    memory = ", as the system does when memory runs out" if code - KILLED == signal.SIGKILL else ""
    return f"its process was killed ({signal_name(code - KILLED)}){memory}"
