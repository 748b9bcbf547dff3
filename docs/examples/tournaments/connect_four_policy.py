"""Trains a policy for PettingZoo's ``connect_four_v3`` with sb3-contrib, without MOSAIC, and saves it.

    python docs/examples/tournaments/connect_four_policy.py connect_four_ppo.zip

:class:`AgainstSomebody` is one side of the game as a Gymnasium environment; observations, actions
and masks are PettingZoo's, so that what was learnt plays on either side of the game itself.
``mosaic policies add connect_four_ppo.zip --env connect_four_policy:AgainstSomebody`` takes it in.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import torch
from pettingzoo.classic import connect_four_v3

COLUMNS = 7


class AgainstSomebody(gymnasium.Env[np.ndarray, np.int64]):
    """One side of connect four; who begins, and what the other side does, is drawn for each episode.

    The opponent plays at random, or stops and makes fours (one move ahead), in equal parts of the
    episodes. Reward: 1 for a win, -1 for a loss, 0 otherwise.
    """

    def __init__(self) -> None:
        self._game = connect_four_v3.raw_env()
        first = self._game.possible_agents[0]
        seen: Any = self._game.observation_space(first)
        self.observation_space = seen["observation"]
        self.action_space = gymnasium.spaces.Discrete(COLUMNS)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._game.reset()
        self._me = self._game.possible_agents[self.np_random.integers(2)]
        self._careful = self.np_random.random() < 0.5
        self._let_other_move()
        return self._seen()

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self._game.step(int(action))
        self._let_other_move()
        over = self._game.terminations[self._me]
        reward = float(self._game.rewards[self._me]) if over else 0.0
        observation, info = self._seen()
        return observation, reward, over, False, info

    def action_masks(self) -> np.ndarray:
        """Which columns are open, ``(7,)``, ``bool``: sb3-contrib asks for it."""
        return self._seen()[1]["action_mask"].astype(bool)

    def _seen(self) -> tuple[np.ndarray, dict[str, Any]]:
        seen = self._game.observe(self._me)
        mask = seen["action_mask"]
        return seen["observation"], {"action_mask": mask if mask.any() else np.ones(COLUMNS, np.int8)}

    def _let_other_move(self) -> None:
        other = self._game.agent_selection
        if other != self._me and not any(self._game.terminations.values()):
            seen = self._game.observe(other)
            self._game.step(self._choose(seen["observation"], np.flatnonzero(seen["action_mask"])))

    def _choose(self, planes: np.ndarray, columns: np.ndarray) -> int:
        if self._careful:
            for plane in (0, 1):  # its own stones, then mine
                for column in columns:
                    if _makes_four(planes, plane, int(column)):
                        return int(column)
        return int(self.np_random.choice(columns))


def _makes_four(planes: np.ndarray, plane: int, column: int) -> bool:
    """Whether a stone of this plane in the column completes four in a line."""
    stones = planes[..., plane]
    row = 5 - int(planes[:, column].sum())
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        count = 1
        for way in (1, -1):
            r, c = row + way * down, column + way * right
            while 0 <= r < 6 and 0 <= c < COLUMNS and stones[r, c]:
                count, r, c = count + 1, r + way * down, c + way * right
        if count >= 4:
            return True
    return False


def main() -> None:
    """Train, and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=600_000)
    given = parser.parse_args()
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(1)
    games = DummyVecEnv([AgainstSomebody] * 16)
    learner = MaskablePPO(
        "MlpPolicy", games, n_steps=128, batch_size=512, gamma=0.99, ent_coef=0.01, seed=1, verbose=1
    )
    learner.learn(given.steps)
    learner.save(given.out)


if __name__ == "__main__":
    main()
