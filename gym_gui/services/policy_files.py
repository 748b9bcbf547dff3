"""Describes trained policies on disk by their ``policy.json``, without loading them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from gym_gui.core.spaces import Space
from mosaic_worker.checkpoint import DESCRIPTION, PolicyDescription
from mosaic_worker.plain_files import read_file
from mosaic_worker.preprocessing import PreprocessingError, check_steps

_LARGEST: Final = 8 * 2**20


@dataclass(frozen=True)
class PolicyFile:
    """A trained policy on disk.

    Attributes:
        path: Folder of the policy.
        description: Contents of the policy's ``policy.json``.
        name: Name in the policy library, which experiment files refer to; empty outside the library.
        called: Title of the training that made the policy; empty if no training did.
    """

    path: Path
    description: PolicyDescription
    name: str = ""
    called: str = ""

    @property
    def title(self) -> str:
        """Name shown to people: the training's title, else the library's name, else the folder's name."""
        return self.called or self.name or self.path.name

    @property
    def algorithm(self) -> str:
        """Algorithm that trained the policy, in lower case."""
        return self.description.algorithm.lower()

    @property
    def env_id(self) -> str:
        """Id of the environment that the policy was trained in."""
        return self.description.env_id

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents that the policy has parts for."""
        return self.description.agents

    @property
    def observation_space(self) -> Space:
        """Space of the observations in training, before preprocessing."""
        return self.description.observation_space

    @property
    def shown(self) -> Space:
        """Space of the observations after the policy's preprocessing."""
        return self.description.shown_space

    @property
    def action_space(self) -> Space:
        """Action space of the policy."""
        return self.description.action_space

    @property
    def preprocessing(self) -> tuple[Mapping[str, Any], ...]:
        """Preprocessing steps between the slot's observation and the policy's network."""
        return self.description.preprocessing

    def played_by(self, agent: str, part: str | None = None) -> PolicyFile:
        """Return the part that plays an agent. Raises like :meth:`PolicyDescription.played_by`."""
        return replace(self, description=self.description.played_by(agent, part))

    @property
    def steps(self) -> int:
        """Number of environment steps in training."""
        return self.description.total_steps

    @property
    def worker_id(self) -> str:
        """Id of the worker that plays the policy."""
        return self.description.worker


def read_policy_file(path: Path) -> PolicyFile | None:
    """Return the description of a trained policy, or ``None`` if there is no readable one.

    Args:
        path: Folder of the policy, or a file in it.
    """
    try:
        return describe_policy(path)
    except (OSError, ValueError, RecursionError):
        return None


def describe_policy(path: Path) -> PolicyFile:
    """Return the description of a trained policy.

    Args:
        path: Folder of the policy, or a file in it.

    Raises:
        OSError: The description cannot be read.
        ValueError: The file is not a description, or uses a feature that is not supported here.
    """
    folder = path.expanduser()
    described = folder / DESCRIPTION if folder.is_dir() else folder.parent / DESCRIPTION
    data: Any = json.loads(read_file(described, limit=_LARGEST))
    if not isinstance(data, dict):
        raise ValueError(f"{described} is not a policy description")
    description = PolicyDescription.from_json(data)  # pyright: ignore[reportUnknownArgumentType]
    for part in description.parts or (description,):
        check_steps(part.preprocessing)
    return PolicyFile(described.parent, description)


def preprocessing_problem(path: Path) -> str:
    """Return the preprocessing error that makes a policy unreadable; empty if there is none."""
    try:
        describe_policy(path)
    except PreprocessingError as error:
        return str(error)
    except (OSError, ValueError, RecursionError):
        pass
    return ""


def find_policy_files(roots: Iterable[Path]) -> list[PolicyFile]:
    """Return the trained policies in some folders and up to two levels below, each once, sorted by path."""
    found: dict[Path, PolicyFile] = {}
    for root in roots:
        for pattern in (DESCRIPTION, f"*/{DESCRIPTION}", f"*/*/{DESCRIPTION}"):
            for described in sorted(root.glob(pattern)):
                policy = read_policy_file(described)
                if policy is not None:
                    found.setdefault(described.parent.resolve(), policy)
    if any(policy.preprocessing for policy in found.values()):
        # Importing Gymnasium takes half a second. Import it here, so that a later check of fit does not wait.
        import_module("mosaic_worker.observation_wrappers")
    return list(found.values())
