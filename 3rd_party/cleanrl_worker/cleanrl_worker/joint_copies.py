"""Copies of an environment with several agents, stepped together on all cores.

What the copies say and are told stands in arrays that all processes share; a pipe to each says when.
The copies, their seeds and so every number are the same in however many processes they are.
"""

# What environments hand out is untyped.
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
"""Longer episodes are not continued: playing them again would take too long."""


class Finished(NamedTuple):
    """An episode that ended.

    Attributes:
        returns: Undiscounted return of each agent, by name, of the environment's own rewards.
        length: Its steps.
    """

    returns: Mapping[str, float]
    length: int


@dataclass(frozen=True, eq=False)
class Group:
    """Agents that see and do alike, and may share a network.

    Attributes:
        name: Of their network.
        agents: Their names.
        observation_space: Gymnasium ``Box`` of what each is shown.
        action_space: Gymnasium space of what each does.
        actions: Number of actions where they are discrete, else 0.
    """

    name: str
    agents: tuple[str, ...]
    observation_space: Any
    action_space: Any
    actions: int


class Board:
    """What N copies say and are told of one group, in memory that forked processes share.

    Attributes:
        observations: (N, G, *shape), what is seen next.
        final: (N, G, *shape), the last observation of rows that ended.
        masks: bool (N, G, actions), or ``None`` without discrete actions.
        actions: (N, G, *action shape), as the environment takes them.
        rewards: float64 (N, G).
        terminated: bool (N, G), the row's agent ended with this step.
        truncated: bool (N, G).
        acted: bool (N, G), the row's agent acted in this step.
        acting: bool (N, G), it acts next.
        over: bool (N,), the episode ended for all, and what is seen is the next one's beginning.
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
    """Zeros in memory without a name, which children that are forked later have too."""
    size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
    return np.frombuffer(mmap.mmap(-1, size), dtype, math.prod(shape)).reshape(shape)


@dataclass
class _Copy:
    """One environment, and what it takes to be in the same place again."""

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
        """Play an episode up to where it was; ``None`` where that leads somewhere else."""
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
        except Exception:  # foreign code that is not what it was: the episode begins anew
            self.episode += 1
            return None
        return seen, info

    def place(self) -> dict[str, Any]:
        return {"episode": self.episode, "actions": self.played if self.length <= MOST_STEPS else None}


class _Chunk:
    """Some of the copies, written on the boards by their numbers."""

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
        """Begin in every copy, or go on; whether each is where it was."""
        exact = True
        for i, copy in enumerate(self._copies):
            there = None if places is None else copy.go_to(places[i])
            exact = exact and (places is None or there is not None)
            self._show(copy, *(copy.begin() if there is None else there))
        return exact

    def step(self) -> list[Finished]:
        """Play what the boards say."""
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
        """Where each copy is."""
        return [copy.place() for copy in self._copies]

    def close(self) -> None:
        """Release the environments."""
        for copy in self._copies:
            copy.env.close()

    def _show(self, copy: _Copy, seen: Mapping[str, Any], info: Mapping[str, Any]) -> None:
        """What each agent sees and may do next."""
        n, acting, masks = copy.number, info["acting"], info["masks"]
        for group, board in self._boards.items():
            for i, agent in enumerate(group.agents):
                board.observations[n, i] = seen[agent]
                board.acting[n, i] = agent in acting
                if board.masks is not None:
                    board.masks[n, i] = masks.get(agent, True)

    def _tell(self, copy: _Copy, seen: Mapping[str, Any], over: bool, info: Mapping[str, Any]) -> None:
        """What the step was for each agent."""
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
    """What an environment raised, in words."""


_About = tuple[Mapping[Group, Board], str, Mapping[str, Steps], int]


class Copies:
    """N copies of an environment, in this process or in several.

    Args:
        env_id: Which environment.
        steps: Preprocessing, by agent.
        groups: Its agents.
        count: N.
        seed: Copy ``i``'s episode ``k`` is seeded with ``(seed, i, k)``.
        processes: How many; with one, the copies are in this process.

    Attributes:
        boards: What they say and are told, by group.
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
        """Begin in every copy, or go on where ``places`` say; whether each could.

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
        """Play the actions on the boards; episodes that ended with it.

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
        """What it takes to go on from here, one entry a copy."""
        if self._here is not None:
            return self._here.places()
        for _, pipe, _ in self._children:
            pipe.send(("places", None))
        return [place for _, pipe, _ in self._children for place in self._answer(pipe)]

    def close(self) -> None:
        """End all of it."""
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
            # A child that had another's end of a pipe would keep that one from noticing that we are gone.
            child = context.Process(target=_serve, args=(there, list(ours), self._about, part), daemon=True)
            child.start()
            there.close()
            self._children.append((child, here, len(part)))

    def _answer(self, pipe: Connection) -> Any:
        try:
            problem, answer = pipe.recv()
        except (EOFError, OSError) as error:
            raise RaisedInCopy("nothing: a process with copies of it was ended") from error
        if problem:
            raise RaisedInCopy(problem)
        return answer


@contextlib.contextmanager
def _in_words() -> Any:
    try:
        yield
    except Exception as error:  # foreign code may raise anything
        raise RaisedInCopy(described(error, OURS)) from error


def _serve(pipe: Connection, others: Sequence[Connection], about: _About, numbers: Sequence[int]) -> None:
    """A child process: steps its copies on each order, until the parent closes the pipe."""
    for other in others:
        other.close()
    # Ctrl-C in a terminal reaches the children too; the parent decides when they end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):
        try:
            chunk = _Chunk(*about, numbers)
        except Exception as error:  # foreign code may raise anything
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
                except Exception as error:  # foreign code may raise anything
                    pipe.send((described(error, OURS), None))
