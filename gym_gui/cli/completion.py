"""Completes names of runs, environments, policies and workers in a shell."""

from __future__ import annotations

import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.paths import cache_dir, runs_dir
from gym_gui.services.bootstrap import bootstrap_default_services
from mosaic_worker.plain_files import replace_file

_FRESH_S = 24 * 3600.0
"""Seconds for which a stored list of environment ids is used."""
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def check_shell() -> None:
    """Check that the current shell supports completion.

    Raises:
        UsageError: The shell does not support completion, or is unknown.
    """
    shellingham: Any = import_module("shellingham")  # typer detects the shell with the same package

    try:
        shell = str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        shell = ""
    if shell not in _SHELLS:
        problem = f"{shell} does not complete commands" if shell else "no shell with completion was found"
        raise UsageError(problem, fix="Run this command in bash, zsh or fish")


def runs(incomplete: str) -> list[str]:
    """Return names of runs that begin with the text, newest first; if there are none, matching folders."""
    names = sorted((file.parent.name for file in runs_dir().glob("*/run.json")), reverse=True)
    return _with_prefix(incomplete, names) or _folders(incomplete)


def reported(incomplete: str) -> list[str]:
    """Return names of groups of trainings and of runs that begin with the text."""
    groups = {file.parents[1].name for file in runs_dir().glob("*/seed*/train.json")}
    return [*_with_prefix(incomplete, sorted(groups)), *runs(incomplete)]


def environments(incomplete: str) -> list[str]:
    """Return ids of environments that begin with the text; the list of ids is cached for a day."""
    kept = cache_dir() / "environment-ids.txt"
    try:
        if time.time() - kept.stat().st_mtime < _FRESH_S:
            return _with_prefix(incomplete, kept.read_text("utf-8").splitlines())
    except OSError:
        pass  # listed below
    from gym_gui.envs import list_specs

    ids = [spec.id for spec in list_specs()]
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace_file(kept, "\n".join(ids).encode(), sync=False)
    except OSError:
        pass  # listed again the next time
    return _with_prefix(incomplete, ids)


def families(incomplete: str) -> list[str]:
    """Return names of environment families that begin with the text."""
    from gym_gui.envs import families as known

    return _with_prefix(incomplete, known())


def policies(incomplete: str) -> list[str]:
    """Return names of policies in the library that begin with the text."""

    try:
        policies = bootstrap_default_services().policies
        return _with_prefix(incomplete, (entry.name for entry in policies.entries()))
    except MosaicError:
        return []


def workers(incomplete: str) -> list[str]:
    """Return ids of workers, installed or not, that begin with the text."""
    from gym_gui.workers.discovery import discover
    from gym_gui.workers.registry import WorkerTypeRegistry

    discover()
    return _with_prefix(incomplete, (definition.type_id for definition in WorkerTypeRegistry.all()))


def _with_prefix(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _folders(incomplete: str) -> list[str]:
    begun = Path(incomplete or ".")
    parent = begun if incomplete.endswith("/") or not incomplete else begun.parent
    try:
        found = [f"{path}/" for path in parent.iterdir() if path.is_dir()]
    except OSError:
        return []
    return sorted(_with_prefix(incomplete, found))
