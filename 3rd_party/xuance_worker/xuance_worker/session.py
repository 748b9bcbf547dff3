"""Connects the library's training loop to the run folder: reports, requests, checkpoints."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.learning.training_cycle import Training
from mosaic_worker.learning.training_state import State
from mosaic_worker.training import TrainingRun
from xuance_worker.algorithms import Acting, Algorithm
from xuance_worker.config import TeamConfig
from xuance_worker.convert import network_of, playing_weights
from xuance_worker.moments import Moments
from xuance_worker.plan import Plan
from xuance_worker.policy import Policy
from xuance_worker.state import state_of
from xuance_worker.team import EVALUATION


class Session(Training):
    """A training that runs the library's loop.

    Args:
        algorithm: Algorithm of the training.
        config: Settings of the training.
        run: The run folder.
        scalars: TensorBoard's writer.
        restored: State of the training that is resumed.
        plan: Agents with their spaces.
        settings: Settings of the library.
        agents: The library's agents.
        moments: Statistics of observations by agent; empty if they are not normalized.
    """

    policies = Policy
    versions_of = ("xuance", "torch", "gymnasium", "numpy", "safetensors")
    evaluation = EVALUATION
    rate = "the learning rate"

    def __init__(
        self,
        algorithm: Algorithm,
        config: TeamConfig,
        run: TrainingRun,
        scalars: Any,
        restored: State | None,
        plan: Plan,
        settings: Mapping[str, Any],
        agents: Any,
        moments: Mapping[str, Moments],
    ) -> None:
        super().__init__(algorithm.name, config, run, scalars, restored)
        self._config, self._plan, self._library_settings = config, plan, settings
        self._agents, self._moments = agents, moments
        self._acting: Acting = algorithm.acting["continuous" if plan.bounded else "discrete"]
        self._reported = self.step

    def learn(self) -> None:
        """Run the library's loop, one step of all copies at a time; with a memory, one episode.

        A single call for all steps would give restarted copies the state of one of them (XuanCe 1.4.4,
        ``off_policy_marl.train``: ``state = info[i]["reset_state"]``).
        """
        while self.step < self._config.total_steps:
            self.updated(self._agents.train(1))
            if not self.go_on():
                return

    def played(self, copies: int, finished: list[tuple[Mapping[str, float], int]]) -> None:
        """Handle a step of all copies and report the episodes that ended in it.

        Raises:
            TrainingFailed: A return is not finite.
        """
        self.step += copies
        for returns, length in finished:
            self.episode(sum(returns.values()), length, returns)

    def updated(self, told: Mapping[str, Any]) -> None:
        """Report the library's losses and check them.

        Raises:
            TrainingFailed: A loss is not finite.
        """
        losses: dict[str, float] = {}
        for name, value in told.items():
            if isinstance(value, (int, float)) or hasattr(value, "item"):
                losses[f"losses/{name.replace(' ', '_')}"] = float(value)
        self.check_losses(losses)
        if losses and self.step - self._reported >= self.report_every:
            self._reported = self.step
            self.report.metrics(self.step, losses)

    # -- current policy --------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights of the acting networks."""
        return playing_weights(self._acting, self._agents.policy.state_dict(), self._plan)

    def parts(self) -> Sequence[PolicyPart]:
        """Return a part for each agent."""
        plan, found = self._plan, list[PolicyPart]()
        for agent in plan.agents:
            network = network_of(self._acting, self._library_settings, plan, plan.key_of(agent))
            normalize = self._moments[agent].step() if self._moments else None
            found.append(plan.part(agent, network, normalize))
        return found

    def state(self) -> State:
        """Return optimizers, counts and statistics."""
        moments = {key: self._moments[key].state() for key in self._plan.keys if self._moments}
        return state_of(self._agents, {"moments": moments})
