"""Plays several shards of an experiment one after the other in one command, with the same sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gym_gui.analysis.records.reader import open_run
from gym_gui.cli.errors import DONE, INTERRUPTED, print_message
from gym_gui.cli.running.shard_batch import ShardBatch, begun_in
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.runs.reusable_sessions import ReusableSessions
from gym_gui.controllers.runs.shard_plan import ShardPlan, ShardPlanner, check_same, has_budgets
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import COORDINATED, HAND, Shard
from gym_gui.core.paths import runs_dir
from gym_gui.host.prestart import CommandHosts
from gym_gui.services.shards.lease_files import LeaseFiles

PlayPart: TypeAlias = Callable[[ShardPlan, Path | None, Path | None, ReusableSessions | None], int]
"""Function that plays a shard and returns the exit status. Its arguments are the plan, the folder for a new
run folder, the run folder to resume, and sessions of earlier shards."""


@dataclass(frozen=True)
class ShardSelection:
    """Shards that ``--shard`` names.

    Attributes:
        shards: The shards, ascending.
        folder: Folder with run folders of some of the shards, which are resumed; ``None`` to begin all.
    """

    shards: Sequence[Shard]
    folder: Path | None = None

    @property
    def only(self) -> Shard:
        """The shard of a dry run, which takes only one.

        Raises:
            UsageError: Several shards are given, or a folder to resume.
        """
        if self.folder is not None:
            raise UsageError("--dry-run --shard cannot be combined with --resume", fix="Leave --resume out")
        if len(self.shards) > 1:
            raise UsageError("--dry-run takes one shard", fix=f"For example: --shard {self.shards[0]}")
        return self.shards[0]

    def play(self, player: ExperimentShardPlayer, out: Path | None, command: str) -> int:
        """Play the shards one after the other; return the worst exit status.

        Args:
            player: Plays the shards; closed at the end.
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
                    self._print_remaining(shard, self.folder or out or runs_dir(), command)
                    break
        finally:
            player.close()
        return status

    def _print_remaining(self, first: Shard, where: Path, command: str) -> None:
        left = [each.number for each in self.shards if each >= first]
        if len(self.shards) > 1:
            print_message(
                f"to play all remaining shards: {command} --shard {_listed(left)}/{first.of} --resume {where}"
            )


class ExperimentShardPlayer:
    """Plays shards of a checked experiment, reusing sessions of earlier shards.

    Args:
        experiment: The experiment.
        resolved_operators: Checked operators of the experiment.
        play: Function that plays a shard.
        hosts: Opens the session processes and reads the environments' slots.
        keep: Whether to keep sessions for the next shard.

    Raises:
        UsageError: The experiment cannot be divided.
    """

    def __init__(
        self,
        experiment: Experiment,
        resolved_operators: Sequence[ResolvedOperator],
        play: PlayPart,
        hosts: CommandHosts,
        *,
        keep: bool,
    ) -> None:
        self._planner = planner_of(experiment, resolved_operators)
        if keep and has_budgets(experiment):
            raise UsageError(
                "several shards cannot be played in one command if budgets hold for the whole run",
                fix="Play one shard at a time",
            )
        self._play, self._hosts = play, hosts
        self._kept = ReusableSessions() if keep else None

    def play(self, shard: Shard, out: Path | None, begun: Path | None) -> int:
        """Play a shard, or its remaining episodes; return the exit status.

        Args:
            shard: The shard.
            out: Folder for the shard's run folder.
            begun: Run folder of the shard to resume; ``None`` to begin.

        Raises:
            UsageError: The user can fix the problem; nothing of the shard was played.
        """
        plan = self._planner.plan(shard)
        if begun is not None:
            check_same(plan, open_run(begun))
        if self._kept is not None:
            self._hosts.run(self._kept.keep_only(plan.only.keys()))
        return self._play(plan, out, begun, self._kept)

    def close(self) -> None:
        """Close the sessions that were kept for further shards."""
        if self._kept is not None:
            self._hosts.run(self._kept.close())


def planner_of(experiment: Experiment, resolved_operators: Sequence[ResolvedOperator]) -> ShardPlanner:
    """Return the planner that divides an experiment into shards; raises errors of :class:`ShardPlanner`."""
    return ShardPlanner(experiment, resolved_operators, coordinated=bool(os.environ.get(COORDINATED)))


def leased_here() -> LeaseFiles | None:
    """Return the files with the budget that this shard may spend; ``None`` if no coordinator started it."""
    folder = os.environ.get(COORDINATED)
    return LeaseFiles(Path(folder)) if folder else None


def asked_parts(
    written: str | None, resume: Path | None, replay: Path | None = None
) -> ShardSelection | ShardBatch | None:
    """Return the shards that a command line names; ``None`` for the whole experiment.

    Args:
        written: The shards, as ``3/64`` or ``1-16/64``.
        resume: A folder that contains run folders of some shards.
        replay: A run whose recorded calls replace the models.

    Raises:
        UsageError: ``written`` names no shards, or the arguments exclude each other.
    """
    if written is None:
        return None
    if replay is not None:
        raise UsageError("--shard cannot be combined with --replay", fix="Leave --shard out")
    if resume is not None:
        begun_in(resume)
    shards = Shard.parse_all(written)
    dealt = os.environ.get(HAND)
    return ShardBatch.of(dealt, shards) if dealt and resume is None else ShardSelection(shards, resume)


def _listed(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, such as ``3,5-9``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ",".join("-".join(map(str, span)) for span in spans)
