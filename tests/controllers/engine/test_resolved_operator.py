"""An operator is checked before anything is started, and everybody gets the seat that is theirs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.controllers.engine.bound_operator import IN_PROCESS, noop_of, read_slots, seatings
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, make_environment, resolve_operator
from gym_gui.controllers.engine.session_interface import default_concurrency
from gym_gui.controllers.sessions.bind_workers import process_groups
from gym_gui.core.config import LinkGroup, OperatorConfig
from gym_gui.core.errors import ExperimentError, UnknownNameError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.backends import SlotInfo
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import parse_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.engine import arena, bind_operator, play, play_task, player
from tests.support.policies import PPO

RANDOM = WorkerAssignment(worker_type="random")


def operator(task: str = "CartPole-v1", workers: Any = None, **config: Any) -> OperatorConfig:
    return OperatorConfig("op", "", "", task, {"agent": RANDOM} if workers is None else workers, **config)


# -- checks ------------------------------------------------------------------------------


def test_a_sound_operator_is_cast() -> None:
    resolved = resolve_operator(operator())
    assert resolved.env_id == "CartPole-v1" and resolved.env_package == "gymnasium"
    assert resolved.workers["agent_0"].type_id == "operators_worker"
    assert resolved.worker_type("agent_0") == "baseline"
    assert resolved.observation_bytes == 16 and list(resolved.seatings) == [{"agent_0": "agent_0"}]


def test_seats_have_the_names_of_their_game() -> None:
    players = {"player_0": RANDOM, "player_1": RANDOM}
    assert resolve_operator(operator("connect_four_v3", players)).seat_names == {
        "player_0": "Red",
        "player_1": "Yellow",
    }
    assert resolve_operator(operator()).seat_names == {}


@pytest.mark.parametrize(
    ("config", "kind", "words"),
    [
        (lambda: operator("CartPole-v7"), UnknownNameError, "Did you mean 'CartPole-v1'?"),
        (lambda: operator(workers={"agent_7": RANDOM}), UnknownNameError, "Did you mean 'agent_0'?"),
        (lambda: operator("rps_v2", {"player_0": RANDOM}), ExperimentError, "no worker plays player_1"),
        (
            lambda: operator("rps_v2", {"player_0": RANDOM, "player_2": RANDOM}),
            UnknownNameError,
            "unknown agent 'player_2'. Did you mean 'player_1'?",
        ),
        (
            lambda: operator(workers={"agent": WorkerAssignment("nobody_worker", "rl")}),
            UnknownNameError,
            "nobody_worker",
        ),
        (
            lambda: operator(arena("Speech"), {"agent": WorkerAssignment("cleanrl_worker", "rl")}),
            ExperimentError,
            "cleanrl_worker cannot play agent_0",
        ),
        (lambda: operator(seats="swap"), ExperimentError, "seats cannot be swapped: there is one agent"),
        (lambda: operator(env_kwargs={"color": "red"}), UsageError, "CartPole-v1 could not be made"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_started(
    config: Any, kind: type[UsageError], words: str
) -> None:
    with pytest.raises(kind) as caught:
        resolve_operator(config())
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_objects_fill_what_the_configuration_leaves_out() -> None:
    resolved = resolve_operator(operator("rps_v2", {"player_0": RANDOM}), {"player_1": player()})
    assert set(resolved.workers) == {"player_0"} and set(resolved.objects) == {"player_1"}
    with pytest.raises(UnknownNameError):
        resolve_operator(operator("rps_v2", {"player_0": RANDOM}), {"player_9": player()})


def test_slots_of_a_link_group_share_a_process(tmp_path: Path) -> None:
    linked = LinkGroup(
        primary_agent="player_0",
        linked_agents=["player_1"],
        policy_path=str(tmp_path),
        worker_type="baseline",
    )
    sole = WorkerAssignment("sole_worker", "baseline")
    manifest = 'id = "sole_worker"\nkind = "baseline"\n[launch]\ncommand = ["true"]\n'
    manifest += 'carrier = "jsonl"\n[capabilities]\nobservation_spaces = ["any"]\n'
    with WorkerTypeRegistry.isolated() as registry:
        discover(registry)
        registry.register(parse_manifest(manifest, tmp_path / "worker.toml"))
        resolved = resolve_operator(operator("rps_v2", {"player_0": sole}, link_groups=[linked]))
    assert process_groups(resolved) == [["player_0", "player_1"]]
    apart = resolve_operator(operator("rps_v2", {"player_0": RANDOM, "player_1": RANDOM}))
    assert process_groups(apart) == [["player_0"], ["player_1"]]


def test_slots_of_one_team_share_a_process_where_that_is_asked_for() -> None:
    def groups(task: str, workers: dict[str, WorkerAssignment], isolation: str = "worker") -> Any:
        return process_groups(resolve_operator(operator(task, workers, isolation=isolation)))

    three = [f"agent_{i}" for i in range(3)]
    everyone = dict.fromkeys(three, RANDOM)
    assert groups("mpe2/simple_spread_v3", everyone) == [three]
    assert groups("mpe2/simple_spread_v3", everyone, "slot") == [[agent] for agent in three]
    on_a_gpu = WorkerAssignment("operators_worker", "baseline", {"behavior": "random", "gpu": 0})
    assert groups("mpe2/simple_spread_v3", {**everyone, "agent_1": on_a_gpu}) == [
        [three[0], three[2]],
        [three[1]],
    ]
    person = WorkerAssignment("human_worker", "human")
    assert groups("mpe2/simple_spread_v3", dict.fromkeys(three, person)) == [[agent] for agent in three]
    opponents = {"player_0": RANDOM, "player_1": RANDOM}
    assert groups("rps_v2", opponents) == [["player_0"], ["player_1"]]


@pytest.mark.parametrize("task", ["CartPole-v1", "MiniGrid-Empty-5x5-v0"])
def test_a_checkpoint_that_is_not_there_is_missed_before_anything_starts(tmp_path: Path, task: str) -> None:
    """Not blamed on spaces, which a policy's own preprocessing may change."""
    slot = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(tmp_path / "gone")})
    with pytest.raises(ExperimentError, match=r"gone of agent_0 does not exist\. Train one"):
        resolve_operator(operator(task, {"agent": slot}))


def test_a_manager_adds_its_slot() -> None:
    resolved = resolve_operator(operator("MiniGrid-Empty-5x5-v0", manager={"agent_0": RANDOM}))
    assert list(resolved.slots) == ["agent_0", "agent_0/goal"]
    environment = resolved.make_environment()
    assert environment.adapter.possible_agents == ("agent_0", "agent_0/goal")
    environment.close()


def test_concurrency_goes_by_the_size_of_what_is_seen() -> None:
    small = resolve_operator(operator())
    assert [default_concurrency(small, n) for n in (0, 1, 12, 1000)] == [1, 1, 12, 64]
    big = ResolvedOperator(small.config, small.slots, small.seatings, {}, {}, "", "", 16_385)
    assert default_concurrency(big, 1000) == 8


# -- seats -------------------------------------------------------------------------------


def named(*agents: str, action_space: Any = None) -> dict[str, SlotInfo]:
    observation_space = spaces.Box(0, 1, (1,))
    return {agent: SlotInfo(agent, observation_space, action_space or spaces.Discrete(2)) for agent in agents}


def test_seats_as_configured() -> None:
    slots = named("a", "b")
    assert seatings({"x": ["a"], "y": ["b"]}, slots, swap=False) == [{"a": "a", "b": "b"}]


def test_teams_change_places_whole() -> None:
    teams = {"green": ["g0", "g1"], "blue": ["b0", "b1"]}
    first, second = seatings(teams, named("g0", "g1", "b0", "b1"), swap=True)
    assert first == {a: a for a in ("g0", "g1", "b0", "b1")}
    assert second == {"g0": "b0", "g1": "b1", "b0": "g0", "b1": "g1"}


def test_three_teams_go_round() -> None:
    teams = {name: [name] for name in "abc"}
    turns = seatings(teams, named(*"abc"), swap=True)
    assert len(turns) == 3
    for seat in "abc":
        assert Counter(turn[seat] for turn in turns) == dict.fromkeys("abc", 1)


def test_agents_of_one_team_go_round() -> None:
    turns = seatings({"all": ["a", "b", "c"]}, named(*"abc"), swap=True)
    assert [[turn[seat] for seat in "abc"] for turn in turns] == [list("abc"), list("bca"), list("cab")]


@pytest.mark.parametrize(
    ("teams", "slots", "words"),
    [
        ({"all": ["a"]}, named("a"), "there is one agent"),
        ({"x": ["a"], "y": ["b", "c"]}, named("a", "b", "c"), "the teams differ in size"),
        (
            {"x": ["a"], "y": ["b"]},
            {**named("a"), **named("b", action_space=spaces.Discrete(3))},
            "a and b have different spaces",
        ),
    ],
)
def test_seats_that_cannot_be_swapped_are_refused(teams: Any, slots: Any, words: str) -> None:
    with pytest.raises(ExperimentError, match=words) as caught:
        seatings(teams, slots, swap=True)
    assert caught.value.fix == "Use seats: fixed"


async def test_a_policy_follows_its_slot_and_is_told_its_seat() -> None:
    made = {f"player_{i}": player(lambda s, i=i: i) for i in (0, 1)}  # rock, paper
    bound = await bind_operator("rps_v2", made, seats="swap", api="parallel")
    sheet = await play(bound, (7, 8), max_steps=6)
    assert [sheet.episodes[i]["seed"] for i in range(4)] == [7, 7, 8, 8]
    for index in range(4):
        swapped = index % 2
        episode = sheet.episodes[index]
        slots = {seat: record["slot"] for seat, record in episode["agents"].items()}
        assert slots == {f"player_{i}": f"player_{i ^ swapped}" for i in (0, 1)}
        for i in (0, 1):
            assert set(sheet.column(index, "action", f"player_{i}")) == {i ^ swapped}
        winner, loser = f"player_{1 ^ swapped}", f"player_{swapped}"  # paper wins in either seat
        assert episode["returns"][winner] > 0 > episode["returns"][loser]
    seats = [(p.context.agent_id, p.asked[0].agent_id) for p in made["player_0"].made]
    assert seats == [("player_0", "player_0"), ("player_1", "player_1")] * 2


async def test_luck_belongs_to_the_seat() -> None:
    """Policy seeds go with the agent played, so that swapped players meet the same luck."""
    made = {f"player_{i}": player() for i in (0, 1)}
    await play(await bind_operator("rps_v2", made, seats="swap", api="parallel"), (7,), max_steps=3)
    first, second = made["player_0"].made, made["player_1"].made
    assert first[0].context.agent_id == second[1].context.agent_id == "player_0"
    assert first[0].context.seed != first[1].context.seed


# -- the engine's no-op ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action_space", "own", "mask", "expected"),
    [
        (spaces.Discrete(4), None, None, 0),
        (spaces.Discrete(4), 3, None, 3),
        (spaces.Discrete(4), 3, [0, 1, 1, 0], 1),
        (spaces.Discrete(4, start=10), None, [0, 0, 1, 1], 12),
        (spaces.Discrete(4), 3, [0, 0, 0, 0], 3),
        (spaces.MultiDiscrete([2, 3]), None, None, [0, 0]),
    ],
)
def test_noop_is_the_environments_own_where_that_is_legal(
    action_space: Any, own: Any, mask: Any, expected: Any
) -> None:
    slot = SlotInfo("a", spaces.Box(0, 1, (1,)), action_space, own)
    found = noop_of(slot, None if mask is None else np.array(mask, np.int8))
    np.testing.assert_array_equal(found, expected)


def test_slots_are_read_from_the_environment() -> None:
    environment = make_environment(operator("MiniGrid-Empty-5x5-v0"))
    (slot,) = read_slots(environment).values()
    assert slot.noop_action == 6 and slot.action_meanings[2] == "forward"
    environment.close()


async def test_who_plays_is_recorded() -> None:
    def careful(observation: Any) -> int:
        return 0

    class Named:
        id, name = "named", "The Named One"

        def select_action(self, observation: Any, legal_actions: Any = None) -> int:
            return 0

        def reset(self, seed: Any = None) -> None: ...

        def on_step_result(self, *told: Any) -> None: ...

    for policy, shown in ((careful, "careful"), (Named, "The Named One"), (Named(), "The Named One")):
        sheet = await play_task(arena("Corridor"), {"agent_0": policy})
        record = sheet.episodes[0]["agents"]["agent_0"]
        assert record == {
            "worker_id": IN_PROCESS,
            "worker_type": "baseline",
            "policy": shown,
            "slot": "agent_0",
        }


@pytest.mark.parametrize(
    ("task", "action_space", "words"),
    [
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", None, "agent_0, which is to do nothing, plays 0 (left)"),
        ("CartPole-v1", None, "agent_0, which is to do nothing, plays 0 (left)"),
        ("MiniGrid-Empty-5x5-v0", 6, ""),
    ],
)
def test_where_no_action_does_nothing_that_is_said_before_the_start(
    task: str, action_space: Any, words: str
) -> None:
    resolved = resolve_operator(operator(task, {"agent": WorkerAssignment(worker_type="passive")}))
    slot = resolved.slots["agent_0"]
    assert slot.noop_action == action_space and len(slot.action_meanings) <= slot.action_space.n
    assert "; ".join(resolved.notes).endswith(words) and bool(resolved.notes) == bool(words)
    late = WorkerAssignment(worker_type="random", on_invalid="noop")
    assert bool(resolve_operator(operator(task, {"agent": late})).notes) == bool(words)
    assert not resolve_operator(operator(task)).notes


def test_who_is_told_rewards_that_betray_something_is_named_before_the_start() -> None:
    settings = {"client_name": "ollama", "model_id": "m"}
    model = WorkerAssignment(worker_type="llm", settings=settings)
    told = WorkerAssignment(worker_type="llm", settings={**settings, "tell_rewards": "always"})
    resolved = resolve_operator(operator("leduc_holdem_v4", {"player_0": told, "player_1": model}))
    assert resolved.notes == [
        "player_0 receives rewards (tell_rewards: always), which reveal what its seat may not know"
    ]
    assert not resolve_operator(operator("tictactoe_v3", {"player_1": told, "player_2": told})).notes


def test_a_policy_that_was_trained_in_another_environment_is_named_before_the_start(tmp_path: Path) -> None:
    shutil.copytree(PPO, tmp_path / "copy")
    description = tmp_path / "copy" / "policy.json"
    for trained_in, noted in (("CartPole-v1", False), ("Skills/CartPole-v1", False), ("Acrobot-v1", True)):
        description.write_text(json.dumps({**json.loads(description.read_text()), "env_id": trained_in}))
        player = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(tmp_path / "copy")})
        notes = resolve_operator(operator("CartPole-v1", {"agent": player})).notes
        sentence = "agent_0 plays CartPole-v1 by a policy that was trained in Acrobot-v1"
        assert notes == ([sentence] if noted else [])


def test_a_policy_of_the_library_that_was_written_as_a_path_is_told_its_name(tmp_path: Path) -> None:
    for written in ("ppo_cartpole", str(tmp_path / "ppo_cartpole")):
        slot = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": written})
        with pytest.raises(ExperimentError, match=r"does not exist\. .* write library:ppo_cartpole"):
            resolve_operator(operator("CartPole-v1", {"agent": slot}))


@pytest.mark.parametrize(("max_steps", "told"), [(7, True), (500, False), (None, False)])
def test_who_reads_is_told_where_games_are_cut_off(max_steps: int | None, told: bool) -> None:
    reads = WorkerAssignment("mosaic_llm_worker", "llm", {"model_id": "any", "api_key": "env:NO_SUCH_KEY"})
    resolved = replace(resolve_operator(operator(workers={"agent": reads})), max_steps=max_steps)
    briefing = resolved.team_context("agent_0").briefing
    assert ("Here a game ends after 7 steps at the latest." in briefing) is told
    assert briefing.count("at the latest") == 1, "one limit, be it the environment's or the run's"
