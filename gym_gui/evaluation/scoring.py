"""Scores trained policies in the environments that they were trained in."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace

from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.core.config import SINGLE_AGENT, WorkerAssignment
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import PolicyFailure
from gym_gui.core.trusted.trust import Origin, require
from gym_gui.envs import needs_of, resolve
from gym_gui.evaluation.evaluation_run import evaluate
from gym_gui.services.policies.policy_scores import STANDARD_SEEDS, PolicyScore
from gym_gui.services.policy_files import PolicyFile


def score_policy(
    policy: PolicyFile,
    *,
    seeds: Sequence[int] = STANDARD_SEEDS,
    max_steps: int | None = None,
    on_progress: OnProgress | None = None,
) -> PolicyScore:
    """Play a trained policy in the environment of its training and return its score; keep no run folder.

    Args:
        policy: The policy.
        seeds: Environment seeds, one episode each.
        max_steps: Environment steps after which an episode is truncated.
        on_progress: Receives the progress a few times per second.

    Returns:
        Return of each episode; for a joint policy, the sum over the agents that it plays.

    Raises:
        UsageError: The policy cannot play its environment alone, or its worker is not installed.
        PolicyFailure: An episode failed.
    """
    about = policy.description
    single = about.agents in ((), (SINGLE_AGENT,))
    player = WorkerAssignment(about.worker, "rl", {"checkpoint": str(policy.path)})
    agents = {a: replace(player, checkpoint_agent=a) for a in about.agents} if not single else {}
    with tempfile.TemporaryDirectory(prefix="mosaic-score") as out:
        results = evaluate(
            about.env_id,
            agents or {"agent": player},
            seeds=seeds,
            out=out,
            max_steps=max_steps,
            on_progress=on_progress,
            origin=_origin(policy),
        )
        episodes = results.episodes
    failed = next((e for e in episodes if e.status != EpisodeStatus.COMPLETED), None)
    if failed is not None:
        raise PolicyFailure(f"{policy.title} could not be scored: seed {failed.seed}: {failed.error}")
    # In a completed episode every agent has a return; the order is that of the seeds.
    returns = [sum(r for r in episode.returns.values() if r is not None) for episode in episodes]
    return PolicyScore.now(returns, seeds)


def require_allowed(policy: PolicyFile) -> None:
    """Raise an error if the policy's environment is code that the user has not allowed; import none of it.

    Raises:
        NotAllowedError: The user has not allowed the environment's code.
        UsageError: The environment does not exist.
    """
    origin = _origin(policy)
    require(needs_of(resolve(policy.description.env_id, origin=origin), {}), origin)


def _origin(policy: PolicyFile) -> Origin:
    return Origin(str(policy.path / "policy.json"))
