"""The library of trained policies, which finds policies in several folders and names them.

Policies are found where trainings save them (run folders) and where users put them (``policies`` in the data
folder, and the users' own folders). Listing the policies copies and loads nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, cast

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.paths import EXAMPLES
from gym_gui.services.policies.policy_parts import parts_of
from gym_gui.services.policies.policy_scores import PolicyScore, ScoreStore
from gym_gui.services.policy_files import PolicyFile, describe_policy, find_policy_files
from gym_gui.services.store import Store
from gym_gui.services.trainings.training_titles import titles_in
from gym_gui.services.trash import move_to_trash
from mosaic_worker.failures import described
from mosaic_worker.plain_files import read_file, replace_file

PREFIX: Final = "library:"
"""Prefix for a policy's name in place of its path: ``library:NAME``."""

Place = Literal["library", "training", "runs", "folder", "bundled"]

_BUNDLED = tuple(folder / "checkpoints" for folder in EXAMPLES)
_FOLDERS = "folders.json"
_SCORES = ".scores"


@dataclass(frozen=True)
class PolicyEntry:
    """One policy of the library.

    Attributes:
        name: Unique name of the policy.
        file: Folder of the policy and the content of its ``policy.json``.
        place: Kind of the folder that it was found in: ``library`` (put there), ``training`` (a run of
            the daemon), ``runs``, ``folder`` (one of the user's own), ``bundled``.
        score: Score on the standard seeds; ``None`` if it was not measured.
    """

    name: str
    file: PolicyFile
    place: Place
    score: PolicyScore | None = None

    @property
    def fixed(self) -> str:
        """Why the policy cannot be removed, as a sentence; empty if it can."""
        if self.place == "bundled":
            return "It comes with MOSAIC and cannot be removed"
        if self.place == "training":
            return "It belongs to a training run: remove the run under Runs on the Train page"
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return the policy's description and score as plain data."""
        about = self.file.description
        return {
            "name": self.name,
            "title": self.file.title,
            "path": str(self.file.path),
            "place": self.place,
            "worker": about.worker,
            "algorithm": about.algorithm,
            "env_id": about.env_id,
            "agents": list(about.agents),
            "parts": [part.to_json() for part in parts_of(about)],
            "observation_space": about.observation_space.to_json(),
            "preprocessing": [dict(step) for step in about.preprocessing],
            "input_space": about.shown_space.to_json(),
            "action_space": about.action_space.to_json(),
            "seed": about.seed,
            "total_steps": about.total_steps,
            "training_return": about.mean_return,
            "score": self.score.to_json() if self.score is not None else None,
            "sha256": about.weights_sha256,
            "licence": about.licence,
            "origin": dict(about.origin),
            "trained_at": about.trained_at,
            "versions": dict(about.versions),
        }


class PolicyLibrary:
    """Finds policies, and stores those that are put into the library.

    Reading takes file accesses: call it off the GUI thread.

    Args:
        store: Provides the folders.
    """

    def __init__(self, store: Store | None = None) -> None:
        self.store = store if store is not None else Store()
        self.scores = ScoreStore(self.folder / _SCORES)

    @property
    def folder(self) -> Path:
        """Folder for policies that are put into the library, created with the first one."""
        return self.store.data / "policies"

    def roots(self) -> list[tuple[Place, Path]]:
        """Return the folders that are searched for policies, in order of precedence."""
        own: list[tuple[Place, Path]] = [
            ("library", self.folder),
            ("training", self.store.data / "training"),
            ("runs", self.store.runs),
        ]
        for folder in self.folders():
            own.append(("folder", folder))
        for folder in _BUNDLED:
            own.append(("bundled", folder))
        return [(place, root.absolute()) for place, root in own if root.is_dir()]

    def entries(self) -> list[PolicyEntry]:
        """Return all policies, each once and with a unique name."""
        taken: dict[str, PolicyEntry] = {}
        seen: set[Path] = set()
        for place, root in self.roots():
            runs = titles_in(root) if place == "training" else {}
            for file in find_policy_files([root]):
                whole = file.path.resolve()
                hidden = any(part.startswith(".") for part in file.path.relative_to(root).parts)
                if whole in seen or hidden:
                    continue
                seen.add(whole)
                name = next(name for name in _names(root, file.path) if name not in taken)
                called = _title_in_run(file.path.relative_to(root).parts, runs)
                found = replace(file, name=name, called=called)
                taken[name] = PolicyEntry(name, found, place, self.scores.get(file))
        return list(taken.values())

    def files(self) -> list[PolicyFile]:
        """Return the files of all policies, for the pickers of the window."""
        return [entry.file for entry in self.entries()]

    def find(self, name: str) -> PolicyEntry:
        """Return the policy with a name.

        Raises:
            UnknownNameError: There is no such policy. The message names the nearest.
        """
        entries = self.entries()
        wanted = name.removeprefix(PREFIX)
        found = next((entry for entry in entries if entry.name == wanted), None)
        if found is None:
            names = [entry.name for entry in entries]
            raise UnknownNameError("policy", wanted, names, hint="`mosaic policies list` shows them all")
        return found

    def find_folder(self, folder: Path) -> PolicyEntry:
        """Return the policy in a folder, also if the folder is not searched for policies.

        Raises:
            UsageError: The folder holds no policy that can be read.
        """
        place = folder.resolve()
        known = next((entry for entry in self.entries() if entry.file.path.resolve() == place), None)
        if known is not None:
            return known
        try:
            file = describe_policy(folder)
        except (OSError, ValueError, RecursionError) as exc:
            raise UsageError(f"{folder} holds no policy: {described(exc)}") from exc
        return PolicyEntry(str(folder), file, "folder", self.scores.get(file))

    def path_of(self, written: str) -> str:
        """Return the path of a policy written as ``library:NAME``. Other paths are returned unchanged.

        Raises:
            UnknownNameError: There is no policy of that name.
        """
        return str(self.find(written).file.path) if written.startswith(PREFIX) else written

    # -- the user's own folders ----------------------------------------------------------

    def folders(self) -> list[Path]:
        """Return the user's own folders that are searched for policies."""
        try:
            data: Any = json.loads(read_file(self.folder / _FOLDERS, links=True))
        except (OSError, ValueError):
            return []
        found = cast("list[Any]", data) if isinstance(data, list) else []
        return [Path(each) for each in found if isinstance(each, str) and each]

    def watch_folder(self, folder: Path) -> None:
        """Add a folder to those that are searched for policies.

        Raises:
            UsageError: The folder does not exist, or the list of folders cannot be saved.
        """
        whole = folder.expanduser().absolute()
        if not whole.is_dir():
            raise UsageError(f"there is no folder {folder}", fix="Name a folder that contains policies")
        self._keep_folders([*(f for f in self.folders() if f != whole), whole])

    def forget_folder(self, folder: Path) -> None:
        """Remove a folder from those that are searched. Its files stay.

        Raises:
            UnknownNameError: The folder is not in the list.
        """
        whole = folder.expanduser().absolute()
        if whole not in self.folders():
            raise UnknownNameError("folder of policies", str(whole), map(str, self.folders()))
        self._keep_folders(f for f in self.folders() if f != whole)

    def _keep_folders(self, folders: Iterable[Path]) -> None:
        path = self.store.data_dir("policies") / _FOLDERS
        try:
            replace_file(path, (json.dumps([str(f) for f in folders], indent=1) + "\n").encode())
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error

    # -- adding and removing policies ---------------------------------------------------

    def place_for(self, name: str) -> Path:
        """Return the folder for a new policy of a given name.

        Raises:
            UsageError: The name cannot be a folder's name, or it is taken.
        """
        if (
            not name
            or name in (".", "..")
            or name.startswith((".", "-"))
            or set(name) & set('/\\:*?"<>|\0\n')
        ):
            raise UsageError(f"a policy cannot be called {name!r}", fix="Use letters, digits, _ and -")
        taken = next((entry for entry in self.entries() if entry.name == name), None)
        place = self.folder / name
        if taken is not None or place.exists():
            where = taken.file.path if taken is not None else place
            raise UsageError(f"policy {name!r} exists already in {where}", fix="Choose another --name")
        return place

    def remove(self, name: str) -> Path | None:
        """Move a policy to the trash.

        Returns:
            Path in the trash, for :func:`gym_gui.services.trash.put_back`; ``None`` if the system
            does not report the path.

        Raises:
            UsageError: There is no such policy, it cannot be removed, or a training is writing it.
            TrashError: The policy cannot be moved to the trash.
        """
        entry = self.find(name)
        if entry.fixed:
            raise UsageError(f"{name} is not removed. {entry.fixed}")
        if _is_written(entry.file.path):
            raise UsageError(f"a training is writing {name}", fix="Stop the training first")
        return move_to_trash(entry.file.path)


def at_path(assignment: WorkerAssignment, library: PolicyLibrary | None = None) -> WorkerAssignment:
    """Return an assignment with each ``library:NAME`` in its settings replaced by the policy's path.

    Raises:
        UnknownNameError: There is no policy of that name.
    """
    named = {k: v for k, v in assignment.settings.items() if isinstance(v, str) and v.startswith(PREFIX)}
    if not named:
        return assignment
    shelf = library or PolicyLibrary()
    found = {key: shelf.path_of(written) for key, written in named.items()}
    return replace(assignment, settings={**assignment.settings, **found})


def known_name(path: Path, library: PolicyLibrary | None = None) -> str:
    """Return ``library:NAME`` for the longest policy name that a path ends with; empty if there is none."""
    ends = {"/".join(path.parts[i:]) for i in range(len(path.parts))}
    known = [entry.name for entry in (library or PolicyLibrary()).entries() if entry.name in ends]
    return f"{PREFIX}{max(known, key=len)}" if known else ""


def _title_in_run(inner: Sequence[str], runs: Mapping[str, str]) -> str:
    """Return a policy's title in a training run: ``RUN``, or ``FOLDER of RUN`` if it is in a subfolder."""
    run = runs.get(inner[0], "") if inner else ""
    return f"{'/'.join(inner[1:])} of {run}" if run and inner[1:] else run


def _names(root: Path, path: Path) -> Iterator[str]:
    """Yield possible names for a policy, the shortest first. The last name is always unique."""
    inner = path.relative_to(root).parts
    yield "/".join(inner) if inner else path.name
    yield "/".join((root.name, *inner))
    yield str(path.resolve())


def _is_written(folder: Path) -> bool:
    """Return whether a training is writing to a run folder."""
    try:
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
