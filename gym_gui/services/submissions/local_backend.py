"""Plays shards on this machine in detached processes, with the same shell scripts as on hosts."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.inherited_environment import inherited
from gym_gui.core.validation import Plain, integer, keys
from gym_gui.processes.child import ChildStartError
from gym_gui.processes.cores import usable_cores
from gym_gui.processes.run_child import run_child
from gym_gui.processes.tree import TAG
from gym_gui.services.submissions.profile import OF_A_COMMAND, Command, command_of
from gym_gui.services.submissions.submission_errors import MOST_BYTES, HostFailedError, HostUnreachableError

HERE: Final = "this machine"
MOST_AT_ONCE: Final = 256
_ANSWER_S: Final = 60.0
_KEYS: Final = {key: key for key in (*OF_A_COMMAND, "shards")}


@dataclass(frozen=True)
class LocalProfile:
    """Number of shards that this machine plays at once, and the command that plays them.

    Attributes:
        shards: Number of shards that are played at once.
        command: Command that starts MOSAIC; by default, this interpreter with one session process per
            shard.
    """

    shards: int
    command: Command

    @property
    def places(self) -> int:
        """Number of shards that are played at once."""
        return self.shards

    def to_record(self) -> dict[str, Plain]:
        """Return plain data that reads back to an equal profile."""
        return {"shards": self.shards, **self.command.to_record()}


def local_profile_of(data: object) -> LocalProfile:
    """Return the profile that plain data describes. By default, one shard per usable core is played.

    Raises:
        ConfigError: The data is invalid. The error names the invalid key.
    """
    found = keys(data if data is not None else {}, "", _KEYS)
    ours = {"mosaic": f"{shlex.quote(sys.executable)} -P -m gym_gui", "processes": 1}
    shards = integer(found.get("shards", usable_cores()), "shards", low=1, high=MOST_AT_ONCE)
    return LocalProfile(shards, command_of({**ours, **found}))


class ThisMachine:
    """The shell of this machine, with the interface of a host's shell.

    Its processes do not have this program's tag, so they continue when the program ends.
    """

    name = HERE

    async def run(self, script: str, *, within_s: float = _ANSWER_S) -> str:
        """Run a script in ``sh`` in the home and return its output.

        Raises:
            HostAwayError: The script does not end in time.
            HostFailedError: The script has failed. The message contains its last line.
        """
        return (await self.read(script, within_s=within_s)).decode("utf-8", "replace")

    async def read(self, script: str, *, within_s: float = _ANSWER_S) -> bytes:
        """Run a script like :meth:`run` and return its output as bytes."""
        try:
            done = await run_child(
                *("env", "-u", TAG, "sh", "-s"),
                name=HERE,
                environment=inherited(),
                text=script.encode(),
                within_s=within_s,
                folder=Path.home(),
            )
        except ChildStartError as error:
            raise HostUnreachableError(f"{HERE}: {error}") from error
        if done.outcome.succeeded:
            return done.output
        said = done.outcome.last_line.rstrip(".") or done.outcome.words
        raise (HostUnreachableError if done.outcome.code is None else HostFailedError)(f"{HERE}: {said}")

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder to a path that does not exist yet.

        Raises:
            HostFailedError: The copy cannot be written.
        """
        await self._copy(source, Path(place))

    async def fetch(
        self, place: str, target: Path, *, what: str = "the results", most: int = MOST_BYTES
    ) -> None:
        """Copy results to a path that does not exist yet. Raises like :meth:`send`."""
        await self._copy(Path(place), target)

    async def close(self) -> None:
        """Do nothing, because nothing is kept open."""

    @staticmethod
    async def _copy(source: Path, target: Path) -> None:
        try:
            await asyncio.to_thread(shutil.copytree, source, target)
        except OSError as error:
            raise HostFailedError(f"{HERE}: {error.filename or target}: {error.strerror or error}") from error
