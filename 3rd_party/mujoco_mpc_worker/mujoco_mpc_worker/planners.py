"""Plans by sampling: a plan is changed by splines of controls, tried in copies of the simulator.

The plan itself has a control for each step: it is handed on to the next step as it is, and no fit of a spline
wears it down.

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
"""How far plans look ahead where nothing is said: so many seconds, in so many steps at least and at most."""
_EVERY = 8
"""Of so many plans one repeats what was done."""
_SCALES = (0.04, 2.0)
"""Predictive sampling's smallest and largest changes, in shares of ``noise``."""
_ROUND = 512 * 2**20
"""Bytes that the plans of a round may take."""
_COPIES = 6
"""Of a plan while it is made: what it changes, what that is added to, and so on."""
MOST_CONTROLS = 8
"""Of a plan, that are told."""


class Foreseen(NamedTuple):
    """Where a plan leads.

    Attributes:
        points: In the world, in metres.
        planned: What is recorded of its course: ``steps`` ahead, what it and others have ``earned`` by
            then and are worth ``beyond`` their end, its ``controls``; empty where the caller wants no steps.
    """

    points: list[list[float]]
    planned: dict[str, Any]


def short(numbers: Array, figures: int = 4) -> list[float]:
    """With a few figures: they are drawn, and stand in the row of each decision."""
    return [float(f"{x:.{figures}g}") for x in numbers]


@dataclass(frozen=True)
class Settings:
    """How plans are made; the names are those of the worker's settings."""

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
        """Plans of each round, together ``rollouts``; a round has two at least."""
        rounds = max(1, min(self.iterations, self.rollouts // 2))
        return tuple(self.rollouts // rounds + (i < self.rollouts % rounds) for i in range(rounds))

    def over(self, seconds: float) -> Settings:
        """With a horizon, for an environment whose step takes so long."""
        return replace(self, horizon=self.horizon or int(np.clip(round(_AHEAD_S / seconds), *_AHEAD)))


def weights(spline: Spline, knots: int, steps: int) -> Array:
    """What each knot of a change adds to each step of a plan, (steps, knots); rows add up to 1.

    Knots lie evenly over the plan; those of ``zero`` hold until the next.
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
    """The plan of one episode, made better at each step from where the one before has led.

    Args:
        simulation: Copies of the simulator.
        settings: How.
        seed: Of the episode; with the step it is where all noise comes from.
        clock: Seconds, for a budget in time.

    Raises:
        LoadError: The settings ask for more than can be held in memory, or for less than a round needs.
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
        """What the best plan found earns."""
        self._before: Array = self._plan
        self._worst: tuple[float, Array] | None = None
        self._earned: list[Array] = []
        """What the plans of each round of this step earn; the first of a round is the plan as it was."""

    def _set_up(self, simulation: Simulation, settings: Settings) -> None:
        self._weights = weights(settings.spline, min(settings.knots, settings.horizon), settings.horizon)
        self._half = (simulation.high - simulation.low) / 2
        self._check_budget()

    def _check_budget(self) -> None:
        """A round's plans are made together: refuse those that memory does not hold.

        What becomes of them is simulated in portions: see :meth:`Simulation.returns`.
        """
        settings, controls = self.settings, len(self._half)
        most = max(2, _ROUND // (8 * _COPIES * settings.horizon * controls))
        plans, rounds = settings.rounds[0], len(settings.rounds)
        if plans > most:
            raise LoadError(
                f"a round of {plans} plans of {settings.horizon} steps of {controls} controls takes more "
                f"than the {_ROUND >> 20} MB it may: set rollouts to {most * rounds} or less, iterations to "
                f"{-(-settings.rollouts // most)} or more, or a shorter horizon"
            )

    def _at_rest(self) -> Array:
        """A plan of controls in the middle of what they can be."""
        middle = (self._simulation.low + self._simulation.high) / 2
        return self._playable(np.tile(middle, (self.settings.horizon, 1)))

    def act(self, step: int, state: Array) -> Array:
        """The plan's first action, (nu,).

        Args:
            step: Of the environment.
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
        """What plans of the last step earn, in words; empty where none were tried beside each other."""
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

    def foresee(self, state: Array, trace: str, count: int) -> Foreseen:
        """Where the plan leads from a state on, beside that of the step before and the worst that was tried.

        Args:
            state: As :meth:`act` was given it.
            trace: What is followed: see :meth:`Simulation.traced`.
            count: Of steps that are told; 0: nothing is.
        """
        if not count:
            return Foreseen([], {})
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
        return Foreseen(course.points, told)

    def _search(self, state: Array, rng: np.random.Generator, until: float) -> None:
        """Make the plan better, as long as the budget lasts."""
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
        """Warm start: the plan as it is seen from ``steps`` later on; its last control goes on."""
        if steps > 0:
            self._done = np.concatenate((self._done, self._plan[:steps]))[-2 * len(self._plan) :]
            at = np.minimum(np.arange(len(self._plan)) + steps, len(self._plan) - 1)
            self._plan = self._plan[at]

    def _playable(self, plans: Array) -> Array:
        """Within bounds, as the environment gets them."""
        clipped = np.minimum(np.maximum(plans, self._simulation.low), self._simulation.high)
        return clipped.astype(np.float32).astype(np.float64)

    def _note_worst(self, tried: Array, earned: Array) -> None:
        worst = int(np.argmin(np.where(np.isfinite(earned), earned, np.inf)))
        if self._worst is None or earned[worst] < self._worst[0]:
            self._worst = float(earned[worst]), tried[worst].copy()

    def _parts(self, rng: np.random.Generator, plans: int) -> Array:
        """How much of each knot's change counts in each plan, (plans, knots, 1).

        It is a stretch of the plan alone, in some plans little and in some much: what balances falls where
        all of its plan is changed at once.
        """
        knots = self._weights.shape[1]
        ends, at = np.sort(rng.integers(0, knots, (plans, 2)), axis=1), np.arange(knots, dtype=np.int64)
        stretch: Flags = (ends[:, :1] <= at) & (at <= ends[:, 1:])
        return (np.geomspace(*_SCALES, plans)[:, None] * stretch)[..., None]

    def _again(self, rng: np.random.Generator, plans: int) -> Array:
        """What the changes are added to, (plans, horizon, nu).

        It is the plan, and in every eighth, from some step on, what was done or planned some while before:
        who walks does the same again and again.
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
        """One round; returns the spread of the next."""
        settings = self.settings
        changes = spread * rng.standard_normal((plans, *spread.shape))
        if settings.planner == "predictive_sampling":
            changes *= self._parts(rng, plans)
        changes[0] = 0.0  # the plan itself is among them
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
