"""Prompts: what every strategy and level says, roles by game and seat, files that researchers edit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from reply_games import SOCCER

from mosaic_llm_worker.main import LlmWorker
from mosaic_llm_worker.preview import preview
from mosaic_llm_worker.templates import DEFAULTS, Templates
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError, Slot

DISCRETE = {"kind": "Discrete", "dtype": "int64", "n": 8, "start": 0}
SPORT = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
LOCAL = {"client_name": "ollama", "model_id": "m"}


def asked(
    env: str = SPORT, agent: str = "green_0", team: tuple[str, ...] = ("green_1",), **settings: Any
) -> Any:
    """A question to the preview."""
    slot = {
        "agent": agent, "env": env, "action_meanings": list(SOCCER), "action_space": DISCRETE,
        "briefing": "THE BRIEFING", "team": "green", "teammates": list(team), "opponents": ["blue_0"],
    }  # fmt: skip
    seen = {"step": 2, "text": "A TURN", "choices": [], "mask": None, "action": 3}
    if env == SPORT:
        slot["example_turns"] = {agent: [seen, {**seen, "mask": [False] * 8}]}
    decision = {"text": "THE TEXT", "messages": [], "choices": [], "mask": None, "step": 4}
    return {"settings": {**LOCAL, **settings}, "slot": slot, "decision": decision}


def system(**given: Any) -> str:
    """The rules of a slot."""
    shown = preview(asked(**given))
    assert "error" not in shown, shown
    return shown["messages"][0]["content"]


@pytest.mark.parametrize("strategy", ["naive", "chain_of_thought", "few_shot", "robust", "structured"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_strategy_and_level_has_a_whole_prompt(strategy: str, level: int) -> None:
    shown = preview(asked(strategy=strategy, coordination_level=level, talk=True))
    first, turn = (message["content"] for message in shown["messages"])
    assert "$" not in first + turn and "\n\n\n" not in first + turn
    assert first.startswith("You are green_0") and "THE BRIEFING" in first
    assert turn.startswith("Step 5.\n<observation>\nTHE TEXT\n</observation>")
    assert 50 < shown["tokens"] < 1200


def test_level_one_says_nothing_of_playing_together() -> None:
    first = system(coordination_level=1)
    assert "team" not in first.replace("THE BRIEFING", "")
    assert "role" not in first
    assert "Play as a team" in system(coordination_level=2)
    assert "role is" not in system(coordination_level=2)


def test_roles_are_dealt_by_game_and_seat() -> None:
    forward = system(coordination_level=3)
    assert "Your role is forward" in forward
    assert "green_1 has the role defender" in forward
    defender = system(coordination_level=3, agent="green_1", team=("green_0",))
    assert "Your role is defender" in defender
    hunters = [
        system(
            env="mpe2/simple_tag_v3",
            agent=f"adversary_{i}",
            team=tuple(f"adversary_{k}" for k in range(3) if k != i),
            coordination_level=3,
        )
        for i in range(3)
    ]
    for hunter, role in zip(hunters, ("chaser", "interceptor", "blocker"), strict=True):
        assert f"Your role is {role}" in hunter
    prey = system(env="mpe2/simple_tag_v3", agent="agent_0", team=(), coordination_level=3)
    assert "Your role is prey" in prey
    assert "role" not in system(team=(), coordination_level=3), "who plays alone has none"


def test_roles_of_games_in_which_nobody_leads_are_those_of_the_seats() -> None:
    crypto = {"env": "mpe2/simple_crypto_v3", "coordination_level": 3}
    sender = system(agent="alice_0", team=("bob_0",), **crypto)
    assert "Your role is sender" in sender and "bob_0 has the role receiver" in sender
    assert "Your role is receiver" in system(agent="bob_0", team=("alice_0",), **crypto)
    assert "Your role is eavesdropper" in system(agent="eve_0", team=(), **crypto)
    everybody = [f"pursuer_{i}" for i in range(8)]
    sides = [
        system(
            env="sisl/pursuit_v5",
            agent=each,
            team=tuple(mate for mate in everybody if mate != each),
            coordination_level=3,
        )
        .partition("Your role: take the ")[2]
        .split()[0]
        for each in everybody
    ]
    assert sides == ["left", "right", "upper", "lower"] * 2


def test_a_role_may_be_chosen_or_written() -> None:
    assert "Your role is midfielder" in system(coordination_level=3, role="midfielder")
    assert "Run in circles." in system(coordination_level=3, role="Run in circles.")
    refused = preview(asked(coordination_level=3, role="goalie"))["error"]
    assert "there is no role 'goalie'" in refused and "forward, defender, midfielder" in refused


def test_every_game_file_is_sound_and_leaves_examples_to_the_environment() -> None:
    files = sorted(DEFAULTS.glob("games/*.toml"))
    assert len(files) >= 10
    for path in files:
        patterns = [line for line in path.read_text().splitlines() if line.startswith("environments")]
        assert patterns, path
        name = patterns[0].split('"')[1].replace("*", "x")
        game = Templates().game(name)
        assert (game.hints or game.roles) and not game.examples, path


def test_few_shot_without_examples_is_refused_with_a_way_out() -> None:
    refused = preview(asked(env="Unknown-v0", strategy="few_shot"))["error"]
    assert "few_shot shows turns of Unknown-v0" in refused and "prompt_folder" in refused


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("turn.txt", "$observations", "turn.txt has the placeholder $observations, which does not exist"),
        ("system.txt", "costs $5", "has a $ without a placeholder"),
        ("games/mine.toml", "environments = [", "is not valid TOML"),
        ("games/mine.toml", 'environments = ["*"]\nhint = "x"', "'hint' is missing or not known"),
    ],
)
def test_a_mistake_in_a_prompt_file_is_named(tmp_path: Path, name: str, content: str, said: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    assert said in preview(asked(prompt_folder=str(tmp_path)))["error"]


def load(**settings: Any) -> str:
    """Why a slot is refused."""
    space = Space.from_json(DISCRETE)
    slot = Slot(0, "green_0", SPORT, space, space, settings, SOCCER)
    worker = LlmWorker()
    worker.host = cast("Any", SimpleNamespace(record_call=print))  # nothing is recorded before a decision
    with pytest.raises(LoadError) as refused:
        worker.load(slot)
    return str(refused.value)


def test_settings_that_cannot_work_are_refused_in_a_sentence() -> None:
    assert "client_name" in load(client_name="openia")
    key = "sk-" + "a" * 40
    literal = load(client_name="openai", model_id="gpt-4o", api_key=key)
    assert "never the key itself" in literal and key not in literal
    assert "needs a key" in load(client_name="openai", model_id="gpt-4o")
    assert "coordination_level" in load(**LOCAL, coordination_level=4)
    assert "there is no setting 'stratgy'" in load(**LOCAL, stratgy="naive")
    assert "is no folder" in load(**LOCAL, prompt_folder="/nowhere/at/all")


def test_the_preview_answers_over_stdin() -> None:
    command = [sys.executable, "-m", "mosaic_llm_worker.preview"]
    paths = {"PYTHONPATH": ":".join(path for path in sys.path if "3rd_party" in path)}
    for question, key in ((json.dumps(asked()), "messages"), ("no json", "error"), ("{}", "error")):
        done = subprocess.run(
            command, input=question, capture_output=True, text=True, env=paths, timeout=120, check=True
        )
        (line,) = done.stdout.splitlines()
        assert key in json.loads(line)
