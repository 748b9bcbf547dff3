"""Train a policy: ``python -m cleanrl_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Standard output is for people; programs read the files of the run folder, see
:mod:`mosaic_worker.training`. Exit status 0: trained. 1: it went wrong while running. 2:
something to fix in the command (one line says what). 130: stopped, by a command, by Ctrl-C or
by a reader that went away. Whatever the end, the last checkpoint is kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import tyro

from cleanrl_worker.config.base import ConfigError, TrainingConfig
from cleanrl_worker.registry import ALGORITHMS, Algorithm, algorithm
from mosaic_worker.training import TrainingRun
from mosaic_worker.training_command import carried_out, default_folder, prepared, refuse

PROGRAM = "python -m cleanrl_worker.train"


class Arguments(Protocol):
    """What the command line says."""

    config: TrainingConfig
    algo: str
    out: Path | None
    resume: bool
    overwrite: bool
    checkpoint_every: float


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, train, report.

    Returns:
        The exit status.
    """
    args = sys.argv[1:] if argv is None else list(argv)
    try:
        found, asked = parse(args)
        # After the cheap checks: torch takes seconds to import.
        from cleanrl_worker import training

        config = asked.config
        out = asked.out or default_folder(found.name, config.env_id, config.seed)
        with prepared(out, resume=asked.resume, overwrite=asked.overwrite) as folder:
            restored = training.resumable(found, config, folder) if asked.resume else None
            run = TrainingRun(folder, sys.stdout, asked.checkpoint_every)
            with contextlib.closing(run), run.stop_on_signals():
                return carried_out(run, lambda: training.train(found, config, run, restored))
    except ConfigError as error:
        refuse(Path(_value_of(args, "out")) if _value_of(args, "out") else None, str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def parse(args: Sequence[str]) -> tuple[Algorithm, Arguments]:
    """Read the command line: the algorithm, and everything with its settings.

    Raises:
        ConfigError: An unknown flag or algorithm, or a bad value, in one sentence.
        SystemExit: ``--help`` was asked for.
    """
    found = algorithm(_value_of(args, "algo") or "ppo")
    base = found.config_class()
    if "--resume" in args and "--help" not in args:
        base = _resumed_settings(found, Path(_value_of(args, "out") or ""))
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            asked = tyro.cli(_arguments(found, base), args=_spelled(args), prog=PROGRAM)
    except SystemExit as exit_:
        if exit_.code:
            raise ConfigError(_first_section(said.getvalue())) from exit_
        raise
    asked = cast("Arguments", asked)
    if not asked.checkpoint_every > 0:
        raise ConfigError(
            f"checkpoint_every must be a positive number of seconds, not {asked.checkpoint_every}"
        )
    if asked.resume and asked.overwrite:
        raise ConfigError("give either --resume or --overwrite: one goes on with what the other replaces")
    return found, asked


def _arguments(found: Algorithm, base: TrainingConfig) -> type[Any]:
    """A dataclass for tyro: our flags, and the settings of one algorithm."""
    of = dataclasses.field
    arg = tyro.conf.arg
    fields: list[Any] = [
        ("config", tyro.conf.OmitArgPrefixes[type(base)], of(default=base)),  # type: ignore[misc]
        (
            "algo",
            _annotated(str, arg(help=f"The algorithm: {', '.join(ALGORITHMS)}.")),
            of(default=found.name),
        ),
        (
            "out",
            _annotated(Path | None, arg(help="The run folder; runs/<algo>_<env>_seed<seed> by default.")),
            of(default=None),
        ),
        (
            "resume",
            _annotated(bool, arg(help="Go on with the training in --out, with its settings.")),
            of(default=False),
        ),
        (
            "overwrite",
            _annotated(bool, arg(help="Replace a policy that is already in the folder.")),
            of(default=False),
        ),
        (
            "checkpoint_every",
            _annotated(float, arg(help="Seconds between two checkpoints.")),
            of(default=30.0),
        ),
    ]
    made = dataclasses.make_dataclass("Arguments", fields, frozen=True)
    made.__doc__ = "Train a policy and keep it as policy.json + model.safetensors."
    return made


def _annotated(kind: Any, note: Any) -> Any:
    from typing import Annotated

    return Annotated[kind, note]


def _spelled(args: Sequence[str]) -> list[str]:
    """``--algo PPO`` as the registry spells it is a matter of ours, not of tyro's."""
    return [
        arg.lower() if before == "--algo" else arg for before, arg in zip(["", *args], args, strict=False)
    ]


def _value_of(args: Sequence[str], name: str) -> str:
    """What follows ``--name``, or stands behind ``--name=``; the last one counts."""
    value = ""
    for arg, following in zip(args, [*args[1:], ""], strict=True):
        if arg == f"--{name}":
            value = following
        elif arg.startswith(f"--{name}="):
            value = arg.partition("=")[2]
    return value


def _resumed_settings(found: Algorithm, folder: Path) -> TrainingConfig:
    if not str(folder) or folder == Path():
        raise ConfigError("--resume needs --out: the folder of the training that goes on")
    from mosaic_worker.training_state import read_state

    return found.config_class(**read_state(folder, found.name).config)


def _first_section(boxed: str) -> str:
    """What went wrong, out of tyro's framed message (its first section, before the rules)."""
    lines: list[str] = []
    for line in boxed.splitlines():
        text = line.strip("│ ").strip()
        if text.startswith("───"):
            break
        if text and not text.startswith("╭"):
            lines.append(text)
    return " ".join(lines).removeprefix("Error parsing config: ").rstrip(".") + ". See --help"


if __name__ == "__main__":
    status = main()
    gc.freeze()  # what goes with the process need not be swept first: with torch, half a second
    sys.exit(status)
