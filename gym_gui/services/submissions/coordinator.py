"""Has shards played on several machines until each is there: the one mechanism behind every executor.

Everything that it does is on disk before it is done (:mod:`.submission_record`), and what it asks of a host
can be asked twice. So it can be killed at any moment: the next one finds what was begun, and follows it.
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
from gym_gui.services.submissions.dealing import MOST_TRIES, Dealing
from gym_gui.services.submissions.lease_book import LeaseBook
from gym_gui.services.submissions.places import keep_said, not_named, note_answer
from gym_gui.services.submissions.shard_look import KILLED, ShardLook
from gym_gui.services.submissions.site_protocol import Site
from gym_gui.services.submissions.standing import OnStanding, standing_of
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
from gym_gui.services.submissions.trouble import HereError, HostAwayError, HostFailedError

_LOOK_S: Final = 2.0
_SHARE, _SELDOM_S = 4.0, 30.0
"""A look that takes long, at many shards or a slow disk, is followed by a pause of so many times that."""
_ENDING_S: Final = 45.0
"""A training has 30 s to keep what it has learnt."""
_LATE_S: Final = 60.0
"""Time after which what a shard has written is there, on a disk that lags."""
_USAGE: Final = 2
"""Exit status of a command that has refused what it was asked."""
_TROUBLE: Final = (HostAwayError, HostFailedError, ProtocolError)

_log = logging.getLogger(__name__)


class Coordinator:
    """Has all shards of a submission played.

    Args:
        submission: What is played; saved after each change.
        sites: Where.
        on_standing: Told how far it is.
        look_s: Seconds between two looks at a place.
        leases: Who may spend how much, where budgets hold for all shards together.
    """

    def __init__(
        self,
        submission: Submission,
        sites: Sequence[Site],
        on_standing: OnStanding,
        *,
        look_s: float = _LOOK_S,
        leases: LeaseBook | None = None,
    ) -> None:
        self._submission, self._sites, self._tell = submission, sites, on_standing
        self._look_s, self._leases = look_s, leases
        trainings = submission.trainings
        self._mirror = TrainingMirror(submission, trainings) if trainings is not None else None
        self._stopping = asyncio.Event()
        self._given_up: dict[str, str] = {}
        self._prepared: set[str] = set()
        self._awaited: dict[tuple[int, int], float] = {}
        self._dealing = Dealing(submission, sites, self._given_up, leases)

    def stop(self) -> None:
        """Have everything that is being played end; what is done is kept where it is."""
        self._stopping.set()

    @property
    def is_stopped(self) -> bool:
        """Whether it was stopped before all was played."""
        return self._stopping.is_set() and bool(self._dealing.open)

    async def run(self) -> None:
        """Play until every shard is here, has failed too often, or is stopped.

        Raises:
            UsageError: Not one place can be used; nothing is lost, and the submission can be resumed.
        """
        names = {site.name for site in self._sites}
        for state in self._submission.states.values():
            # The user who resumes it has mended what was wrong, and may have changed the hosts.
            if state.status == SENT and state.host not in names and self._leases is not None:
                self._leases.lose(state.host)
            again = state.status == FAILED and not self._stopping.is_set()
            if again or (state.status == SENT and state.host not in names):
                state.status = WAITING
            state.lost = 0
        self._submission.places.clear()
        serving = [asyncio.create_task(self._serve(site)) for site in self._sites]
        try:
            await asyncio.gather(*serving)
        finally:
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)
            await asyncio.gather(*(site.close() for site in self._sites))
            self._submission.save()
        self._show()
        if self._dealing.open and not self._stopping.is_set():
            reasons = "; ".join(self._given_up.values())
            parts = f"{len(self._dealing.open)} of {self._submission.of} {self._submission.parts}"
            raise UsageError(
                f"{parts} can be played nowhere: {reasons}",
                fix=f"Fix that, then resume it: mosaic {self._submission.command} --resume "
                f"{self._submission.folder}",
            )

    async def clear(self) -> bool:
        """Remove what is left on all places; one that is away, or that the profile names no more, keeps it.

        Returns:
            Whether nothing is left.
        """
        submission = self._submission
        left: list[str] = []
        for site in self._sites:
            if site.name not in submission.places_used:
                continue
            try:
                await site.check()
                await site.clear()
            except MosaicError as error:
                left.append(str(error))
            else:
                submission.emptied.add(site.name)
            finally:
                await site.close()
        left += not_named(submission, [site.name for site in self._sites])
        for words in left:
            _log.warning("Not removed there: %s", words)
        return not left

    # -- inside --------------------------------------------------------------------------

    async def _serve(self, site: Site) -> None:
        away_since: float | None = None
        ready, taken_s = False, 0.0
        while self._dealing.open and site.name not in self._given_up:
            if self._stopping.is_set() and not self._dealing.of(site):
                return
            try:
                if not ready:
                    await site.check()
                    # First: what a coordinator has sent that is killed now, the next one removes.
                    self._submission.used.add(site.name)
                    self._submission.emptied.discard(site.name)
                    self._submission.save()
                    await site.prepare()
                    if mine := self._dealing.of(site):
                        # Written down, and perhaps not begun: the coordinator before was killed, or the place
                        # went away meanwhile. No try is begun twice.
                        await site.start(mine)
                    ready = True
                    self._prepared.add(site.name)
                if self._stopping.is_set():
                    await self._end(site)
                    return
                await self._fill(site)
                begun = time.monotonic()
                await self._follow(site)
                taken_s, away_since = time.monotonic() - begun, None
            except HereError:
                raise
            except UsageError as error:
                await self._send_away(site)
                self._give_up(site, error.message)
            except _TROUBLE as error:
                if self._stopping.is_set():
                    _log.warning("Shards there may go on: %s", error)
                    return
                now = time.monotonic()
                away_since = away_since or now
                self._submission.place(site.name).problem = error.message
                self._submission.save()
                if site.name not in self._prepared or now - away_since >= site.patience_s:
                    self._give_up(site, error.message)
                ready = False
            await self._pause(max(self._look_s, min(_SHARE * taken_s, _SELDOM_S)))

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass

    def _give_up(self, site: Site, reason: str) -> None:
        """Play nothing more there; what it was playing is played elsewhere."""
        self._given_up[site.name] = reason
        place = self._submission.place(site.name)
        place.problem, place.given_up = reason, True
        lost = self._dealing.of(site)
        if self._leases is not None:
            self._leases.lose(site.name)
        for number in lost:
            state = self._submission.states[number]
            state.status, state.problem = WAITING, reason
        self._submission.save()
        waiting = f"{len(lost)} {self._submission.parts} wait for another place"
        _log.warning("%s. Nothing more is played there; %s.", reason, waiting)

    async def _send_away(self, site: Site) -> None:
        """End what is being played at a place that is used no more."""
        if mine := self._dealing.of(site):
            try:
                await site.stop(mine, at_once=False)
            except _TROUBLE as error:
                _log.warning("Shards there may go on: %s", error)

    async def _fill(self, site: Site) -> None:
        """Give a place as many shards as it plays at once; or as many hands of several."""
        room = self._dealing.room(site)
        begun: dict[int, int] = {}
        while room > 0 and (hand := self._dealing.next_hand(site)):
            room -= 1
            for number in hand:
                state = self._submission.state(number)
                state.status, state.host, state.tries = SENT, site.name, state.tries + 1
                state.kept, state.hand = state.done, hand[0] if len(hand) > 1 else 0
                state.playing, state.node, state.job = False, "", ""
                begun[number] = state.tries
        if begun:
            self._submission.save()
            await site.start(begun)
        elif room > 0 and site.deals and await self._relieve(site):
            await self._fill(site)

    async def _relieve(self, idle: Site) -> bool:
        """Take back what waits for its turn elsewhere, as a place has nothing to do; returns whether any."""
        found = self._dealing.to_take_back(idle)
        if found is None:
            return False
        site, late = found
        try:
            back = await site.take_back({each: self._submission.states[each].tries for each in late})
        except _TROUBLE as error:
            _log.debug("What waits there was not taken back: %s", error)
            return False
        for number in back:
            self._dealing.put_back(number)
        self._submission.save()
        return bool(back)

    async def _follow(self, site: Site) -> None:
        mine = self._dealing.of(site)
        if not mine:
            return
        refused = ""
        looks = await site.look(mine)
        self._dealing.saw(site, looks)
        note_answer(self._submission.place(site.name))
        if self._mirror is not None and isinstance(site, TrainingSite):
            await self._mirror.follow(site, mine)
        for number, seen in looks.items():
            state = self._submission.states[number]
            if (state.status, state.host, state.tries) != (SENT, site.name, mine[number]):
                continue  # taken back meanwhile
            if seen.progress:
                state.done, state.failed, state.safe = seen.done, seen.failed, seen.done
            state.playing = seen.running and seen.begun
            state.node, state.job = seen.node or state.node, seen.job or state.job
            self._hear(site, number, seen)
            if seen.running:
                continue
            if not seen.begun and self._dealing.is_dealt(number):
                self._dealing.put_back(number)  # its process was lost with another one
            elif seen.is_complete or seen.is_out_of_budget:
                if not (missing := await self._fetch(site, number)):
                    state.status, state.problem = COLLECTED, ""
                elif self._is_late(site, number, state):
                    self._lose(site, number, state, replace(seen, said=missing))
            elif state.asked:
                await self._take_stopped(site, number, state)
            elif seen.code == _USAGE and not state.done:
                why = f"{site.name} refuses {self._submission.called(number)}: {seen.said}"
                keep_said(self._submission.log(number, state.tries), seen.lines)
                refused = refused or why
            else:
                self._lose(site, number, state, seen)
        self._submission.save()
        self._show()
        await self._share_out(site, mine, looks)
        if refused:
            raise UsageError(refused.rstrip("."))

    async def _fetch(self, site: Site, number: int) -> str:
        """Bring a shard here; returns why that cannot be."""
        try:
            await site.fetch(number)
        except HostFailedError as error:
            return error.message
        return ""

    def _is_late(self, site: Site, number: int, state: ShardState) -> bool:
        """Whether a shard that is said to be complete, and is not there, is waited for no more."""
        now = time.monotonic()
        first = self._awaited.setdefault((number, state.tries), now)
        return now - first >= min(site.patience_s, _LATE_S)

    def _hear(self, site: Site, number: int, seen: ShardLook) -> None:
        if self._leases is not None:
            self._leases.hear(
                number,
                site.name,
                seen.claim,
                is_live=seen.running,
                is_over=seen.is_over,
                holder=seen.holder,
                after=seen.after,
            )

    async def _share_out(self, site: Site, tries: Mapping[int, int], looks: Mapping[int, ShardLook]) -> None:
        """Renew the leases of a place's shards, and say what they have been given."""
        if self._leases is None:
            return
        states, known = self._submission.states, {each.name for each in self._sites} - self._given_up.keys()
        again = (states[n] for n in self._submission.numbers(WAITING) if n in states)
        self._leases.share_out(more_to_come=any(each.tries and each.host in known for each in again))
        told = {number: tries[number] for number, seen in looks.items() if seen.running and seen.claim}
        if told:
            words = {n: self._leases.lease(n, site.name, looks[n].holder) for n in told}
            await site.tell(told, words)

    def _lose(self, site: Site, number: int, state: ShardState, seen: ShardLook) -> None:
        killed = (seen.code or 0) > KILLED
        why = str(seen.result.get("problem") or (seen.said if not killed else "") or _ended(seen.code))
        state.problem = f"{site.name}: {why}"
        keep_said(self._submission.log(number, state.tries), seen.lines)
        # A try that has played something, until its time was over say, was none in vain.
        state.lost = 1 if state.safe > state.kept else state.lost + 1
        state.status = WAITING if state.lost < MOST_TRIES else FAILED
        then = "begun again" if state.status == WAITING else f"given up after {state.lost} tries"
        called = self._submission.called(number)
        _log.warning("%s%s, %s; %s.", called[0].upper(), called[1:], state.problem.rstrip("."), then)

    async def _take_stopped(self, site: Site, number: int, state: ShardState) -> None:
        """A person has had it end: what it has kept is all that there will be."""
        try:
            await site.fetch(number)
        except HostFailedError:
            state.problem = "it was stopped before it had begun"
        state.status = STOPPED

    async def _end(self, site: Site) -> None:
        """Have what a place plays end, and wait for that."""
        deadline = time.monotonic() + _ENDING_S
        mine = self._dealing.of(site)
        ended = dict(mine)
        if mine:
            await site.stop(mine, at_once=False)
        while mine and time.monotonic() < deadline:
            for number, seen in (await site.look(mine)).items():
                self._hear(site, number, seen)
                if seen.running:
                    continue
                del mine[number]
                state = self._submission.states[number]
                if seen.progress:
                    state.done = state.safe = seen.done
                # Asked to: that was no try that failed.
                state.status, state.hand, state.playing = WAITING, 0, False
            if mine:
                await asyncio.sleep(min(self._look_s, 1.0))
        if mine:
            await site.stop(mine, at_once=True)
        if self._mirror is not None and isinstance(site, TrainingSite):
            await self._mirror.follow(site, ended)
        if self._leases is not None:
            self._leases.save()
        self._submission.save()

    def _show(self) -> None:
        if self._mirror is not None:
            self._mirror.note()
        self._tell(standing_of(self._submission))


def _ended(code: int | None) -> str:
    if code is None:
        return "its process was lost"
    if code <= KILLED:
        return f"ended with exit status {code}"
    memory = ", as the system does where memory is used up" if code - KILLED == signal.SIGKILL else ""
    return f"its process was killed ({signal_name(code - KILLED)}){memory}"
