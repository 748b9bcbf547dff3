"""File of a user's hosts, which the window edits and ``--executor ssh`` reads by default."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gym_gui.core import paths
from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.errors import ExperimentError, ProtocolError, UsageError
from gym_gui.core.record_fields import items, mapping
from gym_gui.core.validation import ConfigError
from gym_gui.services.submissions.profile import read_profile
from gym_gui.services.submissions.shell import from_home
from gym_gui.services.submissions.ssh.ssh import SshHost
from gym_gui.services.submissions.ssh.ssh_check import check_host
from gym_gui.services.submissions.ssh.ssh_profile import Host, SshProfile, ssh_profile_of
from mosaic_worker.plain_files import replace_file

_WORKERS_S: Final = 120.0


class HostsFile:
    """The hosts that are reached by ssh, in a file of the configuration folder.

    Args:
        path: Another file to use.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.hosts_file()

    def load(self) -> SshProfile:
        """Return the hosts; an empty profile if there is no file.

        Raises:
            UsageError: The file cannot be read or is invalid. The message names the invalid key in one line.
        """
        if not self.path.exists():
            return SshProfile(())
        try:
            return ssh_profile_of(read_profile(self.path)).beside(self.path.parent)
        except ConfigError as error:
            raise ExperimentError(f"{self.path}: {error.message}", fix=error.fix) from None

    def save(self, profile: SshProfile) -> None:
        """Write the file. Without hosts, the file is removed.

        Raises:
            UsageError: The file cannot be written, or a host is named twice.
        """
        import yaml  # imported only when hosts are changed

        try:
            if not profile.hosts:
                self.path.unlink(missing_ok=True)
                return
            ssh_profile_of(profile.to_record())
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = yaml.safe_dump(profile.to_record(), sort_keys=False, allow_unicode=True)
            replace_file(self.path, text.encode())
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def put(self, host: Host, before: str = "") -> None:
        """Add a host, or replace one.

        Args:
            host: The new entry.
            before: Name of the host to replace; empty to add a host.

        Raises:
            UsageError: As for :meth:`load` and :meth:`save`.
        """
        profile = self.load()
        hosts = [host if each.name == before else each for each in profile.hosts]
        self.save(replace(profile, hosts=tuple(hosts if before else [*hosts, host])))

    def remove(self, name: str) -> None:
        """Remove a host. Raises like :meth:`put`."""
        profile = self.load()
        self.save(replace(profile, hosts=tuple(host for host in profile.hosts if host.name != name)))


@dataclass(frozen=True)
class HostReport:
    """Result of checking a host.

    Attributes:
        version: Version of MOSAIC on the host, the same as here.
        installed: Workers whose packages are installed on the host.
        missing: Workers that are known here and cannot play on the host.
    """

    version: str
    installed: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The report as text: "Reached: MOSAIC 0.1.0, 12 workers installed, but not cleanrl_worker"."""
        count = f"{len(self.installed)} worker{'' if len(self.installed) == 1 else 's'}"
        rest = f", but not {', '.join(self.missing)}" if self.missing else ""
        return f"Reached: MOSAIC {self.version}, {count} installed{rest}."


async def inspect_host(host: Host, ssh_config: str, known: Iterable[str]) -> HostReport:
    """Connect to a host and report which workers could play there.

    Args:
        host: The host to check.
        ssh_config: OpenSSH configuration to use; empty for the user's own.
        known: Ids of workers that are known here.

    Raises:
        MosaicError: The host cannot be reached or used. The message contains the reason.
    """
    ssh = SshHost(host.name, ssh_config)
    try:
        found = await check_host(ssh, host)
        how = host.command
        script = "\n".join([*from_home(how), f"{how.mosaic} workers list --json </dev/null", "exit 0"])
        listed = await ssh.run(f"{script}\n", within_s=_WORKERS_S)
    finally:
        await finish_despite_cancel(ssh.close())
    return report_of(host.name, found["version"].removeprefix("mosaic "), listed, known)


def report_of(name: str, version: str, listed: str, known: Iterable[str]) -> HostReport:
    """Return the report of a host from the output of ``mosaic workers list --json``.

    Args:
        name: Name of the host.
        version: Version of MOSAIC on the host.
        listed: Output of the command, after any output of the shell's start files.
        known: Ids of workers that are known here.

    Raises:
        ProtocolError: The output is not a list of workers.
    """
    try:
        rows = [mapping(row) or {} for row in items(json.loads(listed[listed.index("[") :])) or ()]
        states = {str(row["id"]): str(row["state"]) for row in rows}
    except (ValueError, LookupError):
        said = " ".join(listed.split())[-120:] or "nothing"
        raise ProtocolError(f"{name}: mosaic workers list printed no list of workers: {said}") from None
    installed = sorted(worker for worker, state in states.items() if state == "installed")
    return HostReport(version, tuple(installed), tuple(sorted(set(known) - set(installed))))
