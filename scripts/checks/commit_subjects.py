"""Holds the commits since a given one against the form that CONTRIBUTING names: ``area: verb object``.

    python scripts/checks/commit_subjects.py

A subject has at most 72 characters and begins with its area (``ui``, ``analysis``, ``docs``). Merge commits
are left out. Where the history is not there (a shallow clone, an archive), the check is left out by name.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SINCE = "a44c622e994f57837822d28b37da9b5ddc142fae"
"""The last commit before this rule."""

LONGEST = 72
FORM = re.compile(r"[a-z0-9][a-z0-9_./ -]*(, ?[a-z0-9][a-z0-9_./ -]*)*: \S")


def fault(subject: str) -> str:
    """What is wrong with a subject, or nothing."""
    if len(subject) > LONGEST:
        return f"{len(subject)} characters, at most {LONGEST}"
    if not FORM.match(subject):
        return "begin with the area: `area: verb object`"
    return ""


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Git's answer in this checkout."""
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)


def main() -> int:
    """Print each subject that is not in this form."""
    if git("cat-file", "-e", f"{SINCE}^{{commit}}").returncode:
        print(f"Left out: the history of {SINCE} is not here.")
        return 0
    listed = git("log", "--no-merges", "--format=%h %s", f"{SINCE}..HEAD").stdout.splitlines()
    faults = [(line, said) for line in listed if (said := fault(line.split(" ", 1)[1]))]
    for line, said in faults:
        print(f"{line}\n    {said}")
    print(f"{len(listed)} commits, {len(faults)} to reword.")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
