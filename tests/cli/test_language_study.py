"""A study of three settings of one model whose true order is known: played, judged, paid for."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import gymnasium as gym
import pytest

from gym_gui.analysis import open_run
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Reply, Request

MODEL: Final = "gpt-4o-mini"
PER_TOKEN: Final = (Decimal("0.15") / 10**6, Decimal("0.60") / 10**6)
"""US dollars for one token of the prompt and of the reply, as the provider lists them."""
SEEDS, STEPS = range(100, 108), 60

# What each setting makes of the pole: nothing, which way it leans, which way it turns.
RULES: Final[Mapping[str, Callable[[float, float], str]]] = {
    "naive": lambda lean, turn: "left",
    "robust": lambda lean, turn: "right" if lean > 0 else "left",
    "chain_of_thought": lambda lean, turn: "right" if turn > 0 else "left",
}
REPLIES: Final = {
    "naive": "{}",
    "robust": "I look at the pole.\n<action>{}</action>",
    "chain_of_thought": "The pole turns, so the cart has to follow it.\nAction: {}",
}
POLE = re.compile(r"Pole: leaning \S+ degrees (left|right), rotating (left|right)")


class Provider:
    """Answers by the setting that a prompt was made with, and keeps its own books."""

    def __init__(self) -> None:
        self.bill: dict[str, Decimal] = dict.fromkeys(RULES, Decimal(0))
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        setting = _setting(request.words)
        lean, turn = (1.0 if way == "right" else -1.0 for way in POLE.findall(request.words)[-1])
        tokens = (len(request.words) // 4, 3 + request.number % 5)
        self.asked[setting] += 1
        self.bill[setting] += sum(price * count for price, count in zip(PER_TOKEN, tokens, strict=True))
        return Reply(REPLIES[setting].format(RULES[setting](lean, turn)), tokens=tokens)


def _setting(words: str) -> str:
    """Each asks for its form of an answer."""
    if "<action>" in words:
        return "robust"
    return "chain_of_thought" if "Action: ..." in words else "naive"


def truth(setting: str) -> list[float]:
    """Return by seed of a rule, played in plain Gymnasium."""
    env = gym.make("CartPole-v1", max_episode_steps=STEPS)
    returns: list[float] = []
    for seed in SEEDS:
        (_, _, lean, turn), _ = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = ("left", "right").index(RULES[setting](lean, turn))
            (_, _, lean, turn), reward, terminated, truncated, _ = env.step(action)
            total, ended = total + float(reward), terminated or truncated
        returns.append(total)
    env.close()
    return returns


def _winner(row: Mapping[str, Any]) -> str:
    return {"first": row["first"], "second": row["second"]}.get(row["verdict"], row["verdict"])


def operator(setting: str, url: str) -> dict[str, Any]:
    """One of the study's three."""
    given = {"base_url": url, "model_id": MODEL, "api_key": "env:STUDY_KEY", "strategy": setting}
    player = {"type": "llm", "worker_id": "mosaic_llm_worker", "settings": given}
    return {"id": setting, "task": "CartPole-v1", "workers": {"agent": player}, "max_steps": STEPS}


@pytest.mark.full
def test_three_settings_of_a_model_are_told_apart_and_paid_for_to_the_cent(mosaic: Mosaic) -> None:
    provider = Provider()
    with FakeModelServer(provider) as server:
        file = experiment(
            mosaic.home,
            *(operator(setting, server.url) for setting in RULES),
            num_episodes=len(SEEDS),
            seeds=SEEDS.start,
        )
        planned = mosaic("run", file, "--dry-run", "--json", STUDY_KEY="sk-of-the-study")
        assert planned.status == 0 and not server.requests, planned.err
        done = mosaic("run", file, "--json", STUDY_KEY="sk-of-the-study")
        assert done.status == 0, done.err
        assert len(server.requests) == provider.asked.total()
    folder = mosaic.home / done.json()["run"]

    # Played as the rule behind each setting plays, seed by seed.
    run = open_run(folder)
    true = {setting: truth(setting) for setting in RULES}
    for setting in RULES:
        episodes = sorted(run.operators[setting].episodes(), key=lambda each: each.seed)
        assert [each.returns["agent_0"] for each in episodes] == true[setting], setting
    means = [sum(true[setting]) / len(SEEDS) for setting in ("naive", "robust", "chain_of_thought")]
    assert means == sorted(means) and len(set(means)) == 3

    # Judged so: each of the three comparisons has its true winner.
    report = json.loads(mosaic("report", "--no-replays", folder, "--json", "--out", mosaic.home).out)
    better = {tuple(sorted((row["first"], row["second"]))): _winner(row) for row in report["comparisons"]}
    assert better == {
        ("naive", "robust"): "robust",
        ("chain_of_thought", "naive"): "chain_of_thought",
        ("chain_of_thought", "robust"): "chain_of_thought",
    }

    # Paid for as the provider's own books say, and within what was said before.
    told = {row["operator_id"]: Decimal(str(row["calls"]["usd"])) for row in report["operators"]}
    for setting, bill in provider.bill.items():
        assert told[setting] == pytest.approx(bill, abs=Decimal("1e-9")), setting
    slots = planned.json()["models"]
    bound = sum((Decimal(str(slot["usd_at_most"])) for slot in slots), Decimal(0))
    assert sum(provider.bill.values()) <= bound
    assert mosaic("verify", folder).status == 0
