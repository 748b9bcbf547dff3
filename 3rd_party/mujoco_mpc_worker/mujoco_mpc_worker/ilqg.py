"""Plans by iLQG, which repeatedly solves the linear-quadratic problem around a plan.

Tassa, Erez and Todorov (IROS 2012, doi 10.1109/IROS.2012.6386025), with the control limits of Tassa, Mansard
and Todorov (ICRA 2014, doi 10.1109/ICRA.2014.6907001). Derivatives of simulator and reward are finite
differences, computed for all steps at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgesv

from mosaic_worker.worker import LoadError, PolicyFailed
from mujoco_mpc_worker.planners import Planner, Settings
from mujoco_mpc_worker.rewards import Array, Flags
from mujoco_mpc_worker.simulation import Simulation

_STATE_STEP = 1e-5
_REWARD_STEP = 1e-4
_SHARES = 0.5 ** np.arange(7.0)
"""Shares of a change that the line search tries in parallel."""
_AT_ONCE = 16 * 2**20
"""Largest size of the reward's inputs in memory for second derivatives, in bytes."""
_STRIDE = 6
"""Number of steps that the line search simulates at once; between them, the linear model predicts the
feedback.
"""
_REGULAR = (1e-6, 1e-3, 1e8)
"""Smallest, initial and largest regularization."""


class Quadratic(NamedTuple):
    """The linear-quadratic problem around a plan, for each of its steps.

    A change vector holds changes of the controls, then of the state, then the constant 1.

    Attributes:
        moves: Matrices from a change to the next state's change and the constant 1, (steps, n + 1, nu + n +
            1).
        costs: Quadratic forms of the steps' costs, (steps, nu + n + 1, nu + n + 1), positive semidefinite
            except for the constant 1.
    """

    moves: Array
    costs: Array


class ILQG(Planner):
    """Planner of one episode that improves its plan by iLQG.

    The derivatives of one round cost one rollout for each number in state and control, plus one. Its line
    search costs seven. ``rollouts`` or ``budget_ms`` limits the number of rounds.

    Raises:
        LoadError: ``rollouts`` is too small for one round.
    """

    def _set_up(self, simulation: Simulation, settings: Settings) -> None:
        self._regular = _REGULAR[1]
        self._derivative_cost = simulation.tangents.count + len(simulation.low) + 1
        super()._set_up(simulation, settings)

    def _check_budget(self) -> None:
        """Check that the budget is large enough for one round of a few plans."""
        settings = self.settings
        least = 1 + self._derivative_cost + len(_SHARES)
        if not settings.budget_ms and settings.rollouts < least:
            raise LoadError(
                f"one round of ilqg needs {least} rollouts for this model: set rollouts to {least} or more, "
                "or plan with cem"
            )

    def _search(self, state: Array, rng: np.random.Generator, until: float) -> None:
        left = self.settings.rollouts - 1
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
        if self.settings.budget_ms:
            return self._clock() < until
        return left >= len(_SHARES) + (self._derivative_cost if derives else 0)

    def _nominal(self, start: Array) -> Array:
        """Return the plan's states, (horizon + 1, size); a diverging plan is replaced by one at rest."""
        for _ in range(2):
            states, value = self._simulation.follow(start, self._plan)
            if np.isfinite(value):
                self.value = value
                return states
            self._plan = self._at_rest()
        raise PolicyFailed(
            "the rollout at rest diverged, or its return is not a number: from this state on the simulation "
            "breaks, or the task file's targets and weights are far out of range"
        )

    def _derive(self, states: Array) -> Quadratic:
        """Return the linear-quadratic problem around a trajectory."""
        simulation, plan = self._simulation, self._plan
        horizon, nu = plan.shape
        n = simulation.tangents.count
        moved, actions, sizes = simulation.tangents.nudged(states[:-1], plan, _STATE_STEP)
        after = simulation.step(moved, actions)
        shape = (horizon, n + nu + 1)
        ends, inputs = after.states.reshape(*shape, -1), after.inputs.reshape(*shape, -1)
        base = np.repeat(ends[:, :1], n + nu, axis=1).reshape(horizon * (n + nu), -1)
        difference = simulation.tangents.difference(base, ends[:, 1:].reshape(len(base), -1))
        jacobian = difference.reshape(horizon, n + nu, n) / sizes[..., None]
        slopes = (inputs[:, 1:] - inputs[:, :1]) / sizes[..., None]
        lives = np.concatenate(([True], ~np.logical_or.accumulate(after.ends.reshape(shape)[:-1, 0])))
        moves = np.zeros((horizon, n + 1, nu + n + 1))
        moves[:, :n, :-1] = _controls_first(_finite(jacobian), nu).swapaxes(1, 2)
        moves[:, n, -1] = 1.0
        return Quadratic(moves, self._costs(inputs[:, 0], _controls_first(_finite(slopes), nu), lives))

    def _costs(self, inputs: Array, slopes: Array, lives: Flags) -> Array:
        """Return the costs of steps, as in :class:`Quadratic`.

        Args:
            inputs: Inputs of the reward, (steps, inputs).
            slopes: Derivatives of the inputs by each number of a change, (steps, nu + n, inputs).
            lives: Whether the step is before the episode's end, (steps,).
        """
        here, ahead, behind = self._paid_around(inputs, np.eye(inputs.shape[1]))
        gradient = _finite((behind - ahead) / (2 * _REWARD_STEP))
        matter = np.flatnonzero(self._simulation.matters(inputs[0]) | gradient.any(0))
        first, second = (matter[each] for each in np.triu_indices(len(matter)))
        eye = np.eye(inputs.shape[1])
        pairs = self._rewards(inputs, eye[first] + eye[second])
        curved = -(pairs - ahead[:, first] - ahead[:, second] + here) / _REWARD_STEP**2
        hessian = np.zeros((len(inputs), len(matter), len(matter)))
        upper = np.triu_indices(len(matter))
        hessian[:, upper[0], upper[1]] = hessian[:, upper[1], upper[0]] = _finite(curved)
        values, vectors = np.linalg.eigh(hessian)
        convex = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.swapaxes(1, 2)
        some = slopes[..., matter]
        costs = np.zeros((len(inputs), slopes.shape[1] + 1, slopes.shape[1] + 1))
        costs[:, :-1, :-1] = some @ convex @ some.swapaxes(1, 2)
        costs[:, :-1, -1] = costs[:, -1, :-1] = (slopes @ gradient[..., None])[..., 0]
        return costs * lives[:, None, None]

    def _paid_around(self, inputs: Array, directions: Array) -> tuple[Array, Array, Array]:
        """Return rewards at the inputs, (steps, 1), and slightly ahead and behind, (steps, directions)."""
        zero = np.zeros((1, inputs.shape[1]))
        paid = self._rewards(inputs, np.concatenate((zero, directions, -directions)))
        here, ahead, behind = np.split(paid, (1, 1 + len(directions)), axis=1)
        return here, ahead, behind

    def _rewards(self, inputs: Array, directions: Array) -> Array:
        """Return rewards of steps whose inputs are moved slightly in each direction, (steps, directions)."""
        if not len(directions):  # no input matters, or none has a slope
            return np.zeros((len(inputs), 0))
        steps = max(1, _AT_ONCE // (8 * directions.size))
        parts = [inputs[i : i + steps, None] for i in range(0, len(inputs), steps)]
        changes = _REWARD_STEP * directions
        return np.concatenate([self._simulation.rewards(part + changes) for part in parts])

    def _better(self, start: Array, states: Array, around: Quadratic) -> tuple[Array, float, Array] | None:
        """Return the line search's best plan, reward and states; ``None`` without improvement."""
        simulation, plan, laws = self._simulation, self._plan, self._backward(around)
        nu, turned = plan.shape[1], around.moves[:, :-1].swapaxes(1, 2)
        pushes, gains = _SHARES[:, None] * laws[:, None, :, -1], laws[..., :-1].swapaxes(1, 2)
        by_control, by_state = turned[:, :nu], turned[:, nu:-1]

        def controls(step: int, now: Array, count: int) -> Array:
            off = simulation.tangents.difference(np.repeat(states[step][None], len(now), axis=0), now)
            done = np.empty((len(now), count, nu))
            for i, t in enumerate(range(step, step + count)):
                done[:, i] = played = self._playable(plan[t] + (pushes[t] + off @ gains[t]))
                off = (played - plan[t]) @ by_control[t] + off @ by_state[t]
            return done

        tried, paths, earned = simulation.closed_loop(start, controls, len(_SHARES), len(plan), _STRIDE)
        best = int(np.argmax(earned))
        if not earned[best] > self.value:
            return None
        return tried[best], float(earned[best]), paths[best]

    def _backward(self, around: Quadratic) -> Array:
        """Run Riccati's recursion and return the feedback laws, (steps, nu, n + 1).

        A law maps the state's change to the controls' changes; its last column holds the constant part.
        """
        nu = self._plan.shape[1]
        low, high = self._simulation.low - self._plan, self._simulation.high - self._plan
        laws = np.zeros((len(self._plan), nu, around.moves.shape[1]))
        value = np.zeros((around.moves.shape[1], around.moves.shape[1]))
        more = self._regular * np.eye(nu)
        for t in reversed(range(len(laws))):
            move = around.moves[t]
            q = around.costs[t] + move.T @ value @ move
            quu, qux = q[:nu, :nu], q[:nu, nu:]
            law = laws[t] = _law(quu + more, qux, low[t], high[t])
            mixed = qux.T @ law
            value = q[nu:, nu:] + law.T @ quu @ law + mixed + mixed.T
        return _finite(laws)


def _law(hessian: Array, mixed: Array, low: Array, high: Array) -> Array:
    """Return the law for the controls that minimize a quadratic form within bounds.

    It maps the state's change to the controls' changes; its last column holds the constant part.
    """
    law = -_solved(hessian, mixed)
    least = law[:, -1]
    if (low <= least).all() and (least <= high).all():
        return law
    law[:, -1], free = bounded_step(hessian, mixed[:, -1], low, high)
    law[~free, :-1] = 0.0
    at = free.nonzero()[0]
    if 0 < len(at) < len(free):
        law[at, :-1] = -_solved(hessian[at[:, None], at], mixed[at, :-1])
    return law


def bounded_step(hessian: Array, gradient: Array, low: Array, high: Array) -> tuple[Array, Flags]:
    """Minimize a quadratic form within bounds by projected Newton steps.

    Returns:
        The minimizer, and which of its numbers are at no bound.
    """
    x = -_solved(hessian, gradient)
    free: Flags = np.ones(len(gradient), np.bool_)
    if (x >= low).all() and (x <= high).all():
        return x, free
    x = np.minimum(np.maximum(x, low), high)
    for _ in range(20):
        slope = gradient + hessian @ x
        free = ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))
        at = free.nonzero()[0]
        if not len(at) or np.abs(slope[at]).max() < 1e-9:
            break
        x[at] -= _solved(hessian[at[:, None], at], slope[at])
        x = np.minimum(np.maximum(x, low), high)
    return x, free


def _controls_first(x: Array, nu: int) -> Array:
    """Rotate the second axis of (steps, n + nu, …), so that the controls move from its end to its
    beginning.
    """
    return np.roll(x, nu, axis=1)


def _solved(a: Array, b: Array) -> Array:
    """Solve a linear system; return NaN if ``a`` is singular, which a larger regularization corrects.

    This calls LAPACK directly, because ``np.linalg.solve`` with its checks takes four times as long for such
    small systems.
    """
    _, _, x, singular = dgesv(a, b)
    return np.full(b.shape, np.nan) if singular else x


def _finite(x: Array) -> Array:
    """Replace NaN and infinite differences by zero."""
    return np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
