"""``mosaic runs confirm``: a person has looked at a submission that was not handed in from here."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from gym_gui.cli.errors import DONE, tell
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.own_submissions import NotConfirmedError, Unconfirmed, confirm, unconfirmed
from gym_gui.services.submissions.submission_record import is_submission


def confirm_submission(folder: Path, *, as_json: bool) -> int:
    """Show a submission as a whole, and ask whether it may be used.

    Args:
        folder: The submission's.
        as_json: For programs.

    Returns:
        Exit status.

    Raises:
        UsageError: It is none, cannot be used, or is not confirmed.
    """
    if not is_submission(folder):
        raise UsageError(
            f"{folder} is no submission", fix="Give the folder that mosaic run --executor has named"
        )
    if (seen := unconfirmed(folder)) is not None:
        confirm_in_terminal(seen)
    if as_json:
        write_json({"submission": str(folder), "confirmed": True})
    else:
        write_line(f"Confirmed:  {folder}")
    return DONE


def confirm_in_terminal(seen: Unconfirmed) -> None:
    """Show what a submission would do, and have the person confirm it.

    Raises:
        NotConfirmedError: There is no terminal to ask in.
        UsageError: The person does not confirm it.
    """
    folder = seen.submission.folder
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NotConfirmedError(folder)
    tell(f"{folder} was not handed in from here, or was changed since")
    for heading, lines in seen.rows:
        sys.stderr.write("".join([f"{heading}:\n", *(f"  {line}\n" for line in lines)]))
    if not typer.confirm("Shall it be used, with these commands?", default=False, err=True):
        raise UsageError("it was not confirmed, and nothing was done")
    confirm(seen)
