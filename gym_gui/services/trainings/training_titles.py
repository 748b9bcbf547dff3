"""Makes titles for trainings and for the policies that they save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gym_gui.analysis.words.wording import C, steps_in_words
from gym_gui.core.errors import MosaicError
from gym_gui.services.runs.run_titles import differences
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.workers.settings.settings_text import text_of

_SHORT: Final = {"learning_rate": "lr", "total_steps": "steps", "num_envs": "envs", "ent_coef": "entropy"}
_LATE: Final = ("total_steps", "video_every", "device")
"""Settings that become part of a title only if nothing else distinguishes the runs."""
_MOST: Final = 2


def titles(records: Sequence[TrainingRecord]) -> dict[str, str]:
    """Return a title for each run by id: the user's, else the algorithm with its distinguishing settings.

    Runs of one algorithm in one environment are distinguished by their different settings (``PPO, lr 3e-4``)
    and by their seeds. Runs with equal titles are numbered, oldest first. Files refer to operators and to
    policies of a pool by these titles, so numbers have decimal points in every locale.
    """
    groups: dict[tuple[str, str, str], list[TrainingRecord]] = {}
    for record in (record for record in records if not record.title):
        groups.setdefault((record.worker_id, record.algorithm, record.env_id), []).append(record)
    named = {record.run_id: record.title for record in records if record.title}
    named |= {record.run_id: _title(record, group) for group in groups.values() for record in group}
    alike = Counter((record.env_id, named[record.run_id]) for record in records)
    seen = Counter[tuple[str, str]]()
    for record in sorted(records, key=lambda each: each.run_id):  # ids begin with the time
        called = (record.env_id, named[record.run_id])
        if alike[called] > 1:
            seen[called] += 1
            named[record.run_id] = f"{called[1]} #{seen[called]}"
    return named


def titles_in(folder: Path) -> dict[str, str]:
    """Return the titles of all runs in a folder, by the name of the run's folder."""
    from gym_gui.services.trainer.request import SavedRequest
    from gym_gui.services.trainer.training_folder import REQUEST

    records: list[TrainingRecord] = []
    for path in sorted(folder.glob(f"*/{REQUEST}")):
        try:
            asked = SavedRequest.read(path.parent)
        except (MosaicError, OSError):
            continue  # the policy keeps the name of its folder
        about = (path.parent.name, asked.worker, asked.algorithm, asked.env_id, asked.seed, path.parent, 0.0)
        records.append(TrainingRecord(*about, title=asked.title, settings=asked.given))
    return titles(records)


def _title(record: TrainingRecord, group: Sequence[TrainingRecord]) -> str:
    differing = differences([other.settings for other in group])
    telling = [name for name in differing if name not in _LATE]
    if len({_apart(other, telling) for other in group}) < len({_apart(other, differing) for other in group}):
        telling += [name for name in differing if name in _LATE]
    parts = [
        f"{_SHORT.get(name, name.replace('_', ' '))} {_setting(name, record.settings[name])}"
        for name in telling
        if name in record.settings
    ][:_MOST]
    same = Counter(_apart(other, telling) for other in group)
    if len({other.seed for other in group}) > 1 and (not parts or same[_apart(record, telling)] > 1):
        parts.append(f"seed {record.seed}")
    return ", ".join([algorithm_word(record.algorithm), *parts])


def _apart(record: TrainingRecord, names: Sequence[str]) -> str:
    return repr([record.settings.get(name) for name in names])


def _setting(name: str, value: object) -> str:
    if name == "total_steps" and isinstance(value, int | float):
        return steps_in_words(value, C)
    return text_of(value)
