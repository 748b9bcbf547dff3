"""``python rllib_checkpoints.py DIR`` writes checkpoints as people have them, with RLlib alone."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="a" * 64)
warnings.filterwarnings("ignore")

import ray  # noqa: E402
from ray.rllib.algorithms.dqn import DQNConfig  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.algorithms.sac import SACConfig  # noqa: E402
from ray.rllib.connectors.env_to_module import FlattenObservations, MeanStdFilter  # noqa: E402

SMALL: Any = {"train_batch_size_per_learner": 256, "minibatch_size": 128, "num_epochs": 1}
MADE: Any = {
    "ppo": lambda: PPOConfig().environment("CartPole-v1").training(**SMALL),
    "filter": lambda: (
        PPOConfig()
        .environment("Pendulum-v1")
        .env_runners(env_to_module_connector=lambda *_, **__: MeanStdFilter())
        .training(**SMALL)
    ),
    "flat": lambda: (
        PPOConfig()
        .environment("FrozenLake-v1")
        .env_runners(env_to_module_connector=lambda *_, **__: FlattenObservations())
        .training(**SMALL)
    ),
    "dqn": lambda: DQNConfig().environment("CartPole-v1"),
    "sac": lambda: SACConfig().environment("Pendulum-v1"),
}


def main() -> None:
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    os.environ["TUNE_RESULT_DIR"] = place
    ray.init(include_dashboard=False, log_to_driver=False, logging_level=40, _temp_dir=place)
    for name, config in MADE.items():
        algorithm = config().env_runners(num_env_runners=0).build_algo()
        if name in ("ppo", "filter", "flat"):
            algorithm.train()
        algorithm.save_to_path(str(Path(sys.argv[1]) / name))
        algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
