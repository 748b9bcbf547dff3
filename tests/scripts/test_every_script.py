"""Each script runs, at its smallest, in the environment that ``run.sh`` makes: without what tests bring."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

SMALLEST: dict[str, tuple[str, ...]] = {
    "balrog_texts": ("--out", "{out}/texts.md"),
    "bench": ("--quick", "--only", "another process"),
    "bench_bdi": ("--decisions", "20"),
    "bench_gui": ("--quick", "--offscreen", "--only", "start"),
    "bench_learning": ("--most", "0"),  # tells what is kept
    "bench_llm": ("--quick", "--only", "describers"),
    "bench_marl": ("--plan",),
    "bench_mpc": ("--help",),  # it plans for minutes
    "bench_sb3": ("--help",),  # 200 episodes of 500 steps for each of five sides
    "bench_search": ("--games", "2", "--simulations", "4"),
    "bench_shards": ("--quick",),
    "bench_study": ("--quick",),
    "bench_train": ("--quick", "--only", "no figure"),
    "calibration": ("--studies", "20"),
    "calibration_cross_play": ("--studies", "5"),
    "calibration_looks": ("--studies", "2", "--operators", "2", "--seeds", "8"),
    "calibration_pairs": ("--studies", "2", "--operators", "2"),
    "calibration_power": ("--help",),
    "calibration_ratings": ("--samples", "2", "--seeds", "10"),
    "calibration_tables": ("--help",),  # it writes into the docs
    "calibration_trainings": ("--studies", "5", "--sixes", "2"),
    "calibration_verdicts": ("--samples", "2"),
    "changelog_length": (),
    "commit_subjects": (),
    "environments": ("--help",),  # it plays by the tests' tiny model, which their packages run
    "family_pages": ("--out", "{out}"),
    "faults": ("--quick", "--only", "1"),
    "faults_elsewhere": ("--help",),  # it takes root, and is a check of its own
    "folders": (),
    "house": (),
    "import_cycles": (),
    "key_tables": ("--check",),
    "known_names": ("--help",),  # it reads the registries of packages that are not here
    "plain_words": (),
    "prompts": ("minigrid", "--out", "{out}"),
    "transcripts": ("--help",),  # it writes into the docs
    "documentation_site": ("--help",),  # the documentation check builds the same pages
    "release": ("--help",),  # tests/scripts/test_release.py
    "release_pages": ("--out", "{out}"),
    "screenshots": (
        *("--bare", "--only", "settings", "--size", "1280x800", "--theme", "light", "--out", "{out}"),
    ),
}
"""What each is started with; ``{out}`` is a folder of the test's own."""
PARTS = frozenset(
    {
        *("bench_gui_bare", "bench_gui_elsewhere", "bench_gui_instruments", "bench_gui_library"),
        *(
            "bench_gui_window",
            "bundle_workers",
            "project_address",
            "by_keyboard",
            "example_model",
            "fault_model_server",
            "faults_nodes",
        ),
        *("home_pictures", "loopback_host", "screen_reader", "screenshots_dialogs", "screenshots_elsewhere"),
        *("glossary_links", "screenshots_submissions", "screenshots_waiting", "vulture_allowed", "what_fits"),
    }
)
"""Modules of other scripts, what a build or a check reads; ``home_pictures`` writes into the tree."""
_ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
_OF_TESTS = ("pytest", "_pytest", "hypothesis", "transformers", "choix", "nbclient", "nbformat", "ipykernel")


def _script(name: str) -> Path:
    (found,) = SCRIPTS.rglob(f"{name}.py")
    return found


def started(name: str, arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """A script, in a process that lacks the packages of the extra ``dev``."""
    (folder / "sitecustomize.py").write_text(_ABSENT.format(names=set(_OF_TESTS)))
    (folder / "out").mkdir()
    given = [each.format(out=folder / "out") for each in arguments]
    return subprocess.run(
        [sys.executable, str(_script(name)), *given],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COVERAGE_PROCESS_CONFIG": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_script_is_started_or_is_part_of_another() -> None:
    assert {path.stem for path in SCRIPTS.rglob("*.py")} == SMALLEST.keys() | PARTS


@pytest.mark.full
@pytest.mark.parametrize("name", SMALLEST)
def test_it_runs(name: str, tmp_path: Path) -> None:
    done = started(name, SMALLEST[name], tmp_path)
    # A goal that is missed is told by 1: the machine may be busy.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "FAILED" not in done.stdout, done.stdout + done.stderr


def test_a_figure_that_fails_costs_itself_alone(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(SCRIPTS / 'bench')!r})\n"
        "from pathlib import Path\n"
        "from bench import Figure, Figures\n"
        "figures = Figures()\n"
        "figures.take('broken', lambda: 1 / 0)\n"
        "figures.take('whole', lambda: Figure('whole', '>= 1', 2.0, 'x', True, ''))\n"
        "sys.exit(figures.told(Path('figures.json')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout and "2.00 x" in done.stdout
    assert "whole" in (tmp_path / "figures.json").read_text()
