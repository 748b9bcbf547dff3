"""How good a policy is: whole episodes side by side, which a wish to stop cuts off; light to import."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from mosaic_worker.learning.evaluation import EVALUATION_SEEDS, Interrupted, episode_returns, finish
from mosaic_worker.learning.importing import ImportParser, imported, json_of, origin_of
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed, carried_out
from mosaic_worker.learning.training_report import TrainingReport
from mosaic_worker.playing.checkpoint_worker import Choices
from mosaic_worker.training import TrainingRun

SDK = Path(__file__).resolve().parents[1]


class Count:
    """Ends after as many steps as its seed says; a step pays what was played."""

    made: ClassVar[list[Count]] = []

    def __init__(self) -> None:
        self.closed = False
        self.made.append(self)

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        self.left = seed
        return np.array([seed], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        return np.array([self.left], np.float32), float(action), self.left == 0, False, {}

    def close(self) -> None:
        self.closed = True


class Remembers:
    """Plays how many steps it has seen in the episode; where a mask forbids that, nothing."""

    description: Any = SimpleNamespace()
    memory = 1

    def choose(self, observations: Any, masks: Any = None, draws: Any = None, memory: Any = None) -> Choices:
        actions = memory[:, 0].astype(int)
        ok = np.ones(len(actions), bool) if masks is None else masks[np.arange(len(actions)), actions]
        return Choices(actions, None, ok, memory + 1)


def test_episodes_are_played_side_by_side_each_with_its_memory() -> None:
    Count.made.clear()
    assert episode_returns(Remembers(), Count, lambda *_: None, [1, 3, 2], 100) == [0.0, 3.0, 1.0]
    assert episode_returns(Remembers(), Count, lambda *_: None, [9], 3) == [3.0], "it has no end of its own"
    only_first = np.array([True, False, False])
    with pytest.raises(ValueError, match="no action was legal"):
        episode_returns(Remembers(), Count, lambda env, _: only_first if env.left == 1 else None, [2, 3], 100)
    asked = iter([True, False])
    with pytest.raises(Interrupted):
        episode_returns(Remembers(), Count, lambda *_: None, [5], 100, lambda: next(asked))
    assert all(env.closed for env in Count.made)


class Kept:
    """A training that is at its end."""

    def __init__(self) -> None:
        self.step, self.did = 7, list[Any]()

    def save(self) -> None:
        self.did.append("save")

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        self.did.append((result, seeds))

    def film_finished(self) -> None:
        self.did.append("film")


@pytest.mark.parametrize("stopped", [False, True])
def test_the_end_of_a_training_keeps_judges_and_says_so(tmp_path: Path, stopped: bool) -> None:
    run, session = TrainingRun(tmp_path), Kept()

    def evaluate(go_on: Any) -> float:
        run.stop_requested = stopped
        if not go_on():
            raise Interrupted
        return 4.5

    assert finish(run, session, evaluate, "Here-v0", "no_worker") is not stopped
    run.close()
    done = json.loads((tmp_path / "events.jsonl").read_text().splitlines()[-1])
    said = (done["event"], done["status"], done["step"], done["mean_return"])
    assert said == (("done", "stopped", 7, None) if stopped else ("done", "completed", 7, 4.5))
    assert session.did == (["save"] if stopped else ["save", (4.5, EVALUATION_SEEDS), "film"])


def test_an_environment_that_raises_at_the_end_is_named_and_the_policy_is_kept(tmp_path: Path) -> None:
    session = Kept()

    def evaluate(_: Any) -> float:
        raise ValueError("the ball is lost")

    with closing(TrainingRun(tmp_path)) as run, pytest.raises(TrainingFailed, match="Here-v0 raised"):
        finish(run, session, evaluate, "Here-v0", "no_worker")
    assert session.did == ["save"]


def raising(error: Exception) -> Any:
    def train() -> bool:
        raise error

    return train


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ConfigError("no such thing"), 2, "no such thing"),
        (TrainingFailed("lost\nits way"), 1, "lost its way"),
        (OSError(28, "No space left on device", "state"), 1, "No space left on device: state. Solve this"),
        (MemoryError(), 1, "there is not enough memory"),
        (RuntimeError("CUDA out of memory"), 1, "there is not enough memory"),
    ],
)
def test_every_end_is_put_into_words(tmp_path: Path, error: Exception, status: int, words: str) -> None:
    run = TrainingRun(tmp_path)
    assert carried_out(run, raising(error)) == status
    run.close()
    said = json.loads((tmp_path / "events.jsonl").read_text())
    assert (said["event"], said["kind"]) == ("error", "usage" if status == 2 else "failed")
    assert words in said["message"]


def test_a_defect_is_not_put_into_words_of_somebody_else(tmp_path: Path) -> None:
    run = TrainingRun(tmp_path)
    with pytest.raises(RuntimeError, match="a slip"):
        carried_out(run, raising(RuntimeError("a slip")))
    run.close()
    assert carried_out(TrainingRun(tmp_path), lambda: False) == 130


def test_reports_say_how_the_last_episodes_went(tmp_path: Path) -> None:
    run, drawn = TrainingRun(tmp_path), list[Any]()
    scalars = SimpleNamespace(add_scalar=lambda *row: drawn.append(row))
    report = TrainingReport(run, scalars, 10, returns=[1.0], lengths=[5])
    report.episode(12, 3.0, 7)
    report.metrics(20, {"losses/a": 0.5})
    run.close()
    values = json.loads((tmp_path / "metrics.jsonl").read_text())["m"]
    assert (values["charts/episodic_return"], values["charts/episodic_length"]) == (2.0, 6.0)
    assert values["charts/SPS"] > 0 and values["losses/a"] == 0.5
    assert {name: value for name, value, _ in drawn} == pytest.approx(values)
    assert (list(report.returns), list(report.lengths)) == ([1.0, 3.0], [5, 7])


@pytest.mark.parametrize(
    ("text", "words"),
    [("[", "--preprocess is not JSON"), ("/nowhere.json", "--preprocess /nowhere.json cannot be read")],
)
def test_what_is_no_json_names_the_option(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        json_of(text, "--preprocess")


def test_an_import_that_is_refused_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def bring(args: Any) -> Any:
        origin_of(args.file, "zip", 100)

    parser = ImportParser("it", "Imports.", "what trained it")
    for arguments, words in (
        ([], "See --help"),
        (["missing.zip", "--env-id", "E-v0", "--out", str(tmp_path)], "missing.zip cannot be read"),
    ):
        assert imported(parser, arguments, bring) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("error: ") and words in said.err
        assert len(said.err.splitlines()) == 1


def test_none_of_it_brings_a_library_along_that_a_worker_may_not_have() -> None:
    names = "evaluation, importing, train_main, training_command, training_report, training_schema"
    players = "import sys; from mosaic_worker.playing import checkpoint_worker"
    program = f"{players}; from mosaic_worker.learning import {names}; print(*sys.modules)"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {[str(SDK), *sys.path]!r}; {program}"]
    loaded = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert not loaded & {"torch", "gymnasium", "pydantic", "gym_gui", "safetensors", "tensorboard"}
