"""Programs of Debian that long tests run for real: installed where that can be, else the test is skipped."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest import SkipTest

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
_POLICY = Path("/usr/sbin/policy-rc.d")
_LOCK = Path("/run/lock/mosaic-tests-apt")


def need_programs(*names: str, packages: tuple[str, ...]) -> None:
    """Install packages where programs of theirs are missing; no service of them is started.

    It takes root and ``apt-get``; without, the test is skipped and says what it needs.

    Args:
        *names: The programs.
        packages: Debian's packages that have them.
    """
    _need(lambda: [name for name in names if shutil.which(name, path=PATH) is None], packages)


def need_files(*paths: Path, packages: tuple[str, ...]) -> None:
    """The same for files that are no programs."""
    _need(lambda: [str(path) for path in paths if not path.exists()], packages)


def _need(missing: Callable[[], list[str]], packages: tuple[str, ...]) -> None:
    if not missing():
        return
    if os.getuid() == 0 and shutil.which("apt-get"):
        # Tests in other processes need them as well.
        with _LOCK.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if missing():
                _install(packages)
    if left := missing():
        raise SkipTest(f"needs {', '.join(left)}: apt-get install {' '.join(packages)}, as root")


def _install(packages: tuple[str, ...]) -> None:
    environment = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    ours = not _POLICY.exists()
    if ours:
        _POLICY.write_text("#!/bin/sh\n# Packages start no service while they are installed.\nexit 101\n")
        _POLICY.chmod(0o755)
    try:
        for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            # Where it fails, the test says what it needs.
            subprocess.run(["apt-get", "-q", *command], env=environment, capture_output=True, check=False)
    finally:
        if ours:
            _POLICY.unlink()
