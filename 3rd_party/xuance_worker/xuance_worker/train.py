"""Train a team: ``python -m xuance_worker.train --algo mappo --env-id simple_spread_v3 --out DIR``.

Options, files and exit status are those of :mod:`mosaic_worker.learning.train_main`.
"""

from __future__ import annotations

from mosaic_worker.launch import end_process
from mosaic_worker.learning.train_main import TrainMain
from xuance_worker.algorithms import ALGORITHMS

main = TrainMain("xuance_worker", ALGORITHMS, "mappo")

if __name__ == "__main__":
    end_process(main())
