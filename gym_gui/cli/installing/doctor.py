"""Implements ``mosaic doctor``."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

from rich.text import Text

from gym_gui.analysis.words.wording import count
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.installing.machine_checks import MachineFinding, check_machine
from gym_gui.cli.output import cell, entries, write_json, write_line
from gym_gui.services.versions import machine
from gym_gui.version import __version__

_STYLES = {"ok": "green", "note": "yellow", "problem": "red"}


def examine(*, as_json: bool) -> int:
    """Check this machine, print the findings, and return the exit status, which is 1 for a problem."""
    found = check_machine()
    if as_json:
        write_json(
            {"mosaic": __version__, "machine": machine(), "findings": [asdict(each) for each in found]}
        )
    else:
        _print(found)
    return WORK_FAILED if any(each.state == "problem" for each in found) else DONE


def _print(found: list[MachineFinding]) -> None:
    rows: list[tuple[list[Text], list[str]]] = []
    for check, group in groupby(found, key=lambda each: each.check):
        several = list(group)
        worst = max(several, key=lambda each: list(_STYLES).index(each.state)).state
        words = [f"{each.text}. {each.fix}".rstrip(". ") + "." for each in several]
        rows.append(([cell(check, style="bold"), cell(worst, style=_STYLES[worst])], words))
    entries(["Check", "State"], rows)
    problems, notes = (sum(each.state == state for each in found) for state in ("problem", "note"))
    write_line()
    if problems or notes:
        write_line(f"{count(problems, 'problem')}, {count(notes, 'note')}.")
    else:
        write_line("Nothing is wrong.")
