"""A real Slurm on this machine alone: one node, its configuration and state in a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import SkipTest

from tests.support.debian import need_programs
from tests.support.waiting import eventually

_PATH = f"{os.defpath}:/usr/sbin:/sbin"
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Cluster(dict[str, str]):
    """A cluster of one node: the variables by which its commands find it, and its daemons.

    Attributes:
        folder: Its configuration, state and logs.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(SLURM_CONF=str(folder / "slurm.conf"))
        self.folder = folder
        self.host = socket.gethostname().partition(".")[0]
        self._commands: dict[str, list[str]] = {
            "slurmctld": ["slurmctld", "-D"],
            "slurmd": ["slurmd", "-D", "-N", self.host],
        }
        self._pids: dict[str, int] = {}

    def start(self, daemon: str) -> None:
        """Start ``slurmctld`` or ``slurmd``, on the state that it has left."""
        self._pids[daemon] = _started(self._commands[daemon], {"PATH": _PATH, **self})

    def kill(self, daemon: str) -> None:
        """End a daemon as a loss of power does; with ``slurmd`` all that its jobs have started."""
        found = [self._pids.pop(daemon)]
        if daemon == "slurmd":
            found += self._of_jobs()
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _gone(found[0], daemon)

    def resume(self) -> None:
        """Do what an administrator does where the node is drained: after the loss of a controller's state."""
        if "drain" in self.ask("sinfo", "-h", "-o", "%T"):
            self.ask("scontrol", "update", f"NodeName={self.host}", "State=RESUME")

    def end(self) -> None:
        """Cancel what runs, and end the daemons."""
        if "slurmctld" in self._pids:
            self.ask("scancel", "--full", "--user=root")
        for daemon, pid in self._pids.items():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
                _gone(pid, daemon)

    def ask(self, *command: str) -> str:
        """What a command of the cluster says."""
        done = subprocess.run(
            command, env={"PATH": _PATH, **self}, capture_output=True, text=True, check=False
        )
        return done.stdout

    def _of_jobs(self) -> list[int]:
        mark = f"SLURM_CONF={self['SLURM_CONF']}".encode()
        kept = set(self._pids.values())
        found: list[int] = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                told = (place / "environ").read_bytes().split(b"\0")
                step = (place / "cmdline").read_bytes().startswith(b"slurmstepd")
                ours = mark in told and int(place.name) not in kept
                if ours and (step or any(each.startswith(b"SLURM_JOB_ID=") for each in told)):
                    found.append(int(place.name))
        return found


@contextmanager
def slurm(folder: Path, files: Mapping[str, str] | None = None, **more: object) -> Iterator[Cluster]:
    """A cluster.

    It takes root and Debian's ``slurm-wlm`` and ``munge``; skipped by name where these are not there.

    Args:
        folder: A new folder of its own.
        files: What stands beside ``slurm.conf``, by its name.
        **more: Lines of ``slurm.conf``, in place of those here.
    """
    if os.getuid() != 0:
        raise SkipTest("needs root and a Slurm of its own: apt-get install slurm-wlm munge")
    need_programs(*_PROGRAMS, packages=("slurm-wlm", "munge"))
    folder.mkdir(mode=0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    cluster = Cluster(folder)
    host = cluster.host
    lines = {
        "ClusterName": "tests",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmctldPort": _port(),
        "SlurmdPort": _port(),
        "SlurmUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder}/munge/socket",
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
        "NodeName": f"{host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=4000 State=UNKNOWN",
        "PartitionName": f"short Nodes={host} Default=YES MaxTime=60 State=UP",
        **more,
    }
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    config = folder / "slurm.conf"
    config.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    # Next to the machine's own, or that of another test: with a key and a socket of its own.
    munge = folder / "munge"
    munge.mkdir(mode=0o700)
    key = munge / "key-file"
    key.touch(0o600)
    key.write_bytes(os.urandom(1024))
    files = ("socket", "key-file", "log-file", "pid-file", "seed-file")
    options = [f"--{name}={munge / name}" for name in files]
    # Forced: folders of tests are closed to others than root, who are not needed here.
    munged = _started(["munged", "--foreground", "--force", *options], {"PATH": _PATH})
    try:
        eventually((munge / "socket").exists, "munged answers", 20)
        cluster.start("slurmctld")
        cluster.start("slurmd")
        eventually(lambda: cluster.ask("sinfo", "-h", "-o", "%t").strip() == "idle", "the node is idle", 60)
        yield cluster
    finally:
        cluster.end()
        with suppress(ProcessLookupError):
            os.kill(munged, signal.SIGTERM)
            _gone(munged, "munged")


def _gone(pid: int, name: str) -> None:
    def is_gone() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    eventually(is_gone, f"{name} ends", 30)


def _started(command: list[str], environment: dict[str, str]) -> int:
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
    )
    return int(done.stdout)
