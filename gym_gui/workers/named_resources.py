"""Finds programs, files and servers that a worker's settings name, for the user's permission."""

from __future__ import annotations

import ipaddress
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from gym_gui.core.secret_refs import references
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.core.trusted.user_code import hash_of
from gym_gui.workers.definition import WorkerTypeDefinition

_HOST_AND_PORT: Final = re.compile(r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?")
_PURPOSES = {
    "program": "starts",
    "file": "has its worker use",
    "prompts": "has its worker use",
    "episode": "shows its worker",
}


def needs_of_settings(definition: WorkerTypeDefinition, settings: Mapping[str, Any]) -> list[RequiredSubject]:
    """Return the programs, files and servers that the user must allow before a worker gets settings.

    The manifest declares which settings are a ``program``, a ``file``, a folder of ``prompts``, an
    ``episode`` of a run, or a ``server``. A server on another machine needs permission if a secret would be
    sent to it.

    Args:
        definition: The worker.
        settings: Settings from an experiment file; the manifest's own defaults need no permission.
    """
    return list(_needs(definition, settings))


def _needs(definition: WorkerTypeDefinition, settings: Mapping[str, Any]) -> Iterator[RequiredSubject]:
    secret = any(True for _ in references(settings))  # whether the settings refer to any secret
    for setting in definition.settings_schema:
        value = settings.get(setting.name)
        if setting.kind == "episode" and isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get("run")
        own = (None, "", setting.default)
        if not isinstance(value, str) or value in own:
            continue
        if setting.kind in _PURPOSES:
            purpose = _PURPOSES[setting.kind]
            subject = _program(value) if setting.kind == "program" else Subject("file", _absolute(value))
            yield RequiredSubject(subject, value, purpose)
        elif setting.kind == "server" and secret and not is_local(value):
            yield RequiredSubject(Subject("server", value), value, "sends a secret to")
    address = settings.get("address")  # address of a worker on another machine
    if isinstance(address, str) and not is_local_address(address):
        yield RequiredSubject(Subject("server", address), address, "plays by a worker at")


def _program(value: str) -> Subject:
    path = Path(_absolute(shutil.which(value) or value))
    try:
        return Subject("program", str(path), hash_of(path) if path.is_file() else "")
    except OSError:
        return Subject("program", str(path))


def _absolute(value: str) -> str:
    return str(Path(value).expanduser().resolve())


def is_local(address: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        return _is_this_machine(urlsplit(address).hostname or "")
    except ValueError:
        return False


def is_local_address(address: str) -> bool:
    """Return whether ``host:port`` names this machine; ``False`` for an address in another form."""
    # The connecting library may read an odd spelling (localhost#.example:1) differently than we do.
    found = _HOST_AND_PORT.fullmatch(address)
    return found is not None and _is_this_machine(found[1].strip("[]").lower())


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
