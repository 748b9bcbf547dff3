"""Profile of ``--executor ssh``: the hosts that play shards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gym_gui.core.errors import UnknownNameError
from gym_gui.core.validation import ConfigError, Plain, integer, keys, sequence, text, under
from gym_gui.services.submissions.profile import FOLDER, OF_A_COMMAND, USUAL, Command, command_of, place

MOST_HOSTS: Final = 1_000
MOST_SHARDS_EACH: Final = 256
_PATIENCE_S: Final = 120
_MOST_PATIENCE_S: Final = 86_400
_OF_A_HOST: Final = {key: key for key in (*OF_A_COMMAND, "folder", "shards", "patience")}
_OF_THE_FILE: Final = {**_OF_A_HOST, "hosts": "hosts", "ssh_config": "ssh_config"}


@dataclass(frozen=True)
class Host:
    """A machine that is reached by ssh.

    Attributes:
        name: Name as ``ssh`` takes it: a name in its configuration, an address, or ``user@address``.
        folder: Folder for submissions on the host, absolute or relative to the home.
        shards: Number of shards that the host plays at once.
        patience_s: Seconds without an answer before its shards are played elsewhere.
        command: Command that starts MOSAIC.
    """

    name: str
    folder: str = FOLDER
    shards: int = 1
    patience_s: int = _PATIENCE_S
    command: Command = USUAL

    def to_record(self) -> dict[str, Plain]:
        """Return the host's entry for the file as plain data."""
        about: dict[str, Plain] = {"host": self.name, "folder": self.folder, "shards": self.shards}
        about["patience"] = self.patience_s
        return about | self.command.to_record()


@dataclass(frozen=True)
class SshProfile:
    """Hosts that are reached by ssh.

    Attributes:
        hosts: The hosts, each once.
        ssh_config: OpenSSH configuration to use; empty for the user's own.
    """

    hosts: tuple[Host, ...]
    ssh_config: str = ""

    @property
    def places(self) -> int:
        """Number of shards that are played at once."""
        return sum(host.shards for host in self.hosts)

    def find(self, name: str) -> Host:
        """Return the host with a name.

        Raises:
            UnknownNameError: No host has that name.
        """
        found = next((host for host in self.hosts if host.name == name), None)
        if found is None:
            known = [host.name for host in self.hosts]
            raise UnknownNameError("host", name, known, hint="Add it in Settings, Hosts…")
        return found

    def beside(self, folder: Path) -> SshProfile:
        """Return the profile with its paths resolved from the folder of its file."""
        config = Path(self.ssh_config).expanduser()
        return replace(self, ssh_config=str(folder.absolute() / config)) if self.ssh_config else self

    def to_record(self) -> dict[str, Plain]:
        """Return plain data that reads back to an equal profile."""
        config: dict[str, Plain] = {"ssh_config": self.ssh_config} if self.ssh_config else {}
        return {**config, "hosts": [host.to_record() for host in self.hosts]}


def ssh_profile_of(data: object) -> SshProfile:
    """Return the ssh profile that plain data describes. Keys beside ``hosts`` apply to all hosts.

    Raises:
        ConfigError: The data is invalid. The error names the invalid key.
    """
    found = keys(data, "", _OF_THE_FILE)
    written = sequence(found.get("hosts", ()), "hosts")
    if not 1 <= len(written) <= MOST_HOSTS:
        raise ConfigError(
            f"names {len(written)} hosts, but 1 to {MOST_HOSTS} are allowed",
            where="hosts",
            fix="Write for example hosts: [one, two]",
        )
    common = {key: value for key, value in found.items() if key in _OF_A_HOST}
    _host({**common, "host": "any"}, "")
    hosts = tuple(
        _host({**common, **_own(each, f"hosts[{i}]")}, f"hosts[{i}]") for i, each in enumerate(written)
    )
    names = [host.name for host in hosts]
    if (twice := next((name for i, name in enumerate(names) if name in names[:i]), None)) is not None:
        raise ConfigError(
            f"{twice!r} is named twice", where="hosts", fix="Give it more shards at once: shards: 4"
        )
    config = text(found["ssh_config"], "ssh_config", max_length=4096) if "ssh_config" in found else ""
    return SshProfile(hosts, config)


def _own(written: object, where: str) -> dict[str, object]:
    if isinstance(written, str):
        return {"host": written}
    return keys(written, where, {**_OF_A_HOST, "host": "host"})


def _host(found: Mapping[str, object], where: str) -> Host:
    with under(where):
        if "host" not in found:
            raise ConfigError("has no host", fix="Write for example host: user@address")
        name = text(found["host"], "host", max_length=255)
        if name.startswith("-") or any(c.isspace() for c in name):
            raise ConfigError(
                f"{name!r} is not a host name", where="host", fix="Write it as ssh takes it: user@address"
            )
        return Host(
            name,
            place(found.get("folder", FOLDER), "folder"),
            integer(found.get("shards", 1), "shards", low=1, high=MOST_SHARDS_EACH),
            integer(found.get("patience", _PATIENCE_S), "patience", low=0, high=_MOST_PATIENCE_S),
            command_of(found),
        )
