"""What a release states and checks."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.commands import ROOT

RELEASE = ROOT / "scripts" / "release" / "release.py"
ADDRESS = "https://github.com/example/mosaic"


def _release(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RELEASE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)


def test_it_refuses_what_is_no_address_of_a_repository(tmp_path: Path) -> None:
    done = _release("--address", "https://example.org", "--out", tmp_path / "dist")
    assert done.returncode == 1
    assert "https://HOST/OWNER/NAME" in done.stderr
    assert not (tmp_path / "dist").exists()


def test_a_tag_that_names_another_version_is_refused(tmp_path: Path) -> None:
    done = _release("--address", ADDRESS, "--tag", "v99.0", "--out", tmp_path / "dist")
    assert done.returncode == 1
    assert "v99.0 is not v" in done.stderr
    assert not (tmp_path / "dist").exists()


def test_it_never_mixes_with_an_older_release(tmp_path: Path) -> None:
    (tmp_path / "old.whl").write_bytes(b"")
    done = _release("--address", ADDRESS, "--out", tmp_path)
    assert done.returncode == 1
    assert "holds files" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["old.whl"]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole release, without the bill of materials."""
    out = tmp_path_factory.mktemp("release") / "dist"
    done = _release("--address", ADDRESS, "--out", out, "--without-bill")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(list(out.iterdir())) == 5
    return out


def test_links_and_pictures_of_the_description_lead_to_the_tag(released: Path) -> None:
    (wheel,) = released.glob("mosaic_gym_gui-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        text = archive.read(name).decode()
    version = wheel.name.split("-")[1]
    assert f"Project-URL: Repository, {ADDRESS}\n" in text
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert any(t.startswith(f"{ADDRESS}/raw/v{version}/docs/images/") for t in targets)
    assert any(t.startswith(f"{ADDRESS}/blob/v{version}/docs/") for t in targets)
    assert [t for t in targets if not t.startswith(("https://", "#"))] == []


def test_the_notes_are_the_section_of_the_version(released: Path) -> None:
    (notes,) = released.glob("notes-*.md")
    text = notes.read_text("utf-8")
    assert text in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [" not in text


def test_the_sdk_that_it_declares_is_the_one_that_it_builds(released: Path) -> None:
    from packaging.requirements import Requirement

    (sdk,) = released.glob("mosaic_worker-*.whl")
    (wheel,) = released.glob("mosaic_gym_gui-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    required = [
        Requirement(x.removeprefix("Requires-Dist: ")) for x in lines if x.startswith("Requires-Dist: ")
    ]
    (declared,) = (r for r in required if r.name == "mosaic-worker")
    assert sdk.name.split("-")[1] in declared.specifier


@pytest.mark.full
def test_the_bill_of_materials_names_what_the_wheel_brings(tmp_path: Path) -> None:
    import json

    done = _release("--address", ADDRESS, "--out", tmp_path / "dist")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "dist").glob("*.cdx.json")
    bill = json.loads(file.read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    names = {part["name"] for part in bill["components"]}
    assert {"mosaic-gym-gui", "mosaic-worker", "numpy", "gymnasium"} <= names
    assert not {"torch", "PyQt6"} & names
