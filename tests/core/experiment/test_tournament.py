"""What a tournament file may say, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.core.experiment.tournament import tournament_from_data
from gym_gui.core.experiment.tournament_pool import BySlot
from gym_gui.core.validation import ConfigError

RANDOM = {"type": "random"}
POOL = {"a": RANDOM, "b": {"type": "baseline", "behavior": "cycle"}, "c": RANDOM}


def _data(**changes: Any) -> dict[str, Any]:
    return {"task": "tictactoe_v3", "policies": POOL, **changes}


def test_seeds_are_played_from_every_seat() -> None:
    found = tournament_from_data(_data(execution={"seeds": "range(5, 9)"})).executed(2)
    assert (found.num_episodes, found.seeds) == (8, (5, 6, 7, 8))
    found = tournament_from_data(_data(execution={"num_episodes": 6, "seeds": 3})).executed(3)
    assert (found.num_episodes, found.seeds) == (6, (3, 4))
    assert len(tournament_from_data(_data()).executed(2).seeds) == 20


@pytest.mark.parametrize("schedule", ["round_robin", "swiss", {"swiss": 2}, [["a", "b"], ["b", "c"]]])
def test_it_reads_back_what_it_records(schedule: Any) -> None:
    found = tournament_from_data(_data(schedule=schedule, execution={"seeds": [4, 2]}, max_steps=9))
    again = tournament_from_data(found.to_record())
    assert again == found
    assert again.executed(2) == found.executed(2)


def test_a_policy_may_be_another_one_in_each_slot() -> None:
    pair = {"slots": {"speaker_0": RANDOM, "listener_0": {"type": "baseline", "behavior": "cycle"}}}
    found = tournament_from_data(_data(policies={"pair": pair, "random": RANDOM}))
    assert tournament_from_data(found.to_record()) == found
    player = found.policies["pair"]
    assert isinstance(player, BySlot) and list(player.slots) == ["speaker_0", "listener_0"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (_data(policies={"a": RANDOM}), "policies: a tournament needs at least two policies, 1 is named"),
        (_data(policies={}), "at least two policies, 0 is named"),
        (_data(policies={"a": RANDOM, "A": RANDOM}), "policies.A: differs from 'a' only in case"),
        (
            _data(policies={"a": RANDOM, "x_vs_y": RANDOM}),
            "policies.x_vs_y: 'x_vs_y' is not a valid policy name",
        ),
        (_data(policies={"a": RANDOM, "b/c": RANDOM}), "contains /"),
        (_data(policies={"a": RANDOM, "b": "random"}), "policies.b: must name a player, not 'random'"),
        (_data(policies={"a": RANDOM, "b": {"type": "rondom"}}), "policies.b.type: unknown type 'rondom'"),
        (_data(policies={"a": RANDOM, "b": {"polcy_path": "x"}}), "Did you mean 'policy_path'?"),
        (_data(policies={"a": RANDOM, "b": {"slots": {}}}), "policies.b.slots: names no slot"),
        (
            _data(policies={"a": RANDOM, "b": {"slots": {"x": "random"}}}),
            "policies.b.slots.x: must name a player, not 'random'",
        ),
        (
            _data(policies={"a": RANDOM, "b": {"slots": {"x": RANDOM}, "type": "random"}}),
            "policies.b.type: unknown key. Known: slots",
        ),
        (_data(schedule="round-robin"), "schedule: unknown value 'round-robin'. Did you mean 'round_robin'?"),
        (_data(schedule={"swiss": 4}), "3 policies have met each other after 3 rounds, 4 are requested"),
        (_data(schedule=[["a", "z"]]), "schedule[0]: no policy is called 'z'"),
        (_data(schedule=[["a", "a"]]), "schedule[0]: must name two or more different policies"),
        (_data(schedule=[["a", "b"], ["b", "a"]]), "schedule[1]: is listed twice"),
        (_data(schedule=[]), "schedule: names no game"),
        (_data(execution={"seeds": [1, 1]}), "1 is listed 2 times"),
        (_data(execution={"environment_mode": "fixed"}), "a single repeated seed"),
        (
            _data(execution={"until": "decided"}),
            "'decided' compares operators of an experiment; a tournament",
        ),
        (_data(policy=RANDOM), "policy: unknown key. Did you mean 'policies'?"),
        ({"policies": POOL}, "'task' is missing"),
        ({"task": "tictactoe_v3"}, "'policies' is missing"),
        ([], "must be a mapping"),
    ],
)
def test_what_is_refused(data: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        tournament_from_data(data)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_games_that_cannot_be_shared_out_over_the_seats() -> None:
    found = tournament_from_data(_data(execution={"num_episodes": 7, "seeds": 0}))
    with pytest.raises(ConfigError, match=r"7 games cannot be shared out over 2 seatings. Request 8"):
        found.executed(2)
