"""The page of each family includes a part that the documentation's build writes, whatever is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gym_gui.envs.describers.information_losses import LOSSES
from gym_gui.envs.environment_registry import families
from tests.support.commands import ROOT

SCRIPTS = ROOT / "scripts" / "pages"
FAMILIES = ROOT / "docs" / "families"
PAGES = sorted(page for page in FAMILIES.glob("*.md") if page.stem != "index")
CHECKED: Mapping[str, Any] = json.loads((FAMILIES / "checked.json").read_text("utf-8"))


def started(name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def part_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The written part of a family's page; nothing that ``mosaic envs install`` made is found."""
    folder = tmp_path_factory.mktemp("parts")
    done = started("family_pages", "--out", str(folder / "out"), MOSAIC_DATA_DIR=str(folder / "data"))
    assert done.returncode == 0, done.stderr
    return lambda family: (folder / "out" / f"{family}.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_title_its_part_and_what_people_wrote(page: Path) -> None:
    text, family = page.read_text("utf-8"), families()[page.stem]
    included = f"```{{include}} ../_written/families/{page.stem}.md\n```\n"
    head = f"# {family.title}\n\n{included}"
    assert text == head or text.startswith(f"{head}\n## Good to know\n\n")


def test_each_checked_family_has_a_page() -> None:
    assert CHECKED.keys() <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_part_shows_the_install_command_the_environments_and_the_results(
    part_of: Callable[[str], str], page: Path
) -> None:
    part, row = part_of(page.stem), CHECKED.get(page.stem)
    if page.stem != "gymnasium":
        assert f"```bash\nmosaic envs install {page.stem}\n```" in part
    assert f"mosaic envs list {page.stem}" in part or "| id | |" in part
    if row is None:
        assert "were not run" in part
    else:
        assert all(f"`{found['id']}`" in part for found in row["checks"])
        assert f"On {row['when']}" in part and "| observes |" in part
    for loss in LOSSES:
        assert (loss.sentence in part) == (page.stem in loss.families)


def test_an_environment_that_is_not_installed_is_listed_by_the_names_that_are_known(
    part_of: Callable[[str], str],
) -> None:
    assert "`smac/3m`" in part_of("smac") and "`procgen/coinrun`" in part_of("procgen")


def test_the_overview_is_that_of_the_results(tmp_path: Path) -> None:
    shutil.copy(FAMILIES / "checked.json", tmp_path)
    started("environments", "no_family", "--facts", "--out", str(tmp_path))
    assert (tmp_path / "index.md").read_text("utf-8") == (FAMILIES / "index.md").read_text("utf-8")


def test_the_error_for_an_unknown_family_lists_the_pages() -> None:
    done = started("family_pages", "craftr")
    assert done.returncode == 2 and "there are pages for airsim" in done.stderr


def test_the_page_on_balrogs_texts_says_where_balrog_was_missing(tmp_path: Path) -> None:
    out = tmp_path / "texts.md"
    done = started("balrog_texts", "--out", str(out), MOSAIC_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert "`mosaic envs install balrog` installs it" in out.read_text("utf-8")
