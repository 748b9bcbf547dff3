"""Plans by sampling: splines of controls, tried in copies of the simulator.

Predictive sampling is Howell et al., Predictive Sampling (arXiv 2212.00541); CEM as in Pinneri et al.
(arXiv 2008.06389) without coloured noise; MPPI is Williams et al. (arXiv 1509.01149).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.interpolate import make_interp_spline

from mujoco_mpc_worker.rewards import Array
from mujoco_mpc_worker.simulation import Simulation

Spline = Literal["zero", "linear", "cubic"]


@dataclass(frozen=True)
class Settings:
    """How plans are made; the names are those of the worker's settings."""

    planner: str = "predictive_sampling"
    horizon: int = 40
    rollouts: int = 64
    iterations: int = 2
    budget_ms: float = 0.0
    knots: int = 8
    spline: Spline = "linear"
    noise: float = 0.5
    elites: float = 0.125
    temperature: float = 0.1


def weights(spline: Spline, knots: int, steps: int) -> Array:
    """What each knot adds to each step of a plan, (steps, knots); rows add up to 1.

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
    """

    def __init__(
        self,
        simulation: Simulation,
        settings: Settings,
        seed: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._simulation, self._settings, self._seed, self._clock = simulation, settings, seed, clock
        knots = min(settings.knots, settings.horizon)
        self._weights = weights(settings.spline, knots, settings.horizon)
        self._inverse: Array = np.asarray(np.linalg.pinv(self._weights), np.float64)
        self._middle = (simulation.low + simulation.high) / 2
        self._half = (simulation.high - simulation.low) / 2
        self._knots: Array = np.tile(self._middle, (knots, 1))
        self._at = 0
        self.value = 0.0
        """What the plan earns."""

    def act(self, step: int, state: Array) -> Array:
        """The plan's first action, (nu,).

        Args:
            step: Of the environment.
            state: ``mjSTATE_INTEGRATION``.

        Raises:
            PolicyFailed: No plan can be simulated from here.
        """
        settings = self._settings
        self._shift(step - self._at)
        self._at = step
        rng = np.random.default_rng((self._seed, step))
        until = self._clock() + settings.budget_ms / 1000
        each = max(2, settings.rollouts // settings.iterations)
        spread = np.full_like(self._knots, settings.noise) * self._half
        done = 0
        while done < settings.iterations if not settings.budget_ms else not done or self._clock() < until:
            spread = self._improve(state, rng, each, spread)
            done += 1
        return self._actions(self._knots[None])[0, 0]

    def _shift(self, steps: int) -> None:
        """Warm start: the plan as it is seen from ``steps`` later on; its last control goes on."""
        if steps <= 0:
            return
        plan = self._weights @ self._knots
        moved = np.concatenate((plan[steps:], np.repeat(plan[-1:], min(steps, len(plan)), axis=0)))
        self._knots = self._inverse @ moved[: len(plan)]

    def _actions(self, knots: Array) -> Array:
        """(plans, knots, nu) -> (plans, horizon, nu), within bounds, as the environment gets them."""
        plans = np.einsum("tk,nku->ntu", self._weights, knots)
        clipped = np.clip(plans, self._simulation.low, self._simulation.high)
        return clipped.astype(np.float32).astype(np.float64)

    def _improve(self, state: Array, rng: np.random.Generator, plans: int, spread: Array) -> Array:
        """One round; returns the spread of the next."""
        noise = rng.standard_normal((plans, *self._knots.shape))
        noise[0] = 0.0  # the plan itself is among them
        tried = np.clip(self._knots + spread * noise, self._simulation.low, self._simulation.high)
        tried[0] = self._knots
        earned = self._simulation.returns(state, self._actions(tried))
        settings = self._settings
        if settings.planner == "cem":
            best = tried[np.argsort(-earned, kind="stable")[: max(2, round(settings.elites * plans))]]
            self._knots, spread = best.mean(0), np.maximum(best.std(0), 0.05 * settings.noise * self._half)
        elif settings.planner == "mppi":
            sane = np.isfinite(earned)
            width = settings.temperature * max(float(earned[sane].std()), 1e-9)
            share = np.where(sane, np.exp((np.where(sane, earned, 0.0) - earned.max()) / width), 0.0)
            self._knots = np.einsum("n,nku->ku", share / share.sum(), tried)
        else:
            self._knots = tried[int(np.argmax(earned))]
        self.value = float(earned.max())
        return spread
