"""Closed sets of names used across the engine and in run folders."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import Final


class SteppingParadigm(Enum):
    """How agents and environment take turns."""

    SINGLE_AGENT = auto()
    SIMULTANEOUS = auto()
    SEQUENTIAL = auto()
    HIERARCHICAL = auto()


class ActionSource(StrEnum):
    """Who chose an action; written to every step row."""

    POLICY = "policy"
    HUMAN = "human"
    RETRY = "retry"
    RANDOM_LEGAL = "random_legal"
    NOOP = "noop"
    DEFAULT = "default"
    OPTION = "option"
    OPENING = "opening"


class UnusableCause(StrEnum):
    """Why an answer could not be played."""

    UNREADABLE = "unreadable"
    ILLEGAL = "illegal"
    TIME_OUT = "time_out"
    MODEL_ERROR = "model_error"
    OTHER = "other"


FALLBACKS: Final = frozenset({ActionSource.NOOP, ActionSource.DEFAULT, ActionSource.RANDOM_LEGAL})
"""Sources of an action that the engine put in the place of an unusable answer."""


class EpisodeStatus(StrEnum):
    """How an episode ended, as written to its row."""

    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"


class Loss(StrEnum):
    """What became of the worker that owed an answer."""

    DIED = "died"
    """It ended or was ended, and another takes its place: what it played can be played again."""
    GIVEN_UP = "given_up"
    """No other takes its place any more."""


class Limit(StrEnum):
    """What a policy has used up."""

    EPISODE = "episode"
    """What it may have in each episode: this one ends, truncated."""
    RUN = "run"
    """What the run's budgets leave to it: the episode is left unplayed."""
    STOP = "stop"
    """All, until a person does something (a server is down): the run stops, the episode is left unplayed."""


class Outcome(StrEnum):
    """A team's result in one episode."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class WorkerKind(StrEnum):
    """What kind of decision-maker a worker hosts (the badge in the window)."""

    RL = "rl"
    LLM = "llm"
    VLM = "vlm"
    HUMAN = "human"
    BASELINE = "baseline"
    BDI = "bdi"
    PLANNER = "planner"


_SPELT = frozenset({"rl", "llm", "vlm", "bdi", "mpc"})


def kind_word(kind: str) -> str:
    """A kind of agent within a sentence: ``RL``, ``baseline``; one that is not known, as it is."""
    return kind.upper() if kind in _SPELT else kind
