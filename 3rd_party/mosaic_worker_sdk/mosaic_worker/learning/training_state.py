"""Reads and writes the state from which a training continues: one file of tensors and JSON, never a pickle.

Only workers that learn with torch need this module, torch and safetensors.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Generator, Mapping, Optional, Set, TypeVar

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import write_whole
from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.plain_files import check_file
from mosaic_worker.training import STATE

_Entry = TypeVar("_Entry")
_FILE = "state.safetensors"
_VERSION = 1


def _empty_dict() -> Dict[str, Any]:
    return {}


@dataclass
class State:
    """Tensors by name, and JSON values by name.

    Attributes:
        tensors: Tensors on any device; they are copied when they are written.
        values: JSON data by name; the state of a whole training has at least ``algorithm``, ``config`` and
            ``step``.
    """

    tensors: Dict[str, Tensor] = field(default_factory=_empty_dict)
    values: Dict[str, Any] = field(default_factory=_empty_dict)

    @property
    def step(self) -> int:
        """Environment steps so far."""
        # Older versions of cleanrl_worker stored the step under ``session``.
        return int(self.values["step"] if "step" in self.values else self.values["session"]["step"])

    @property
    def config(self) -> Dict[str, Any]:
        """All settings of the training."""
        return dict(self.values["config"])

    @property
    def seed(self) -> int:
        """Seed for the rest of the training, below 2**30; it depends on the step, so that no random number
        repeats.
        """
        drawn = np.random.SeedSequence([int(self.values["config"]["seed"]), self.step])
        return int(drawn.generate_state(1)[0] >> 2)

    def put(self, name: str, part: State) -> None:
        """Add the state of a component, with ``name`` as prefix."""
        self.tensors.update({f"{name}/{key}": tensor for key, tensor in part.tensors.items()})
        self.values.update({f"{name}/{key}": value for key, value in part.values.items()})

    def under(self, name: str) -> State:
        """Return the state that :meth:`put` added under ``name``."""
        return State(entries_under(f"{name}/", self.tensors), entries_under(f"{name}/", self.values))

    def pack_optimizer(self, name: str, packed: Mapping[str, Any]) -> Any:
        """Add the tensors of an optimizer's ``state_dict``; return the rest of the ``state_dict`` as plain
        data.
        """
        for index, slots in packed["state"].items():
            for key, value in slots.items():
                self.tensors[f"{name}/{index}/{key}"] = torch.as_tensor(value)
        return packed["param_groups"]

    def unpack_optimizer(self, name: str, groups: Any) -> Dict[str, Any]:
        """Return the ``state_dict`` of an optimizer that :meth:`pack_optimizer` added."""
        slots: Dict[int, Dict[str, Tensor]] = {}
        for path, tensor in self.under(name).tensors.items():
            index, _, key = path.partition("/")
            slots.setdefault(int(index), {})[key] = tensor
        return {"state": slots, "param_groups": groups}


@dataclass(frozen=True)
class TrainingStart:
    """Step and seed with which a training begins or continues.

    Attributes:
        step: Environment steps so far.
        seed: Seed of all random numbers from here on.
    """

    step: int
    seed: int

    @property
    def purge_step(self) -> Optional[int]:
        """First step that TensorBoard discards: a killed training may have logged steps after its last
        checkpoint.
        """
        return self.step + 1 if self.step else None


def begin(seed: int, restored: Optional[State]) -> TrainingStart:
    """Prepare the process for a training.

    Args:
        seed: Seed of the training.
        restored: State of the training to continue; ``None`` for a new training.
    """
    # Two threads do not speed up small matrices, and sums must not depend on the machine's load.
    torch.set_num_threads(1)
    return TrainingStart(0, seed) if restored is None else TrainingStart(restored.step, restored.seed)


@contextmanager
def fitting() -> Generator[None, None, None]:
    """Convert errors in the ``with`` block, which restores a state, to :class:`ConfigError`.

    Raises:
        ConfigError: The state does not fit the training.
    """
    try:
        yield
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"the saved state does not fit ({one_line(error)}). Start a new training with --overwrite"
        ) from error


def entries_under(head: str, entries: Mapping[str, _Entry]) -> Dict[str, _Entry]:
    """Return the entries whose names begin with ``head``, named without it."""
    return {name[len(head) :]: entry for name, entry in entries.items() if name.startswith(head)}


def state_file(folder: Path) -> Path:
    """Return the path of the state in a run folder."""
    return folder / STATE / _FILE


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a run folder atomically.

    Raises:
        OSError: The folder cannot be written.
    """
    tensors: Dict[str, Tensor] = {}
    places: Set[int] = set()
    for name, tensor in state.tensors.items():
        found = tensor.detach().cpu().contiguous()
        place = found.untyped_storage().data_ptr()
        # safetensors cannot store one tensor under two names, so a second one is copied.
        tensors[name] = found.clone() if place in places else found
        places.add(place)
    text = json.dumps({"version": _VERSION, **state.values}, separators=(",", ":"))
    write_whole(state_file(folder), safetensors.torch.save(tensors, {"state": text}))


def read_state(folder: Path, algorithm: str) -> State:
    """Read the state of a run folder without running any code in it.

    Raises:
        ConfigError: The state is missing, damaged or of another algorithm; the message says what to do.
    """
    path = state_file(folder)
    try:
        check_file(path, inside=folder)
        with safetensors.safe_open(path, framework="pt") as file:  # pyright: ignore[reportPrivateImportUsage]
            values: Dict[str, Any] = json.loads((file.metadata() or {})["state"])
            tensors: Dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        version, before = values.pop("version"), str(values["algorithm"])
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} holds no training that can be resumed: {path} is missing") from error
    except (
        *(safetensors.SafetensorError, KeyError, ValueError, TypeError, AttributeError),
        *(OSError, RecursionError),
    ) as error:
        raise ConfigError(
            f"{path} cannot be resumed from ({one_line(error)}). Start a new training with --overwrite"
        ) from error
    if version != _VERSION:
        raise ConfigError(
            f"{path} is of another version of this worker. Start a new training with --overwrite"
        )
    if before != algorithm:
        raise ConfigError(f"the saved training is of {before}, not {algorithm}; use --algo {before}")
    return State(tensors, values)
