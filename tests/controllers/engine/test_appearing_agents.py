"""Agents whose names are not known beforehand: slots named by patterns, one policy for each agent."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.controllers.engine.bound_operator import recorded_slots
from gym_gui.controllers.engine.resolved_operator import make_environment, resolve_operator
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.controllers.replays.replayed_episode import ReplayedEpisode
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.slot_patterns import fits, members, slot_for
from gym_gui.core.paradigms import adapt
from gym_gui.core.paradigms.check import check_environment
from gym_gui.services.runs.recorded_episode import load_episode
from gym_gui.workers.discovery import known_workers
from gym_gui.workers.team_context import TeamContext
from tests.support.colony import Colony
from tests.support.engine import arena, player, record_run

TASK = "tests.support.colony:Colony"
RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})


def colony(operator_id: str = "colony", **workers: WorkerAssignment) -> OperatorConfig:
    return OperatorConfig(operator_id, operator_id.title(), "", TASK, dict(workers))


def test_the_pattern_that_says_most_is_taken() -> None:
    slots = ["*", "bee_*", "bee_1"]
    assert [slot_for(a, slots) for a in ("bee_1", "bee_12", "ant_0")] == ["bee_1", "bee_*", "*"]
    assert slot_for("ant_0", ["bee_*"]) is None
    assert fits("a*c", "abbc") and not fits("a*c", "abd") and not fits("a.*", "abc")
    assert members({"all": ["*"], "bees": ["bee_*"]}, ["ant_0", "bee_0"]) == {
        "all": ("ant_0", "bee_0"),
        "bees": ("bee_0",),
    }


async def test_each_agent_that_appears_has_a_policy_of_its_slot_to_itself(tmp_path: Path) -> None:
    ants, others = player(lambda s: 1), player(lambda s: 1)
    folder = await record_run(tmp_path, (colony(), {"ant_*": ants, "*": others}), seeds=(1, 2))
    for episode in open_run(folder).operators["colony"].episodes():
        assert episode.status == "completed", episode.error
        assert {agent: record.slot for agent, record in episode.agents.items()} == {
            "ant_0": "ant_*",
            "ant_1": "ant_*",
            "bee_0": "*",
            "bee_1": "*",
        }
        assert episode.returns == {"ant_0": 4.0, "ant_1": 8.0, "bee_0": 6.0, "bee_1": 3.0}
        assert episode.teams["team"].agents == ("ant_0", "ant_1", "bee_0", "bee_1")
    for made, names in ((ants, ["ant_0", "ant_1"]), (others, ["bee_0", "bee_1"])):
        assert sorted(each.context.agent_id for each in made.made) == sorted(names * 2)
        for each in made.made:
            assert {snapshot.agent_id for snapshot in each.asked} == {each.context.agent_id}
            assert len(each.results) == len(each.asked) and len(each.summaries) == 1
            assert each.summaries[0].total_reward == sum(result.reward for result in each.results)
    (summary,) = summarize([open_run(folder)]).operators
    assert (summary.completed, summary.halved, summary.mean.value) == (2, 0, 21.0)
    assert {slot.slot: slot.mean.value for slot in summary.slots} == {"ant_*": 12.0, "*": 9.0}


async def test_a_record_of_workers_that_play_kinds_of_agents_verifies_and_replays(tmp_path: Path) -> None:
    folder = await record_run(tmp_path, (colony(**{"ant_*": RANDOM, "bee_*": RANDOM}), {}))
    run = open_run(folder)
    operator = run.operators["colony"]
    assert [episode.status for episode in operator.episodes()] == ["completed"] * 3
    verified = await verify(run)
    assert (verified.episodes, verified.divergences) == (3, [])
    recorded = load_episode(run, "colony", 0)
    order = ReplayOrder.of(recorded)
    environment = make_environment(order.config)
    rows = [orjson.loads(line) for line in order.lines.splitlines()]
    plan = EpisodePlan(0, order.seed, 0)
    again = ReplayedEpisode(plan, environment, recorded_slots(environment), rows, None)
    again.open()
    assert sum(len(answers) for answers in again.rounds()) == len(rows) > 20
    assert not again.pending and again.episode.trajectory.returns["bee_1"] == rows_return(rows, "bee_1")


def rows_return(rows: list[dict[str, Any]], agent: str) -> float:
    return sum(row["reward"] for row in rows if row["agent_id"] == agent)


async def test_an_agent_that_no_slot_names_fails_its_episode_and_is_named(tmp_path: Path) -> None:
    folder = await record_run(tmp_path, (colony(), {"ant_*": lambda s: 0}))
    errors = [episode.error for episode in open_run(folder).operators["colony"].episodes()]
    assert len(errors) == 3
    for error in errors:
        assert error is not None and "bee_0 is to act, and no slot is named for it" in error
        assert "'bee_*'" in error


async def test_a_worker_is_not_asked_about_other_spaces_than_it_was_loaded_for(tmp_path: Path) -> None:
    config = OperatorConfig("colony", "Colony", "", TASK, {"*_*": RANDOM}, env_kwargs={"grows": True})
    folder = await record_run(tmp_path, (config, {}), seeds=(1,))
    (episode,) = open_run(folder).operators["colony"].episodes()
    assert episode.status == "failed"
    assert "bee_0 observes Box" in str(episode.error) and "'*_*'" in str(episode.error)


def test_slots_that_nobody_can_sit_in_are_refused() -> None:
    with pytest.raises(ExperimentError, match=r"no slot plays ant_0, ant_1.*cannot be named beforehand"):
        resolve_operator(colony(**{"bee_*": RANDOM}))
    with pytest.raises(ExperimentError, match=r"no agent of slot 'wasp_.' has appeared"):
        resolve_operator(colony(**{"*": RANDOM, "wasp_*": RANDOM}))
    with pytest.raises(ExperimentError, match="seats cannot be swapped where agents appear"):
        resolve_operator(replace(colony(**{"*": RANDOM}), seats="swap"))


def test_a_pattern_stands_for_agents_that_are_named_beforehand() -> None:
    config = OperatorConfig("o", "O", "", arena("Levers"), {"*": RANDOM})
    resolved = resolve_operator(config)
    agents = tuple(make_environment(config).adapter.possible_agents)
    assert tuple(resolved.assignments) == agents == tuple(resolved.slots)


def test_kinds_of_agents_are_described_and_played_by_who_stands_for_them() -> None:
    """What the Agents page shows and fills in."""
    with contextlib.closing(make_environment(colony())) as environment:
        sheet = EnvironmentInfo.of(environment)
    sheet = EnvironmentInfo.from_json(sheet.to_json())
    assert sheet.agents == ("ant_*", "bee_*") and sheet.appear and not sheet.has_seats_to_change
    assert [sheet.slots[slot].action_codec.space.n for slot in sheet.agents] == [2, 4]
    assert sheet.summary == "simultaneous · 2 kinds of agents · different actions"

    passive = WorkerAssignment("operators_worker", "baseline", {"behavior": "noop"})
    draft = Draft.of(colony(**{"*": passive, "ant_0": RANDOM})).seated(sheet, lambda _slot: RANDOM)
    assert draft.rows == {"ant_*": passive, "bee_*": passive}
    checks = ConfigurationChecks(known_workers())
    report = checks.check(draft, sheet)
    assert report.config is not None
    assert tuple(resolve_operator(report.config).assignments) == ("ant_*", "bee_*")

    offers = {offer.worker.type_id: offer.reason for offer in report.workers["bee_*"]}
    assert not offers["operators_worker"]
    assert not offers["mosaic_llm_worker"]
    model = WorkerAssignment("mosaic_llm_worker", "llm", {"client_name": "vllm", "model_id": "m"})
    resolved = resolve_operator(colony(**{"ant_*": RANDOM, "bee_*": model}))
    assert tuple(resolved.views) == ("bee_*",)
    assert resolved.team_context("bee_*") == TeamContext(), "each is told when it appears"


def test_the_check_says_that_agents_cannot_be_named_beforehand() -> None:
    report = check_environment(lambda: adapt(Colony()))
    assert report.ok, "\n".join(report.lines())
    assert "cannot be named beforehand" in report["agents"].detail
    assert "ant_*, bee_*, or *" in report["agents"].detail


@pytest.mark.filterwarnings("ignore:The old environment creation API")
@pytest.mark.parametrize("api", ["parallel", "env"])
async def test_the_examples_of_pettingzoo_are_played(api: str, tmp_path: Path) -> None:
    factory = "parallel_env" if api == "parallel" else "env"
    task = f"pettingzoo.test.example_envs.generated_agents_{api}_v0:{factory}"
    slots = {"type0_*": lambda s: 0, "*": lambda s: 1}
    folder = await record_run(tmp_path, (OperatorConfig("o", "O", "", task, {}), slots), max_steps=40)
    run = open_run(folder)
    assert [episode.status for episode in run.operators["o"].episodes()] == ["completed"] * 3
    if api == "parallel":  # the other draws without its seed once a type is added
        assert not (await verify(run)).divergences
