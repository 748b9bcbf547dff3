"""Failures 4, 6, 7 and 8 of the peer: what one operator, agent or policy does is its own affair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.enums import ActionSource
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.little_workers import little_worker
from tests.support.processes import Offspring
from tests.support.runs import MosaicRun, Recorded, operator, played_here, slot

DONE = "completed"


@pytest.fixture
def own_workers() -> Iterator[None]:
    """Workers of the test's own data folder are found in this process, too, and forgotten."""
    with WorkerTypeRegistry.isolated():
        yield


def plan(*operators: dict[str, Any], episodes: int = 4, **more: Any) -> dict[str, Any]:
    return {"operators": list(operators), "execution": {"num_episodes": episodes, "seeds": 20, **more}}


# -- 4: the first operator to finish an episode resets the other ----------------------------


async def test_operators_do_not_touch_each_other(tmp_path: Path):
    """Beside another, an operator plays to the step what it plays alone."""
    long = operator("long", task="MiniGrid-Empty-8x8-v0", env_name="minigrid")
    short = operator("short", max_steps=3)
    together = await played_here(tmp_path / "together", plan(long, short, episodes=6), processes=2)
    single = await played_here(tmp_path / "alone", plan(long, episodes=6))

    def essence(run: Recorded) -> list[tuple[Any, ...]]:
        rows = [(s.episode_index, s.step_index, s.action, s.reward, s.state_sha) for s in run.steps("long")]
        return sorted(rows, key=lambda row: row[:2])

    assert essence(together) == essence(single)
    assert {e.length for e in together.episodes("short").values()} == {3}


# -- 6: a policy that fails is silently replaced by random actions ---------------------------

FAILING = """
from mosaic_worker import Invalid, Worker

class Main(Worker):
    def select_actions(self, batch):
        how = batch.slot.settings["how"]
        if how == "raise" and 2 in list(batch.steps):
            raise RuntimeError("the weights are gone")
        if how == "illegal":
            return [99 if s == 2 else 0 for s in batch.steps]
        if how == "unreadable":
            return [Invalid("no action in 'I would go north'", "I would go north") for _ in batch.ids]
        if how == "listens":
            return [0 if a else Invalid("say a number") for a in (batch.attempts or [0] * len(batch))]
        return [0] * len(batch)
"""


@pytest.fixture
def failing(tmp_path: Path, own_workers: None) -> None:
    little_worker(tmp_path / "data/workers", FAILING, "failing_worker")


def player(how: str, **more: Any) -> dict[str, Any]:
    return slot("baseline", worker_id="failing_worker", settings={"how": how}, **more)


@pytest.mark.usefixtures("failing")
def test_a_policy_that_fails_or_says_nothing_usable_fails_visibly(tmp_path: Path, offspring: Offspring):
    run = MosaicRun(
        tmp_path,
        offspring,
        plan(
            operator("raises", player("raise")),
            operator("illegal", player("illegal")),
            operator("well", player("well")),
            # -- 8: a parser that turns every reply into action 0
            operator("poet", player("unreadable", on_invalid={"retry": 2, "then": "error"})),
            concurrency=2,
        ),
    )
    assert run.wait(tracebacks=True) == 1
    assert run.statuses("well") == [DONE] * 4
    for name, reason in (
        ("raises", "agent_0: RuntimeError: the weights are gone"),
        ("illegal", "agent_0: unusable action at step 2: "),
    ):
        assert run.statuses(name) == ["failed"] * 4
        for episode in run.episodes(name).values():
            assert (episode.error or "").startswith(reason)
            assert episode.length == 2 and episode.outcome is None
        # Nothing was made up: the two actions it chose are all there is.
        assert Counter((s.action, s.action_source) for s in run.steps(name)) == {(0, ActionSource.POLICY): 8}
    assert {k: e.invalid_actions["agent_0"] for k, e in run.episodes("illegal").items()} == dict.fromkeys(
        range(4), 1
    )
    assert run.steps("poet") == [], "a reply without an action is no action"
    assert run.statuses("poet") == ["failed"] * 4
    for episode in run.episodes("poet").values():
        assert episode.error == "agent_0: unusable action at step 0: no action in 'I would go north'"
        assert episode.invalid_actions["agent_0"] == 3, "asked three times"


@pytest.mark.usefixtures("failing")
async def test_substitutes_are_asked_for_counted_and_named(tmp_path: Path):
    run = await played_here(
        tmp_path,
        plan(
            operator("random", player("illegal", on_invalid="random_legal"), max_steps=6),
            operator("retry", player("listens", on_invalid={"retry": 2, "then": "error"}), max_steps=3),
        ),
    )
    assert run.statuses("random") == run.statuses("retry") == [DONE] * 4
    for row in run.steps("random"):
        replaced = row.step_index == 2
        assert row.action_source == (ActionSource.RANDOM_LEGAL if replaced else ActionSource.POLICY)
    assert {e.invalid_actions["agent_0"] for e in run.episodes("random").values()} == {1}
    assert {(s.action, s.action_source) for s in run.steps("retry")} == {(0, ActionSource.RETRY)}
    assert {e.invalid_actions["agent_0"] for e in run.episodes("retry").values()} == {3}


# -- 7: adapters, bindings, hierarchy and link groups that nothing calls --------------------


@pytest.mark.usefixtures("own_workers")
async def test_each_agent_is_played_by_who_is_bound_to_it(tmp_path: Path):
    """A parallel game of two: one repeats a move, the other does nothing but rock."""
    code = (
        "from mosaic_worker import Worker\n"
        "class Main(Worker):\n"
        "    def select_actions(self, batch):\n"
        "        return [batch.slot.settings['move']] * len(batch)\n"
    )
    little_worker(tmp_path / "data/workers", code, "mover_worker")
    players = {
        agent: slot("baseline", worker_id="mover_worker", settings={"move": move})["agent"]
        for agent, move in (("player_0", 1), ("player_1", 2))
    }
    game = operator("game", players, task="rps_v2", env_name="pettingzoo", api="parallel")
    run = await played_here(tmp_path, plan(game))
    played = {(s.agent_id, s.action) for s in run.steps("game")}
    assert played == {("player_0", 1), ("player_1", 2)}
    for episode in run.episodes("game").values():
        assert episode.returns == {"player_0": -episode.length, "player_1": episode.length}


@pytest.mark.usefixtures("own_workers")
async def test_a_link_group_is_one_process(tmp_path: Path):
    code = (
        "import os\nfrom mosaic_worker import Worker\n"
        "class Main(Worker):\n"
        "    def load(self, slot):\n        return f'process {os.getpid()}'\n"
        "    def select_actions(self, batch):\n        return [0] * len(batch)\n"
    )
    little_worker(tmp_path / "data/workers", code, "joint_worker")
    agents = [f"agent_{k}" for k in range(3)]
    one = slot("baseline", worker_id="joint_worker")["agent"]
    team = operator("team", dict.fromkeys(agents, one), task="simple_spread_v3", env_name="mpe2")
    (tmp_path / "policy.bin").write_bytes(b"weights")
    group = {
        "group_id": "blue",
        "primary_agent": agents[0],
        "linked_agents": agents[1:2],
        "type": "baseline",
        "policy_path": str(tmp_path / "policy.bin"),
    }
    run = await played_here(tmp_path, plan({**team, "link_groups": [group]}, max_steps=2))
    policies = {agent: player.policy for agent, player in run.episodes("team")[0].agents.items()}
    assert policies["agent_0"] == policies["agent_1"] != policies["agent_2"]


async def test_manager_and_controller_are_both_asked_and_recorded(tmp_path: Path):
    manager = {"manager": {"agent": {"type": "baseline"}}}
    pair = operator("pair", task="MiniGrid-Empty-8x8-v0", env_name="minigrid", **manager)
    run = await played_here(tmp_path, plan(pair, episodes=2))
    rows = Counter(s.agent_id for s in run.steps("pair"))
    assert set(rows) == {"agent_0", "agent_0/goal"} and 0 < rows["agent_0/goal"] < rows["agent_0"]
