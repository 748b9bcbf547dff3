"""Selects the episodes that a report shows: each operator's best, median and worst, and failed ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import by_task

MOST_SCENES: Final = 48
"""Largest number of replays in a report."""

FilmKey = tuple[str, str, int]
"""Run id, operator id and episode index."""
Films = Mapping[FilmKey, Film]

_TITLES = {
    "best": "Best",
    "median": "Median",
    "worst": "Worst",
    "only": "The only episode",
    "alike": "One of many equal episodes",
}


class Showable(Protocol):
    """Episode that a report may show."""

    @property
    def operator_key(self) -> str:
        """Key of the operator that played the episode."""
        ...

    @property
    def key(self) -> FilmKey:
        """Run id, operator id and episode index."""
        ...

    @property
    def bad(self) -> str:
        """Reason why the episode failed; empty if it did not fail."""
        ...


_Showable = TypeVar("_Showable", bound=Showable)


@dataclass(frozen=True)
class Scene:
    """Episode that a report shows, and the reason.

    Attributes:
        operator: Operator that played the episode.
        episode_index: Index of the episode.
        title: Reason for showing the episode, such as ``Best``.
        facts: Index, seed and result, as text.
        bad: Reason why the episode failed; empty if it did not fail.
    """

    operator: OperatorSummary
    episode_index: int
    title: str
    facts: str
    bad: str = ""

    @property
    def operator_key(self) -> str:
        """Key of the operator that played the episode."""
        return self.operator.key

    @property
    def key(self) -> FilmKey:
        """Run id, operator id and episode index."""
        return self.operator.run_id, self.operator.operator_id, self.episode_index


def scenes_of(summary: Summary) -> list[Scene]:
    """Return the episodes that a report may show: per operator the best, median, worst and failed ones."""
    failures: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in summary.failures:
        if failure.status == "failed":
            failures[failure.operator].append(failure)
    ordered = [operator for operators in by_task(summary).values() for operator in operators]
    return [scene for o in ordered for scene in (*_highlights(o), *_failed(o, failures[o.key]))]


def chosen(scenes: Sequence[_Showable], most: int = MOST_SCENES) -> list[_Showable]:
    """Return the episodes that get replays; if there are too many, operators take turns.

    An operator's first failed episode has priority after its best one.
    """
    by_operator: defaultdict[str, list[_Showable]] = defaultdict(list)
    for scene in scenes:
        by_operator[scene.operator_key].append(scene)
    ranked: list[tuple[int, int, _Showable]] = []
    for number, of_one in enumerate(by_operator.values()):
        good, bad = [s for s in of_one if not s.bad], [s for s in of_one if s.bad]
        order = [*good[:1], *bad[:1], *good[:0:-1], *bad[1:]]
        ranked += [(rank, number, scene) for rank, scene in enumerate(order)]
    ranked.sort(key=lambda each: each[:2])
    kept = {scene.key for _, _, scene in ranked[:most]}
    return [scene for scene in scenes if scene.key in kept]


def _highlights(operator: OperatorSummary) -> list[Scene]:
    found: list[Scene] = []
    for each in operator.highlights:
        facts = f"episode {each.episode_index}, seed {each.seed}: {each.measure} {wording.number(each.value)}"
        facts += f" in {wording.count(each.length, 'step')}"
        if each.alike == each.of > 1:
            facts += f", as all {each.of:,} have"
        elif each.alike > 1:
            facts += f", as {each.alike:,} of {each.of:,} have"
        found.append(Scene(operator, each.episode_index, _TITLES[each.why], facts))
    return found


def _failed(operator: OperatorSummary, failures: Sequence[Failure]) -> list[Scene]:
    return [
        Scene(operator, f.episode_index, "Failed", f"episode {f.episode_index}, seed {f.seed}", f.reason)
        for f in failures
    ]
