"""The ``execution`` part of an experiment: number of episodes, seeds, limits, budgets and speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from gym_gui.core.declared_keys import (
    check_keys,
    declared,
    flag,
    key,
    member_of,
    names_of,
    optional,
    read_keys,
    real,
    record_of,
    whole,
)
from gym_gui.core.experiment.seed_lists import MAX_EPISODES, given_seeds, resolved_seeds, written_seeds
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.validation import ConfigError, Plain, freeze, number

EnvironmentMode = Literal["procedural", "fixed"]
Until = Literal["all", "decided"]
Isolation = Literal["slot", "worker"]

MAX_STEPS: Final = 2**31 - 1
MAX_RETURN: Final = 1e300
MAX_TOKENS: Final = 10**15
FEWEST_SEEDS: Final = 6
"""Smallest number of seeds with which a comparison can be decided."""
LOOKS: Final = 10
FEWEST_BATCH: Final = 5
MAX_LOOKS: Final = 100


@dataclass(frozen=True, slots=True)
class Opening:
    """Beginning of an episode after the player undid moves; repeats an earlier episode of the same seed.

    Attributes:
        episode: Index of the episode whose beginning is repeated: the last one that the session has played.
        step: Number of environment steps that are repeated.
    """

    episode: int
    step: int


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Time of each side for all its moves in a game, which chess players write as ``5+3``.

    Attributes:
        seconds: Seconds at the beginning; above 0.
        increment_s: Seconds that are added with each move; 0 or more.

    Raises:
        ConfigError: A value is out of range.
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
        """``5+3``: minutes, and seconds for each move."""
        return f"{self.seconds / 60:g}+{self.increment_s:g}"

    def to_row(self) -> dict[str, float]:
        """Return the time control in the form of records."""
        return {"seconds": self.seconds, "increment_s": self.increment_s}


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """One planned episode.

    Attributes:
        index: Episode index within its operator, from 0.
        seed: Seed of the environment.
        seating: Number of the rotation of the teams over the seats, from 0; always 0 if
            seats are fixed.
        allowances: By slot, for slots whose decisions cost money and that have a budget: the amount that the
            slot may still spend in this episode; 0 tokens or 0 dollars means no limit.
        opening: Moves that are repeated before any slot is asked; ``None``: none.
        time_control: How much time each side has; ``None``: no limit.
    """

    index: int
    seed: int
    seating: int
    allowances: Mapping[str, Amount] = field(default_factory=dict[str, Amount], hash=False)
    opening: Opening | None = None
    time_control: TimeControl | None = None


_MODES: Callable[[str], EnvironmentMode] = member_of("procedural", "fixed")
_UNTIL: Callable[[str], Until] = member_of("all", "decided")
ISOLATIONS: Callable[[str], Isolation] = member_of("slot", "worker")


def said_isolation(isolation: Isolation) -> str:
    """Return the line that a dry run prints for ``isolation``."""
    if isolation == "worker":
        return "slots of one team that one worker plays share a process"
    return "each slot has a process of its own"


def _limit(value: float) -> float:
    limit = number(value, "", low=0, high=MAX_RETURN)
    if not limit:
        raise ConfigError("must be more than 0", fix="Leave it out for no limit")
    return limit


def _episodes(value: int | None) -> int:
    """Return the number of episodes; ``None`` stays until the number of seeds is known."""
    return cast("int", optional(whole(1, MAX_EPISODES))(value))


@declared
class RecordConfig:
    """What a run records besides actions, rewards and hashes, and in which form."""

    observations: bool = key(
        converter=flag,
        default=False,
        kw_only=False,
        kept=True,
        meaning="every observation is stored with its step",
        usual="`false`",
        said="observations recorded",
    )
    compress: bool = key(
        converter=flag,
        default=False,
        kw_only=False,
        meaning="the run's rows of steps and episodes are "
        "[compressed](run_directory/episodes_and_steps.md#compressed-rows) when the run is complete, "
        "as `mosaic runs compress` does",
        usual="`false`",
        said="compressed when it has ended",
    )

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ConfigError: A value is neither true nor false.
        """
        check_keys(self)

    def to_record(self) -> dict[str, Plain]:
        """Return the values as plain data, in the form of an experiment file."""
        always, chosen = record_of(self)
        return always | chosen


def _record(given: object) -> RecordConfig:
    if isinstance(given, RecordConfig):
        return given
    return RecordConfig() if given is None else read_keys(RecordConfig, given, "")


@declared
class ExecutionConfig:
    """The ``execution`` part of an experiment, with resolved seeds.

    ``seeds`` holds the given seeds, or s, s+1, … for one integer s; in ``fixed`` mode it holds the first
    seed once per episode. Durations are in the unit at the end of the attribute's name.
    """

    num_episodes: int = key(
        converter=_episodes,
        default=None,
        kw_only=False,
        kept=True,
        meaning="episodes of each operator",
        usual="one per seed in a list, else 1",
    )
    seeds: tuple[int, ...] = key(
        converter=given_seeds,
        default=None,
        kw_only=False,
        kept=True,
        write=written_seeds,
        meaning="a list or range without repetition, or one integer s for s, s+1, …",
        usual="0",
    )
    environment_mode: EnvironmentMode = key(
        converter=_MODES,
        default="procedural",
        kw_only=False,
        kept=True,
        spellings=("env_mode",),
        meaning="`procedural`: a new seed each episode; `fixed`: always the first seed, which "
        "[decides nothing](statistics.md#the-unit-is-the-seed)",
        usual="`procedural`",
    )
    max_steps: int | None = key(
        converter=optional(whole(1, MAX_STEPS)),
        default=None,
        kept=True,
        meaning="limit of an episode",
        unit="steps",
        usual="the environment's",
    )
    concurrency: int | None = key(
        converter=optional(whole(1, 4096)),
        default=None,
        kept=True,
        pace=True,
        meaning="number of episodes per operator that are played at the same time",
        usual="the engine's choice",
        said="concurrency {}",
    )
    processes: int | None = key(
        converter=optional(whole(1, 256)),
        default=None,
        kept=True,
        pace=True,
        meaning="number of session processes",
        usual="chosen for the machine",
        said="processes {}",
    )
    isolation: Isolation = key(
        converter=ISOLATIONS,
        default="slot",
        pace=True,
        meaning="`slot`: a process for each slot, or `worker`: "
        "[one process](experiment_format/playing.md#slots-that-share-a-process) "
        "for slots of one team that the same worker plays",
        usual="`slot`",
        said=said_isolation,
    )
    until: Until = key(
        converter=_UNTIL,
        default="all",
        meaning="`all`: all episodes are played; `decided`: until every comparison is "
        "[decided](experiment_format/playing.md#until-it-is-decided), "
        "at most `num_episodes`",
        usual="`all`",
        said="until every comparison is decided",
    )
    batch: int | None = key(
        converter=optional(whole(1, MAX_EPISODES)),
        default=None,
        meaning="seeds between two evaluations of the comparisons",
        usual="a tenth of all, at least 5",
        said="evaluated every {} seeds",
    )
    record: RecordConfig = key(
        converter=_record,
        default=None,
        kept=True,
        write=RecordConfig.to_record,
        meaning="what the run records, and in which form",
        usual="`{}`",
        within=RecordConfig,
    )
    auto_run: bool = key(
        converter=flag,
        default=False,
        kept=True,
        pace=True,
        meaning="whether the window starts the experiment at once",
        usual="`false`",
    )
    step_delay_ms: float = key(
        converter=real(0, 3_600_000),
        default=0.0,
        kept=True,
        pace=True,
        meaning="least time between two steps of an episode that the window plays; `mosaic run` does "
        "not wait",
        unit="ms",
        usual="0",
    )
    failure_score: float | None = key(
        converter=optional(real(-MAX_RETURN, MAX_RETURN)),
        default=None,
        kept=True,
        meaning="return (or score) that a failed episode counts as in means and "
        "[verdicts](statistics.md#failed-episodes)",
        usual="none: it is left out, and verdicts that it could change are not decided",
        said="a failed episode counts as {:g}",
    )
    money_budget_usd: float | None = key(
        converter=optional(_limit),
        default=None,
        pace=True,
        budget=True,
        meaning="largest total cost of [calls to models](language_models/costs.md#budgets) in the whole run",
        unit="US dollars",
        usual="no limit",
        said="at most ${:,.10g} for calls to models",
    )
    token_budget: int | None = key(
        converter=optional(whole(1, MAX_TOKENS)),
        default=None,
        pace=True,
        budget=True,
        meaning="largest total number of language models' input and output tokens",
        unit="tokens",
        usual="no limit",
        said="at most {:,} tokens",
    )
    time_budget_s: float | None = key(
        converter=optional(_limit),
        default=None,
        pace=True,
        budget=True,
        meaning="time after which no episode is started, counted across `--resume`",
        unit="s",
        usual="no limit",
        said="at most {:,.10g} s",
    )

    def __post_init__(self) -> None:
        """Check the values, and resolve the seeds.

        Raises:
            ConfigError: A value is of the wrong type or out of range, or contradicts another value.
        """
        check_keys(self)
        episodes, seeds = resolved_seeds(self.num_episodes, self.seeds, self.environment_mode)
        freeze(self, num_episodes=episodes, seeds=seeds)
        self._check_until()

    def _check_until(self) -> None:
        """Refuse values that do not fit ``until``."""
        if self.until == "all":
            if self.batch is not None:
                raise ConfigError("needs 'until: decided'", where="batch", fix="Add it, or leave 'batch' out")
            return
        if self.environment_mode == "fixed":
            raise ConfigError(
                "'decided' needs a new seed each episode: one seed repeated decides nothing",
                where="until",
                fix="Leave environment_mode out",
            )
        limited = next((name for name in BUDGETS if getattr(self, name) is not None), None)
        if limited is not None:
            raise ConfigError(
                f"'decided' cannot be combined with {limited}, which may end the run too early",
                where="until",
                fix="Limit num_episodes instead",
            )

    def interim_seed_counts(self, seeds: int) -> list[int]:
        """Return the numbers of seeds after which comparisons are evaluated, for ``until: decided``.

        Args:
            seeds: The most that are played.

        Raises:
            ConfigError: The seeds are too few, or the evaluations too many.
        """
        if seeds < FEWEST_SEEDS:
            raise ConfigError(
                f"'decided' needs at least {FEWEST_SEEDS} seeds, not {seeds}",
                where="until",
                fix="Raise num_episodes, or leave 'until' out",
            )
        batch = self.batch or max(FEWEST_BATCH, -(-seeds // LOOKS))
        if seeds > batch * MAX_LOOKS:
            raise ConfigError(
                f"{batch} of {seeds} seeds need more than {MAX_LOOKS} evaluations",
                where="batch",
                fix=f"Give at least {-(-seeds // MAX_LOOKS)}",
            )
        return [min(at, seeds) for at in range(batch, seeds + batch, batch)]

    @staticmethod
    def seeds_needed(episodes: int, seatings: int = 1) -> int:
        """Return the number of seeds for ``episodes`` if each seed is played once per seating."""
        return -(-episodes // seatings)

    def check_seeds(self, seatings: int = 1) -> None:
        """Refuse fewer seeds than ``num_episodes`` need with this number of seatings.

        Raises:
            ConfigError: There are too few seeds; the message says how many are needed.
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
        """Refuse a seed that is listed twice, because a repeated episode would count as a new one.

        Raises:
            ConfigError: A seed is listed twice; the message names it.
        """
        if self.environment_mode == "fixed" or len(set(self.seeds)) == len(self.seeds):
            return
        twice = next(seed for seed, times in Counter(self.seeds).items() if times > 1)
        raise ConfigError(
            f"{twice} is listed {self.seeds.count(twice)} times; a repeated episode adds no data",
            where="seeds",
            fix="List each seed once",
        )

    def schedule(self, seatings: int = 1, only: Collection[int] | None = None) -> list[EpisodePlan]:
        """Return the episodes of one operator, in order.

        Args:
            seatings: Number of rotations of the teams; 1 if seats are fixed.
            only: Indices of the episodes to return; all by default.

        Raises:
            ConfigError: There are too few seeds.
        """
        self.check_seeds(seatings)
        wanted = range(self.num_episodes) if only is None else sorted(set(only))
        return [
            EpisodePlan(i, self.seeds[i // seatings], i % seatings) for i in wanted if i < self.num_episodes
        ]

    def to_record(self) -> dict[str, Plain]:
        """Return the values as plain data, in the form of an experiment file."""
        always, chosen = record_of(self)
        return chosen | always


BUDGETS: Final = names_of(ExecutionConfig, of=lambda key: key.budget)
"""Keys of ``execution`` that limit what a run may spend."""
PACE: Final = names_of(ExecutionConfig, of=lambda key: key.pace)
"""Keys of ``execution`` that change only the speed of a run."""
