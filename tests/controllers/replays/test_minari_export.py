"""Minari reads what was played, with what was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import orjson
import pytest
from gymnasium import spaces

from gym_gui.analysis import open_run
from gym_gui.controllers.replays.minari_export import write_datasets
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from tests.support.engine import arena, player, record_run

minari: Any = pytest.importorskip("minari")
pytest.importorskip("pyarrow")


async def test_a_dataset_holds_what_the_environment_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await record_run(
        tmp_path / "runs",
        (OperatorConfig("pole", "Pole", "", "CartPole-v1", {}), {"agent_0": lambda s: int(s[2] > 0)}),
        (OperatorConfig("jack", "Jack", "", "Blackjack-v1", {}), {"agent_0": player(lambda s: 0)}),
    )
    run = open_run(folder)
    written = write_datasets(run, tmp_path / "datasets")
    assert list(written.values()) == [3, 3]

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    pole, jack = (minari.load_dataset(name) for name in written)
    recorded = sorted(run.operators["pole"].episodes(), key=lambda e: e.episode_index)
    env = pole.recover_environment()
    for episode, then in zip(pole.iterate_episodes(), recorded, strict=True):
        assert len(episode.rewards) == then.length and sum(episode.rewards) == then.total_reward
        seen, _ = env.reset(seed=then.seed)
        for number, action in enumerate(episode.actions):
            assert np.array_equal(episode.observations[number], seen)
            assert action == int(seen[2] > 0)
            seen, *_ = env.step(action)
        assert np.array_equal(episode.observations[-1], seen) and episode.terminations[-1]
    env.close()
    assert isinstance(jack[0].observations, tuple) and len(jack[0].observations) == 3

    with pytest.raises(UsageError, match="exists already"):
        write_datasets(run, tmp_path / "datasets")


async def test_an_episode_that_the_run_cut_off_ends_with_what_was_seen_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await record_run(
        tmp_path / "runs",
        (OperatorConfig("pole", "Pole", "", "CartPole-v1", {}), {"agent_0": lambda s: int(s[2] > 0)}),
        max_steps=4,
    )
    (name,) = write_datasets(open_run(folder), tmp_path / "datasets")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    data = minari.load_dataset(name)
    for episode in data.iterate_episodes():
        assert episode.observations.shape == (5, 4) and len(np.unique(episode.observations, axis=0)) == 5
        assert list(episode.truncations) == [False, False, False, True] and not any(episode.terminations)


async def test_what_is_no_demonstration_is_refused(tmp_path: Path) -> None:
    folder = await record_run(
        tmp_path / "runs",
        (OperatorConfig("pole", "Pole", "", "CartPole-v1", {}), {"agent_0": player()}),
    )
    steps = folder / "operators" / "pole" / "steps.jsonl"
    rows = [orjson.loads(line) for line in steps.read_bytes().splitlines()]
    rows[2]["reward"] = 0.5
    steps.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    with pytest.raises(UsageError, match="differs from its record when it is replayed"):
        write_datasets(open_run(folder), tmp_path / "datasets")
    assert not list((tmp_path / "datasets").glob("*/*-v0")), "no half of a dataset stays"

    short = await record_run(
        tmp_path / "corridors",
        (
            OperatorConfig("walk", "Walk", "", arena("Corridor"), {}, env_kwargs={"fault": "short", "at": 5}),
            {"agent_0": player()},
        ),
    )
    with pytest.raises(UsageError, match="the last observation of episode 0 is not in its observation space"):
        write_datasets(open_run(short), tmp_path / "datasets")

    two = await record_run(
        tmp_path / "games",
        (
            OperatorConfig("four", "Four", "", "connect_four_v3", {}),
            {f"player_{i}": player(lambda s: s.legal_actions[0]) for i in (0, 1)},
        ),
    )
    with pytest.raises(UsageError, match="with 2 agents, but Minari"):
        write_datasets(open_run(two), tmp_path / "datasets")


class Shapes(gymnasium.Env[Any, Any]):
    """Shows something, and is answered with something.

    Args:
        seen: Kind of its observations.
        done: Kind of its actions.
    """

    def __init__(self, seen: str = "box", done: str = "box") -> None:
        box = spaces.Box(-1, 1, (2,), np.float32)
        kinds: dict[str, Any] = {
            "box": box,
            "graph": spaces.Graph(box, None),
            "sequence": spaces.Sequence(spaces.Discrete(3)),
            "one_of": spaces.OneOf((spaces.Discrete(3), box)),
            "nested": spaces.Dict(near=spaces.Tuple((box, spaces.Sequence(box)))),
        }
        self.observation_space, self.action_space = kinds[seen], kinds[done]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.observation_space.seed(seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return self.observation_space.sample(), 1.0, self.t == 3, False, {}


async def test_what_minari_cannot_hold_is_named_and_the_others_are_written(tmp_path: Path) -> None:
    task = f"{__name__}:Shapes"
    cases = {
        "good": {},
        "graph": {"seen": "graph"},
        "sequence": {"seen": "sequence"},
        "one_of": {"done": "one_of"},
        "nested": {"seen": "nested"},
    }

    def sample(kwargs: dict[str, str]) -> Any:
        space = Shapes(**kwargs).action_space
        return player(lambda _: space.sample())

    folder = await record_run(
        tmp_path / "runs",
        *(
            (OperatorConfig(name, name.title(), "", task, {}, env_kwargs=kwargs), {"agent_0": sample(kwargs)})
            for name, kwargs in cases.items()
        ),
    )
    said: list[str] = []
    written = write_datasets(open_run(folder), tmp_path / "datasets", lambda error: said.append(str(error)))
    assert [name.rpartition("/")[2] for name in written] == ["good-v0"]
    assert len(said) == 4
    for name, sentence in zip(["Graph", "Sequence", "One_Of", "Nested"], said, strict=True):
        assert f"Minari cannot store the episodes of {name}" in sentence
    assert [path.name for path in (tmp_path / "datasets").glob("*/*-v0")] == ["good-v0"]
