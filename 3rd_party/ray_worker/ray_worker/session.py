"""Connects RLlib's iterations to the run folder: reports, requests, checkpoints."""

# Ray is not among the packages that the checks install, and torch is typed only in part.

# pyright: reportMissingImports=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.training_cycle import Training
from mosaic_worker.learning.training_report import AgentReturns
from mosaic_worker.learning.training_state import State
from mosaic_worker.preprocessing import Pipeline, check_steps
from mosaic_worker.training import TrainingRun
from ray_worker.convert import Converted, convert
from ray_worker.environments import EVALUATION
from ray_worker.plan import Plan, Seat
from ray_worker.policy import Policy
from ray_worker.settings import IMPALAConfig, RayConfig
from ray_worker.state import state_of

EPISODES = "mosaic_episodes"
"""Key of the metric in which :mod:`ray_worker.rllib_env` reports finished episodes."""
_LOSSES = ("loss", "entropy", "kl", "explained_var", "qf_mean", "td_error", "alpha")
_STEPS = "num_env_steps_sampled_lifetime"
_LOOKS, _LOOK_S = 200, 0.03
_RUNNERS = "env_runners"


class Session(Training):
    """A training that runs RLlib's iterations.

    Args:
        algorithm: The algorithm's name.
        config: Settings of the training.
        run: The run folder.
        scalars: TensorBoard's writer.
        restored: State of the training that is resumed.
        plan: Agents with their networks.
        trained: RLlib's algorithm object.
    """

    policies = Policy
    versions_of = ("ray", "torch", "gymnasium", "numpy", "safetensors")
    evaluation = EVALUATION
    rate = "lr"

    def __init__(
        self,
        algorithm: str,
        config: RayConfig,
        run: TrainingRun,
        scalars: Any,
        restored: State | None,
        plan: Plan,
        trained: Any,
    ) -> None:
        super().__init__(algorithm, config, run, scalars, restored)
        self._config, self._plan, self._trained = config, plan, trained
        told: Mapping[str, Any] = restored.values["session"] if restored else {}
        agents = [seat.agent for seat in plan.seats] if plan.joint else []
        self._agents = AgentReturns(agents, plan.teams, told.get("agents", {}))
        self._converted: dict[str, Converted] = {}
        self._kept: tuple[PolicyDescription, dict[str, Tensor]] | None = None

    def learn(self) -> None:
        """Run RLlib's iterations until all steps are played."""
        planned = self._config.planned_steps(self.step)
        while self.step < planned:
            self.updated(self._trained.train())
            if not self.go_on():
                return

    def updated(self, results: Mapping[str, Any]) -> None:
        """Report an iteration of RLlib.

        Raises:
            TrainingFailed: A loss or a return is not finite.
        """
        runners: Mapping[str, Any] = results.get(_RUNNERS, {})
        played = results.get(_STEPS) or runners.get(_STEPS) or 0
        self.step = max(self.step, self.begun + int(played))
        for episode in _rows(runners.get(EPISODES, ())):
            self._finished(episode)
        losses = dict(_losses(results.get("learners", {})))
        self.check_losses(losses, unchecked="explained_var")
        rate = {"charts/learning_rate": self._config.lr}
        self.report.metrics(self.step, {**losses, **self._agents.metrics(), **rate})
        if self.film_due():
            self.film()

    def _finished(self, episode: Mapping[str, Any]) -> None:
        agents = {agent: float(episode["agents"].get(agent, 0.0)) for agent in self._agents}
        self.episode(float(episode["return"]), int(episode["length"]), agents if self._plan.joint else None)
        self._agents.add(agents)

    # -- current policy --------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights of each network; with several agents, names begin with the network's name."""
        # Converted once for weights and parts, because a conversion draws from torch's generator, which RLlib
        # uses too.
        self._converted = self._modules()
        return {
            f"{name}.{key}" if self._plan.joint else key: tensor
            for name, module in self._converted.items()
            for key, tensor in module.weights.items()
        }

    def parts(self) -> Sequence[PolicyPart]:
        """Return a part for each agent."""
        return [self._part(seat, self._converted[seat.network]) for seat in self._plan.seats]

    def state(self) -> State:
        """Return the algorithm's state and the statistics of episodes."""
        session = {**self.report.state(), "agents": self._agents.state()}
        return state_of(self._trained, {"session": session})

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        """Save only the policy, with the result of its evaluation."""
        if result is None or self._kept is None:
            self._wait_for_learner()
            self._kept = self.policy()
        # The saved policy is the evaluated one, because a thread of RLlib may have learned since.
        self.write_policy(*self._kept, result, seeds)

    # -- failures ------------------------------------------------------------------------

    def save_last_good(self) -> None:
        """Save policy and state, to resume from."""
        self.save()

    def kept_words(self) -> str:
        """Return a sentence about the policy that is on disk after a failure."""
        step = self.step_on_disk()
        if step < 0:
            return "No policy was saved before"
        return f"The policy of step {step:,} is saved: continue with --resume"

    def reason(self, error: Exception) -> str:
        """Return a failure as one sentence."""
        kind = type(error).__name__
        if any(word in kind for word in ("ActorDied", "ActorUnavailable", "WorkerCrashed", "NodeDied")):
            if said := _stored_failure():
                return f"{self._config.env_id} raised {said}"
            why = "a runner was killed, or ran out of memory"
            return f"a process of Ray's died at step {self.step:,} ({why}). {self.kept_words()}"
        cause = getattr(error, "cause", None)
        return super().reason(cause if isinstance(cause, Exception) else error)

    # -- RLlib's networks ----------------------------------------------------------------

    def _wait_for_learner(self) -> None:
        """Wait until the learner thread of IMPALA and APPO is idle, so that all weights are of one update."""
        if not isinstance(self._config, IMPALAConfig):
            return
        module = self._trained.learner_group._learner.module
        before: dict[str, Any] = {}
        for _ in range(_LOOKS):
            now = {k: v for name in self._plan.networks for k, v in module[name].get_state().items()}
            now = {k: np.array(v) for k, v in now.items()}
            if before and all(np.array_equal(now[k], before[k], equal_nan=True) for k in now):
                return
            before = now
            time.sleep(_LOOK_S)

    def _modules(self) -> dict[str, Converted]:
        learner = self._trained.learner_group._learner
        epsilon = float(getattr(self._config, "final_epsilon", 0.0))
        found = {name: learner.module[name] for name in self._plan.networks}
        acts = {name: seat.acts for name, seat in self._plan.networks.items()}
        return {name: convert(module, acts[name], epsilon=epsilon) for name, module in found.items()}

    def _part(self, seat: Seat, module: Converted) -> PolicyPart:
        sees, does = seat.described()
        steps = check_steps([*seat.steps, *self._statistics(seat.agent)])
        shown = describe(Pipeline(steps, seat.observation_space).input_space)
        return PolicyPart(
            (seat.agent,),
            sees,
            does,
            module.network.to_json(),
            tuple(steps),
            None if shown == sees else shown,
            f"{seat.network}." if self._plan.joint else "",
        )

    def _statistics(self, agent: str) -> list[dict[str, Any]]:
        if not getattr(self._config, "normalize_observations", False):
            return []
        from ray_worker.connectors import normalize_step

        state = self._trained.env_runner._env_to_module.get_state()
        return [normalize_step(state, agent if self._plan.joint else None)]


def _rows(found: Any) -> Iterator[Mapping[str, Any]]:
    """Yield episodes from RLlib's nested results."""
    if isinstance(found, Mapping):
        yield cast("Mapping[str, Any]", found)
    elif isinstance(found, list | tuple | deque):
        for each in found:
            yield from _rows(each)
    elif hasattr(found, "peek"):
        yield from _rows(found.peek())


def _losses(learners: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield losses by TensorBoard name; with several networks, for each network."""
    several = sum(name != "__all_modules__" for name in learners) > 1
    for network, found in learners.items():
        for name, value in found.items() if network != "__all_modules__" else ():
            if any(word in name for word in _LOSSES) and isinstance(value, int | float):
                yield f"losses/{network}/{name}" if several else f"losses/{name}", float(value)


def _stored_failure() -> str:
    """Return the error that a runner stored about its environment; empty without one."""
    from ray.experimental.internal_kv import _internal_kv_get

    from ray_worker.rllib_env import failure_key

    with contextlib.suppress(Exception):  # Ray itself may have ended
        found = _internal_kv_get(failure_key())
        return "" if found is None else found.decode()
    return ""
