"""Worker that plays by model-predictive control."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mosaic_worker.worker import (
    Actions,
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    LoadError,
    PolicyFailed,
    Slot,
    Worker,
)
from mujoco_mpc_worker.ilqg import ILQG
from mujoco_mpc_worker.planners import Planner, PredictedCourse, Settings
from mujoco_mpc_worker.rewards import Reward, going_to
from mujoco_mpc_worker.simulation import Simulation
from mujoco_mpc_worker.task_file import Task, task_file_for

_PLACE = re.compile(r"go to\((-?[\d.]+) m, (-?[\d.]+) m\)")


def make_planner(simulation: Simulation, settings: Settings, seed: int) -> Planner:
    """Make the planner that is named in the settings.

    Raises:
        LoadError: The budget is too small for the planner.
    """
    return (ILQG if settings.planner == "ilqg" else Planner)(simulation, settings, seed)


class PlannedAction(NamedTuple):
    """An action with its plan's expected reward and course, and the rewards of all plans."""

    action: Any
    value: float
    foreseen: PredictedCourse
    scores: dict[str, float]

    @property
    def recorded_data(self) -> dict[str, Any] | None:
        """Data to record with the action; ``None`` if there is none."""
        points, planned = self.foreseen
        told = {"plan_points": points, "scores": self.scores, "planned": planned}
        return {name: value for name, value in told.items() if value} or None


class _Player:
    """A slot with copies of its simulator and the plans of its episodes."""

    def __init__(self, slot: Slot) -> None:
        if not slot.simulator:
            raise LoadError(
                "there is no simulator for planning: this worker plays only MuJoCo's environments"
            )
        given = slot.settings
        settings = Settings(**{f.name: given[f.name] for f in fields(Settings) if f.name in given})
        self._space = slot.action_space
        threads, survival = int(given.get("threads") or 0), float(given.get("survival") or 0.0)
        step_ms = float(given.get("step_ms") or 0.0)
        self._file = str(given.get("task_file") or "")
        self._aims = _aims(slot)
        if self._file and self._aims:
            raise LoadError("both task_file and the manager define the goal of plans: leave one of them out")
        if not self._file and not self._aims and given.get("aim", "task") == "task":
            self._file = task_file_for(str(slot.simulator.get("task")))
        task = Task(self._file) if self._file else None
        aim = self._aims[0] if self._aims else None
        self.simulation = Simulation(slot.simulator, threads, step_ms, survival, task, aim)
        self._refuse_other_actions()
        self._trace, self._points = str(given.get("trace") or ""), int(given.get("plan_points", 12))
        self.simulation.traced(self._trace)
        self.settings = make_planner(
            self.simulation, settings, 0
        ).settings  # invalid settings are refused before the first episode
        self._plans: dict[int, tuple[Planner, int, PlannedAction | None]] = {}

    @property
    def name(self) -> str:
        s = self.settings
        budget = f"{s.budget_ms:g} ms, does not repeat" if s.budget_ms else f"{s.rollouts} rollouts"
        aim = f", {Path(self._file).name}" if self._file else ""
        return f"{s.planner} ({budget}, horizon {s.horizon}{aim})"

    def _refuse_other_actions(self) -> None:
        space, low, high = self._space, self.simulation.low, self.simulation.high
        if space.kind != "Box" or space.shape != low.shape:
            raise LoadError(f"plans have {len(low)} controls, but the slot's actions have another size")
        if not (np.allclose(np.asarray(space.low), low) and np.allclose(np.asarray(space.high), high)):
            raise LoadError(
                f"the slot's actions go from {space.low} to {space.high}, its simulator's from {low} "
                f"to {high}: plan without the wrapper that scales actions"
            )

    def begin(self, start: EpisodeStart) -> None:
        self._plans[start.episode] = make_planner(self.simulation, self.settings, start.seed), -1, None

    def forget(self, episode: int) -> None:
        self._plans.pop(episode, None)

    def decide(self, decision: Decision) -> PlannedAction:
        planner, step, decided = self._plans[decision.episode]
        if decided is None or decision.step != step:  # a repeated request gets the same plan
            if decision.state is None:
                raise PolicyFailed("the session sent no simulator state")
            if self._aims:
                self.simulation.plan_for(self._aims[int(decision.observation["option"])])
            action = planner.act(decision.step, decision.state).astype(self._space.dtype or np.float32)
            foreseen = planner.foresee(decision.state, self._trace, self._points)
            decided = PlannedAction(action.reshape(self._space.shape), planner.value, foreseen, planner.tried)
            self._plans[decision.episode] = planner, decision.step, decided
        return decided


def _aims(slot: Slot) -> list[Reward]:
    """Return the reward for each option of a manager; empty without a manager.

    Raises:
        LoadError: An option is no place on the ground.
    """
    found: list[Reward] = []
    for option in slot.options:
        match = _PLACE.fullmatch(option)
        if match is None:
            raise LoadError(
                "with a manager, the worker can only go to positions on the ground, 'go to(1 m, -1 m)', as "
                f"in runners that observe their position; it cannot execute {option!r} of {slot.env_id!r}"
            )
        found.append(going_to((float(match[1]), float(match[2]))))
    return found


class MpcWorker(Worker):
    """Worker that plans from the simulator's state, with a planner for each slot and episode."""

    inputs = ("state",)

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}

    def load(self, slot: Slot) -> str:
        player = self._players[slot.index] = _Player(slot)
        return player.name

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._players[slot.index].begin(start)

    def select_actions(self, batch: Batch) -> Actions:
        answers = [self._players[batch.slot.index].decide(decision) for decision in batch]
        return Actions(
            [each.action for each in answers],
            values=np.array([each.value for each in answers]),
            extras=[each.recorded_data for each in answers],
        )

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._players[slot.index].forget(end.episode)

    def close(self) -> None:
        for player in self._players.values():
            player.simulation.close()
