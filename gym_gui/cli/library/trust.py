"""Implements ``mosaic trust``: lists and changes the code, programs and addresses that files may name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted import user_code
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust_file import TrustFile

_EXPERIMENTS = (".py", ".yaml", ".yml", ".json")


def list_trusted(*, as_json: bool) -> None:
    """Print the code, programs and addresses that have been allowed permanently."""
    rows = TrustFile().rows()
    if as_json:
        write_json(rows)
    elif not rows:
        write_line("No code, program or address has been allowed.")
    for row in () if as_json else rows:
        write_line(f"{row['kind']:<8} {row['name']}")
        write_line(f"         since {row.get('allowed_at', 'an unknown time')}")


def add_trusted(names: Sequence[str], *, as_json: bool) -> None:
    """Allow code, programs or addresses permanently.

    Raises:
        UsageError: A name matches nothing, or the file or run of this name needs no permission.
    """
    subjects = [subject for name in names for subject in _subjects(name)]
    TrustFile().add(subjects)
    _print_subjects("Allowed", subjects, as_json=as_json)


def remove_trusted(names: Sequence[str], *, as_json: bool) -> None:
    """Revoke permissions.

    Raises:
        UsageError: A name has not been allowed.
    """
    file = TrustFile()
    _print_subjects(
        "No longer allowed", [removed for name in names for removed in file.remove(name)], as_json=as_json
    )


def _print_subjects(done: str, subjects: Iterable[Subject], *, as_json: bool) -> None:
    if as_json:
        write_json([asdict(subject) for subject in subjects])
    else:
        for subject in subjects:
            write_line(f"{done}: {subject.words}")


def _subjects(name: str) -> list[Subject]:
    """Return what a name allows: a server, folder, file, package or program, or all that a file names."""
    if "://" in name:
        return [Subject("server", name)]
    path = Path(name).expanduser()
    if (path / "run.json").is_file() or (path.is_file() and path.suffix in _EXPERIMENTS):
        from gym_gui.cli.library.trusted_by_files import subjects_of_experiment

        return subjects_of_experiment(path)
    if path.is_dir():
        files = user_code.fingerprints(path.resolve())
        code = Subject("folder", str(path.resolve()), user_code.digest(files))
        from gym_gui.cli.library.trusted_by_files import subjects_of_training

        return [code, *subjects_of_training(path)]
    if path.is_file():
        where = str(path.resolve())
        data = Subject("file", where)
        return [data, Subject("program", where, user_code.hash_of(path))] if _runs(path) else [data]
    package = user_code.installed(name) if name.isidentifier() else None
    if package is not None and not user_code.is_standard(name):
        return [Subject("package", str(package.root), package.sha256)]
    program = shutil.which(name)
    if program is not None:
        return [Subject("program", str(Path(program).resolve()), user_code.hash_of(Path(program)))]
    raise UsageError(
        f"there is no file, folder, package or program {name!r}",
        fix="Pass the path or name that the error message asks for",
    )


def _runs(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o111)
