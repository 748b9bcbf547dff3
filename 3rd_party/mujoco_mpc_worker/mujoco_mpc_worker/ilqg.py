"""Plans by iLQG: a plan is made better by the linear-quadratic problem around it, again and again.

Tassa, Erez and Todorov (IROS 2012, doi 10.1109/IROS.2012.6386025), with the control limits of Tassa, Mansard
and Todorov (ICRA 2014, doi 10.1109/ICRA.2014.6907001). The simulator and what it pays are differentiated by
finite differences, steps of all times at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mosaic_worker.worker import LoadError, PolicyFailed
from mujoco_mpc_worker.planners import Planner, Settings
from mujoco_mpc_worker.rewards import Array, Flags
from mujoco_mpc_worker.simulation import Simulation

_STATE_STEP = 1e-5
_REWARD_STEP = 1e-4
_SHARES = 0.5 ** np.arange(7.0)
"""Of a change, tried side by side (the line search)."""
_REGULAR = (1e-6, 1e-3, 1e8)
"""Least, first and largest regularisation."""


class Quadratic(NamedTuple):
    """The problem around a plan, for each of its steps: x' = A x + B u, and what that costs."""

    a: Array
    b: Array
    gradient: Array
    """By (x, u), (steps, n + nu)."""
    hessian: Array
    """(steps, n + nu, n + nu), positive semidefinite."""


class ILQG(Planner):
    """A plan for one episode, as :class:`Planner` has it.

    Derivatives of one round cost as many rollouts as there are numbers in state and control, and one; its
    line search costs seven. There are as many rounds as ``rollouts`` or ``budget_ms`` pay for.

    Raises:
        LoadError: ``rollouts`` do not pay for one round.
    """

    def _set_up(self, simulation: Simulation, settings: Settings) -> None:
        super()._set_up(simulation, settings)
        self._regular = _REGULAR[1]
        self._derivative_cost = simulation.tangents + len(simulation.low) + 1
        least = 1 + self._derivative_cost + len(_SHARES)
        if not settings.budget_ms and settings.rollouts < least:
            raise LoadError(
                f"one round of ilqg costs {least} rollouts here: set rollouts to {least} or more, "
                "or plan with cem"
            )

    def _search(self, state: Array, rng: np.random.Generator, until: float) -> None:
        left = self._settings.rollouts - 1
        start = self._simulation.start(state)
        states = self._nominal(start)
        around: Quadratic | None = None
        first = True
        while first or self._pays(left, around is None, until):
            first = False
            if around is None:
                around = self._derive(states)
                left -= self._derivative_cost
            found = self._better(start, states, around)
            left -= len(_SHARES)
            if found is None:
                self._regular *= 10
                if self._regular > _REGULAR[2]:
                    self._regular = _REGULAR[1]
                    return
                continue
            self._regular = max(self._regular / 10, _REGULAR[0])
            self._plan, self.value, states = found
            around = None

    def _pays(self, left: int, derives: bool, until: float) -> bool:
        if self._settings.budget_ms:
            return self._clock() < until
        return left >= len(_SHARES) + (self._derivative_cost if derives else 0)

    def _nominal(self, start: Array) -> Array:
        """States along the plan, (horizon + 1, size); a plan that diverges gives way to one at rest."""
        for _ in range(2):
            states, value = self._simulation.follow(start, self._plan)
            if np.isfinite(value):
                self.value = value
                return states
            self._plan = self._at_rest()
        raise PolicyFailed("the rollout at rest diverged: from this state on the simulation breaks")

    def _derive(self, states: Array) -> Quadratic:
        """The linear-quadratic problem around a trajectory."""
        simulation, plan = self._simulation, self._plan
        horizon, nu = plan.shape
        n = simulation.tangents
        moved, actions, sizes = simulation.nudged(states[:-1], plan, _STATE_STEP)
        after = simulation.step(moved, actions)
        shape = (horizon, n + nu + 1)
        ends, inputs = after.states.reshape(*shape, -1), after.inputs.reshape(*shape, -1)
        base = np.repeat(ends[:, :1], n + nu, axis=1).reshape(horizon * (n + nu), -1)
        difference = simulation.difference(base, ends[:, 1:].reshape(len(base), -1))
        jacobian = _finite(difference.reshape(horizon, n + nu, n).swapaxes(1, 2) / sizes[:, None])
        slopes = _finite((inputs[:, 1:] - inputs[:, :1]).swapaxes(1, 2) / sizes[:, None])
        lives = np.concatenate(([True], ~np.logical_or.accumulate(after.ends.reshape(shape)[:-1, 0])))
        gradient, hessian = self._costs(inputs[:, 0])
        gradient = np.einsum("ti,tij->tj", gradient, slopes) * lives[:, None]
        hessian = np.einsum("tik,tij,tjl->tkl", slopes, hessian, slopes, optimize=True) * lives[:, None, None]
        values, vectors = np.linalg.eigh(_finite(hessian))
        convex = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.swapaxes(1, 2)
        return Quadratic(jacobian[..., :n], jacobian[..., n:], _finite(gradient), convex)

    def _costs(self, inputs: Array) -> tuple[Array, Array]:
        """First and second derivative of what steps cost, by what the reward is computed from."""
        count = inputs.shape[-1]
        first, second = np.triu_indices(count)
        eye = np.eye(count) * _REWARD_STEP
        offsets = np.concatenate((np.zeros((1, count)), eye, -eye, eye[first] + eye[second]))
        cost = -self._simulation.rewards(inputs[:, None] + offsets)
        here, ahead, behind, pairs = np.split(cost, (1, 1 + count, 1 + 2 * count), axis=1)
        gradient = (ahead - behind) / (2 * _REWARD_STEP)
        hessian = np.zeros((len(inputs), count, count))
        hessian[:, first, second] = (pairs - ahead[:, first] - ahead[:, second] + here) / _REWARD_STEP**2
        hessian[:, second, first] = hessian[:, first, second]
        return _finite(gradient), _finite(hessian)

    def _better(self, start: Array, states: Array, around: Quadratic) -> tuple[Array, float, Array] | None:
        """The best of the line search: plan, what it earns, its states; ``None`` where none earns more."""
        simulation, plan = self._simulation, self._plan
        change, feedback = self._backward(around)

        def controls(step: int, now: Array) -> Array:
            off = simulation.difference(np.repeat(states[step][None], len(now), axis=0), now)
            return self._playable(plan[step] + _SHARES[:, None] * change[step] + off @ feedback[step].T)

        tried, paths, earned = simulation.closed_loop(start, controls, len(_SHARES), len(plan))
        best = int(np.argmax(earned))
        if not earned[best] > self.value:
            return None
        return tried[best], float(earned[best]), paths[best]

    def _backward(self, around: Quadratic) -> tuple[Array, Array]:
        """Riccati's recursion: changes of the controls, (steps, nu), and feedback, (steps, nu, n)."""
        a, b, gradient, hessian = around
        n, (steps, nu) = a.shape[1], self._plan.shape
        change, feedback = np.zeros((steps, nu)), np.zeros((steps, nu, n))
        v: Any = np.zeros(n)
        vv: Array = np.zeros((n, n))
        more = self._regular * np.eye(nu)
        for t in reversed(range(steps)):
            both = np.concatenate((a[t], b[t]), axis=1)
            q: Array = gradient[t] + both.T @ v
            qq: Array = hessian[t] + both.T @ vv @ both
            quu, qux = qq[n:, n:], qq[n:, :n]
            regular = quu + more
            k, free = bounded_step(
                regular, q[n:], self._simulation.low - self._plan[t], self._simulation.high - self._plan[t]
            )
            gain: Array = np.zeros((nu, n))
            if free.all():
                gain = -_solved(regular, qux)
            elif free.any():
                gain[free] = -_solved(regular[np.ix_(free, free)], qux[free])
            change[t], feedback[t] = k, gain
            v = q[:n] + gain.T @ (quu @ k + q[n:]) + qux.T @ k
            vv = qq[:n, :n] + gain.T @ quu @ gain + gain.T @ qux + qux.T @ gain
            vv = (vv + vv.T) / 2
        return _finite(change), _finite(feedback)


def bounded_step(hessian: Array, gradient: Array, low: Array, high: Array) -> tuple[Array, Flags]:
    """The least of a quadratic within bounds, by projected Newton steps.

    Returns:
        Where it is, and which of its numbers are at no bound.
    """
    x = -_solved(hessian, gradient)
    free: Flags = np.ones(len(gradient), np.bool_)
    if (x >= low).all() and (x <= high).all():
        return x, free
    x = np.minimum(np.maximum(x, low), high)
    for _ in range(20):
        slope = gradient + hessian @ x
        free = ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() < 1e-9:
            break
        moved = x.copy()
        moved[free] -= _solved(hessian[np.ix_(free, free)], slope[free])
        x = np.minimum(np.maximum(moved, low), high)
    return x, free


def _solved(a: Array, b: Array) -> Array:
    return np.asarray(np.linalg.solve(a, b), np.float64)


def _finite(x: Array) -> Array:
    """With zero where a difference is no number: there the problem says nothing."""
    return np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
