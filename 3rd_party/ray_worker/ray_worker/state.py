"""What a training needs to go on, beside its policy: one file of tensors and JSON, never a pickle.

RLlib's own checkpoints are pickles throughout, and going on from one runs what is in it. Here are the
weights of whole modules (values and targets too), optimizers, observation statistics, and the weights that
the algorithm learns itself (of SAC's entropy, of the KL penalty). Remembered steps are not kept: a replay
buffer is filled anew. Episodes begin anew, seeded from the seed and the step.
"""

# Ray and torch are typed only in part, or not there.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import write_whole
from mosaic_worker.failures import one_line
from mosaic_worker.plain_files import check_file
from mosaic_worker.training import STATE
from mosaic_worker.training_command import ConfigError
from ray_worker.connectors import as_arrays, as_rllib_has_them

_FILE = "state.safetensors"
_VERSION = 1
_TENSOR, _TUPLE, _PAIRS = "tensor", "tuple", "pairs"


@dataclass(frozen=True)
class State:
    """What was read.

    Attributes:
        values: Plain data and arrays.
    """

    values: Mapping[str, Any]

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return int(self.values["step"])

    @property
    def config(self) -> dict[str, Any]:
        """Every setting of the training."""
        return dict(self.values["config"])


def write_state(folder: Path, values: Mapping[str, Any]) -> None:
    """Replace the state of a run folder, in one step.

    Args:
        folder: The run folder.
        values: Plain data, arrays and tensors, in dicts, lists and tuples.

    Raises:
        OSError: The folder cannot be written.
        TypeError: There is something else in them.
    """
    tensors: dict[str, Tensor] = {}
    text = json.dumps({"version": _VERSION, "values": _packed(values, tensors)}, separators=(",", ":"))
    write_whole(folder / STATE / _FILE, safetensors.torch.save(tensors, {"state": text}))


def read_state(folder: Path, algorithm: str) -> State:
    """Read the state of a run folder; nothing in it is run.

    Raises:
        ConfigError: There is none, it is damaged or another algorithm's, with the way out.
    """
    path = folder / STATE / _FILE
    try:
        check_file(path, inside=folder)
        with safetensors.safe_open(path, framework="pt") as file:  # pyright: ignore[reportPrivateImportUsage]
            found = json.loads((file.metadata() or {})["state"])
            if found["version"] != _VERSION:
                raise ValueError("it is of another version of this worker")
            values = _unpacked(found["values"], file.get_tensor)
        before = str(values["algorithm"])
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} holds no training that can be resumed: {path} is missing") from error
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError, OSError, RecursionError) as error:
        raise ConfigError(
            f"{path} cannot be resumed from ({one_line(error)}). Train anew, with --overwrite"
        ) from error
    if before != algorithm:
        raise ConfigError(f"the training there is one of {before}, not {algorithm}; give --algo {before}")
    return State(cast("Mapping[str, Any]", values))


def learnt(algorithm: Any) -> dict[str, Any]:
    """What RLlib's algorithm object has learnt, as :func:`write_state` takes it."""
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


def put_back(algorithm: Any, kept: Mapping[str, Any]) -> None:
    """The reverse of :func:`learnt`, for an algorithm of the same settings.

    Raises:
        ConfigError: It does not fit.
    """
    learner = algorithm.learner_group._learner
    try:
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
            state = {"env_to_module_connector": as_rllib_has_them(kept["connectors"])}
            algorithm.env_runner_group.foreach_env_runner(_with_state(state))
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"the state there does not fit ({one_line(error)}). Train anew, with --overwrite"
        ) from error


def _with_state(state: Any) -> Callable[[Any], None]:
    def put(runner: Any) -> None:
        runner.set_state(state)

    return put


def _packed(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor | np.ndarray):
        name = str(len(tensors))
        made = torch.as_tensor(value).detach().cpu().contiguous().clone()
        tensors[name] = made
        return {_TENSOR: name, "numpy": isinstance(value, np.ndarray)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        pairs = [[_packed(k, tensors), _packed(v, tensors)] for k, v in value.items()]
        return {_PAIRS: pairs}
    if isinstance(value, tuple):
        return {_TUPLE: [_packed(each, tensors) for each in value]}
    if isinstance(value, list):
        return [_packed(each, tensors) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a state holds a {type(value).__name__}")


def _unpacked(value: Any, tensor: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(each, tensor) for each in value]
    if not isinstance(value, dict):
        return value
    if _TENSOR in value:
        found = tensor(value[_TENSOR])
        return found.numpy() if value["numpy"] else found
    if _TUPLE in value:
        return tuple(_unpacked(each, tensor) for each in value[_TUPLE])
    return {_unpacked(key, tensor): _unpacked(each, tensor) for key, each in value[_PAIRS]}
