"""Run records: what is demanded, what is tolerated, what errors say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.enums import ActionSource, EpisodeStatus, Outcome
from gym_gui.core.errors import RunFormatError
from gym_gui.core.records import RetryRecord, TokenCount, parse_episode, parse_run, parse_step

EPISODE: dict[str, Any] = {
    "operator_id": "soccer",
    "episode_index": 3,
    "seed": 503,
    "status": "completed",
    "length": 256,
    "total_reward": 0.0,
    "returns": {"green_0": 2.0, "blue_0": -2.0},
    "teams": {
        "green": {"agents": ["green_0"], "return": 2.0, "score": 3},
        "blue": {"agents": ["blue_0"], "return": -2.0, "score": 1},
    },
    "outcome": {"green": "win", "blue": "loss"},
    "success": None,
    "terminated": False,
    "truncated": True,
    "agents": {
        "green_0": {
            "worker_id": "w",
            "worker_type": "rl",
            "policy": "p",
            "slot": "blue_0",
            "checkpoint": "c",
        },
        "blue_0": {"worker_id": "v", "worker_type": "llm", "policy": None},
    },
    "invalid_actions": {"green_0": 0, "blue_0": 4},
    "tokens": {"blue_0": {"input": 10, "output": 2}},
    "error": None,
    "started_at": "2026-11-20T12:00:00+00:00",
    "wall_s": 1.5,
    "trajectory_sha256": "ab",
    "novelty": [1],
}
STEP: dict[str, Any] = {
    "episode_index": 3,
    "step_index": 7,
    "seed": 503,
    "agent_id": "blue_0",
    "action": [1, 2.5],
    "reward": -1,
    "terminated": False,
    "truncated": True,
    "action_source": "random_legal",
    "state_sha": "cd",
    "latency_ms": 0.5,
    "value": 0.25,
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"status": "failed", "error": "w: worker v failed", "lost": "worker"},
        {"limit": "blue_0: 300 tokens"},
        {"status": "aborted", "unplayed": True},
        {
            "rebound": [
                {
                    "step_index": 4,
                    "agent_id": "blue_0",
                    "worker_id": "u",
                    "worker_type": "human",
                    "policy": None,
                }
            ]
        },
    ],
)
def test_an_episode_is_written_as_it_is_read(more: dict[str, Any]):
    record = parse_episode({**EPISODE, **more}, "here")
    row = record.to_row()
    assert parse_episode(json.loads(json.dumps(row)), "there") == record
    assert row == {**EPISODE, **more, "agents": row["agents"]}, "unknown keys and all"
    assert row["agents"]["green_0"] == EPISODE["agents"]["green_0"]


def test_an_episode_row_is_read_completely() -> None:
    episode = parse_episode(EPISODE, "f:1")
    assert episode.status is EpisodeStatus.COMPLETED
    assert episode.teams["green"].return_ == 2.0
    assert episode.teams["green"].score == 3.0
    assert episode.outcome == {"green": Outcome.WIN, "blue": Outcome.LOSS}
    assert episode.agents["green_0"].slot == "blue_0"
    assert episode.agents["green_0"].extra == {"checkpoint": "c"}
    assert episode.agents["blue_0"].slot == "blue_0", "a seat without a slot is its own"
    assert episode.tokens == {"blue_0": TokenCount(10, 2)}
    assert episode.truncated and not episode.terminated
    assert episode.extra == {"novelty": [1]}


def test_parsing_leaves_the_row_alone() -> None:
    row = json.loads(json.dumps(EPISODE))
    parse_episode(row, "f:1")
    assert row == EPISODE


def test_a_step_row_is_read_completely() -> None:
    step = parse_step(STEP, "f:1")
    assert step.action == [1, 2.5]
    assert step.action_source is ActionSource.RANDOM_LEGAL
    assert (step.reward, step.value, step.tokens, step.option) == (-1.0, 0.25, None, None)


def test_a_run_file_needs_only_its_id() -> None:
    run = parse_run({"run_id": "01J", "color": "red"}, "run.json")
    assert (run.run_id, run.status, run.seeds, run.extra) == ("01J", "running", (), {"color": "red"})


def test_seeds_stand_in_the_experiment_and_retries_are_read() -> None:
    run = parse_run(
        {
            "run_id": "01J",
            "experiment": {"operators": [], "execution": {"seeds": [3, 4]}},
            "retries": [{"operator_id": "a", "episode_index": 2, "reason": "was killed"}],
            "problem": "disk full",
        },
        "run.json",
    )
    assert run.seeds == (3, 4)
    for written, seeds in (("range(5, 8)", (5, 6, 7)), ("5 to 8", ()), (None, ())):
        execution = {"seeds": written}
        assert parse_run({"run_id": "01J", "experiment": {"execution": execution}}, "run.json").seeds == seeds
    assert run.retries == (RetryRecord("a", 2, "was killed"),)
    assert run.problem == "disk full"
    with pytest.raises(RunFormatError, match=r"run\.json: retries: 'episode_index' is missing"):
        parse_run({"run_id": "01J", "retries": [{"operator_id": "a"}]}, "run.json")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"episode_index": "3"}, "'episode_index' should be a whole number from 0, found text"),
        ({"episode_index": True}, "'episode_index' should be a whole number from 0, found true/false"),
        ({"length": -1}, "'length' should be a whole number from 0, found -1"),
        ({"status": "done"}, "'status' is 'done', which is none of completed, failed, aborted"),
        ({"total_reward": "12"}, "'total_reward' should be a finite number or null, found text"),
        ({"total_reward": float("nan")}, "'total_reward' should be a finite number or null, found nan"),
        ({"total_reward": 10**400}, "'total_reward' should be a finite number or null"),
        ({"returns": {"a": []}}, "returns.a: should be a finite number or null, found a list"),
        (
            {"teams": {"green": {"agents": "green_0"}}},
            "teams.green: 'agents' should be a list of agent names",
        ),
        (
            {"outcome": {"green": "tie"}},
            "outcome.green: 'outcome' is 'tie', which is none of win, draw, loss",
        ),
        ({"agents": {"a": 1}}, "agents.a: expected an object, found 1"),
        ({"invalid_actions": {"a": None}}, "invalid_actions.a: should be a count, found null"),
        ({"error": 3}, "'error' should be text or null, found 3"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(change: dict[str, Any], says: str) -> None:
    with pytest.raises(RunFormatError) as caught:
        parse_episode({**EPISODE, **change}, "episodes.jsonl:12")
    assert str(caught.value).startswith("episodes.jsonl:12: ")
    assert says in str(caught.value)


@pytest.mark.parametrize("key", ["operator_id", "episode_index", "status", "length"])
def test_what_statistics_rest_on_must_be_there(key: str) -> None:
    with pytest.raises(RunFormatError, match=f"'{key}' is missing"):
        parse_episode({k: v for k, v in EPISODE.items() if k != key}, "f:1")


@pytest.mark.parametrize("key", ["episode_index", "step_index", "agent_id", "action_source"])
def test_what_verification_rests_on_must_be_there(key: str) -> None:
    with pytest.raises(RunFormatError, match=f"'{key}' is missing"):
        parse_step({k: v for k, v in STEP.items() if k != key}, "f:1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(EPISODE)), json_values)
def test_any_value_in_any_field_is_read_or_refused_with_its_place(key: str, value: Any) -> None:
    try:
        parse_episode({**EPISODE, key: value}, "f:1")
    except RunFormatError as error:
        assert error.where.startswith("f:1")


@given(json_values)
def test_any_value_as_a_row_is_read_or_refused(value: Any) -> None:
    for parse in (parse_episode, parse_step, parse_run):
        try:
            parse(value, "f:1")
        except RunFormatError as error:
            assert error.where.startswith("f:1")
