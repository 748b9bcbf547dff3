"""Operators side by side: same seeds, common steps, one run, and one that breaks disturbs no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted.trust import Origin
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import MOST, OperatorDeck
from tests.ui.conftest import PATIENCE_MS

from .conftest import baseline, person

WAIT = PATIENCE_MS


def ready(deck: OperatorDeck) -> bool:
    return all(
        o.player.alive and o.player.last_view is not None and not o.player.busy for o in deck.operators
    )


def steps(deck: OperatorDeck) -> list[int]:
    return [o.player.last_view.step if o.player.last_view is not None else -1 for o in deck.operators]


def test_an_operator_that_is_added_shows_its_first_frame(deck: OperatorDeck, qtbot: Any):
    operator = deck.add(baseline())
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    assert operator.player.last_view.seed == 42 and operator.player.state is OperatorState.READY
    assert not deck.play.running


def test_a_step_is_a_step_of_the_environment_also_where_a_manager_chooses_first(
    deck: OperatorDeck, qtbot: Any
):
    def who(behavior: str) -> WorkerAssignment:
        return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})

    slots, manager = {"agent_0": who("minigrid_skills")}, {"agent_0": who("minigrid_manager")}
    two = OperatorConfig("two", "", "", "MiniGrid-DoorKey-5x5-v0", slots, manager=manager)
    deck.add(two)
    deck.add(baseline())
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    for step in range(1, 6):
        deck.play.step_all()
        qtbot.waitUntil(lambda n=step: steps(deck) == [n, n], timeout=WAIT)


def test_step_all_waits_until_all_have_stepped(deck: OperatorDeck, qtbot: Any):
    deck.add(baseline("a", "cycle"))
    you = deck.add(person("CartPole-v1"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck)[0] == 1 and you.player.questions != (), timeout=WAIT)
    assert you.player.state is OperatorState.YOUR_MOVE
    deck.play.step_all()  # the person has not moved yet: no operator goes ahead
    qtbot.wait(200)
    assert steps(deck) == [1, 0]
    you.player.answer(you.player.questions[0], 1)
    qtbot.waitUntil(lambda: steps(deck) == [1, 1], timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck)[0] == 2, timeout=WAIT)


def test_lock_step_keeps_all_together_over_many_episodes(deck: OperatorDeck, qtbot: Any):
    short, long = deck.add(baseline("a", max_steps=3)), deck.add(baseline("b", max_steps=7))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    apart: list[int] = []
    taken = {short: 0, long: 0}

    for operator in (short, long):
        operator.stepped.connect(lambda o=operator: taken.__setitem__(o, taken[o] + 1))
        operator.stepped.connect(lambda: apart.append(abs(taken[short] - taken[long])))
    deck.play.set_pace(None, lock_step=True)
    deck.play.run()
    qtbot.waitUntil(
        lambda: len(short.player.tally.episodes_done) >= 4 and len(long.player.tally.episodes_done) >= 2,
        timeout=WAIT,
    )
    assert max(apart) <= 1
    assert short.player.state in (OperatorState.RUNNING, OperatorState.READY, OperatorState.THINKING)
    deck.play.pause()
    assert not deck.play.running


def test_free_running_is_as_fast_as_each_can(deck: OperatorDeck, qtbot: Any):
    fast, you = deck.add(baseline("a")), deck.add(person())
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(
        lambda: len(fast.player.tally.episodes_done) >= 3 and you.player.questions != (), timeout=WAIT
    )
    assert you.player.last_view.step == 0 and you.player.state is OperatorState.YOUR_MOVE


def test_all_meet_the_same_seeds_and_one_run_holds_them(deck: OperatorDeck, qtbot: Any, finish: Any):
    for name in ("a", "b"):
        deck.add(baseline(name, max_steps=5))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.set_pace(None, lock_step=True)
    deck.play.run()
    qtbot.waitUntil(lambda: all(len(o.player.tally.episodes_done) >= 2 for o in deck.operators), timeout=WAIT)
    run = deck.recording
    deck.stop_all()
    qtbot.waitUntil(lambda: not deck.operators.active, timeout=WAIT)
    finish(deck.close())
    assert run is not None and run.folder is not None
    opened = open_run(run.folder)
    assert opened.record.status == "completed"
    seeds = {
        name: [e.seed for e in operator.episodes() if e.status == "completed"][:2]
        for name, operator in opened.operators.items()
    }
    assert seeds == {"a": [42, 43], "b": [42, 43]}


def test_reset_begins_a_new_run_at_the_seed(deck: OperatorDeck, qtbot: Any):
    operator = deck.add(baseline(max_steps=3))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: len(operator.player.tally.episodes_done) >= 2, timeout=WAIT)
    deck.play.pause()
    before = deck.recording
    deck.set_seed(500)
    qtbot.waitUntil(lambda: operator.player.last_view.seed == 500 and not operator.player.busy, timeout=WAIT)
    assert operator.player.last_view.step == 0 and operator.player.tally.episodes_done == []
    assert deck.recording is not before
    with pytest.raises(UsageError):
        deck.set_seed(-1)
    assert deck.seed == 500


def test_there_is_room_for_eight_and_names_stay_apart(deck: OperatorDeck):
    for _ in range(MOST):
        deck.add(baseline(), start=False)
    with pytest.raises(UsageError, match="8 operators"):
        deck.add(baseline(), start=False)
    ids = [o.player.config.operator_id for o in deck.operators]
    assert ids[:3] == ["random", "random_2", "random_3"] and len(set(ids)) == MOST
    assert len({o.player.config.display_name for o in deck.operators}) == MOST


def test_a_removed_operator_comes_back_as_it_stood(deck: OperatorDeck, qtbot: Any):
    deck.add(baseline("a"))
    gone = deck.add(baseline("b"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck) == [1, 1], timeout=WAIT)
    deck.remove("b")
    assert [o.player.config.operator_id for o in deck.operators] == ["a"]
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck) == [2], timeout=WAIT)
    deck.undo_stack.undo()
    assert deck.operators[1] is gone and steps(deck) == [2, 1]
    deck.remove("b")
    deck.operators.forget_removed()
    qtbot.waitUntil(lambda: gone.player.state is OperatorState.CLOSED, timeout=WAIT)
    deck.undo_stack.undo()  # it comes back, and all begin again, to stay comparable
    assert deck.operators[1] is not gone
    qtbot.waitUntil(lambda: ready(deck) and steps(deck) == [0, 0], timeout=WAIT)


def test_a_copy_and_what_is_brought_back_run_on_the_same_host(deck: OperatorDeck):
    there = replace(baseline("there"), host="one")
    deck.add(there, start=False)
    assert deck.duplicate("there").player.config.host == "one"
    deck.change(replace(there, host=""))
    deck.undo_stack.undo()
    assert [operator.player.config.host for operator in deck.operators] == ["one", "one"]
    deck.remove("there")
    deck.undo_stack.undo()
    assert [operator.host for operator in deck.table.operators] == ["one", "one"]


def test_one_on_a_host_that_is_in_no_list_says_what_to_do(
    context: AppContext, finish: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path))
    deck = OperatorDeck(context, seed=4)
    player = deck.add(baseline("there", host="gone")).player
    qtbot.waitUntil(lambda: player.state is OperatorState.BROKEN, timeout=WAIT)
    assert player.trouble == "Unknown host 'gone'. Add it in Settings, Hosts…"
    finish(deck.close())
    deck.deleteLater()


def test_another_player_begins_all_again_but_a_new_name_does_not(deck: OperatorDeck, qtbot: Any):
    one, other = deck.add(baseline("a")), deck.add(baseline("b"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck) == [1, 1], timeout=WAIT)
    deck.change(replace(one.player.config, display_name="Chance"))
    assert one.player.config.display_name == "Chance" and steps(deck) == [1, 1]
    deck.change(replace(other.player.config, workers=baseline(behavior="noop").workers))
    qtbot.waitUntil(lambda: ready(deck) and steps(deck) == [0, 0], timeout=WAIT)
    assert other.player.config.workers["agent_0"].settings["behavior"] == "noop"


def test_one_that_takes_the_place_of_another_of_its_id_runs_when_told_to(deck: OperatorDeck, qtbot: Any):
    deck.add(baseline("a"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.replace([baseline("a", "noop")], run=True)
    qtbot.waitUntil(
        lambda: bool(deck.operators[0].player.tally.episodes_done) or not deck.play.running, timeout=WAIT
    )
    assert deck.play.running


def test_step_player_moves_one_agent_of_one_operator(deck: OperatorDeck, qtbot: Any):
    players = dict.fromkeys(("player_1", "player_2"), baseline().workers["agent_0"])
    game = deck.add(OperatorConfig("ttt", "", "", "classic/tictactoe_v3", players))
    other = deck.add(baseline())
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.step_player("ttt")
    qtbot.waitUntil(lambda: game.player.last_view.step == 1, timeout=WAIT)
    assert game.player.last_view.turn == ("player_2",) and other.player.last_view.step == 0


def played(deck: OperatorDeck) -> list[int]:
    return [operator.player.feed.played for operator in deck.operators]


def test_those_with_fewer_episodes_play_the_missing_ones_of_the_same_seeds(deck: OperatorDeck, qtbot: Any):
    deck.play.set_pace(None, lock_step=True)
    deck.add(baseline("short", "random"))
    deck.add(baseline("long", "cycle"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    assert deck.play.catch_up.lacking() == 0
    deck.play.run()
    qtbot.waitUntil(lambda: deck.play.catch_up.lacking() >= 2, timeout=WAIT)
    deck.play.pause()
    qtbot.waitUntil(lambda: not any(o.player.stepping for o in deck.operators), timeout=WAIT)
    short = max(played(deck))
    assert deck.play.catch_up.lacking() == short - min(played(deck)) >= 2
    deck.play.even_out()
    assert deck.play.catch_up.target == short and not deck.play.running
    qtbot.waitUntil(lambda: deck.play.catch_up.target == 0, timeout=WAIT)
    assert played(deck) == [short, short] and deck.play.catch_up.lacking() == 0
    rows = [operator.player.tally.episodes_done for operator in deck.operators]
    assert [row["seed"] for row in rows[0]] == [row["seed"] for row in rows[1]] == [*range(42, 42 + short)]
    deck.play.run()  # both go on after that
    qtbot.waitUntil(lambda: all(n > short for n in played(deck)), timeout=WAIT)
    deck.play.pause()
    qtbot.waitUntil(lambda: not any(o.player.stepping for o in deck.operators), timeout=WAIT)
    if deck.play.catch_up.lacking():  # given up again in the middle
        deck.play.even_out()
        deck.play.catch_up.end()
        assert deck.play.catch_up.target == 0 and all(o.player.paused for o in deck.operators)


def typed(behavior: str, name: str, operator_id: str = "random") -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(operator_id, name, "", "CartPole-v1", {"agent_0": player}, named=False)


def ids(deck: OperatorDeck) -> list[str]:
    return [operator.player.config.operator_id for operator in deck.operators]


def recorded(deck: OperatorDeck) -> list[str]:
    assert deck.recording is not None
    return [operator.operator_id for operator in deck.recording.operators]


def test_an_id_follows_who_plays_and_so_does_undo(deck: OperatorDeck, qtbot: Any):
    one, _ = deck.add(typed("random", "Random")), deck.add(typed("noop", "Does nothing", "noop"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.change(typed("cycle", "Cycles through actions"))
    assert ids(deck) == ["cycles_through_actions", "noop"] == recorded(deck)
    assert deck.operators[0] is one and deck.operators.find("random") is one
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.undo_stack.undo()
    assert ids(deck) == ["random", "noop"] == recorded(deck) and deck.operators[0] is one
    deck.undo_stack.redo()
    assert ids(deck) == ["cycles_through_actions", "noop"] == recorded(deck)
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)


def test_episodes_are_recorded_under_the_id_of_who_played_them(deck: OperatorDeck, qtbot: Any):
    operator = deck.add(typed("random", "Random"))
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: len(operator.player.tally.episodes_done) >= 2, timeout=WAIT)
    first = deck.recording
    deck.change(typed("cycle", "Cycles through actions"))
    second = deck.recording
    assert first is not None and second is not None and first is not second
    qtbot.waitUntil(lambda: bool(first.folder and second.folder) and second.saved >= 1, timeout=WAIT)
    assert list(open_run(first.folder).operators) == ["random"]
    played = open_run(second.folder).operators
    assert list(played) == ["cycles_through_actions"]
    assert all(e.operator_id == "cycles_through_actions" for e in played["cycles_through_actions"].episodes())


def test_an_id_of_a_file_stays(deck: OperatorDeck):
    mine = replace(typed("random", "Random"), origin=Origin("/tmp/x.yaml", "/tmp"))
    deck.add(mine, start=False)
    deck.change(replace(typed("cycle", "Cycles through actions"), origin=mine.origin))
    assert ids(deck) == ["random"]


def test_a_new_name_alone_changes_no_id(deck: OperatorDeck):
    deck.add(typed("random", "Random"), start=False)
    deck.change(replace(typed("random", "Baseline"), named=True))
    assert ids(deck) == ["random"]
    deck.change(replace(typed("cycle", "Baseline"), named=True))
    assert ids(deck) == ["baseline"]


def test_one_that_was_written_without_an_id_is_called_by_who_plays(deck: OperatorDeck):
    deck.add(typed("cycle", "Cycles through actions", "operator"), start=False)
    assert ids(deck) == ["cycles_through_actions"]


def test_after_a_change_in_play_the_next_run_has_an_id_of_its_own(deck: OperatorDeck, qtbot: Any):
    operator = deck.add(typed("random", "Random"))
    qtbot.waitUntil(lambda: ready(deck), timeout=WAIT)
    deck.play.step_all()
    qtbot.waitUntil(lambda: steps(deck) == [1], timeout=WAIT)
    cycle = WorkerAssignment("operators_worker", "baseline", {"behavior": "cycle"})
    done = operator.player.rebind("agent_0", cycle, "Cycles through actions")
    qtbot.waitUntil(done.done, timeout=WAIT)
    assert ids(deck) == ["random"] == recorded(deck)
    deck.reset_all()
    assert ids(deck) == ["cycles_through_actions"] == recorded(deck)
    qtbot.waitUntil(lambda: ready(deck) and steps(deck) == [0], timeout=WAIT)
