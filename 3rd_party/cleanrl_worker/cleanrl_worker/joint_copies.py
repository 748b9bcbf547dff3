"""Copies of an environment with several agents, stepped together on all cores.

Observations, actions and rewards are in arrays that all processes share; a message through a pipe makes each
process step. Copies, seeds and all results are the same for any number of processes.
"""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import math
import mmap
import multiprocessing
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.environments import OURS, Steps
from mosaic_worker.failures import described
from mosaic_worker.learning.joint_env import JointEnv, make_joint

MOST_STEPS = 20_000
"""Longest episode, in steps, that is continued; replaying a longer one would take too long."""


class Finished(NamedTuple):
    """A finished episode.

    Attributes:
        returns: Undiscounted return of each agent, by name, from the environment's own rewards.
        length: Number of steps.
    """

    returns: Mapping[str, float]
    length: int


@dataclass(frozen=True, eq=False)
class Group:
    """Agents with equal spaces, which may share a network.

    Attributes:
        name: Name of the group's network.
        agents: Names of the agents.
        observation_space: Gymnasium ``Box`` of each agent's observations.
        action_space: Gymnasium space of each agent's actions.
        actions: Number of actions if they are discrete, else 0.
    """

    name: str
    agents: tuple[str, ...]
    observation_space: Any
    action_space: Any
    actions: int


class Board:
    """Observations, actions and rewards of one group of G agents in N copies, in shared memory.

    Attributes:
        observations: (N, G, *shape), the next observations.
        final: (N, G, *shape), the last observation of agents whose episode ended.
        masks: bool (N, G, actions), or ``None`` without discrete actions.
        actions: (N, G, *action shape), in the form the environment takes.
        rewards: float64 (N, G).
        terminated: bool (N, G), the agent terminated in this step.
        truncated: bool (N, G), the agent was truncated in this step.
        acted: bool (N, G), the agent acted in this step.
        acting: bool (N, G), the agent acts next.
        over: bool (N,), the episode ended for all agents; observations are then the first of the next one.
    """

    def __init__(self, group: Group, copies: int) -> None:
        rows, seen, does = (copies, len(group.agents)), group.observation_space, group.action_space
        self.observations = _shared((*rows, *seen.shape), seen.dtype)
        self.final = _shared((*rows, *seen.shape), seen.dtype)
        self.masks = _shared((*rows, group.actions), np.dtype(bool)) if group.actions else None
        self.actions = _shared((*rows, *does.shape), does.dtype)
        self.rewards = _shared(rows, np.dtype(np.float64))
        self.terminated, self.truncated, self.acted, self.acting = (
            _shared(rows, np.dtype(bool)) for _ in range(4)
        )
        self.over = _shared((copies,), np.dtype(bool))


def _shared(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros in anonymous memory that child processes forked later share."""
    size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
    return np.frombuffer(mmap.mmap(-1, size), dtype, math.prod(shape)).reshape(shape)


@dataclass
class _Copy:
    """One environment, with the actions and seed needed to restore its episode."""

    env: JointEnv
    number: int
    seed: int
    episode: int = 0
    returns: dict[str, float] = field(default_factory=dict[str, float])
    played: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    length: int = 0

    def begin(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self.returns, self.played, self.length = dict.fromkeys(self.env.agents, 0.0), [], 0
        words = np.random.SeedSequence((self.seed, self.number, self.episode)).generate_state(1)
        return self.env.reset(seed=int(words[0]) % 2**31)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], bool, dict[str, Any]]:
        seen, _, terminated, truncated, info = self.env.step(actions)
        self.length += 1
        if self.length <= MOST_STEPS:
            self.played.append({a: np.asarray(actions[a]).tolist() for a in info["steps"]})
        for agent, step in info["steps"].items():
            self.returns[agent] += step.reward
        return seen, terminated or truncated, info

    def go_to(self, place: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Replay an episode; return ``None`` if it cannot be restored."""
        self.episode = int(place["episode"])
        if place["actions"] is None:
            self.episode += 1
            return None
        seen, info = self.begin()
        try:
            for row in place["actions"]:
                actions = {a: np.asarray(row[a], self.env.action_space[a].dtype) for a in info["acting"]}
                seen, over, info = self.step(actions)
                if over:
                    raise ValueError
        except Exception:  # third-party code may have changed: a new episode begins
            self.episode += 1
            return None
        return seen, info

    def place(self) -> dict[str, Any]:
        return {"episode": self.episode, "actions": self.played if self.length <= MOST_STEPS else None}


class _Chunk:
    """Copies of one process; copy ``i`` reads and writes row ``i`` of the boards."""

    def __init__(
        self,
        boards: Mapping[Group, Board],
        env_id: str,
        steps: Mapping[str, Steps],
        seed: int,
        numbers: Sequence[int],
    ) -> None:
        self._boards = boards
        self._copies = [_Copy(make_joint(env_id, steps), number, seed) for number in numbers]

    def begin(self, places: Sequence[Mapping[str, Any]] | None) -> bool:
        """Begin an episode in every copy, or restore it; return whether each could be restored."""
        exact = True
        for i, copy in enumerate(self._copies):
            there = None if places is None else copy.go_to(places[i])
            exact = exact and (places is None or there is not None)
            self._show(copy, *(copy.begin() if there is None else there))
        return exact

    def step(self) -> list[Finished]:
        """Step every copy with the actions on the boards; return finished episodes."""
        finished: list[Finished] = []
        for copy in self._copies:
            actions = {
                agent: board.actions[copy.number, i][()]
                for group, board in self._boards.items()
                for i, agent in enumerate(group.agents)
            }
            seen, over, info = copy.step(actions)
            self._tell(copy, seen, over, info)
            if over:
                finished.append(Finished(copy.returns, copy.length))
                copy.episode += 1
                seen, info = copy.begin()
            self._show(copy, seen, info)
        return finished

    def places(self) -> list[dict[str, Any]]:
        """Return for each copy what is needed to restore its episode."""
        return [copy.place() for copy in self._copies]

    def close(self) -> None:
        """Release the environments."""
        for copy in self._copies:
            copy.env.close()

    def _show(self, copy: _Copy, seen: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """Write each agent's observation and legal actions on the boards."""
        n, acting, masks = copy.number, info["acting"], info["masks"]
        for group, board in self._boards.items():
            for i, agent in enumerate(group.agents):
                board.observations[n, i] = seen[agent]
                board.acting[n, i] = agent in acting
                if board.masks is not None:
                    board.masks[n, i] = masks.get(agent, True)

    def _tell(self, copy: _Copy, seen: Mapping[str, Any], over: bool, info: Mapping[str, Any]) -> None:
        """Write the result of the step for each agent on the boards."""
        n, steps = copy.number, info["steps"]
        for group, board in self._boards.items():
            board.over[n] = over
            for i, agent in enumerate(group.agents):
                step = steps.get(agent)
                board.acted[n, i] = step is not None
                board.rewards[n, i] = 0.0 if step is None else step.reward
                board.terminated[n, i] = step is not None and step.terminated
                board.truncated[n, i] = step is not None and step.truncated
                if step is not None and (step.terminated or step.truncated):
                    board.final[n, i] = seen[agent]


class RaisedInCopy(RuntimeError):
    """Error of an environment in a copy; the message describes it."""


_About = tuple[Mapping[Group, Board], str, Mapping[str, Steps], int]


class Copies:
    """N copies of an environment, in this process or in several processes.

    Args:
        env_id: Id of the environment.
        steps: Preprocessing steps, by agent.
        groups: Groups of the environment's agents.
        count: N, the number of copies.
        seed: Copy ``i``'s episode ``k`` is seeded with ``(seed, i, k)``.
        processes: Number of processes; with 1, the copies are in this process.

    Attributes:
        boards: Observations, actions and rewards of the copies, by group.
    """

    def __init__(
        self,
        env_id: str,
        steps: Mapping[str, Steps],
        groups: Sequence[Group],
        count: int,
        seed: int,
        processes: int,
    ) -> None:
        self.boards = {group: Board(group, count) for group in groups}
        self._about: _About = (self.boards, env_id, steps, seed)
        numbers = [list(map(int, part)) for part in np.array_split(np.arange(count), processes)]
        self._here = _Chunk(*self._about, numbers[0]) if processes == 1 else None
        self._children: list[tuple[Any, Connection, int]] = []
        if processes > 1:
            self._start(numbers)

    def begin(self, places: Sequence[Mapping[str, Any]] | None = None) -> bool:
        """Begin an episode in every copy, or restore those of ``places``; return whether all were.

        Raises:
            RaisedInCopy: The environment raised.
        """
        if self._here is not None:
            with _in_words():
                return self._here.begin(places)
        at = 0
        for _, pipe, count in self._children:
            pipe.send(("begin", None if places is None else list(places[at : at + count])))
            at += count
        exact = [self._answer(pipe) for _, pipe, _ in self._children]
        return all(exact)

    def step(self) -> list[Finished]:
        """Play the actions on the boards; return the episodes that ended in this step.

        Raises:
            RaisedInCopy: The environment raised.
        """
        if self._here is not None:
            with _in_words():
                return self._here.step()
        for _, pipe, _ in self._children:
            pipe.send(("step", None))
        return [episode for _, pipe, _ in self._children for episode in self._answer(pipe)]

    def places(self) -> list[dict[str, Any]]:
        """Return for each copy what is needed to restore its episode."""
        if self._here is not None:
            return self._here.places()
        for _, pipe, _ in self._children:
            pipe.send(("places", None))
        return [place for _, pipe, _ in self._children for place in self._answer(pipe)]

    def close(self) -> None:
        """Close the environments and end the child processes."""
        if self._here is not None:
            self._here.close()
        for child, pipe, _ in self._children:
            pipe.close()
            child.join(5.0)
            if child.is_alive():
                child.kill()
                child.join()
        self._children = []

    def _start(self, numbers: Sequence[Sequence[int]]) -> None:
        context = multiprocessing.get_context("fork")
        ours: list[Connection] = []
        for part in numbers:
            here, there = context.Pipe()
            ours.append(here)
            # If a child kept the parent's end of another child's pipe, that child would not notice the
            # parent's end.
            child = context.Process(target=_serve, args=(there, list(ours), self._about, part), daemon=True)
            child.start()
            there.close()
            self._children.append((child, here, len(part)))

    def _answer(self, pipe: Connection) -> Any:
        try:
            problem, answer = pipe.recv()
        except (EOFError, OSError) as error:
            raise RaisedInCopy("no error: a process with copies of the environment ended") from error
        if problem:
            raise RaisedInCopy(problem)
        return answer


@contextlib.contextmanager
def _in_words() -> Any:
    try:
        yield
    except Exception as error:  # third-party code may raise anything
        raise RaisedInCopy(described(error, OURS)) from error


def _serve(pipe: Connection, others: Sequence[Connection], about: _About, numbers: Sequence[int]) -> None:
    """Run a child process: step its copies on each request, until the parent closes the pipe."""
    for other in others:
        other.close()
    # Ctrl-C in a terminal reaches the children too; the parent decides when they end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):
        try:
            chunk = _Chunk(*about, numbers)
        except Exception as error:  # third-party code may raise anything
            pipe.recv()
            pipe.send((described(error, OURS), None))
            return
        with contextlib.closing(chunk):
            while True:
                order, places = pipe.recv()
                try:
                    if order == "begin":
                        pipe.send(("", chunk.begin(places)))
                    else:
                        pipe.send(("", chunk.step() if order == "step" else chunk.places()))
                except Exception as error:  # third-party code may raise anything
                    pipe.send((described(error, OURS), None))
