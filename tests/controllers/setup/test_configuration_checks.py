"""What is said of a configuration is what the engine will say, before the engine is asked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Level, Report
from gym_gui.controllers.setup.configuration_draft import Draft
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.spaces import to_space
from gym_gui.services.policies.policy_catalog import find_policy_files, policy_of, read_policy_file
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import WorkerStatus, check_installed
from tests.support.policies import kept_policy

REPO = Path(__file__).resolve().parents[3]
PPO = REPO / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
HUMAN = WorkerAssignment("human_worker", "human")


def sheet_of(task: str, **more: object) -> EnvironmentInfo:
    environment = envs.make(task, **more)  # type: ignore[arg-type]
    try:
        return EnvironmentInfo.of(environment)
    finally:
        environment.close()


@pytest.fixture(scope="module")
def cartpole() -> EnvironmentInfo:
    return sheet_of("CartPole-v1")


@pytest.fixture(scope="module")
def four() -> EnvironmentInfo:
    return sheet_of("classic/connect_four_v3")


@pytest.fixture(scope="module")
def pendulum() -> EnvironmentInfo:
    return sheet_of("Pendulum-v1")


def soccer() -> EnvironmentInfo:
    """The sheet of 2v2 soccer as the probe gives it, made from the environment once."""
    return sheet_of(SOCCER)


@pytest.fixture
def checks() -> ConfigurationChecks:
    if not WorkerTypeRegistry.all():
        discover()
    return ConfigurationChecks(WorkerTypeRegistry.all(), files=find_policy_files([PPO.parent]))


def ppo(**more: object) -> WorkerAssignment:
    return WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(PPO), **more})


def errors(report: Report) -> list[str]:
    return [finding.text for finding in report.findings if finding.level is Level.ERROR]


def one(env_info: EnvironmentInfo, row: WorkerAssignment) -> Draft:
    return Draft(env_info.env_id, rows=dict.fromkeys(env_info.agents, row))


def test_a_whole_configuration_is_right_and_the_engine_agrees(checks, cartpole):
    report = checks.check(one(cartpole, ppo()), cartpole)
    assert report.level is Level.OK and report.config is not None
    assert [f.text for f in report.findings if f.level is Level.OK] == ["Observation and action spaces fit"]
    resolve_operator(report.config)


def test_everything_on_offer_that_is_complete_is_accepted_by_the_engine(checks, four):
    report = checks.check(one(four, RANDOM), four)
    assert not errors(report)
    offered = [o.policy for o in report.policies["player_0"] if not o.reason and not o.policy.takes]
    assert {"random", "connect_four_one_ply", "human_keyboard"} <= {p.policy_id for p in offered}
    for policy in offered:
        config = one(four, RANDOM).with_row("player_0", policy.assignment()).config()
        if check_installed(checks.workers[policy.worker_id]).state != "installed":
            with pytest.raises(MissingDependencyError):
                resolve_operator(config)
            continue
        assert resolve_operator(config).workers["player_0"].type_id == policy.worker_id


def test_what_is_not_offered_says_why(checks, four, pendulum):
    report = checks.check(one(four, RANDOM), four)
    reasons = {o.policy.policy_id: o.reason for o in report.policies["player_0"]}
    assert "MosaicMultiGrid-S-*, not for classic/connect_four_v3" in reasons["soccer_chaser"]
    assert "trained in CartPole-v1" in reasons["cleanrl_ppo:ppo_cartpole"]
    slot = replace(pendulum.slots["agent_0"], action_space=to_space(gym.spaces.MultiBinary(3)))
    switches = replace(pendulum, slots={"agent_0": slot})
    report = checks.check(one(switches, RANDOM), switches)
    workers = {o.worker.type_id: o.reason for o in report.workers["agent_0"]}
    assert "multi_discrete spaces, this slot's is multi_binary" in workers["cleanrl_worker"]
    assert workers["operators_worker"] == ""
    notes = [f.text for f in report.findings if f.level is Level.NOTE]
    assert any(note.startswith("CleanRL is not offered: it acts in discrete") for note in notes)
    elsewhere = [note for note in notes if note.endswith(" are made for other environments")]
    assert len(elsewhere) == 1 and "Stockfish" in elsewhere[0], "they are told together"


def test_who_takes_no_notice_of_a_manager_is_told(checks):
    task, skills = "MiniGrid-DoorKey-5x5-v0", {"behavior": "minigrid_skills"}
    environment = envs.make(task).with_manager()
    env_info = EnvironmentInfo.of(environment)
    environment.close()
    draft = Draft(task, rows={"agent_0": RANDOM, "agent_0/goal": RANDOM})
    told = [f.text for f in checks.check(draft, env_info).findings if f.level is Level.WARNING]
    assert told == ["agent_0: Random takes no notice of what agent_0/goal asks for; choose skills"]
    draft = draft.with_row("agent_0", WorkerAssignment("operators_worker", "baseline", skills))
    assert not [f for f in checks.check(draft, env_info).findings if f.level is Level.WARNING]


def test_what_could_be_installed_says_which_worker_it_is(checks, cartpole):
    line = "mosaic workers install cleanrl_worker"
    lacking = [
        WorkerStatus("cleanrl_worker", "missing", "torch is not there", line, ()),
        WorkerStatus("sb3_worker", "broken", "it is not whole", "", ()),
    ]
    short = ConfigurationChecks(list(checks.workers.values()), lacking)
    for row, level in ((RANDOM, Level.NOTE), (ppo(), Level.ERROR)):
        (found,) = [f for f in short.check(one(cartpole, row), cartpole).findings if f.workers]
        assert found.level is level and found.workers == ("cleanrl_worker",)
        assert "CleanRL is not installed" in found.text or "torch" in found.text
    (other,) = [f for f in short.check(one(cartpole, RANDOM), cartpole).findings if "not whole" in f.text]
    assert not other.workers


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (WorkerAssignment("cleanrl_worker", "rl"), "agent_0: Checkpoint is missing"),
        (WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/no/such"}), "there is no /no/such"),
        (ppo(seed=-1), "Seed must be a whole number, at least 0, not -1"),
        (
            replace(ppo(), checkpoint_agent="blue_7"),
            "holds no agent 'blue_7'. Set checkpoint_agent to one of: agent_0",
        ),
        (WorkerAssignment("nobody_worker", "rl"), "there is no worker nobody_worker"),
        (WorkerAssignment("cleanrl_worker", "llm", {"checkpoint": str(PPO)}), "is of type rl, not llm"),
        (WorkerAssignment("", "baseline", {"behavior": "soccer_chaser"}), "not for CartPole-v1"),
        (WorkerAssignment("", "baseline", {"behavior": "juggle"}), "Behavior must be random"),
    ],
)
def test_a_wrong_row_is_named_with_its_slot(checks, cartpole, row: WorkerAssignment, words: str):
    report = checks.check(one(cartpole, row), cartpole)
    assert any(words in text for text in errors(report)), errors(report)
    assert report.of("agent_0") and report.config is None


def test_a_policy_of_other_spaces_is_refused_and_the_worker_would_refuse_it_too(checks, four):
    draft = one(four, RANDOM).with_row("player_0", ppo())
    (text,) = errors(checks.check(draft, four))
    assert text.startswith("player_0: ppo_cartpole does not fit: trained in CartPole-v1 for observations")


def test_a_policy_from_another_task_with_the_same_spaces_is_a_warning(checks, cartpole, tmp_path: Path):
    described = json.loads((PPO / "policy.json").read_text())
    described["env_id"] = "CartPole-v0"
    (tmp_path / "policy.json").write_text(json.dumps(described))
    row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(tmp_path)})
    report = checks.check(one(cartpole, row), cartpole)
    assert report.level is Level.WARNING and report.config is not None
    assert "was trained in CartPole-v0" in report.findings[0].text


def test_an_empty_slot_is_an_error(checks, four):
    report = checks.check(Draft(four.env_id, rows={"player_0": RANDOM}), four)
    assert errors(report) == ["No policy plays player_1: choose one in its row"]


def test_a_worker_that_lacks_something_is_not_offered_and_says_how_to_get_it(cartpole):
    status = WorkerStatus(
        "cleanrl_worker", "missing", "torch is not installed", "pip install torch", ("torch",)
    )
    checks = ConfigurationChecks(WorkerTypeRegistry.all(), [status])
    report = checks.check(one(cartpole, ppo()), cartpole)
    reason = {o.worker.type_id: o.reason for o in report.workers["agent_0"]}["cleanrl_worker"]
    assert "torch is not installed" in reason and "Run: pip install torch" in reason
    assert any(reason in text for text in errors(report))


def test_a_key_that_is_not_there_is_a_warning(checks, cartpole, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SOME_KEY_OF_OURS", raising=False)
    row = replace(RANDOM, settings={"behavior": "random", "token": "env:SOME_KEY_OF_OURS"})
    report = checks.check(one(cartpole, row), cartpole)
    assert report.level is Level.WARNING and "SOME_KEY_OF_OURS" in report.findings[0].text
    monkeypatch.setenv("SOME_KEY_OF_OURS", "x")
    assert checks.check(one(cartpole, row), cartpole).level is Level.OK


def test_people_are_mentioned(checks, four):
    draft = one(four, RANDOM).with_row("player_0", HUMAN)
    notes = [f.text for f in checks.check(draft, four).findings if f.level is Level.NOTE]
    assert "player_0 is played by a person, who is waited for" in notes
    timed = draft.with_row("player_0", replace(HUMAN, deadline_s=2.0))
    notes = [f.text for f in checks.check(timed, four).findings if f.level is Level.NOTE]
    assert "player_0 is played by a person, who is given 2 s for each move" in notes


def test_teams_that_cannot_change_sides_say_so(checks, four, cartpole):
    report = checks.check(replace(one(four, RANDOM), seats="swap"), four)
    assert "Every seed is played 2 times: the teams change sides" in [f.text for f in report.findings]
    report = checks.check(replace(one(cartpole, ppo()), seats="swap"), cartpole)
    assert any("seats cannot be swapped" in text for text in errors(report))


class TestLinks:
    def joint(self, tmp_path: Path, env_info: EnvironmentInfo, agents: list[str]) -> str:
        slot = next(iter(env_info.slots.values()))
        about = json.loads((PPO / "policy.json").read_text()) | {
            "env_id": env_info.env_id,
            "agents": agents,
            "observation_space": slot.observation_codec.space.to_json(),
            "action_space": slot.action_codec.space.to_json(),
        }
        (tmp_path / "policy.json").write_text(json.dumps(about))
        return str(tmp_path)

    def test_followers_play_what_their_primary_plays(self, checks, four, tmp_path: Path):
        file = self.joint(tmp_path, four, ["player_0", "player_1"])
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": file})
        draft = one(four, RANDOM).linked("player_0", ["player_1"]).with_row("player_0", row)
        assert draft.rows["player_1"].settings["checkpoint"] == file
        report = checks.check(draft, four)
        texts = [f.text for f in report.findings]
        assert "player_1 takes its own part of the linked file" in texts
        assert report.config is not None
        (group,) = report.config.link_groups
        assert group.agents == ("player_0", "player_1") and group.policy_path == file

    def test_a_file_with_one_policy_is_played_by_all(self, checks, four, tmp_path: Path):
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": self.joint(tmp_path, four, ["solo"])})
        draft = one(four, row).linked("player_0", ["player_1"])
        texts = [f.text for f in checks.check(draft, four).findings]
        assert any("holds one policy: player_0 and player_1 play it" in text for text in texts)

    def test_a_link_without_a_file_is_an_error(self, checks, four):
        draft = one(four, RANDOM).linked("player_0", ["player_1"])
        assert "player_0 has no checkpoint that player_1 could share" in errors(checks.check(draft, four))[0]

    def test_leaving_and_changing_links(self, four):
        draft = one(four, RANDOM).linked("player_0", ["player_1"])
        assert draft.link_of("player_1") is draft.links[0]
        assert draft.unlinked("player_1").links == () and draft.unlinked("player_0").links == ()
        assert draft.linked("player_0", []).links == ()
        swapped = draft.linked("player_1", ["player_0"])
        assert [link.agents for link in swapped.links] == [("player_1", "player_0")]

    def test_links_differ_in_color(self):
        rows = {f"agent_{i}": RANDOM for i in range(6)}
        draft = Draft("x", rows=rows)
        for i in (0, 2, 4):
            draft = draft.linked(f"agent_{i}", [f"agent_{i + 1}"])
        assert len({link.color for link in draft.links}) == 3

    def test_a_draft_of_a_configuration_is_that_configuration(self, four, tmp_path: Path):
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": self.joint(tmp_path, four, ["a"])})
        config = one(four, row).linked("player_0", ["player_1"]).config()
        again = Draft.of(config).config()
        assert again.resolved_slots() == config.resolved_slots()
        assert again.link_groups == config.link_groups


class TestDrafts:
    def test_slots_follow_the_environment(self, four, cartpole):
        draft = one(four, HUMAN).linked("player_0", ["player_1"])
        moved = replace(draft, task="CartPole-v1", seats="swap").seated(cartpole, lambda _: RANDOM)
        assert moved.rows == {"agent_0": RANDOM} and moved.links == () and moved.seats == "fixed"
        back = replace(draft, seats="swap").seated(four, lambda _: RANDOM)
        assert back.rows == draft.rows and back.links == draft.links and back.seats == "swap"

    def test_an_unfinished_draft_says_why_it_is_no_configuration(self):
        with pytest.raises(UsageError, match="task"):
            Draft(rows={"agent_0": RANDOM}).config()
        with pytest.raises(UsageError, match="no slot has a player"):
            Draft("CartPole-v1").config()

    def test_managers_are_slots_of_their_own(self):
        draft = Draft("MiniGrid-DoorKey-5x5-v0", rows={"agent_0": RANDOM}).with_managers(["agent_0"], RANDOM)
        assert draft.managed == ("agent_0",)
        assert set(draft.config().resolved_slots()) == {"agent_0", "agent_0/goal"}
        assert draft.with_managers([], RANDOM).managed == ()
        assert Draft.of(draft.config()).managed == ("agent_0",)


class TestCatalog:
    def test_a_row_is_recognized_as_the_policy_it_is(self, checks):
        worker = WorkerTypeRegistry.require("operators_worker")
        blue = {"behavior": "soccer_chaser", "team": "blue"}
        for row, policy_id in (
            (RANDOM, "random"),
            (WorkerAssignment("", "baseline"), "random"),
            (WorkerAssignment("", "passive"), "noop"),
            (WorkerAssignment("", "baseline", blue), "soccer_chaser"),
        ):
            found = policy_of(row, checks.policies, worker)
            assert found is not None and found.policy_id == policy_id
        assert policy_of(WorkerAssignment("", "baseline", {"behavior": "x"}), checks.policies, worker) is None

    def test_a_trained_policy_is_recognized_by_its_place(self, checks, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.chdir(REPO)
        relative = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(PPO.relative_to(REPO))})
        found = checks.policy(relative)
        assert found is not None and found.file is not None and found.file.env_id == "CartPole-v1"
        other = checks.policy(WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "/elsewhere"}))
        assert other is not None and other.takes == "checkpoint"

    def test_ids_are_unique(self, checks):
        ids = [policy.policy_id for policy in checks.policies]
        assert len(set(ids)) == len(ids)

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"env_id": "x", "observation_space": 3}'])
    def test_what_describes_no_policy_is_none(self, tmp_path: Path, content: str):
        (tmp_path / "policy.json").write_text(content)
        assert read_policy_file(tmp_path) is None and find_policy_files([tmp_path]) == []

    def test_policies_are_found_below_a_folder_and_once(self, tmp_path):
        policy = tmp_path / "mine" / PPO.name
        shutil.copytree(PPO, policy)
        files = find_policy_files([policy.parent, policy, tmp_path])
        assert [file.path.name for file in files] == ["ppo_cartpole"]
        assert files[0].agents == ("agent_0",) and files[0].algorithm == "ppo"


def test_soccer_is_checked_slot_by_slot(checks):
    env_info = soccer()
    draft = Draft(SOCCER).seated(env_info, lambda _: RANDOM)
    assert env_info.summary == "simultaneous · 4 agents · Discrete(8)"
    assert env_info.team_of("blue_1") == "blue"
    chaser = next(p for p in checks.policies if p.policy_id == "soccer_chaser")
    report = checks.check(draft.with_row("green_0", chaser.assignment()), env_info)
    assert report.level is Level.OK
    assert "Observation and action spaces fit in all four slots" in [f.text for f in report.findings]


class TestPreprocessing:
    """What a policy is shown decides whether it fits, not what its slot sees."""

    SELECT: ClassVar = [{"step": "select", "key": "image"}]

    @pytest.fixture
    def grid(self) -> EnvironmentInfo:
        return sheet_of("MiniGrid-Empty-5x5-v0")

    @pytest.fixture
    def kept(self, tmp_path: Path, grid: EnvironmentInfo) -> Path:
        slot = grid.slots["agent_0"]
        return kept_policy(
            tmp_path / "kept",
            env_id=grid.env_id,
            observation_space=slot.observation_codec.space.to_json(),
            input_space=slot.observation_codec.space.spaces["image"].to_json(),
            action_space=slot.action_codec.space.to_json(),
            preprocessing=self.SELECT,
        )

    def test_a_policy_is_offered_where_its_steps_make_it_fit(self, checks, grid: EnvironmentInfo, kept: Path):
        workers = list(checks.workers.values())
        checks = ConfigurationChecks(workers, files=find_policy_files([kept, PPO]))
        report = checks.check(one(grid, RANDOM), grid)
        reasons = {o.policy.policy_id: o.reason for o in report.policies["agent_0"]}
        assert reasons["cleanrl_ppo:kept"] == ""
        assert reasons["cleanrl_ppo"] == "", "a file that is still to be chosen may have steps"
        assert "trained in CartPole-v1" in reasons["cleanrl_ppo:ppo_cartpole"]
        assert not any("CleanRL is not offered" in f.text for f in report.findings)
        workers = {o.worker.type_id: o.reason for o in report.workers["agent_0"]}
        assert workers["cleanrl_worker"] == ""
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(kept)})
        report = checks.check(one(grid, row), grid)
        assert report.level is Level.OK, report.findings
        assert report.config is not None
        assert resolve_operator(report.config).pipelines["agent_0"].input_space.shape == (7, 7, 3)

    @pytest.mark.parametrize(
        ("steps", "words"),
        [
            (["grayscale"], "step 1 (grayscale) does not fit"),
            (["nothing"], "there is no step 'nothing'"),
            (
                [{"step": "select", "key": "direction"}],
                "this slot has Discrete(4) after select direction",
            ),
            ([*SELECT, "grayscale"], "this slot has Box(7, 7) after select image, grayscale"),
        ],
    )
    def test_a_rows_own_steps_are_checked(
        self, checks, grid: EnvironmentInfo, kept: Path, steps: list[Any], words: str
    ):
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(kept)}, preprocess=steps)
        report = checks.check(one(grid, row), grid)
        assert report.level is Level.ERROR
        assert words in report.findings[0].text

    def test_a_policy_of_another_worker_is_told(self, checks, tmp_path: Path):
        kept = kept_policy(tmp_path / "theirs", worker="sb3_worker")
        row = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(kept)})
        env_info = sheet_of("CartPole-v1")
        report = checks.check(one(env_info, row), env_info)
        assert "theirs is played by sb3_worker, not by cleanrl_worker" in report.findings[0].text


def test_a_picture_that_shows_too_much_is_refused_with_the_way_out(checks: ConfigurationChecks) -> None:
    leduc, crypto = sheet_of("leduc_holdem_v4"), sheet_of("mpe2/simple_crypto_v3")
    read = EnvironmentInfo.from_json(json.loads(json.dumps(leduc.to_json())))
    assert read.slots["player_0"].pictures == leduc.slots["player_0"].pictures
    for view, wrong in (("whole", 1), ("egocentric", 0)):
        looker = WorkerAssignment("vlm_worker", "vlm", {"model_id": "m", "image_view": view})
        report = checks.check(Draft(leduc.env_id, rows={"player_0": looker, "player_1": RANDOM}), leduc)
        said = [text for text in errors(report) if "image_view" in text]
        assert len(said) == wrong and all("'egocentric'" in text for text in said)
    offers = checks.check(one(crypto, RANDOM), crypto).workers["eve_0"]
    refused = {offer.worker.type_id: offer.reason for offer in offers}
    assert "no picture of what this seat may see" in refused["vlm_worker"]
    assert not refused["mosaic_llm_worker"]
