"""On a built page, the first use of each word of the glossary links to its entry, and nothing else does."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.commands import ROOT

_CONF = f"""
import sys

sys.path.insert(0, {str(ROOT / "scripts/pages")!r})
project = "pages"
extensions = ["myst_parser", "glossary_links"]
exclude_patterns = ["_build"]
html_theme = "basic"
"""
_GLOSSARY = "# Glossary\n\n## Slot\n\nA place.\n\n## Run\n\nAll.\n\n## Environment and family\n\nA world.\n"
_PAGE = """# The slot

`slot` and [a slot](other.md) come first. Slots are filled; a slot is one place.

    a run in code

You run it. A run is a folder, and each run has families.

- This environment is another environment.
"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "conf.py": _CONF,
        "glossary.md": _GLOSSARY,
        "index.md": f"{_PAGE}\n```{{toctree}}\nglossary\nother\n```\n",
        "other.md": "# Other\n\nNothing.\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(folder), str(folder / "_build")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "_build" / "index.html").read_text(encoding="utf-8")


def test_first_uses_link(html: str) -> None:
    found = re.findall(r'<a class="glossary-word[^"]*" href="([^"]+)">([^<]+)</a>', html)
    assert found == [
        ("glossary.html#slot", "Slots"),
        ("glossary.html#run", "run"),
        ("glossary.html#environment-and-family", "families"),
        ("glossary.html#environment-and-family", "environment"),
    ]


def test_the_text_stays(html: str) -> None:
    text = re.sub(r"<[^>]+>", "", html)
    assert "You run it. A run is a folder, and each run has families." in " ".join(text.split())
