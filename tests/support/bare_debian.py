"""A bare Debian in a folder, made by debootstrap, in which commands run as root or as a user."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.debian import need_programs

MIRROR = "http://deb.debian.org/debian"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class BareDebian:
    """The folder of a Debian.

    Attributes:
        root: The folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(
        self, command: str, *, user: str = "root", network: bool = True, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the shell; without ``network`` there is no device but a loopback that is down."""
        line = [
            "/usr/sbin/chroot",
            f"--userspec={user}",
            str(self.root),
            "/bin/sh",
            "-c",
            f"cd ~ && {command}",
        ]
        if not network:
            line = ["/usr/bin/unshare", "--net", *line]
        home = "/root" if user == "root" else f"/home/{user}"
        known = {"PATH": _PATH, "HOME": home, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(
            line, env={**known, **(env or {})}, capture_output=True, text=True, check=False, timeout=1200
        )

    def succeed(
        self, command: str, *, user: str = "root", network: bool = True, env: Mapping[str, str] | None = None
    ) -> str:
        """Run a command that must end with status 0; returns what it prints."""
        done = self.run(command, user=user, network=network, env=env)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def copy(self, source: Path, target: str) -> None:
        """Copy a file or a folder to a place below the root, readable by every user there."""
        place = self.root / target.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, place, dirs_exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)
        subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True)


@contextmanager
def bare_debian(suite: str, folder: Path) -> Generator[BareDebian]:
    """Make a minimal Debian below ``folder``; skipped without root, chroot or a mirror.

    It sees this machine's resolver and certificates, and nothing of its caches.
    """
    import pytest

    if os.getuid() != 0:
        pytest.skip("a bare Debian takes root")
    need_programs("debootstrap", "chroot", "unshare", packages=("debootstrap",))
    root = folder / suite
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", suite, str(root), MIRROR],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"debootstrap {suite}: {(done.stdout + done.stderr).strip().splitlines()[-1:]}")
    debian = BareDebian(root)
    mounted = _mount(root)
    try:
        for name in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
            if Path(name).is_file():
                debian.copy(Path(name), name)
        yield debian
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "--lazy", str(place)], check=False)


def _mount(root: Path) -> list[Path]:
    """What a program expects of a system: processes, devices, shared memory."""
    mounted: list[Path] = []
    for kind, place in (("proc", "proc"), ("tmpfs", "dev/shm")):
        target = root / place
        target.mkdir(exist_ok=True)
        if not os.path.ismount(target):
            subprocess.run(["mount", "-t", kind, kind, str(target)], check=True)
        mounted.append(target)
    return mounted
