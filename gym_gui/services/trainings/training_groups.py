"""Groups of trainings that share algorithm, environment and settings and differ only in their seed.

Each training names its group in its ``train.json``, in any folder, so that trainings of the daemon and of the
foreground can belong to one group. No other file describes a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError
from gym_gui.core.experiment.named_training_groups import GROUP_PREFIX, group_name
from gym_gui.services.store import Store
from gym_gui.services.trainer.queue_entry import was_cancelled
from gym_gui.services.trainer.remote_training import read_remote_training
from gym_gui.services.trainer.request import SavedRequest
from gym_gui.services.trainer.training_folder import QUEUE, REQUEST, RUNNER, RunFolder
from gym_gui.services.trainer.training_outcome import read_outcome
from gym_gui.services.trainer.training_process import TrainingProcess

DEPTHS: Final = (f"*/{REQUEST}", f"*/*/{REQUEST}")
"""Glob patterns of trainings below a folder that is searched for policies."""


@dataclass(frozen=True)
class GroupMember:
    """One training of a group.

    Attributes:
        folder: The run folder.
        request: The recorded request.
        state: ``waiting``, ``running``, ``completed``, ``stopped``, ``failed`` or ``damaged``.
        reason: Reason for the state; empty if there is none.
        step: Environment steps trained; 0 if the training reported none.
        score: Mean return of the evaluation of a completed training.
        ended_at: Unix time of its end; 0 if it was not recorded.
    """

    folder: Path
    request: SavedRequest
    state: str
    reason: str = ""
    step: int = 0
    score: float | None = None
    ended_at: float = 0.0

    @property
    def seed(self) -> int:
        """The only seed of the training."""
        return self.request.seed

    @property
    def completed(self) -> bool:
        """Whether the training is completed and was evaluated."""
        return self.state == "completed"

    @property
    def holds_policy(self) -> bool:
        """Whether the run folder contains a policy."""
        return RunFolder(self.folder).holds_policy


@dataclass(frozen=True)
class TrainingGroup:
    """Trainings that differ only in their seed.

    Attributes:
        label: Name of the group in its trainings, such as ``ppo``.
        env_id: Id of the environment.
        members: One training for each seed, in the order of seeds.
    """

    label: str
    env_id: str
    members: tuple[GroupMember, ...]

    @property
    def name(self) -> str:
        """Name of the group for commands."""
        return group_name(self.label, self.env_id)

    @property
    def about(self) -> SavedRequest:
        """Request of the first training. The others differ only in the seed."""
        return self.members[0].request

    @property
    def completed(self) -> tuple[GroupMember, ...]:
        """Completed trainings of the group."""
        return tuple(member for member in self.members if member.completed)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seed of each training."""
        return tuple(member.seed for member in self.members)

    @cached_property
    def unequal(self) -> str:
        """Difference between the trainings besides their seeds, in words; empty if there is none."""
        for member in self.members[1:]:
            if difference := setting_difference(self.about, member.request):
                return f"seed {member.seed}: {difference}"
        return ""


def setting_difference(first: SavedRequest, second: SavedRequest) -> str:
    """Return the difference between two trainings besides their seeds, in words; empty if there is none."""
    for what in ("worker", "algorithm", "env_id", "arguments"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            return f"{what} {other or 'none'} in place of {one or 'none'}"
    for name in sorted({*first.given, *second.given}):
        one, other = _setting(first, name), _setting(second, name)
        if one != other:
            return f"{name} {other} in place of {one}"
    return ""


def _setting(request: SavedRequest, name: str) -> Any:
    return request.given.get(name, request.settings.get(name, "default"))


class TrainingGroups:
    """Finds all groups of trainings on disk, anew at each call. Call it off the GUI thread.

    Args:
        store: Provides the folders: the daemon's trainings in the data folder, others in ``runs``.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or Store()

    def all(self) -> list[TrainingGroup]:
        """Return all groups, sorted by name."""
        return _grouped(_members_below((self._store.data / "training", self._store.runs)))

    def find(self, written: str | Path) -> TrainingGroup:
        """Return the group with a name or in a folder.

        Raises:
            UnknownNameError: There is no such group. The message names the nearest.
            UsageError: The folder contains several groups, or the group's trainings differ.
        """
        name = str(written).removeprefix(GROUP_PREFIX)
        groups = self.all()
        found = next((group for group in groups if group.name == name), None)
        if found is None and Path(written).is_dir():
            found = _only(group_folder(Path(written)), Path(written))
        if found is None:
            names = [group.name for group in groups]
            raise UnknownNameError("group of trainings", name, names, hint="mosaic train --seeds 5 makes one")
        if found.unequal:
            raise UsageError(
                f"the trainings of {found.name} differ in more than their seed: {found.unequal}",
                fix="Train them again with the same settings, or move some away",
            )
        return found


def group_folder(folder: Path) -> list[TrainingGroup]:
    """Return the groups whose trainings lie in a folder. The folder of a single training has none."""
    return _grouped(_members_below((folder,)))


def is_group_folder(folder: Path) -> bool:
    """Return whether a folder contains trainings of a group."""
    return folder.is_dir() and any(_group_of(path) for path in folder.glob(DEPTHS[0]))


def group_of(folder: Path) -> str:
    """Return the name of the group that a run folder's training belongs to; empty if it has none."""
    return _group_of(folder / REQUEST)


def _group_of(path: Path) -> str:
    try:
        row = RunFolder(path.parent).read(path.name) or {}
    except MosaicError:
        return ""
    label, env_id = row.get("group"), row.get("env_id")
    return group_name(label, env_id) if label and isinstance(label, str) and isinstance(env_id, str) else ""


def _only(groups: Sequence[TrainingGroup], folder: Path) -> TrainingGroup | None:
    if len(groups) > 1:
        names = ", ".join(group.name for group in groups)
        raise UsageError(f"{folder} contains several groups of trainings: {names}", fix="Name each of them")
    return groups[0] if groups else None


def _members_below(roots: Iterable[Path]) -> Iterator[GroupMember]:
    seen: set[Path] = set()
    for root in roots:
        for pattern in DEPTHS:
            for path in sorted(root.glob(pattern)):
                folder = path.parent
                hidden = any(part.startswith(".") for part in folder.relative_to(root).parts)
                linked = any(each.is_symlink() for each in (folder, folder.parent) if each != root)
                if hidden or linked or folder.resolve() in seen or not _group_of(path):
                    continue
                seen.add(folder.resolve())
                member = read_member(folder)
                if member is not None:
                    yield member


def _grouped(members: Iterable[GroupMember]) -> list[TrainingGroup]:
    found: dict[tuple[str, str], dict[int, GroupMember]] = defaultdict(dict)
    for member in members:
        of_seed = found[member.request.group, member.request.env_id]
        before = of_seed.get(member.seed)
        if before is None or _rank(member) > _rank(before):
            of_seed[member.seed] = member
    groups = [
        TrainingGroup(label, env_id, tuple(of_seed[seed] for seed in sorted(of_seed)))
        for (label, env_id), of_seed in found.items()
    ]
    return sorted(groups, key=lambda group: group.name)


_RANKS: Mapping[str, int] = {"completed": 3, "running": 2, "waiting": 2, "stopped": 1}


def _rank(member: GroupMember) -> tuple[int, float]:
    """Return a rank that decides between trainings with the same seed: first by state, then by end."""
    return _RANKS.get(member.state, 0), member.ended_at


def read_member(folder: Path) -> GroupMember | None:
    """Return the training in a run folder, or ``None`` if its request cannot be read."""
    try:
        request = SavedRequest.read(folder)
    except MosaicError:
        return None
    try:
        return _member_in(folder, request)
    except (MosaicError, OSError, KeyError, TypeError, ValueError) as error:
        return GroupMember(folder, request, "damaged", str(error))


def _member_in(folder: Path, request: SavedRequest) -> GroupMember:
    run = RunFolder(folder)
    if (where := read_remote_training(folder)) is not None:
        return GroupMember(folder, request, where.state, where.reason or f"it is on {where.place}")
    runner = run.read(RUNNER)
    if runner is None:
        if run.read(QUEUE) is None:
            return GroupMember(folder, request, "failed", "it has not begun")
        return GroupMember(folder, request, "stopped" if was_cancelled(run) else "waiting")
    if TrainingProcess.attach(folder).alive:
        return GroupMember(folder, request, "running")
    outcome = read_outcome(run, runner)
    score = outcome.mean_return if outcome.state == "completed" else None
    if outcome.state == "completed" and score is None:
        return GroupMember(folder, request, "stopped", "it was not evaluated", outcome.step)
    return GroupMember(
        folder, request, outcome.state, outcome.reason, outcome.step, score, float(outcome.ended_at or 0.0)
    )
