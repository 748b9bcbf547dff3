"""What a training does with its own policies: evaluates them, and films them at play."""

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
    """Legal actions where an environment tells them in its info; ``None`` where all are."""
    mask = info.get("action_mask")
    return None if mask is None else np.asarray(mask, bool)


def _go_on() -> bool:
    return True


@dataclass(frozen=True)
class PolicyEvaluation:
    """How a worker's policies play in environments of a training's own.

    Attributes:
        make: An environment as a policy of one agent sees it, of its id, preprocessing and render mode.
        make_team: The same with all agents of a joint policy, whose preprocessing is by agent.
        mask_of: The legal actions, from the environment and its last info; ``None``: all are.
        max_steps: Ends episodes of an environment that knows no end.
    """

    make: Callable[[str, Any, Optional[str]], Any]
    make_team: Callable[[str, Any, Optional[str]], Any] = make_joint
    mask_of: Callable[[Any, Any], Optional[NDArray[np.bool_]]] = mask_in_info
    max_steps: int = 100_000

    def environment_of(self, policy: CheckpointPolicy, env_id: str, render_mode: Optional[str] = None) -> Any:
        """An environment as a policy sees it, of a joint policy one with all its agents.

        Raises:
            ConfigError: It cannot be made, or has other agents.
        """
        about = policy.description
        if not isinstance(policy, JointPolicy):
            return self.make(env_id, about.preprocessing, render_mode)
        steps = {agent: about.part_of(agent).preprocessing for agent in about.agents}
        return self.make_team(env_id, steps, render_mode)

    def episode_returns(
        self, policy: CheckpointPolicy, env_id: str, seeds: Iterable[int], go_on: Callable[[], bool] = _go_on
    ) -> List[float]:
        """Undiscounted return of one episode per seed, see
        :func:`mosaic_worker.learning.evaluation.episode_returns`.

        Raises:
            ConfigError: The environment cannot be made.
        """
        return evaluation.episode_returns(
            policy, lambda: self.environment_of(policy, env_id), self.mask_of, seeds, self.max_steps, go_on
        )

    def mean_return(self, policy: CheckpointPolicy, env_id: str, go_on: Callable[[], bool] = _go_on) -> float:
        """Mean over :data:`mosaic_worker.learning.evaluation.EVALUATION_SEEDS`."""
        return float(np.mean(self.episode_returns(policy, env_id, evaluation.EVALUATION_SEEDS, go_on)))

    def film(self, policy: CheckpointPolicy, env_id: str, folder: Path, step: int, seed: int) -> Path:
        """Play an episode with the most likely actions; see
        :func:`mosaic_worker.learning.film.film_episode`."""

        def decide(env: Any, observation: Any, info: Any, memory: Any) -> Tuple[Any, Any]:
            mask, seen = self.mask_of(env, info), evaluation.stacked([observation])
            choices = policy.choose(seen, None if mask is None else mask[None], memory=memory)
            return choices.actions[0], choices.memory

        return film_episode(
            lambda: self.environment_of(policy, env_id, "rgb_array"), decide, folder, step, seed
        )
