"""Reads RLlib's checkpoints as data, without running their pickles.

For each folder RLlib stores a class with its constructor's arguments (a pickle), and a state (another
pickle). Both are read by :mod:`mosaic_worker.unpickling`: classes become names, objects become records.
"""

# The content of a pickle is untyped.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.failures import one_line
from mosaic_worker.learning.importing import ImportRefused, space_of
from mosaic_worker.plain_files import read_file
from mosaic_worker.spaces import Space
from mosaic_worker.unpickling import ClassName, Record, UnpicklingRefused, read_pickle

LARGEST = 512 << 20
"""Largest size of one file of a checkpoint, in bytes."""

_MADE = "class_and_ctor_args.pkl"
_NAMES = ("ray.", "gymnasium.", "numpy.random.", "torch.device", "ray_worker.", "functools.partial")
_MODULES = ("learner_group", "learner", "rl_module")
_INSIDE = {
    *("AddObservationsFromEpisodesToBatch", "AddStatesFromEpisodesToBatch", "AddTimeDimToBatchAndZeroPad"),
    *("AgentToModuleMapping", "BatchIndividualItems", "NumpyToTensor"),
}
_OUTSIDE = {
    *("GetActions", "TensorToNumpy", "UnBatchToIndividualItems", "ModuleToAgentUnmapping"),
    *("RemoveSingleTsTimeRankFromBatch", "NormalizeAndClipActions", "ListifyDataForVectorEnv"),
}


@dataclass(frozen=True)
class SavedModule:
    """A network in a checkpoint.

    Attributes:
        name: RLlib's name of the network.
        class_name: Full name of its class.
        observation_space: Space of its input.
        action_space: Space of its actions.
        model_config: Plain settings of its layers.
        inference_only: Whether it was saved without the layers that are needed only for learning.
        weights: Weights by RLlib's names.
    """

    name: str
    class_name: str
    observation_space: Space
    action_space: Space
    model_config: Mapping[str, Any]
    inference_only: bool
    weights: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class SavedCheckpoint:
    """Content of a checkpoint.

    Attributes:
        modules: Networks by name.
        algorithm: Full name of the algorithm's class; empty if it is not among the files.
        flattens: Whether RLlib's connector flattened observations.
        filters: State of the running statistics of observations; ``None`` without them.
        known: Whether the files describe the processing of observations and actions.
        scaling: Processing of real-valued actions: ``unsquash`` or ``clip``.
        version: Version of Ray.
        sha256: Digest of all files that were read.
    """

    modules: Mapping[str, SavedModule]
    algorithm: str = ""
    flattens: bool = False
    filters: Mapping[Any, Any] | None = None
    known: bool = False
    scaling: str = "unsquash"
    version: str = ""
    sha256: str = ""


@dataclass
class _Reader:
    """Reads pickles as data and updates the digest with all files that it read."""

    digest: Any = field(default_factory=hashlib.sha256)

    def pickle(self, path: Path) -> Any:
        try:
            data = read_file(path, links=True, limit=LARGEST)
            self.digest.update(data)
            return read_pickle(data, _NAMES)
        except UnpicklingRefused as error:
            raise ImportRefused(f"{path} is refused: {error}") from error
        except OSError as error:
            raise ImportRefused(f"{path} cannot be read: {error.strerror}") from error

    def made(self, folder: Path) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """Return class name, arguments and keywords of the object in a folder."""
        found = self.pickle(folder / _MADE)
        try:
            name = str(found["class"])
            arguments, keywords = found["ctor_args_and_kwargs"]
            return name, tuple(arguments), dict(keywords)
        except (KeyError, TypeError, ValueError) as error:
            raise ImportRefused(f"{folder / _MADE} is not a file of RLlib ({one_line(error)})") from error


def read_checkpoint_folder(path: Path) -> SavedCheckpoint:
    """Read a checkpoint of an algorithm, of its networks or of one network.

    Raises:
        ImportRefused: The checkpoint is not of RLlib's new API stack, is damaged or malicious, or used an
            unknown processing of observations.
    """
    folder = path.parent if path.is_file() else path
    if not (folder / _MADE).exists():
        raise ImportRefused(
            f"{folder} has no {_MADE}, so it is no checkpoint of RLlib's new API stack. Give the folder that "
            "save_to_path wrote, of an algorithm or an RLModule"
        )
    reader = _Reader()
    inner = folder.joinpath(*_MODULES)
    whole = (inner / _MADE).exists()
    modules = _modules(reader, inner if whole else folder)
    flattens, filters, scaling, known = False, None, "unsquash", False
    runner = folder / "env_runner"
    if whole and (runner / "env_to_module_connector").is_dir():
        flattens, filters = _inside(reader, runner / "env_to_module_connector")
        scaling, known = _outside(reader, runner / "module_to_env_connector"), True
    return SavedCheckpoint(
        modules,
        _algorithm(reader, folder) if whole else "",
        flattens,
        filters,
        known,
        scaling,
        _version(folder),
        reader.digest.hexdigest(),
    )


def _algorithm(reader: _Reader, folder: Path) -> str:
    """Return the algorithm's class; empty if functions of the user in its settings prevent reading it."""
    try:
        return reader.made(folder)[0]
    except ImportRefused:
        return ""


def _version(folder: Path) -> str:
    for name in ("rllib_checkpoint.json", "metadata.json"):
        try:
            return str(json.loads(read_file(folder / name, links=True, limit=1 << 20))["ray_version"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ""


def _modules(reader: _Reader, folder: Path) -> dict[str, SavedModule]:
    inner = sorted(each for each in folder.iterdir() if (each / _MADE).exists())
    if not inner:
        return {folder.name: _module(reader, folder)}
    return {each.name: _module(reader, each) for each in inner}


def _module(reader: _Reader, folder: Path) -> SavedModule:
    name, _, told = reader.made(folder)
    state = folder / "module_state.pkl"
    if not state.exists():
        raise ImportRefused(
            f"{folder} has no module_state.pkl. Save it with use_msgpack=False, RLlib's default"
        )
    weights = reader.pickle(state)
    if not isinstance(weights, dict) or not all(
        isinstance(k, str) and isinstance(v, np.ndarray) and v.dtype.kind == "f" for k, v in weights.items()
    ):
        raise ImportRefused(f"{state} contains no weights")
    settings = told.get("model_config")
    settings = settings.state if isinstance(settings, Record) else settings
    if told.get("catalog_class") is not None and not str(told["catalog_class"]).startswith(
        "ray.rllib.algorithms."
    ):
        raise ImportRefused(
            f"its catalog is {told['catalog_class']}, but only RLlib's own networks can be imported"
        )
    return SavedModule(
        folder.name,
        name,
        _space(told.get("observation_space"), "observation space"),
        _space(told.get("action_space"), "action space"),
        _plain(settings or {}, "model_config"),
        bool(told.get("inference_only")),
        weights,
    )


def _inside(reader: _Reader, folder: Path) -> tuple[bool, Mapping[Any, Any] | None]:
    """Return whether observations were flattened, and their running statistics."""
    flattens, filters = False, None
    for name, full, told in _pieces(reader, folder):
        if name == "FlattenObservations" and not told.get("keys_to_remove") and not told.get("agent_ids"):
            flattens = True
        elif name == "MeanStdFilter":
            filters = reader.pickle(folder / name / "state.pkl")
        elif name not in _INSIDE:
            raise ImportRefused(
                f"observations went through {full} before the network saw them, which cannot be imported. "
                "Give with "
                "--preprocess the same preprocessing, and the folder of the RLModule only "
                "(learner_group/learner/rl_module)"
            )
    return flattens, filters


def _outside(reader: _Reader, folder: Path) -> str:
    """Return the processing of real-valued actions: ``unsquash`` or ``clip``."""
    scaling = "clip"
    for name, full, told in _pieces(reader, folder):
        if name not in _OUTSIDE:
            raise ImportRefused(
                f"actions went through {full} before they were played, which cannot be imported"
            )
        if name == "NormalizeAndClipActions" and told.get("normalize_actions"):
            scaling = "unsquash"
    return scaling


def _pieces(reader: _Reader, folder: Path) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
    """Return short name, full name and keywords of each connector; the short name is empty if not RLlib's."""
    _, _, told = reader.made(folder)
    try:
        found = [(str(name), dict(keywords)) for name, _, keywords in told["connectors"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ImportRefused(f"{folder} does not list its connectors ({one_line(error)})") from error
    return [
        (name.rpartition(".")[2] if name.startswith("ray.rllib.connectors.") else "", name, keywords)
        for name, keywords in found
    ]


def _plain(value: Any, what: str) -> Any:
    """Return settings after checking that they hold no classes or functions."""
    if isinstance(value, dict):
        return {str(key): _plain(each, what) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, what) for each in value]
    if isinstance(value, ClassName) or not (value is None or isinstance(value, bool | int | float | str)):
        raise ImportRefused(f"its {what} contains {str(value)[:60]!r}, which is not a plain setting")
    return value


def _space(found: Any, what: str) -> Space:
    space = space_of(found, what)
    if space.kind not in ("Box", "Discrete", "MultiDiscrete"):
        raise ImportRefused(f"its {what} is a {space.kind}, which no network of this worker takes")
    return space
