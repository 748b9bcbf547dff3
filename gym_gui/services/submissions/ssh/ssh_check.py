"""Whether a host that is reached by ssh can play: it has room, our MOSAIC, and keys of its own alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.host_check import MARK, check_told, keys_check, told_by, version_check
from gym_gui.services.submissions.ssh.ssh_profile import Host

_SETUP_S: Final = 120.0


class Shell(Protocol):
    """The way to a shell, there or here; raises as :class:`~gym_gui.services.submissions.ssh.ssh.SshHost`."""

    name: str

    async def run(self, script: str, *, within_s: float = ...) -> str:
        """Have it run a script; returns what it prints."""
        ...

    async def read(self, script: str, *, within_s: float = ...) -> bytes:
        """The same, with what it prints as bytes."""
        ...

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder there."""
        ...

    async def fetch(self, place: str, target: Path, *, what: str = ..., most: int = ...) -> None:
        """Copy a folder from there."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...


async def check_host(ssh: Shell, host: Host, more: Sequence[str] = ()) -> dict[str, str]:
    """Look at a host before it plays.

    Args:
        ssh: The way to it.
        host: What its owner says of it.
        more: Lines of shell in its folder, which may tell more.

    Returns:
        What it tells, by what it is about; ``place`` is its folder's path.

    Raises:
        HostAwayError: It cannot be reached.
        UsageError: It has another version of MOSAIC or none, no room, or its keys are others' as well.
    """
    folder = shlex.quote(host.folder)
    lines = [
        *keys_check(host.command),
        f"umask 077; mkdir -p {folder} && cd {folder} || exit 0",
        f'echo "{MARK} place $(pwd -P)"',
        *more,
        *version_check(host.command),
        "exit 0",
    ]
    told = told_by(await ssh.run("\n".join(lines) + "\n", within_s=_SETUP_S))
    if not told.get("place"):
        raise UsageError(
            f"{host.name}: the folder {host.folder} cannot be made there",
            fix="Name another one in the profile: folder: …",
        )
    check_told(host.name, told, host.command)
    return told
