"""Downloads or copies the files that a worker needs besides packages, checks them, and builds its program."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO

from gym_gui.cli.installing.installation import print_progress
from gym_gui.cli.installing.installer import InstallationError
from gym_gui.core.errors import UsageError
from gym_gui.workers.definition import WorkerFile, WorkerTypeDefinition
from gym_gui.workers.own_files import (
    BUILD,
    PUBLISHED,
    absent_files,
    files_folder,
    forget_built,
    mark_built,
    with_files,
)

_MAX_BYTES = 1 << 30
_TIMEOUT_S = 60.0
_CHECKSUM_TIMEOUT_S = 5.0
"""Timeout for looking up the checksum of a local file; short, because the machine may have no network."""
_SUMS = {"sha256": 64, "sha1": 40}
_UNREADABLE = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
"""Errors of reading a file that is no zip archive, or an incomplete, damaged or encrypted archive."""
_VERSION = re.compile(r"^(?:Implementation|Bundle)-Version: *(\S+)", re.MULTILINE)
_RETRY_FIX = "Run the command again when the cause is gone, or download the file and pass it with --from"


def bring_files(definition: WorkerTypeDefinition, given: Sequence[Path], *, as_json: bool) -> dict[str, str]:
    """Copy or download all files that a worker needs, and build its program.

    Args:
        definition: The worker.
        given: Files on this machine, in any order; they replace earlier files.
        as_json: Whether to print progress as JSON lines.

    Returns:
        Version of each new file, by name.

    Raises:
        UsageError: A given file is none of those that the worker needs.
        InstallationError: A file cannot be downloaded or differs from the published one, or the build failed.
    """
    folder = files_folder(definition.type_id)
    matched = _match_given_files(definition, given)
    folder.mkdir(parents=True, exist_ok=True)
    new: dict[str, str] = {}
    for file in definition.files:
        if file.name not in matched and (folder / file.name).is_file():
            continue
        source = matched.get(file.name) or _from_system(file)
        with _temporary_file(folder / file.name) as part:
            if source is not None:
                print_progress(f"Copying {file.name} from {source}", as_json=as_json)
                shutil.copyfile(source, part)
                if file.name in matched and (difference := _difference_from_published(file, part)):
                    print_progress(f"Warning: {source} {difference}", as_json=as_json)
            else:
                print_progress(f"Downloading {file.url}", as_json=as_json)
                _fetch_with_hint(file, part)
        new[file.name] = file.version
    if BUILD in absent_files(definition):
        print_progress(f"Building {definition.type_id}", as_json=as_json)
        _build(definition)
    return new


def _match_given_files(definition: WorkerTypeDefinition, given: Sequence[Path]) -> dict[str, Path]:
    """Return the given path for each needed file, by the needed file's name; files are matched by content."""
    matched: dict[str, Path] = {}
    for path in given:
        if not path.is_file():
            raise UsageError(f"there is no file {path}", fix="Pass an existing file with --from")
        wrong = {file.name: _mismatch(path, file) for file in definition.files if file.name not in matched}
        name = next((name for name, problem in wrong.items() if not problem), None)
        if name is None:
            said = "; ".join(f"as {name} {problem}" for name, problem in wrong.items())
            raise UsageError(f"{definition.type_id} does not need {path}: {said or 'no file is missing'}")
        matched[name] = path
    return matched


def _from_system(file: WorkerFile) -> Path | None:
    sources = (Path(source) for source in file.places)
    return next((source for source in sources if source.is_file() and not _mismatch(source, file)), None)


def _mismatch(path: Path, file: WorkerFile) -> str:
    """Return why a file is not the needed one; empty if it may be the needed one."""
    if not file.holds:
        return "" if path.name == file.name else "it has another name"
    try:
        with zipfile.ZipFile(path) as archive:
            absent = [member for member in file.holds if member not in archive.namelist()]
            said = _VERSION.search(_manifest(archive))
    except _UNREADABLE as error:
        return f"it is no archive ({error})"
    if absent:
        return f"it lacks {absent[0]}"
    if said and file.version and not f"{said[1]}.".startswith(f"{file.version}."):
        return f"it is version {said[1]}, where {file.version} is needed"
    return ""


def _manifest(archive: zipfile.ZipFile) -> str:
    try:
        with archive.open("META-INF/MANIFEST.MF") as member:
            return member.read(1 << 16).decode(errors="replace")
    except KeyError:
        return ""


def _difference_from_published(file: WorkerFile, part: Path) -> str:
    """Return why a file that the user gave may differ from the published one; empty if both are equal."""
    try:
        kind, wanted = _checksum(file, _CHECKSUM_TIMEOUT_S)
    except InstallationError as error:
        return f"is used unchecked: its checksum could not be looked up ({error.message})"
    with part.open("rb") as content:
        found = hashlib.file_digest(content, kind).hexdigest()
    if found == wanted:
        return ""
    other = f"is not what was published at {file.url}: its {kind} is {found}, not {wanted}"
    return f"{other}. It is used all the same"


@contextmanager
def _temporary_file(target: Path) -> Generator[Path]:
    """Create a temporary file, which replaces ``target`` at the end unless an error occurred."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _fetch_with_hint(file: WorkerFile, part: Path) -> None:
    """Download a file; on failure, suggest the system package that contains the file, if there is one."""
    try:
        _fetch(file, part)
    except InstallationError as error:
        if not file.package:
            raise
        fix = f"Run: apt-get install {file.package}, then this command again; or pass the file with --from"
        raise InstallationError(error.message, fix=fix) from error


def _fetch(file: WorkerFile, part: Path) -> None:
    kind, wanted = _checksum(file)
    digest, size = hashlib.new(kind), 0
    with _opened(file.url) as answer, part.open("wb") as out:
        while chunk := answer.read(1 << 16):
            size += len(chunk)
            if size > _MAX_BYTES:
                raise InstallationError(f"{file.url} is larger than {_MAX_BYTES >> 20} MB")
            digest.update(chunk)
            out.write(chunk)
    if digest.hexdigest() != wanted:
        raise InstallationError(
            f"{file.url} is not what was published: its {kind} is {digest.hexdigest()}, not {wanted}",
            fix=_RETRY_FIX,
        )
    if problem := _mismatch(part, file) if file.holds else "":
        raise InstallationError(f"{file.url} is not what is needed: {problem}")


def _checksum(file: WorkerFile, within_s: float = _TIMEOUT_S) -> tuple[str, str]:
    """Return kind (``sha256`` or ``sha1``) and hexadecimal value of the checksum that the file must have."""
    if file.sha256 != PUBLISHED:
        return "sha256", file.sha256
    reason = ""
    for kind, length in _SUMS.items():
        try:
            with _opened(f"{file.url}.{kind}", within_s) as answer:
                first = answer.read(1024).decode(errors="replace").split()[:1]
        except InstallationError as error:
            reason = error.message
            continue
        if first and re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", first[0]):
            return kind, first[0].lower()
        reason = f"{file.url}.{kind} is no checksum"
    raise InstallationError(reason, fix=_RETRY_FIX)


class _Encrypted(urllib.request.HTTPRedirectHandler):
    """Refuses redirections to an address without TLS, whose answer others could forge."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith("https://"):
            raise InstallationError(f"{req.full_url} redirects to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _opened(url: str, within_s: float = _TIMEOUT_S) -> Generator[HTTPResponse]:
    try:
        with urllib.request.build_opener(_Encrypted).open(url, timeout=within_s) as answer:
            yield answer
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise InstallationError(f"{url} could not be downloaded: {reason}", fix=_RETRY_FIX) from error


def _build(definition: WorkerTypeDefinition) -> None:
    build = definition.build
    assert build is not None
    command = with_files(build.command, definition.type_id)
    forget_built(definition)  # so that a build that fails half-way does not count as built
    try:
        done = subprocess.run(
            command,
            cwd=definition.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise InstallationError(f"{command[0]} could not be started: {error.strerror or error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).splitlines()
        first = next((line for line in said if "error" in line), said[0] if said else "no reason was given")
        raise InstallationError(
            f"{definition.type_id} could not be built: {first}",
            fix=f"See its whole output: cd {definition.folder} && {' '.join(command)}",
        )
    mark_built(definition)
