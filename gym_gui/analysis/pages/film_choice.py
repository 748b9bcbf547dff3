"""Which episodes a report shows: of every operator its best, median and worst, and every failed one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import by_task

MOST_SCENES: Final = 48
"""Episodes of a report that are played again."""

FilmKey = tuple[str, str, int]
"""Run, operator, and episode."""
Films = Mapping[FilmKey, Film]

_TITLES = {
    "best": "Best",
    "median": "Median",
    "worst": "Worst",
    "only": "The only episode",
    "alike": "One of many alike",
}


@dataclass(frozen=True)
class Scene:
    """One episode that is worth showing.

    Attributes:
        operator: Whose.
        episode_index: The episode.
        title: Why it is shown.
        facts: Its seed and result, in words.
        bad: Why it failed; empty where it did not.
    """

    operator: OperatorSummary
    episode_index: int
    title: str
    facts: str
    bad: str = ""

    @property
    def key(self) -> FilmKey:
        """Which episode it is."""
        return self.operator.run_id, self.operator.operator_id, self.episode_index


def scenes_of(summary: Summary) -> list[Scene]:
    """All episodes worth showing, by operator: the best, the median, the worst, then every failed one."""
    failures: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in summary.failures:
        if failure.status == "failed":
            failures[failure.operator].append(failure)
    ordered = [operator for operators in by_task(summary).values() for operator in operators]
    return [scene for o in ordered for scene in (*_highlights(o), *_failed(o, failures[o.key]))]


def chosen(scenes: Sequence[Scene], most: int = MOST_SCENES) -> list[Scene]:
    """Those that are played again, where they are too many: of every operator one after the other.

    A failed one comes second: nothing says so much about a policy.
    """
    by_operator: defaultdict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        by_operator[scene.operator.key].append(scene)
    ranked: list[tuple[int, int, Scene]] = []
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
