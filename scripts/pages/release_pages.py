"""Writes a page for each release from its section of CHANGELOG.md, for the documentation.

python scripts/pages/release_pages.py [--out docs/_written/releases]
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "_written" / "releases"
_SECTION = re.compile(r"^## \[([^\]]+)\]([^\n]*)\n(.*?)(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)
_OF_DOCS = re.compile(r"\]\(docs/")


def pages(changelog: str) -> dict[str, str]:
    """Return the Markdown of each release's page by the name of its file, the newest first.

    Links to ``docs/…`` lead to the pages beside. Headings go up by one level.
    """
    found: dict[str, str] = {}
    for version, date, body in _SECTION.findall(changelog):
        title = "Not released yet" if version == "Unreleased" else f"MOSAIC {version}"
        text = _OF_DOCS.sub("](../../", re.sub(r"^#(#+ )", r"\1", body, flags=re.MULTILINE))
        when = date.strip(" -")
        head = f"# {title}\n\n" + (f"Released on {when}.\n\n" if when else "")
        found[f"{version.lower().replace('.', '_')}.md"] = f"{head}{text.strip()}\n"
    return found


def main() -> int:
    """Write the pages, in place of those that are there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the pages")
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    written = pages((ROOT / "CHANGELOG.md").read_text("utf-8"))
    for name, text in written.items():
        (out / name).write_text(text, encoding="utf-8")
    print(f"{out}: {len(written)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
