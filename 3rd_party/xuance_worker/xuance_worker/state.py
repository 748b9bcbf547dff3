"""What a training needs to go on, beside its policy: one file of tensors and JSON, never a pickle.

Remembered steps are not kept: a training that goes on fills its buffer anew, and begins new episodes.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import write_whole
from mosaic_worker.plain_files import check_file
from mosaic_worker.training import STATE
from mosaic_worker.training_command import ConfigError

_FILE = "state.safetensors"
_VERSION = 1
_COUNTS = ("current_step", "e_greedy", "noise_scale")
"""Attributes of the library's agents that change while they learn."""


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


def write_state(folder: Path, algorithm: str, agents: Any, values: Mapping[str, Any]) -> None:
    """Replace the state of a run folder, in one step.

    Args:
        folder: The run folder.
        algorithm: Its name.
        agents: The library's.
        values: What else is kept: ``step``, ``config``, …

    Raises:
        OSError: The folder cannot be written.
    """
    tensors = {f"policy/{name}": tensor for name, tensor in agents.policy.state_dict().items()}
    kept: dict[str, Any] = {"version": _VERSION, "algorithm": algorithm, **values, "optimizers": {}}
    kept["counts"] = {name: float(getattr(agents, name)) for name in _counted(agents)}
    kept["iterations"] = int(agents.learner.iterations)
    for name, optimizer in _optimizers(agents.learner):
        packed = optimizer.state_dict()
        kept["optimizers"][name] = packed["param_groups"]
        for index, slots in packed["state"].items():
            tensors |= {f"{name}/{index}/{key}": torch.as_tensor(value) for key, value in slots.items()}
    for name, module in _normalizers(agents.learner):
        tensors |= {f"{name}/{key}": tensor for key, tensor in module.state_dict().items()}
    for key, alpha in (getattr(agents.learner, "log_alpha", None) or {}).items():
        tensors[f"log_alpha/{key}"] = alpha
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(kept, separators=(",", ":"))
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
        known, before = values["version"] == _VERSION, str(values["algorithm"])
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} holds no training that can be resumed: {path} is missing") from error
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError, OSError) as error:
        raise ConfigError(f"{path} cannot be resumed from ({error}). Train anew, with --overwrite") from error
    if not known:
        raise ConfigError(f"{path} is of another version of this worker. Train anew, with --overwrite")
    if before != algorithm:
        raise ConfigError(f"the training there is one of {before}, not {algorithm}; give --algo {before}")
    return State(tensors, values)


def restore(state: State, agents: Any) -> None:
    """The reverse of :func:`write_state`, for agents of the same settings.

    Raises:
        ConfigError: It does not fit.
    """
    try:
        agents.policy.load_state_dict(_under(state, "policy"))
        for name in _counted(agents):
            value = state.values["counts"][name]
            setattr(agents, name, int(value) if name == "current_step" else value)
        learner = agents.learner
        learner.iterations = int(state.values["iterations"])
        for key, alpha in (getattr(learner, "log_alpha", None) or {}).items():
            alpha.data.copy_(state.tensors[f"log_alpha/{key}"])
            learner.alpha[key] = alpha.exp()
        for name, optimizer in _optimizers(learner):
            slots: dict[int, dict[str, Tensor]] = {}
            for path, tensor in _under(state, name).items():
                index, _, key = path.partition("/")
                slots.setdefault(int(index), {})[key] = tensor
            optimizer.load_state_dict({"state": slots, "param_groups": state.values["optimizers"][name]})
        for name, module in _normalizers(learner):
            module.load_state_dict(_under(state, name))
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
        words = " ".join(str(error).split())
        raise ConfigError(f"the state there does not fit ({words}). Train anew, with --overwrite") from error


def _under(state: State, name: str) -> dict[str, Tensor]:
    start = f"{name}/"
    return {path[len(start) :]: tensor for path, tensor in state.tensors.items() if path.startswith(start)}


def _counted(agents: Any) -> list[str]:
    return [name for name in _COUNTS if getattr(agents, name, None) is not None]


def _optimizers(learner: Any) -> Iterator[tuple[str, Any]]:
    """The library has one, or several by agent and by what they train."""
    for attribute in ("optimizer", "alpha_optimizer"):
        yield from _named(attribute, getattr(learner, attribute, None))


def _normalizers(learner: Any) -> Iterator[tuple[str, Any]]:
    yield from _named("value_normalizer", getattr(learner, "value_normalizer", None))


def _named(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        for key, inner in found.items():
            yield from _named(f"{name}.{key}", inner)
    elif isinstance(found, (list, tuple)):
        for i, inner in enumerate(found):
            yield from _named(f"{name}.{i}", inner)
    elif found is not None:
        yield name, found
