"""What a training needs to go on: one file of tensors and JSON, never a pickle."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from cleanrl_worker.adam import Adam
from cleanrl_worker.config.base import ConfigError
from mosaic_worker.checkpoint import write_whole
from mosaic_worker.plain_files import check_file
from mosaic_worker.training import STATE

_Entry = TypeVar("_Entry")
_FILE = "state.safetensors"
_VERSION = 1


@dataclass
class State:
    """Tensors by name, and whatever else JSON can say.

    Attributes:
        tensors: On any device; they are copied when they are written.
        values: Plain data, by name.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def put(self, name: str, part: State) -> None:
        """Take in the state of a part of a learner, under a name of its own."""
        self.tensors |= {f"{name}/{key}": tensor for key, tensor in part.tensors.items()}
        self.values |= {f"{name}/{key}": value for key, value in part.values.items()}

    def under(self, name: str) -> State:
        """What :meth:`put` took in."""
        return State(_named(f"{name}/", self.tensors), _named(f"{name}/", self.values))


def state_file(folder: Path) -> Path:
    """Where a run folder keeps it."""
    return folder / STATE / _FILE


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a run folder, in one step.

    Raises:
        OSError: The folder cannot be written.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.tensors.items()}
    text = json.dumps({"version": _VERSION, **state.values}, separators=(",", ":"))
    write_whole(state_file(folder), safetensors.torch.save(tensors, {"state": text}))


def read_state(folder: Path) -> State:
    """Read the state of a run folder.

    Raises:
        ConfigError: There is none, or it is damaged, with the way out.
    """
    path = state_file(folder)
    try:
        check_file(path, inside=folder)
        with safetensors.safe_open(path, framework="pt") as file:  # pyright: ignore[reportPrivateImportUsage]
            values = json.loads((file.metadata() or {})["state"])
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} holds no training that can be resumed: {path} is missing") from error
    except (safetensors.SafetensorError, KeyError, ValueError, OSError) as error:
        raise ConfigError(f"{path} cannot be resumed from ({error}). Train anew, with --overwrite") from error
    if values.pop("version", None) != _VERSION:
        raise ConfigError(f"{path} is of another version of this worker. Train anew, with --overwrite")
    return State(tensors, values)


def pack_module(prefix: str, module: nn.Module, state: State) -> None:
    """Put every parameter of ``module`` into ``state``."""
    state.tensors.update({f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()})


def restore_module(prefix: str, module: nn.Module, state: State) -> None:
    """The reverse of :func:`pack_module`."""
    module.load_state_dict(_tensors_under(prefix, state.tensors))


def pack_optimizer(prefix: str, optimizer: Adam, state: State) -> None:
    """Put moments, step counts and learning rate of ``optimizer`` into ``state``."""
    state.values[prefix] = [{"lr": optimizer.lr}]
    for index, moments in optimizer.state().items():
        state.tensors.update({f"{prefix}.{index}.{name}": tensor for name, tensor in moments.items()})


def restore_optimizer(prefix: str, optimizer: Adam, state: State) -> None:
    """The reverse of :func:`pack_optimizer`, for an optimizer of the same parameters."""
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _tensors_under(prefix, state.tensors).items():
        index, _, key = name.partition(".")
        moments.setdefault(int(index), {})[key] = tensor
    optimizer.restore(moments)
    optimizer.lr = float(state.values[prefix][0]["lr"])


def pack_generator(name: str, generator: torch.Generator, state: State) -> None:
    """Put the generator's place in its sequence into ``state``."""
    state.tensors[name] = generator.get_state()


def restore_generator(name: str, generator: torch.Generator, state: State) -> None:
    """The reverse of :func:`pack_generator`."""
    generator.set_state(state.tensors[name])


def _tensors_under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return _named(f"{prefix}.", tensors)


def _named(head: str, entries: Mapping[str, _Entry]) -> dict[str, _Entry]:
    """Entries whose names begin with ``head``, without it."""
    return {name[len(head) :]: entry for name, entry in entries.items() if name.startswith(head)}
