"""Executors by name: reads their profiles and creates their backends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from gym_gui.core.errors import ExperimentError, UsageError
from gym_gui.core.validation import ConfigError, nearest, shown
from gym_gui.services.submissions.executor_backend import ExecutorBackend
from gym_gui.services.submissions.hosts_file import HostsFile
from gym_gui.services.submissions.local_backend import HERE, LocalProfile, ThisMachine, local_profile_of
from gym_gui.services.submissions.profile import read_profile
from gym_gui.services.submissions.ray.ray_backend import RayBackend
from gym_gui.services.submissions.ray.ray_link import require_ray
from gym_gui.services.submissions.ray.ray_profile import RayProfile, ray_profile_of
from gym_gui.services.submissions.slurm.slurm_backend import SlurmBackend
from gym_gui.services.submissions.slurm.slurm_profile import SlurmProfile, slurm_profile_of
from gym_gui.services.submissions.ssh.ssh_backend import SshBackend
from gym_gui.services.submissions.ssh.ssh_profile import Host, SshProfile, ssh_profile_of
from gym_gui.services.submissions.submission_record import Submission

EXECUTORS: Final = ("local", "ssh", "slurm", "ray")
Profile: TypeAlias = LocalProfile | SshProfile | SlurmProfile | RayProfile
_PLAYED: Final = "played"
"""Folder in a submission for the shards that this machine plays."""


def load_profile(executor: str, path: Path | None) -> Profile:
    """Read the profile of an executor.

    Args:
        executor: Name of the executor.
        path: File of the profile. Only ssh needs one, if the user has no :class:`HostsFile`.

    Raises:
        UsageError: The executor is unknown or its profile is invalid. The message names the
            invalid key in one line.
        MissingDependencyError: The executor needs a package that is not installed.
    """
    if executor not in EXECUTORS:
        raise UsageError(f"there is no executor {shown(executor)}", fix=nearest(executor, EXECUTORS))
    if executor == "ray":
        require_ray()
    if path is None:
        if executor != "ssh":
            return _profile_of(executor, None)
        if (kept := HostsFile().load()).hosts:
            return kept
        raise UsageError(
            "--executor ssh needs a list of hosts",
            fix="Write them into a file (hosts: [one, two]), and pass it with --profile FILE",
        )
    try:
        profile = _profile_of(executor, read_profile(path))
    except ConfigError as error:
        raise ExperimentError(f"{path.name}: {error.message}", fix=error.fix) from None
    return profile.beside(path.parent) if isinstance(profile, SshProfile) else profile


def backends_of(submission: Submission) -> Sequence[ExecutorBackend]:
    """Return the backends that play a submission.

    Raises:
        ConfigError: The profile in the submission's record is invalid.
    """
    profile = _profile_of(submission.executor, submission.profile)
    if isinstance(profile, SlurmProfile):
        return [SlurmBackend(profile, submission)]
    if isinstance(profile, RayProfile):
        return [RayBackend(profile, submission)]
    if isinstance(profile, LocalProfile):
        host = Host(HERE, str(submission.folder / _PLAYED), profile.shards, command=profile.command)
        return [SshBackend(host, submission, shell=ThisMachine())]
    return [SshBackend(host, submission, profile.ssh_config) for host in profile.hosts]


def _profile_of(executor: str, data: object) -> Profile:
    readers = {"local": local_profile_of, "slurm": slurm_profile_of, "ray": ray_profile_of}
    return readers.get(executor, ssh_profile_of)(data)
