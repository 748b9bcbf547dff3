"""Builds what a release publishes, checks it, and leaves it in a folder; it uploads nothing.

    python scripts/release/release.py --address https://github.com/OWNER/NAME [--out dist]

Both distributions, ``mosaic-worker`` and ``mosaic-gym-gui``, are built twice and must be equal, byte for
byte: SOURCE_DATE_EPOCH is the time of the last commit. ``twine check --strict`` reads them. Beside them lie
the notes of the version (its section of CHANGELOG.md) and a bill of materials in CycloneDX, which lists what
a fresh environment with the wheel holds. ``--without-bill`` leaves the bill out, which needs the package
registry.

Publishing is the work of ``.github/workflows/release.yml``, whose attestations state which commit was built.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = (ROOT / "3rd_party" / "mosaic_worker_sdk", ROOT)
ADDRESS = re.compile(r"https://[\w.-]+/[\w.-]+/[\w.-]+")
LARGEST = 5 * 10**6
"""Largest size of a wheel in bytes."""


def main() -> int:
    """Build, check, and print the files with their digests; exit status 1 if a check fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--address", required=True, help="address of the project's repository")
    parser.add_argument("--tag", help="the tag that is built, which must name the version")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="an empty or new folder")
    parser.add_argument("--without-bill", action="store_true", help="make no bill of materials")
    options = parser.parse_args()
    try:
        release(options.address, options.out, tag=options.tag, bill=not options.without_bill)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for file in sorted(options.out.iterdir()):
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}  {file.stat().st_size:,} bytes")
    return 0


class ReleaseError(Exception):
    """The release cannot be made; the message says why and what to do."""


def release(address: str, out: Path, *, tag: str | None, bill: bool) -> None:
    """Build and check both distributions into ``out``.

    Args:
        address: Address of the project's repository.
        out: Folder for the files.
        tag: Tag that must name the version; ``None`` checks no tag.
        bill: Whether to make the bill of materials.

    Raises:
        ReleaseError: A check failed.
    """
    if not ADDRESS.fullmatch(address):
        raise ReleaseError(f"{address} is no address of a repository: write https://HOST/OWNER/NAME")
    text = (ROOT / "gym_gui" / "version.py").read_text("utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if tag is not None and tag != f"v{version}":
        raise ReleaseError(f"the tag {tag} is not v{version}: set the version in gym_gui/version.py first")
    if out.is_dir() and any(out.iterdir()):
        raise ReleaseError(f"{out} holds files: empty it, or name another folder")
    out.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"SOURCE_DATE_EPOCH": _time_of_commit(), "MOSAIC_ADDRESS": address}
    with tempfile.TemporaryDirectory() as again:
        for project in PROJECTS:
            for folder in (out, Path(again)):
                _run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], project, env)
        differing = [f.name for f in out.iterdir() if f.read_bytes() != (Path(again) / f.name).read_bytes()]
    if differing:
        raise ReleaseError(f"two builds differ: {', '.join(sorted(differing))}")
    built = sorted(out.iterdir())
    wheels = [file for file in built if file.suffix == ".whl"]
    for wheel in wheels:
        if wheel.stat().st_size > LARGEST:
            raise ReleaseError(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {LARGEST:,}")
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)], ROOT, env)
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    (out / f"notes-{version}.md").write_text(notes(changelog, version), encoding="utf-8")
    if bill:
        _make_bill(wheels, out / f"mosaic-gym-gui-{version}.cdx.json")


def notes(changelog: str, version: str) -> str:
    """Return the section of a version in a changelog, without its heading.

    Raises:
        ReleaseError: The changelog has no such section.
    """
    pattern = rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)"
    found = re.search(pattern, changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ReleaseError(f"CHANGELOG.md has no section [{version}]: rename [Unreleased] and date it")
    return found.group(1).strip() + "\n"


def _time_of_commit() -> str:
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError("this folder has no git history: build a release from a clone")
    return done.stdout.strip()


def _make_bill(wheels: list[Path], file: Path) -> None:
    """Write the bill of materials of an environment that holds the wheels and what they require."""
    constraints = ROOT / "requirements" / "constraints.txt"
    with tempfile.TemporaryDirectory() as folder:
        tool, player = Path(folder) / "tool", Path(folder) / "player"
        for place, packages in (
            (tool, ["cyclonedx-bom>=7"]),
            (player, ["--constraint", str(constraints), *map(str, wheels)]),
        ):
            _run([sys.executable, "-m", "venv", str(place)], ROOT)
            _run([str(place / "bin/python"), "-m", "pip", "install", "-q", *packages], ROOT)
        command = [str(tool / "bin/cyclonedx-py"), "environment", "--output-reproducible"]
        _run([*command, "-o", str(file), str(player / "bin/python")], ROOT)


def _run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
