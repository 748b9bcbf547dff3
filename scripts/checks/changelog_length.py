"""Holds CHANGELOG.md against its length: at most 60 entries and 3,000 words.

    python scripts/checks/changelog_length.py

An entry is a list item, nested ones included; words are what ``wc -w`` counts. What was added and repaired
since the last release is one entry about the thing as it is now: merge entries before you add one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MOST_ENTRIES = 60
MOST_WORDS = 3_000
ENTRY = re.compile(r"^\s*[-*+] ", re.MULTILINE)


def main(arguments: Sequence[str] | None = None, path: Path = ROOT / "CHANGELOG.md") -> int:
    """Print both counts; 1 where either is above its bound."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(arguments)
    text = path.read_text("utf-8")
    entries, words = len(ENTRY.findall(text)), len(text.split())
    print(f"{path.name}: {entries} entries, at most {MOST_ENTRIES}; {words:,} words, at most {MOST_WORDS:,}.")
    too_long = entries > MOST_ENTRIES or words > MOST_WORDS
    if too_long:
        print("Keep what a user of the last release needs, and merge entries about one thing.")
    return int(too_long)


if __name__ == "__main__":
    sys.exit(main())
