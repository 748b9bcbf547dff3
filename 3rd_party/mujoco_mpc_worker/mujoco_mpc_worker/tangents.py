"""Small changes of states and controls, which have fewer numbers than states if bodies rotate freely."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from mujoco_mpc_worker.rewards import Array


class Tangents:
    """Makes and measures small changes of states.

    Args:
        model: MuJoCo model.
        high: Upper bounds of the controls, (nu,).
    """

    def __init__(self, model: Any, high: Array) -> None:
        self._model, self._high = model, high

    @property
    def count(self) -> int:
        """Length of a small change of the state: positions, speeds, activations."""
        return 2 * int(self._model.nv) + int(self._model.na)

    def nudged(self, states: Array, actions: Array, size: float) -> tuple[Array, Array, Array]:
        """Return states and controls, each followed by copies that differ by ``size`` in one number.

        Args:
            states: (steps, size).
            actions: (steps, nu).
            size: Size of the change of one number.

        Returns:
            States and controls, (steps * (1 + tangents + nu), …), and the changes, (steps, tangents + nu). A
            change is negative if the control is at its upper bound, above which nothing changes.
        """
        n, nu, (nq, nv) = self.count, actions.shape[1], (int(self._model.nq), int(self._model.nv))
        sizes = np.full((len(states), n + nu), size)
        sizes[:, n:] = np.where(actions + size > self._high, -size, size)
        moved = np.repeat(states[:, None], 1 + n + nu, axis=1)
        done = np.repeat(actions[:, None], 1 + n + nu, axis=1)
        for i in range(nv):
            if nq == nv:
                moved[:, 1 + i, 1 + i] += size
            else:
                direction = np.eye(1, nv, i)[0]
                for each in moved[:, 1 + i, 1 : 1 + nq]:
                    place = np.array(each)
                    mujoco.mj_integratePos(self._model, place, direction, size)
                    each[:] = place
        for i in range(nv, n):
            moved[:, 1 + i, 1 + nq + i - nv] += size
        for i in range(nu):
            done[:, 1 + n + i, i] += sizes[:, n + i]
        return moved.reshape(-1, states.shape[1]), done.reshape(-1, nu), sizes

    def difference(self, first: Array, second: Array) -> Array:
        """Return the differences between states as small changes, (steps, tangents)."""
        nq, nv, n = int(self._model.nq), int(self._model.nv), self.count
        change = np.empty((len(first), n))
        change[:, nv:] = (second - first)[:, 1 + nq : 1 + nq + n - nv]
        if nq == nv:
            change[:, :nv] = (second - first)[:, 1 : 1 + nq]
            return change
        for to, a, b in zip(change, first, second, strict=True):
            speed = np.empty(nv)
            mujoco.mj_differentiatePos(self._model, speed, 1.0, a[1 : 1 + nq].copy(), b[1 : 1 + nq].copy())
            to[:nv] = speed
        return change
