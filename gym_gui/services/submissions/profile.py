"""Elements that all executor profiles share: the command that starts MOSAIC, and checks of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import looks_secret
from gym_gui.core.validation import ConfigError, Plain, integer, sequence, text
from gym_gui.services.experiments.experiment_yaml import parse_yaml
from mosaic_worker.plain_files import read_file

OF_A_COMMAND: Final = ("mosaic", "setup", "keys", "processes")
"""Keys of a profile that set the fields of :class:`Command`."""
FOLDER: Final = "mosaic-submissions"
"""Default folder for submissions, relative to the home."""
MEMORY: Final = re.compile(r"\d+[KMGT]?")
"""Format of a shard's memory: 4G."""
_MOST_BYTES: Final = 2**20
_MOST_LINES: Final = 50
_ASSIGNED: Final = re.compile(r"""(?:^|[\s;&|({])([A-Za-z_]\w*)=(?!["']?[$`])(?=[^\s;&])""")
"""Pattern of a shell line that assigns a literal value to a variable."""


@dataclass(frozen=True)
class Command:
    """Command that starts MOSAIC on a host or cluster.

    Attributes:
        mosaic: The command as the place's shell reads it. It may start a container.
        setup: Shell lines to run first in the home, to load modules or an environment.
        keys: File at the place with API keys as lines ``NAME=VALUE``, readable only by its owner; empty
            for none.
        processes: Session processes of each shard; ``None`` for one per core.
    """

    mosaic: str = "mosaic"
    setup: tuple[str, ...] = ()
    keys: str = ""
    processes: int | None = None

    def to_record(self) -> dict[str, Plain]:
        """Return the command's keys for the file as plain data."""
        return {
            "mosaic": self.mosaic,
            "setup": list(self.setup),
            **({"keys": self.keys} if self.keys else {}),
            **({"processes": self.processes} if self.processes else {}),
        }


USUAL: Final = Command()
"""Default command, used if a profile sets none."""


def read_profile(path: Path) -> object:
    """Return the contents of a profile file (YAML or JSON).

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        source = read_file(path, links=True, limit=_MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text", fix="Write it as YAML") from None
    except OSError as error:
        raise UsageError(
            f"the profile {path} cannot be read: {error.strerror or error}", fix="Give a YAML file"
        ) from None
    return parse_yaml(source, path.name)


def command_of(found: Mapping[str, object]) -> Command:
    """Return the command in plain data whose keys have been checked.

    Raises:
        ConfigError: A value is invalid. The error names the invalid key.
    """
    processes = found.get("processes")
    return Command(
        text(found.get("mosaic", "mosaic"), "mosaic", max_length=4096),
        _lines(found.get("setup", ()), "setup"),
        place(found["keys"], "keys") if "keys" in found else "",
        None if processes is None else integer(processes, "processes", low=1, high=256),
    )


def place(value: object, where: str) -> str:
    """Return a path on a host, absolute or relative to the home; a leading ``~/`` is removed.

    Raises:
        ConfigError: The path contains ``..`` or names another user's home.
    """
    path = text(value, where, max_length=1024)
    if ".." in Path(path).parts or (path.startswith("~") and not path.startswith("~/")):
        raise ConfigError(
            f"{path!r} cannot be used", where=where, fix="Write a path from the home, or an absolute one"
        )
    return path.removeprefix("~/")


def matching(value: object, where: str, form: re.Pattern[str], such: str) -> str:
    """Return a text that matches a pattern; empty if there is none.

    Args:
        value: The value; ``None`` if there is none.
        where: Key of the value.
        form: Pattern that the whole text must match.
        such: Example of a valid text.

    Raises:
        ConfigError: The text does not match.
    """
    if value is None:
        return ""
    written = text(value, where, max_length=255)
    if form.fullmatch(written) is None:
        raise ConfigError(f"{written!r} cannot be used", where=where, fix=f"Write {such}")
    return written


def _lines(value: object, where: str) -> tuple[str, ...]:
    """Return shell lines, and refuse secrets in them because scripts and records contain the lines."""
    lines = [text(line, f"{where}[{i}]", max_length=4096) for i, line in enumerate(sequence(value, where))]
    if len(lines) > _MOST_LINES:
        raise ConfigError(f"has {len(lines)} lines, at most {_MOST_LINES} are allowed", where=where)
    for i, line in enumerate(lines):
        if name := next(filter(looks_secret, _ASSIGNED.findall(line)), ""):
            raise ConfigError(
                f"writes {name} into a script",
                where=f"{where}[{i}]",
                fix="Put it into a file there that only you can read (chmod 600), and name it: keys: FILE",
            )
    return tuple(lines)
