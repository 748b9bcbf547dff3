"""Profile of ``--executor slurm``: the resources that each shard's job requests from the scheduler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gym_gui.core.validation import ConfigError, Plain, boolean, integer, keys, sequence, text
from gym_gui.services.submissions.profile import (
    MEMORY,
    OF_A_COMMAND,
    USUAL,
    Command,
    command_of,
    matching,
    place,
)

MOST_AT_ONCE: Final = 100_000
_NAMES: Final = ("partition", "account", "qos")
_NUMBERS: Final = ("cpus", "gpus", "shards")
_KEYS: Final = {
    key: key for key in (*_NAMES, *OF_A_COMMAND, *_NUMBERS, "time", "memory", "requeue", "folder", "options")
}
_LEAST_S: Final = 120
_NAME: Final = re.compile(r"[\w.,+-]+")
_TIME: Final = re.compile(r"(\d+-\d{1,2}(:\d{1,2}){0,2}|\d+(:\d{1,2}){0,2})")
_OURS: Final = ("--array", "--output", "--error", "--job-name", "--parsable", "--wrap", "--chdir")


@dataclass(frozen=True)
class SlurmProfile:
    """Resources that each shard's Slurm job requests. Empty or ``None`` means the site's default.

    Attributes:
        partition: Partition, as ``sbatch`` takes it.
        account: Account that is charged.
        qos: Quality of service.
        time: Time limit of each shard: minutes, ``H:MM:SS``, ``D-HH``.
        memory: Memory of each shard, such as ``4G``.
        cpus: Cores of each shard.
        gpus: GPUs of each shard.
        shards: Largest number of shards that run at once.
        requeue: Whether a preempted shard goes back into the queue.
        folder: Folder on a disk that all nodes share; empty for the submission's own folder.
        options: More options of ``sbatch``.
        command: Command that starts MOSAIC.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    time: str = ""
    memory: str = ""
    cpus: int | None = None
    gpus: int | None = None
    shards: int = 64
    requeue: bool = True
    folder: str = ""
    options: tuple[str, ...] = ()
    command: Command = USUAL

    @property
    def places(self) -> int:
        """Number of shards that are played at once."""
        return self.shards

    @property
    def asked(self) -> list[str]:
        """Options of ``sbatch`` for this profile."""
        given = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": self.time,
            "mem": self.memory,
            "cpus-per-task": self.cpus,
            "gres": f"gpu:{self.gpus}" if self.gpus else "",
        }
        kept = [f"--{name}={value}" for name, value in given.items() if value]
        return [*kept, "--requeue" if self.requeue else "--no-requeue", *self.options]

    def to_record(self) -> dict[str, Plain]:
        """Return plain data that reads back to an equal profile."""
        given: dict[str, Plain] = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "time": self.time,
            "memory": self.memory,
            "cpus": self.cpus,
            "gpus": self.gpus,
            "folder": self.folder,
        }
        kept = {key: value for key, value in given.items() if value}
        options: list[Plain] = list(self.options)
        about = {"shards": self.shards, "requeue": self.requeue, "options": options}
        return {**kept, **about, **self.command.to_record()}


def slurm_profile_of(data: object) -> SlurmProfile:
    """Return the Slurm profile that plain data describes.

    Raises:
        ConfigError: The data is invalid. The error names the invalid key.
    """
    found = keys(data if data is not None else {}, "", _KEYS)
    names = [matching(found.get(key), key, _NAME, "such as short") for key in _NAMES]
    # YAML reads 1:30:00 as a number of seconds.
    if isinstance(found.get("time"), int) and not isinstance(found.get("time"), bool):
        raise ConfigError("is a number", where="time", fix='Write it in quotes: time: "1:30:00"')
    return SlurmProfile(
        *names,
        time=_time(found.get("time")),
        memory=matching(found.get("memory"), "memory", MEMORY, "4G"),
        cpus=integer(found["cpus"], "cpus", low=1, high=4096) if "cpus" in found else None,
        gpus=integer(found["gpus"], "gpus", low=0, high=1024) if "gpus" in found else None,
        shards=integer(found.get("shards", SlurmProfile.shards), "shards", low=1, high=MOST_AT_ONCE),
        requeue=boolean(found.get("requeue", True), "requeue"),
        folder=place(found["folder"], "folder") if "folder" in found else "",
        options=_options(found.get("options", ())),
        command=command_of(found),
    )


def _time(value: object) -> str:
    written = matching(value, "time", _TIME, '"1:30:00", or "90" for minutes')
    days, dash, rest = written.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part]
    # Formats: minutes, M:SS, H:MM:SS; after days, H, H:MM, H:MM:SS.
    hours = bool(dash) or len(parts) == 3
    seconds = sum(part * size for part, size in zip(parts, (3600, 60, 1) if hours else (60, 1), strict=False))
    if written and int(days or 0) * 86_400 + seconds < _LEAST_S:
        raise ConfigError(
            f"{written!r} is too short: a shard is asked to stop one minute before its time is over",
            where="time",
            fix='Write "2" or more, for minutes',
        )
    return written


def _options(value: object) -> tuple[str, ...]:
    """Return more options of ``sbatch``, one per item."""
    written = sequence(value, "options")
    options = [text(each, f"options[{i}]", max_length=1024) for i, each in enumerate(written)]
    for i, option in enumerate(options):
        # The text after the option's name may be a key, so it must not be shown.
        name, where = option.partition("=")[0], f"options[{i}]"
        if not name.startswith("-") or name.startswith("--export"):
            raise ConfigError(
                f"{name!r} cannot be given", where=where, fix="Write an option such as --exclusive"
            )
        if name in _OURS:
            raise ConfigError(f"{name!r} is set by MOSAIC", where=where, fix="Leave it out")
    return tuple(options)
