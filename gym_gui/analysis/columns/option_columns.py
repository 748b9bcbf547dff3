"""Declares the columns of the table of options that managers chose (two-level control)."""

from __future__ import annotations

from collections.abc import Callable

from gym_gui.analysis.columns.cells import REPORTS, Cell, ResultColumn, ResultRow
from gym_gui.analysis.findings.summary import OptionSummary
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import Locale


def _option(row: ResultRow) -> OptionSummary:
    assert row.option is not None
    return row.option


def option_in_words(option: OptionSummary, locale: Locale = wording.C) -> str:
    """Return an option in one cell, such as ``explore: chosen 12 times, 7.3 moves, done 10, …``."""
    moves = wording.number(option.moves, 1, locale)
    return (
        f"{option.option}: chosen {wording.count(option.chosen, 'time', locale)}, {moves} moves, "
        f"done {option.over}, out of moves {option.budget}, with the episode {option.episode}"
    )


def _figure(heading: str, value: Callable[[OptionSummary], float | None], digits: int | None) -> ResultColumn:
    def cell(row: ResultRow, locale: Locale) -> Cell:
        return Cell(wording.number(value(_option(row)), digits, locale))

    return ResultColumn(heading, cell, places=REPORTS, of_options=True)


def _words(heading: str, value: Callable[[OptionSummary], str]) -> ResultColumn:
    def cell(row: ResultRow, _: Locale) -> Cell:
        return Cell(value(_option(row)))

    return ResultColumn(heading, cell, places=REPORTS, of_options=True, words=True)


OPTION_COLUMNS: tuple[ResultColumn, ...] = (
    _words("Option", lambda each: each.option),
    _words("Asked by", lambda each: each.slot),
    _figure("Chosen", lambda each: each.chosen, 0),
    _figure("Moves", lambda each: each.moves, 1),
    _figure("Done", lambda each: each.over, 0),
    _figure("Out of moves", lambda each: each.budget, 0),
    _figure("Episode over", lambda each: each.episode, 0),
    _figure("Return", lambda each: each.mean_return, None),
)
"""Columns of the table of chosen options: number of choices, mean moves, reasons for the end, return."""
