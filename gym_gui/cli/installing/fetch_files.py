"""Fetches or copies files that a worker needs and no package contains, checks them, and builds from them."""

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

from gym_gui.cli.installing.installation import tell
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

_LARGEST = 1 << 30
_WITHIN_S = 60.0
_SUM_WITHIN_S = 5.0
"""Timeout for looking up the checksum of a file that the user gave: the user may have no network."""
_SUMS = {"sha256": 64, "sha1": 40}
_UNREADABLE = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
"""Errors of a file that is no archive, or of one that is cut off, damaged, encrypted or unknown."""
_VERSION = re.compile(r"^(?:Implementation|Bundle)-Version: *(\S+)", re.MULTILINE)
_AGAIN = "Run the same again when the cause is gone; or fetch it yourself and name it with --from"


def bring_files(definition: WorkerTypeDefinition, given: Sequence[Path], *, as_json: bool) -> dict[str, str]:
    """Make all files of a worker available, and build its program.

    Args:
        definition: The worker.
        given: Files on this machine, in any order; they replace earlier files.
        as_json: Whether to print progress as JSON lines.

    Returns:
        Version of each new file, by name.

    Raises:
        UsageError: A given file is none of those that the worker needs.
        InstallationError: A file cannot be fetched or differs from the published one, or the build failed.
    """
    folder = files_folder(definition.type_id)
    taken = _assigned(definition, given)
    folder.mkdir(parents=True, exist_ok=True)
    new: dict[str, str] = {}
    for file in definition.files:
        if file.name not in taken and (folder / file.name).is_file():
            continue
        place = taken.get(file.name) or _from_system(file)
        with _arriving(folder / file.name) as part:
            if place is not None:
                tell(f"Taking {file.name} from {place}", as_json=as_json)
                shutil.copyfile(place, part)
                if file.name in taken and (doubt := _doubt(file, part)):
                    tell(f"Warning: {place} {doubt}", as_json=as_json)
            else:
                tell(f"Fetching {file.url}", as_json=as_json)
                _fetch_or_say(file, part)
        new[file.name] = file.version
    if BUILD in absent_files(definition):
        tell(f"Building {definition.type_id}", as_json=as_json)
        _build(definition)
    return new


def _assigned(definition: WorkerTypeDefinition, given: Sequence[Path]) -> dict[str, Path]:
    """Find out by its content which needed file each given file is."""
    taken: dict[str, Path] = {}
    for path in given:
        if not path.is_file():
            raise UsageError(f"there is no file {path}", fix="Name a file that is there with --from")
        wrong = {file.name: _wrong_with(path, file) for file in definition.files if file.name not in taken}
        name = next((name for name, problem in wrong.items() if not problem), None)
        if name is None:
            said = "; ".join(f"as {name} {problem}" for name, problem in wrong.items())
            raise UsageError(f"{path} is nothing that {definition.type_id} needs: {said or 'nothing lacks'}")
        taken[name] = path
    return taken


def _from_system(file: WorkerFile) -> Path | None:
    places = (Path(place) for place in file.places)
    return next((place for place in places if place.is_file() and not _wrong_with(place, file)), None)


def _wrong_with(path: Path, file: WorkerFile) -> str:
    """Return why a file is not the needed one; empty if it may be."""
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


def _doubt(file: WorkerFile, part: Path) -> str:
    """Return why a file that the user gave may differ from the published one; empty if both are equal."""
    try:
        kind, wanted = _checksum(file, _SUM_WITHIN_S)
    except InstallationError as error:
        return f"is taken as it is: its checksum could not be looked up ({error.message})"
    with part.open("rb") as content:
        found = hashlib.file_digest(content, kind).hexdigest()
    if found == wanted:
        return ""
    other = f"is not what was published at {file.url}: its {kind} is {found}, not {wanted}"
    return f"{other}. It is taken all the same"


@contextmanager
def _arriving(target: Path) -> Generator[Path]:
    """Create a temporary file beside ``target`` that replaces ``target`` unless an error occurs."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _fetch_or_say(file: WorkerFile, part: Path) -> None:
    """Fetch a file; on failure, suggest the system's package that contains the file, if there is one."""
    try:
        _fetch(file, part)
    except InstallationError as error:
        if not file.package:
            raise
        fix = f"apt-get install {file.package} brings it, then run the same again; or name it with --from"
        raise InstallationError(error.message, fix=fix) from error


def _fetch(file: WorkerFile, part: Path) -> None:
    kind, wanted = _checksum(file)
    digest, size = hashlib.new(kind), 0
    with _opened(file.url) as answer, part.open("wb") as out:
        while chunk := answer.read(1 << 16):
            size += len(chunk)
            if size > _LARGEST:
                raise InstallationError(f"{file.url} is larger than {_LARGEST >> 20} MB")
            digest.update(chunk)
            out.write(chunk)
    if digest.hexdigest() != wanted:
        raise InstallationError(
            f"{file.url} is not what was published: its {kind} is {digest.hexdigest()}, not {wanted}",
            fix=_AGAIN,
        )
    if problem := _wrong_with(part, file) if file.holds else "":
        raise InstallationError(f"{file.url} is not what is needed: {problem}")


def _checksum(file: WorkerFile, within_s: float = _WITHIN_S) -> tuple[str, str]:
    """Return kind and value of the checksum that the file must have."""
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
    raise InstallationError(reason, fix=_AGAIN)


class _Encrypted(urllib.request.HTTPRedirectHandler):
    """Refuses a redirection to an address without TLS, where any machine in between could answer."""

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
            raise InstallationError(f"{req.full_url} leads to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _opened(url: str, within_s: float = _WITHIN_S) -> Generator[HTTPResponse]:
    try:
        with urllib.request.build_opener(_Encrypted).open(url, timeout=within_s) as answer:
            yield answer
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise InstallationError(f"{url} could not be fetched: {reason}", fix=_AGAIN) from error


def _build(definition: WorkerTypeDefinition) -> None:
    build = definition.build
    assert build is not None
    command = with_files(build.command, definition.type_id)
    forget_built(definition)  # a partial build does not count, whatever becomes of its sources
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
        first = next((line for line in said if "error" in line), said[0] if said else "it did not say why")
        raise InstallationError(
            f"{definition.type_id} could not be built: {first}",
            fix=f"Look at all it says: cd {definition.folder} && {' '.join(command)}",
        )
    mark_built(definition)
