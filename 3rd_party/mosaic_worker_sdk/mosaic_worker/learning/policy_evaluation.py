"""Evaluates the policies of a training and records videos of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, List, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.learning import evaluation
from mosaic_worker.learning.film import film_episode
from mosaic_worker.learning.joint_env import make_joint
from mosaic_worker.playing.checkpoint_worker import CheckpointPolicy
from mosaic_worker.playing.joint_policy import JointPolicy


def mask_in_info(_: Any, info: Mapping[str, Any]) -> Optional[NDArray[np.bool_]]:
    """Return the legal actions from an environment's info; ``None`` if all actions are legal."""
    mask = info.get("action_mask")
    return None if mask is None else np.asarray(mask, bool)


def _go_on() -> bool:
    return True


@dataclass(frozen=True)
class PolicyEvaluation:
    """Plays a worker's policies in newly made environments.

    Attributes:
        make: Makes a single-agent environment from its id, preprocessing steps and render mode.
        make_team: Makes an environment for a joint policy; its preprocessing steps are given by agent.
        mask_of: Returns the mask of legal actions from the environment and its last info, or ``None``.
        max_steps: Largest number of steps of an episode, for environments that never end.
    """

    make: Callable[[str, Any, Optional[str]], Any]
    make_team: Callable[[str, Any, Optional[str]], Any] = make_joint
    mask_of: Callable[[Any, Any], Optional[NDArray[np.bool_]]] = mask_in_info
    max_steps: int = 100_000

    def environment_of(self, policy: CheckpointPolicy, env_id: str, render_mode: Optional[str] = None) -> Any:
        """Make an environment for a policy; for a joint policy, one with all its agents.

        Raises:
            ConfigError: The environment cannot be made, or has other agents than the policy.
        """
        about = policy.description
        if not isinstance(policy, JointPolicy):
            return self.make(env_id, about.preprocessing, render_mode)
        steps = {agent: about.part_of(agent).preprocessing for agent in about.agents}
        return self.make_team(env_id, steps, render_mode)

    def episode_returns(
        self, policy: CheckpointPolicy, env_id: str, seeds: Iterable[int], go_on: Callable[[], bool] = _go_on
    ) -> List[float]:
        """Play one episode per seed and return the undiscounted returns; see
        :func:`mosaic_worker.learning.evaluation.episode_returns`.

        Raises:
            ConfigError: The environment cannot be made.
        """
        return evaluation.episode_returns(
            policy, lambda: self.environment_of(policy, env_id), self.mask_of, seeds, self.max_steps, go_on
        )

    def mean_return(self, policy: CheckpointPolicy, env_id: str, go_on: Callable[[], bool] = _go_on) -> float:
        """Return the mean return over :data:`mosaic_worker.learning.evaluation.EVALUATION_SEEDS`."""
        return float(np.mean(self.episode_returns(policy, env_id, evaluation.EVALUATION_SEEDS, go_on)))

    def film(self, policy: CheckpointPolicy, env_id: str, folder: Path, step: int, seed: int) -> Path:
        """Record a video of an episode with the most likely actions; see
        :func:`mosaic_worker.learning.film.film_episode`.
        """

        def decide(env: Any, observation: Any, info: Any, memory: Any) -> Tuple[Any, Any]:
            mask, seen = self.mask_of(env, info), evaluation.stacked([observation])
            choices = policy.choose(seen, None if mask is None else mask[None], memory=memory)
            return choices.actions[0], choices.memory

        return film_episode(
            lambda: self.environment_of(policy, env_id, "rgb_array"), decide, folder, step, seed
        )
