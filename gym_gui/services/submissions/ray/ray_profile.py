"""Profile of ``--executor ray``: the cluster, and the resources that each shard's task requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gym_gui.core.validation import ConfigError, Plain, integer, keys, mapping, number, text
from gym_gui.services.submissions.profile import (
    FOLDER,
    MEMORY,
    OF_A_COMMAND,
    USUAL,
    Command,
    command_of,
    matching,
    place,
)

MOST_AT_ONCE: Final = 10_000
_KEYS: Final = {
    key: key for key in ("address", *OF_A_COMMAND, "cpus", "gpus", "memory", "resources", "shards", "folder")
}
_ADDRESS: Final = re.compile(r"auto|(ray://)?([\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}")
_RESOURCE: Final = re.compile(r"[\w.:/-]+")
_ITS_OWN: Final = {"CPU": "cpus", "GPU": "gpus", "memory": "memory", "object_store_memory": "memory"}
_BYTES: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class RayProfile:
    """A Ray cluster, with the resources that each shard requests.

    Attributes:
        address: ``auto``; on a node, the head's ``HOST:PORT``; from elsewhere, ``ray://HOST:PORT``.
        cpus: Cores of each shard.
        gpus: GPUs of each shard, which may be a part of one GPU.
        memory: Memory of each shard, such as ``4G``; empty to request none.
        resources: Amounts of the cluster's custom resources for each shard, by name.
        shards: Largest number of shards that are played at once.
        folder: Folder for submissions on nodes, absolute or relative to the home.
        command: Command that starts MOSAIC.
    """

    address: str = "auto"
    cpus: float = 1
    gpus: float = 0
    memory: str = ""
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    shards: int = 16
    folder: str = FOLDER
    command: Command = USUAL

    @property
    def places(self) -> int:
        """Number of shards that are played at once."""
        return self.shards

    @property
    def options(self) -> dict[str, Any]:
        """Resource options of a task, under the names of Ray's ``options()``."""
        asked: dict[str, Any] = {"num_cpus": self.cpus, "num_gpus": self.gpus}
        if self.memory:
            asked["memory"] = _in_bytes(self.memory)
        return {**asked, "resources": dict(self.resources)} if self.resources else asked

    @property
    def needs(self) -> dict[str, float]:
        """Resources that a node must have, by Ray's names."""
        memory = {"memory": float(_in_bytes(self.memory))} if self.memory else {}
        asked = {"CPU": self.cpus, "GPU": self.gpus, **memory, **self.resources}
        return {name: each for name, each in asked.items() if each}

    def to_record(self) -> dict[str, Plain]:
        """Return plain data that reads back to an equal profile."""
        resources: dict[str, Plain] = dict(self.resources)
        return {
            "address": self.address,
            "cpus": self.cpus,
            "gpus": self.gpus,
            **({"memory": self.memory} if self.memory else {}),
            **({"resources": resources} if resources else {}),
            "shards": self.shards,
            "folder": self.folder,
            **self.command.to_record(),
        }


def ray_profile_of(data: object) -> RayProfile:
    """Return the Ray profile that plain data describes.

    Raises:
        ConfigError: The data is invalid. The error names the invalid key.
    """
    found = keys(data if data is not None else {}, "", _KEYS)
    such = "auto, such as head.example.org:6379 on a node of the cluster, or ray://head.example.org:10001"
    return RayProfile(
        matching(found.get("address", "auto"), "address", _ADDRESS, such),
        number(found.get("cpus", 1), "cpus", low=0, high=4096),
        _gpus(found.get("gpus", 0)),
        matching(found.get("memory"), "memory", MEMORY, "4G"),
        _resources(found.get("resources", {})),
        integer(found.get("shards", RayProfile.shards), "shards", low=1, high=MOST_AT_ONCE),
        place(found.get("folder", FOLDER), "folder"),
        command_of(found),
    )


def _gpus(value: object) -> float:
    gpus = number(value, "gpus", low=0, high=1024)
    if gpus > 1 and not gpus.is_integer():
        raise ConfigError(f"is {gpus:g}", where="gpus", fix="Request a part of one GPU, or whole GPUs")
    return gpus


def _resources(value: object) -> dict[str, float]:
    """Return the amounts of the cluster's custom resources, and refuse names that have a key of their own."""
    found: dict[str, float] = {}
    for name, much in mapping(value, "resources").items():
        where = f"resources.{name}"
        if (key := _ITS_OWN.get(name)) is not None:
            raise ConfigError("has a key of its own", where=where, fix=f"Write {key}: …")
        matching(text(name, "resources", max_length=255), where, _RESOURCE, "the name that ray status shows")
        found[name] = number(much, where, low=0.0001, high=1e9)
    return found


def _in_bytes(written: str) -> int:
    unit = written[-1] if written[-1].isalpha() else ""
    return int(written.removesuffix(unit)) * _BYTES[unit]
