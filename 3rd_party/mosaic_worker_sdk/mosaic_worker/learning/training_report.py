"""What a training reports of its episodes and its speed, and what its policy says of where it comes from."""

from __future__ import annotations

import datetime
import platform
import time
from collections import deque
from importlib import metadata
from typing import Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence

from mosaic_worker.training import TrainingRun

RECENT = 100
"""Episodes over which returns are averaged."""


class Scalars(Protocol):
    """Where numbers are drawn from: TensorBoard's ``SummaryWriter``."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Note a number at a step."""
        ...


class TrainingReport:
    """Episodes and numbers, into the run folder and TensorBoard's log.

    Args:
        run: The run folder.
        scalars: TensorBoard's log.
        step: Where the training begins, or goes on.
        returns: Of the last episodes before that.
        lengths: Of the same.

    Attributes:
        returns: Of the last episodes, at most 100.
        lengths: Of the same.
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
        """An episode has ended, with this return and length; of several agents, with the return of each."""
        self.returns.append(total)
        self.lengths.append(length)
        self._run.episode(step, total, length, agents)

    def kept(self) -> Dict[str, List[float]]:
        """The last episodes, for a training that goes on."""
        return {"returns": list(self.returns), "lengths": list(self.lengths)}

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers by TensorBoard name, and with them how episodes go and the speed."""
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
        agents: Their names.
        teams: Agents by team.
        returns: Of the last episodes before, by agent.
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
        """An episode has ended, with the return of each agent."""
        for agent, total in returns.items():
            self._returns[agent].append(total)

    def metrics(self) -> Dict[str, float]:
        """Mean returns of agents and, of several teams, of each, by TensorBoard name."""
        means = {agent: sum(found) / len(found) for agent, found in self._returns.items() if found}
        told = {f"agents/{agent}": mean for agent, mean in means.items()}
        if len(self._teams) > 1 and len(means) == len(self._returns):
            for team, agents in self._teams.items():
                told[f"teams/{team}"] = sum(means[agent] for agent in agents)
        return told

    def kept(self) -> Dict[str, List[float]]:
        """The returns, to go on from."""
        return {agent: list(found) for agent, found in self._returns.items()}


def versions(packages: Sequence[str]) -> Dict[str, str]:
    """Of Python and of packages."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def moment(seconds: Optional[float] = None) -> str:
    """A Unix time, or now, as checkpoints say it."""
    when = time.time() if seconds is None else seconds
    return datetime.datetime.fromtimestamp(when, datetime.timezone.utc).isoformat(timespec="seconds")
