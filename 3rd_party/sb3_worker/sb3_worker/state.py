"""What a training needs to go on, beside its policy: one file of tensors and JSON, never a pickle.

The policy itself, targets included, is in ``model.safetensors``. Environments of the library's
cannot be stored in general: a training that goes on begins new episodes, seeded from the seed and
the step, and is as good as one that was not cut, though not the same bit by bit.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import write_whole
from mosaic_worker.plain_files import check_file
from mosaic_worker.training import STATE
from sb3_worker.config import ConfigError

LARGEST_REPLAY = 64 << 20
"""Bytes of remembered steps that are kept; a larger buffer is filled anew."""

_FILE = "state.safetensors"
_VERSION = 1
_REPLAY = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


@dataclass(frozen=True)
class State:
    """What was read.

    Attributes:
        tensors: By name.
        values: Plain data.
    """

    tensors: Mapping[str, Tensor]
    values: Mapping[str, Any]

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return int(self.values["step"])

    @property
    def config(self) -> dict[str, Any]:
        """Every setting of the training."""
        return dict(self.values["config"])


def write_state(folder: Path, algorithm: str, config: Mapping[str, Any], model: Any, normalizer: Any) -> None:
    """Replace the state of a run folder, in one step.

    Args:
        folder: The run folder.
        algorithm: Its name.
        config: Every setting.
        model: The library's algorithm object.
        normalizer: Its ``VecNormalize``, or ``None``.

    Raises:
        OSError: The folder cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    values: dict[str, Any] = {
        "version": _VERSION,
        "algorithm": algorithm,
        "config": dict(config),
        "step": int(model.num_timesteps),
        "updates": int(model._n_updates),
        "optimizers": {},
    }
    for name, found in model.get_parameters().items():
        if name != "policy":
            values["optimizers"][name] = _pack_optimizer(name, found, tensors)
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
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(values, separators=(",", ":"))
    write_whole(folder / STATE / _FILE, safetensors.torch.save(whole, {"state": text}))


def read_state(folder: Path, algorithm: str) -> State:
    """Read the state of a run folder.

    Raises:
        ConfigError: There is none, it is damaged or another algorithm's, with the way out.
    """
    path = folder / STATE / _FILE
    try:
        check_file(path, inside=folder)
        with safetensors.safe_open(path, framework="pt") as file:  # pyright: ignore[reportPrivateImportUsage]
            values: dict[str, Any] = json.loads((file.metadata() or {})["state"])
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        known = values["version"] == _VERSION
        before = str(values["algorithm"])
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} holds no training that can be resumed: {path} is missing") from error
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError, OSError) as error:
        raise ConfigError(f"{path} cannot be resumed from ({error}). Train anew, with --overwrite") from error
    if not known:
        raise ConfigError(f"{path} is of another version of this worker. Train anew, with --overwrite")
    if before != algorithm:
        raise ConfigError(f"the training there is one of {before}, not {algorithm}; give --algo {before}")
    return State(tensors, values)


def restore(state: State, model: Any, normalizer: Any) -> None:
    """The reverse of :func:`write_state`, for a model of the same settings.

    Raises:
        ConfigError: It does not fit.
    """
    try:
        model.num_timesteps = state.step
        model._n_updates = int(state.values["updates"])
        model.set_parameters(
            {
                name: _unpack_optimizer(name, groups, state)
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
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
        words = " ".join(str(error).split())
        raise ConfigError(f"the state there does not fit ({words}). Train anew, with --overwrite") from error


def _pack_optimizer(name: str, packed: Mapping[str, Any], tensors: dict[str, Tensor]) -> Any:
    for index, slots in packed["state"].items():
        for key, value in slots.items():
            tensors[f"{name}/{index}/{key}"] = torch.as_tensor(value)
    return packed["param_groups"]


def _unpack_optimizer(name: str, groups: Any, state: State) -> dict[str, Any]:
    slots: dict[int, dict[str, Tensor]] = {}
    for path, tensor in state.tensors.items():
        owner, _, rest = path.partition("/")
        if owner == name:
            index, _, key = rest.partition("/")
            slots.setdefault(int(index), {})[key] = tensor
    return {"state": slots, "param_groups": groups}


def _pack_replay(buffer: Any, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Remembered steps, where they are plain arrays and few enough."""
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
