"""The result of expanding a matrix: its rows, the operator of each, and why some rows cannot be played."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gym_gui.core.validation import ConfigError, Plain, keys, mapping, plain_mapping, sequence, text

_ROW_KEYS = {
    key: key for key in ("name", "title", "task", "sides", "operator", "problem", "slots", "setting")
}


@dataclass(frozen=True)
class MatrixRow:
    """One row of a matrix.

    Attributes:
        name: Name that is unique in the matrix.
        title: Title for people.
        task: Environment id.
        sides: Names of policies by team; a policy that plays every slot is under ``""``.
        operator: The operator that plays the row; empty if the row cannot be played. Rows of the same match
            share an operator.
        problem: Why the row cannot be played.
        slots: Name of the policy in each slot of the operator, as the matrix has it.
        setting: Name of the grid's setting in which the row is played, which is also the end of the row's
            name; empty if the grid has no settings.
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
        """The players as text: ``ppo + gpt against ppo + random``."""
        return " against ".join(" + ".join(seats) for seats in self.sides.values())

    def to_record(self) -> dict[str, Plain]:
        """Return the row as plain data, from which :meth:`MatrixTable.from_record` reads it."""
        record: dict[str, Plain] = {"name": self.name, "title": self.title, "task": self.task}
        record["sides"] = {team: list(seats) for team, seats in self.sides.items()}
        if self.setting:
            record["setting"] = self.setting
        if self.problem:
            return {**record, "problem": self.problem}
        return {**record, "operator": self.operator, "slots": dict(self.slots)}


@dataclass(frozen=True)
class MatrixTable:
    """The rows of a matrix with the request that they come from.

    Attributes:
        asked: ``policies`` and ``matrix`` in the form of an experiment file, with full names.
        rows: The rows in the order of the file.
    """

    asked: Mapping[str, Plain]
    rows: tuple[MatrixRow, ...]

    @property
    def missing(self) -> list[MatrixRow]:
        """Rows that cannot be played."""
        return [row for row in self.rows if row.problem]

    def without(self, problems: Mapping[str, str]) -> MatrixTable:
        """Return the table with the rows of some operators marked as not playable.

        Args:
            problems: Reason by operator.
        """
        said = {operator: one_line(problem) for operator, problem in problems.items()}
        rows = (
            replace(row, operator="", slots={}, problem=said[row.operator]) if row.operator in said else row
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))

    def policies_of(self, operator: str) -> Mapping[str, str]:
        """Return the policies in the slots of an operator, by the names that the matrix has for them."""
        return next((row.slots for row in self.rows if row.operator == operator), dict[str, str]())

    def check(self, operators: Iterable[str]) -> None:
        """Refuse a row whose operator does not exist.

        Raises:
            ConfigError: There is such a row; the error names its place.
        """
        known = set(operators)
        for i, row in enumerate(self.rows):
            if not row.problem and row.operator not in known:
                raise ConfigError(f"no operator is called {row.operator!r}", where=f"matrix.rows[{i}]")

    def to_record(self) -> dict[str, Plain]:
        """Return the table in the form of ``run.json``."""
        return {"asked": dict(self.asked), "rows": [row.to_record() for row in self.rows]}

    @classmethod
    def from_record(cls, data: object) -> MatrixTable:
        """Read a table from the result of :meth:`to_record`.

        Raises:
            ConfigError: The data is not such a table.
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
    """Return text from any source on one line, with unprintable characters replaced and cut to ``most``."""
    line = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(str(words).split())
    )
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def by_problem(rows: Sequence[MatrixRow]) -> dict[str, list[MatrixRow]]:
    """Return the rows that cannot be played, by reason."""
    found: dict[str, list[MatrixRow]] = {}
    for row in rows:
        if row.problem:
            found.setdefault(row.problem, []).append(row)
    return found


def missing_in_words(rows: Sequence[MatrixRow]) -> list[str]:
    """Return a line for each reason with the rows it concerns: ``llm_vs_llm, rl_vs_llm: no policy …``."""
    return [f"{', '.join(row.name for row in of)}: {problem}" for problem, of in by_problem(rows).items()]
