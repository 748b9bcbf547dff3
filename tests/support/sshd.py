"""A real sshd on loopback, with keys and accounts of its own: nothing of the machine's own is touched."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.debian import PATH, need_programs
from tests.support.waiting import eventually


@dataclass
class Sshd:
    """A server.

    Attributes:
        config: A configuration of OpenSSH's client, in which any name is this server.
        pid: Its process; no child of ours, as sessions end strangers among the children of their process.
        program: The server's program.
    """

    config: Path
    pid: int
    program: str

    def start(self) -> None:
        """Start it, on the port that it had."""
        folder = self.config.parent
        (folder / "pid").unlink(missing_ok=True)
        subprocess.run(
            [self.program, "-E", str(folder / "log"), "-f", str(folder / "sshd_config")],
            env={"PATH": os.defpath},
            check=True,
        )
        self.pid = int(
            eventually(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), "sshd listens", 10)
        )

    def end(self) -> None:
        """End it, as a machine that is switched off: its connections die as well."""
        try:
            connections = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        except FileNotFoundError:  # it was ended before
            return
        for pid in (self.pid, *map(int, connections)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def sshd(folder: Path, names: str = "*", **more: object) -> Iterator[Sshd]:
    """A server with a host key and a user's key of its own, on a free port.

    Args:
        folder: A new folder of its own.
        names: What the client's configuration calls it.
        **more: Lines of ``sshd_config``, in place of those here.
    """
    need_programs("sshd", "ssh", "scp", packages=("openssh-server", "openssh-client"))
    program = shutil.which("sshd", path=PATH)
    assert program is not None
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    host_key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    server = {
        "ListenAddress": "127.0.0.1",
        "Port": port,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PidFile": folder / "pid",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "MaxStartups": 100,
        "Subsystem": "sftp internal-sftp",
        **more,
    }
    client = {
        "HostName": "127.0.0.1",
        "Port": port,
        "IdentityFile": folder / "user",
        "IdentitiesOnly": "yes",
        "UserKnownHostsFile": folder / "known",
        "StrictHostKeyChecking": "yes",
    }
    for name, lines in (("sshd_config", server), ("ssh_config", client)):
        head = f"Host {names}\n" if name == "ssh_config" else ""
        (folder / name).write_text(head + "".join(f"{key} {value}\n" for key, value in lines.items()))
    found = Sshd(folder / "ssh_config", 0, program)
    found.start()
    try:
        yield found
    finally:
        found.end()
