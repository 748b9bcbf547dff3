"""How often, with which seeds and how fast an experiment is played."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, cast

from gym_gui.core.experiment.spending import Amount
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    boolean,
    choice,
    freeze,
    integer,
    number,
    sequence,
    shown,
    under,
)

EnvironmentMode = Literal["procedural", "fixed"]
Until = Literal["all", "decided"]

MAX_EPISODES: Final = 1_000_000
MAX_SEED: Final = 2**63 - 1
"""Largest seed accepted, so that it fits a signed 64-bit column everywhere."""
MAX_STEPS: Final = 2**31 - 1
MAX_RETURN: Final = 1e300
MAX_TOKENS: Final = 10**15
FEWEST_SEEDS: Final = 6
"""With fewer no comparison can be decided."""
LOOKS: Final = 10
FEWEST_BATCH: Final = 5
MAX_LOOKS: Final = 100
_MOST_LISTED: Final = 1000
"""So many seeds in a row are written as a list; more, as a range."""
_RANGE_TEXT: Final = re.compile(
    r"\s*range\(\s*(-?\d{1,19})\s*(?:,\s*(-?\d{1,19})\s*)?(?:,\s*(-?\d{1,19})\s*)?\)\s*"
)


class _Listable(Protocol):
    def tolist(self) -> object: ...


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of an episode, where moves were taken back: another one's, of the same seed.

    Attributes:
        episode: Index of the episode whose beginning it is: the last one that the session has played.
        step: Environment steps that are played as they were played there.
    """

    episode: int
    step: int


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How much time each side of a game has for all its moves, as chess players write it: ``5+3``.

    Attributes:
        seconds: At the beginning; above 0.
        increment_s: Seconds that are added with each move; 0 or more.

    Raises:
        ConfigError: One of them cannot be.
    """

    seconds: float
    increment_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.seconds < float("inf"):
            raise ConfigError(f"{self.seconds:g} seconds cannot be played: give more than 0")
        if not 0 <= self.increment_s < float("inf"):
            raise ConfigError(f"{self.increment_s:g} seconds a move cannot be added: give 0 or more")

    @property
    def words(self) -> str:
        """``5+3``: minutes, and seconds a move."""
        return f"{self.seconds / 60:g}+{self.increment_s:g}"

    def to_row(self) -> dict[str, float]:
        """As records have it."""
        return {"seconds": self.seconds, "increment_s": self.increment_s}


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """One episode that is to be played.

    Attributes:
        index: Episode index within its operator, from 0.
        seed: Seed of the environment.
        seating: Which rotation of the teams over the seats, from 0; always 0 when
            seats are fixed.
        allowances: By slot, for those that pay for their decisions, where a budget is set: what that leaves
            to them in this episode; 0 of tokens or of dollars for no limit.
        opening: What is played before anybody is asked; ``None``: it begins where the environment does.
        time_control: How much time each side has; ``None``: as much as it takes.
    """

    index: int
    seed: int
    seating: int
    allowances: Mapping[str, Amount] = field(default_factory=dict[str, Amount], hash=False)
    opening: Opening | None = None
    time_control: TimeControl | None = None


@dataclass(frozen=True)
class RecordConfig:
    """How a run is written, and what beside actions, rewards and hashes.

    Attributes:
        observations: Whether every observation is stored with its step.
        compress: Whether the run's rows of steps and episodes are compressed when it has ended.
    """

    observations: bool = False
    compress: bool = False

    def __post_init__(self) -> None:
        boolean(self.observations, "observations")
        boolean(self.compress, "compress")

    def to_record(self) -> dict[str, Plain]:
        """Plain data in the shape of an experiment file."""
        return {"observations": self.observations, **({"compress": True} if self.compress else {})}


@dataclass(frozen=True, init=False)
class ExecutionConfig:
    """The ``execution`` part of an experiment, resolved.

    Attributes:
        num_episodes: Episodes of each operator.
        seeds: Seeds in the order they are used. As many as were given, or, for one
            integer s, s, s+1, …; in ``fixed`` mode the first, once per episode.
        environment_mode: ``procedural`` (a new seed each episode) or ``fixed``.
        max_steps: Limit of an episode, or ``None`` for the environment's own.
        concurrency: Episodes in flight per operator, or ``None`` to let the engine choose.
        processes: Session processes, or ``None`` to go by the machine.
        record: What is written beside the usual, and whether it is compressed in the end.
        auto_run: Whether the window starts at once after loading.
        step_delay_ms: Pause after each step in the window, in milliseconds.
        failure_score: Return (score, where teams are compared by that) that a failed episode counts
            as, or ``None``: it counts as nothing, and what it may have hidden is not decided.
        money_budget_usd: US dollars that all calls to models may cost together, or ``None`` for no limit.
        token_budget: Tokens that they may take together, in and out, likewise.
        time_budget_s: Seconds after which no episode is begun any more, likewise.
        until: ``all`` episodes are played, or only as many as it takes until every comparison is
            ``decided``: ``num_episodes`` is then the most that are.
        batch: Seeds between two looks at what is decided; ``None``: a tenth of all.
    """

    num_episodes: int
    seeds: tuple[int, ...]
    environment_mode: EnvironmentMode
    max_steps: int | None
    concurrency: int | None
    processes: int | None
    record: RecordConfig
    auto_run: bool
    step_delay_ms: float
    failure_score: float | None
    money_budget_usd: float | None
    token_budget: int | None
    time_budget_s: float | None
    until: Until
    batch: int | None

    def __init__(
        self,
        num_episodes: int | None = None,
        seeds: Iterable[int] | int | None = None,
        environment_mode: str = "procedural",
        *,
        max_steps: int | None = None,
        concurrency: int | None = None,
        processes: int | None = None,
        record: RecordConfig | None = None,
        auto_run: bool = False,
        step_delay_ms: float = 0,
        failure_score: float | None = None,
        money_budget_usd: float | None = None,
        token_budget: int | None = None,
        time_budget_s: float | None = None,
        until: str = "all",
        batch: int | None = None,
    ) -> None:
        """Check and resolve.

        Args:
            num_episodes: Left out: one per seed, or 1 where ``seeds`` is no list.
            seeds: A list, a range, or one integer s for s, s+1, …; left out: 0, 1, ….
            environment_mode: See the class.
            max_steps: See the class.
            concurrency: See the class.
            processes: See the class.
            record: See the class.
            auto_run: See the class.
            step_delay_ms: See the class.
            failure_score: See the class.
            money_budget_usd: See the class.
            token_budget: See the class.
            time_budget_s: See the class.
            until: See the class.
            batch: See the class.

        Raises:
            ConfigError: A value is of the wrong type or out of range, or does not go with another.
        """
        mode = cast("EnvironmentMode", choice(environment_mode, "environment_mode", ("procedural", "fixed")))
        listed = _listed_seeds(seeds)
        if num_episodes is None:
            episodes = len(listed) if isinstance(listed, tuple) else 1
        else:
            episodes = integer(num_episodes, "num_episodes", low=1, high=MAX_EPISODES)
        limit = None if max_steps is None else integer(max_steps, "max_steps", low=1, high=MAX_STEPS)
        delay = number(step_delay_ms, "step_delay_ms", low=0, high=3_600_000)
        freeze(
            self,
            num_episodes=episodes,
            seeds=_resolve_seeds(listed, episodes, mode),
            environment_mode=mode,
            max_steps=limit,
            concurrency=_optional_count(concurrency, "concurrency", 4096),
            processes=_optional_count(processes, "processes", 256),
            record=record or RecordConfig(),
            auto_run=boolean(auto_run, "auto_run"),
            step_delay_ms=delay,
            failure_score=_optional_number(failure_score, "failure_score"),
            money_budget_usd=_optional_limit(money_budget_usd, "money_budget_usd"),
            token_budget=_optional_count(token_budget, "token_budget", MAX_TOKENS),
            time_budget_s=_optional_limit(time_budget_s, "time_budget_s"),
            until=cast("Until", choice(until, "until", ("all", "decided"))),
            batch=_optional_count(batch, "batch", MAX_EPISODES),
        )
        self._check_until()

    def _check_until(self) -> None:
        """Refuse what cannot be played until it is decided."""
        if self.until == "all":
            if self.batch is not None:
                raise ConfigError(
                    "goes with 'until: decided' alone", where="batch", fix="Add it, or leave this out"
                )
            return
        if self.environment_mode == "fixed":
            raise ConfigError(
                "'decided' needs a new seed each episode: one seed repeated decides nothing",
                where="until",
                fix="Leave environment_mode out",
            )
        budgets = ("money_budget_usd", "token_budget", "time_budget_s")
        limited = next((name for name in budgets if getattr(self, name) is not None), None)
        if limited is not None:
            raise ConfigError(
                f"'decided' does not go with {limited}, which may end the run between two looks",
                where="until",
                fix="Limit num_episodes instead",
            )

    def look_at(self, seeds: int) -> list[int]:
        """At how many seeds is looked, where comparisons are played until they are decided.

        Args:
            seeds: The most that are played.

        Raises:
            ConfigError: These are too few, or looks too many.
        """
        if seeds < FEWEST_SEEDS:
            raise ConfigError(
                f"'decided' needs at least {FEWEST_SEEDS} seeds to be played at most, not {seeds}",
                where="until",
                fix="Raise num_episodes, or leave 'until' out",
            )
        batch = self.batch or max(FEWEST_BATCH, -(-seeds // LOOKS))
        if seeds > batch * MAX_LOOKS:
            raise ConfigError(
                f"{batch} of {seeds} seeds are more than {MAX_LOOKS} looks",
                where="batch",
                fix=f"Give at least {-(-seeds // MAX_LOOKS)}",
            )
        return [min(at, seeds) for at in range(batch, seeds + batch, batch)]

    @staticmethod
    def seeds_needed(episodes: int, seatings: int = 1) -> int:
        """Seeds for ``episodes`` when each seed is played once per seating."""
        return -(-episodes // seatings)

    def check_seeds(self, seatings: int = 1) -> None:
        """Refuse fewer seeds than ``num_episodes`` in so many seatings need.

        Raises:
            ConfigError: With how many are needed.
        """
        needed = self.seeds_needed(self.num_episodes, seatings)
        if len(self.seeds) < needed:
            each = f", each seed played in {seatings} seatings," if seatings > 1 else ""
            raise ConfigError(
                f"{self.num_episodes} episodes{each} need {needed} seeds, {len(self.seeds)} are given",
                where="execution.seeds",
                fix=f"Give more seeds, or one integer to count up from, "
                f"or set num_episodes to {len(self.seeds) * seatings}",
            )

    def check_distinct(self) -> None:
        """Refuse a seed that is listed twice: the same episode again would count as another.

        Raises:
            ConfigError: With the seed.
        """
        if self.environment_mode == "fixed" or len(set(self.seeds)) == len(self.seeds):
            return
        twice = next(seed for seed, times in Counter(self.seeds).items() if times > 1)
        raise ConfigError(
            f"{twice} is listed {self.seeds.count(twice)} times; the same episode again is no new one",
            where="seeds",
            fix="List each seed once",
        )

    def schedule(self, seatings: int = 1, only: Collection[int] | None = None) -> list[EpisodePlan]:
        """The episodes of one operator, in order.

        Args:
            seatings: How many rotations of the teams there are; 1 when seats are fixed.
            only: Indices of those that are wanted; all of them by default.

        Raises:
            ConfigError: Fewer seeds than are needed.
        """
        self.check_seeds(seatings)
        wanted = range(self.num_episodes) if only is None else sorted(set(only))
        return [
            EpisodePlan(i, self.seeds[i // seatings], i % seatings) for i in wanted if i < self.num_episodes
        ]

    def to_record(self) -> dict[str, Plain]:
        """Plain data in the shape of an experiment file."""
        budgets: dict[str, Plain] = {
            "money_budget_usd": self.money_budget_usd,
            "token_budget": self.token_budget,
            "time_budget_s": self.time_budget_s,
        }
        until: dict[str, Plain] = {"until": self.until} if self.until != "all" else {}
        if self.batch is not None:
            until["batch"] = self.batch
        return {
            **{name: budget for name, budget in budgets.items() if budget is not None},
            **until,
            "num_episodes": self.num_episodes,
            "seeds": _written(self.seeds),
            "environment_mode": self.environment_mode,
            "max_steps": self.max_steps,
            "concurrency": self.concurrency,
            "processes": self.processes,
            "record": self.record.to_record(),
            "auto_run": self.auto_run,
            "step_delay_ms": self.step_delay_ms,
            "failure_score": self.failure_score,
        }


def _optional_count(value: object, where: str, high: int) -> int | None:
    return None if value is None else integer(value, where, low=1, high=high)


def _optional_number(value: object, where: str) -> float | None:
    return None if value is None else number(value, where, low=-MAX_RETURN, high=MAX_RETURN)


def _optional_limit(value: object, where: str) -> float | None:
    if value is None:
        return None
    limit = number(value, where, low=0, high=MAX_RETURN)
    if not limit:
        raise ConfigError("must be more than 0", where=where, fix="Leave it out for no limit")
    return limit


def _listed_seeds(seeds: object) -> tuple[int, ...] | int:
    """Seeds as a tuple, or the one integer to count up from."""
    if seeds is None:
        return 0
    if isinstance(seeds, str):  # YAML and JSON have no range
        seeds = _parse_range(seeds)
    if isinstance(seeds, range):
        return _range_seeds(seeds)
    if hasattr(seeds, "tolist"):  # numpy's arrays and numbers
        seeds = cast("_Listable", seeds).tolist()
    if not isinstance(seeds, Sequence):
        return _seed(seeds, "seeds")
    items = sequence(cast(object, seeds), "seeds")
    if len(items) > MAX_EPISODES:
        raise ConfigError(f"at most {MAX_EPISODES} seeds are allowed, {len(items)} are given", where="seeds")
    return tuple(_seed(item, f"seeds[{i}]") for i, item in enumerate(items))


def read_seeds(written: object) -> tuple[int, ...]:
    """Seeds as a record has them: a list, or a range as text.

    Raises:
        ConfigError: It is neither.
    """
    seeds = _listed_seeds(written)
    if not isinstance(seeds, tuple):
        raise ConfigError(f"cannot be read: {shown(written)}", where="seeds", fix="Write a list or a range")
    return seeds


def _written(seeds: Sequence[int]) -> Plain:
    """Seeds as a record has them. Where a run is played in parts, each of them names all."""
    in_a_row = range(seeds[0], seeds[0] + len(seeds)) if seeds else range(0)
    if len(seeds) > _MOST_LISTED and all(map(operator.eq, seeds, in_a_row)):
        return f"range({in_a_row.start}, {in_a_row.stop})"
    return list(seeds)


def _seed(value: object, where: str) -> int:
    return integer(value, where, low=0, high=MAX_SEED)


def _parse_range(written: str) -> range:
    match = _RANGE_TEXT.fullmatch(written)
    if match is None or (match[3] is not None and int(match[3]) == 0):
        raise ConfigError(
            f"cannot be read: {shown(written)}",
            where="seeds",
            fix="Write a list, 'range(1000, 1010)', or one integer",
        )
    return range(*(int(part) for part in match.groups() if part is not None))


def _range_seeds(seeds: range) -> tuple[int, ...]:
    if not seeds:
        return ()
    with under("seeds"):
        _seed(seeds[0], "[0]")
        _seed(seeds[-1], "[-1]")
    # len() of a range beyond sys.maxsize raises OverflowError.
    if abs(seeds[-1] - seeds[0]) // abs(seeds.step) >= MAX_EPISODES:
        raise ConfigError(f"at most {MAX_EPISODES} seeds are allowed", where="seeds")
    return tuple(seeds)


def _resolve_seeds(listed: tuple[int, ...] | int, episodes: int, mode: EnvironmentMode) -> tuple[int, ...]:
    if isinstance(listed, tuple):
        if not listed:
            raise ConfigError("must not be empty", where="seeds")
        return (listed[0],) * episodes if mode == "fixed" else listed
    if mode == "fixed":
        return (listed,) * episodes
    if listed + episodes - 1 > MAX_SEED:
        raise ConfigError(f"{episodes} seeds from {listed} on exceed {MAX_SEED}", where="seeds")
    return tuple(range(listed, listed + episodes))
