"""What a training needs to go on, beside its policy: one file of tensors and JSON, never a pickle.

For workers that learn with torch; only they need it, and safetensors, to be there.
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


def _nothing() -> Dict[str, Any]:
    return {}


@dataclass
class State:
    """Tensors by name, and whatever else JSON can say.

    Attributes:
        tensors: On any device; they are copied when they are written.
        values: Plain data, by name: at least ``algorithm``, ``config`` and ``step``, where it is of a whole
            training.
    """

    tensors: Dict[str, Tensor] = field(default_factory=_nothing)
    values: Dict[str, Any] = field(default_factory=_nothing)

    @property
    def step(self) -> int:
        """Environment steps so far."""
        # Trainings of cleanrl_worker kept it with their session before.
        return int(self.values["step"] if "step" in self.values else self.values["session"]["step"])

    @property
    def config(self) -> Dict[str, Any]:
        """Every setting of the training."""
        return dict(self.values["config"])

    @property
    def seed(self) -> int:
        """Of what is drawn from here on, so that what was drawn already is not drawn again; below 2**30."""
        drawn = np.random.SeedSequence([int(self.values["config"]["seed"]), self.step])
        return int(drawn.generate_state(1)[0] >> 2)

    def put(self, name: str, part: State) -> None:
        """Take in the state of a part, under a name of its own."""
        self.tensors.update({f"{name}/{key}": tensor for key, tensor in part.tensors.items()})
        self.values.update({f"{name}/{key}": value for key, value in part.values.items()})

    def under(self, name: str) -> State:
        """What :meth:`put` took in."""
        return State(entries_under(f"{name}/", self.tensors), entries_under(f"{name}/", self.values))

    def pack_optimizer(self, name: str, packed: Mapping[str, Any]) -> Any:
        """Take in the tensors of an optimizer's ``state_dict``; returns what is left of it, as plain data."""
        for index, slots in packed["state"].items():
            for key, value in slots.items():
                self.tensors[f"{name}/{index}/{key}"] = torch.as_tensor(value)
        return packed["param_groups"]

    def unpack_optimizer(self, name: str, groups: Any) -> Dict[str, Any]:
        """The reverse of :meth:`pack_optimizer`: what ``load_state_dict`` takes."""
        slots: Dict[int, Dict[str, Tensor]] = {}
        for path, tensor in self.under(name).tensors.items():
            index, _, key = path.partition("/")
            slots.setdefault(int(index), {})[key] = tensor
        return {"state": slots, "param_groups": groups}


@dataclass(frozen=True)
class Beginning:
    """Where a training begins: with its first step, or behind the last that was kept.

    Attributes:
        step: Environment steps so far.
        seed: Of what is drawn from here on.
    """

    step: int
    seed: int

    @property
    def purge_step(self) -> Optional[int]:
        """From where on TensorBoard forgets what a killed training wrote after its last checkpoint."""
        return self.step + 1 if self.step else None


def begin(seed: int, restored: Optional[State]) -> Beginning:
    """Make the process ready to train.

    Args:
        seed: Of the training.
        restored: State of the training that goes on.
    """
    # Small matrices gain nothing from two threads, and sums must not depend on the machine's load.
    torch.set_num_threads(1)
    return Beginning(0, seed) if restored is None else Beginning(restored.step, restored.seed)


@contextmanager
def fitting() -> Generator[None, None, None]:
    """Around what puts a state back into a training.

    Raises:
        ConfigError: The state does not fit; says what to do.
    """
    try:
        yield
    except (KeyError, ValueError, RuntimeError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"the state there does not fit ({one_line(error)}). Train anew, with --overwrite"
        ) from error


def entries_under(head: str, entries: Mapping[str, _Entry]) -> Dict[str, _Entry]:
    """Entries whose names begin with ``head``, without it."""
    return {name[len(head) :]: entry for name, entry in entries.items() if name.startswith(head)}


def state_file(folder: Path) -> Path:
    """Where a run folder keeps it."""
    return folder / STATE / _FILE


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a run folder, in one step.

    Raises:
        OSError: The folder cannot be written.
    """
    tensors: Dict[str, Tensor] = {}
    places: Set[int] = set()
    for name, tensor in state.tensors.items():
        found = tensor.detach().cpu().contiguous()
        place = found.untyped_storage().data_ptr()
        # That two names stand for one tensor is what such a file cannot say.
        tensors[name] = found.clone() if place in places else found
        places.add(place)
    text = json.dumps({"version": _VERSION, **state.values}, separators=(",", ":"))
    write_whole(state_file(folder), safetensors.torch.save(tensors, {"state": text}))


def read_state(folder: Path, algorithm: str) -> State:
    """Read the state of a run folder; nothing in it is run.

    Raises:
        ConfigError: There is none, it is damaged or another algorithm's, with the way out.
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
            f"{path} cannot be resumed from ({one_line(error)}). Train anew, with --overwrite"
        ) from error
    if version != _VERSION:
        raise ConfigError(f"{path} is of another version of this worker. Train anew, with --overwrite")
    if before != algorithm:
        raise ConfigError(f"the training there is one of {before}, not {algorithm}; give --algo {before}")
    return State(tensors, values)
