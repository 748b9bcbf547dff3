"""What pages and examples say of installing works: of each worker that ``run.sh`` does not make ready."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import DOCS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [path for end in ("yaml", "py", "json") for path in sorted(ROOT.glob(f"docs/examples/**/*.{end}"))]
PAGES = [ROOT / "README.md", *DOCS, *ROOT.glob("3rd_party/*/README.md")]


def _package(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def _ready() -> set[str]:
    """Packages in the environment that ``run.sh`` makes, as far as they are asked for by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = re.search(r'RUN_EXTRAS="([^"]+)"', (ROOT / "scripts/lib/setup.sh").read_text())
    assert found
    wanted, packages = found[1].split(","), set(map(_package, project["dependencies"]))
    while wanted:
        for requirement in project["optional-dependencies"][wanted.pop()]:
            inner = re.match(r"mosaic[-\w]*\[([^\]]+)\]", requirement)
            wanted += inner[1].split(",") if inner else []
            packages.add(_package(requirement))
    return packages


def _to_install() -> dict[str, str]:
    """Workers that need an install of their own, with the kind that an experiment may call them by."""
    found: dict[str, str] = {}
    for manifest in sorted(ROOT.glob("3rd_party/*_worker/worker.toml")):
        table: dict[str, Any] = tomllib.loads(manifest.read_text())
        needs, launch = table.get("requires", {}), table["launch"]
        own = {"python", "family", "command"} & launch.keys() or needs.get("system")
        if own or set(map(_package, needs.get("pip", ()))) - _ready():
            found[table["id"]] = table["kind"]
    return found


TO_INSTALL = _to_install()


@pytest.mark.parametrize("worker", TO_INSTALL)
def test_the_readme_names_the_command(worker: str) -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ")]
    assert any(f"`mosaic workers install {worker}`" in row for row in rows)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_example_that_needs_an_install_says_so(path: Path) -> None:
    text = path.read_text()
    used = {worker for worker in TO_INSTALL if f"worker_id: {worker}" in text or f'"{worker}"' in text}
    used |= {"spade_bdi_worker"} if re.search(r"type: bdi\b(?!.*worker_id)", text) else set()
    if path.name in ("policy.json", "training.json", "train.json"):
        return
    missing = {worker for worker in used if f"mosaic workers install {worker}" not in text}
    assert not missing, f"{path} uses {missing}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_installs_a_package_that_no_index_has(page: Path) -> None:
    assert not re.search(r"pip install '?mosaic[-_]worker", page.read_text())


def test_the_protocols_page_names_what_the_sdk_calls_the_environment() -> None:
    assert "`slot.env_id`" in (ROOT / "docs" / "worker_protocol" / "host_messages.md").read_text()
