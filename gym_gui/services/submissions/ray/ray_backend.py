"""Runs the shards of a submission on a Ray cluster."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.services.shards.lease_files import CLAIM, LEASE
from gym_gui.services.submissions.archive import TooMuchError, pack, unpack
from gym_gui.services.submissions.bundle import allowed_on
from gym_gui.services.submissions.collect_parts import receive
from gym_gui.services.submissions.host_check import (
    EXPECTED,
    MARK,
    check_answers,
    keys_check,
    parse_check,
    version_check,
)
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.ray.ray_link import RayLink
from gym_gui.services.submissions.ray.ray_node import ENDED, PLACE, PLAYING, WAITING
from gym_gui.services.submissions.ray.ray_profile import RayProfile
from gym_gui.services.submissions.shard_status import ShardStatus, status_from
from gym_gui.services.submissions.shell import ALLOWED, PLAY, play_script
from gym_gui.services.submissions.submission_errors import (
    HostFailedError,
    HostUnreachableError,
    bytes_allowed,
    too_much,
)
from gym_gui.services.submissions.submission_record import SENT, Submission
from gym_gui.services.submissions.training_files import FileGrowth, ReceivedFiles, grown_from

_SHOWN: Final = 3
_log = logging.getLogger(__name__)


class RayBackend:
    """Plays the shards of one submission as Ray tasks.

    As many shards as may run at once are submitted to the cluster, which queues them.

    Args:
        profile: The cluster, and the resources of a task.
        submission: The submission to play.
    """

    name = "ray"
    patience_s = 300.0
    deals = False

    def __init__(self, profile: RayProfile, submission: Submission) -> None:
        self.capacity = profile.shards
        self._profile, self._submission = profile, submission
        self._link = RayLink()
        self._has_keeper = False
        self._checked: dict[str, str] = {}
        """Output of the check on each node."""
        self._holders: dict[int, str] = {}
        """Holder of each shard's lease at the last status request."""
        self._warned: set[str] = set()
        """Nodes whose exclusion has been logged."""

    async def check(self) -> None:
        """Check that the cluster has nodes that can play shards.

        Raises:
            HostAwayError: The cluster does not answer.
            UsageError: No node has the resources for a shard or this version of MOSAIC, or Ray is not
                installed.
        """
        nodes = await self._fitting()
        new = [node for node in nodes if node not in self._checked]
        if new:
            self._checked |= await self._call_process("check", nodes=new, plan=self._check_plan)
        problems = {node: why for node in nodes if (why := self._problem(nodes[node], self._checked[node]))}
        if len(problems) == len(nodes):
            raise next(iter(problems.values()))
        for node, why in problems.items():
            self._warn(node, why)

    async def prepare(self) -> None:
        """Send the submission's files to the cluster. Raises like :meth:`check`."""
        await self._start_keeper()

    async def start(self, tries: Mapping[int, int]) -> None:
        """Submit attempts of shards to the cluster. Raises like :meth:`check`."""
        await self._call_keeper("begin", tries=_listed(tries))

    async def status(self, tries: Mapping[int, int]) -> dict[int, ShardStatus]:
        """Return the status of shards by number. Raises like :meth:`check`."""
        told = await self._call_keeper("look", tries=_listed(tries))
        rows = {number: row for number, _, row in told["tries"]}
        self._holders = {number: row.get("holder", "") for number, row in rows.items()}
        without: dict[str, str] = told["without"]
        for node, said in without.items():
            if why := self._problem(f"node {node[:8]}", said):
                self._warn(node, why)
        if any(row["state"] == WAITING for row in rows.values()):
            fitting = await self._fitting()
            if not fitting.keys() - without.keys():
                raise HostUnreachableError(f"no remaining node can play a {self._part}")
        return {number: seen_of(row) for number, row in rows.items()}

    async def cancel_waiting(self, tries: Mapping[int, int]) -> Sequence[int]:
        """Return no shards, because waiting shards have not been given to a node."""
        return []

    async def write_leases(self, tries: Mapping[int, int], words: Mapping[int, str]) -> None:
        """Send a budget lease to the holder of each shard's lease. Raises like :meth:`check`."""
        await self._call_keeper("tell", lines={self._holders[number]: words[number] for number in tries})

    async def exchange(self, known: Mapping[int, ReceivedFiles]) -> dict[int, FileGrowth]:
        """Pass the user's requests to trainings, and return the new bytes of their files.

        Raises:
            HostAwayError: The cluster does not answer.
            ProtocolError: The answer is malformed.
        """
        rows = [
            [number, each.start, each.sizes, each.requests.decode("latin-1")]
            for number, each in known.items()
        ]
        return grown_from(await self._call_keeper("exchange", known=rows), known)

    async def fetch(self, number: int) -> None:
        """Copy the run folders of a shard into the submission.

        Raises:
            HostAwayError: The cluster does not answer.
            HostFailedError: The shard's run folder is missing or incomplete.
            HereError: There is no space for it here.
            UsageError: The run folder is larger than allowed.
        """
        what = self._submission.called(number)

        async def bring(to: Path) -> None:
            packed, room = to.with_suffix(".tar.gz"), 0
            try:
                if await self._call_keeper(
                    "fetch", number=number, target=str(packed.absolute()), called=what
                ):
                    room = bytes_allowed(to.parent)
                    await asyncio.to_thread(unpack, packed, to, room)
            except TooMuchError as error:
                raise too_much(what, room) from error
            except ValueError as error:
                raise HostFailedError(f"{what}: {error}") from error
            finally:
                packed.unlink(missing_ok=True)

        await receive(self._submission, number, bring)

    async def stop(self, tries: Mapping[int, int], *, at_once: bool) -> None:
        """Ask shards to end, or end them at once. Raises like :meth:`check`."""
        await self._call_keeper("stop", tries=_listed(tries), at_once=at_once)

    async def clear(self) -> None:
        """Remove the files on nodes. Raises like :meth:`check`."""
        await self._call_keeper("clear")
        self._has_keeper = False

    async def close(self) -> None:
        """Disconnect from the cluster. Its shards continue."""
        await self._link.close()

    @property
    def _part(self) -> str:
        return "training" if self._submission.trainings else "shard"

    @property
    def _command(self) -> Command:
        """Command that starts MOSAIC, by default with one session process for each core of a task."""
        how = self._profile.command
        return how if how.processes else replace(how, processes=max(1, min(256, int(self._profile.cpus))))

    @property
    def _check_plan(self) -> dict[str, Any]:
        lines = [*keys_check(self._command), *version_check(self._command), "exit 0"]
        return {"check": "\n".join(lines) + "\n", "mark": MARK, "expected": EXPECTED}

    async def _call_keeper(self, what: str, **about: Any) -> Any:
        """Call a method of the keeper, after starting or finding the keeper if necessary."""
        if not (self._has_keeper and self._link.is_open):
            await self._start_keeper()
        return await self._call_process(what, **about)

    async def _call_process(self, what: str, **about: Any) -> Any:
        """Call a method of the process that talks to the cluster, after starting it if necessary."""
        try:
            if not self._link.is_open:
                self._has_keeper = False
                await self._link.open()
                await self._link.ask("connect", address=self._profile.address)
            return await self._link.ask(what, **about)
        except HostUnreachableError:
            await self._link.close()  # the next call connects anew, perhaps to another keeper
            raise

    async def _start_keeper(self) -> None:
        submission = self._submission
        with TemporaryDirectory(prefix="sent-", dir=submission.folder) as folder:
            packed = Path(folder).absolute() / "sent.tar.gz"
            digest = await asyncio.to_thread(pack_submission, submission, self._command, packed)
            is_new = await self._call_process("keep", plan=self._plan(digest), bundle=str(packed))
        if is_new and any(state.status == SENT for state in submission.states.values()):
            _log.warning(
                "The cluster has lost the submission's keeper: %s are started again.", submission.parts
            )
        out = {node: said for node, said in self._checked.items() if said != EXPECTED}
        await self._call_process("leave_out", nodes=out)
        self._has_keeper = True

    def _plan(self, digest: str) -> dict[str, Any]:
        submission = self._submission
        return {
            **self._check_plan,
            "name": submission.folder.name,
            "folder": self._profile.folder,
            "digest": digest,
            "options": self._profile.options,
            "allowed": allowed_on(submission.needs, PLACE),
            "allowed_name": ALLOWED,
            "trains": submission.trainings is not None,
            "claim_name": CLAIM,
            "lease_name": LEASE,
        }

    async def _fitting(self) -> dict[str, str]:
        """Return the names of the nodes with the resources for a shard, by node id."""
        needs = self._profile.needs
        nodes: list[dict[str, Any]] = await self._call_process("nodes", needs=needs)
        found = {node["id"]: node["name"] for node in nodes if node["fits"]}
        if not found:
            have = [f"{node['name']} has {_amounts(node['has'])}" for node in nodes[:_SHOWN]]
            more = f" and {len(nodes) - _SHOWN} more nodes" if len(nodes) > _SHOWN else ""
            raise UsageError(
                f"no node has what a {self._part} needs, {_amounts(needs)}: {', '.join(have)}{more}",
                fix="Request less in the profile",
            )
        return found

    def _problem(self, name: str, said: str) -> UsageError | None:
        told = parse_check(said)
        if "trouble" in told:
            return UsageError(f"{name}: {told['trouble']}")
        try:
            check_answers(name, told, self._profile.command)
        except UsageError as error:
            return error
        return None

    def _warn(self, node: str, why: UsageError) -> None:
        if node not in self._warned:
            self._warned.add(node)
            _log.warning("%s. The node is not used", why.message)


def pack_submission(submission: Submission, how: Command, target: Path) -> str:
    """Pack the bundle and the script that plays it into an archive for the nodes.

    Each process packs its own archive from the bundle whose digest the user has confirmed, because another
    user might have written an existing archive. The bundle itself is not changed.

    Args:
        submission: The submission to play.
        how: Command that starts MOSAIC on nodes.
        target: Path of the archive.

    Returns:
        Digest of the archive, which depends only on bundle and script.

    Raises:
        OSError: The archive cannot be written.
    """
    script = play_script(
        submission.command, submission.of, how, submission.trainings, at_once=submission.at_once
    )
    pack(submission.bundle, target, extra={PLAY: script.encode()})
    with target.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(tries: Mapping[int, int]) -> list[list[int]]:
    return [[number, attempt] for number, attempt in sorted(tries.items())]


def seen_of(row: Mapping[str, Any]) -> ShardStatus:
    """Return the status of a shard from the latest report of its task."""
    alive = row["state"] in (WAITING, PLAYING)
    code = row.get("code")
    seen = status_from(alive, code, row.get("out", ()), row.get("err", ()), (row.get("claim", ""),))
    return replace(
        seen,
        said=str(row.get("why", seen.said)),
        # A node that was lost may only be cut off. A shard without an exit status may outlive its task.
        is_over=row["state"] == ENDED and code is not None,
        holder=row.get("holder", ""),
        after=row.get("after", ""),
        begun=row["state"] != WAITING,
        node=str(row.get("machine", "")),
    )


def _amounts(amounts: Mapping[str, float]) -> str:
    def much(name: str, amount: float) -> str:
        return f"{amount / 2**30:.1f} GiB" if name == "memory" else f"{amount:g}"

    return ", ".join(f"{name} {much(name, each)}" for name, each in amounts.items()) or "nothing"
