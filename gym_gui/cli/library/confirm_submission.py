"""Implements ``mosaic runs confirm``: the user checks a submission of another user or machine."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from gym_gui.cli.errors import DONE, print_message
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.own_submissions import (
    NotConfirmedError,
    UnconfirmedSubmission,
    confirm,
    unconfirmed,
)
from gym_gui.services.submissions.submission_record import is_submission


def confirm_submission(folder: Path, *, as_json: bool) -> int:
    """Print a submission, and ask the user whether to use it.

    Args:
        folder: Folder of the submission.
        as_json: Whether to print JSON.

    Returns:
        Exit status.

    Raises:
        UsageError: The folder is not a submission, cannot be used, or the user does not confirm it.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Pass the folder that mosaic run --executor printed"
        )
    if (seen := unconfirmed(folder)) is not None:
        confirm_in_terminal(seen)
    if as_json:
        write_json({"submission": str(folder), "confirmed": True})
    else:
        write_line(f"Confirmed:  {folder}")
    return DONE


def confirm_in_terminal(seen: UnconfirmedSubmission) -> None:
    """Print on stderr what a submission would run, and ask the user to confirm it.

    Raises:
        NotConfirmedError: There is no terminal for the question.
        UsageError: The user does not confirm it.
    """
    folder = seen.submission.folder
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NotConfirmedError(folder)
    print_message(f"{folder} was submitted by another user or machine, or was changed afterwards")
    for heading, lines in seen.rows:
        sys.stderr.write("".join([f"{heading}:\n", *(f"  {line}\n" for line in lines)]))
    if not typer.confirm("Use this submission and run these commands?", default=False, err=True):
        raise UsageError("the submission was not confirmed; nothing was done")
    confirm(seen)
