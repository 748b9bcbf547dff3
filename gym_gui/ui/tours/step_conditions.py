"""Signs that something has happened; a step of a tour is over when its sign is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from gym_gui.core.errors import MosaicError
from gym_gui.core.run_labels import FILE as LABELS
from gym_gui.core.run_labels import read_labels
from gym_gui.services.trainer.training_records import OVER
from gym_gui.ui.tours.tour_context import Scene

Sign = Callable[[Scene], bool]


def shown(page: str, *names: str) -> Sign:
    """A page with all of these on it."""
    return lambda scene: scene.page == page and all(scene.widget(name) is not None for name in names)


def says(name: str, pattern: str) -> Sign:
    """Something that is shown says what fits a pattern."""
    return lambda scene: re.search(pattern, scene.text(name)) is not None


def told(name: str, role: str) -> Sign:
    """A sentence stands there, of that kind (``ok``, ``error``)."""

    def holds(scene: Scene) -> bool:
        widget = scene.widget(name)
        return widget is not None and widget.property("role") == role and bool(scene.text(name))

    return holds


def chosen(name: str, *values: str) -> Sign:
    """One of these is chosen in a list."""
    return lambda scene: scene.value(name) in values


def several_kinds(*names: str) -> Sign:
    """Not everybody in these lists is the same."""
    return lambda scene: len({scene.value(name) for name in names} - {None}) > 1


def number_below(name: str, most: int) -> Sign:
    """A field holds a number from 1 to this one."""

    def holds(scene: Scene) -> bool:
        digits = re.sub(r"\D", "", scene.text(name))
        return bool(digits) and 1 <= int(digits) <= most

    return holds


def short_episodes(most: int) -> Sign:
    """An operator that is ready plays so many steps at most; what was only typed does not count yet."""
    return lambda scene: any((config.max_steps or most + 1) <= most for config in scene.ready)


def cards(count: int) -> Sign:
    """So many operators stand on the Operators page, or more."""
    return lambda s: s.page == "operators" and len(list(s.widgets("operator-card-name"))) >= count


def at_rest(scene: Scene) -> bool:
    """Operators are shown and do not run."""
    return scene.page == "operators" and scene.text("operators-run") == "Run"


def played_by(kind: str, *, whole: bool = True) -> Sign:
    """An episode is recorded in which a worker of that kind decided (``human``, ``rl``, ``llm``).

    Args:
        kind: The worker's kind, as in the record.
        whole: Whether only completed episodes count.
    """
    return lambda scene: any(
        (episode.status == "completed" or not whole)
        and any(agent.worker_type == kind for agent in episode.agents.values())
        for run in scene.record.runs
        for episode in run.episodes
    )


def side_by_side(episodes: int) -> Sign:
    """A run has at least two operators, each with so many finished episodes."""

    def holds(scene: Scene) -> bool:
        counts = (
            Counter(e.operator_id for e in run.episodes if e.status == "completed")
            for run in scene.record.runs
        )
        return any(sum(count >= episodes for count in each.values()) > 1 for each in counts)

    return holds


def mixed_team(scene: Scene) -> bool:
    """An episode is recorded in which not all had the same policy."""
    return any(
        episode.status == "completed" and len({agent.policy for agent in episode.agents.values()}) > 1
        for run in scene.record.runs
        for episode in run.episodes
    )


def wrote(name: str) -> Sign:
    """A file of that name was written into a run folder."""
    return lambda scene: any(name in run.files for run in scene.record.runs)


def named_run(scene: Scene) -> bool:
    """A run was given a name."""
    for run in scene.record.runs:
        if LABELS in run.files:
            try:
                return bool(read_labels(run.path).name)
            except MosaicError:
                continue
    return False


def saved_comparison(scene: Scene) -> bool:
    """What stands side by side was saved as a file."""
    return scene.comparison is not None


def saved_preset(scene: Scene) -> bool:
    """A configuration was saved under a name."""
    return bool(scene.record.presets)


def job_said(beginning: str) -> Sign:
    """Work on a run has ended, and the message with its result begins so."""
    return lambda scene: any(text.startswith(beginning) for text in scene.said("results-jobs"))


def training_begun(scene: Scene) -> bool:
    """A training was started."""
    return bool(scene.trainings)


def training_over(scene: Scene) -> bool:
    """A training has come to its end, and has a policy."""
    return any(record.state in OVER and record.policy for record in scene.trainings)
