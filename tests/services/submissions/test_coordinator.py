"""What becomes of shards where places fail: a place in memory says what a host would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.controllers.runs.budget_message import RUN
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.leases import Claim, Lease
from gym_gui.core.experiment.spending import Amount
from gym_gui.services.submissions import submission_record
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.coordinator import Coordinator
from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.host_state import name_other_places
from gym_gui.services.submissions.shard_progress import ShardProgress
from gym_gui.services.submissions.shard_status import ShardStatus
from gym_gui.services.submissions.submission_errors import (
    HostFailedError,
    HostUnreachableError,
    LocalMachineError,
)
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    SENT,
    ShardState,
    Submission,
    open_submission,
)

PLAYS = ShardStatus(True, None, {}, [{"done": 1}], "")
DONE = ShardStatus(False, 0, {"status": "completed"}, [{"done": 4, "failed": 1}], "")
WAITS = ShardStatus(True, None, {}, (), "", begun=False)
GONE = ShardStatus(False, None, {}, (), "", begun=False)
LOST = ShardStatus(False, None, {}, (), "")
REFUSED = ShardStatus(False, 2, {}, (), "no such package")
ENDED = ShardStatus(False, 130, {"status": "stopped"}, [{"done": 2}], "")


class Place:
    """A place: says of each shard at each look what ``says`` says."""

    deals = False

    def __init__(self, name: str, says: Callable[[int, int], ShardStatus], capacity: int = 2) -> None:
        self.name, self.capacity, self._says = name, capacity, says
        self.patience_s = 0.0
        self.started: list[tuple[int, int]] = []
        self.fetched: list[int] = []
        self.stopped: list[int] = []
        self.cleared = 0
        self.told: list[dict[int, str]] = []

    async def check(self) -> None:
        pass

    async def prepare(self) -> None:
        pass

    async def start(self, tries: Mapping[int, int]) -> None:
        self.started += tries.items()

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        return {number: self._says(number, attempt) for number, attempt in tries.items()}

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        return []

    async def write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        self.told.append({number: words[number] for number in tries})

    async def fetch(self, number: int) -> None:
        self.fetched.append(number)

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        self.stopped += tries

    async def clear(self) -> None:
        self.cleared += 1

    async def close(self) -> None:
        pass


class Dealt(Place):
    """A place that plays several by one process: one of each hand at each look.

    Args:
        name: Its name.
        submission: Whose batches.
        every: At how many looks it plays one of each.
        kills: A try with which its process is lost.
    """

    deals = True

    def __init__(
        self,
        name: str,
        submission: Submission,
        *,
        capacity: int = 1,
        every: int = 1,
        kills: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(name, lambda number, attempt: DONE, capacity)
        self._submission, self._every, self._kills = submission, every, kills
        self._looks = 0
        self._done: set[tuple[int, int]] = set()
        self.batches: list[list[int]] = []

    async def start(self, tries: Mapping[int, int]) -> None:
        await super().start(tries)
        self.batches += [[n for n, _ in batch] for batch in self._submission.batches(tries)]

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        self._looks += 1
        found: dict[int, ShardStatus] = {}
        for batch in self._submission.batches(tries):
            first, *others = batch
            found[first[0]] = PLAYS if self._looks % self._every else DONE
            dead = first == self._kills
            found[first[0]] = LOST if dead else found[first[0]]
            found |= {number: GONE if dead else WAITS for number, _ in others}
        return found

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        return list(tries)


class Away(Place):
    """A place that answers until it is away."""

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        raise HostUnreachableError(f"{self.name} does not answer")


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    found = Submission(tmp_path, "ssh", {}, "run", 6, 24, tmp_path)
    found.save()
    return found


def run(submission: Submission, *backends: ExecutorBackend) -> list[ShardProgress]:
    told: list[ShardProgress] = []
    coordinator = Coordinator(submission, backends, told.append, look_s=0.001)
    asyncio.run(coordinator.run())
    return told


def test_each_shard_is_played_once_and_counted(submission: Submission) -> None:
    backends = [Place(name, lambda number, attempt: DONE) for name in ("one", "two")]
    last = run(submission, *backends)[-1]
    assert sorted(backends[0].fetched + backends[1].fetched) == [1, 2, 3, 4, 5, 6]
    assert all(backend.fetched for backend in backends), "both have played"
    assert (last.shards, last.of, last.done, last.failed, dict(last.playing)) == (6, 6, 24, 6, {})
    assert {state.status for state in open_submission(submission.folder).states.values()} == {"collected"}


def test_a_shard_that_is_lost_is_begun_again(submission: Submission) -> None:
    backend = Place("one", lambda number, attempt: LOST if (number, attempt) == (3, 1) else DONE)
    run(submission, backend)
    assert [begun for begun in backend.started if begun[0] == 3] == [(3, 1), (3, 2)]
    assert sorted(backend.fetched) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (LOST, "its process was lost"),
        (replace(LOST, code=3, said="no such file"), "no such file"),
        (replace(LOST, code=3), "ended with exit status 3"),
        # Shells say this themselves, each in its own words.
        (
            replace(LOST, code=137, said="Killed"),
            "its process was killed (signal 9, SIGKILL), as the system does when memory runs out",
        ),
        (replace(LOST, code=139), "its process was killed (signal 11, SIGSEGV)"),
    ],
)
def test_why_a_shard_was_lost_is_told(submission: Submission, seen: ShardStatus, why: str) -> None:
    run(submission, Place("one", lambda number, attempt: seen if number == 3 else DONE))
    assert open_submission(submission.folder).states[3].problem == f"one: {why}"


def test_a_shard_that_is_always_lost_is_given_up_and_the_others_played(submission: Submission) -> None:
    backend = Place("one", lambda number, attempt: LOST if number == 3 else DONE)
    run(submission, backend)
    assert submission.numbers("failed") == [3]
    assert submission.states[3].problem == "one: its process was lost"
    assert sorted(backend.fetched) == [1, 2, 4, 5, 6]
    run(submission, Place("one", lambda number, attempt: DONE))
    assert submission.numbers("failed") == [], "a user who resumes it has mended that"


def test_what_is_lost_with_a_place_is_played_elsewhere(submission: Submission) -> None:
    away, there = Away("one", lambda number, attempt: PLAYS), Place("two", lambda number, attempt: DONE)
    run(submission, away, there)
    assert away.started and sorted(there.fetched) == [1, 2, 3, 4, 5, 6]
    tries = {number for number, attempt in there.started if attempt == 2}
    assert tries == {number for number, _ in away.started}


def test_a_place_that_refuses_is_used_no_more(submission: Submission) -> None:
    refuses = Place("one", lambda number, attempt: REFUSED)
    plays = Place("two", lambda number, attempt: DONE)
    run(submission, refuses, plays)
    assert len(refuses.started) == refuses.capacity
    assert sorted(plays.fetched) == [1, 2, 3, 4, 5, 6]


def test_no_place_is_left(submission: Submission) -> None:
    with pytest.raises(UsageError, match=r"6 of 6 shards: one refuses shard 1 of 6: no such package"):
        run(submission, Place("one", lambda number, attempt: REFUSED))
    assert submission.numbers("waiting") == [1, 2, 3, 4, 5, 6]


def test_a_place_that_was_away_is_asked_to_begin_what_it_may_not_have_begun(submission: Submission) -> None:
    class Shaky(Place):
        async def start(self, tries: Mapping[int, int]) -> None:
            await super().start(tries)
            if len(self.started) == len(tries):
                raise HostUnreachableError("one does not answer")

    backend = Shaky("one", lambda number, attempt: DONE)
    backend.patience_s = 60.0
    run(submission, backend)
    assert backend.started[:4] == [(1, 1), (2, 1), (1, 1), (2, 1)]
    assert sorted(backend.fetched) == [1, 2, 3, 4, 5, 6]
    assert all(state.lost == 0 for state in submission.states.values()), "nothing was lost"


def test_a_shard_that_is_not_whole_holds_up_no_other(submission: Submission) -> None:
    class Lags(Place):
        async def fetch(self, number: int) -> None:
            if number == 3:
                raise HostFailedError("the run folder of shard 3 of 6 is not whole")
            await super().fetch(number)

    backend = Lags("one", lambda number, attempt: DONE)
    run(submission, backend)
    assert sorted(backend.fetched) == [1, 2, 4, 5, 6]
    assert submission.numbers("failed") == [3]
    assert submission.states[3].problem == "one: the run folder of shard 3 of 6 is not whole"


def test_what_goes_on_with_a_shard_and_cannot_is_no_refusal_of_the_place(submission: Submission) -> None:
    submission.states = {3: ShardState("waiting", "one", 1, done=2)}
    backend = Place("one", lambda number, attempt: REFUSED if (number, attempt) == (3, 2) else DONE)
    run(submission, backend)
    assert (3, 3) in backend.started and sorted(backend.fetched) == [1, 2, 3, 4, 5, 6]


def test_a_disk_that_is_full_here_ends_nothing_elsewhere(submission: Submission) -> None:
    class Full(Place):
        async def fetch(self, number: int) -> None:
            raise LocalMachineError("there is no room in shards", fix="Make some")

    full = Full("one", lambda number, attempt: DONE)
    plays = Place("two", lambda number, attempt: PLAYS)
    with pytest.raises(LocalMachineError, match="no room"):
        run(submission, full, plays)
    assert not plays.stopped and not full.stopped
    assert submission.numbers("sent") == [1, 2, 3, 4], "and the next coordinator follows them"


def test_what_was_sent_before_is_followed_and_not_begun_anew(submission: Submission) -> None:
    submission.states = {2: ShardState(SENT, "one", 3), 4: ShardState(SENT, "gone", 1)}
    backend = Place("one", lambda number, attempt: DONE)
    run(submission, backend)
    assert backend.started[0] == (2, 3), "in case it was only written down; the host begins no try twice"
    assert (4, 2) in backend.started, "a host that is in the profile no more plays nothing"


def test_who_stops_it_has_everything_ended_and_kept(submission: Submission) -> None:
    async def stopped() -> Place:
        backend = Place("one", lambda number, attempt: ENDED if number in backend.stopped else PLAYS)
        coordinator = Coordinator(submission, [backend], lambda standing: coordinator.stop(), look_s=0.001)
        await coordinator.run()
        assert coordinator.is_stopped
        return backend

    backend = asyncio.run(stopped())
    assert sorted(backend.stopped) == [1, 2]
    states = submission.states
    assert {(states[n].status, states[n].host, states[n].done) for n in (1, 2)} == {("waiting", "one", 2)}
    again = Place("two", lambda number, attempt: DONE)
    home = Place("one", lambda number, attempt: DONE)
    run(submission, again, home)
    assert {1, 2} <= set(home.fetched), "where they were begun"


def test_each_process_is_dealt_its_share(submission: Submission) -> None:
    backends = [Dealt("one", submission, capacity=2), Dealt("two", submission)]
    run(submission, *backends)
    assert (backends[0].batches[:2], backends[1].batches[0]) == ([[1, 2], [3, 4]], [5, 6])
    assert sorted(backends[0].fetched + backends[1].fetched) == [1, 2, 3, 4, 5, 6]


def test_a_process_that_is_lost_loses_the_shard_that_it_was_playing(submission: Submission) -> None:
    backend = Dealt("one", submission, kills=(3, 1))
    run(submission, backend)
    assert backend.batches == [[1, 2, 3, 4, 5, 6], [3, 4, 5, 6]]
    assert sorted(backend.fetched) == [1, 2, 3, 4, 5, 6]
    assert {number: state.lost for number, state in submission.states.items() if state.lost} == {3: 1}


def test_who_has_nothing_to_do_takes_from_who_has_most(submission: Submission) -> None:
    slow, quick = Dealt("one", submission, every=1000), Dealt("two", submission)
    submission.states = {number: ShardState(COLLECTED) for number in (4, 5, 6)}
    run(submission, slow, quick)
    assert slow.batches == [[1, 2]] and slow.fetched == [1]
    assert quick.batches == [[3], [2]] and quick.fetched == [3, 2]
    assert submission.states[2].host == "two"


@pytest.mark.parametrize("before", [True, False])
def test_a_coordinator_may_be_killed_at_each_write_of_its_record(
    submission: Submission, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    class Killed(BaseException):
        pass

    class Kept(Place):
        """A place that stays while coordinators come and go: it begins no try twice."""

        async def start(self, tries: Mapping[int, int]) -> None:
            self.started += [each for each in tries.items() if each not in self.started]

        async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
            return {n: DONE if (n, t) in self.started else LOST for n, t in tries.items()}

    write = submission_record.replace_file
    for deadly in range(1, 30):
        writes = 0

        def deadly_write(path: Path, content: bytes, *, mode: int, deadly: int = deadly) -> None:
            nonlocal writes
            writes += 1
            if writes == deadly and before:
                raise Killed
            write(path, content, mode=mode)
            if writes == deadly:
                raise Killed

        monkeypatch.setattr(submission_record, "replace_file", write)
        Submission(submission.folder, "ssh", {}, "run", 6, 24, submission.folder).save()
        backend = Kept("one", lambda number, attempt: DONE)
        monkeypatch.setattr(submission_record, "replace_file", deadly_write)
        try:
            run(open_submission(submission.folder), backend)
        except Killed:
            monkeypatch.setattr(submission_record, "replace_file", write)
            run(open_submission(submission.folder), backend)
        ended = open_submission(submission.folder)
        assert {state.status for state in ended.states.values()} == {"collected"}
        assert backend.started == [(number, 1) for number in range(1, 7)], "each was begun once"
        if writes < deadly:
            return  # it has not come to this write
    pytest.fail("it never ends")


def test_a_place_is_on_record_before_anything_is_sent_there(submission: Submission) -> None:
    class Recorded(Place):
        async def prepare(self) -> None:
            self.on_record = open_submission(submission.folder).used

    class Away(Place):
        async def check(self) -> None:
            raise HostUnreachableError("two does not answer")

    one, two = Recorded("one", lambda number, attempt: DONE), Away("two", lambda number, attempt: DONE)
    asyncio.run(Coordinator(submission, [one, two], lambda _: None, look_s=0).run())
    assert one.on_record == {"one"}
    assert open_submission(submission.folder).used == {"one"}, "nothing was made at the other"


def test_what_a_killed_coordinator_has_left_is_removed_by_the_next(submission: Submission) -> None:
    class Gone(Place):
        async def check(self) -> None:
            raise HostUnreachableError("two does not answer")

    submission.states = {1: ShardState("collected", "one", 1), 2: ShardState("collected", "two", 1)}
    played, unused = Place("one", lambda number, attempt: DONE), Place("three", lambda number, attempt: DONE)
    gone = Gone("two", lambda number, attempt: DONE)
    assert not asyncio.run(Coordinator(submission, [played, unused, gone], lambda _: None).clear()), (
        "it is tried again"
    )
    assert (played.cleared, unused.cleared) == (1, 0)
    # Its shards were given to others, as it was away.
    submission.used = {"three"}
    back = Place("two", lambda number, attempt: DONE)
    assert asyncio.run(Coordinator(submission, [played, unused, back], lambda _: None).clear())
    assert (played.cleared, unused.cleared, back.cleared) == (2, 1, 1)


def test_a_place_that_the_profile_names_no_more_is_not_called_cleared(
    submission: Submission, caplog: pytest.LogCaptureFixture
) -> None:
    hosts = [
        {"host": "one", "folder": "there"},
        {"host": "two", "folder": "here", "setup": [], "mosaic": "m"},
    ]
    submission.profile, submission.used = {"hosts": hosts}, {"one", "two"}
    one, two = (Place(name, lambda number, attempt: DONE) for name in ("one", "two"))
    name_other_places(submission, {"hosts": hosts[:1]})
    submission.save()
    submission = open_submission(submission.folder)
    assert not asyncio.run(Coordinator(submission, [one], lambda _: None).clear())
    assert one.cleared == 1
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == (
        "Not removed: two, which the profile no longer names. Its entry was "
        '{"host": "two", "folder": "here", "mosaic": "m"}. Write a profile with that entry, and pass it: '
        f"mosaic run --resume {submission.folder} --profile FILE"
    )
    # In another folder there is nothing of what was left in this one.
    name_other_places(submission, {"hosts": [{**hosts[1], "folder": "elsewhere"}]})
    assert not asyncio.run(Coordinator(submission, [two], lambda _: None).clear())
    name_other_places(submission, {"hosts": hosts[1:]})
    submission.save()
    submission = open_submission(submission.folder)
    assert asyncio.run(Coordinator(submission, [two], lambda _: None).clear())
    assert one.cleared == 1 and two.cleared >= 1


def test_a_place_of_which_no_profile_is_on_record_is_not_called_cleared(
    submission: Submission, caplog: pytest.LogCaptureFixture
) -> None:
    """Its profile was replaced by a version that did not keep the entry."""
    submission.used = {"one", "two"}
    one = Place("one", lambda number, attempt: DONE)
    assert not asyncio.run(Coordinator(submission, [one], lambda _: None).clear())
    assert (
        "two, which the profile no longer names. Its entry was in a profile that is not on record"
        in caplog.text
    )


def claim(number: int, gone: int, *, waits: bool = False, ended: bool = False) -> str:
    """What a shard says of itself that needs 100 tokens for anything more."""
    spent = {RUN: Amount(gone)}
    return Claim(number, spent, spent, {RUN: Amount(100)}, spent, waits=waits, ended=ended).to_line()


def test_what_shards_are_given_is_on_disk_before_they_are_told(submission: Submission) -> None:
    book = BudgetLeases(submission.folder, {RUN: Amount(250)}, 2)
    book.save()
    told: dict[int, Lease] = {}

    def says(number: int, attempt: int) -> ShardStatus:
        kept = BudgetLeases.open(submission.folder)
        assert kept is not None and kept.spent(RUN).tokens <= 250
        for words in place.told[-1:]:
            told.update({n: lease for n, line in words.items() if (lease := Lease.from_line(line))})
            assert all(lease.amounts[RUN].tokens <= kept.spent(RUN).tokens for lease in told.values())
        mine = told.get(number)
        if mine is None or (not mine.amounts[RUN].tokens and not mine.ended):
            return replace(PLAYS, claim=claim(mine.number if mine else 0, 0, waits=True))
        if mine.ended and not mine.amounts[RUN].tokens:
            stopped = {"status": "stopped", "problem": "the token budget"}
            return ShardStatus(False, 1, stopped, (), "", claim=claim(mine.number, 0, waits=True, ended=True))
        return replace(DONE, claim=claim(mine.number, 100))

    place = Place("one", says)
    coordinator = Coordinator(submission, [place], lambda standing: None, look_s=0.001, leases=book)
    asyncio.run(coordinator.run())
    assert book.ended and book.spent(RUN).tokens == 200, "two shards were played"
    assert sorted(place.fetched) == [1, 2, 3, 4], "those that have begun are brought, the others not begun"
    assert submission.numbers("waiting") == [5, 6] and not coordinator.is_stopped
