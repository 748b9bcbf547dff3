"""``mosaic envs install`` of what gets an interpreter of its own: really made, really served from."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gym_gui.cli.installing.install_own_python import install_own_python
from gym_gui.cli.installing.installer import InstallationError
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.interpreters import environment_folder, installed_versions
from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.remote_env import close_servers
from gym_gui.envs.spec import EnvSpec
from tests.support.commands import Mosaic

_ROOT = Path(__file__).parents[3]
_MODULE = """
import numpy as np
from mosaic_worker.spaces import Space

class Counter:
    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.observation_space = Space("Discrete", np.dtype(np.int64), n=9)
        self.action_space = Space("Discrete", np.dtype(np.int64), n=2)
        self.metadata = {"render_modes": []}
    def reset(self, *, seed=None, options=None):
        self.at = (seed or 0) % 3
        return self.at, {}
    def step(self, action):
        self.at = min(8, self.at + int(action))
        return self.at, float(action), self.at == 8, False, {}
    def close(self):
        pass
"""


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))


def _family(**facts: Any) -> OwnPythonFamily:
    class Counting(OwnPythonFamily):
        name: ClassVar[str] = "counting"
        title: ClassVar[str] = "Counting"
        prefixes: ClassVar[tuple[str, ...]] = ("counting/",)
        archives: ClassVar[Mapping[str, str]] = {"counting": "https://localhost:9/counting.tar.gz"}
        imports: ClassVar[tuple[str, ...]] = facts.pop("imports", ("counting",))
        system: ClassVar[tuple[str, ...]] = facts.pop("system", ())

        def specs(self) -> Sequence[EnvSpec]:
            return [self.spec("counting/Counter-v0", "counting:Counter")]

    return Counting()


def _archive(folder: Path, name: str = "counting-0.3-py3-none-any.whl") -> Path:
    """A package of one module."""
    info = "counting-0.3.dist-info"
    with zipfile.ZipFile(folder / name, "w") as file:
        file.writestr("counting.py", _MODULE)
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: counting\nVersion: 0.3\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return folder / name


def test_it_is_made_and_served_from(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    family = _family()
    with pytest.raises(MissingDependencyError, match=r"Counting is not installed\. Run: mosaic envs install"):
        family.require()
    assert install_own_python(family, given=[_archive(tmp_path)]) == 0
    assert "counting is installed: 1 environment." in capfd.readouterr().out
    assert installed_versions("counting")["counting"] == "0.3"
    spec = family.specs()[0]
    report = check_environment(
        lambda: family.adapter(spec, family.build(spec, render_mode=None, env_kwargs={})), steps=30
    )
    assert report.ok, "\n".join(report.lines())
    assert install_own_python(family) == 0
    assert "nothing is missing" in capfd.readouterr().out
    close_servers()


@pytest.mark.full
def test_what_was_cut_off_counts_as_missing(tmp_path: Path) -> None:
    """What it is published at is not reached: the interpreter is there, and nothing in it counts."""
    family = _family()
    with pytest.raises(InstallationError, match="Run the command again"):
        install_own_python(family)
    assert (environment_folder("counting") / "bin" / "python").exists()
    assert not family.installed
    with pytest.raises(MissingDependencyError, match="its installation was cut off"):
        family.require()
    assert install_own_python(family, given=[_archive(tmp_path)]) == 0
    assert family.installed


def test_what_cannot_be_imported_is_said_with_the_packages_that_mend_it(tmp_path: Path) -> None:
    family = _family(imports=("counting", "no_such_part"), system=("libsomething1",))
    with pytest.raises(
        InstallationError, match=r"cannot be imported: .*no_such_part.*apt-get install libsomething1"
    ):
        install_own_python(family, given=[_archive(tmp_path)])
    assert not family.installed


def test_files_that_it_does_not_need_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"It needs counting-….tar.gz"):
        install_own_python(_family(), given=[_archive(tmp_path, "other-1.tar.gz")])
    with pytest.raises(UsageError, match="there is no file"):
        install_own_python(_family(), given=[tmp_path / "nothing.tar.gz"])


def test_the_command_names_what_it_would_do(mosaic: Mosaic) -> None:
    planned = mosaic("envs", "install", "procgen", "--dry-run")
    assert planned.status == 0
    assert "procgen-mirror" in planned.out
    missing = mosaic("envs", "check", "procgen/coinrun")
    assert missing.status == 2
    assert missing.line.endswith("Run: mosaic envs install procgen")
    refused = mosaic("envs", "install", "crafter", "--from", sys.executable)
    assert refused.status == 2
    assert "needs no files" in refused.line
