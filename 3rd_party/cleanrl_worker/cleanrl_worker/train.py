"""Train a policy: ``python -m cleanrl_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Exit status 0: trained. 1: it went wrong while running. 2: something to fix in the command
(one line says what). 130: stopped by Ctrl-C or by a reader that went away. Whatever the end,
the last checkpoint is kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import signal
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import tyro

from cleanrl_worker.checkpoint import holds_checkpoint
from cleanrl_worker.config import ConfigError, PPOConfig
from cleanrl_worker.environments import make_environment
from cleanrl_worker.progress import Progress, Stop
from mosaic_worker.worker import LoadError

ALGORITHMS = ("ppo",)


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Train a policy and keep it as policy.json + model.safetensors."""

    ppo: tyro.conf.OmitArgPrefixes[PPOConfig] = dataclasses.field(default_factory=PPOConfig)
    algo: str = "ppo"
    """The algorithm."""
    out: Path | None = None
    """Folder of the policy and its TensorBoard log; runs/<algo>_<env>_seed<seed> by default."""
    overwrite: bool = False
    """Replace a policy that is already in the folder."""
    checkpoint_every: float = 10.0
    """Seconds between two checkpoints."""
    json: bool = False
    """Progress as JSON lines, for programs."""

    @property
    def folder(self) -> Path:
        """Where the policy goes."""
        if self.out is not None:
            return self.out
        return Path("runs") / re.sub(r"[^\w.-]+", "_", f"{self.algo}_{self.ppo.env_id}_seed{self.ppo.seed}")


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, train, report.

    Returns:
        The exit status.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    progress = Progress("--json" in args)
    try:
        found = parse(args)
        make_environment(found.ppo.env_id).close()
        with _prepared(found) as folder:
            # After the cheap checks: torch takes seconds to import.
            from cleanrl_worker.training import Training, TrainingFailed

            with _stop_on_signals() as stop:
                try:
                    Training(found.algo, found.ppo, folder, found.checkpoint_every, progress).run(stop)
                except (TrainingFailed, LoadError, OSError) as error:
                    progress.error("failed", " ".join(str(error).split()))
                    return 1
            return 130 if stop.requested or progress.lost else 0
    except ConfigError as error:
        progress.error("usage", str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def parse(args: Sequence[str]) -> Arguments:
    """Read the command line.

    Raises:
        ConfigError: An unknown flag or algorithm, or a bad value, in one sentence.
        SystemExit: ``--help`` was asked for.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            found = tyro.cli(Arguments, args=args, prog="python -m cleanrl_worker.train")
    except SystemExit as exit_:
        if exit_.code:
            raise ConfigError(_first_section(said.getvalue())) from exit_
        raise
    if found.algo not in ALGORITHMS:
        raise ConfigError(f"unknown algorithm {found.algo!r}. Known: {', '.join(ALGORITHMS)}")
    if not found.checkpoint_every > 0:
        raise ConfigError(
            f"checkpoint_every must be a positive number of seconds, not {found.checkpoint_every}"
        )
    return found


@contextlib.contextmanager
def _prepared(args: Arguments) -> Generator[Path]:
    """Make the folder, or say why not, before anything expensive begins; leave none that is empty."""
    folder = args.folder
    new = not folder.exists()
    try:
        if holds_checkpoint(folder) and not args.overwrite:
            raise ConfigError(f"{folder} already holds a policy. Choose another --out, or add --overwrite")
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / ".writable"
        trial.touch()
        trial.unlink()
        for old_log in folder.glob("events.out.tfevents.*"):
            old_log.unlink()
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}. Choose another --out") from error
    try:
        yield folder
    finally:
        if new and not any(folder.iterdir()):
            folder.rmdir()


@contextlib.contextmanager
def _stop_on_signals() -> Generator[Stop]:
    """The first SIGINT or SIGTERM asks the training to stop, the next one ends the program."""
    stop = Stop()
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}

    def ask(*_: Any) -> None:
        stop.requested = True
        for name, handler in before.items():
            signal.signal(name, handler)

    for name in before:
        signal.signal(name, ask)
    try:
        yield stop
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _first_section(boxed: str) -> str:
    """What went wrong, out of tyro's framed message (its first section, before the rules)."""
    lines: list[str] = []
    for line in boxed.splitlines():
        text = line.strip("│ ").strip()
        if text.startswith("───"):
            break
        if text and not text.startswith("╭"):
            lines.append(text)
    return " ".join(lines).removeprefix("Error parsing ppo: ") + ". See --help"


if __name__ == "__main__":
    sys.exit(main())
