"""What a file will play, or what is left of a run, found out before anything is played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import Shard
from gym_gui.core.records import TOURNAMENT
from gym_gui.ui.operators.script_job import ScriptPlan, plan_experiment, read_experiment
from gym_gui.ui.operators.tournament_plan import is_tournament, plan_tournament

if TYPE_CHECKING:
    from gym_gui.analysis.records.reader import Run
    from gym_gui.controllers.setup.knowledge import Knowledge


async def plan_file(
    path: Path, knowledge: Knowledge, say: Callable[[str], object], *, allow_code: bool
) -> ScriptPlan:
    """Find out what an experiment or a tournament file will play.

    Args:
        path: The file.
        knowledge: Looks at environments.
        say: Told in words what is being done.
        allow_code: Whether a program may be run to read it.

    Raises:
        NotAllowedError: It names what the person has not allowed; nothing of it was touched.
        UsageError: One line that says what is wrong, where, and what to do.
    """
    if await is_tournament(path):
        say("Looking at its environment and its policies…")
        return await plan_tournament(path, knowledge)
    experiment = await read_experiment(path, knowledge, allow_code=allow_code)
    say("Looking at its environments…")
    return await plan_experiment(experiment, knowledge)


async def plan_run(run: Path, knowledge: Knowledge) -> ScriptPlan:
    """Find out what a run that was stopped or cut off will play, by what it has recorded of itself.

    Args:
        run: The run folder.
        knowledge: Looks at environments.

    Raises:
        NotAllowedError: It names what the person has not allowed; nothing of it was touched.
        UsageError: It cannot be gone on with here.
    """
    from gym_gui.analysis.records.reader import open_run
    from gym_gui.controllers.replays.replay import REPLAY

    opened = await asyncio.to_thread(open_run, run)
    about = opened.record.extra
    if Shard.of_run(about) is not None or REPLAY in about:
        what = "a part of an experiment" if REPLAY not in about else "played from the replies of another run"
        raise UsageError(f"this run is {what}", fix=f"Go on with it in a terminal: mosaic run --resume {run}")
    if TOURNAMENT in about:
        plan = await plan_tournament(run, knowledge, opened)
    else:
        experiment = await read_experiment(run, knowledge, allow_code=False)
        plan = await plan_experiment(experiment, knowledge, whole=True)
    return replace(plan, run=run, done=await asyncio.to_thread(_done, opened))


def _done(run: Run) -> dict[str, tuple[int, int]]:
    """By operator, its finished episodes, and how many of them failed."""
    found: dict[str, tuple[int, int]] = {}
    for operator_id, operator in run.operators.items():
        ended = [episode.status for episode in operator.episodes() if not episode.is_open]
        found[operator_id] = len(ended), ended.count(EpisodeStatus.FAILED)
    return found
