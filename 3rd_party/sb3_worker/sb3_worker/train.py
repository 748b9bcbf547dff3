"""Train a policy: ``python -m sb3_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Standard output is for people; programs read the files of the run folder, see
:mod:`mosaic_worker.training`. Exit status 0: trained. 1: it went wrong while running. 2:
something to fix in the command (one line says what). 130: stopped, by a wish, by Ctrl-C or
by a reader that went away. Whatever the end, the last checkpoint is kept.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from mosaic_worker.checkpoint import holds_checkpoint
from mosaic_worker.training import EPISODES, EVENTS, METRICS, STATE, TENSORBOARD, VIDEOS, TrainingRun
from mosaic_worker.worker import LoadError
from sb3_worker.command_line import Arguments, HelpAsked, out_of, parse
from sb3_worker.config import ConfigError, TrainingConfig


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, train, report.

    Returns:
        The exit status.
    """
    args = sys.argv[1:] if argv is None else list(argv)
    try:
        asked = parse(args)
        config, restored = _settings(asked)
        with _prepared(asked, config) as folder:
            run = TrainingRun(folder, sys.stdout, asked.checkpoint_every)
            with contextlib.closing(run), run.stop_on_signals():
                return _train(asked, config, run, restored)
    except HelpAsked as text:
        print(text)
        return 0
    except ConfigError as error:
        _refuse(out_of(args), str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def _settings(asked: Arguments) -> tuple[TrainingConfig, Any]:
    """Every setting, and the state to go on from where that was asked for."""
    if not asked.resume:
        return asked.algorithm.config(**asked.given), None
    if asked.out is None:
        raise ConfigError("--resume needs --out: the folder of the training that goes on")
    from sb3_worker.state import read_state

    restored = read_state(asked.out, asked.algorithm.name)
    before = restored.config
    for name, value in asked.given.items():
        if name not in asked.algorithm.config.RESUMABLE and before.get(name) != value:
            typed = asked.algorithm.config(**{**before, name: value}).model_dump(mode="json")
            if typed[name] != before.get(name):
                raise ConfigError(
                    f"a resumed training keeps its settings, and {name} was {before.get(name)!r}, not "
                    f"{value!r}. Leave it out, or train anew in another folder"
                )
    config = asked.algorithm.config(**{**before, **asked.given})
    if restored.step >= config.total_steps:
        raise ConfigError(
            f"the training there has its {restored.step:,} steps already; raise total_steps to go on"
        )
    return config, restored


def _train(asked: Arguments, config: TrainingConfig, run: TrainingRun, restored: Any) -> int:
    """Train, and put every end into words; the exit status."""
    # After the cheap checks: torch takes seconds to import.
    from sb3_worker import training

    try:
        training.train(asked.algorithm, config, run, restored)
    except ConfigError as error:
        _fail(run, "usage", str(error))
        return 2
    except (training.TrainingFailed, LoadError, OSError, MemoryError) as error:
        words = " ".join(str(error).split()) or "there is no memory left; lower num_envs or buffer_size"
        _fail(run, "failed", words)
        return 1
    return 130 if run.stop_requested else 0


def _fail(run: TrainingRun, kind: str, message: str) -> None:
    try:
        run.fail(kind, message)
    except OSError:  # the disk that failed is the one that would tell
        print(f"error: {message}", file=sys.stderr, flush=True)


def _refuse(out: Path | None, message: str) -> None:
    """Say why there is no training; also in the run folder, where a trainer made one for it."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    if out is not None and (out / "train.json").exists():
        with contextlib.suppress(OSError), contextlib.closing(TrainingRun(out)) as run:
            run.fail("usage", message)


@contextlib.contextmanager
def _prepared(asked: Arguments, config: TrainingConfig) -> Generator[Path]:
    """Make the folder, or say why not, before anything expensive begins; leave none that is empty."""
    name = re.sub(r"[^\w.-]+", "_", f"{asked.algorithm.name}_{config.env_id}_seed{config.seed}")
    folder = asked.out if asked.out is not None else Path("runs") / name
    new = not folder.exists()
    try:
        if holds_checkpoint(folder) and not (asked.overwrite or asked.resume):
            raise ConfigError(
                f"{folder} already holds a policy. Choose another --out, go on with --resume, or "
                "add --overwrite"
            )
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / ".writable"
        trial.touch()
        trial.unlink()
        if asked.overwrite:
            _clear(folder)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}. Choose another --out") from error
    try:
        yield folder
    finally:
        if new and not _kept(folder):
            shutil.rmtree(folder)


def _clear(folder: Path) -> None:
    """Remove what the training before left, but not its policy, which is replaced when there is a new one."""
    for name in (EVENTS, METRICS, EPISODES):
        (folder / name).unlink(missing_ok=True)
    for name in (STATE, TENSORBOARD, VIDEOS):
        shutil.rmtree(folder / name, ignore_errors=True)


def _kept(folder: Path) -> bool:
    """Whether a new folder holds anything worth keeping: a training that began says so in its events."""
    events = folder / EVENTS
    others = {path.name for path in folder.iterdir()} - {EVENTS, METRICS, EPISODES, TENSORBOARD}
    return bool(others) or (events.exists() and b'"start"' in events.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
