"""``mosaic workers install``, from a package index that is a folder of the test's own."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from gym_gui.cli.installing import installer
from gym_gui.cli.installing.installer import InstallationError, Installer, cuda_packages
from gym_gui.core.errors import UsageError
from tests.support.commands import Mosaic
from tests.support.little_workers import RANDOM, little_worker


def wheel(folder: Path, name: str, version: str, requires: Sequence[str] = ()) -> None:
    """A package with nothing in it."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {need}" for need in requires]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", "")
        file.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Wheels, torch in both builds among them."""
    folder = tmp_path / "wheels"
    wheel(folder, "numpy", "1.26.4")
    wheel(folder, "protobuf", "6.30.0")
    wheel(folder, "tiny_thing", "1.5", ["tiny_part>=2"])
    wheel(folder, "tiny_part", "2.1")
    wheel(folder, "torch", "2.13.0", ["nvidia_cublas"])
    wheel(folder, "torch", "2.13.0+cpu")
    wheel(folder, "nvidia_cublas", "12.1")
    return folder


@pytest.fixture
def offline(index: Path, mosaic: Mosaic) -> dict[str, str]:
    """pip's configuration that names that index alone, whatever this machine has set for pip and uv."""
    for variable in [v for v in mosaic.env if v.startswith(("PIP_", "UV_"))]:
        del mosaic.env[variable]
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}


def _worker(mosaic: Mosaic, *pip: str, name: str = "little_worker") -> Path:
    """A worker with an interpreter of its own that is not there yet."""
    folder = mosaic.home / "data" / "workers"
    definition = little_worker(folder, RANDOM, name, launch={"python": "env"})
    assert definition.folder
    manifest = definition.folder / "worker.toml"
    manifest.write_text(manifest.read_text() + f"[requires]\npip = {json.dumps(pip)}\n")
    return definition.folder


def _installed(folder: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in folder.glob("env/lib/*/site-packages/*.dist-info")}


def test_into_an_environment_of_its_own(mosaic: Mosaic, offline: dict[str, str]) -> None:
    folder = _worker(mosaic, "tiny-thing>=1")
    plan = mosaic("workers", "install", "little_worker", "--dry-run", **offline)
    assert "tiny-thing>=1" in plan.out
    asked = mosaic("workers", "install", "little_worker", "--dry-run", "--json", **offline)
    assert asked.json() == {"worker": "little_worker", "state": "planned", "new": {}}
    assert not (folder / "env").exists()
    done = mosaic("workers", "install", "little_worker", **offline)
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "little_worker is installed.",
        "  tiny-thing 1.5",
        "  numpy 1.26.4",
        "  protobuf 6.30.0",
    ]
    assert "Installing 4 packages: numpy 1.26.4, protobuf 6.30.0, tiny-part 2.1, tiny-thing 1.5" in done.err
    assert _installed(folder) == {"tiny_thing", "tiny_part", "numpy", "protobuf"}
    again = mosaic("workers", "install", "little_worker", **offline)
    assert again.out.startswith("little_worker: nothing is missing.\n")
    assert again.err == ""


def test_a_worker_that_lives_with_a_family_is_installed_with_it(mosaic: Mosaic, tmp_path: Path) -> None:
    folder = _worker(mosaic)
    manifest = folder / "worker.toml"
    manifest.write_text(manifest.read_text().replace('python = "env"', 'family = "balrog"'))
    listed = mosaic("workers", "check", "little_worker")
    assert listed.status == 2
    assert "the interpreter of the environments balrog, which is not installed yet" in listed.err
    planned = mosaic("workers", "install", "little_worker", "--dry-run")
    assert planned.status == 0, planned.err
    assert f"Would create {mosaic.home / 'data/environments/balrog'}" in planned.out
    (tmp_path / "else.tar.gz").touch()
    line = mosaic("workers", "install", "little_worker", "--from", tmp_path / "else.tar.gz").line
    assert "balrog does not need" in line and "else.tar.gz" in line and "balrog-….tar.gz" in line
    line = mosaic("workers", "install", "little_worker", "--from", tmp_path / "none.tar.gz").line
    assert "there is no file" in line
    manifest.write_text(manifest.read_text().replace('family = "balrog"', 'family = "minigrid"'))
    line = mosaic("workers", "install", "little_worker").line
    assert "names 'minigrid', no family with an interpreter of its own" in line


def test_torch_comes_without_cuda_unless_it_is_asked_for(mosaic: Mosaic, offline: dict[str, str]) -> None:
    folder = _worker(mosaic, "torch>=2", "tiny-thing")
    done = mosaic("workers", "install", "little_worker", "--json", **offline)
    assert done.status == 0, done.err
    told = done.json()
    assert told["state"] == "installed"
    new = {"numpy": "1.26.4", "protobuf": "6.30.0", "tiny-part": "2.1", "tiny-thing": "1.5"}
    assert told["new"] == {**new, "torch": "2.13.0+cpu"}
    new.pop("tiny-part")  # it is nothing that the worker itself asks for
    assert told["versions"] == {**new, "torch": "2.13.0+cpu"}
    assert "nvidia_cublas" not in _installed(folder)
    other = _worker(mosaic, "torch==2.13.0", name="gpu_worker")
    assert mosaic("workers", "install", "gpu_worker", "--gpu", **offline).status == 0
    assert "torch" in _installed(other)


def test_cuda_behind_another_package_is_refused_before_anything_is_installed(
    mosaic: Mosaic, index: Path, offline: dict[str, str]
) -> None:
    wheel(index, "sly", "1.0", ["nvidia-cublas"])
    folder = _worker(mosaic, "sly")
    done = mosaic("workers", "install", "little_worker", **offline)
    assert done.status == 2
    assert "nvidia-cublas" in done.err
    assert "--gpu" in done.err
    assert _installed(folder) == set()


def test_what_asks_for_more_than_it_needs_comes_alone(
    mosaic: Mosaic, index: Path, offline: dict[str, str]
) -> None:
    wheel(index, "greedy", "1.4", ["nvidia-cublas", "numpy<1"])
    folder = _worker(mosaic, "tiny-thing")
    manifest = folder / "worker.toml"
    manifest.write_text(manifest.read_text() + 'no_deps = ["greedy==1.4"]\n')
    done = mosaic("workers", "install", "little_worker", "--json", **offline)
    assert done.status == 0, done.err
    new = {"numpy": "1.26.4", "protobuf": "6.30.0", "tiny-part": "2.1", "tiny-thing": "1.5"}
    assert done.json()["new"] == {**new, "greedy": "1.4"}
    assert done.json()["versions"]["greedy"] == "1.4"
    assert _installed(folder) == {"greedy", "tiny_thing", "tiny_part", "numpy", "protobuf"}
    manifest.write_text(manifest.read_text().replace("greedy==1.4", "greedy>1.4"))
    wheel(index, "greedy", "1.5", ["nvidia-cublas"])
    again = mosaic("workers", "install", "little_worker", "--json", **offline)
    assert again.json()["new"] == {"greedy": "1.5"}, (
        "it is compared with what is there, and comes alone again"
    )


def test_an_installation_that_fails_can_be_repeated(
    mosaic: Mosaic, index: Path, offline: dict[str, str]
) -> None:
    folder = _worker(mosaic, "late-thing")
    done = mosaic("workers", "install", "little_worker", **offline)
    assert done.status == 1
    assert "late-thing" in done.err.splitlines()[-1]
    wheel(index, "late_thing", "0.1")
    assert mosaic("workers", "install", "little_worker", **offline).status == 0
    assert "late_thing" in _installed(folder)


def test_a_program_reads_what_went_wrong(mosaic: Mosaic) -> None:
    done = mosaic("workers", "install", "operator_worker", "--json")
    assert done.status == 2
    assert json.loads(done.err) == {
        "event": "error",
        "message": "unknown worker 'operator_worker'",
        "fix": "Did you mean 'operators_worker'?",
    }


def test_nothing_is_missing(mosaic: Mosaic) -> None:
    done = mosaic("workers", "install", "operators")
    assert done.status == 0
    assert done.out.startswith("operators_worker: nothing is missing.\n  numpy ")


def test_programs_of_the_system_are_left_to_the_person(mosaic: Mosaic) -> None:
    definition = little_worker(mosaic.home / "data" / "workers", RANDOM)
    assert definition.folder
    manifest = definition.folder / "worker.toml"
    manifest.write_text(manifest.read_text() + '[requires]\nsystem = ["nosuchfish:stockfish"]\n')
    assert "apt-get install stockfish" in mosaic.refused("workers", "install", "little_worker")


def test_versions_are_held_to_those_that_were_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Installer.of(None)
    held = Path(ours.limits[ours.limits.index("--constraint") + 1]).read_text()
    assert "\nnumpy==" not in f"\n{held}", "what is here stays as it is"
    assert held.replace("==", "").isascii() and "box2d==2.3.10" in held
    assert Installer.of(Path("/elsewhere/python")).limits == ()
    assert installer.pinned("torch") is not None
    assert installer.pinned("no-such-package") is None


@pytest.mark.parametrize("name", ["box2d", "LunarLander-v3"])
def test_what_a_family_of_environments_needs(
    mosaic: Mosaic, index: Path, offline: dict[str, str], name: str
) -> None:
    """The extra's requirements, not the extra: this distribution is in no index, and no pip is asked."""
    if find_spec("Box2D"):
        pytest.skip("Box2D is installed")
    assert "mosaic envs install box2d" in mosaic.refused("envs", "check", "LunarLander-v3")
    wheel(index, "box2d", "2.3.10")
    asked = mosaic("envs", "install", name, "--dry-run", "--json", **offline)
    assert asked.json() == {"family": "box2d", "state": "planned", "new": {"box2d": "2.3.10"}}
    plan = mosaic("envs", "install", name, "--dry-run", **offline)
    assert plan.out == "Would install 1 package: box2d 2.3.10\n"


def test_a_family_that_is_there_is_left_alone(mosaic: Mosaic, offline: dict[str, str]) -> None:
    done = mosaic("envs", "install", "babyai", **offline)
    assert done.status == 0, done.err
    assert done.out.startswith("minigrid: nothing is missing.\n  minigrid ")
    assert mosaic("install", "gui", "--dry-run", **offline).out == "Nothing is missing.\n"


@pytest.mark.full
def test_pip_takes_the_place_of_uv(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An interpreter that has pip, as Python itself brings it.
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "ours")], check=True)
    for name, value in (
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", str(index)),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "ours" / "bin" / "python"))
    monkeypatch.setattr(installer, "find_uv", lambda: None)
    by_pip = Installer.of(tmp_path / "env" / "bin" / "python")
    by_pip.make_environment(tmp_path / "env")
    assert by_pip.resolve(["tiny-thing"]) == {"tiny-thing": "1.5", "tiny-part": "2.1"}
    by_pip.install(["tiny-thing"])
    assert by_pip.resolve(["tiny-thing"]) == {}
    with pytest.raises(InstallationError, match="no-such-thing"):
        by_pip.resolve(["no-such-thing"])


def test_neither_uv_nor_pip_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    monkeypatch.setattr(installer, "find_uv", lambda: None)
    with pytest.raises(UsageError, match="ensurepip"):
        Installer.of(None)


def test_cuda_by_name() -> None:
    names = ["nvidia-cublas-cu12", "cuda-bindings", "triton", "pytorch-triton", "numpy", "tritonclient"]
    assert cuda_packages(names) == ["cuda-bindings", "nvidia-cublas-cu12", "pytorch-triton", "triton"]
