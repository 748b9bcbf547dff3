"""Files about the project itself: how to cite it, how to report, what the workflows build."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.version import __version__

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
PAGES = ("CITATION.cff", "SECURITY.md", "CODE_OF_CONDUCT.md", "GOVERNANCE.md", "CONTRIBUTING.md", "LICENSE")


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_they_are_there() -> None:
    assert [name for name in PAGES if not (ROOT / name).is_file()] == []


def test_the_citation_names_this_version_and_licence() -> None:
    told = _read(ROOT / "CITATION.cff")
    assert told["cff-version"] == "1.2.0" and told["type"] == "software"
    assert told["version"] == __version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert told["license"] == project["license"]
    assert told["authors"] == project["authors"]
    assert "MOSAIC developers" in (ROOT / "LICENSE").read_text("utf-8")


@pytest.mark.parametrize("form", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda p: p.stem)
def test_an_issue_form_is_complete(form: Path) -> None:
    told = _read(form)
    assert {"name", "description", "body"} <= told.keys()
    ids = [part["id"] for part in told["body"]]
    assert len(set(ids)) == len(ids)
    assert all(part["attributes"]["label"] for part in told["body"])


def test_a_report_of_a_defect_holds_what_doctor_prints() -> None:
    parts = {part["id"]: part for part in _read(GITHUB / "ISSUE_TEMPLATE" / "defect.yml")["body"]}
    assert parts["doctor"]["validations"]["required"] is True
    assert "mosaic doctor --json" in parts["doctor"]["attributes"]["label"]


@pytest.mark.parametrize("file", sorted((GITHUB / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_says_that_it_was_not_run_and_names_what_exists(file: Path) -> None:
    text = file.read_text("utf-8")
    assert text.startswith("# Has not been run yet")
    jobs = _read(file)["jobs"]
    assert jobs
    for job in jobs.values():
        assert job["timeout-minutes"] if "strategy" in job else job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
    for path in re.findall(r"(?<![\w/.])(scripts/[\w/.]+|docs/[\w/.]+|3rd_party/[\w/]+|\.ci/run)", text):
        assert (ROOT / path).exists(), path


def test_linux_macos_and_windows_are_in_the_workflow() -> None:
    systems = _read(GITHUB / "workflows" / "test.yml")["jobs"]["wheel"]["strategy"]["matrix"]["os"]
    assert {name.split("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
