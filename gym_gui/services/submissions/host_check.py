"""Writes shell lines that check a host's MOSAIC version and key file, and evaluates their output."""

from __future__ import annotations

import shlex
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shell import from_home, is_private
from gym_gui.version import __version__

MARK: Final = "mosaic-host"
"""First word of the lines that the check prints."""
EXPECTED: Final = f"{MARK} version mosaic {__version__}\n"
"""Output of a host that has this version and no problem."""


def keys_check(how: Command) -> list[str]:
    """Return shell lines that report whether other users can read the host's file of API keys."""
    return [f'{is_private(shlex.quote(how.keys))} || echo "{MARK} keys open"'] if how.keys else []


def version_check(how: Command) -> list[str]:
    """Return shell lines that print the host's version of MOSAIC."""
    version = f"$({how.mosaic} --version 2>&1 </dev/null | tail -n 1)"
    return [*from_home(how), f'echo "{MARK} version {version}"']


def version_first(how: Command) -> list[str]:
    """Return script lines that refuse shards if MOSAIC's version differs, for hosts not checked before."""
    ours = f"mosaic {__version__}"
    advice = "Install that version there, or name its command in the profile: mosaic: …, setup: […]"
    return [
        f"version=$({how.mosaic} --version 2>&1 </dev/null | tail -n 1)",
        f'if [ "$version" != "{ours}" ]; then',
        f'  echo "has ${{version:-no mosaic}}, but this machine has {ours}. {advice}" >>"$try/err"',
        '  : >"$try/out"',
        '  echo 2 >"$try/ended" && mv "$try/ended" "$try/code"',
        "  exit 2",
        "fi",
    ]


def parse_check(output: str) -> dict[str, str]:
    """Return the values that a host's check printed, by topic."""
    return {
        key: value.strip()
        for line in output.splitlines()
        for mark, key, value in [(line + "  ").split(" ", 2)]
        if mark == MARK
    }


def check_answers(name: str, answers: dict[str, str], how: Command) -> None:
    """Raise an error if a host cannot be used.

    Args:
        name: Name of the host.
        told: Output of the check, by topic.
        how: Command that starts MOSAIC on the host.

    Raises:
        UsageError: The host has another version of MOSAIC or none, or other users can read its keys.
    """
    version = answers.get("version", "")
    if f"{MARK} version {version}\n" != EXPECTED:
        raise UsageError(
            f"{name}: has {version or 'no mosaic'}, but this machine has mosaic {__version__}",
            fix="Install that version there, or name its command in the profile: mosaic: …, setup: […]",
        )
    if answers.get("keys") == "open":
        raise UsageError(
            f"{name}: the file of keys {how.keys} is missing, or readable by other users",
            fix=f"Check it on the host, then run: chmod 600 {how.keys}",
        )
