"""Whether a checkpoint may take a slot, for workers that play checkpoints: the same words from each."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, LoadError, Slot


def check_settings(worker: str, settings: Iterable[str], known: Sequence[str]) -> None:
    """See that a slot was given no setting that the worker does not know.

    Raises:
        LoadError: It was; names the nearest that is known.
    """
    for key in settings:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            fix = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}"
            raise LoadError(f"{worker} knows no setting {key!r}. {fix}")


def check_fit(slot: Slot, described: PolicyDescription) -> None:
    """See that a policy is what its slot asks for, and that their spaces agree.

    Bounds of observations and their dtype need not agree; those of real-valued actions must, into
    which the policy scales what it does.

    Args:
        slot: The slot.
        described: What plays there, of a joint policy its part.

    Raises:
        LoadError: It is of another algorithm, or of other spaces; says which and the fix.
    """
    algorithm = slot.settings.get("algorithm")
    if algorithm and str(algorithm).lower() != described.algorithm:
        raise LoadError(
            f"the checkpoint was trained with {described.algorithm}, not {algorithm}. "
            f"Set algorithm to {described.algorithm!r}, or leave it out"
        )
    for what, trained, given in (
        ("observations", described.shown_space, slot.observation_space),
        ("actions", described.action_space, slot.action_space),
    ):
        ours, theirs = (_shown(space, bounds=what == "actions") for space in (trained, given))
        if ours != theirs:
            raise LoadError(
                f"the checkpoint was trained in {described.env_id} for {what} of {ours}, but slot "
                f"{slot.agent_id} of {slot.env_id} has {theirs}. Choose a checkpoint of {slot.env_id}"
            )


def why_undecided(batch: Batch, i: int) -> str:
    """Why a policy could not decide the ``i``-th decision of a batch."""
    if batch.action_masks is not None and not batch.action_masks[i].any():
        return "no action is legal"
    if any(not np.isfinite(rows[i]).all() for rows in _arrays(batch.observations)):
        return "the observation holds a value that is no finite number"
    return "the policy's output is no finite number for this observation"


def _arrays(observations: Any) -> List[NDArray[Any]]:
    if isinstance(observations, dict):
        return [array for part in observations.values() for array in _arrays(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [np.asarray(observations)]


def _shown(space: Space, bounds: bool) -> str:
    """What must agree between checkpoint and slot, in words."""
    if space.kind == "Discrete":
        return f"Discrete({space.n}{f', start={space.start}' if space.start else ''})"
    if space.kind == "MultiDiscrete" and space.nvec is not None:
        starts = np.zeros(0) if space.starts is None else space.starts
        begin = f", start={starts.tolist()}" if starts.any() else ""
        return f"MultiDiscrete({space.nvec.tolist()}{begin})"
    if space.kind == "Box":
        return f"Box{space.shape}" + (f" from {_bound(space.low)} to {_bound(space.high)}" if bounds else "")
    if space.kind == "MultiBinary":
        return f"MultiBinary{space.shape}"
    if space.kind in ("Dict", "Tuple"):
        parts = (f"{key}: {_shown(part, bounds)}" for key, part in space.spaces.items())
        return f"{space.kind}({', '.join(parts)})"
    return f"kind {space.kind}"


def _bound(values: Any) -> Any:
    array = np.asarray(values, np.float32)
    return array.flat[0].item() if array.size and (array == array.flat[0]).all() else array.tolist()
