"""Saves and restores the state of a training besides its policy.

See :mod:`mosaic_worker.learning.training_state`.

The policy itself, with target networks, is in ``model.safetensors``. The state of the library's environments
cannot be stored in general, so a resumed training begins new episodes, seeded from the seed and the step. The
result is as good as that of an uninterrupted training, but not bit-identical.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from mosaic_worker.learning.training_state import State, fitting

LARGEST_REPLAY = 64 << 20
"""Largest size of stored steps, in bytes, that is saved; a larger buffer is filled again."""

_REPLAY = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


def state_of(model: Any, normalizer: Any) -> State:
    """Return the state to save.

    Args:
        model: The library's algorithm object.
        normalizer: Its ``VecNormalize``, or ``None``.
    """
    state = State()
    tensors, values = state.tensors, state.values
    values |= {"updates": int(model._n_updates), "optimizers": {}}
    for name, found in model.get_parameters().items():
        if name != "policy":
            values["optimizers"][name] = state.pack_optimizer(name, found)
    if getattr(model, "log_ent_coef", None) is not None:
        tensors["log_ent_coef"] = model.log_ent_coef
    if normalizer is not None:
        for which in ("obs_rms", "ret_rms"):
            statistics = getattr(normalizer, which, None)
            if statistics is not None:
                tensors[f"{which}.mean"] = torch.as_tensor(np.asarray(statistics.mean))
                tensors[f"{which}.var"] = torch.as_tensor(np.asarray(statistics.var))
                values[f"{which}.count"] = float(statistics.count)
    _pack_replay(getattr(model, "replay_buffer", None), tensors, values)
    return state


def restore(state: State, model: Any, normalizer: Any) -> None:
    """Restore a result of :func:`state_of` in a model with the same settings.

    Raises:
        ConfigError: The state does not fit.
    """
    with fitting():
        model.num_timesteps = state.step
        model._n_updates = int(state.values["updates"])
        model.set_parameters(
            {
                name: state.unpack_optimizer(name, groups)
                for name, groups in state.values["optimizers"].items()
            },
            exact_match=False,
        )
        if "log_ent_coef" in state.tensors:
            model.log_ent_coef.data.copy_(state.tensors["log_ent_coef"])
        for which in ("obs_rms", "ret_rms"):
            if normalizer is not None and f"{which}.mean" in state.tensors:
                statistics = getattr(normalizer, which)
                statistics.mean = state.tensors[f"{which}.mean"].numpy()
                statistics.var = state.tensors[f"{which}.var"].numpy()
                statistics.count = float(state.values[f"{which}.count"])
        _unpack_replay(getattr(model, "replay_buffer", None), state)


def _pack_replay(buffer: Any, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Add the stored steps to the state, if they are plain arrays and small enough."""
    if buffer is None or not isinstance(buffer.observations, np.ndarray):
        return
    filled = buffer.buffer_size if buffer.full else buffer.pos
    arrays = {name: getattr(buffer, name)[:filled] for name in _REPLAY}
    if sum(array.nbytes for array in arrays.values()) > LARGEST_REPLAY:
        return
    tensors |= {f"replay/{name}": torch.as_tensor(array) for name, array in arrays.items()}
    values["replay"] = {"pos": int(buffer.pos), "full": bool(buffer.full)}


def _unpack_replay(buffer: Any, state: State) -> None:
    kept = state.values.get("replay")
    if buffer is None or kept is None:
        return
    for name in _REPLAY:
        array = state.tensors[f"replay/{name}"].numpy()
        getattr(buffer, name)[: len(array)] = array
    buffer.pos, buffer.full = int(kept["pos"]), bool(kept["full"])
