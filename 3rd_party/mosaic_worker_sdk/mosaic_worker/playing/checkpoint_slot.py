"""Checks whether a checkpoint fits a slot, with the same messages from all workers that play checkpoints."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.spaces import words_of
from mosaic_worker.worker import Batch, LoadError, Slot


def check_settings(worker: str, settings: Iterable[str], known: Sequence[str]) -> None:
    """Check that the worker knows all settings of a slot.

    Raises:
        LoadError: A setting is unknown; the message suggests the most similar known setting.
    """
    for key in settings:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            fix = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}"
            raise LoadError(f"{worker} knows no setting {key!r}. {fix}")


def check_fit(slot: Slot, described: PolicyDescription) -> None:
    """Check that a policy has the algorithm that its slot requires, and that their spaces agree.

    Bounds and dtype of observations need not agree. Bounds of real-valued actions must agree, because
    the policy scales its actions to them.

    Args:
        slot: The slot.
        described: Description of the policy, or of the part of a joint policy that plays the slot.

    Raises:
        LoadError: The algorithm or a space differs; the message says which one and how to fix it.
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
    """Return the reason why a policy could not make the ``i``-th decision of a batch."""
    if batch.action_masks is not None and not batch.action_masks[i].any():
        return "no action is legal"
    if any(not np.isfinite(rows[i]).all() for rows in _arrays(batch.observations)):
        return "the observation holds a value that is no finite number"
    return "the policy's output is no finite number for this observation"


def _arrays(observations: Any) -> List[NDArray[Any]]:
    if isinstance(observations, dict):
        return [array for part in observations.values() for array in _arrays(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [np.asarray(observations)]
