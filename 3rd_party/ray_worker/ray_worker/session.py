"""What happens between RLlib's iterations and the run folder: reports, checkpoints, films."""

# Ray and torch are typed only in part, or not there.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import json
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import safetensors.torch
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, read_description, save_checkpoint
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_report import RECENT, TrainingReport, moment, versions
from mosaic_worker.learning.training_state import State, write_state
from mosaic_worker.plain_files import read_file
from mosaic_worker.preprocessing import Pipeline, check_steps
from mosaic_worker.training import TrainingRun
from ray_worker.convert import convert
from ray_worker.network import Module, finite_weights
from ray_worker.plan import Plan, Seat
from ray_worker.policy import WORKER, load_whole
from ray_worker.settings import IMPALAConfig, RayConfig, plain
from ray_worker.state import state_of

EPISODES = "mosaic_episodes"
"""Under which finished episodes are told by :mod:`ray_worker.rllib_env`."""
_PACKAGES = ("ray", "torch", "gymnasium", "numpy", "safetensors")
_LOSSES = ("loss", "entropy", "kl", "explained_var", "qf_mean", "td_error", "alpha")
_STEPS = "num_env_steps_sampled_lifetime"
_LOOKS, _LOOK_S = 200, 0.03
_RUNNERS = "env_runners"


class Session:
    """A training, as RLlib's loop and the end of it see it.

    Args:
        name: The algorithm's.
        config: Every setting.
        plan: Who learns what.
        run: The run folder.
        scalars: TensorBoard's writer.
        trained: RLlib's algorithm object.
        restored: State of the training that goes on.
    """

    def __init__(
        self,
        name: str,
        config: RayConfig,
        plan: Plan,
        run: TrainingRun,
        scalars: Any,
        trained: Any,
        restored: State | None = None,
    ) -> None:
        self._name, self._config, self._plan, self._run = name, config, plan, run
        self._trained = trained
        told: Mapping[str, Any] = restored.values["session"] if restored else {}
        self._first = 0 if restored is None else restored.step
        self.step = self._filmed = self._first
        self._report = TrainingReport(
            run, scalars, self.step, told.get("returns", ()), told.get("lengths", ())
        )
        recent: Mapping[str, Any] = told.get("agents", {})
        agents = [seat.agent for seat in plan.seats] if plan.joint else []
        self._agents = {agent: deque(recent.get(agent, ()), RECENT) for agent in agents}
        self._good, self._filming = True, config.video_every > 0
        self._kept: tuple[PolicyDescription, dict[str, Tensor]] | None = None

    # -- after an iteration --------------------------------------------------------------

    def updated(self, results: Mapping[str, Any]) -> None:
        """Report an iteration of RLlib's.

        Raises:
            TrainingFailed: A loss or a return is no finite number.
        """
        runners: Mapping[str, Any] = results.get(_RUNNERS, {})
        played = results.get(_STEPS) or runners.get(_STEPS) or 0
        self.step = max(self.step, self._first + int(played))
        for episode in _rows(runners.get(EPISODES, ())):
            self._finished(episode)
        values: dict[str, float] = dict(_losses(results.get("learners", {})))
        for name, value in values.items():
            if not math.isfinite(value) and "explained_var" not in name:
                self._good = False
                raise TrainingFailed(
                    f"{name} is no finite number any more at step {self.step:,}; lower lr. "
                    f"{self.kept_words()}"
                )
        means = {agent: sum(found) / len(found) for agent, found in self._agents.items() if found}
        values |= {f"agents/{agent}": mean for agent, mean in means.items()}
        if len(self._plan.teams) > 1 and len(means) == len(self._agents):
            values |= {f"teams/{t}": sum(means[a] for a in agents) for t, agents in self._plan.teams.items()}
        values["charts/learning_rate"] = self._config.lr
        self._report.metrics(self.step, values)
        if self._filming and self.step - self._filmed >= self._config.video_every:
            self._film()

    def _finished(self, episode: Mapping[str, Any]) -> None:
        total = float(episode["return"])
        if not math.isfinite(total):
            raise TrainingFailed(
                f"an episode's return is no finite number at step {self.step:,}; the rewards of "
                f"{self._config.env_id} are wrong"
            )
        agents = {agent: float(episode["agents"].get(agent, 0.0)) for agent in self._agents}
        for agent, each in agents.items():
            self._agents[agent].append(each)
        self._report.episode(self.step, total, int(episode["length"]), agents if self._plan.joint else None)

    # -- checkpoints ---------------------------------------------------------------------

    def save(self) -> None:
        """Keep policy and state.

        Raises:
            TrainingFailed: The weights are no finite numbers any more; what is there stays.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        session = {
            "returns": list(self._report.returns),
            "lengths": list(self._report.lengths),
            "agents": {agent: list(found) for agent, found in self._agents.items()},
        }
        values = {
            "algorithm": self._name,
            "config": plain(self._config),
            "step": self.step,
            "session": session,
        }
        write_state(self._run.folder, state_of(self._trained, values))

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        """Keep the policy alone, with what its evaluation found."""
        if result is None or self._kept is None:
            self._rest()
            self._kept = self._policy()
        # What was evaluated is what is kept: a thread of RLlib's may have learnt on since.
        about, weights = self._kept
        description = replace(about, mean_return=result, evaluation_seeds=seeds)
        save_checkpoint(self._run.folder, description, safetensors.torch.save(weights))

    def keep_last_good(self) -> None:
        """After a failure: the policy as it is, unless it is spoilt, then what is on disk."""
        if self._good and self.step > self._on_disk():
            with contextlib.suppress(TrainingFailed, OSError):
                self.save()

    def kept_words(self) -> str:
        """What there is of the policy after a failure."""
        step = self._on_disk()
        return (
            "No policy was kept before"
            if step < 0
            else f"The policy of step {step:,} is kept: go on with --resume"
        )

    def film_finished(self) -> None:
        """Film the policy as it came out, where films are wanted and none shows it yet."""
        if self._filming and self._filmed < self.step:
            self._film()

    def _policy(self) -> tuple[PolicyDescription, dict[str, Tensor]]:
        """The policy as it is now."""
        modules = self._modules()
        weights: dict[str, Tensor] = {}
        try:
            for name, module in modules.items():
                weights |= finite_weights(module, f"{name}." if self._plan.joint else "")
        except ValueError as error:
            self._good = False
            raise TrainingFailed(f"the weights are spoilt at step {self.step:,} ({error})") from error
        parts = [self._part(seat, modules[seat.network]) for seat in self._plan.seats]
        description = PolicyDescription.joint(
            parts,
            worker=_launched_as(self._run.folder),
            algorithm=self._name,
            env_id=self._config.env_id,
            seed=self._config.seed,
            total_steps=self.step,
            config=plain(self._config),
            versions=versions(_PACKAGES),
            trained_at=moment(),
        )
        return description, weights

    def _rest(self) -> None:
        """Wait until the thread in which IMPALA and APPO learn has nothing left: weights of one update."""
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

    def _modules(self) -> dict[str, Module]:
        learner = self._trained.learner_group._learner
        epsilon = float(getattr(self._config, "final_epsilon", 0.0))
        found = {name: learner.module[name] for name in self._plan.networks}
        acts = {name: seat.acts for name, seat in self._plan.networks.items()}
        return {name: convert(module, acts[name], epsilon=epsilon) for name, module in found.items()}

    def _part(self, seat: Seat, module: Module) -> PolicyPart:
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

    def _on_disk(self) -> int:
        try:
            return read_description(self._run.folder).total_steps
        except Exception:  # none, or none that can be read
            return -1

    def _film(self) -> None:
        from mosaic_worker.learning.film import CannotFilm
        from ray_worker.environments import EVALUATION

        self._filmed = self.step
        try:
            policy = load_whole(*self._policy())
            folder, seed = self._run.folder, self._config.seed
            self._run.filmed(self.step, EVALUATION.film(policy, self._config.env_id, folder, self.step, seed))
        except CannotFilm as error:
            self._filming = False
            self._run.warn(f"no videos: {error}")


def _rows(found: Any) -> Iterator[Mapping[str, Any]]:
    """Episodes, however deep RLlib has put them."""
    if isinstance(found, Mapping):
        yield cast("Mapping[str, Any]", found)
    elif isinstance(found, list | tuple | deque):
        for each in found:
            yield from _rows(each)
    elif hasattr(found, "peek"):
        yield from _rows(found.peek())


def _losses(learners: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Numbers that say how learning goes, by TensorBoard name; of several networks, of each."""
    several = sum(name != "__all_modules__" for name in learners) > 1
    for network, found in learners.items():
        for name, value in found.items() if network != "__all_modules__" else ():
            if any(word in name for word in _LOSSES) and isinstance(value, int | float):
                yield f"losses/{network}/{name}" if several else f"losses/{name}", float(value)


def _launched_as(folder: Path) -> str:
    """The id of this worker: a trainer says it, as there may be copies with other ids."""
    try:
        return str(json.loads(read_file(folder / "train.json"))["worker"])
    except (OSError, ValueError, KeyError, TypeError):
        return WORKER
