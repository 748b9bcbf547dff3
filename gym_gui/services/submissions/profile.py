"""What a profile says in all of its kinds: how a command of MOSAIC is begun elsewhere."""

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
"""Keys of :class:`Command`."""
FOLDER: Final = "mosaic-submissions"
"""Where submissions are put, below the home, where a profile does not say."""
MEMORY: Final = re.compile(r"\d+[KMGT]?")
"""How much memory a shard gets: 4G."""
_MOST_BYTES: Final = 2**20
_MOST_LINES: Final = 50
_ASSIGNED: Final = re.compile(r"""(?:^|[\s;&|({])([A-Za-z_]\w*)=(?!["']?[$`])(?=[^\s;&])""")
"""A variable that a line of shell gives a value which stands there."""


@dataclass(frozen=True)
class Command:
    """How MOSAIC is begun where shards are played.

    Attributes:
        mosaic: The command, as the shell there reads it; also one that begins a container.
        setup: Lines of shell before it, in the home: modules, an environment.
        keys: A file there with keys, as lines ``NAME=VALUE``, that is its owner's alone; empty: none.
        processes: Session processes of each shard; ``None``: one per core.
    """

    mosaic: str = "mosaic"
    setup: tuple[str, ...] = ()
    keys: str = ""
    processes: int | None = None

    def to_record(self) -> dict[str, Plain]:
        """Plain data, as in the file."""
        return {
            "mosaic": self.mosaic,
            "setup": list(self.setup),
            **({"keys": self.keys} if self.keys else {}),
            **({"processes": self.processes} if self.processes else {}),
        }


USUAL: Final = Command()
"""How it is begun where a profile does not say."""


def read_profile(path: Path) -> object:
    """What a profile file (YAML or JSON) holds.

    Raises:
        UsageError: It cannot be read.
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
    """How a command is begun, from plain data whose keys are known.

    Raises:
        ConfigError: With the place of what is wrong.
    """
    processes = found.get("processes")
    return Command(
        text(found.get("mosaic", "mosaic"), "mosaic", max_length=4096),
        _lines(found.get("setup", ()), "setup"),
        place(found["keys"], "keys") if "keys" in found else "",
        None if processes is None else integer(processes, "processes", low=1, high=256),
    )


def place(value: object, where: str) -> str:
    """A path elsewhere, from the home or absolute; ``~/`` is left out.

    Raises:
        ConfigError: It leads out of both, or into another home.
    """
    path = text(value, where, max_length=1024)
    if ".." in Path(path).parts or (path.startswith("~") and not path.startswith("~/")):
        raise ConfigError(f"{path!r} cannot be used", where=where, fix="Write it from the home, or absolute")
    return path.removeprefix("~/")


def matching(value: object, where: str, form: re.Pattern[str], such: str) -> str:
    """What has a certain form, or nothing.

    Args:
        value: What is written; ``None``: nothing.
        where: Its key.
        form: What all of it matches.
        such: What could be written in its place.

    Raises:
        ConfigError: It has another form.
    """
    if value is None:
        return ""
    written = text(value, where, max_length=255)
    if form.fullmatch(written) is None:
        raise ConfigError(f"{written!r} cannot be used", where=where, fix=f"Write {such}")
    return written


def _lines(value: object, where: str) -> tuple[str, ...]:
    """Lines of shell; scripts and records keep them, so no key stands in them."""
    lines = [text(line, f"{where}[{i}]", max_length=4096) for i, line in enumerate(sequence(value, where))]
    if len(lines) > _MOST_LINES:
        raise ConfigError(f"has {len(lines)} lines, at most {_MOST_LINES} are allowed", where=where)
    for i, line in enumerate(lines):
        if name := next(filter(looks_secret, _ASSIGNED.findall(line)), ""):
            raise ConfigError(
                f"writes {name} into a script",
                where=f"{where}[{i}]",
                fix="Put it into a file there that is yours alone (chmod 600), and name that: keys: FILE",
            )
    return tuple(lines)
