"""Builds the documentation of this version into a site of static files, beside those of earlier versions.

    python scripts/release/documentation_site.py --out site [--families crafter,mpe2]

The pages come into the folder of the version, ``site/0.1.0``, with their own search. ``site/index.html``
leads to the newest version, and every page has a list of the versions, which works from a disk, too.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[2]
_HOME = """\
<!doctype html>
<meta charset="utf-8">
<title>MOSAIC</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">Documentation of MOSAIC {newest}</a>
"""


def versions(site: Path) -> list[str]:
    """Return the versions whose pages are in a site, the newest first."""
    found: list[Version] = []
    for page in site.glob("*/index.html"):
        try:
            found.append(Version(page.parent.name))
        except InvalidVersion:
            continue
    return [str(version) for version in sorted(found, reverse=True)]


def link(site: Path) -> None:
    """Write what leads from version to version: ``index.html`` and ``versions.js``."""
    known = versions(site)
    (site / "index.html").write_text(_HOME.format(newest=known[0]), encoding="utf-8")
    (site / "versions.js").write_text(f"window.MOSAIC_VERSIONS = {json.dumps(known)};\n", encoding="utf-8")


def main() -> int:
    """Build the pages, then link the versions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the site")
    parser.add_argument("--families", default="", help="pages of prompts for these families; default: all")
    options = parser.parse_args()
    text = (ROOT / "gym_gui" / "version.py").read_text("utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    target = options.out / version
    shutil.rmtree(target, ignore_errors=True)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html"]
    sphinx += ["-D", f"prompt_families={options.families}", str(ROOT / "docs"), str(target)]
    status = subprocess.run(sphinx, check=False).returncode
    if status == 0:
        shutil.rmtree(target / ".doctrees", ignore_errors=True)
        link(options.out)
        print(f"{options.out / 'index.html'}: {', '.join(versions(options.out))}")
    return status


if __name__ == "__main__":
    sys.exit(main())
