"""Who takes which part of a joint policy is said while a configuration is written; the engine agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Level, Report
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.compatibility import fit
from gym_gui.services.policy_files import PolicyFile, describe_policy
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.checkpoint import PolicyDescription
from tests.support.joint import AGENTS, SPREAD, renamed, train_joint

RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})


def sheet_of(task: str) -> EnvironmentInfo:
    environment = envs.make(task)
    try:
        return EnvironmentInfo.of(environment)
    finally:
        environment.close()


@pytest.fixture(scope="module")
def spread() -> EnvironmentInfo:
    return sheet_of(SPREAD)


def checks(*files: PolicyFile) -> ConfigurationChecks:
    if not WorkerTypeRegistry.all():
        discover()
    return ConfigurationChecks(WorkerTypeRegistry.all(), files=files)


def rl(folder: Path, part: str | None = None) -> WorkerAssignment:
    return WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(folder)}, checkpoint_agent=part)


def linked(env_info: EnvironmentInfo, row: WorkerAssignment) -> Draft:
    first, *others = env_info.agents
    return (
        Draft(env_info.env_id, rows=dict.fromkeys(env_info.agents, RANDOM))
        .linked(first, others)
        .with_row(first, row)
    )


def texts(report: Report, level: Level = Level.OK) -> list[str]:
    return [finding.text for finding in report.findings if finding.level is level]


def test_each_agent_of_a_link_takes_its_own_part(joint_policy: Path, spread: EnvironmentInfo) -> None:
    report = checks().check(linked(spread, rl(joint_policy)), spread)
    assert not texts(report, Level.ERROR)
    for agent in AGENTS:
        assert f"{agent} takes its own part of the linked file" in texts(report)
    assert report.parts == {agent: agent for agent in AGENTS}
    assert report.config is not None
    resolve_operator(report.config)


def test_a_part_that_the_slot_names_is_said(joint_policy: Path, spread: EnvironmentInfo) -> None:
    rows = {**dict.fromkeys(AGENTS, RANDOM), "agent_1": rl(joint_policy, "agent_2")}
    report = checks().check(Draft(SPREAD, rows=rows), spread)
    assert f"agent_1 takes the part of agent_2 of {joint_policy.name}" in texts(report)
    assert report.parts == {"agent_1": "agent_2"}


def test_the_only_one_of_its_kind_plays_for_others(
    joint_policy: Path, spread: EnvironmentInfo, tmp_path: Path
) -> None:
    """As an expert of 1v1 does in 2v2: ``agent_1`` is played by the part of ``agent_0``."""
    folder = renamed(joint_policy, tmp_path / "duel", {"agent_1": "rival_0", "agent_2": "judge_0"})
    report = checks().check(linked(spread, rl(folder)), spread)
    assert not texts(report, Level.ERROR)
    assert "agent_0 takes its own part of the linked file" in texts(report)
    for agent in ("agent_1", "agent_2"):
        assert f"{agent} takes the part of agent_0 of the linked file, the only one of its kind" in texts(
            report
        )
    assert report.config is not None
    resolve_operator(report.config)


def test_where_several_could_be_meant_it_is_asked_and_a_fitting_part_offered(
    joint_policy: Path, spread: EnvironmentInfo, tmp_path: Path
) -> None:
    names = {"agent_0": "green_0", "agent_1": "green_1", "agent_2": "blue_0"}
    file = describe_policy(renamed(joint_policy, tmp_path / "others", names))
    looking = checks(file)
    report = looking.check(linked(spread, rl(file.path)), spread)
    asked = (
        "the checkpoint holds green_0, green_1, blue_0, and none is called agent_0. Say which of them plays"
    )
    assert any(asked in text for text in texts(report, Level.ERROR))
    assert report.parts == {}
    (offer,) = [o for o in report.policies["agent_0"] if o.policy.file == file]
    assert (offer.reason, offer.policy.part) == ("", "green_0")
    chosen = offer.policy.assignment()
    assert chosen.checkpoint_agent == "green_0"
    assert looking.problem(spread.slots["agent_0"], chosen) == ""


def test_a_policy_of_which_no_part_fits_is_refused_by_what_it_would_see(
    joint_policy: Path, spread: EnvironmentInfo
) -> None:
    file = describe_policy(joint_policy)
    four = sheet_of("classic/connect_four_v3")
    report = checks(file).check(Draft(four.env_id, rows=dict.fromkeys(four.agents, RANDOM)), four)
    (offer,) = [o for o in report.policies["player_0"] if o.policy.file == file]
    assert "does not fit: trained in mpe2/simple_spread_v3" in offer.reason
    worker = WorkerTypeRegistry.require("cleanrl_worker")
    assert offer.reason == fit(four.slots["player_0"], worker, rl(joint_policy))
    assert "Say which" not in offer.reason
    named = fit(four.slots["player_0"], worker, rl(joint_policy, "agent_1"))
    assert named == offer.reason, "whichever part is named"


def test_parts_of_different_spaces_play_where_each_fits(tmp_path: Path) -> None:
    tag = sheet_of("mpe2/simple_tag_v3")
    folder = train_joint(tmp_path / "tag", tag.env_id)
    about: PolicyDescription = describe_policy(folder).description
    assert len({part.observation_space.shape for part in about.parts}) == 2
    report = checks().check(linked(tag, rl(folder)), tag)
    assert not texts(report, Level.ERROR)
    assert set(report.parts) == set(tag.agents)
    wrong = linked(tag, rl(folder)).with_row("agent_0", rl(folder, "adversary_0"))
    (error,) = texts(checks().check(wrong, tag), Level.ERROR)
    assert error.startswith(
        "agent_0: tag does not fit: trained in mpe2/simple_tag_v3 for observations of Box("
    )
