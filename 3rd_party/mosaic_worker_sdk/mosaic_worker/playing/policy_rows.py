"""Inputs of a policy for N decisions: rows of one batch, or rows of several slots joined."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Inputs of a policy for N decisions.

    Attributes:
        observations: Stacked observations: an array or a dict of arrays.
        masks: bool (N, actions), or ``None`` if every action is legal.
        seeds: Policy seeds, uint64 (N,).
        steps: Environment steps (N,).
        memory: float32 (N, memory) for policies with memory; else ``None``.
    """

    observations: Any
    masks: Optional[NDArray[np.bool_]]
    seeds: NDArray[np.uint64]
    steps: NDArray[np.int64]
    memory: Optional[NDArray[np.float32]]

    def only(self, rows: NDArray[np.intp]) -> Rows:
        """Return the rows with the given numbers."""
        return Rows(
            _only(self.observations, rows),
            None if self.masks is None else self.masks[rows],
            self.seeds[rows],
            self.steps[rows],
            None if self.memory is None else self.memory[rows],
        )

    @property
    def kind(self) -> Tuple[Any, ...]:
        """Properties that joined rows must share, so that each row gives the same result as alone."""
        return self.masks is None, *_dtypes(self.observations)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Join rows end to end; all must have the same :attr:`kind`."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        return cls(
            _end_to_end([part.observations for part in parts]),
            None if first.masks is None else _end_to_end([part.masks for part in parts]),
            _end_to_end([part.seeds for part in parts]),
            _end_to_end([part.steps for part in parts]),
            None if first.memory is None else _end_to_end([part.memory for part in parts]),
        )


def _only(observations: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(observations, dict):
        return {key: _only(part, rows) for key, part in cast("Dict[str, Any]", observations).items()}
    return observations[rows]


def _dtypes(observations: Any) -> List[Any]:
    if isinstance(observations, dict):
        return [each for part in cast("Dict[str, Any]", observations).values() for each in _dtypes(part)]
    return [np.asarray(observations).dtype]


def _end_to_end(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], dict):
        return {key: _end_to_end([part[key] for part in parts]) for key in cast("Dict[str, Any]", parts[0])}
    return np.concatenate(parts)
