"""TextWorld as a family of environments, and in words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.core.errors import UsageError
from gym_gui.envs import Environment
from gym_gui.envs.families.textworld_env import LETTERS, VERBS, WRITTEN, game_file

ONE = {"games": 1}
SMALL, FIRST = {"world_size": 2, "nb_objects": 4, "quest_length": 2}, 1
"""What the game of ``TextWorld/Small-v0`` is made of, and its seed."""
SIZES = ("Small", "Medium", "Large")


@pytest.fixture(scope="module")
def game() -> Iterator[Environment]:
    made = envs.make("TextWorld/Small-v0", env_kwargs=ONE)
    yield made
    made.close()


def walkthrough() -> list[str]:
    import textworld

    path = game_file(SMALL, FIRST)
    return list(textworld.Game.load(str(path.with_suffix(".json"))).metadata["walkthrough"])


def test_the_contract_is_kept(game: Environment) -> None:
    report = envs.check("TextWorld/Small-v0", steps=15, env_kwargs=ONE)
    assert report.ok, "\n".join(report.lines())


def test_a_game_is_made_once(game: Environment) -> None:
    game.adapter.reset(seed=1)
    path = game_file(SMALL, FIRST)
    made = path.stat().st_mtime_ns
    assert game_file(SMALL, FIRST) == path and path.stat().st_mtime_ns == made
    assert not [each for each in path.parent.iterdir() if each.is_dir()]
    with pytest.raises(UsageError, match="at least 1"):
        envs.make("TextWorld/Small-v0", env_kwargs={"games": 0})


def test_it_is_won_by_the_commands_that_are_told(game: Environment) -> None:
    adapter, describer = game.adapter, game.describer("agent_0")
    seen = adapter.reset(seed=1)["agent_0"]
    commands = walkthrough()
    text = describer.text("agent_0", seen)
    assert text.splitlines()[0] == str(game.env.state.objective).splitlines()[0] and "-= " in text
    for command in commands:
        assert str(game.env.state.objective) in describer.text("agent_0", seen)
        told = describer.text("agent_0", seen).rpartition("Legal moves: ")[2].split(", ")
        assert command in told and told == game.env.state.admissible_commands
        result = adapter.step({"agent_0": command})
        seen = result.observations["agent_0"]
    assert result.terminated["agent_0"] and result.rewards["agent_0"] == 1 and game.success() is True
    assert len(commands) == 2


def test_an_unsolved_quest_ends_with_its_steps(game: Environment) -> None:
    adapter = game.adapter
    adapter.reset(seed=1)
    for _ in range(game.spec.max_episode_steps or 0):
        result = adapter.step({"agent_0": "look"})
    assert result.truncated["agent_0"] and not result.terminated["agent_0"] and game.success() is False


def test_nothing_that_is_written_reaches_the_interpreter_itself(
    game: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take a backslash for an order, save files, and crash."""
    adapter, rng = game.adapter, random.Random(0)
    adapter.reset(seed=1)
    monkeypatch.chdir(tmp_path)
    for order in ("save", "restore", "quit", "\\help", "restart", "script", "é", "look\nsave", " "):
        seen = adapter.step({"agent_0": order}).observations["agent_0"]
        known = order == "look\nsave"
        assert (seen == "That's not a verb I recognise.") is not known, order
    for i in range(300):
        verb = rng.choice(sorted(VERBS))
        word = "".join(rng.choice(LETTERS if i % 2 else WRITTEN) for _ in range(rng.randrange(120)))
        if not adapter.get_current_agents():
            adapter.reset(seed=i)
        adapter.step({"agent_0": f"{verb} {word}"})
    assert not list(tmp_path.iterdir())


def test_the_briefing_asks_for_words(game: Environment) -> None:
    game.adapter.reset(seed=1)
    briefing = game.describer("agent_0").briefing("agent_0")
    assert "one command in words" in briefing and "after 30 commands" in briefing
    assert [spec.id for spec in envs.list_specs("textworld")] == [f"TextWorld/{size}-v0" for size in SIZES]
