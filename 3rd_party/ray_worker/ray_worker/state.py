"""What a training needs to go on, beside its policy, see :mod:`mosaic_worker.learning.training_state`.

RLlib's own checkpoints are pickles throughout, and going on from one runs what is in it. Here are the
weights of whole modules (values and targets too), optimizers, observation statistics, and the weights that
the algorithm learns itself (of SAC's entropy, of the KL penalty). Remembered steps are not kept: a replay
buffer is filled anew. Episodes begin anew, seeded from the seed and the step.
"""

# Ray and torch are typed only in part, or not there.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mosaic_worker.learning.training_state import State, fitting
from ray_worker.connectors import as_arrays, as_rllib_has_them

_TENSOR, _TUPLE, _PAIRS = "tensor", "tuple", "pairs"


def state_of(algorithm: Any, values: Mapping[str, Any]) -> State:
    """What is to be kept: what RLlib's algorithm object has learnt, and plain values beside it."""
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
    """The reverse of :func:`state_of`, for an algorithm of the same settings.

    Raises:
        ConfigError: It does not fit.
    """
    learner = algorithm.learner_group._learner
    with fitting():
        kept = unpacked(state.values["learnt"], state.tensors)
        found = learner.get_state(components=["rl_module", "optimizer"])
        for module, weights in found["rl_module"].items():
            told = kept["rl_module"][module]
            if {k: np.shape(v) for k, v in told.items()} != {k: np.shape(v) for k, v in weights.items()}:
                raise ValueError(f"the network {module} is another one")
        learner.set_state({**found, **{key: kept[key] for key in ("rl_module", "optimizer")}})
        for name in ("curr_kl_coeffs_per_module", "curr_log_alpha"):
            for module, tensor in kept.get(name, {}).items():
                getattr(learner, name)[module].data.copy_(torch.as_tensor(tensor))
        algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=algorithm.learner_group, inference_only=True
        )
        if kept["connectors"]:
            connectors = {"env_to_module_connector": as_rllib_has_them(kept["connectors"])}
            algorithm.env_runner_group.foreach_env_runner(_with_state(connectors))


def _with_state(state: Any) -> Callable[[Any], None]:
    def put(runner: Any) -> None:
        runner.set_state(state)

    return put


def packed(value: Any, tensors: dict[str, Tensor]) -> Any:
    """Nested data as JSON has it, its arrays and tensors moved to ``tensors``.

    Raises:
        TypeError: There is something else in it than dicts, lists, tuples, numbers and text.
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
    raise TypeError(f"a state holds a {type(value).__name__}")


def unpacked(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The reverse of :func:`packed`."""
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
