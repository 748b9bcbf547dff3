"""Saves and restores the state of a training besides its policy.

See :mod:`mosaic_worker.learning.training_state`.

RLlib's own checkpoints consist of pickles, and resuming from one runs its content. This state contains the
weights of whole modules (with values and target networks), optimizers, observation statistics, and the
coefficients that the algorithm learns (for SAC's entropy, for the KL penalty). The replay buffer is not
saved; it is filled again. New episodes begin, seeded from the seed and the step.
"""

# Ray and torch are typed only in part, or not installed.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mosaic_worker.learning.training_state import State, fitting
from ray_worker.connectors import as_arrays, encode_arrays

_TENSOR, _TUPLE, _PAIRS = "tensor", "tuple", "pairs"


def state_of(algorithm: Any, values: Mapping[str, Any]) -> State:
    """Return the state to save: the algorithm object's state, and further plain values."""
    state = State(values=dict(values))
    state.values["learnt"] = packed(_learnt(algorithm), state.tensors)
    return state


def _learnt(algorithm: Any) -> dict[str, Any]:
    learner = algorithm.learner_group._learner
    found = learner.get_state(components=["rl_module", "optimizer"])
    kept = {key: found[key] for key in ("rl_module", "optimizer")}
    for name in ("curr_kl_coeffs_per_module", "curr_log_alpha"):
        own = getattr(learner, name, None)
        if own is not None:
            kept[name] = {str(module): tensor for module, tensor in own.items()}
    pipeline = algorithm.env_runner._env_to_module if algorithm.env_runner is not None else None
    kept["connectors"] = {} if pipeline is None else as_arrays(pipeline.get_state())
    return kept


def put_back(algorithm: Any, state: State) -> None:
    """Restore a result of :func:`state_of` in an algorithm with the same settings.

    Raises:
        ConfigError: The state does not fit.
    """
    learner = algorithm.learner_group._learner
    with fitting():
        kept = unpacked(state.values["learnt"], state.tensors)
        found = learner.get_state(components=["rl_module", "optimizer"])
        for module, weights in found["rl_module"].items():
            told = kept["rl_module"][module]
            if {k: np.shape(v) for k, v in told.items()} != {k: np.shape(v) for k, v in weights.items()}:
                raise ValueError(f"the network {module} has another structure")
        learner.set_state({**found, **{key: kept[key] for key in ("rl_module", "optimizer")}})
        for name in ("curr_kl_coeffs_per_module", "curr_log_alpha"):
            for module, tensor in kept.get(name, {}).items():
                getattr(learner, name)[module].data.copy_(torch.as_tensor(tensor))
        algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=algorithm.learner_group, inference_only=True
        )
        if kept["connectors"]:
            connectors = {"env_to_module_connector": encode_arrays(kept["connectors"])}
            algorithm.env_runner_group.foreach_env_runner(_with_state(connectors))


def _with_state(state: Any) -> Callable[[Any], None]:
    def put(runner: Any) -> None:
        runner.set_state(state)

    return put


def packed(value: Any, tensors: dict[str, Tensor]) -> Any:
    """Convert nested data to JSON data; arrays and tensors are moved to ``tensors``.

    Raises:
        TypeError: The data holds other types than dicts, lists, tuples, numbers and text.
    """
    if isinstance(value, Tensor | np.ndarray):
        name = str(len(tensors))
        made = torch.as_tensor(value).detach().cpu().contiguous().clone()
        tensors[name] = made
        return {_TENSOR: name, "numpy": isinstance(value, np.ndarray)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        pairs = [[packed(k, tensors), packed(v, tensors)] for k, v in value.items()]
        return {_PAIRS: pairs}
    if isinstance(value, tuple):
        return {_TUPLE: [packed(each, tensors) for each in value]}
    if isinstance(value, list):
        return [packed(each, tensors) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"the state contains a {type(value).__name__}")


def unpacked(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Restore data that :func:`packed` converted."""
    if isinstance(value, list):
        return [unpacked(each, tensors) for each in value]
    if not isinstance(value, dict):
        return value
    if _TENSOR in value:
        found = tensors[value[_TENSOR]]
        return found.numpy() if value["numpy"] else found
    if _TUPLE in value:
        return tuple(unpacked(each, tensors) for each in value[_TUPLE])
    return {unpacked(key, tensors): unpacked(each, tensors) for key, each in value[_PAIRS]}
