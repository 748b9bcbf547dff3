"""What a wheel holds, and that it works outside the checkout without Qt and torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def installed(wheel: Path, sdk_wheel: Path, make_environment: Callable[[str, Sequence[str]], Path]) -> Path:
    """An environment that holds the wheel and what it declares, nothing else."""
    constraints = ROOT / "requirements" / "constraints.txt"
    return make_environment(sys.executable, ["--constraints", str(constraints), str(sdk_wheel), str(wheel)])


@pytest.fixture
def run(clean_environment: dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """Runs a command in an empty folder, outside the checkout, and returns what it prints."""

    def call(*command: str | Path) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=tmp_path,
            env=clean_environment | {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    return call


def test_it_carries_every_bundled_worker(names: set[str]) -> None:
    manifests = sorted((ROOT / "3rd_party").glob("*_worker/worker.toml"))
    assert manifests
    for manifest in manifests:
        worker = manifest.parent.name
        assert f"gym_gui/bundled/{worker}/worker.toml" in names
        program = f"gym_gui/bundled/{worker}/{'java' if (manifest.parent / 'java').is_dir() else worker}/"
        assert any(name.startswith(program) for name in names), worker


def test_its_packages_are_typed(names: set[str]) -> None:
    assert {"gym_gui/py.typed", "gym_gui/bundled/mosaic_worker_sdk/mosaic_worker/py.typed"} <= names


def test_it_carries_what_the_first_page_starts(names: set[str]) -> None:
    examples = "gym_gui/bundled/examples/"
    assert f"{examples}quickstart.py" in names
    policy = {n.rpartition("/")[2] for n in names if n.startswith(f"{examples}checkpoints/ppo_cartpole/")}
    assert {"policy.json", "model.safetensors"} <= policy
    assert "gym_gui/ui/assets/home-duel.png" in names


def test_it_carries_the_guide_with_its_pictures(names: set[str]) -> None:
    docs = "gym_gui/bundled/docs/"
    pages = ("guide/index.md", "guide/play.md", "run_directory.md", "workers/manifest.md")
    assert {f"{docs}{page}" for page in pages} <= names
    assert f"{docs}images/home-light-1280.webp" in names


def test_it_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= 5 * 10**6


def test_it_carries_the_sdk_for_other_interpreters(names: set[str], sdk_wheel: Path) -> None:
    prefix = "gym_gui/bundled/mosaic_worker_sdk/"
    bundled = {n.removeprefix(prefix) for n in names if n.startswith((f"{prefix}mosaic_", prefix + "py."))}
    own = {n for n in zipfile.ZipFile(sdk_wheel).namelist() if ".dist-info/" not in n}
    assert bundled == own
    assert {"mosaic_worker/worker.py", "mosaic_env_server/server.py"} <= own


def test_it_leaves_out_tests_and_caches(names: set[str]) -> None:
    odd = [
        n for n in names if "/tests/" in n or "__pycache__" in n or Path(n).name.startswith((".", "conftest"))
    ]
    assert odd == []
    assert {n.split("/")[0].split("-")[0] for n in names} == {"gym_gui", "mosaic_gym_gui"}


def test_it_brings_neither_qt_nor_torch(installed: Path, run: Callable[..., str]) -> None:
    absent = ["torch", "PyQt6", "qasync", "pygame", "pettingzoo", "pytest"]
    code = f"from importlib.util import find_spec; print([n for n in {absent} if find_spec(n)])"
    assert run(installed, "-c", code).strip() == "[]"


def test_it_imports_from_the_wheel(installed: Path, run: Callable[..., str]) -> None:
    code = "import gym_gui, mosaic_worker; print(gym_gui.__file__); print(mosaic_worker.__file__)"
    for line in run(installed, "-c", code).split():
        assert Path(line).is_relative_to(installed.parent.parent)


def test_the_command_answers(installed: Path, run: Callable[..., str]) -> None:
    text = run(installed.parent / "mosaic", "--help")
    assert "run" in text
    assert "workers" in text


def test_without_the_window_it_prints_its_commands(installed: Path, run: Callable[..., str]) -> None:
    mosaic = installed.parent / "mosaic"
    assert run(mosaic) == run(mosaic, "--help")


def test_it_says_how_it_was_installed(installed: Path, run: Callable[..., str]) -> None:
    told = run(installed.parent / "mosaic", "self", "update")
    assert str(installed.parent.parent) in told
    assert "installed from file://" in told


def test_its_own_wheels_are_not_looked_for_on_an_index(installed: Path, tmp_path: Path) -> None:
    """The names may be another project's there."""
    done = subprocess.run(
        [installed.parent / "mosaic", "wheelhouse", tmp_path / "wheels"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "mosaic_gym_gui-0.1.0-" in done.stderr and "mosaic_worker-0.1.0-" in done.stderr
    assert not (tmp_path / "wheels").exists()


def test_the_core_is_few_distributions(installed: Path) -> None:
    (site,) = (installed.parent.parent / "lib").glob("*/site-packages")
    assert len(list(site.glob("*.dist-info"))) <= 30


def test_an_experiment_runs_from_the_wheel(installed: Path, run: Callable[..., str], tmp_path: Path) -> None:
    experiment = {
        "operators": [
            {"id": "walk", "task": "FrozenLake-v1", "workers": {"agent": {"type": "random"}}},
            {
                "id": "still",
                "task": "FrozenLake-v1",
                "max_steps": 5,
                "workers": {"agent": {"type": "passive"}},
            },
        ],
        "execution": {"num_episodes": 3, "seeds": [1, 2, 3], "processes": 1},
    }
    (tmp_path / "lake.json").write_text(json.dumps(experiment), encoding="utf-8")
    said = run(installed.parent / "mosaic", "run", "lake.json", "--out", "out")
    assert "walk" in said.partition("Run:")[0], "the report"
    (folder,) = (tmp_path / "out").iterdir()
    for operator in ("walk", "still"):
        text = (folder / "operators" / operator / "episodes.jsonl").read_text(encoding="utf-8")
        episodes = [json.loads(line) for line in text.splitlines()]
        assert sorted(e["episode_index"] for e in episodes) == [0, 1, 2]
        assert {e["status"] for e in episodes} == {"completed"}


def test_a_family_of_environments_is_brought_into_an_environment_without_pip(
    installed: Path, run: Callable[..., str], uv: Path
) -> None:
    """In the versions that were tested, from what the wheel itself says; another Python is not touched."""
    (installed.parent / "uv").symlink_to(uv)
    mosaic = installed.parent / "mosaic"
    assert run(mosaic, "envs", "install", "toy-text").startswith("gymnasium is installed: ")
    pinned = re.search(r"^pygame-ce==(\S+)$", (ROOT / "requirements/constraints.txt").read_text(), re.M)
    assert pinned is not None
    assert (
        run(installed, "-c", "from importlib.metadata import version; print(version('pygame-ce'))").strip()
        == (pinned[1])
    )
    assert run(mosaic, "envs", "install", "toy-text").startswith("gymnasium: nothing is missing.")
