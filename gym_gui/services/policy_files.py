"""Trained policies on disk, by what their ``policy.json`` says; nothing of them is loaded."""

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
        path: Its folder.
        description: What its ``policy.json`` says.
        name: What the library calls it, and files refer to it by; empty outside of the library.
        called: What its training is called by people; empty where no training left it.
    """

    path: Path
    description: PolicyDescription
    name: str = ""
    called: str = ""

    @property
    def title(self) -> str:
        """What people call it, everywhere: as its training, else as the library does, else as its folder."""
        return self.called or self.name or self.path.name

    @property
    def algorithm(self) -> str:
        """How it was trained, in lower case."""
        return self.description.algorithm.lower()

    @property
    def env_id(self) -> str:
        """Where it was trained."""
        return self.description.env_id

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents whose parts it holds."""
        return self.description.agents

    @property
    def observation_space(self) -> Space:
        """Space of the observations that it was trained on, before preprocessing."""
        return self.description.observation_space

    @property
    def shown(self) -> Space:
        """Space of what comes out of its preprocessing."""
        return self.description.shown_space

    @property
    def action_space(self) -> Space:
        """Space of its actions."""
        return self.description.action_space

    @property
    def preprocessing(self) -> tuple[Mapping[str, Any], ...]:
        """Steps between what the slot sees and what it is shown."""
        return self.description.preprocessing

    def played_by(self, agent: str, part: str | None = None) -> PolicyFile:
        """What of it plays an agent; raises as :meth:`PolicyDescription.played_by`."""
        return replace(self, description=self.description.played_by(agent, part))

    @property
    def steps(self) -> int:
        """Environment steps it was trained for."""
        return self.description.total_steps

    @property
    def worker_id(self) -> str:
        """The worker that plays it."""
        return self.description.worker


def read_policy_file(path: Path) -> PolicyFile | None:
    """Describe a trained policy; ``None`` where there is none that can be described.

    Args:
        path: Its folder, or a file in it.
    """
    try:
        return describe_policy(path)
    except (OSError, ValueError, RecursionError):
        return None


def describe_policy(path: Path) -> PolicyFile:
    """Describe a trained policy.

    Args:
        path: Its folder, or a file in it.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no description, or one that is not understood here.
    """
    folder = path.expanduser()
    described = folder / DESCRIPTION if folder.is_dir() else folder.parent / DESCRIPTION
    data: Any = json.loads(read_file(described, limit=_LARGEST))
    if not isinstance(data, dict):
        raise ValueError(f"{described} is no description of a policy")
    description = PolicyDescription.from_json(data)  # pyright: ignore[reportUnknownArgumentType]
    for part in description.parts or (description,):
        check_steps(part.preprocessing)
    return PolicyFile(described.parent, description)


def preprocessing_problem(path: Path) -> str:
    """What is wrong with a policy's preprocessing, where that is what keeps it from being read."""
    try:
        describe_policy(path)
    except PreprocessingError as error:
        return str(error)
    except (OSError, ValueError, RecursionError):
        pass
    return ""


def find_policy_files(roots: Iterable[Path]) -> list[PolicyFile]:
    """Trained policies in some folders and up to two levels below, each once, by path."""
    found: dict[Path, PolicyFile] = {}
    for root in roots:
        for pattern in (DESCRIPTION, f"*/{DESCRIPTION}", f"*/*/{DESCRIPTION}"):
            for described in sorted(root.glob(pattern)):
                policy = read_policy_file(described)
                if policy is not None:
                    found.setdefault(described.parent.resolve(), policy)
    if any(policy.preprocessing for policy in found.values()):
        # Gymnasium takes half a second to import, which who then looks for a fit may not have.
        import_module("mosaic_worker.observation_wrappers")
    return list(found.values())
