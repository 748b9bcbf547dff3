"""A real Slurm on this machine alone: one node, its configuration and state in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.debian import need_programs
from tests.support.waiting import eventually

_PATH = f"{os.defpath}:/usr/sbin:/sbin"
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """A cluster; the variables by which its commands find it.

    It takes root and Debian's ``slurm-wlm`` and ``munge``; skipped by name where these are not there.
    """
    if os.getuid() != 0:
        pytest.skip("needs root and a Slurm of its own: apt-get install slurm-wlm munge")
    need_programs(*_PROGRAMS, packages=("slurm-wlm", "munge"))
    folder.mkdir(mode=0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().partition(".")[0]
    lines = {
        "ClusterName": "tests",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmctldPort": _port(),
        "SlurmdPort": _port(),
        "SlurmUser": "root",
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": folder / "slurmd.pid",
        "SlurmctldLogFile": folder / "slurmctld.log",
        "SlurmdLogFile": folder / "slurmd.log",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "JobAcctGatherType": "jobacct_gather/none",
        "MpiDefault": "none",
        "ReturnToService": 2,
        "MaxArraySize": 11,
        "KillWait": 10,
        "NodeName": f"{host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN",
        "PartitionName": f"short Nodes={host} Default=YES MaxTime=60 State=UP",
    }
    config = folder / "slurm.conf"
    config.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    variables = {"SLURM_CONF": str(config)}
    environment = {"PATH": _PATH, **variables}
    with ExitStack() as stack:
        if not Path("/run/munge/munge.socket.2").exists():
            user = pwd.getpwnam("munge")
            Path("/run/munge").mkdir(mode=0o755, exist_ok=True)
            os.chown("/run/munge", user.pw_uid, user.pw_gid)
            _start(stack, ["munged", "--foreground"], environment, user=user.pw_uid, group=user.pw_gid)
            eventually(Path("/run/munge/munge.socket.2").exists, "munged answers", 20)
        _start(stack, ["slurmctld", "-D"], environment)
        _start(stack, ["slurmd", "-D", "-N", host], environment)

        def idle() -> bool:
            said = subprocess.run(
                ["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True, check=False
            )
            return said.stdout.strip() == "idle"

        eventually(idle, "the node is idle", 60)
        try:
            yield variables
        finally:
            subprocess.run(["scancel", "--full", "--user=root"], env=environment, check=False)


def _start(stack: ExitStack, command: list[str], environment: dict[str, str], **who: int) -> None:
    program = shutil.which(command[0], path=_PATH)
    assert program is not None
    # Its parent is a shell that has ended: sessions in this process end strangers among its children.
    line = '"$@" >/dev/null 2>&1 </dev/null & echo $!'
    done = subprocess.run(
        ["sh", "-c", line, "sh", program, *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        **who,  # pyright: ignore[reportArgumentType]
    )
    pid = int(done.stdout)

    def end() -> None:
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, 15)
            eventually(lambda: not Path(f"/proc/{pid}/exe").exists(), f"{command[0]} ends", 30)

    stack.callback(end)
