"""Submission of training runs that differ only in their seed; several runs form a group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Container, Mapping
from itertools import count
from typing import TYPE_CHECKING

from gym_gui.services.bootstrap import Services
from gym_gui.services.trainings.training_groups import TrainingGroups
from gym_gui.services.trainings.training_presets import TrainingPreset
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

if TYPE_CHECKING:
    from gym_gui.services.trainer.trainer_client import TrainerClient


async def start_runs(
    services: Services,
    client: TrainerClient,
    preset: TrainingPreset,
    action: str,
    titles: Mapping[int, str],
) -> AsyncGenerator[str]:
    """Submit one training run for each seed.

    Args:
        services: Chooses the worker and provides the folders of trainings.
        client: Connection to the trainer.
        preset: Training to run.
        action: Kind of the environment's action space; ``""`` if unknown.
        titles: Name of the run with each seed; ``""`` if the user entered no name.

    Yields:
        Id of each run that the trainer has accepted.
    """
    group = ""
    if len(titles) > 1:
        # Groups of foreground trainings count too: trainings of one name and different settings are no
        # group.
        env_id = preset.env_id
        there = await asyncio.to_thread(TrainingGroups(services.store).all)
        queued = [run.group for run in await client.runs() if run.env_id == env_id]
        group = _unused(preset.algorithm, {*queued, *(g.label for g in there if g.env_id == env_id)})
    orchestrator = services.new_orchestrator(client)
    for seed, title in titles.items():
        config = UnifiedRunConfig(
            task=preset.env_id,
            worker_type=preset.worker,
            algorithm=preset.algorithm,
            action_space=action or None,
            seed=seed,
            settings=preset.settings,
            group=group,
        )
        yield await orchestrator.submit_run(config, title=title)


def _unused(name: str, taken: Container[str]) -> str:
    """Return ``name``, or the first of ``name_2``, ``name_3``, … that is not taken."""
    if name not in taken:
        return name
    return next(label for number in count(2) if (label := f"{name}_{number}") not in taken)
