"""Shards on this machine, in processes that outlive this one; its shell gets the same commands as hosts."""

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
from gym_gui.services.submissions.submission_errors import MOST_BYTES, HostAwayError, HostFailedError

HERE: Final = "this machine"
MOST_AT_ONCE: Final = 256
_ANSWER_S: Final = 60.0
_KEYS: Final = {key: key for key in (*OF_A_COMMAND, "shards")}


@dataclass(frozen=True)
class LocalProfile:
    """How many processes this machine plays shards in.

    Attributes:
        shards: How many are played at once.
        command: How MOSAIC is begun; by default this one, with one session process for each shard.
    """

    shards: int
    command: Command

    @property
    def places(self) -> int:
        """How many shards are played at once."""
        return self.shards

    def to_record(self) -> dict[str, Plain]:
        """Plain data, which reads back to an equal profile."""
        return {"shards": self.shards, **self.command.to_record()}


def local_profile_of(data: object) -> LocalProfile:
    """A profile from plain data; without any, one shard for each core that may be used.

    Raises:
        ConfigError: With the place of what is wrong.
    """
    found = keys(data if data is not None else {}, "", _KEYS)
    ours = {"mosaic": f"{shlex.quote(sys.executable)} -P -m gym_gui", "processes": 1}
    shards = integer(found.get("shards", usable_cores()), "shards", low=1, high=MOST_AT_ONCE)
    return LocalProfile(shards, command_of({**ours, **found}))


class ThisMachine:
    """The shell of this machine, told as that of a host is.

    What it begins bears no tag of this program: it goes on when the program ends.
    """

    name = HERE

    async def run(self, script: str, *, within_s: float = _ANSWER_S) -> str:
        """Have ``sh`` run a script in the home; returns what it prints.

        Raises:
            HostAwayError: It does not end in time.
            HostFailedError: It has failed, with its last line.
        """
        return (await self.read(script, within_s=within_s)).decode("utf-8", "replace")

    async def read(self, script: str, *, within_s: float = _ANSWER_S) -> bytes:
        """The same, with what it prints as bytes."""
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
            raise HostAwayError(f"{HERE}: {error}") from error
        if done.outcome.succeeded:
            return done.output
        said = done.outcome.last_line.rstrip(".") or done.outcome.words
        raise (HostAwayError if done.outcome.code is None else HostFailedError)(f"{HERE}: {said}")

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder to a place that is not there yet.

        Raises:
            HostFailedError: It cannot be written.
        """
        await self._copy(source, Path(place))

    async def fetch(
        self, place: str, target: Path, *, what: str = "what comes", most: int = MOST_BYTES
    ) -> None:
        """Copy what was played to a place that is not there yet; raises as :meth:`send`."""
        await self._copy(Path(place), target)

    async def close(self) -> None:
        """Nothing is held."""

    @staticmethod
    async def _copy(source: Path, target: Path) -> None:
        try:
            await asyncio.to_thread(shutil.copytree, source, target)
        except OSError as error:
            raise HostFailedError(f"{HERE}: {error.filename or target}: {error.strerror or error}") from error
