"""What of jason_worker needs no interpreter: the protocol in Java, held against the contract."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from gymnasium.spaces import Box, Discrete, Space

from gym_gui.workers.check import check_worker
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import parse_manifest
from tests.support.commands import ROOT, Mosaic
from tests.support.processes import Offspring

WORKER = ROOT / "3rd_party" / "jason_worker"


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> WorkerTypeDefinition:
    """A worker whose interpreter answers with what is legal."""
    if shutil.which("java") is None or shutil.which("javac") is None:
        pytest.skip("the Java of jason_worker: there is no Java (default-jdk-headless)")
    classes = tmp_path_factory.mktemp("classes")
    sources = [*(WORKER / "java" / "mosaic" / "worker").glob("*.java"), WORKER / "tests" / "Echo.java"]
    command = ["javac", "-Xlint:all", "-Werror", "-proc:none", "-encoding", "UTF-8", "-d", str(classes)]
    subprocess.run([*command, *map(str, sources)], check=True)
    launch = ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(classes), "Echo"]
    text = f"""
id = "echo_worker"
kind = "bdi"
[launch]
command = {json.dumps(launch)}
[inputs]
facts = true
messages = "optional"
[capabilities]
action_spaces = ["discrete", "continuous"]
observation_spaces = ["any"]
"""
    return parse_manifest(text, classes / "worker.toml")


@pytest.mark.parametrize(
    "space",
    [Discrete(3), Discrete(3, start=-1), Box(-1, 1, (2,), "float32")],
    ids=["discrete", "from -1", "continuous"],
)
def test_it_keeps_to_the_contract(echo: WorkerTypeDefinition, space: Space) -> None:
    meanings = ("left", "stay", "right")[: getattr(space, "n", 0)]
    report = check_worker(echo, settings={"program": "right"}, action_space=space, action_meanings=meanings)
    assert not [each for each in report.findings if each.status == "failed"]


def test_a_program_that_is_refused_is_told_with_its_place(echo: WorkerTypeDefinition) -> None:
    report = check_worker(echo, settings={"program": "wrong"})
    assert any("wrong, line 1: nothing was expected" in each.detail for each in report.findings)


def test_a_program_that_is_not_named_is_told(echo: WorkerTypeDefinition) -> None:
    report = check_worker(echo, settings={"program": ""})
    assert any("the setting program is missing" in each.detail for each in report.findings)


def test_without_java_it_is_said_what_to_install(tmp_path: Path, offspring: Offspring) -> None:
    mosaic = Mosaic(tmp_path, offspring)
    for command in ("check", "install"):
        told = mosaic.refused("workers", command, "jason_worker", PATH=str(tmp_path))
        assert "java and javac are not on the path" in told
        assert "apt-get install default-jdk-headless" in told
        assert told.count("default-jdk-headless") == 1


def test_files_reach_a_command_as_absolute_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in a folder of its own."""
    manifest = WORKER / "worker.toml"
    jason = parse_manifest(manifest.read_text(), manifest)
    monkeypatch.chdir("/tmp")
    given = jason.placed({"program": "mind.asl", "idle": "noop"})
    assert given == {"program": "/tmp/mind.asl", "idle": "noop"}
