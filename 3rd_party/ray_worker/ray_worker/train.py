"""Train a policy: ``python -m ray_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Standard output is for people; programs read the files of the run folder, see
:mod:`mosaic_worker.training`. Exit status 0: trained. 1: it went wrong while running. 2:
something to fix in the command (one line says what). 130: stopped, by a command, by Ctrl-C or
by a reader that went away. Whatever the end, the last checkpoint is kept.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Sequence
from typing import Any

from mosaic_worker.training import TrainingRun
from mosaic_worker.training_arguments import Arguments, HelpAsked, out_of, parse
from mosaic_worker.training_command import ConfigError, carried_out, default_folder, prepared, refuse
from ray_worker.algorithms import ALGORITHMS, Algorithm
from ray_worker.settings import RayConfig


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, train, report.

    Returns:
        The exit status.
    """
    args = sys.argv[1:] if argv is None else list(argv)
    try:
        asked = parse(args, ALGORITHMS, "ray_worker.train", "ppo")
        config, restored = _settings(asked)
        out = asked.out or default_folder(asked.algorithm.name, config.env_id, config.seed)
        with prepared(out, resume=asked.resume, overwrite=asked.overwrite) as folder:
            run = TrainingRun(folder, sys.stdout, asked.checkpoint_every)
            with contextlib.closing(run), run.stop_on_signals():
                # After the cheap checks: torch takes seconds to import.
                from ray_worker import training

                return carried_out(run, lambda: training.train(asked.algorithm, config, run, restored))
    except HelpAsked as text:
        print(text)
        return 0
    except ConfigError as error:
        refuse(out_of(args), str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def _settings(asked: Arguments[Algorithm]) -> tuple[RayConfig, Any]:
    """Every setting, and the state to go on from where that was asked for."""
    if not asked.resume:
        return asked.algorithm.config_class(**asked.given), None
    if asked.out is None:
        raise ConfigError("--resume needs --out: the folder of the training that goes on")
    from ray_worker.state import read_state

    restored = read_state(asked.out, asked.algorithm.name)
    before = restored.config
    for name, value in asked.given.items():
        if name not in asked.algorithm.config_class.RESUMABLE and before.get(name) != value:
            typed = asked.algorithm.config_class(**{**before, name: value}).model_dump(mode="json")
            if typed[name] != before.get(name):
                raise ConfigError(
                    f"a resumed training keeps its settings, and {name} was {before.get(name)!r}, not "
                    f"{value!r}. Leave it out, or train anew in another folder"
                )
    config = asked.algorithm.config_class(**{**before, **asked.given})
    if restored.step >= config.total_steps:
        raise ConfigError(
            f"the training there has its {restored.step:,} steps already; raise total_steps to go on"
        )
    return config, restored


if __name__ == "__main__":
    status = main()
    gc.freeze()  # what goes with the process need not be swept first: with torch, half a second
    sys.exit(status)
