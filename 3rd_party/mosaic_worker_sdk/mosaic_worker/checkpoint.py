"""Policies on disk: ``policy.json`` describes a policy, ``model.safetensors`` holds its weights.

This module never unpickles. Reading needs neither torch nor Gymnasium, so a checkpoint can be
described or refused without importing them. Only the worker that wrote a checkpoint interprets
``network``, the description of its weights.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union, cast

from mosaic_worker.plain_files import UnsafeFileError, read_file, replace_file
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError

FORMAT_VERSION = 3
"""Format version of joint policies; a policy without parts is written in format ``_WHOLE_VERSION``."""
_WHOLE_VERSION = 2
DESCRIPTION = "policy.json"
WEIGHTS = "model.safetensors"
_PENDING = "model.safetensors.new"
LARGEST_WEIGHTS = 2**30
_LARGEST_DESCRIPTION = 8 * 2**20
_FOREIGN = (".pt", ".pth", ".zip", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib", ".cleanrl_model")
_TRAIN = "Train one with `mosaic train`, or bring one with `mosaic policies add`"
_FIRST_WORKER = "cleanrl_worker"
"""Id of the worker that wrote all files of format 1; files of that format do not name their worker."""


@dataclass(frozen=True)
class PolicyPart:
    """A part of a joint policy: some of its agents and the network that plays them.

    Attributes:
        agents: Names of the agents that the part plays.
        observation_space: Observation space that their slots must have, without the action mask.
        action_space: Action space of the agents.
        network: Description of the network, in the worker's own terms.
        preprocessing: Preprocessing steps between a slot and the worker.
        input_space: Observation space after preprocessing; ``None`` if it equals ``observation_space``.
        weights: Prefix of the names of its tensors. Parts with the same prefix share a network.
    """

    agents: Tuple[str, ...]
    observation_space: Space
    action_space: Space
    network: Mapping[str, Any]
    preprocessing: Tuple[Mapping[str, Any], ...] = ()
    input_space: Optional[Space] = None
    weights: str = ""

    def to_json(self) -> Dict[str, Any]:
        """Return the part as an entry of ``parts`` in ``policy.json``."""
        shown = self.observation_space if self.input_space is None else self.input_space
        return {
            "agents": list(self.agents),
            "observation_space": self.observation_space.to_json(),
            "preprocessing": [dict(step) for step in self.preprocessing],
            "input_space": shown.to_json(),
            "action_space": self.action_space.to_json(),
            "network": dict(self.network),
            "weights": self.weights,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyPart:
        """Read an entry of ``parts``; :meth:`PolicyDescription.from_json` converts what this raises."""
        observation_space, shown = (
            Space.from_json(data["observation_space"]),
            Space.from_json(data["input_space"]),
        )
        return cls(
            tuple(str(agent) for agent in data["agents"]),
            observation_space,
            Space.from_json(data["action_space"]),
            dict(data["network"]),
            tuple(_step(step) for step in data["preprocessing"]),
            None if shown == observation_space else shown,
            str(data["weights"]),
        )


@dataclass(frozen=True)
class PolicyDescription:
    """The content of ``policy.json``: a description of a policy and of its training.

    A joint policy has ``parts``, each with one or more agents. Its spaces, preprocessing and network
    are then those of the first part. :meth:`part_of` returns the policy of one of its agents.

    Attributes:
        worker: Id of the worker that plays the policy.
        algorithm: Training algorithm, for example ``"ppo"``.
        env_id: Id of the environment in which the policy was trained.
        observation_space: Observation space that a slot must have, without the action mask.
        action_space: Action space of the policy.
        network: Description of the network, in the worker's own terms.
        preprocessing: Steps between the slot and the worker, see :mod:`mosaic_worker.preprocessing`.
        input_space: Observation space after preprocessing; ``None`` if it equals ``observation_space``.
        agents: Names of the agents that the policy plays.
        seed: Seed of the training.
        total_steps: Environment steps of the training.
        mean_return: Mean return of the evaluation after the training; ``None`` if there was none.
        evaluation_seeds: Environment seeds of that evaluation.
        config: All settings of the training.
        versions: Versions of the packages used for the training.
        trained_at: Time of the training in ISO 8601.
        licence: License as an SPDX name or as text; empty if unknown.
        origin: ``kind`` is ``trained`` or ``imported``, the latter with ``file``, ``sha256`` and ``format``.
        weights_sha256: SHA-256 of the weights file in lower-case hexadecimal.
        parts: Parts of a joint policy; empty if one network plays all ``agents``.
        weights_prefix: Prefix of the names of its tensors if it is one part of a joint policy.
    """

    worker: str
    algorithm: str
    env_id: str
    observation_space: Space
    action_space: Space
    network: Mapping[str, Any]
    preprocessing: Tuple[Mapping[str, Any], ...] = ()
    input_space: Optional[Space] = None
    agents: Tuple[str, ...] = ("agent_0",)
    seed: int = 0
    total_steps: int = 0
    mean_return: Optional[float] = None
    evaluation_seeds: Tuple[int, ...] = ()
    config: Mapping[str, Any] = field(default_factory=lambda: _no_settings())
    versions: Mapping[str, str] = field(default_factory=lambda: _no_settings())
    trained_at: str = ""
    licence: str = ""
    origin: Mapping[str, str] = field(default_factory=lambda: {"kind": "trained"})
    weights_sha256: str = ""
    parts: Tuple[PolicyPart, ...] = ()
    weights_prefix: str = ""

    @classmethod
    def joint(cls, parts: Sequence[PolicyPart], **about: Any) -> PolicyDescription:
        """Describe a joint policy.

        Args:
            parts: Parts of the policy; each agent is in exactly one.
            about: Other fields of the description: worker, algorithm, env_id and so on.
        """
        first = parts[0]
        return cls(
            observation_space=first.observation_space,
            action_space=first.action_space,
            network=first.network,
            preprocessing=first.preprocessing,
            input_space=first.input_space,
            agents=tuple(agent for part in parts for agent in part.agents),
            parts=tuple(parts) if len(parts) > 1 or first.weights else (),
            **about,
        )

    def part_of(self, agent: str) -> PolicyDescription:
        """Return the description of the policy of one agent.

        Raises:
            LoadError: The checkpoint has no agent of that name.
        """
        if agent not in self.agents:
            raise LoadError(
                f"the checkpoint holds no agent {agent!r}. Set checkpoint_agent to one of: "
                f"{', '.join(self.agents)}"
            )
        part = next((part for part in self.parts if agent in part.agents), None)
        if part is None:
            return replace(self, agents=(agent,))
        return replace(
            self,
            agents=(agent,),
            observation_space=part.observation_space,
            action_space=part.action_space,
            network=part.network,
            preprocessing=part.preprocessing,
            input_space=part.input_space,
            parts=(),
            weights_prefix=part.weights,
        )

    def played_instead(self, agent: str, own: str) -> PolicyDescription:
        """Return the policy that plays ``agent`` after a seat swap, or that of the slot's own agent
        ``own``.
        """
        try:
            return self.played_by(agent)
        except LoadError:
            return self.played_by(own)

    def played_by(self, agent: str, part: Optional[str] = None) -> PolicyDescription:
        """Return the policy that plays an agent: that of ``part``, else its own, else that of its kind.

        For example, ``green_1`` is of the kind ``green``: if the policy has ``green_0`` and no other agent of
        that kind, the policy of ``green_0`` plays ``green_1``. A policy without parts plays any agent.

        Args:
            agent: Name of the agent that is played.
            part: The slot's setting ``checkpoint_agent``, if it has one.

        Raises:
            LoadError: The policy has no agent ``part``, or it has parts and none of them fits ``agent``.
        """
        if part or agent in self.agents:
            return self.part_of(part or agent)
        if not self.parts:
            return self
        alike = [each for each in self.agents if _kind(each) == _kind(agent)]
        if len(alike) == 1:
            return self.part_of(alike[0])
        raise LoadError(
            f"the checkpoint holds {', '.join(self.agents)}, and none is called {agent}. Say which of them "
            f"plays there, with checkpoint_agent"
        )

    @property
    def shown_space(self) -> Space:
        """Observation space of the worker, after preprocessing."""
        return self.observation_space if self.input_space is None else self.input_space

    def to_json(self) -> Dict[str, Any]:
        """Return the content of ``policy.json``."""
        what = self._whole()
        played: Dict[str, Any] = (
            {"parts": [part.to_json() for part in self.parts]}
            if self.parts
            else {key: value for key, value in what.to_json().items() if key != "weights"}
        )
        return {
            "format_version": FORMAT_VERSION if self.parts else _WHOLE_VERSION,
            "worker": self.worker,
            "algorithm": self.algorithm,
            "env_id": self.env_id,
            **played,
            "weights": {"file": WEIGHTS, "sha256": self.weights_sha256},
            "seed": self.seed,
            "total_steps": self.total_steps,
            "evaluation": {"mean_return": self.mean_return, "seeds": list(self.evaluation_seeds)},
            "config": dict(self.config),
            "versions": dict(self.versions),
            "trained_at": self.trained_at,
            "licence": self.licence,
            "origin": dict(self.origin),
        }

    def _whole(self) -> PolicyPart:
        """Return a single part that plays all agents of the policy."""
        return PolicyPart(
            self.agents,
            self.observation_space,
            self.action_space,
            self.network,
            self.preprocessing,
            self.input_space,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyDescription:
        """Read the content of ``policy.json`` in the current or an earlier format.

        Raises:
            ValueError: ``data`` does not describe a policy; the message says why.
        """
        try:
            return _described(data)
        except KeyError as error:
            raise ValueError(f"the key {error} is missing") from error
        except (TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"a value has the wrong type ({error})") from error


def _no_settings() -> Dict[str, Any]:
    return {}


def _described(data: Mapping[str, Any]) -> PolicyDescription:
    version = data["format_version"]
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ValueError(
            f"its format_version is {version!r} and this version of MOSAIC reads 1 to {FORMAT_VERSION}"
        )
    first = version == 1
    if first and data["preprocessing"]:
        raise ValueError(f"it names preprocessing that format 1 does not have: {data['preprocessing']!r}")
    evaluation, mean = data["evaluation"], data["evaluation"]["mean_return"]
    if data["weights"]["file"] != WEIGHTS:
        raise ValueError(f"its weights are in {data['weights']['file']!r} where {WEIGHTS} is needed")
    return PolicyDescription.joint(
        _parts_of(data, version),
        worker=_FIRST_WORKER if first else str(data["worker"]),
        algorithm=str(data["algorithm"]),
        env_id=str(data["env_id"]),
        seed=int(data["seed"]),
        total_steps=int(data["total_steps"]),
        mean_return=None if mean is None else float(mean),
        evaluation_seeds=tuple(int(seed) for seed in evaluation["seeds"]),
        config=dict(data["config"]),
        versions={str(name): str(value) for name, value in dict(data["versions"]).items()},
        trained_at=str(data["trained_at"]),
        licence="" if first else str(data["licence"]),
        origin={"kind": "trained"} if first else {str(k): str(v) for k, v in dict(data["origin"]).items()},
        weights_sha256=str(data["weights"]["sha256"]),
    )


def _parts_of(data: Mapping[str, Any], version: int) -> Tuple[PolicyPart, ...]:
    if version < FORMAT_VERSION:
        shown = data["observation_space"] if version == 1 else data["input_space"]
        steps: Any = () if version == 1 else data["preprocessing"]
        return (PolicyPart.from_json({**data, "input_space": shown, "preprocessing": steps, "weights": ""}),)
    parts = tuple(PolicyPart.from_json(part) for part in data["parts"])
    agents = [agent for part in parts for agent in part.agents]
    if not agents or len(set(agents)) < len(agents) or not all(part.agents for part in parts):
        raise ValueError(f"its parts must name each agent once, and they name {agents!r}")
    return parts


def _kind(agent: str) -> str:
    """Return the kind of an agent, for example ``green`` for ``green_1``."""
    return agent.rpartition("_")[0]


def _step(step: Any) -> Mapping[str, Any]:
    if not isinstance(step, dict):
        raise ValueError(f"a step of its preprocessing is {step!r} where an object is needed")
    found = cast("Dict[str, Any]", step)
    if not isinstance(found.get("step"), str):
        raise ValueError(f"a step of its preprocessing has no name: {found!r}")
    return found


def save_checkpoint(folder: Path, description: PolicyDescription, weights: bytes) -> PolicyDescription:
    """Write a checkpoint in such an order that the folder contains a complete one at every moment.

    The new weights are first written beside the old ones. Then the new description, which holds
    their hash, replaces the old one. Last, the new weights replace the old ones. If the hash does
    not match, a reader uses the pending weights, so a crash between the two renames loses nothing.

    Args:
        folder: Folder of the checkpoint; it is created if it does not exist.
        description: Description of the policy; the hash of the weights is filled in.
        weights: Content of the safetensors file.

    Returns:
        The description with the hash of the weights.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(weights).hexdigest()
    described = replace(description, weights_sha256=digest)
    text = json.dumps(described.to_json(), indent=1, allow_nan=False) + "\n"
    replace_file(folder / _PENDING, weights)
    replace_file(folder / DESCRIPTION, text.encode())
    (folder / _PENDING).replace(folder / WEIGHTS)
    _sync(folder)
    return described


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: at every moment it has either the old or the new content in full.

    Raises:
        OSError: The folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)
    _sync(path.parent)


def holds_checkpoint(folder: Path) -> bool:
    """Return whether ``folder`` holds a checkpoint, complete or not."""
    return (folder / DESCRIPTION).exists() or (folder / WEIGHTS).exists()


def read_checkpoint(checkpoint: Union[str, Path]) -> Tuple[PolicyDescription, bytes]:
    """Read a checkpoint and verify its weights with the hash in its description.

    Args:
        checkpoint: The checkpoint's folder, its ``policy.json`` or its ``model.safetensors``.

    Returns:
        The description and the content of the safetensors file.

    Raises:
        LoadError: The checkpoint is missing, damaged, unsafe or of another version; the message says
            what to do.
    """
    folder = checkpoint_folder(checkpoint)
    # Read twice, because a training may replace description and weights between the two reads.
    for _ in range(2):
        description = read_description(folder)
        for name in (WEIGHTS, _PENDING):
            weights = _content_of(folder / name, LARGEST_WEIGHTS)
            if weights is not None and hashlib.sha256(weights).hexdigest() == description.weights_sha256:
                return description, weights
    if not (folder / WEIGHTS).exists():
        raise LoadError(f"checkpoint {folder} has no {WEIGHTS}. Copy both files, or train it again")
    raise LoadError(
        f"{folder / WEIGHTS} is damaged or belongs to another {DESCRIPTION} (its sha256 differs). "
        "Copy both files again, or train it again"
    )


def read_description(folder: Path) -> PolicyDescription:
    """Read only ``policy.json``.

    Raises:
        LoadError: The file is missing or damaged; the message says what to do.
    """
    path = folder / DESCRIPTION
    data = _content_of(path, _LARGEST_DESCRIPTION)
    if data is None:
        raise LoadError(f"{folder} holds no {DESCRIPTION}. {_TRAIN}")
    try:
        return PolicyDescription.from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise LoadError(
            f"{path} cannot be used: {error}. Copy the checkpoint again, or train it again"
        ) from error


def checkpoint_folder(checkpoint: Union[str, Path]) -> Path:
    """Return the folder of a checkpoint, given the folder itself or one of its files.

    Raises:
        LoadError: There is no checkpoint, or the path is a file that could run code when it is loaded.
    """
    path = Path(checkpoint).expanduser()
    if path.suffix.lower() in _FOREIGN and not path.is_dir():
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


def _content_of(path: Path, limit: int) -> Optional[bytes]:
    """Return the content of a file, or ``None`` if the file does not exist."""
    try:
        return read_file(path, limit=limit)
    except FileNotFoundError:
        return None
    except UnsafeFileError as error:
        raise LoadError(f"{path} is not read: {error.strerror}. Replace it by a regular file") from error
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}. Check its permissions") from error


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
