"""Conditions under which a step of a tour counts as done."""

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
    """Return a condition that holds if a page is shown and all the named widgets are visible on it."""
    return lambda scene: scene.page == page and all(scene.widget(name) is not None for name in names)


def says(name: str, pattern: str) -> Sign:
    """Return a condition that holds if the text of a visible widget matches a regular expression."""
    return lambda scene: re.search(pattern, scene.text(name)) is not None


def told(name: str, role: str) -> Sign:
    """Return a condition that holds if a widget shows a message of a kind (``ok``, ``error``)."""

    def holds(scene: Scene) -> bool:
        widget = scene.widget(name)
        return widget is not None and widget.property("role") == role and bool(scene.text(name))

    return holds


def chosen(name: str, *values: str) -> Sign:
    """Return a condition that holds if a picker's value is one of the given values."""
    return lambda scene: scene.value(name) in values


def several_kinds(*names: str) -> Sign:
    """Return a condition that holds if the named pickers have at least two different values."""
    return lambda scene: len({scene.value(name) for name in names} - {None}) > 1


def number_below(name: str, most: int) -> Sign:
    """Return a condition that holds if a field contains a number from 1 to ``most``."""

    def holds(scene: Scene) -> bool:
        digits = re.sub(r"\D", "", scene.text(name))
        return bool(digits) and 1 <= int(digits) <= most

    return holds


def short_episodes(most: int) -> Sign:
    """Return a condition that holds if the episodes of a prepared operator have at most ``most`` steps.

    A typed number that is not applied yet is ignored.
    """
    return lambda scene: any((config.max_steps or most + 1) <= most for config in scene.ready)


def cards(count: int) -> Sign:
    """Return a condition that holds if the Operators page shows at least ``count`` operators."""
    return lambda s: s.page == "operators" and len(list(s.widgets("operator-card-name"))) >= count


def at_rest(scene: Scene) -> bool:
    """Return whether the Operators page shows operators that are not running."""
    return scene.page == "operators" and scene.text("operators-run") == "Run"


def played_by(kind: str, *, whole: bool = True) -> Sign:
    """Return a condition that holds if a recorded episode has a worker of a kind (``human``, ``rl``,
    ``llm``).

    Args:
        kind: Kind of the worker, as in the record.
        whole: Whether only completed episodes count.
    """
    return lambda scene: any(
        (episode.status == "completed" or not whole)
        and any(agent.worker_type == kind for agent in episode.agents.values())
        for run in scene.record.runs
        for episode in run.episodes
    )


def side_by_side(episodes: int) -> Sign:
    """Return a condition that holds if two operators of a run each have at least ``episodes`` completed
    episodes.
    """

    def holds(scene: Scene) -> bool:
        counts = (
            Counter(e.operator_id for e in run.episodes if e.status == "completed")
            for run in scene.record.runs
        )
        return any(sum(count >= episodes for count in each.values()) > 1 for each in counts)

    return holds


def mixed_team(scene: Scene) -> bool:
    """Return whether a completed episode has agents with different policies."""
    return any(
        episode.status == "completed" and len({agent.policy for agent in episode.agents.values()}) > 1
        for run in scene.record.runs
        for episode in run.episodes
    )


def wrote(name: str) -> Sign:
    """Return a condition that holds if a file with a name was written into a run folder since the tour
    began.
    """
    return lambda scene: any(name in run.files for run in scene.record.runs)


def named_run(scene: Scene) -> bool:
    """Return whether the user has given a run a name since the tour began."""
    for run in scene.record.runs:
        if LABELS in run.files:
            try:
                return bool(read_labels(run.path).name)
            except MosaicError:
                continue
    return False


def saved_comparison(scene: Scene) -> bool:
    """Return whether the operators of the Operators page were saved as a file since the tour began."""
    return scene.comparison is not None


def saved_preset(scene: Scene) -> bool:
    """Return whether a configuration was saved as a preset since the tour began."""
    return bool(scene.record.presets)


def job_said(beginning: str) -> Sign:
    """Return a condition that holds if a job on a run has ended with a message that starts with given
    words.
    """
    return lambda scene: any(text.startswith(beginning) for text in scene.message_texts("results-jobs"))


def training_begun(scene: Scene) -> bool:
    """Return whether a training was started since the tour began."""
    return bool(scene.trainings)


def training_over(scene: Scene) -> bool:
    """Return whether a training that was started since the tour began has ended with a policy."""
    return any(record.state in OVER and record.policy for record in scene.trainings)
