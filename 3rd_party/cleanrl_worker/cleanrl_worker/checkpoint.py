"""A policy on disk: ``policy.json`` says what it is, ``model.safetensors`` holds its weights.

Nothing here unpickles. Reading needs neither torch nor Gymnasium, so that a checkpoint is
described and refused without their cost.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError

FORMAT_VERSION = 1
DESCRIPTION = "policy.json"
WEIGHTS = "model.safetensors"
_PENDING = "model.safetensors.new"
_PICKLES = (".pt", ".pth", ".zip", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib")
_TRAIN = "Train one with: mosaic train --worker cleanrl_worker --algo ppo --env ENV"


@dataclass(frozen=True)
class PolicyDescription:
    """What ``policy.json`` says.

    Attributes:
        algorithm: How it was trained, for example ``"ppo"``.
        env_id: The environment it was trained in.
        observation_space: What it sees, the action mask taken out.
        action_space: What it does.
        hidden: Widths of the hidden layers, tanh in between.
        seed: Seed of the training.
        total_steps: Environment steps it was trained for.
        mean_return: Mean return of its evaluation after the training, ``None`` where there was none.
        evaluation_seeds: Environment seeds of that evaluation.
        agents: Names of the agents it plays.
        preprocessing: Steps between observation and network; none exist in this version.
        config: Every setting of the training.
        versions: Versions of the packages that trained it.
        trained_at: ISO 8601 time.
        weights_sha256: Of the weights file, lower-case hexadecimal.
    """

    algorithm: str
    env_id: str
    observation_space: Space
    action_space: Space
    hidden: tuple[int, ...]
    seed: int = 0
    total_steps: int = 0
    mean_return: float | None = None
    evaluation_seeds: tuple[int, ...] = ()
    agents: tuple[str, ...] = ("agent_0",)
    preprocessing: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    trained_at: str = ""
    weights_sha256: str = ""

    def to_json(self) -> dict[str, Any]:
        """The content of ``policy.json``."""
        return {
            "format_version": FORMAT_VERSION,
            "algorithm": self.algorithm,
            "env_id": self.env_id,
            "agents": list(self.agents),
            "observation_space": self.observation_space.to_json(),
            "action_space": self.action_space.to_json(),
            "preprocessing": list(self.preprocessing),
            "network": {"type": "mlp", "hidden": list(self.hidden), "activation": "tanh"},
            "weights": {"file": WEIGHTS, "sha256": self.weights_sha256},
            "seed": self.seed,
            "total_steps": self.total_steps,
            "evaluation": {"mean_return": self.mean_return, "seeds": list(self.evaluation_seeds)},
            "config": dict(self.config),
            "versions": dict(self.versions),
            "trained_at": self.trained_at,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyDescription:
        """Read the content of ``policy.json``.

        Raises:
            ValueError: It is no description this version can play; the message says why.
        """
        try:
            if data["format_version"] != FORMAT_VERSION:
                raise ValueError(
                    f"its format_version is {data['format_version']!r} and this worker reads {FORMAT_VERSION}"
                )
            network, evaluation = data["network"], data["evaluation"]
            if (network["type"], network["activation"]) != ("mlp", "tanh"):
                raise ValueError(f"its network is of an unknown kind: {network!r}")
            if data["preprocessing"]:
                raise ValueError(f"it asks for unknown preprocessing: {data['preprocessing']!r}")
            return cls(
                algorithm=str(data["algorithm"]),
                env_id=str(data["env_id"]),
                observation_space=_space(data["observation_space"], "Box"),
                action_space=_space(data["action_space"], "Discrete"),
                hidden=_widths(network["hidden"]),
                seed=int(data["seed"]),
                total_steps=int(data["total_steps"]),
                mean_return=None if evaluation["mean_return"] is None else float(evaluation["mean_return"]),
                evaluation_seeds=tuple(int(s) for s in evaluation["seeds"]),
                agents=tuple(str(a) for a in data["agents"]),
                config=dict(data["config"]),
                versions=dict(data["versions"]),
                trained_at=str(data["trained_at"]),
                weights_sha256=str(data["weights"]["sha256"]),
            )
        except KeyError as error:
            raise ValueError(f"the key {error} is missing") from error
        except (TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"a value has the wrong type ({error})") from error


def save_checkpoint(folder: Path, description: PolicyDescription, weights: bytes) -> PolicyDescription:
    """Write a checkpoint so that at every moment the folder holds a complete one.

    The new weights are put beside the old ones, the description that names their hash replaces
    the old description, then the weights take their place. A reader that finds weights of
    another hash looks at the pending ones, so a cut between the two renames loses nothing.

    Args:
        folder: Where to; made if need be.
        description: What the weights are; its hash is filled in.
        weights: Content of the safetensors file.

    Returns:
        The description with the hash.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(weights).hexdigest()
    described = replace(description, weights_sha256=digest)
    text = json.dumps(described.to_json(), indent=1, allow_nan=False) + "\n"
    _write(folder / _PENDING, weights)
    _write(folder / (DESCRIPTION + ".new"), text.encode())
    (folder / (DESCRIPTION + ".new")).replace(folder / DESCRIPTION)
    (folder / _PENDING).replace(folder / WEIGHTS)
    _sync(folder)
    return described


def holds_checkpoint(folder: Path) -> bool:
    """Whether ``folder`` holds a checkpoint, whole or not."""
    return (folder / DESCRIPTION).exists() or (folder / WEIGHTS).exists()


def read_checkpoint(checkpoint: str | Path) -> tuple[PolicyDescription, bytes]:
    """Read a checkpoint and prove that its weights are those it describes.

    Args:
        checkpoint: Its folder, its ``policy.json`` or its ``model.safetensors``.

    Returns:
        The description and the content of the safetensors file.

    Raises:
        LoadError: It is missing, damaged, unsafe or of another version, with the way out.
    """
    folder = _folder(Path(checkpoint).expanduser())
    # Twice, as a training may replace description and weights between the two reads.
    for _ in range(2):
        description = read_description(folder)
        for name in (WEIGHTS, _PENDING):
            weights = _read(folder / name, missing_ok=True)
            if weights is not None and hashlib.sha256(weights).hexdigest() == description.weights_sha256:
                return description, weights
    if not (folder / WEIGHTS).exists():
        raise LoadError(f"checkpoint {folder} has no {WEIGHTS}. Copy both files, or train it again")
    raise LoadError(
        f"{folder / WEIGHTS} is damaged or belongs to another {DESCRIPTION} (its sha256 differs). "
        "Copy both files again, or train it again"
    )


def read_description(folder: Path) -> PolicyDescription:
    """Read ``policy.json`` alone.

    Raises:
        LoadError: It is missing or damaged, with the way out.
    """
    path = folder / DESCRIPTION
    data = _read(path, missing_ok=True)
    if data is None:
        raise LoadError(f"{folder} holds no {DESCRIPTION}. {_TRAIN}")
    try:
        return PolicyDescription.from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise LoadError(
            f"{path} cannot be used: {error}. Copy the checkpoint again, or train it again"
        ) from error


def _folder(path: Path) -> Path:
    if path.suffix.lower() in _PICKLES:
        raise LoadError(
            f"{path} may be a pickle, which can run code when it is loaded, so it is not opened. "
            f"Give a folder with {DESCRIPTION} and {WEIGHTS}. {_TRAIN}"
        )
    if path.is_dir():
        return path
    if not path.exists():
        raise LoadError(f"checkpoint {path} does not exist. {_TRAIN}")
    if path.name in (DESCRIPTION, WEIGHTS):
        return path.parent
    raise LoadError(f"{path} is no checkpoint. Give its folder, its {DESCRIPTION} or its {WEIGHTS}")


def _read(path: Path, *, missing_ok: bool) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if missing_ok:
            return None
        raise
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}. Check its permissions") from error


def _write(path: Path, data: bytes) -> None:
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)  # a full disk needs the space back
        raise


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _space(data: Mapping[str, Any], kind: str) -> Space:
    space = Space.from_json(data)
    if space.kind != kind:
        raise ValueError(f"it needs a {kind} space where it has {space.kind}")
    return space


def _widths(values: Any) -> tuple[int, ...]:
    widths = tuple(values)
    if not widths or not all(type(w) is int and 1 <= w <= 65_536 for w in widths):
        raise ValueError(f"its hidden widths are {values!r}")
    return widths
