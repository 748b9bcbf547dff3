"""Wraps uv and pip: looks up which packages would be installed, and installs them, for any interpreter."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from gym_gui.cli.installing.pip_settings import uv_variables, without_index
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.interpreters import uv_places
from gym_gui.core.paths import PACKAGE

_CHECKOUT = PACKAGE.parent
_UV_LINE = re.compile(r"^ \+ (?P<name>[\w.-]+)==(?P<version>\S+)", re.MULTILINE)
_CUDA = re.compile(r"^(nvidia|cuda|pytorch-triton|triton$)")


class InstallationError(MosaicError):
    """An installation failed; packages that were already installed stay."""


@dataclass(frozen=True)
class Installer:
    """Installs packages for one interpreter.

    Attributes:
        python: Interpreter that gets the packages.
        uv: Path of uv, or ``None`` to use pip.
        limits: Arguments that restrict versions to those that were tested together.
        extra: Further arguments for every call, such as an index.
        env: Environment variables of uv or pip.
    """

    python: Path
    uv: Path | None
    limits: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    @classmethod
    def of(cls, python: Path | None) -> Installer:
        """Return the installer for an interpreter; ``None`` means the running one, with tested versions.

        Packages that the running interpreter has keep their versions.

        Raises:
            UsageError: There is neither uv nor pip.
        """
        uv = find_uv()
        if uv is None and not has_pip():
            raise UsageError(
                "there is neither uv nor pip", fix=f"Run: {sys.executable} -m ensurepip, or install uv"
            )
        env, extra = dict(os.environ), ()
        if uv is not None:
            extra = ("--no-index",) if without_index(env) else ()
            env |= uv_variables(env)
        here = {_canonical(each.name) for each in metadata.distributions() if each.name}
        limits = _tested_version_arguments(uv is not None, without=here) if python is None else ()
        return cls(python or Path(sys.executable), uv, limits, extra, env)

    @classmethod
    def for_empty(cls, python: Path) -> Installer:
        """Return the installer that gives an empty environment the tested versions; raises as :meth:`of`."""
        installer = cls.of(python)
        return replace(installer, limits=_tested_version_arguments(installer.uv is not None))

    def make_environment(self, folder: Path, *, with_pip: bool = False) -> None:
        """Create a virtual environment, or complete one whose creation was interrupted.

        Args:
            folder: Folder of the environment.
            with_pip: Install pip into it, which uv leaves out.

        Raises:
            InstallationError: The environment cannot be created.
        """
        if self.uv is not None:
            command = [str(self.uv), "venv", "-q", "--no-project", "--allow-existing"]
            command += ["--seed"] * with_pip
            command += ["--python", sys.executable, str(folder)]
        else:
            command = [sys.executable, "-P", "-m", "venv", str(folder)]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InstallationError(f"{folder} could not be created: {_last_line(done.stderr)}")

    def resolve(self, specs: Sequence[str]) -> dict[str, str]:
        """Return versions by name of the packages that ``specs`` would install; install nothing.

        Raises:
            InstallationError: ``specs`` cannot be installed; the message says why.
        """
        command = [*self._base("--dry-run"), *specs]
        if self.uv is None:
            command += ["--quiet", "--report", "-"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InstallationError(_failure_reason(done.stderr))
        if self.uv is not None:
            return {_canonical(m["name"]): m["version"] for m in _UV_LINE.finditer(done.stderr)}
        listed = json.loads(done.stdout)["install"]
        return {_canonical(i["metadata"]["name"]): i["metadata"]["version"] for i in listed}

    def install(self, specs: Sequence[str]) -> None:
        """Install packages; the installer shows its own progress on stderr.

        Raises:
            InstallationError: The installation failed.
        """
        done = subprocess.run([*self._base(), *specs], env=self.env, stdout=sys.stderr.fileno(), check=False)
        if done.returncode != 0:
            name = "uv" if self.uv else "pip"
            raise InstallationError(
                f"{name} could not install everything (exit status {done.returncode}, see above)",
                fix="Run the command again when the cause is gone; downloaded packages are kept",
            )

    def _base(self, *flags: str) -> list[str]:
        if self.uv is not None:
            command = [str(self.uv), "pip", "install", "--python", str(self.python)]
        else:
            command = [sys.executable, "-P", "-m", "pip", "--python", str(self.python), "install"]
        return [*command, *flags, *self.limits, *self.extra]


def cuda_packages(names: Sequence[str]) -> list[str]:
    """Return the names of packages that belong to CUDA, sorted."""
    return sorted(name for name in names if _CUDA.match(name))


def pinned(name: str) -> str | None:
    """Return the version of a package that MOSAIC was tested with; ``None`` if it was not tested."""
    found = re.search(rf"^{re.escape(name)}==(\S+)$", _tested_versions(), re.MULTILINE)
    return found[1] if found else None


def _tested_versions() -> str:
    file = _requirements_file("constraints.txt")
    return file.read_text("utf-8") if file else ""


def _requirements_file(name: str) -> Path | None:
    """Return a file of ``requirements`` in the checkout or the wheel; ``None`` without either."""
    places = (_CHECKOUT / "requirements" / name, _CHECKOUT / "gym_gui" / "bundled" / name)
    return next((file for file in places if file.is_file()), None)


def _tested_version_arguments(uv: bool, *, without: Set[str] = frozenset()) -> tuple[str, ...]:
    """Return arguments that restrict packages to tested versions, except those named in ``without``."""
    limits: list[str] = []
    if _tested_versions():
        limits += ["--constraint", str(_write_constraints(without))]
    overrides = _requirements_file("overrides.txt")
    if uv and overrides is not None:
        limits += ["--override", str(overrides)]
    return tuple(limits)


def _write_constraints(without: Set[str]) -> Path:
    names = (line.partition("==")[0] for line in _tested_versions().splitlines())
    kept = [
        line
        for line, name in zip(_tested_versions().splitlines(), names, strict=True)
        if "==" in line and _canonical(name) not in without
    ]
    folder = Path(tempfile.mkdtemp(prefix="mosaic-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "constraints.txt"
    file.write_text("\n".join(kept) + "\n", "utf-8")
    return file


def find_uv() -> Path | None:
    """Return the path of a uv that runs, or ``None``; a program named uv may only print "not installed"."""
    on_path = shutil.which("uv")
    for candidate in [*([Path(on_path)] if on_path else []), *uv_places()]:
        try:
            subprocess.run([str(candidate), "--version"], capture_output=True, check=True, timeout=30)
        except (OSError, subprocess.SubprocessError):
            continue
        return candidate
    return None


def has_pip() -> bool:
    """Return whether this interpreter has pip."""
    done = subprocess.run([sys.executable, "-P", "-m", "pip", "--version"], capture_output=True, check=False)
    return done.returncode == 0


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _failure_reason(said: str) -> str:
    """Return the reason of a failure in one sentence, from the stderr of uv or pip.

    uv prints the failure and its causes as a tree over several lines, of which the first and the
    last are the most useful. pip prints it in its last line with ERROR.
    """
    text = re.sub(r"[\u00d7\u2500-\u257f\u25b6]", " ", said)
    errors = [line.removeprefix("ERROR:") for line in text.splitlines() if line.startswith("ERROR")]
    tree = " ".join(text.partition("error:")[2].split()).split(" cause: ")
    words = errors[-1].strip() if errors else ": ".join(dict.fromkeys([tree[0], tree[-1]]))
    return words.rstrip(".") or _last_line(said)


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1] if lines else "no reason was given"
