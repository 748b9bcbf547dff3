"""Runs the shards of a submission on a host over ssh, or on this machine through its shell."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from gym_gui.services.submissions.bundle import allowed_on
from gym_gui.services.submissions.collect_parts import receive
from gym_gui.services.submissions.host_check import MARK
from gym_gui.services.submissions.shard_status import ShardStatus, statuses_of
from gym_gui.services.submissions.shell import (
    ALLOWED,
    OFF_S,
    PLAY,
    TOKEN,
    begin,
    cancel_script,
    lease_script,
    play_script,
    remove,
    status_script,
    stop,
    taken_back,
    unfinished,
)
from gym_gui.services.submissions.ssh.ssh import SshHost
from gym_gui.services.submissions.ssh.ssh_check import Shell, check_host
from gym_gui.services.submissions.ssh.ssh_profile import Host
from gym_gui.services.submissions.submission_errors import not_ours
from gym_gui.services.submissions.submission_record import Submission
from gym_gui.services.submissions.training_files import FileGrowth, ReceivedFiles, exchange_script, grown_of

_log = logging.getLogger(__name__)


class SshBackend:
    """Plays the shards of one submission on one host.

    Args:
        host: The host's entry in the profile.
        submission: The submission to play.
        config: OpenSSH configuration to use; empty for the user's own.
        shell: Shell to use instead of ssh.
    """

    deals = True

    def __init__(
        self, host: Host, submission: Submission, config: str = "", shell: Shell | None = None
    ) -> None:
        self.name, self.capacity, self.patience_s = host.name, host.shards, float(host.patience_s)
        self._host, self._submission = host, submission
        self._ssh: Shell = shell or SshHost(host.name, config)
        self._place, self._is_sent, self._clock_told = "", False, False

    async def prepare(self) -> None:
        """Send the submission's files if the host lacks them. Raises like :meth:`SshHost.run`.

        The start script is always sent again, because the resuming user may have corrected it.
        """
        if self._is_sent:
            written = {PLAY: self._script, ALLOWED: allowed_on(self._submission.needs, self._place)}
            lines = [
                f"printf %s {shlex.quote(words)} > {name}.new && mv {name}.new {name} || exit 1"
                for name, words in written.items()
            ]
            await self._ssh.run(
                "\n".join(["umask 077", f"cd {shlex.quote(self._place)} || exit 1", *lines, ""])
            )
        else:
            await self._send()

    async def check(self) -> None:
        """Check whether the host can play shards and whether it already has the submission's files.

        Raises:
            HostAwayError: The host cannot be reached.
            UsageError: The host has another version of MOSAIC, no MOSAIC or too little space, or another
                submission uses the folder.
        """
        name = shlex.quote(self._submission.folder.name)
        token = f"$([ -f {name}/{TOKEN} ] && head -n 1 {name}/{TOKEN} | tr -cd 0-9a-f)"
        clock = f'echo "{MARK} clock $(date +%s)"'
        before = time.time()
        found = await check_host(
            self._ssh, self._host, [clock, f'[ ! -e {name} ] || echo "{MARK} there {token}"']
        )
        self._check_clock(found.get("clock", ""), before)
        self._place = f"{found['place']}/{self._submission.folder.name}"
        self._is_sent = "there" in found
        if self._is_sent and found["there"] != self._submission.token:
            raise not_ours(f"{self.name}: {self._place}")

    async def start(self, tries: Mapping[int, int]) -> None:
        """Start attempts of shards on the host. Raises like :meth:`SshHost.run`."""
        await self._ssh.run(begin(self._place, self._submission.batches(tries)))

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """Return the status of shards by number. Raises like :meth:`SshHost.run`."""
        return statuses_of(await self._ssh.run(status_script(self._place, tries)))

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Cancel attempts that have not begun, and return their shards. Raises like :meth:`SshHost.run`."""
        return taken_back(await self._ssh.run(cancel_script(self._place, tries)))

    async def exchange(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        """Pass requests to trainings and return the new bytes of their files.

        Raises like :meth:`SshHost.run`.
        """
        return grown_of(await self._ssh.read(exchange_script(self._place, known)))

    async def write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Write a budget lease to the folder of each attempt. Raises like :meth:`SshHost.run`."""
        await self._ssh.run(lease_script(self._place, tries, words))

    async def fetch(self, number: int) -> None:
        """Copy the run folders of a shard into the submission.

        Raises:
            HostAwayError: The host cannot be reached.
            HostFailedError: The shard's run folder is missing or incomplete.
            HereError: There is no space for it here.
            UsageError: The run folder is larger than allowed.
        """
        what, place = self._submission.called(number), f"{self._place}/work/{number}/runs"
        await receive(self._submission, number, lambda to: self._ssh.fetch(place, to, what=what))

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask shards to end, or end them at once. Raises like :meth:`SshHost.run`."""
        await self._ssh.run(stop(self._place, tries, "KILL" if at_once else "TERM"))

    async def clear(self) -> None:
        """Remove the submission's files and end its processes. Raises like :meth:`SshHost.run`."""
        await self._ssh.run(remove(self._place))

    async def close(self) -> None:
        """Close the connection. Shards on the host continue."""
        await self._ssh.close()

    def _check_clock(self, told: str, asked: float) -> None:
        """Warn once if the host's clock is wrong. ``told`` was read between ``asked`` and now."""
        if self._clock_told or not told.isdecimal():
            return
        behind, ahead = round(asked) - int(told), int(told) - round(time.time())
        if max(behind, ahead) >= OFF_S:
            self._clock_told = True
            off = f"{timedelta(minutes=round(max(behind, ahead) / 60))} {'behind' if behind > 0 else 'ahead'}"
            _log.warning("%s: its clock is %s. Times are recorded by this machine's clock.", self.name, off)

    @property
    def _script(self) -> str:
        sub = self._submission
        return play_script(sub.command, sub.of, self._host.command, sub.trainings, at_once=sub.at_once)

    async def _send(self) -> None:
        sub = self._submission
        new = unfinished(self._place)
        await self._ssh.run(f"rm -rf {shlex.quote(new)}\n")
        await self._ssh.send(sub.bundle, new)
        allowed = allowed_on(sub.needs, self._place)
        await self._ssh.run(
            "umask 077\n"
            f"cd {shlex.quote(new)} || exit 1\n"
            f"printf %s {shlex.quote(allowed)} > {ALLOWED} || exit 1\n"
            f"printf %s {shlex.quote(self._script)} > {PLAY} || exit 1\n"
            f"echo {sub.token} > {TOKEN} || exit 1\n"
            f"mv {shlex.quote(new)} {shlex.quote(self._place)}\n"
        )
