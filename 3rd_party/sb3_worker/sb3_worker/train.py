"""Train a policy: ``python -m sb3_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Standard output is for people; programs read the files of the run folder, see
:mod:`mosaic_worker.training`. Exit status 0: trained. 1: it went wrong while running. 2:
something to fix in the command (one line says what). 130: stopped, by a command, by Ctrl-C or
by a reader that went away. Whatever the end, the last checkpoint is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mosaic_worker.learning.training_arguments import end_with, run_command_line
from mosaic_worker.training import TrainingRun
from sb3_worker.algorithms import ALGORITHMS, Algorithm
from sb3_worker.config import TrainingConfig


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, train, report.

    Returns:
        The exit status.
    """
    return run_command_line(argv, ALGORITHMS, "sb3_worker.train", "ppo", _train)


def _train(algorithm: Algorithm, config: TrainingConfig, run: TrainingRun, restored: Any) -> bool:
    # torch takes seconds to import.
    from sb3_worker.training import train

    return train(algorithm, config, run, restored)


if __name__ == "__main__":
    end_with(main())
