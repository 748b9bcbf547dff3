"""Enumerations that the engine and the files of run folders use."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import Final


class SteppingParadigm(Enum):
    """How agents and environment take turns (the paradigm)."""

    SINGLE_AGENT = auto()
    SIMULTANEOUS = auto()
    SEQUENTIAL = auto()
    HIERARCHICAL = auto()


class ActionSource(StrEnum):
    """How an action was chosen; written to every step row."""

    POLICY = "policy"
    HUMAN = "human"
    RETRY = "retry"
    RANDOM_LEGAL = "random_legal"
    NOOP = "noop"
    DEFAULT = "default"
    OPTION = "option"
    OPENING = "opening"


class UnusableCause(StrEnum):
    """Why an answer could not be used as an action."""

    UNREADABLE = "unreadable"
    ILLEGAL = "illegal"
    TIME_OUT = "time_out"
    MODEL_ERROR = "model_error"
    OTHER = "other"


FALLBACKS: Final = frozenset({ActionSource.NOOP, ActionSource.DEFAULT, ActionSource.RANDOM_LEGAL})
"""Sources of an action that the engine played instead of an unusable answer."""


class EpisodeStatus(StrEnum):
    """How an episode ended; written to the episode's line."""

    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"


class Loss(StrEnum):
    """What happened to a worker that did not answer."""

    DIED = "died"
    """The worker ended or was killed, and a new one replaces it; its episodes can be played again."""
    GIVEN_UP = "given_up"
    """The worker is lost and will not be started again."""


class Limit(StrEnum):
    """Which limit a policy has reached."""

    EPISODE = "episode"
    """The policy's limit per episode: this episode ends as truncated."""
    RUN = "run"
    """The budget of the run is spent: the episode is not played."""
    STOP = "stop"
    """A fault that a person must fix, such as a stopped server: the run stops, the episode is not played."""


class Outcome(StrEnum):
    """A team's result in one episode."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class WorkerKind(StrEnum):
    """Kind of agent that a worker plays, shown as a badge in the window."""

    RL = "rl"
    LLM = "llm"
    VLM = "vlm"
    HUMAN = "human"
    BASELINE = "baseline"
    BDI = "bdi"
    PLANNER = "planner"


_SPELT = frozenset({"rl", "llm", "vlm", "bdi", "mpc"})


def kind_word(kind: str) -> str:
    """Return a kind of agent as a sentence writes it: ``RL``, ``baseline``; an unknown kind is unchanged."""
    return kind.upper() if kind in _SPELT else kind
