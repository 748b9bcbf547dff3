"""Contents of a tournament file: a pool of named policies, their environment, and their schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, Literal, cast

from gym_gui.core.config import ENVIRONMENT_KEYS, ExecutionConfig, OperatorConfig
from gym_gui.core.declared_keys import Key, keys_of
from gym_gui.core.experiment import experiment_data
from gym_gui.core.experiment.assignment import refuse_repeats
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.core.experiment.pairings import most_rounds, usual_rounds
from gym_gui.core.experiment.seed_lists import MAX_EPISODES
from gym_gui.core.experiment.tournament_pool import Player, Pool, players_from_data
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    choice,
    folder_name,
    integer,
    join,
    key_place,
    keys,
    mapping,
    nearest,
    sequence,
    shown,
    text,
)

ScheduleKind = Literal["", "round_robin", "swiss", "written", "cross_play"]
SCHEDULES: Final = ("round_robin", "swiss", "written", "cross_play")
USUAL_SEEDS: Final = 20
LONGEST_NAME: Final = 40

ENVIRONMENT: Final = ("task", *(key for key in ENVIRONMENT_KEYS if key != "seats"))
"""Keys that define the environment, without ``seats``, because every tournament swaps seats."""


@dataclass(frozen=True)
class Schedule:
    """Schedule of a tournament: which policies play each other.

    Attributes:
        kind: ``round_robin``, ``swiss`` or ``written`` if sides compete; ``cross_play`` if all agents are
            on one side; empty: ``round_robin`` or ``cross_play``, whichever fits.
        rounds: Rounds of a Swiss tournament; 0: as many as find the best policy of the pool.
        games: Pairings of a written schedule.
    """

    kind: ScheduleKind = ""
    rounds: int = 0
    games: tuple[tuple[str, ...], ...] = ()

    def among(self, pool: Pool) -> Schedule:
        """Return the schedule with each training of a group in place of the group."""
        met = [list(product(*(pool.all_of(name) for name in names))) for names in self.games]
        return replace(self, games=tuple(dict.fromkeys(game for each in met for game in each)))

    def to_record(self) -> Plain:
        """Return the schedule in the form of a file."""
        if self.kind == "swiss":
            return {"swiss": self.rounds} if self.rounds else "swiss"
        return [list(game) for game in self.games] if self.kind == "written" else self.kind


@dataclass(frozen=True)
class Tournament:
    """A tournament: its players, environment, schedule and seeds.

    Attributes:
        policies: The players, by name.
        operator: The environment, as an operator without players.
        schedule: Which policies play each other.
        execution: Seeds and limits; each pairing plays every seed once in each seating.
        games: Games of each pairing; ``None``: one for each seed and seating.
        held_out: Policies that serve in cross-play only as partners of the others.
        trainings: For policies that are trainings of a group: the group and the training, by policy.
    """

    policies: Mapping[str, Player]
    operator: OperatorConfig
    schedule: Schedule
    execution: ExecutionConfig = field(default_factory=lambda: ExecutionConfig(USUAL_SEEDS))
    games: int | None = None
    held_out: tuple[str, ...] = ()
    trainings: Mapping[str, TrainingOf] = field(default_factory=dict[str, TrainingOf])

    def __post_init__(self) -> None:
        """Check the names of policies, the schedule and the execution.

        Raises:
            ConfigError: Something is wrong; the error names the place.
        """
        _check_names(list(self.policies))
        if len(self.policies) < 2:
            raise ConfigError(
                f"a tournament needs at least two policies, {len(self.policies)} is named",
                where="policies",
                fix="Add another one",
            )
        for where, named in (("held_out", self.held_out), ("trainings", self.trainings)):
            for name in named:
                if name not in self.policies:
                    fix = nearest(name, self.policies)
                    raise ConfigError(f"no policy is called {shown(name)}", where=where, fix=fix)
        if not self.pool:
            raise ConfigError(
                "leaves no policy to play with them",
                where="held_out",
                fix="Leave some policies out of it",
            )
        if self.schedule.kind == "swiss":
            most, pool = most_rounds(len(self.policies)), len(self.policies)
            if self.schedule.rounds > most:
                raise ConfigError(
                    f"{pool} policies have met each other after {most} rounds, "
                    f"{self.schedule.rounds} are requested",
                    where="schedule.swiss",
                    fix="Request fewer rounds, or round_robin",
                )
        for i, game in enumerate(self.schedule.games):
            _check_game(game, list(self.policies), self.schedule.games[:i], f"schedule[{i}]")
        if self.execution.environment_mode == "fixed":
            raise ConfigError(
                "a single repeated seed shows nothing about others",
                where="execution",
                fix="Leave environment_mode out",
            )
        if self.execution.until != "all":
            raise ConfigError(
                "'decided' compares operators of an experiment; a tournament rates its pool at its end",
                where="execution.until",
                fix="Leave it out",
            )

    @property
    def pool(self) -> list[str]:
        """Policies that are not held out."""
        return [name for name in self.policies if name not in self.held_out]

    @property
    def rounds(self) -> int:
        """Number of rounds that each policy plays in a Swiss tournament."""
        return self.schedule.rounds or min(usual_rounds(len(self.policies)), most_rounds(len(self.policies)))

    def executed(self, sides: int) -> ExecutionConfig:
        """Return the execution of each pairing.

        Args:
            sides: Number of policies in a game, which is also the number of times that each seed is played.

        Raises:
            ConfigError: The number of games is not a multiple of ``sides``.
        """
        games = self.games if self.games is not None else len(self.execution.seeds) * sides
        if games % sides:
            raise ConfigError(
                f"{games} games cannot be shared out over {sides} seatings",
                where="execution.num_episodes",
                fix=f"Request {games + sides - games % sides}",
            )
        seeds = self.execution.seeds[: games // sides]
        made = replace(self.execution, num_episodes=games, seeds=seeds)
        made.check_seeds(sides)
        return made

    def to_record(self) -> dict[str, Plain]:
        """Return plain data in the form of a tournament file, which reads back to an equal tournament."""
        operator = self.operator.to_record()
        execution = self.execution.to_record()
        if self.games is None:
            del execution["num_episodes"]
        else:
            execution["num_episodes"] = self.games
        return {
            **{key: operator[key] for key in (*ENVIRONMENT, "folder") if operator.get(key)},
            "policies": {name: a.to_record() if a else None for name, a in self.policies.items()},
            **({"schedule": self.schedule.to_record()} if self.schedule.kind else {}),
            **({"held_out": list(self.held_out)} if self.held_out else {}),
            **(
                {"trainings": {n: of.to_record() for n, of in self.trainings.items()}}
                if self.trainings
                else {}
            ),
            "execution": execution,
        }


def tournament_from_data(
    data: object,
    *,
    origin: Origin = TYPED,
    pool_of: Callable[[Mapping[str, Player]], Pool] = Pool,
) -> Tournament:
    """Make a tournament from the content of a tournament file.

    Args:
        data: A mapping.
        origin: The file of the data, and the folder in which modules that it names are looked up.
        pool_of: Finds the trainings of groups.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    given = keys(mapping(data, "tournament"), "", {**_KEYS, "folder": "folder"})
    for key, example in (("task", "tictactoe_v3"), ("policies", "{a: {type: random}, b: …}")):
        if given.get(key) is None:
            raise ConfigError(f"{key!r} is missing", fix=f"Add {key}: {example}")
    task = text(given["task"], "task")
    if given.get("folder") is not None:
        origin = replace(origin, folder=text(given["folder"], "folder", max_length=4096))
    pool = pool_of(players_from_data(given["policies"], task))
    execution = given.get("execution")
    run = {} if execution is None else dict(mapping(execution, "execution"))
    games = run.get("num_episodes")
    if games is None and not isinstance(run.get("seeds"), (str, Sequence, range)):
        run["num_episodes"] = USUAL_SEEDS
    made = experiment_data.execution_from_data(run)
    made.check_distinct()
    return Tournament(
        pool.policies,
        environment(task, given, origin),
        schedule_from_data(given.get("schedule")).among(pool),
        made,
        None if games is None else integer(games, "execution.num_episodes", low=1, high=MAX_EPISODES),
        pool.named(read_held_out(given.get("held_out"))),
        {**pool.trainings, **_trainings_from_data(given.get("trainings"))},
    )


def environment(task: str, given: Mapping[str, object], origin: Origin) -> OperatorConfig:
    """Return the environment of the tournament, as an operator without players.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    known: dict[str, Any] = {key: given[key] for key in ENVIRONMENT if given.get(key) is not None}
    known["task"] = task
    return OperatorConfig("tournament", origin=origin, seats="swap", **known)


def read_held_out(data: object) -> tuple[str, ...]:
    """Read the names of policies that are held out.

    Raises:
        ConfigError: A value is not a name, or a name occurs twice.
    """
    listed = sequence([] if data is None else data, "held_out")
    names = tuple(text(name, f"held_out[{i}]") for i, name in enumerate(listed))
    refuse_repeats(names, "held_out")
    return names


def _trainings_from_data(data: object) -> dict[str, TrainingOf]:
    """Read the trainings that a run has recorded."""
    written = mapping({} if data is None else data, "trainings")
    return {
        name: TrainingOf.from_data(of, join("trainings", key_place(name))) for name, of in written.items()
    }


def schedule_from_data(data: object) -> Schedule:
    """Read a schedule: ``None``, a word, ``{swiss: rounds}``, or a list of pairings.

    The words are ``round_robin``, ``swiss`` and ``cross_play``.

    Raises:
        ConfigError: The data is none of these.
    """
    if data is None:
        return Schedule()
    if isinstance(data, Schedule):
        return data
    if isinstance(data, str):
        kind = choice(data, "schedule", SCHEDULES)
        if kind == "written":
            raise ConfigError("is not a list", where="schedule", fix="Write the pairings: [[a, b], [a, c]]")
        return Schedule(cast("ScheduleKind", kind))
    if isinstance(data, Mapping):
        given = keys(cast("Mapping[str, object]", data), "schedule", {"swiss": "swiss"})
        return Schedule("swiss", integer(given.get("swiss", 0), "schedule.swiss", low=1, high=10_000))
    listed = sequence(data, "schedule")
    if not listed:
        raise ConfigError("names no game", where="schedule", fix="Write the pairings: [[a, b], [a, c]]")
    games = tuple(
        tuple(text(name, f"schedule[{i}]") for name in sequence(game, f"schedule[{i}]"))
        for i, game in enumerate(listed)
    )
    return Schedule("written", games=games)


def _check_names(names: Sequence[str]) -> None:
    """Refuse names that cannot be used in tables and in folder names."""
    seen: dict[str, str] = {}
    for name in names:
        place = join("policies", key_place(name))
        folder_name(name, place)
        if len(name) > LONGEST_NAME or "_vs_" in name:
            raise ConfigError(
                f"{shown(name)} is not a valid policy name",
                where=place,
                fix=f"Use at most {LONGEST_NAME} letters, digits, '_' and '-'",
            )
        if name.casefold() in seen:
            raise ConfigError(f"differs from {seen[name.casefold()]!r} only in case", where=place)
        seen[name.casefold()] = name


def _check_game(
    game: Sequence[str], names: Sequence[str], before: Sequence[Sequence[str]], where: str
) -> None:
    for name in game:
        if name not in names:
            raise ConfigError(f"no policy is called {shown(name)}", where=where, fix=nearest(name, names))
    if len(set(game)) < len(game) or len(game) < 2:
        raise ConfigError("must name two or more different policies", where=where)
    if any(set(game) == set(other) for other in before):
        raise ConfigError(
            "is listed twice", where=where, fix="List it once: it is played in every seating on every seed"
        )


_OF_OPERATORS: Final = keys_of(OperatorConfig)
FILE: Final[Mapping[str, Key[Any]]] = {
    "task": replace(
        _OF_OPERATORS["task"],
        meaning="environment id, or `module:factory`, which is imported from the folder of this file first. "
        "The environment is competitive, or cooperative ([cross-play](cross_play.md))",
        required=True,
    ),
    "policies": replace(
        experiment_data.FILE["policies"],
        meaning="name → player, in the form of a [slot of an experiment file](experiment_format.md#a-slot): "
        "any worker, a checkpoint, `library:NAME`",
        usual="required, two or more",
    ),
    "schedule": Key(
        schedule_from_data,
        "which policies meet: `round_robin`, `swiss`, `cross_play`, `{swiss: ROUNDS}`, or a list: "
        "`[[a, b], [a, c]]`",
        usual="`round_robin`; in cross-play `cross_play`",
        words=tuple(kind for kind in SCHEDULES if kind != "written"),
    ),
    "execution": replace(
        experiment_data.FILE["execution"],
        meaning="as in an [experiment file](experiment_format.md#execution); each pairing plays each seed "
        "once in each seating. `num_episodes`: games of a pairing",
        usual=f"{USUAL_SEEDS} seeds",
    ),
    "held_out": Key(
        read_held_out,
        "names of policies that play only as partners in [cross-play](cross_play.md), and are not rated",
    ),
    **{name: about for name, about in _OF_OPERATORS.items() if name in ENVIRONMENT and name != "task"},
}
"""Top-level keys of a tournament file."""
_KEYS: Final = {key: key for key in (*FILE, "trainings")}


def is_tournament_file(names: Collection[str]) -> bool:
    """Return whether a file with these top-level keys is a tournament, not an experiment or a run."""
    return "policies" in names and "run_id" not in names and not experiment_data.is_experiment_file(names)
