"""The recipes for containers, read by a parser, and their steps in a bare Debian; installation there, too."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bare_debian import BareDebian, bare_debian
from tests.support.commands import COMMAND

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE, APPTAINER = ROOT / "containers/Dockerfile", ROOT / "containers/mosaic.def"
DEVCONTAINER = ROOT / ".devcontainer/devcontainer.json"
_KNOWN = {"FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
EXPERIMENT = """\
operators:
  - {id: walk, task: FrozenLake-v1, workers: {agent: {type: random}}}
  - {id: still, task: FrozenLake-v1, max_steps: 5, workers: {agent: {type: passive}}}
execution: {num_episodes: 10}
"""


@dataclass(frozen=True)
class Instruction:
    """A line of a Dockerfile: its word, and what follows."""

    word: str
    rest: str


def instructions() -> list[Instruction]:
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Instruction(*line.split(maxsplit=1)) for line in lines]


def apptainer_sections() -> dict[str, str]:
    text = APPTAINER.read_text("utf-8")
    found = re.findall(r"^%(\w+)\n(.*?)(?=^%|\Z)", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def test_the_dockerfile_is_one_that_engines_read() -> None:
    read = instructions()
    assert read[0].word == "FROM"
    assert {line.word for line in read} <= _KNOWN
    for line in read:
        if line.word in ("ENTRYPOINT", "CMD"):
            assert json.loads(line.rest)
    users = [line.rest for line in read if line.word == "USER"]
    assert users and users[-1] != "root", "it plays as a user"


def test_wheels_are_all_that_it_installs() -> None:
    for text in (DOCKERFILE.read_text("utf-8"), apptainer_sections()["post"]):
        (line,) = (line for line in text.splitlines() if "pip install" in line)
        assert "--no-index --find-links /wheels mosaic-gym-gui" in line
        assert "http" not in line


def test_apptainer_has_the_same_steps() -> None:
    steps = [re.sub(r"--mount=\S+ ", "", line.rest) for line in instructions() if line.word == "RUN"]
    post = [line.strip() for line in apptainer_sections()["post"].splitlines()]
    assert post[:2] == steps[:2]
    (path,) = (line.rest for line in instructions() if line.word == "ENV")
    assert f"export {path}" in apptainer_sections()["environment"]


def test_the_development_container_sets_up_a_clone() -> None:
    told = json.loads(DEVCONTAINER.read_text("utf-8"))
    assert told["image"].startswith("debian:")
    assert "./scripts/run.sh --headless" in told["postCreateCommand"]


@pytest.fixture(scope="module")
def debian12(tmp_path_factory: pytest.TempPathFactory) -> Generator[BareDebian]:
    with bare_debian("bookworm", tmp_path_factory.mktemp("debian")) as made:
        yield made


@pytest.fixture(scope="module")
def debian13(tmp_path_factory: pytest.TempPathFactory) -> Generator[BareDebian]:
    with bare_debian("trixie", tmp_path_factory.mktemp("debian")) as made:
        yield made


def _certificates() -> dict[str, str]:
    names = ("PIP_CERT", "SSL_CERT_FILE")
    return {name: "/etc/ssl/certs/ca-certificates.crt" for name in names if os.environ.get(name)}


@pytest.mark.full
def test_the_steps_of_the_container_play_a_match_without_a_network(
    debian12: BareDebian, tmp_path: Path
) -> None:
    """As its user, from the wheels alone; the time from the wheels to the verdict is printed."""
    done = subprocess.run([*COMMAND, "wheelhouse", str(tmp_path / "wheels")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    debian12.copy(tmp_path / "wheels", "/wheels")
    user, path, begun = "root", "", 0.0
    for line in instructions():
        if line.word == "RUN":
            installs = "pip install" in line.rest
            begun = begun or (time.monotonic() if installs else 0.0)
            debian12.succeed(re.sub(r"--mount=\S+ ", "", line.rest), user=user, network=not installs)
        elif line.word == "USER":
            user = line.rest
        elif line.word == "ENV":
            path = line.rest.removeprefix("PATH=")
    assert user == "player"
    (debian12.root / "home/player/match.yaml").write_text(EXPERIMENT)
    env = {"PATH": path}
    said = debian12.succeed("mosaic run match.yaml --out work/runs", user=user, network=False, env=env)
    print(f"from the wheels to the first verdict: {time.monotonic() - begun:.1f} s")
    assert "walk" in said and "report.html" in said
    told = json.loads(debian12.run("mosaic doctor --json", user=user, network=False, env=env).stdout)
    assert [row for row in told["findings"] if row["state"] == "problem"] == []
    for section in ("test",):
        assert debian12.succeed(apptainer_sections()[section], user=user, network=False, env=env)


@pytest.mark.full
@pytest.mark.parametrize("user", ["root", "player"])
def test_it_is_installed_from_an_index_on_the_next_debian(
    debian13: BareDebian, wheel: Path, sdk_wheel: Path, user: str
) -> None:
    for built in (wheel, sdk_wheel):
        debian13.copy(built, f"/dist/{built.name}")
    debian13.succeed("id player 2>/dev/null || useradd --create-home player")
    debian13.succeed(
        "dpkg -s python3-venv >/dev/null 2>&1 || { apt-get update && apt-get install -y python3-venv; }"
    )
    debian13.succeed(
        "python3 -m venv v && v/bin/pip install -q /dist/*.whl",
        user=user,
        env=_certificates(),
    )
    home = debian13.root / ("root" if user == "root" else "home/player")
    (home / "match.yaml").write_text(EXPERIMENT)
    said = debian13.succeed("v/bin/mosaic run match.yaml", user=user, network=False)
    assert "walk" in said and "report.html" in said
    assert debian13.succeed("v/bin/mosaic", user=user) == debian13.succeed("v/bin/mosaic --help", user=user)
