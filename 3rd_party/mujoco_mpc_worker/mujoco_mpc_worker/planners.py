"""Plans by sampling: splines of controls change a plan, and copies of the simulator evaluate the results.

A plan has a control for each step. The next step starts from the unchanged plan, so that repeated spline fits
do not degrade it.

Predictive sampling is Howell et al., Predictive Sampling (arXiv 2212.00541); CEM as in Pinneri et al.
(arXiv 2008.06389) without colored noise; MPPI is Williams et al. (arXiv 1509.01149).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from mosaic_worker.worker import LoadError
from mujoco_mpc_worker.rewards import Array, Flags
from mujoco_mpc_worker.simulation import Simulation

Spline = Literal["zero", "linear", "cubic"]
_AHEAD_S, _AHEAD = 0.8, (10, 1000)
"""Default horizon: seconds, and the smallest and largest number of steps."""
_EVERY = 8
"""One of this many plans repeats earlier controls of the plan."""
_SCALES = (0.04, 2.0)
"""Smallest and largest change of predictive sampling, as a share of ``noise``."""
_ROUND = 512 * 2**20
"""Largest size of a round's plans, in bytes."""
_COPIES = 6
"""Number of arrays of a plan's size that exist while it is made, such as its changes and the original
plan.
"""
MOST_CONTROLS = 8
"""Largest number of a plan's controls in the record."""


class PredictedCourse(NamedTuple):
    """Predicted course of a plan.

    Attributes:
        points: Points in world coordinates, in meters.
        planned: Recorded course: ``steps`` ahead, rewards that it and other plans have ``earned`` by then,
            their value ``beyond`` the end, and its ``controls``; empty if no steps are wanted.
    """

    points: list[list[float]]
    planned: dict[str, Any]


def short(numbers: Array, figures: int = 4) -> list[float]:
    """Round numbers to a few digits, because they are drawn and stored in the row of each decision."""
    return [float(f"{x:.{figures}g}") for x in numbers]


@dataclass(frozen=True)
class Settings:
    """Settings of a planner; their names are those of the worker's settings."""

    planner: str = "predictive_sampling"
    horizon: int = 0
    rollouts: int = 64
    iterations: int = 4
    budget_ms: float = 0.0
    knots: int = 12
    spline: Spline = "linear"
    noise: float = 0.5
    elites: float = 0.125
    temperature: float = 0.1

    @property
    def rounds(self) -> tuple[int, ...]:
        """Number of plans in each round, in total ``rollouts``; a round has at least two."""
        rounds = max(1, min(self.iterations, self.rollouts // 2))
        return tuple(self.rollouts // rounds + (i < self.rollouts % rounds) for i in range(rounds))

    def over(self, seconds: float) -> Settings:
        """Return the settings with a horizon that fits an environment step of this duration."""
        return replace(self, horizon=self.horizon or int(np.clip(round(_AHEAD_S / seconds), *_AHEAD)))


def weights(spline: Spline, knots: int, steps: int) -> Array:
    """Return the weight of each knot for each step of a plan, (steps, knots); rows add up to 1.

    Knots are spread evenly over the plan; with ``zero`` a knot's value holds until the next.
    """
    if knots == 1 or steps == 1:
        return np.eye(1, knots).repeat(steps, axis=0)
    eye = np.eye(knots)
    if spline == "zero":
        return eye[np.arange(steps) * knots // steps]
    degree = min(3 if spline == "cubic" else 1, knots - 1)
    at, places = np.linspace(0.0, steps - 1.0, knots), np.arange(steps, dtype=np.float64)
    return np.asarray(make_interp_spline(at, eye, k=degree)(places), np.float64)


class Planner:
    """The plan of one episode; each step improves it, starting from the previous step's plan.

    Args:
        simulation: Copies of the simulator.
        settings: Settings of the planner.
        seed: Seed of the episode; all noise follows from the seed and the step.
        clock: Returns the time in seconds, for a time budget.

    Raises:
        LoadError: The settings need too much memory, or allow too little for a round.
    """

    def __init__(
        self,
        simulation: Simulation,
        settings: Settings,
        seed: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.settings = settings.over(simulation.seconds)
        self._simulation, self._seed, self._clock = simulation, seed, clock
        self._set_up(simulation, self.settings)
        self._plan: Array = self._at_rest()
        self._done: Array = self._plan[:0]
        self._at = 0
        self.value = 0.0
        """Reward of the best plan found."""
        self._before: Array = self._plan
        self._worst: tuple[float, Array] | None = None
        self._earned: list[Array] = []
        """Rewards of the plans of each round of this step; a round's first plan is the unchanged plan."""

    def _set_up(self, simulation: Simulation, settings: Settings) -> None:
        self._weights = weights(settings.spline, min(settings.knots, settings.horizon), settings.horizon)
        self._half = (simulation.high - simulation.low) / 2
        self._check_budget()

    def _check_budget(self) -> None:
        """Check that the plans of a round, which are made together, fit into memory.

        Their simulation is divided into portions: see :meth:`Simulation.returns`.
        """
        settings, controls = self.settings, len(self._half)
        most = max(2, _ROUND // (8 * _COPIES * settings.horizon * controls))
        plans, rounds = settings.rounds[0], len(settings.rounds)
        if plans > most:
            raise LoadError(
                f"a round of {plans} plans of {settings.horizon} steps of {controls} controls needs more "
                f"than {_ROUND >> 20} MB: set rollouts to {most * rounds} or less, iterations to "
                f"{-(-settings.rollouts // most)} or more, or a shorter horizon"
            )

    def _at_rest(self) -> Array:
        """Return a plan with all controls in the middle of their range."""
        middle = (self._simulation.low + self._simulation.high) / 2
        return self._playable(np.tile(middle, (self.settings.horizon, 1)))

    def act(self, step: int, state: Array) -> Array:
        """Improve the plan and return its first action, (nu,).

        Args:
            step: Step of the environment.
            state: ``mjSTATE_INTEGRATION``.

        Raises:
            PolicyFailed: No plan can be simulated from here.
        """
        self._shift(step - self._at)
        self._at = step
        rng = np.random.default_rng((self._seed, step))
        self._earned, self._before, self._worst = [], self._plan, None
        self._search(state, rng, self._clock() + self.settings.budget_ms / 1000)
        return self._plan[0]

    @property
    def tried(self) -> dict[str, float]:
        """Rewards of the last step's plans, by description; empty if none were compared."""
        if not self._earned:
            return {}
        plans = np.concatenate(self._earned)
        sane = plans[np.isfinite(plans)]
        told = {
            "best plan": float(sane.max(initial=-np.inf)),
            "plan of the step before": float(self._earned[0][0]),
            f"middle of {len(plans)} plans": float(np.median(sane)) if sane.size else -np.inf,
            "worst plan": float(sane.min(initial=np.inf)),
        }
        return {words: round(value, 4) for words, value in told.items() if np.isfinite(value)}

    def foresee(self, state: Array, trace: str, count: int) -> PredictedCourse:
        """Predict the courses of the plan, of the previous step's plan and of the worst plan tried.

        Args:
            state: The state that :meth:`act` got.
            trace: Name of the point to follow: see :meth:`Simulation.traced`.
            count: Number of steps to record; 0 for none.
        """
        if not count:
            return PredictedCourse([], {})
        plans = {"plan": self._plan, "plan before": self._before}
        if self._worst is not None:
            plans["worst plan"] = self._worst[1]
        course = self._simulation.course(state, np.stack(list(plans.values())), trace, count)
        earned = {
            name: short(each)
            for name, each in zip(plans, course.earned, strict=True)
            if np.isfinite(each).all()
        }
        done = self._plan[np.minimum(course.steps, len(self._plan) - 1)][:, :MOST_CONTROLS]
        told = {"steps": course.steps, "earned": earned, "controls": [short(each, 3) for each in done.T]}
        worth = zip(plans, course.beyond, strict=True)
        beyond = {name: float(more) for name, more in worth if more and name in earned}
        told |= {"beyond": beyond} if beyond else {}
        return PredictedCourse(course.points, told)

    def _search(self, state: Array, rng: np.random.Generator, until: float) -> None:
        """Improve the plan within the budget."""
        settings = self.settings
        spread = np.tile(settings.noise * self._half, (self._weights.shape[1], 1))
        if settings.budget_ms:
            spread = self._improve(state, rng, settings.rounds[0], spread)
            while self._clock() < until:
                spread = self._improve(state, rng, settings.rounds[0], spread)
        else:
            for plans in settings.rounds:
                spread = self._improve(state, rng, plans, spread)

    def _shift(self, steps: int) -> None:
        """Warm start: drop the plan's first ``steps`` controls and repeat its last one at the end."""
        if steps > 0:
            self._done = np.concatenate((self._done, self._plan[:steps]))[-2 * len(self._plan) :]
            at = np.minimum(np.arange(len(self._plan)) + steps, len(self._plan) - 1)
            self._plan = self._plan[at]

    def _playable(self, plans: Array) -> Array:
        """Clip plans to the bounds and round them to the precision of the environment."""
        clipped = np.minimum(np.maximum(plans, self._simulation.low), self._simulation.high)
        return clipped.astype(np.float32).astype(np.float64)

    def _note_worst(self, tried: Array, earned: Array) -> None:
        worst = int(np.argmin(np.where(np.isfinite(earned), earned, np.inf)))
        if self._worst is None or earned[worst] < self._worst[0]:
            self._worst = float(earned[worst]), tried[worst].copy()

    def _parts(self, rng: np.random.Generator, plans: int) -> Array:
        """Return the weight of each knot's change in each plan, (plans, knots, 1).

        Each plan changes only one stretch, from slightly in some plans to strongly in others: a balancing
        body falls if its whole plan is changed at once.
        """
        knots = self._weights.shape[1]
        ends, at = np.sort(rng.integers(0, knots, (plans, 2)), axis=1), np.arange(knots, dtype=np.int64)
        stretch: Flags = (ends[:, :1] <= at) & (at <= ends[:, 1:])
        return (np.geomspace(*_SCALES, plans)[:, None] * stretch)[..., None]

    def _again(self, rng: np.random.Generator, plans: int) -> Array:
        """Return the plans to which the changes are added, (plans, horizon, nu).

        Most are the current plan. Every eighth repeats, from some step on, controls of some time before,
        because walking repeats the same movements.
        """
        around, all_of_it = np.tile(self._plan, (plans, 1, 1)), np.concatenate((self._done, self._plan))
        horizon, past = len(self._plan), len(self._done)
        for i in range(_EVERY - 1, plans, _EVERY):
            begin, back = rng.integers(0, horizon), rng.integers(1, horizon + 1)
            steps = np.arange(begin, horizon)
            steps = steps[steps + past >= back]
            around[i, steps] = all_of_it[steps + past - back]
        return around

    def _improve(self, state: Array, rng: np.random.Generator, plans: int, spread: Array) -> Array:
        """Run one round of sampling and return the spread for the next."""
        settings = self.settings
        changes = spread * rng.standard_normal((plans, *spread.shape))
        if settings.planner == "predictive_sampling":
            changes *= self._parts(rng, plans)
        changes[0] = 0.0  # the unchanged plan is one of them
        around = self._again(rng, plans) if settings.planner == "predictive_sampling" else self._plan
        tried = self._playable(around + np.einsum("tk,nku->ntu", self._weights, changes))
        earned = self._simulation.returns(state, tried)
        self._earned.append(earned)
        self._note_worst(tried, earned)
        if settings.planner == "cem":
            count = min(max(2, round(settings.elites * plans)), int(np.isfinite(earned).sum()))
            best = np.argsort(-earned, kind="stable")[:count]
            self._plan = self._playable(tried[best].mean(0))
            spread = np.maximum(changes[best].std(0), 0.05 * settings.noise * self._half)
        elif settings.planner == "mppi":
            sane = np.isfinite(earned)
            width = settings.temperature * max(float(earned[sane].std()), 1e-9)
            share = np.where(sane, np.exp((np.where(sane, earned, 0.0) - earned.max()) / width), 0.0)
            self._plan = self._playable(np.einsum("n,ntu->tu", share / share.sum(), tried))
        else:
            self._plan = tried[int(np.argmax(earned))]
        self.value = float(earned.max())
        return spread
