"""What became of a matrix: its rows, which operator plays each, and why some cannot be played."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gym_gui.core.validation import ConfigError, Plain, keys, mapping, plain_mapping, sequence, text

_ROW_KEYS = {
    key: key for key in ("name", "title", "task", "sides", "operator", "problem", "slots", "setting")
}


@dataclass(frozen=True)
class MatrixRow:
    """One row.

    Attributes:
        name: Unique in its matrix.
        title: What people read.
        task: Environment id.
        sides: Names of policies by team; a policy that plays every slot stands under ``""``.
        operator: The operator that plays it; empty where it cannot be played. Rows of one match share theirs.
        problem: Why it cannot be played.
        slots: The policy in each slot of its operator, by the name that it has in the matrix.
        setting: Which of several settings it is played in: its name ends in it. Empty where there are none.
    """

    name: str
    title: str
    task: str
    sides: Mapping[str, Sequence[str]]
    operator: str = ""
    problem: str = ""
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    setting: str = ""

    @property
    def players(self) -> str:
        """``ppo + gpt against ppo + random``."""
        return " against ".join(" + ".join(seats) for seats in self.sides.values())

    def to_record(self) -> dict[str, Plain]:
        """Plain data, from which :meth:`MatrixTable.from_record` reads it."""
        record: dict[str, Plain] = {"name": self.name, "title": self.title, "task": self.task}
        record["sides"] = {team: list(seats) for team, seats in self.sides.items()}
        if self.setting:
            record["setting"] = self.setting
        if self.problem:
            return {**record, "problem": self.problem}
        return {**record, "operator": self.operator, "slots": dict(self.slots)}


@dataclass(frozen=True)
class MatrixTable:
    """The rows of a matrix beside what was asked for.

    Attributes:
        asked: ``policies`` and ``matrix`` as an experiment file has them, in full names.
        rows: In the order asked for.
    """

    asked: Mapping[str, Plain]
    rows: tuple[MatrixRow, ...]

    @property
    def missing(self) -> list[MatrixRow]:
        """Rows that cannot be played."""
        return [row for row in self.rows if row.problem]

    def without(self, problems: Mapping[str, str]) -> MatrixTable:
        """The table where some operators cannot play after all.

        Args:
            problems: By operator, why.
        """
        said = {operator: one_line(problem) for operator, problem in problems.items()}
        rows = (
            replace(row, operator="", slots={}, problem=said[row.operator]) if row.operator in said else row
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))

    def policies_of(self, operator: str) -> Mapping[str, str]:
        """Who sits in the slots of an operator, by the names that they have in the matrix."""
        return next((row.slots for row in self.rows if row.operator == operator), dict[str, str]())

    def check(self, operators: Iterable[str]) -> None:
        """Refuse a row of an operator that there is none of.

        Raises:
            ConfigError: With its place.
        """
        known = set(operators)
        for i, row in enumerate(self.rows):
            if not row.problem and row.operator not in known:
                raise ConfigError(f"no operator is called {row.operator!r}", where=f"matrix.rows[{i}]")

    def to_record(self) -> dict[str, Plain]:
        """What ``run.json`` keeps of it."""
        return {"asked": dict(self.asked), "rows": [row.to_record() for row in self.rows]}

    @classmethod
    def from_record(cls, data: object) -> MatrixTable:
        """Read what :meth:`to_record` gave.

        Raises:
            ConfigError: It is none.
        """
        given = keys(data, "matrix", {"asked": "asked", "rows": "rows"})
        rows = [
            _row(row, f"matrix.rows[{i}]") for i, row in enumerate(sequence(given.get("rows"), "matrix.rows"))
        ]
        return cls(plain_mapping(given.get("asked"), "matrix.asked"), tuple(rows))


def _row(data: object, where: str) -> MatrixRow:
    given = keys(data, where, _ROW_KEYS)
    sides = {
        team: tuple(_words(name, where) for name in sequence(seats, where))
        for team, seats in mapping(given.get("sides"), where).items()
    }
    name, title, task = (_words(given.get(key), where) for key in ("name", "title", "task"))
    operator, problem, setting = (
        _words(given.get(key, ""), where, empty=True) for key in ("operator", "problem", "setting")
    )
    slots = {slot: _words(name, where) for slot, name in mapping(given.get("slots", {}), where).items()}
    return MatrixRow(name, title, task, sides, operator, problem, slots, setting)


def _words(value: object, where: str, *, empty: bool = False) -> str:
    return text(value, where, max_length=4096, empty=empty)


def one_line(words: object, most: int = 1000) -> str:
    """Words from anywhere as a line that can be read back."""
    line = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(str(words).split())
    )
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def by_problem(rows: Sequence[MatrixRow]) -> dict[str, list[MatrixRow]]:
    """Rows that cannot be played, by the reason."""
    found: dict[str, list[MatrixRow]] = {}
    for row in rows:
        if row.problem:
            found.setdefault(row.problem, []).append(row)
    return found


def missing_in_words(rows: Sequence[MatrixRow]) -> list[str]:
    """The same, a line for each reason: ``llm_vs_llm, rl_vs_llm: no policy …``."""
    return [f"{', '.join(row.name for row in of)}: {problem}" for problem, of in by_problem(rows).items()]
