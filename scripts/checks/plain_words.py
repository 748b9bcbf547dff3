"""Counts words that hide who acts: their number may only fall.

    python scripts/checks/plain_words.py [--places]

A pronoun for a person ("nobody", "somebody", "whoever") nearly always stands for a noun that is missing: the
caller, the user, the worker, the session. CONTRIBUTING ("How we write") says more. The count covers source,
manifests, tests, scripts and pages. Where it is above ``MOST``, the exit status is 1; where it is below,
lower ``MOST`` in the same commit.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("gym_gui", "3rd_party", "docs", "tests", "scripts")
SUFFIXES = {".py", ".toml", ".md", ".sh", ".java"}
SKIPPED = {"_build", "_written", "node_modules", "__pycache__", "pb"}

WORDS = (
    *("nobody", "somebody", "anybody", "no one", "someone", "whoever", "the one who"),
    *("meanwhile", "is told", "comes about", "what came of", "gone on with", "goes on with"),
)
MOST = 183
"""How often these words may stand in the tree, most of them in tests and scripts."""

PATTERN = re.compile(r"\b(" + "|".join(word.replace(" ", r"\s+") for word in WORDS) + r")\b", re.IGNORECASE)


def files(root: Path) -> Iterator[Path]:
    """What is read and counted: text that people wrote, not this script and its test."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            if path.suffix in SUFFIXES and not SKIPPED.intersection(parts) and "plain_words" not in path.name:
                yield path
    yield from (path for path in (root / "README.md", root / "CONTRIBUTING.md") if path.exists())


def places(text: str) -> Iterator[tuple[int, str]]:
    """Line (from 1) and word of each find."""
    for found in PATTERN.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].lower().split())


def main(arguments: Sequence[str] | None = None, root: Path = ROOT, most: int = MOST) -> int:
    """Print the count per word and hold the sum against ``most``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--places", action="store_true", help="print each place")
    wanted = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for path in files(root):
        for line, word in places(path.read_text("utf-8")):
            counts[word] += 1
            if wanted.places:
                print(f"{path.relative_to(root)}:{line}: {word}")
    total = counts.total()
    print(", ".join(f"{word} {counts[word]}" for word in WORDS) + f": {total} in all, at most {most}")
    if total > most:
        print("Name who acts (the caller, the user, the worker) in what was added; --places shows where.")
    elif total < most:
        print(f"The number fell: set MOST = {total} in scripts/checks/plain_words.py.")
    return int(total > most)


if __name__ == "__main__":
    sys.exit(main())
