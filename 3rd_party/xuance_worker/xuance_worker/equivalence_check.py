"""Checks that a converted policy acts as the library does, on 1,000 observations and in whole episodes."""

# numpy's generators are typed only in part.

# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.learning.evaluation import EVALUATION_SEEDS, stacked
from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.learning.joint_env import make_joint
from mosaic_worker.learning.policy_evaluation import mask_in_info
from mosaic_worker.playing.joint_policy import JointPolicy
from xuance_worker.plan import Plan
from xuance_worker.policy import Policy
from xuance_worker.team import EVALUATION

OBSERVATIONS = 1000
_STUDENT_95 = 2.093
"""Two-sided 95 % quantile of Student's t with 19 degrees of freedom, for 20 evaluation seeds."""
_NEAR = 1e-5
_MOST_STEPS = 100_000


class LibraryPolicy(Protocol):
    """Plays with the library's agents."""

    def begin(self) -> None: ...
    def choose(self, seen: Mapping[str, Any], masks: NDArray[np.bool_] | None) -> dict[str, Any]: ...


def check_equivalence(theirs: LibraryPolicy, ours: JointPolicy[Policy], plan: Plan) -> None:
    """Check that the library's policy and the converted policy act equally.

    Raises:
        ImportRefused: The policies act differently; the message says where.
        ConfigError: The environment cannot be made.
    """
    _check_actions(theirs, ours, plan)
    own = _returns(theirs, plan)
    made = EVALUATION.episode_returns(ours, plan.env_id, EVALUATION_SEEDS)
    differences = np.asarray(made) - np.asarray(own)
    mean = float(differences.mean())
    reach = _STUDENT_95 * float(differences.std(ddof=1)) / math.sqrt(len(differences))
    if abs(mean) > reach + 1e-6 * max(1.0, *map(abs, own)):
        raise ImportRefused(
            f"the converted policy has the mean return {np.mean(made):.3f} on the evaluation seeds, "
            f"the library's {np.mean(own):.3f}: they differ by {mean:+.3f} ± {reach:.3f}"
        )


def _check_actions(theirs: LibraryPolicy, ours: JointPolicy[Policy], plan: Plan) -> None:
    """Compare actions on the same observations, reached by acting randomly half of the time."""
    rng = np.random.default_rng(0)
    marks = np.eye(len(plan.agents), dtype=np.float32)
    seen_so_far = 0
    with closing(make_joint(plan.env_id, plan.steps, limit=plan.limit)) as team:
        while seen_so_far < OBSERVATIONS:
            seen, info = team.reset(seed=int(rng.integers(2**31)))
            theirs.begin()
            memory, over = np.zeros((1, ours.memory), np.float32), False
            while not over and seen_so_far < OBSERVATIONS:
                masks = mask_in_info(team, info)
                wanted = theirs.choose(seen, masks)
                shown = seen
                if plan.shared:
                    shown = {a: np.concatenate([seen[a], marks[i]]) for i, a in enumerate(plan.agents)}
                choices = ours.choose(stacked([shown]), None if masks is None else masks[None], memory=memory)
                given = choices.actions[0]
                for agent in info["acting"]:
                    if not np.allclose(given[agent], wanted[agent], atol=_NEAR, rtol=_NEAR):
                        raise ImportRefused(
                            f"the converted policy does not act as the library does: {agent} chooses "
                            f"{given[agent]} but the library {wanted[agent]}, at observation "
                            f"{seen_so_far + 1:,}"
                        )
                memory = memory if choices.memory is None else choices.memory
                seen_so_far += 1
                actions = _random(plan, masks, rng) if rng.random() < 0.5 else wanted
                seen, _, ended, cut, info = team.step(actions)
                over = ended or cut


def _random(plan: Plan, masks: NDArray[np.bool_] | None, rng: np.random.Generator) -> dict[str, Any]:
    actions: dict[str, Any] = {}
    for i, agent in enumerate(plan.agents):
        space: Any = plan.does[agent]
        if plan.bounded:
            low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
            actions[agent] = rng.uniform(low, high).astype(np.float32)
        else:
            count = int(space.n)
            legal = range(count) if masks is None else np.flatnonzero(masks[i, :count]).tolist()
            actions[agent] = int(rng.choice(list(legal))) + int(space.start)
    return actions


def _returns(theirs: LibraryPolicy, plan: Plan) -> list[float]:
    """Return the library's returns, one episode per seed."""
    totals: list[float] = []
    with closing(make_joint(plan.env_id, plan.steps)) as team:
        for seed in EVALUATION_SEEDS:
            seen, info = team.reset(seed=seed)
            theirs.begin()
            total, over, steps = 0.0, False, 0
            while not over and steps < _MOST_STEPS:
                seen, reward, ended, cut, info = team.step(theirs.choose(seen, mask_in_info(team, info)))
                total, over, steps = total + reward, ended or cut, steps + 1
            totals.append(total)
    return totals
