"""Plays several parts of an experiment one after the other in one command, sharing their sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gym_gui.analysis.records.reader import open_run
from gym_gui.cli.errors import DONE, INTERRUPTED, tell
from gym_gui.cli.running.shard_batch import Hand, begun_in
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.runs.reusable_sessions import KeptSessions
from gym_gui.controllers.runs.shard_plan import ShardPlan, ShardPlanner, check_same, has_budgets
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import COORDINATED, HAND, Shard
from gym_gui.core.paths import runs_dir
from gym_gui.host.prestart import HostAhead
from gym_gui.services.shards.lease_files import LeaseFiles

PlayPart: TypeAlias = Callable[[ShardPlan, Path | None, Path | None, KeptSessions | None], int]
"""Function that plays a part and returns the exit status. It gets the plan, the folder for a new run folder,
the run folder to resume, and sessions of earlier parts."""


@dataclass(frozen=True)
class Parts:
    """Parts that a command line asks for.

    Attributes:
        shards: The parts.
        folder: Folder that may contain run folders of some parts, which are resumed; ``None`` to begin all.
    """

    shards: Sequence[Shard]
    folder: Path | None = None

    @property
    def only(self) -> Shard:
        """The part, if only one may be given.

        Raises:
            UsageError: Several parts are given, or a folder to resume.
        """
        if self.folder is not None:
            raise UsageError("--dry-run with --shard does not take --resume", fix="Leave --resume out")
        if len(self.shards) > 1:
            raise UsageError("--dry-run looks at one part", fix=f"Write such as --shard {self.shards[0]}")
        return self.shards[0]

    def play(self, player: PartPlayer, out: Path | None, command: str) -> int:
        """Play the parts one after the other; return the worst exit status.

        Args:
            player: Plays the parts; closed at the end.
            out: Folder for new run folders.
            command: The command line before ``--shard``, for the message that says how to resume.
        """
        begun: Mapping[Shard, Path] = {} if self.folder is None else begun_in(self.folder)
        status = DONE
        try:
            for shard in self.shards:
                ended = player.play(shard, self.folder or out, begun.get(shard))
                status = max(status, ended)
                if ended == INTERRUPTED:
                    self._say_left(shard, self.folder or out or runs_dir(), command)
                    break
        finally:
            player.close()
        return status

    def _say_left(self, first: Shard, where: Path, command: str) -> None:
        left = [each.number for each in self.shards if each >= first]
        if len(self.shards) > 1:
            tell(f"with the others too: {command} --shard {_listed(left)}/{first.of} --resume {where}")


class PartPlayer:
    """Plays parts of a checked experiment, reusing sessions of earlier parts.

    Args:
        experiment: The experiment.
        resolved_operators: Checked operators of the experiment.
        play: Function that plays a part.
        hosts: Session host and environment checks of the command.
        keep: Whether to keep sessions for the next part.

    Raises:
        UsageError: The experiment cannot be divided.
    """

    def __init__(
        self,
        experiment: Experiment,
        resolved_operators: Sequence[ResolvedOperator],
        play: PlayPart,
        hosts: HostAhead,
        *,
        keep: bool,
    ) -> None:
        self._planner = planner_of(experiment, resolved_operators)
        if keep and has_budgets(experiment):
            raise UsageError(
                "where budgets hold for the whole run, each shard receives its own budget",
                fix="Play one shard at a time",
            )
        self._play, self._hosts = play, hosts
        self._kept = KeptSessions() if keep else None

    def play(self, shard: Shard, out: Path | None, begun: Path | None) -> int:
        """Play a part, or what is left of it; return the exit status.

        Args:
            shard: The part.
            out: Folder for its run folder.
            begun: The run folder to resume.

        Raises:
            UsageError: The person can fix the problem; nothing of the part was played.
        """
        plan = self._planner.plan(shard)
        if begun is not None:
            check_same(plan, open_run(begun))
        if self._kept is not None:
            self._hosts.run(self._kept.keep_only(plan.only.keys()))
        return self._play(plan, out, begun, self._kept)

    def close(self) -> None:
        """End the sessions that were kept."""
        if self._kept is not None:
            self._hosts.run(self._kept.close())


def planner_of(experiment: Experiment, resolved_operators: Sequence[ResolvedOperator]) -> ShardPlanner:
    """Return the planner that divides an experiment; raises as :class:`ShardPlanner`."""
    return ShardPlanner(experiment, resolved_operators, coordinated=bool(os.environ.get(COORDINATED)))


def leased_here() -> LeaseFiles | None:
    """Return the files with the budget that a shard may spend; ``None`` if no coordinator runs it."""
    folder = os.environ.get(COORDINATED)
    return LeaseFiles(Path(folder)) if folder else None


def asked_parts(written: str | None, resume: Path | None, replay: Path | None = None) -> Parts | Hand | None:
    """Return the parts that a command line asks for; ``None`` for the whole experiment.

    Args:
        written: The parts, as ``3/64`` or ``1-16/64``.
        resume: A folder that contains run folders of some parts.
        replay: A run whose recorded calls replace the models.
        replay: A run whose recorded calls stand in for the models.

    Raises:
        UsageError: ``written`` names no parts, or the arguments exclude each other.
    """
    if written is None:
        return None
    if replay is not None:
        raise UsageError("--shard does not go with --replay", fix="Leave it out: recorded replies are quick")
    if resume is not None:
        begun_in(resume)
    shards = Shard.parse_all(written)
    dealt = os.environ.get(HAND)
    return Hand.of(dealt, shards) if dealt and resume is None else Parts(shards, resume)


def _listed(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, e.g. ``3,5-9``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ",".join("-".join(map(str, span)) for span in spans)
