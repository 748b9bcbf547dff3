"""A host for operators: a real sshd on loopback, with folders of its own and our interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gym_gui.services.submissions.hosts_file import HostsFile
from gym_gui.services.submissions.ssh.ssh_profile import Host, SshProfile, ssh_profile_of
from tests.support.sshd import Sshd

_ROOT = Path(__file__).parent.parent.parent


def profile(server: Sshd, home: Path, *names: str, setup: tuple[str, ...] = (), **more: Any) -> SshProfile:
    """Hosts on one machine, whose processes are found as those that a test has started itself.

    Args:
        server: The server.
        home: Where they have their data.
        names: Theirs.
        setup: More lines of shell before the command.
        more: More of the file.
    """
    handed = {key: os.environ[key] for key in ("MOSAIC_TEST", "MOSAIC_RUNTIME_DIR") if key in os.environ}
    variables = {
        **handed,
        "PYTHONPATH": str(_ROOT),
        "SDL_VIDEODRIVER": "dummy",
        "MOSAIC_DATA_DIR": str(home / "there-data"),
        "MOSAIC_CONFIG_DIR": str(home / "there-config"),
        "MOSAIC_CACHE_DIR": str(home / "there-cache"),
    }
    lines = [*(f"export {name}='{value}'" for name, value in variables.items()), *setup]
    command = more.pop("mosaic", f"{sys.executable} -m gym_gui")
    data = {"ssh_config": str(server.config), "mosaic": command, "setup": lines, "hosts": list(names), **more}
    return ssh_profile_of(data)


def keep(profile: SshProfile) -> Host:
    """Have these be the person's hosts; returns the first."""
    HostsFile().save(profile)
    return profile.hosts[0]
