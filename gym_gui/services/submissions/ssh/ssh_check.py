"""Checks whether a host can play: its folder, its version of MOSAIC, and its private file of keys."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.host_check import (
    MARK,
    check_answers,
    keys_check,
    parse_check,
    version_check,
)
from gym_gui.services.submissions.ssh.ssh_profile import Host

_SETUP_S: Final = 120.0


class Shell(Protocol):
    """Connection to the shell of a host or of this machine. Raises like
    :class:`~gym_gui.services.submissions.ssh.ssh.SshHost`."""

    name: str

    async def run(self, script: str, *, within_s: float = ...) -> str:
        """Run a script and return its output."""
        ...

    async def read(self, script: str, *, within_s: float = ...) -> bytes:
        """Run a script and return its output as bytes."""
        ...

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder to the shell's machine."""
        ...

    async def fetch(self, place: str, target: Path, *, what: str = ..., most: int = ...) -> None:
        """Copy a folder from the shell's machine."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


async def check_host(ssh: Shell, host: Host, more: Sequence[str] = ()) -> dict[str, str]:
    """Check a host before it plays.

    Args:
        ssh: Connection to the host.
        host: The host's entry in the profile.
        more: Shell lines to run in the host's folder, which may print more.

    Returns:
        The output of the check, by topic. ``place`` is the path of the host's folder.

    Raises:
        HostAwayError: The host cannot be reached.
        UsageError: The host has another version of MOSAIC or none, its folder cannot be created, or
            other users can read its keys.
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
    told = parse_check(await ssh.run("\n".join(lines) + "\n", within_s=_SETUP_S))
    if not told.get("place"):
        raise UsageError(
            f"{host.name}: the folder {host.folder} cannot be created there",
            fix="Name another folder in the profile: folder: …",
        )
    check_answers(host.name, told, host.command)
    return told
