"""What a host says of itself before anything is played there: its MOSAIC, and its file of keys."""

from __future__ import annotations

import shlex
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shell import from_home, own_alone
from gym_gui.version import __version__

MARK: Final = "mosaic-host"
"""What lines begin with that are the host's answer."""
EXPECTED: Final = f"{MARK} version mosaic {__version__}\n"
"""What a host says that has the version that is here, and nothing else to say."""


def keys_check(how: Command) -> list[str]:
    """Lines of shell, for the home, that tell of keys that others can read."""
    return [f'{own_alone(shlex.quote(how.keys))} || echo "{MARK} keys open"'] if how.keys else []


def version_check(how: Command) -> list[str]:
    """Lines of shell that tell which version is there."""
    version = f"$({how.mosaic} --version 2>&1 </dev/null | tail -n 1)"
    return [*from_home(how), f'echo "{MARK} version {version}"']


def version_first(how: Command) -> list[str]:
    """Lines of a script by which another version refuses shards, where a check beforehand is not possible."""
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
    """What a host has told, by what it is about."""
    return {
        key: value.strip()
        for line in output.splitlines()
        for mark, key, value in [(line + "  ").split(" ", 2)]
        if mark == MARK
    }


def check_told(name: str, told: dict[str, str], how: Command) -> None:
    """Refuse a host that cannot be used.

    Args:
        name: The host's.
        told: What it has told.
        how: How MOSAIC is begun there.

    Raises:
        UsageError: It has another version of MOSAIC, or none; or others can read its keys.
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
