"""Workers are found where people put them, without importing them and without core changes."""

from __future__ import annotations

import logging
import sys
import venv
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.workers.discovery import (
    DiscoveredManifest,
    bundled_folders,
    discover,
    find_workers,
    known_workers,
)
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed, status_of

MANIFEST = (
    'id = "{id}"\nkind = "baseline"\nversion = "{version}"\n[launch]\nentry = "{package}.main:Worker"\n'
)
# Importing the package would be noticed.
EXPLODING = "raise SystemExit('a worker was imported by discovery')"

Drop = Callable[..., Path]


@pytest.fixture(autouse=True)
def registry():
    with WorkerTypeRegistry.isolated() as isolated:
        yield isolated


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drop:
    """Put a worker folder into the user's data folder."""
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))

    def put(worker_id: str, extra: str = "", *, manifest: str = MANIFEST) -> Path:
        folder = tmp_path / "data/workers" / worker_id
        package = folder / worker_id
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(EXPLODING)
        content = manifest.format(id=worker_id, version="1", package=worker_id)
        (folder / "worker.toml").write_text(content + extra)
        return folder

    return put


def test_workers_are_found_on_the_first_call_and_kept() -> None:
    found = known_workers()
    assert {"operators_worker", "human_worker"} <= {definition.type_id for definition in found}
    assert found == WorkerTypeRegistry.all()
    assert all(a is b for a, b in zip(found, known_workers(), strict=True)), "files are read once"


def test_whoever_asks_while_workers_are_found_waits_for_all_of_them(drop: Drop) -> None:
    drop("a_broken_worker", manifest="nonsense")
    drop("late_worker")
    asking: list[Future[tuple[WorkerTypeDefinition, ...]]] = []

    class InTheMidst(logging.Handler):
        """Has others ask when the broken one is told of, before the last one is read."""

        def emit(self, record: logging.LogRecord) -> None:
            asking.extend(threads.submit(known_workers) for _ in range(3))
            wait(asking, timeout=0.2)

    logger, handler = logging.getLogger("gym_gui.workers.discovery"), InTheMidst()
    logger.addHandler(handler)
    try:
        with ThreadPoolExecutor(3) as threads:
            found = discover()
    finally:
        logger.removeHandler(handler)
    assert only(found, "late_worker").definition is not None
    assert [len(each.result()) for each in asking] == [len(WorkerTypeRegistry.all())] * 3


def only(found: list[DiscoveredManifest], name: str) -> DiscoveredManifest:
    (entry,) = [f for f in found if f.name == name]
    return entry


def test_a_process_that_plays_reads_the_manifests_of_who_plays_and_others_are_found_when_asked_for(
    drop: Drop,
):
    drop("my_worker")
    with WorkerTypeRegistry.isolated() as registry:
        find_workers(["operators_worker"])
        assert [worker.type_id for worker in registry.registered()] == ["operators_worker"]
        assert registry.require("my_worker").type_id == "my_worker", "who takes over a slot later"
        assert registry.require("passive_worker").type_id == "operators_worker"
        find_workers(["my_worker", "operators_worker"])
        assert {"my_worker", "sb3_worker"} < {worker.type_id for worker in registry.registered()}
    for name in ("passive_worker", "../operators_worker", "nobody"):
        with WorkerTypeRegistry.isolated() as registry:
            find_workers([name])
            assert len(known_workers()) == len(registry.all()) > 10, name
    with WorkerTypeRegistry.isolated() as registry:
        find_workers(["operators_worker"])
        assert len(known_workers()) > 10


def test_dropped_folder_is_found_and_nothing_of_it_is_imported(drop: Drop):
    folder = drop("dice_worker")
    entry = only(discover(), "dice_worker")
    assert (entry.source, entry.problem) == ("user", "")
    definition = WorkerTypeRegistry.require("dice_worker")
    assert definition.folder == folder
    assert definition.launch.python_path == (folder,)
    assert "dice_worker" not in sys.modules


def test_bundled_workers_are_all_readable():
    entries = [f for f in discover() if f.source == "bundled"]
    assert {f.name for f in entries} >= {"operators_worker", "cleanrl_worker"}
    assert [f.problem for f in entries if f.problem] == []
    assert all(f.path.parent.parent in bundled_folders() for f in entries)


def test_a_worker_that_builds_on_another_imports_it_from_beside_or_from_ours(drop: Drop):
    dice = drop("dice_worker", '[requires]\nworkers = ["coin_worker", "operators_worker"]\n')
    coin = drop("coin_worker")
    discover()
    definition = WorkerTypeRegistry.require("dice_worker")
    ours = bundled_folders()[0] / "operators_worker"
    assert definition.launch.python_path == (dice, coin, ours)
    assert check_installed(definition).state == "installed"


def test_a_worker_whose_foundation_is_not_there_says_so_and_is_not_sought_on_the_net(drop: Drop):
    drop("dice_worker", '[requires]\nworkers = ["coin_worker"]\n')
    status = status_of(only(discover(), "dice_worker"))
    assert (status.state, status.missing, status.install) == ("broken", ("coin_worker",), "")
    assert "it builds on coin_worker, found neither beside it" in status.reason


def test_a_foundation_that_is_there_does_not_stand_for_the_workers_own_package(drop: Drop):
    folder = drop("dice_worker", '[requires]\nworkers = ["operators_worker"]\n')
    (folder / "dice_worker/__init__.py").unlink()
    (folder / "dice_worker").rmdir()
    status = status_of(only(discover(), "dice_worker"))
    assert (status.state, status.missing) == ("broken", ("dice_worker",))


def test_broken_manifest_hides_no_other_and_says_why(drop: Drop, caplog: pytest.LogCaptureFixture):
    drop("broken_worker", manifest="[[[")
    drop("dice_worker")
    with caplog.at_level(logging.WARNING):
        found = discover()
    assert "not valid TOML" in only(found, "broken_worker").problem
    assert only(found, "dice_worker").problem == ""
    assert "broken_worker" in caplog.text
    assert status_of(only(found, "broken_worker")).state == "broken"
    with pytest.raises(UsageError, match="not valid TOML"):
        WorkerTypeRegistry.require("broken_worker")


def test_second_claim_of_a_name_is_reported_and_replaces_nothing(drop: Drop):
    folder = drop("operators_worker")
    found = discover()
    mine = [f for f in found if f.path.parent == folder]
    assert "taken by operators_worker" in mine[0].problem
    assert WorkerTypeRegistry.require("operators_worker").source == "bundled"


def test_discovering_twice_adds_what_is_new(drop: Drop):
    drop("dice_worker")
    discover()
    before = WorkerTypeRegistry.require("dice_worker")
    drop("coin_worker")
    assert [f.problem for f in discover() if f.source == "user"] == ["", ""]
    assert WorkerTypeRegistry.require("dice_worker") is before
    assert WorkerTypeRegistry.require("coin_worker")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Install a distribution that announces a worker by entry point."""
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "empty"))
    root = tmp_path / "site"
    root.mkdir()
    monkeypatch.syspath_prepend(str(root))

    def install(value: str) -> Path:
        info = root / "wheel_worker-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wheel-worker\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[mosaic.workers]\nwheel_worker = {value}\n")
        return root

    return install


def test_entry_point_is_located_without_import(site: Callable[[str], Path]):
    package = site("wheel_worker") / "wheel_worker"
    package.mkdir()
    (package / "__init__.py").write_text(EXPLODING)
    (package / "worker.toml").write_text(
        MANIFEST.format(id="wheel_worker", version="1", package="wheel_worker")
    )
    assert only(discover(), "wheel_worker").source == "package"
    assert WorkerTypeRegistry.require("wheel_worker").folder == package
    assert "wheel_worker" not in sys.modules


def test_dotted_entry_point_does_not_import_its_parent(site: Callable[[str], Path]):
    package = site("wheel_parent.inner") / "wheel_parent/inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text(EXPLODING)
    (package / "worker.toml").write_text(
        MANIFEST.format(id="inner_worker", version="1", package="wheel_parent")
    )
    assert only(discover(), "inner_worker").problem == ""


@pytest.mark.parametrize("value", ["wheel_nowhere", "wheel_nowhere.sub"])
def test_entry_point_to_nothing_is_broken(site: Callable[[str], Path], value: str):
    site(value)
    assert f"package {value!r}, which is not installed" in only(discover(), "wheel_worker").problem


def test_entry_point_to_a_package_without_manifest_is_broken(site: Callable[[str], Path]):
    package = site("wheel_bare") / "wheel_bare"
    package.mkdir()
    (package / "__init__.py").write_text(EXPLODING)
    assert "worker.toml: cannot be read" in only(discover(), "wheel_worker").problem


def test_installed_worker_with_met_requirements(drop: Drop):
    drop("dice_worker", '[requires]\npip = ["numpy>=1.22", "absent-thing; python_version < \'3\'"]\n')
    assert status_of(only(discover(), "dice_worker")).state == "installed"


@pytest.mark.parametrize(
    ("requires", "missing", "install"),
    [
        ('pip = ["no-such-thing>=1"]', ("no-such-thing>=1",), "mosaic workers install dice_worker"),
        ('pip = ["numpy>=999", "numpy"]', ("numpy>=999",), "mosaic workers install dice_worker"),
        ('pip = ["no-such-thing"]\nextra = "dice"', ("no-such-thing",), "mosaic workers install dice_worker"),
        ('system = ["no-such-program:no-deb"]', ("no-such-program:no-deb",), "apt-get install no-deb"),
    ],
)
def test_missing_requirement_comes_with_the_line_that_installs_it(
    drop: Drop, requires: str, missing: tuple[str, ...], install: str
):
    drop("dice_worker", f"[requires]\n{requires}\n")
    status = status_of(only(discover(), "dice_worker"))
    assert (status.state, status.missing, status.install) == ("missing", missing, install)
    assert "not " in status.reason


def test_requirement_that_is_none_is_broken(drop: Drop):
    drop("dice_worker", '[requires]\npip = ["=== what"]\n')
    assert status_of(only(discover(), "dice_worker")).state == "broken"


def test_package_that_is_nowhere_is_broken(drop: Drop):
    folder = drop("dice_worker")
    (folder / "dice_worker/__init__.py").unlink()
    (folder / "dice_worker").rmdir()
    status = status_of(only(discover(), "dice_worker"))
    assert status.state == "broken"
    assert "neither in its folder nor installed" in status.reason


def test_command_is_looked_for_in_the_folder_and_on_the_path(drop: Drop):
    manifest = 'id = "{id}"\nkind = "planner"\n[launch]\ncommand = ["./run.sh"]\n'
    folder = drop("shell_worker", manifest=manifest)
    drop("sh_worker", manifest=manifest.replace("./run.sh", "sh"))
    found = discover()
    assert status_of(only(found, "sh_worker")).state == "installed"
    assert status_of(only(found, "shell_worker")).missing == ("./run.sh",)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    assert status_of(only(found, "shell_worker")).state == "installed"


def test_requirements_are_checked_in_the_workers_own_interpreter(drop: Drop, tmp_path: Path):
    folder = drop("dice_worker", 'python = "venv"\n[requires]\npip = ["numpy"]\n')
    definition = only(discover(), "dice_worker").definition
    assert definition is not None
    status = check_installed(definition)
    python = f"{folder}/venv/bin/python"
    assert status.missing == (python,)
    assert status.install == "mosaic workers install dice_worker"

    venv.create(folder / "venv", with_pip=False, symlinks=True)
    status = check_installed(definition)
    assert (status.state, status.missing) == ("missing", ("numpy", "protobuf<8,>=3.20.2"))
    assert status.install == "mosaic workers install dice_worker"


def test_interpreter_that_does_not_work_is_broken(drop: Drop):
    folder = drop("dice_worker", 'python = "python"\n')
    python = folder / "python"
    python.write_text("#!/bin/sh\necho this is no Python >&2\nexit 3\n")
    python.chmod(0o755)
    status = status_of(only(discover(), "dice_worker"))
    assert status.state == "broken"
    assert "this is no Python" in status.reason
