"""Begins and ends a training that is started on the command line: its folder, its errors, its exit status.

This is for workers whose ``[train] entry`` is a module that is run with ``--algo``, ``--env-id``, ``--seed``,
``--out``, ``--resume`` and ``--overwrite``.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from contextlib import closing, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Callable, Generator, Mapping, Optional, TypeVar

from mosaic_worker.checkpoint import holds_checkpoint
from mosaic_worker.plain_files import check_folder, open_file
from mosaic_worker.training import EPISODES, EVENTS, METRICS, STATE, TENSORBOARD, VIDEOS, TrainingRun
from mosaic_worker.worker import LoadError

_Algorithm = TypeVar("_Algorithm")


class ConfigError(Exception):
    """A training cannot run with the given options; the message is one sentence for the user.

    This is no ``ValueError``, so that pydantic and command line parsers pass it on unchanged.
    """


class TrainingFailed(RuntimeError):
    """A training failed while it was running; the message is one sentence for the user."""


def named(name: str, algorithms: Mapping[str, _Algorithm]) -> _Algorithm:
    """Return the algorithm of a given name; case is ignored.

    Raises:
        ConfigError: There is no such algorithm; the message names the most similar one.
    """
    found = algorithms.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower(), algorithms, 1)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(algorithms)}"
        raise ConfigError(f"unknown algorithm {name!r}. {hint}")
    return found


def default_folder(algorithm: str, env_id: str, seed: int) -> Path:
    """Return the default run folder of a training."""
    return Path("runs") / re.sub(r"[^\w.-]+", "_", f"{algorithm}_{env_id}_seed{seed}")


@contextmanager
def prepared(folder: Path, *, resume: bool, overwrite: bool) -> Generator[Path, None, None]:
    """Create a run folder before the training does expensive work, and remove the folder if it stays empty.

    Args:
        folder: The run folder.
        resume: Whether the training in the folder is to be continued.
        overwrite: Whether the policy in the folder is to be replaced.

    Raises:
        ConfigError: The folder holds a policy and neither flag is set, or it cannot be written.
    """
    new = not folder.exists()
    try:
        if holds_checkpoint(folder) and not (overwrite or resume):
            raise ConfigError(
                f"{folder} already holds a policy. Choose another --out, continue it with --resume, or "
                "add --overwrite"
            )
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder)
        tempfile.TemporaryFile(dir=folder).close()
        if overwrite:
            _clear(folder)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}. Choose another --out") from error
    try:
        yield folder
    finally:
        if new and not _has_content(folder):
            shutil.rmtree(folder)


def carried_out(run: TrainingRun, train: Callable[[], bool]) -> int:
    """Train, and report every way to end in the run folder and on the terminal.

    Args:
        run: The run folder.
        train: Trains; returns whether the training was completed, ``False`` if it was stopped.

    Returns:
        The exit status.
    """
    try:
        return 0 if train() else 130
    except ConfigError as error:
        fail(run, "usage", str(error))
        return 2
    except (TrainingFailed, LoadError) as error:
        fail(run, "failed", " ".join(str(error).split()))
    except OSError as error:
        where = error.filename or run.folder
        fail(run, "failed", f"{error.strerror or error}: {where}. Solve this, then continue with --resume")
    except (MemoryError, RuntimeError) as error:
        # Torch reports a lack of memory only in the text of the exception.
        if isinstance(error, RuntimeError) and not re.search("out of memory|allocate memory", str(error)):
            raise
        fail(run, "failed", "there is not enough memory; lower num_envs, the buffer or the network's widths")
    return 1


def fail(run: TrainingRun, kind: str, message: str) -> None:
    """Report in the run folder and on the terminal that a training ended; see :meth:`TrainingRun.fail`."""
    try:
        run.fail(kind, message)
    except OSError:  # the failing disk may be the one with the run folder
        print(f"error: {message}", file=sys.stderr, flush=True)


def refuse(out: Optional[Path], message: str) -> None:
    """Report why a training cannot begin; also in the run folder if a trainer created one."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    if out is not None and (out / "train.json").exists():
        with suppress(OSError), closing(TrainingRun(out)) as run:
            run.fail("usage", message)


def _clear(folder: Path) -> None:
    """Remove the reports and state of an earlier training; its policy stays until the new one replaces it."""
    for name in (EVENTS, METRICS, EPISODES):
        with suppress(FileNotFoundError):
            (folder / name).unlink()
    for name in (STATE, TENSORBOARD, VIDEOS):
        shutil.rmtree(folder / name, ignore_errors=True)


def _has_content(folder: Path) -> bool:
    """Return whether a new folder contains more than empty reports: a policy, or events of a training that
    began.
    """
    events = folder / EVENTS
    others = {path.name for path in folder.iterdir()} - {EVENTS, METRICS, EPISODES, TENSORBOARD}
    return bool(others) or (events.exists() and b'"start"' in _beginning(events))


def _beginning(events: Path) -> bytes:
    with open_file(events) as file:
        return file.read(1 << 20)
