"""Checks whether a machine has what MOSAIC needs: packages, folders, a display, sufficient limits."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import psutil
from packaging.specifiers import SpecifierSet

from gym_gui.cli.installing.how_installed import how_installed
from gym_gui.cli.installing.installer import find_uv, has_pip
from gym_gui.cli.window import display_trouble, package_trouble
from gym_gui.core.errors import MosaicError
from gym_gui.core.inherited_environment import inherited
from gym_gui.envs.spec import DISTRIBUTION
from gym_gui.host.host_program import make_memory
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.version import __version__
from gym_gui.workers.gpus import detected_gpus
from mosaic_worker.failures import described

State = Literal["ok", "note", "problem"]
"""``note``: a feature is missing or limited; ``problem``: something that most users need does not work."""

_LITTLE_MB, _TOO_LITTLE_MB = 1024, 100
"""Free space of a folder in megabytes below which the check gives a note, and a problem."""
_SHARED_MB = 128
_FEW_FILES, _TOO_FEW_FILES = 1024, 256
"""Limits of open files per process below which the check gives a note, and a problem."""
_REMOTE: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "lustre", "gpfs", "beegfs"})
_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_FILES_S = 20


@dataclass(frozen=True)
class MachineFinding:
    """Finding of a check of the machine.

    Attributes:
        check: Name of the check, a key of :data:`CHECKS`.
        state: Severity of the finding.
        text: Description, a sentence without its full stop.
        fix: What the user can do about it; empty if nothing.
    """

    check: str
    state: State
    text: str
    fix: str = ""


def check_machine() -> list[MachineFinding]:
    """Return the findings of all checks; a check that raises an exception gives a finding of its own."""
    found: list[MachineFinding] = []
    for name, check in CHECKS.items():
        try:
            found += [_finding(name, each) for each in check()]
        except Exception as exc:  # the other checks must still run
            found.append(MachineFinding(name, "note", f"could not be checked: {described(exc)}"))
    return found


_Found = tuple[State, str] | tuple[State, str, str]
"""State, text and fix of a finding."""


def _finding(check: str, found: _Found) -> MachineFinding:
    return MachineFinding(check, found[0], found[1], found[2] if len(found) == 3 else "")


def _versions() -> Iterator[_Found]:
    wanted = SpecifierSet(metadata.metadata(DISTRIBUTION)["Requires-Python"] or "")
    running = platform.python_version()
    text = f"MOSAIC {__version__}, Python {running}, {platform.platform()}"
    if running not in wanted:
        yield "problem", text, f"Install it for a Python that fits {wanted}"
    elif sys.maxsize < 2**32:
        yield "problem", text, "Install a Python of 64 bits"
    elif not sys.platform.startswith("linux"):
        yield "note", f"{text}: MOSAIC was tried on Linux only"
    elif platform.libc_ver()[0] != "glibc":
        yield "note", f"{text}: MOSAIC was tried with glibc only"
    else:
        yield "ok", text


def _command() -> Iterator[_Found]:
    ours = Path(sys.executable).parent / "mosaic"
    first = shutil.which("mosaic")
    yield "ok", f"{how_installed().text} in {sys.prefix}"
    if first is None:
        yield "note", "no mosaic is on PATH", f"Run {ours}, or add {ours.parent} to PATH"
    elif not _is_same(Path(first), ours):
        yield (
            "note",
            f"another mosaic is first on PATH: {first}",
            f"Run {ours}, or put {ours.parent} first on PATH",
        )


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or one.parent.resolve() == other.parent.resolve()


def _installer() -> Iterator[_Found]:
    uv = find_uv()
    if uv is not None:
        yield "ok", f"uv at {uv}"
    elif has_pip():
        yield "ok", "pip (uv would be faster)"
    else:
        fix = f"Run: {sys.executable} -m ensurepip, or install uv"
        yield "problem", "neither uv nor pip: no worker and no environment can be installed", fix


def _window() -> Iterator[_Found]:
    for trouble in (package_trouble(), display_trouble(os.environ)):
        if trouble:
            text, _, fix = trouble.partition(". ")
            yield "note", f"no window can be opened: {text}", fix
            return
    yield "ok", "a window can be opened"


def _folders() -> Iterator[_Found]:
    store = Store()
    for name, folder in (("data", store.data), ("runs", store.runs), ("cache", store.cache)):
        yield _room(name, folder.absolute(), f"MOSAIC_{name.upper()}_DIR")
    try:
        yield _room("sockets", store.runtime_dir(), "MOSAIC_RUNTIME_DIR")
    except MosaicError as exc:
        yield "problem", f"sockets: {exc.message}", exc.fix


def _room(name: str, folder: Path, variable: str) -> _Found:
    """Check free space and write access of a folder, or of its nearest existing parent; create no folder."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=there):
            pass
    except OSError as exc:
        text = f"{name}: {folder} cannot be written: {described(exc)}"
        return "problem", text, f"Choose another folder by {variable}"
    free = shutil.disk_usage(there).free // 2**20
    text, fix = (
        f"{name}: {folder}, {free:,} MB free",
        f"Free some space, or choose another folder by {variable}",
    )
    if free < _TOO_LITTLE_MB:
        return "problem", text, fix
    if free < _LITTLE_MB:
        return "note", text, fix
    kind = _file_system(there)
    if kind in _REMOTE:
        return (
            "note",
            f"{text}, on a network file system ({kind}), which may be slow",
            f"A local folder: {variable}",
        )
    return "ok", text


def _file_system(folder: Path) -> str:
    """Return the type of a folder's file system, such as ``nfs4``; empty if it is unknown."""
    try:
        mounts = Path("/proc/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    place = folder.resolve()
    holding = [
        (len(fields[1]), fields[2])
        for fields in map(str.split, mounts)
        if len(fields) > 2 and place.is_relative_to(fields[1].replace("\\040", " "))
    ]
    return max(holding)[1] if holding else ""


def _sockets() -> Iterator[_Found]:
    with (
        tempfile.TemporaryDirectory(dir=Store().runtime_dir()) as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe,
    ):
        probe.bind(str(Path(folder, "s")))
    yield "ok", "processes reach each other by Unix sockets"


def _shared_memory() -> Iterator[_Found]:
    fd = make_memory()
    if fd is None:
        yield "note", "the system has no anonymous shared memory: pictures are transferred more slowly"
    else:
        os.close(fd)
        yield "ok", "pictures are shared between processes"
    folder = Path("/dev/shm")
    if folder.is_dir() and (free := shutil.disk_usage(folder).free // 2**20) < _SHARED_MB:
        yield (
            "note",
            f"/dev/shm has {free} MB free, and frameworks share data there",
            "In a container: --shm-size=1g",
        )


def _keyring() -> Iterator[_Found]:
    try:
        keyring: Any = importlib.import_module("keyring")
    except ModuleNotFoundError:
        yield "note", "no keyring: keys come from environment variables alone", "Run: mosaic install gui"
        return
    backend = str(type(keyring.get_keyring()).__module__)
    if backend.endswith((".fail", ".null")):
        yield (
            "note",
            "no keyring is running: keys come from environment variables alone",
            "Write api_key: env:NAME in the settings of a slot",
        )
    else:
        yield "ok", f"keys can be stored in the keyring ({backend.rpartition('.')[2]})"


def _sandbox() -> Iterator[_Found]:
    command = (sys.executable, "-P", "-m", "gym_gui.services.experiments.experiment_network")
    done = subprocess.run(command, env=inherited(), capture_output=True, timeout=_FILES_S, check=False)
    if done.returncode == 0:
        yield "ok", "experiment files in Python are read without network access"
    else:
        yield "note", "network access cannot be blocked while an experiment file in Python is read"


def _processors() -> Iterator[_Found]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = psutil.virtual_memory()
    total, free = memory.total // 2**20, memory.available // 2**20
    text = f"{cores} cores, {total:,} MB of memory, {free:,} MB available"
    fix = "End other programs, or set isolation: worker (docs/experiment_format.md)"
    yield ("note", text, fix) if free < _LITTLE_MB else ("ok", text)
    gpus = detected_gpus()
    yield "ok", f"GPUs: {', '.join(gpus)}" if gpus else "no NVIDIA GPU: policies are trained by the processor"


def _open_files() -> Iterator[_Found]:
    try:
        import resource
    except ModuleNotFoundError:  # systems other than Unix
        return
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    text = "a process may open any number of files" if limit < 0 else f"a process may open {limit:,} files"
    state: State = "problem" if 0 <= limit < _TOO_FEW_FILES else "note" if 0 <= limit < _FEW_FILES else "ok"
    yield (state, text) if state == "ok" else (state, text, "Run before: ulimit -n 4096")


def _network() -> Iterator[_Found]:
    for name in _CERTIFICATES:
        file = os.environ.get(name)
        if not file:
            continue
        try:
            ssl.create_default_context(cafile=file)
        except (OSError, ssl.SSLError) as exc:
            yield (
                "problem",
                f"{name} names {file}, which cannot be read: {described(exc)}",
                f"Correct or unset {name}",
            )
        else:
            yield "ok", f"certificates: {file} ({name})"
    for name in _PROXIES:
        value = os.environ.get(name) or os.environ.get(name.upper())
        if value:
            yield _proxy(name, value)


def _proxy(name: str, value: str) -> _Found:
    """Return the finding on a proxy's address, without its password."""
    try:
        shown = urlsplit(value)
        host, port = shown.hostname, shown.port
    except ValueError:  # a port that is no number
        host, port = None, None
    if host is None:
        return (
            "problem",
            f"{name} holds no address of a proxy",
            "Write it as http://HOST:PORT, or unset it",
        )
    return "ok", f"{name}: {host}:{port}" if port else f"{name}: {host}"


def _workers() -> Iterator[_Found]:
    statuses = bootstrap_default_services().workers.statuses()
    installed = sum(status.state == "installed" for status in statuses)
    yield "ok", f"{installed} of {len(statuses)} can play; mosaic workers list says which"
    for status in statuses:
        if status.state == "broken":
            yield "problem", f"{status.worker_id} is broken: {status.reason}", status.install


CHECKS: Final[Mapping[str, Callable[[], Iterator[_Found]]]] = {
    "versions": _versions,
    "command": _command,
    "installer": _installer,
    "window": _window,
    "folders": _folders,
    "sockets": _sockets,
    "shared memory": _shared_memory,
    "keyring": _keyring,
    "sandbox": _sandbox,
    "processors": _processors,
    "open files": _open_files,
    "network": _network,
    "workers": _workers,
}
