"""The site of the documentation: pages of releases, and the way from version to version."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support.commands import ROOT


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("pages", "release"):
        monkeypatch.syspath_prepend(str(ROOT / "scripts" / folder))
    for name in ("release_pages", "documentation_site"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_each_section_of_the_changelog_is_a_page() -> None:
    from release_pages import pages

    text = (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n#### Agents\n\n- One ([docs](docs/bdi.md)).\n\n"
        "## [0.2.0] - 2026-10-01\n\n- Two.\n"
    )
    written = pages(text)
    assert list(written) == ["unreleased.md", "0_2_0.md"]
    assert written["unreleased.md"].startswith("# Not released yet\n\n## Added\n\n### Agents\n")
    assert "](../../bdi.md)" in written["unreleased.md"]
    assert written["0_2_0.md"] == "# MOSAIC 0.2.0\n\nReleased on 2026-10-01.\n\n- Two.\n"


def test_links_of_the_real_pages_lead_to_pages() -> None:
    from release_pages import OUT, pages

    for text in pages((ROOT / "CHANGELOG.md").read_text("utf-8")).values():
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
            assert (OUT / target).resolve().is_file(), target


def test_the_newest_version_is_the_first(tmp_path: Path) -> None:
    from documentation_site import link, versions

    for name in ("0.9.0", "0.10.0", "0.10.0rc1", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    (tmp_path / "0.11.0").mkdir()  # its pages were not built to the end
    assert versions(tmp_path) == ["0.10.0", "0.10.0rc1", "0.9.0"]
    link(tmp_path)
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text()
    told = (tmp_path / "versions.js").read_text().removeprefix("window.MOSAIC_VERSIONS = ").rstrip(";\n")
    assert json.loads(told) == versions(tmp_path)
