"""Train a policy: ``python -m reinforce_worker.train --env-id CartPole-v1 --out DIR``."""

from __future__ import annotations

from mosaic_worker.launch import end_process
from mosaic_worker.learning.train_main import TrainMain
from reinforce_worker.settings import ALGORITHMS

main = TrainMain("reinforce_worker", ALGORITHMS, "reinforce")

if __name__ == "__main__":
    end_process(main())
