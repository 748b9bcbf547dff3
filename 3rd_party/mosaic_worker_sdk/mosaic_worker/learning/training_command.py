"""The ends of a training's command line: the folder it takes, and how it reports a refusal.

For workers whose ``[train] entry`` is a module that is run with ``--algo``, ``--env-id``, ``--seed``,
``--out``, ``--resume`` and ``--overwrite``; what lies between is theirs.
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
    """A training that cannot be run as asked; the message is one sentence for the person.

    No ``ValueError``, so that pydantic and command-line parsers pass it on as it is.
    """


class TrainingFailed(RuntimeError):
    """A training went wrong while running; the message is one sentence for the person."""


def named(name: str, algorithms: Mapping[str, _Algorithm]) -> _Algorithm:
    """Find an algorithm, in any case.

    Raises:
        ConfigError: There is none of that name; names the nearest.
    """
    found = algorithms.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower(), algorithms, 1)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(algorithms)}"
        raise ConfigError(f"unknown algorithm {name!r}. {hint}")
    return found


def default_folder(algorithm: str, env_id: str, seed: int) -> Path:
    """The run folder of a training that names none."""
    return Path("runs") / re.sub(r"[^\w.-]+", "_", f"{algorithm}_{env_id}_seed{seed}")


@contextmanager
def prepared(folder: Path, *, resume: bool, overwrite: bool) -> Generator[Path, None, None]:
    """Make a run folder before anything expensive begins; at the end, leave none that is empty.

    Args:
        folder: The run folder.
        resume: The training there shall continue.
        overwrite: The policy there shall be replaced.

    Raises:
        ConfigError: The folder holds a policy and neither flag is set, or it cannot be written.
    """
    new = not folder.exists()
    try:
        if holds_checkpoint(folder) and not (overwrite or resume):
            raise ConfigError(
                f"{folder} already holds a policy. Choose another --out, go on with --resume, or "
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
        if new and not _kept(folder):
            shutil.rmtree(folder)


def carried_out(run: TrainingRun, train: Callable[[], bool]) -> int:
    """Train, and put every end into words, in the run folder and on the terminal.

    Args:
        run: The run folder.
        train: Trains; returns whether all was done, false where it was stopped.

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
        fail(run, "failed", f"{error.strerror or error}: {where}. Then go on with --resume")
    except (MemoryError, RuntimeError) as error:
        # torch says it in words alone.
        if isinstance(error, RuntimeError) and not re.search("out of memory|allocate memory", str(error)):
            raise
        fail(run, "failed", "there is not enough memory; lower num_envs, the buffer or the network's widths")
    return 1


def fail(run: TrainingRun, kind: str, message: str) -> None:
    """Say that a training ended, in its folder and on the terminal; see :meth:`TrainingRun.fail`."""
    try:
        run.fail(kind, message)
    except OSError:  # the disk that failed is the one that would tell
        print(f"error: {message}", file=sys.stderr, flush=True)


def refuse(out: Optional[Path], message: str) -> None:
    """Say why there is no training; also in the run folder, where a trainer made one for it."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    if out is not None and (out / "train.json").exists():
        with suppress(OSError), closing(TrainingRun(out)) as run:
            run.fail("usage", message)


def _clear(folder: Path) -> None:
    """Remove what the training before left, but not its policy, which is replaced when there is a new one."""
    for name in (EVENTS, METRICS, EPISODES):
        with suppress(FileNotFoundError):
            (folder / name).unlink()
    for name in (STATE, TENSORBOARD, VIDEOS):
        shutil.rmtree(folder / name, ignore_errors=True)


def _kept(folder: Path) -> bool:
    """Whether a new folder holds anything worth keeping: a training that began says so in its events."""
    events = folder / EVENTS
    others = {path.name for path in folder.iterdir()} - {EVENTS, METRICS, EPISODES, TENSORBOARD}
    return bool(others) or (events.exists() and b'"start"' in _beginning(events))


def _beginning(events: Path) -> bytes:
    with open_file(events) as file:
        return file.read(1 << 20)
