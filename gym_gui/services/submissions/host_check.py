"""Shell lines that check a host before it plays, and checks of their output: version and file of keys."""

from __future__ import annotations

import shlex
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shell import from_home, own_alone
from gym_gui.version import __version__

MARK: Final = "mosaic-host"
"""First word of the lines that the check prints."""
EXPECTED: Final = f"{MARK} version mosaic {__version__}\n"
"""Output of a host that has this version and no problem."""


def keys_check(how: Command) -> list[str]:
    """Return shell lines, for the home, that report a file of keys that other users can read."""
    return [f'{own_alone(shlex.quote(how.keys))} || echo "{MARK} keys open"'] if how.keys else []


def version_check(how: Command) -> list[str]:
    """Return shell lines that print the host's version of MOSAIC."""
    version = f"$({how.mosaic} --version 2>&1 </dev/null | tail -n 1)"
    return [*from_home(how), f'echo "{MARK} version {version}"']


def version_first(how: Command) -> list[str]:
    """Return script lines that refuse shards if the version differs, for places without an earlier check."""
    ours = f"mosaic {__version__}"
    advice = "Install that version there, or say in the profile where it is: mosaic: …, setup: […]"
    return [
        f"version=$({how.mosaic} --version 2>&1 </dev/null | tail -n 1)",
        f'if [ "$version" != "{ours}" ]; then',
        f'  echo "has ${{version:-no mosaic}}, and here is {ours}. {advice}" >>"$try/err"',
        '  : >"$try/out"',
        '  echo 2 >"$try/ended" && mv "$try/ended" "$try/code"',
        "  exit 2",
        "fi",
    ]


def told_by(output: str) -> dict[str, str]:
    """Return what a host has printed, as a dict from topic to text."""
    return {
        key: value.strip()
        for line in output.splitlines()
        for mark, key, value in [(line + "  ").split(" ", 2)]
        if mark == MARK
    }


def check_told(name: str, told: dict[str, str], how: Command) -> None:
    """Raise an error if a host cannot be used.

    Args:
        name: Name of the host.
        told: Output of the check, by topic.
        how: Command that starts MOSAIC on the host.

    Raises:
        UsageError: The host has another version of MOSAIC or none, or other users can read its keys.
    """
    version = told.get("version", "")
    if f"{MARK} version {version}\n" != EXPECTED:
        raise UsageError(
            f"{name}: has {version or 'no mosaic'}, and here is mosaic {__version__}",
            fix="Install that version there, or say in the profile where it is: mosaic: …, setup: […]",
        )
    if told.get("keys") == "open":
        raise UsageError(
            f"{name}: the file of keys {how.keys} is not there, or not its owner's alone",
            fix=f"Look at it there; then: chmod 600 {how.keys}",
        )
