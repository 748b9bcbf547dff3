"""Records the user's own submissions in the data folder, so that a foreign record cannot run commands.

Another user may have sent the folder of a submission. Its record tells the progress. But commands, hosts
and paths in the record are only used if the entry in the data folder contains the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.spending import plain_amounts
from gym_gui.core.formats import check_format
from gym_gui.core.printable_text import visible
from gym_gui.core.record_fields import items, mapping, text
from gym_gui.core.trusted.subjects import Subject, subject_of
from gym_gui.core.trusted.trust_file import TrustFile
from gym_gui.services.store import Store
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.bundle import needs_in
from gym_gui.services.submissions.host_state import name_other_places
from gym_gui.services.submissions.submission_record import Submission, new_token, open_submission
from mosaic_worker.plain_files import check_folder, open_file, read_file, replace_file

FOLDER: Final = "submissions"
"""Folder of the entries, in the data folder."""
FORMAT: Final = 1
_ID: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
"""Pattern of the folder's name. Hosts have folders of that name, which are removed at the end."""
_MOST_BYTES: Final = 64 * 2**20
_PROFILE: Final = "profile"
_UNLIMITED: Final = ["any amount: it has no budget, and nothing limits it"]
_SSH_CONFIG: Final = "ssh_config"


class NotConfirmedError(UsageError):
    """Error for a submission that was not submitted from this data folder, or was changed since.

    Attributes:
        folder: Folder of the submission.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} was not submitted from here or was changed since, and is not confirmed",
            fix=f"Check and confirm it in a terminal: mosaic runs confirm {folder}",
        )
        self.folder = folder


@dataclass(frozen=True)
class UnconfirmedSubmission:
    """An unconfirmed submission, with the text to show for its confirmation.

    Attributes:
        submission: Record of the submission.
        needs: Permissions that it needs, all of which ``trust.json`` grants.
        rows: What the submission would do, as headings with lines of text.
        bundle: Digest of the files that it would send.
    """

    submission: Submission
    needs: tuple[Subject, ...]
    rows: Sequence[tuple[str, Sequence[str]]]
    bundle: str


def remember_submission(submission: Submission) -> None:
    """Save the entry of a submission that the user submits, or resumes on other hosts.

    Args:
        submission: Record of the submission, with its bundle and its permissions.

    Raises:
        UsageError: The entry cannot be saved.
    """
    _keep(submission, _digest_of(submission.bundle), submission.token)


def verified_submission(submission: Submission, profile: Mapping[str, Any] | None = None) -> Submission:
    """Check a submission against its entry in the data folder, and set its permissions from there.

    A profile that is given now replaces the saved profile.

    Args:
        submission: Record of the submission.
        profile: New profile, which the user has named now.

    Raises:
        NotConfirmedError: There is no entry of the submission, or the entry differs.
        UsageError: The folder cannot be a submission's folder, or the entry is damaged.
    """
    found = _entry(submission)
    if found is None:
        raise NotConfirmedError(submission.folder)
    needs, terms, bundle, token = found
    same = {key: value for key, value in _terms(submission).items() if profile is None or key != _PROFILE}
    kept = {key: value for key, value in terms.items() if profile is None or key != _PROFILE}
    if same != kept or bundle != _digest_of(submission.bundle):
        raise NotConfirmedError(submission.folder)
    submission.needs, submission.token = needs, token
    if profile is not None:
        name_other_places(submission, profile)
        _keep(submission, bundle, token)
    return submission


def unconfirmed(folder: Path, profile: Mapping[str, Any] | None = None) -> UnconfirmedSubmission | None:
    """Return what the user must confirm before a submission is used; ``None`` if it is confirmed already.

    Args:
        folder: Folder of the submission.
        profile: Profile that the user has named now.

    Raises:
        UsageError: The submission cannot be used at all: it contains links, needs a permission that is
            missing, or names an OpenSSH configuration.
    """
    submission = open_submission(folder)
    try:
        verified_submission(submission, profile)
    except NotConfirmedError:
        pass
    else:
        return None
    _refuse_others(folder)
    if profile is not None:
        submission.profile = profile
    elif config := submission.profile.get(_SSH_CONFIG):
        raise UsageError(
            f"{folder} names {visible(str(config))} as the configuration of OpenSSH, which can run commands",
            fix="Name its hosts yourself: --resume SUBMISSION --profile FILE",
        )
    needs = _allowed(submission)
    return UnconfirmedSubmission(submission, needs, _rows(submission, needs), _digest_of(submission.bundle))


def confirm(seen: UnconfirmedSubmission) -> None:
    """Save the entry of a submission that the user has checked.

    Raises:
        UsageError: The submission has changed since it was shown, or cannot be saved.
    """
    submission = seen.submission
    submission.needs = seen.needs
    if _digest_of(submission.bundle) != seen.bundle:
        raise UsageError(f"{submission.folder} has changed since it was shown", fix="Check it again")
    before = _entry(submission)
    # While the bundle is unchanged, files that were sent earlier from here stay valid.
    submission.token = before[3] if before is not None and before[2] == seen.bundle else new_token()
    _keep(submission, seen.bundle, submission.token)


# -- inside ------------------------------------------------------------------------------


def _file(submission: Submission) -> Path:
    name = submission.folder.absolute().name
    if _ID.fullmatch(name) is None:
        raise UsageError(
            f"{submission.folder} does not have the name of a submission",
            fix="Give the folder that mosaic run --executor created, under its original name",
        )
    return Store().data_dir(FOLDER) / f"{name}.json"


def _terms(submission: Submission) -> dict[str, Any]:
    """Return all values of the record that cause actions, as JSON data."""
    book = BudgetLeases.open(submission.folder)
    terms = {
        "folder": str(submission.folder.resolve()),
        "executor": submission.executor,
        "command": submission.command,
        "out": str(submission.out),
        _PROFILE: dict(submission.profile),
        "trainings": None if submission.trainings is None else submission.trainings.to_record(),
        "budgets": None if book is None else plain_amounts(book.budgets),
    }
    return json.loads(json.dumps(terms))


def _keep(submission: Submission, bundle: str, token: str) -> None:
    path = _file(submission)
    data = {
        "format": FORMAT,
        **_terms(submission),
        "bundle": bundle,
        "token": token,
        "needs": [asdict(subject) for subject in submission.needs],
    }
    try:
        replace_file(path, (json.dumps(data, indent=1) + "\n").encode(), mode=0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _entry(submission: Submission) -> tuple[tuple[Subject, ...], dict[str, Any], str, str] | None:
    """Return permissions, terms, digest of the bundle and token of a submission's entry, or ``None``."""
    path = _file(submission)
    _refuse_links(submission.folder)
    submission.check_folders()
    try:
        data = dict(mapping(json.loads(read_file(path, limit=_MOST_BYTES))) or {})
        check_format(str(path), data.pop("format", None), FORMAT)
        needs = tuple(subject_of(row) for row in items(data.pop("needs")) or ())
        bundle = text(data.pop("bundle")) or ""
        token = text(data.pop("token", None)) or new_token()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RunFormatError(str(path), "is damaged. Delete it, and confirm the submission again") from None
    return needs, data, bundle, token


def _refuse_links(folder: Path) -> None:
    """Refuse links in the folder, because its files are moved and removed."""
    with os.scandir(folder) as entries:
        link = next((entry.name for entry in entries if entry.is_symlink()), None)
    if link is not None:
        raise UsageError(f"{folder / link} is a link; links in a submission are not followed")


def _refuse_others(folder: Path) -> None:
    """Refuse anything but data in a submission that comes from elsewhere."""
    try:
        check_folder(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be used: {error.strerror}", fix="Ask for a new copy") from None
    if (folder / "sent.tar.gz").exists():
        raise UsageError(
            f"{folder / 'sent.tar.gz'} is an archive of an earlier version, which is not read",
            fix="Remove it, and confirm the submission: its files are packed again",
        )
    for name in ("played", "cluster"):
        if (folder / name).exists():
            raise UsageError(
                f"{folder / name} contains played shards and the commands that play them",
                fix="Remove it, and confirm the submission: missing shards are played again",
            )


def _allowed(submission: Submission) -> tuple[Subject, ...]:
    """Return the permissions that a submission needs, after a check that ``trust.json`` grants them all.

    Code in the bundle counts as allowed, wherever it was before, if its hash is allowed.
    """
    known = TrustFile().subjects()
    code = {subject.sha256 for subject in known if subject.kind == "folder"}
    needs = needs_in(submission.bundle)
    for subject in needs:
        if subject in known or (subject.kind == "folder" and subject.sha256 in code):
            continue
        name = str(submission.bundle) if subject.kind == "folder" else subject.name
        raise UsageError(
            f"{submission.folder} needs {subject.words}, which is not allowed",
            fix=f"Check it, then run: mosaic trust add {name}",
        )
    return needs


def _digest_of(bundle: Path) -> str:
    """Return a digest of the names and contents of all files that are sent.

    Raises:
        UsageError: A file cannot be read or is not a regular file.
    """
    whole = hashlib.sha256()
    try:
        check_folder(bundle)
        files = sorted(Path(at) / name for at, _, names in os.walk(bundle) for name in names)
        for file in files:
            whole.update(os.fsencode(f"{file.relative_to(bundle)}\0{_sha_of(file, bundle)}\0"))
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UsageError(f"{error.filename or bundle} cannot be read: {error.strerror}") from None
    return whole.hexdigest()


def _sha_of(file: Path, bundle: Path) -> str:
    with open_file(file, inside=bundle) as source:
        whole = hashlib.sha256()
        while piece := source.read(1 << 20):
            whole.update(piece)
        return whole.hexdigest()


def _rows(submission: Submission, needs: Sequence[Subject]) -> list[tuple[str, Sequence[str]]]:
    """Return all that the user confirms, with JSON on each line so that text cannot imitate a line."""
    terms = _terms(submission)
    told: Mapping[str, Any] = terms[_PROFILE]
    budgets: Mapping[str, Any] = terms["budgets"] or {}
    profile = {key: value for key, value in told.items() if value not in (None, [], "")}
    bundle = submission.bundle
    files = sorted(path for path in bundle.rglob("*") if path.is_file())
    sent = [f"{_json(str(file.relative_to(bundle)))}, {file.stat().st_size:,} bytes" for file in files]
    may_spend = [f"{_json(key)}: {_json(value)}" for key, value in budgets.items()]
    if not may_spend and submission.trainings is None:
        may_spend = _UNLIMITED
    rows = [
        ("It is", [f"mosaic {submission.command}, played by the executor {submission.executor}"]),
        ("It plays there, with these commands", [f"{key}: {_json(value)}" for key, value in profile.items()]),
        ("It writes to", [_json(terms["out"])]),
        ("It sends", sent),
        ("It uses what has been allowed", [_json(subject.words) for subject in needs]),
        ("It may spend", may_spend),
    ]
    if submission.trainings is not None:
        rows.append(("It trains, with these arguments", [_json(" ".join(submission.trainings.arguments))]))
        rows.append(("Trainings are in", [_json(str(each.folder)) for each in submission.trainings.parts]))
    return [(heading, lines) for heading, lines in rows if lines]


def _json(value: object) -> str:
    return visible(json.dumps(value, ensure_ascii=False))
