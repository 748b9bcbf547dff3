"""Whether a checkpoint may take a slot, for workers that play checkpoints: the same words from each."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.spaces import words_of
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
        ours, theirs = (words_of(space, bounds=what == "actions") for space in (trained, given))
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
