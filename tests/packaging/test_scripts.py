"""The shell scripts parse, and a finished set-up is recognized, and only that."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*ROOT.glob("scripts/*.sh"), *ROOT.glob("scripts/lib/*.sh"), ROOT / ".ci" / "run"])


def _bash(code: str, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ``code`` with the libraries loaded for the checkout at ``root``."""
    loaded = f'set -euo pipefail; ROOT="{root}"; '
    loaded += "".join(f'. "$ROOT/scripts/lib/{name}.sh"; ' for name in ("common", "python", "setup"))
    base = {"PATH": "/usr/bin:/bin", "HOME": str(root)}
    return subprocess.run(
        ["bash", "-c", loaded + code], env=base | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_it_parses(script: Path) -> None:
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["run.sh", "test.sh", "proto.sh", "constraints.sh"])
def test_commands_are_executable(name: str) -> None:
    assert (ROOT / "scripts" / name).stat().st_mode & 0o111


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A copy of the checkout's recipe, in a folder with a space, whose set-up is done."""
    root = tmp_path / "a checkout"
    for folder in ("scripts", "requirements"):
        shutil.copytree(ROOT / folder, root / folder)
    sdk = Path("3rd_party/mosaic_worker_sdk")
    (root / sdk).mkdir(parents=True)
    for folder in (Path(), sdk):
        shutil.copy(ROOT / folder / "pyproject.toml", root / folder)
    environment = root / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/bin/true")
    (environment / "pyvenv.cfg").write_text("version_info = 3.11.7\n", encoding="utf-8")
    state = environment / ".mosaic-setup"
    state.mkdir()
    done = _bash('_stamp run 0 >"$STATE/run.stamp"', root)
    assert done.returncode == 0, done.stderr
    return root


def _is_done(root: Path, profile: str = "run", gpu: int = 0) -> bool:
    return _bash(f"_is_done {profile} {gpu}", root).returncode == 0


def test_a_finished_setup_is_left_alone(finished: Path) -> None:
    assert _is_done(finished)
    done = _bash("ensure_environment run 0", finished)
    assert (done.returncode, done.stderr) == (0, "")


def _change_requirement(root: Path) -> None:
    with (root / "requirements" / "constraints.txt").open("a", encoding="utf-8") as file:
        file.write("new==1\n")


def _change_interpreter(root: Path) -> None:
    (root / ".venv" / "pyvenv.cfg").write_text("version_info = 3.12.1\n", encoding="utf-8")


def _lose_interpreter(root: Path) -> None:
    (root / ".venv" / "bin" / "python").unlink()


def _cut_stamp(root: Path) -> None:
    (root / ".venv" / ".mosaic-setup" / "run.stamp").write_text("", encoding="utf-8")


@pytest.mark.parametrize("change", [_change_requirement, _change_interpreter, _lose_interpreter, _cut_stamp])
def test_a_change_asks_for_a_new_setup(finished: Path, change: Callable[[Path], None]) -> None:
    change(finished)
    assert not _is_done(finished)


def test_the_program_alone_is_not_the_checks(finished: Path) -> None:
    assert not _is_done(finished, "dev")


def test_a_moved_checkout_is_set_up_anew(finished: Path) -> None:
    moved = finished.rename(finished.with_name("elsewhere"))
    assert not _is_done(moved)


def test_cuda_packages_are_refused_without_gpu(finished: Path) -> None:
    packages = finished / ".venv" / "lib" / "python3.11" / "site-packages"
    assert _bash("_refuse_cuda 0", finished).returncode == 0
    (packages / "nvidia_cudnn_cu13-9.1.dist-info").mkdir(parents=True)
    refused = _bash("_refuse_cuda 0", finished)
    assert refused.returncode == 2
    assert "nvidia_cudnn_cu13" in refused.stderr
    assert _bash("_refuse_cuda 1", finished).returncode == 0


def test_an_unfit_interpreter_is_one_clear_line(tmp_path: Path) -> None:
    done = _bash("need_python", PYTHON="/bin/false")
    assert done.returncode == 2
    assert done.stderr.startswith("error: PYTHON=/bin/false is not a Python from 3.11 to 3.13")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_python_starts_in_a_folder_with_an_umlaut_under_any_locale(tmp_path: Path, locale: str) -> None:
    """As an editable install leaves it: the folder's name in a .pth file, in UTF-8."""
    root = tmp_path / "größe"
    venv.create(root / ".venv", symlinks=True)
    (site,) = root.glob(".venv/lib/*/site-packages")
    (root / "here.py").write_text("", encoding="utf-8")
    (site / "_editable_impl_mosaic_gym_gui.pth").write_text(f"{root}\n", encoding="utf-8")
    loaded = f'ROOT="{ROOT}"; . "{ROOT}/scripts/lib/setup.sh"; '
    loaded += f'VENV="{root}/.venv"; VENV_PYTHON="$VENV/bin/python"; '
    done = subprocess.run(
        ["bash", "-c", loaded + '_spell_paths && "$VENV_PYTHON" -c "import here"'],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": locale},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_where_torch_is_not_to_be_had_setup_goes_on_and_says_so(finished: Path) -> None:
    """And what is of no use without it is left out, by name."""
    asks = finished / "asked"
    shim = finished / "uv"
    # An installer for which there is no torch; what it is asked for is written down.
    shim.write_text(f'#!/bin/sh\necho "$*" >> "{asks}"\ncase "$*" in *torch==*) exit 1;; esac\n')
    shim.chmod(0o755)
    code = 'UV="$ROOT/uv"; _install_torch 0 && exit 9; : >"$STATE/without-torch"; _uv_install -e thing'
    done = _bash(f"set +e; {code}", finished)
    assert done.returncode == 0, done.stderr
    assert "cleanrl_worker and sb3_worker" in done.stderr and "mosaic workers install" in done.stderr
    assert "Traceback" not in done.stderr and "failed" not in done.stderr
    last = asks.read_text().splitlines()[-1]
    assert "--overrides requirements/without_torch.txt" in last and last.endswith("-e thing")
    left_out = (ROOT / "requirements" / "without_torch.txt").read_text()
    assert "\ntorch ;" in left_out and "\nstable-baselines3 ;" in left_out
