"""Reports a training's episodes and speed, and returns the versions and time for its policy."""

from __future__ import annotations

import datetime
import platform
import time
from collections import deque
from importlib import metadata
from typing import Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence

from mosaic_worker.training import TrainingRun

RECENT = 100
"""Number of episodes over which returns are averaged."""


class Scalars(Protocol):
    """Interface of TensorBoard's ``SummaryWriter``, which logs numbers."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Log a number at a step."""
        ...


class TrainingReport:
    """Reports episodes and numbers to the run folder and to TensorBoard's log.

    Args:
        run: Writes the reports to the run folder.
        scalars: TensorBoard's log.
        step: Step at which the training begins or continues.
        returns: Returns of the last episodes before ``step``.
        lengths: Lengths of the same episodes.

    Attributes:
        returns: Returns of the last episodes, at most 100.
        lengths: Lengths of the same episodes.
    """

    def __init__(
        self,
        run: TrainingRun,
        scalars: Optional[Scalars] = None,
        step: int = 0,
        returns: Iterable[float] = (),
        lengths: Iterable[int] = (),
    ) -> None:
        self._run, self._scalars = run, scalars
        self.returns: Deque[float] = deque(returns, RECENT)
        self.lengths: Deque[int] = deque(lengths, RECENT)
        self._began, self._first = time.monotonic(), step

    def episode(
        self, step: int, total: float, length: int, agents: Optional[Mapping[str, float]] = None
    ) -> None:
        """Report the end of an episode with its return and length, and with several agents, their returns."""
        self.returns.append(total)
        self.lengths.append(length)
        self._run.episode(step, total, length, agents)

    def state(self) -> Dict[str, List[float]]:
        """Return the last episodes as data from which a training can continue."""
        return {"returns": list(self.returns), "lengths": list(self.lengths)}

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers by TensorBoard name, with the mean return, the mean length and the speed."""
        full = dict(values)
        if self.returns:
            full["charts/episodic_return"] = sum(self.returns) / len(self.returns)
            full["charts/episodic_length"] = sum(self.lengths) / len(self.lengths)
        full["charts/SPS"] = (step - self._first) / max(time.monotonic() - self._began, 1e-9)
        self._run.metrics(step, full)
        if self._scalars is not None:
            for name, value in full.items():
                self._scalars.add_scalar(name, value, step)


class AgentReturns:
    """Returns of the last episodes of several agents that learn together.

    Args:
        agents: Names of the agents.
        teams: Agents by team.
        returns: Returns of the last episodes before, by agent.
    """

    def __init__(
        self,
        agents: Iterable[str],
        teams: Mapping[str, Sequence[str]],
        returns: Mapping[str, Iterable[float]],
    ) -> None:
        self._teams = teams
        self._returns: Dict[str, Deque[float]] = {
            agent: deque(returns.get(agent, ()), RECENT) for agent in agents
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._returns)

    def add(self, returns: Mapping[str, float]) -> None:
        """Add the returns of all agents of an episode that has ended."""
        for agent, total in returns.items():
            self._returns[agent].append(total)

    def metrics(self) -> Dict[str, float]:
        """Return the mean return of each agent, and of each team if there are several, by TensorBoard
        name.
        """
        means = {agent: sum(found) / len(found) for agent, found in self._returns.items() if found}
        told = {f"agents/{agent}": mean for agent, mean in means.items()}
        if len(self._teams) > 1 and len(means) == len(self._returns):
            for team, agents in self._teams.items():
                told[f"teams/{team}"] = sum(means[agent] for agent in agents)
        return told

    def state(self) -> Dict[str, List[float]]:
        """Return the returns as data from which a training can continue."""
        return {agent: list(found) for agent, found in self._returns.items()}


def versions(packages: Sequence[str]) -> Dict[str, str]:
    """Return the versions of Python and of packages."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def moment(seconds: Optional[float] = None) -> str:
    """Return a Unix time, by default the current time, in the format of checkpoints (ISO 8601)."""
    when = time.time() if seconds is None else seconds
    return datetime.datetime.fromtimestamp(when, datetime.timezone.utc).isoformat(timespec="seconds")
