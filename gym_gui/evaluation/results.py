"""Defines the results of ``gym_gui.evaluate``, for notebooks and scripts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis import Run, Summary, open_run, summarize, write_report
from gym_gui.analysis.exports.export import to_pandas
from gym_gui.analysis.pages.notebook import notebook_html
from gym_gui.core.errors import UsageError
from gym_gui.core.records import EpisodeRecord


@dataclass(frozen=True)
class Results:
    """Results of an evaluation. Printing the object prints the comparison.

    Attributes:
        folder: The run folder, for ``mosaic report`` and ``mosaic verify``.
        status: ``completed``, ``failed`` (some episode failed) or ``stopped``.
    """

    folder: Path
    status: str

    @cached_property
    def run(self) -> Run:
        """The run folder, opened for reading."""
        return open_run(self.folder)

    @cached_property
    def summary(self) -> Summary:
        """Means, intervals and comparisons."""
        return summarize([self.run])

    @cached_property
    def episodes(self) -> list[EpisodeRecord]:
        """Every episode, in the order of operators and indices."""
        return [
            episode
            for each in self.run.operators.values()
            for episode in sorted(each.episodes(), key=lambda e: e.episode_index)
        ]

    def returns(self, agent: str = "agent_0", *, of: str = "") -> NDArray[np.float64]:
        """Return one agent's return in each episode, float (episodes,); NaN if an episode has none.

        Args:
            agent: Id of the agent.
            of: Name of the operator if several were evaluated; by default the first.

        Raises:
            UsageError: No episode has that agent, or no operator has that name.
        """
        operators = list(self.run.operators.values())
        found = [each for each in operators if not of or each.name == of]
        if not found:
            raise UsageError(
                f"no operator is called {of!r}",
                fix=f"There are: {', '.join(each.name for each in operators)}",
            )
        episodes = sorted(found[0].episodes(), key=lambda e: e.episode_index)
        values = [e.returns.get(agent) for e in episodes]
        if all(v is None for v in values):
            seats = sorted({seat for e in episodes for seat in e.returns})
            raise UsageError(f"no returns of {agent!r}", fix=f"Agents: {', '.join(seats)}")
        return np.array([np.nan if v is None else v for v in values])

    def against(self, *others: Results) -> Summary:
        """Compare with other evaluations on shared seeds; printing the summary prints the comparison."""
        return summarize([self.run, *(o.run for o in others)])

    @cached_property
    def page(self) -> Path:
        """Path of the report as one HTML page in the run folder, written at the first access.

        Raises:
            UsageError: The page cannot be written.
        """
        return write_report(self.summary, self.folder, [self.run])

    def to_pandas(self, *, steps: bool = False) -> Any:
        """Return a ``pandas.DataFrame`` with one row per episode and the columns of ``mosaic export``.

        Args:
            steps: Whether to return one row per decision instead, including decisions of managers.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        return to_pandas(self.run, steps=steps)

    def __str__(self) -> str:
        return f"{self.summary}\n" + "\n".join(
            f"{name + ':':<6}{path}" for name, path in self._labeled_paths()
        )

    def _repr_html_(self) -> str:
        return notebook_html(self.summary, self._labeled_paths())

    def _labeled_paths(self) -> list[tuple[str, Path]]:
        """Return labels and paths of the run folder and, if it can be written, the report page."""
        with suppress(UsageError):
            return [("Run", self.folder), ("Page", self.page)]
        return [("Run", self.folder)]
