"""A run, policy or training that another user made leads to no file of this user, and hangs nothing."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gym_gui.analysis import open_run, report
from gym_gui.cli.library.runs import list_runs
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.core.errors import CheckpointError, MosaicError, UsageError
from gym_gui.services.policies.policy_exchange import import_shared_policy
from gym_gui.services.policies.policy_library import PolicyLibrary
from gym_gui.services.policy_files import read_policy_file
from gym_gui.services.runs.recorder import STOPPED, Recorder
from gym_gui.services.runs.run_library import DAMAGED, RunLibrary
from gym_gui.services.store import Store
from gym_gui.services.trainer.launching import make_folder
from gym_gui.services.trainer.training_folder import LOG, RunFolder
from mosaic_worker.checkpoint import DESCRIPTION, WEIGHTS, read_checkpoint
from mosaic_worker.worker import LoadError
from tests.support.policies import kept_policy

pytestmark = pytest.mark.timeout(60)  # a pipe that is opened waits for ever

PLACED = {
    "link": lambda path, mine: path.symlink_to(mine),
    "second name": lambda path, mine: os.link(mine, path),
    "pipe": lambda path, _: os.mkfifo(path),
}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of the person's own, which stays as it is."""
    path = tmp_path / "home" / "id_ed25519"
    path.parent.mkdir()
    path.write_bytes(b"-----BEGIN KEY-----\nsecret")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that was stopped in its first episode."""
    experiment = {
        "operators": [{"id": "op", "task": "CartPole-v1", "env_name": "gymnasium"}],
        "execution": {},
    }
    recorder = Recorder.create(tmp_path / "runs", ["op"], {"experiment": experiment})
    recorder.call("op", b'{"kind":"chat"}')
    recorder.close(STOPPED)
    return recorder.folder


def put(path: Path, place: Callable[[Path, Path], object], mine: Path) -> None:
    path.unlink(missing_ok=True)
    place(path, mine)


WRITTEN = (
    "operators/op/episodes.jsonl",
    "operators/op/steps.jsonl",
    "operators/op/calls.jsonl",
    ".reserve",
    ".reserve.new",
    "run.json.new",
    ".run.json.new",
    "operators/op/steps.jsonl.new",
    "operators/op/episodes.jsonl.new",
    "operators/op/episodes.new",
)


@pytest.mark.parametrize("kind", PLACED)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_run_is_continued_without_touching_what_is_not_in_it(
    name: str, kind: str, run: Path, mine: Path
) -> None:
    before = mine.read_bytes()
    put(run / name, PLACED[kind], mine)

    try:
        recorder, _ = Recorder.reopen(run)
    except UsageError as refused:
        assert "secret" not in str(refused)
    else:
        recorder.call("op", b"{}")
        recorder.episode("op", b"{}\n", b"{}\n")
        recorder.close(STOPPED)

    assert mine.read_bytes() == before


@pytest.mark.parametrize("folder", ["operators", "operators/op"])
def test_a_folder_of_a_run_leads_nowhere_else(folder: str, run: Path, mine: Path) -> None:
    shutil.rmtree(run / folder)
    (run / folder).symlink_to(mine.parent)

    with pytest.raises(UsageError, match="link"):
        Recorder.reopen(run)
    with pytest.raises(UsageError, match="link"):
        open_run(run)

    assert [path.name for path in mine.parent.iterdir()] == [mine.name]


def test_an_operator_is_not_called_out_of_its_run(run: Path) -> None:
    header = json.loads((run / "run.json").read_bytes())
    header["experiment"]["operators"][0]["id"] = "../../../out"
    (run / "run.json").write_text(json.dumps(header))

    with pytest.raises(UsageError, match="leads out"):
        Recorder.reopen(run)

    assert not (run.parents[1] / "out").exists()


def test_the_run_folder_itself_may_be_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(run)

    recorder, _ = Recorder.reopen(tmp_path / "latest")
    recorder.close(STOPPED)

    assert open_run(tmp_path / "latest").record.status == STOPPED


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "steps.jsonl", "calls.jsonl"])
def test_no_reader_of_runs_waits_or_looks_elsewhere(
    name: str, kind: str, run: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run / name if name == "run.json" else run / "operators" / "op" / name
    put(path, PLACED[kind], mine)

    list_runs(run.parent)
    (entry,) = RunLibrary(run.parent).all()
    assert (entry.status == DAMAGED) == (name == "run.json")
    for read in (
        lambda: report([run]),
        lambda: asyncio.run(verify(open_run(run))),
        lambda: [list(operator.steps()) for operator in open_run(run).operators.values()],
    ):
        try:
            read()
        except MosaicError as refused:
            assert "secret" not in str(refused)
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize("name", [DESCRIPTION, WEIGHTS])
def test_a_policy_that_is_no_file_is_refused(name: str, kind: str, tmp_path: Path, mine: Path) -> None:
    policy = kept_policy(tmp_path / "policy")
    (policy / name).rename(mine.parent / name)
    put(policy / name, PLACED[kind], mine.parent / name)
    library = PolicyLibrary(Store(data=tmp_path / "data", cache=tmp_path / "cache"))

    if name == DESCRIPTION:
        assert read_policy_file(policy) is None
    with pytest.raises(LoadError, match="is a"):
        read_checkpoint(policy)
    with pytest.raises(CheckpointError, match="is a"):
        import_shared_policy(library, policy, "theirs")
    assert not list(library.folder.glob("theirs"))


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize(
    "name", [LOG, ".writable", "exit.json.part", "control.jsonl", "state/state.safetensors"]
)
def test_no_training_is_started_in_a_folder_that_leads_out_of_it(
    name: str, kind: str, tmp_path: Path, mine: Path
) -> None:
    before = mine.read_bytes()
    folder = tmp_path / "training"
    (folder / "state").mkdir(parents=True)
    put(folder / name, PLACED[kind], mine)

    with pytest.raises(UsageError, match="is a"):
        make_folder(RunFolder(folder))

    assert mine.read_bytes() == before


def test_the_last_words_of_a_training_are_its_own(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "training").mkdir()
    put(tmp_path / "training" / LOG, PLACED["link"], mine)

    assert RunFolder(tmp_path / "training").last_log_line() == ""
