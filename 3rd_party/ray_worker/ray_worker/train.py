"""Train a policy: ``python -m ray_worker.train --algo ppo --env-id CartPole-v1 --out DIR``.

Options, files and exit status are those of :mod:`mosaic_worker.learning.train_main`.
"""

from __future__ import annotations

from mosaic_worker.launch import end_process
from mosaic_worker.learning.train_main import TrainMain
from ray_worker.algorithms import ALGORITHMS

main = TrainMain("ray_worker", ALGORITHMS)

if __name__ == "__main__":
    end_process(main())
