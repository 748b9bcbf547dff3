"""Search in the engine: it wins, it repeats, it sees what its seat is shown and no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gym_gui import evaluate
from gym_gui.cli.contract_tests import check_worker
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import MosaicError
from tests.controllers.engine.test_session_workers import operator
from tests.support.engine import plans
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

RANDOM = {"type": "random"}


def searching(**settings: Any) -> dict[str, Any]:
    return {"worker_id": "openspiel_worker", "type": "planner", "settings": settings}


async def games(players: dict[str, Any], task: str, seeds: range, **more: Any) -> SessionLog:
    """Played to their ends, all at once."""
    log = SessionLog()
    config = operator(players, task, **more)
    session = LocalSession(resolve_operator(config), SessionSettings(len(seeds)), log)
    try:
        await session.start()
        session.play(plans(seeds))
        await in_time(lambda: len(log.episodes) == len(seeds), "all games are over", 240)
    finally:
        await session.close()
    return log


def returns(log: SessionLog, agent: str) -> list[float]:
    assert {episode["status"] for episode in log.episodes.values()} == {"completed"}, log.episodes
    assert not any(episode["invalid_actions"].get(agent) for episode in log.episodes.values())
    return [episode["returns"][agent] for episode in log.episodes.values()]


@pytest.mark.parametrize(
    ("task", "first", "second"),
    [
        ("classic/connect_four_v3", "player_0", "player_1"),
        ("classic/tictactoe_v3", "player_1", "player_2"),
        pytest.param("open_spiel/breakthrough", "player_0", "player_1", marks=pytest.mark.full),
    ],
)
async def test_it_beats_random_from_both_sides(task: str, first: str, second: str) -> None:
    hero = searching(simulations=200)
    opening = returns(await games({first: hero, second: RANDOM}, task, range(3)), first)
    replying = returns(await games({first: RANDOM, second: hero}, task, range(3)), second)
    assert sum(opening) + sum(replying) >= 4, (opening, replying)


async def test_the_same_seeds_give_the_same_moves_and_the_record_says_what_was_searched() -> None:
    players = {"player_0": searching(simulations=100), "player_1": RANDOM}
    log, again = [await games(players, "classic/connect_four_v3", range(3)) for _ in range(2)]
    for index in range(3):
        assert again.column(index, "action") == log.column(index, "action")
        assert again.column(index, "search", "player_0") == log.column(index, "search", "player_0")
    told = log.column(0, "search", "player_0")
    assert told[0]["simulations"] == 100
    scores = log.column(0, "scores", "player_0")[0]
    assert all(word.startswith("column ") for word in scores) and sum(scores.values()) <= 1.001
    assert log.column(0, "value", "player_0")[-1] == 1.0


@pytest.mark.parametrize(
    ("task", "agents", "more"),
    [
        ("classic/go_v5", ("black_0", "white_0"), {"env_kwargs": {"board_size": 5}, "max_steps": 24}),
        ("classic/chess_v6", ("player_0", "player_1"), {"max_steps": 10}),
    ],
)
async def test_go_and_chess_are_played_by_their_own_rules(
    task: str, agents: tuple[str, ...], more: dict[str, Any]
) -> None:
    log = await games(dict.fromkeys(agents, searching(simulations=4)), task, range(1), **more)
    assert [returns(log, agent) for agent in agents]
    assert len(log.rows[0]) >= 10


@pytest.mark.full
async def test_where_cards_are_hidden_it_earns_more_than_random_without_seeing_them() -> None:
    players = {"player_0": searching(simulations=200), "player_1": RANDOM}
    log = await games(players, "open_spiel/leduc_poker", range(60))
    assert sum(returns(log, "player_0")) > 0
    again = await games(players, "open_spiel/leduc_poker", range(3))
    assert all(again.column(i, "action") == log.column(i, "action") for i in range(3))


def test_a_solved_game_earns_more_than_random_and_reports_say_what_it_gives_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path / "cache"))
    players = {"player_0": searching(algorithm="cfr_plus", iterations=60), "player_1": RANDOM}
    first = evaluate("open_spiel/leduc_poker", players, seeds=80, out=tmp_path / "runs")
    assert first.returns("player_0").sum() > 0
    (slot,) = [s for o in first.summary.operators for s in o.slots if s.slot == "player_0"]
    assert re.fullmatch(r"CFR\+, 60 iterations, exploitability 0\.0\d+", slot.policy)
    assert slot.policy in " ".join(str(first).split())
    assert slot.policy in (first.folder / "report.html").read_text(encoding="utf-8")
    assert list((tmp_path / "cache").rglob("cfr/*.json"))
    rows = [line.value for o in first.run.operators.values() for line in o.step_lines()]
    told = [row["scores"] for row in rows if row["agent_id"] == "player_0"]
    assert all(sum(scores.values()) == pytest.approx(1, abs=0.001) for scores in told)
    again = evaluate("open_spiel/leduc_poker", players, seeds=80, out=tmp_path / "runs")
    assert again.returns("player_0").tolist() == first.returns("player_0").tolist()


async def test_a_position_that_its_rules_do_not_lead_to_fails_the_episode_in_a_sentence() -> None:
    """Dice with twenty sides, of which the worker was not told."""
    players = {"player_0": searching(simulations=5), "player_1": searching(simulations=5)}
    log = await games(players, "open_spiel/pig", range(1), env_kwargs={"config": {"diceoutcomes": 20}})
    assert log.episodes[0]["status"] == "failed"
    assert re.search(r"pig (at step \d+ cannot be reconstructed|could have led)", log.episodes[0]["error"])
    assert "Error" not in log.episodes[0]["error"]


@pytest.mark.parametrize(
    "task",
    some_of(
        [
            "classic/connect_four_v3",
            "classic/tictactoe_v3",
            "open_spiel/leduc_poker",
            "open_spiel/breakthrough",
        ],
        *("classic/tictactoe_v3", "open_spiel/leduc_poker"),
    ),
)
def test_the_contract_is_kept_in_what_a_seat_is_really_shown(task: str) -> None:
    assert check_worker("openspiel_worker", ["simulations=10"], env=task) == 0


@pytest.mark.parametrize(
    ("task", "settings", "says"),
    [
        ("classic/leduc_holdem_v4", {}, "OpenSpiel is made for classic/tictactoe"),
        ("open_spiel/gin_rummy", {}, "the hidden information of gin_rummy has too many possible deals"),
        (
            "open_spiel/chess",
            {"algorithm": "cfr"},
            r"CFR is for open_spiel/kuhn_poker|made for open_spiel|has no hidden information",
        ),
        ("open_spiel/hex", {"simulations": 0}, "Simulations must be a whole number from 1"),
    ],
)
async def test_what_cannot_be_played_is_refused_before_the_start(
    task: str, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(MosaicError, match=says):
        await games(dict.fromkeys(["player_0", "player_1"], searching(**settings)), task, range(1))
