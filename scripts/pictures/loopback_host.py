"""Hosts for measurements and pictures: a real sshd on loopback, with keys and folders of its own.

The way to them is that of any host, but for a network in between.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_NEEDED = {"sshd": "openssh-server", "ssh": "openssh-client", "ss": "iproute2"}
_WITH_SBIN = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def why_not() -> str:
    """Why there can be no host; empty where there can."""
    missing = [name for name in _NEEDED if shutil.which(name, path=_WITH_SBIN) is None]
    packages = " ".join(_NEEDED[name] for name in missing)
    return f"needs {', '.join(missing)}. Run: sudo apt-get install {packages}" if missing else ""


@contextmanager
def loopback_hosts(*names: str) -> Generator[tuple[Path, Any]]:
    """Hosts of these names, in the list of a new configuration folder; with that folder and their server."""
    sys.path.insert(0, str(ROOT))  # other packages bring a ``tests`` of their own
    remote: Any = importlib.import_module("tests.support.remote")
    servers: Any = importlib.import_module("tests.support.sshd")
    from gym_gui.services.submissions.hosts_file import HostsFile

    with tempfile.TemporaryDirectory(prefix="mosaic-hosts-") as folder:
        home = Path(folder)
        with servers.sshd(home / "sshd") as server:
            HostsFile(home / "config" / "hosts.yaml").save(remote.profile(server, home, *names))
            yield home / "config", server
