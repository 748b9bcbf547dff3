"""Configuration models: what they accept, normalise and refuse."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gym_gui.core.config import (
    ExecutionConfig,
    Experiment,
    LinkGroup,
    OperatorConfig,
    RecordConfig,
    WorkerAssignment,
)
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.experiment_text import describe


def random_player() -> WorkerAssignment:
    return WorkerAssignment(worker_type="random")


def operator(**changes: object) -> OperatorConfig:
    given_values = {"operator_id": "a", "task": "T-v0", "workers": {"agent_0": random_player()}}
    return OperatorConfig(**(given_values | changes))


def refusal(call: object, *args: object, **kwargs: object) -> str:
    with pytest.raises(ExperimentError) as caught:
        call(*args, **kwargs)  # type: ignore[operator]
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestDesignDocuments:
    """The example configurations of the design documents construct as written."""

    def test_heterogeneous_team(self) -> None:
        config = OperatorConfig.multi_agent(
            operator_id="heterogeneous_team",
            display_name="RL + LLM Heterogeneous vs RL + Random",
            env_name="multigrid",
            task="MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0",
            player_workers={
                "green_0": WorkerAssignment(
                    worker_id="cleanrl_worker",
                    worker_type="rl",
                    settings={"algorithm": "ppo", "checkpoint": "mappo_1v1.pt"},
                ),
                "green_1": WorkerAssignment(
                    worker_id="mosaic_llm_worker",
                    worker_type="llm",
                    settings={
                        "client_name": "openrouter",
                        "model_id": "gpt-4o",
                        "temperature": 0,
                        "coordination_level": 2,
                        "observation_mode": "visible_teammates",
                    },
                ),
                "blue_0": WorkerAssignment(
                    worker_id="cleanrl_worker",
                    worker_type="rl",
                    settings={"algorithm": "ppo", "checkpoint": "mappo_1v1.pt"},
                ),
                "blue_1": WorkerAssignment(worker_id="operators_worker", worker_type="baseline", settings={}),
            },
        )
        slots = config.resolved_slots()
        assert list(slots) == ["green_0", "green_1", "blue_0", "blue_1"]
        assert slots["green_1"].settings["coordination_level"] == 2
        assert slots["green_0"].settings == {"algorithm": "ppo", "checkpoint": "mappo_1v1.pt"}
        assert slots["blue_1"].settings == {}

    @pytest.mark.parametrize(
        ("worker_id", "worker_type", "settings"),
        [
            ("balrog_worker", "llm", {"client_name": "vllm", "base_url": "http://127.0.0.1:8000/v1"}),
            ("cleanrl_worker", "rl", {"algorithm": "ppo", "checkpoint": "runs/ppo_cartpole/model.pt"}),
            ("operators_worker", "baseline", {}),
        ],
    )
    def test_single_agent(self, worker_id: str, worker_type: str, settings: dict[str, object]) -> None:
        config = OperatorConfig.single_agent(
            operator_id="one",
            display_name="One",
            worker_id=worker_id,
            worker_type=worker_type,
            env_name="gymnasium",
            task="CartPole-v1",
            settings=settings,
        )
        player = config.resolved_slots()["agent_0"]
        assert (player.worker_id, player.worker_type, player.settings) == (worker_id, worker_type, settings)

    def test_link_groups_of_two_teams(self) -> None:
        offense = LinkGroup(
            group_id="operator_0_link_0",
            primary_agent="agent_0",
            linked_agents=["agent_2"],
            policy_path="/path/to/offense_mappo.pth",
            algorithm="mappo",
            worker_type="rl",
        )
        defense = LinkGroup("agent_1", ["agent_3"], "/path/to/defense_mappo.pth", "mappo")
        config = operator(workers={}, link_groups=[offense, defense])
        slots = config.resolved_slots()
        assert slots["agent_2"].settings["checkpoint"] == "/path/to/offense_mappo.pth"
        assert slots["agent_3"].settings == {
            "checkpoint": "/path/to/defense_mappo.pth",
            "algorithm": "mappo",
        }
        assert {player.worker_id for player in slots.values()} == {"cleanrl_worker"}
        group = config.link_group_of("agent_3")
        assert group is not None and group.primary_agent == "agent_1"
        assert config.link_group_of("agent_9") is None


class TestLinkGroups:
    def test_defaults(self) -> None:
        group = LinkGroup("agent_0", ["agent_1"], "m.pt", "mappo")
        assert group.group_id == "link_agent_0"
        assert group.color.startswith("#")
        assert group == LinkGroup("agent_0", ("agent_1",), "m.pt", "mappo")

    def test_primary_fills_in_what_the_group_leaves_out(self) -> None:
        primary = WorkerAssignment(
            "xuance_worker",
            "rl",
            {"policy_path": "joint.pth", "algorithm": "mappo"},
            checkpoint_agent="agent_0",
            deterministic=True,
        )
        slots = operator(
            workers={"agent_0": primary}, link_groups=[LinkGroup("agent_0", ["agent_1"])]
        ).resolved_slots()
        assert slots["agent_0"] == primary
        assert slots["agent_1"] == dataclasses.replace(primary, checkpoint_agent=None)

    def test_linked_agent_keeps_its_own_part(self) -> None:
        own = WorkerAssignment("cleanrl", settings={"temperature": 0.5}, checkpoint_agent="agent_3")
        slots = operator(
            workers={"agent_1": own}, link_groups=[LinkGroup("agent_0", ["agent_1"], "m.pt", "IPPO")]
        ).resolved_slots()
        assert slots["agent_1"].settings == {"temperature": 0.5, "checkpoint": "m.pt", "algorithm": "IPPO"}
        assert slots["agent_1"].checkpoint_agent == "agent_3"

    @pytest.mark.parametrize(
        ("own", "word"),
        [
            (WorkerAssignment("ray_worker", "rl"), "worker_id"),
            (WorkerAssignment(worker_type="random"), "worker_id"),
            (WorkerAssignment("cleanrl", settings={"checkpoint": "other.pt"}), "checkpoint"),
            (WorkerAssignment("cleanrl", settings={"algorithm": "qmix"}), "algorithm"),
        ],
    )
    def test_contradiction(self, own: WorkerAssignment, word: str) -> None:
        groups = [LinkGroup("agent_0", ["agent_1"], "m.pt", "mappo")]
        message = refusal(operator, workers={"agent_1": own}, link_groups=groups)
        assert message.startswith(f"workers.agent_1: {word} is ")

    def test_agent_in_two_groups(self) -> None:
        groups = [LinkGroup("a", ["b"], "m.pt"), LinkGroup("c", ["b"], "n.pt")]
        assert refusal(operator, workers={}, link_groups=groups) == "link_groups: 'b' is named twice"

    def test_no_file_anywhere(self) -> None:
        assert "names no policy_path" in refusal(operator, workers={}, link_groups=[LinkGroup("a", ["b"])])

    @pytest.mark.parametrize("linked", [[], ["agent_0"], ["b", "b"], "b"])
    def test_bad_lists(self, linked: object) -> None:
        assert refusal(LinkGroup, "agent_0", linked, "m.pt").startswith("linked_agents: ")


class TestOperatorConfig:
    def test_single_agent_slot_is_renamed_everywhere(self) -> None:
        config = operator(workers={"agent": random_player()}, manager={"agent": random_player()})
        assert list(config.resolved_slots()) == ["agent_0", "agent_0/goal"]

    def test_agent_among_others_keeps_its_name(self) -> None:
        assert set(operator(workers={"agent": random_player(), "b": random_player()}).workers) == {
            "agent",
            "b",
        }

    @pytest.mark.parametrize(
        "name",
        [
            *("", " ", ".", "..", "a/b", "a\\b", "../x", "a\x00b", "a\nb", "x" * 65, "CON", "nul.txt"),
            *("a:b", "~" + "\u202e", "-rf", "a.", "a ", "\ud800", "\U0001f600" * 64),
        ],
    )
    def test_id_that_is_no_folder_name(self, name: str) -> None:
        assert refusal(operator, operator_id=name).startswith("id: ")

    @pytest.mark.parametrize("name", ["a", "PPO (lr=3e-4)", "größe", "x" * 64, "v1.2_b+c"])
    def test_id_that_is_one(self, name: str) -> None:
        assert operator(operator_id=name).operator_id == name

    def test_teams(self) -> None:
        players = {"green_0": random_player(), "blue_0": random_player()}
        config = operator(workers=players, teams={"green": ["green_0"], "blue": ["blue_0"]}, seats="swap")
        assert config.teams == {"green": ("green_0",), "blue": ("blue_0",)}

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"teams": {"x": []}}, "teams.x: must name at least one agent"),
            ({"teams": {"x": ["agent_0"], "y": ["agent_0"]}}, "teams: 'agent_0' is named twice"),
            ({"group": {"name": "PPO"}}, "group: 'seed' is missing"),
            ({"seats": "swapped"}, "seats: unknown value 'swapped'. Did you mean 'swap'?"),
            ({"api": "AEC"}, "api: unknown value 'AEC'"),
            ({"task": ""}, "task: must not be empty"),
            ({"max_steps": 0}, "max_steps: must lie between"),
            ({"max_steps": 10.0}, "max_steps: must be a whole number, not 10.0"),
            ({"workers": {"agent_0": {"type": "random"}}}, "workers.agent_0: must be a WorkerAssignment"),
            ({"env_kwargs": {"f": print}}, "env_kwargs.f: an object of type"),
        ],
    )
    def test_refused(self, changes: dict[str, object], problem: str) -> None:
        assert refusal(operator, **changes).startswith(problem)


class TestComplete:
    """Files name a player for every slot; configurations for in-process policies need not."""

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"teams": {"x": ["agent_1"]}}, "teams.x: no slot is called 'agent_1'. Did you mean 'agent_0'?"),
            ({"manager": {"agent_7": random_player()}}, "manager.agent_7: no slot is called"),
            ({"seats": "swap"}, "seats: swapping seats needs at least two agents"),
            ({"workers": {}}, "workers: no slot has a player"),
        ],
    )
    def test_refused(self, changes: dict[str, object], problem: str) -> None:
        config = operator(**changes)
        assert refusal(config.check_complete).startswith(problem)
        record = Experiment([config]).to_record()
        assert refusal(experiment_from_data, record).startswith(f"operators[0].{problem}")
        assert experiment_from_data(record, complete=False).operators == (config,)

    def test_slot_that_is_given_twice(self) -> None:
        players = {"agent_0": random_player(), "agent_0/goal": random_player()}
        message = refusal(operator, workers=players, manager={"agent_0": random_player()})
        assert message.startswith("manager.agent_0: slot 'agent_0/goal' is given in workers too")


class TestExperiment:
    def test_environment_may_have_a_parameter_called_secret(self) -> None:
        assert operator(env_kwargs={"secret": "1234"}).env_kwargs == {"secret": "1234"}
        assert "env_kwargs.key" in refusal(operator, env_kwargs={"key": "hf_" + "a" * 20})

    def test_seeds_fewer_than_episodes(self) -> None:
        message = refusal(Experiment, [operator()], ExecutionConfig(4, [1, 2]))
        assert message.startswith("execution.seeds: 4 episodes need 4 seeds, 2 are given")

    def test_swapping_operators_are_checked_once_their_teams_are_known(self) -> None:
        players = {"a": random_player(), "b": random_player()}
        experiment = Experiment([operator(workers=players, seats="swap")], ExecutionConfig(4, [1, 2]))
        assert experiment.execution.seeds == (1, 2)

    @pytest.mark.parametrize("other", ["a", "A"])
    def test_ids_that_share_a_folder(self, other: str) -> None:
        message = refusal(Experiment, [operator(), operator(operator_id=other)])
        assert message.startswith("operators[1].id: ")

    def test_limit_of_an_episode(self) -> None:
        own, other = operator(max_steps=5), operator(operator_id="b")
        experiment = Experiment([own, other], ExecutionConfig(max_steps=9))
        assert [experiment.max_steps(o) for o in experiment.operators] == [5, 9]

    def test_record_reads_back_equal(self) -> None:
        joint = WorkerAssignment(
            "cleanrl",
            settings={"model_path": "m.pt", "nested": {"a": [1, 2.5, None, "ü"]}},
            on_invalid={"retry": 2, "then": "noop"},
            deadline_s=2,
            checkpoint_agent="agent_0",
            deterministic=False,
            preprocess=["flatten", {"name": "stack", "n": 4}],
        )
        config = operator(
            workers={"g": joint, "b": WorkerAssignment("llm", "llm", {"api_key": "env:KEY"})},
            link_groups=[LinkGroup("g", ["h"])],
            teams={"green": ["g", "h"], "blue": ["b"]},
            manager={"b": random_player()},
            env_kwargs={"size": [8, 8]},
            api="aec",
            seats="swap",
            group={"name": "PPO", "seed": 3},
        )
        run = ExecutionConfig(4, range(10, 12), max_steps=3, concurrency=8, processes=2)
        experiment = Experiment([config], run)
        record = json.loads(json.dumps(experiment.to_record(), allow_nan=False))
        assert experiment_from_data(record) == experiment
        assert experiment_from_data({"run_id": "x", "experiment": record}) == experiment

    def test_description_names_what_is_run_and_no_secret(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KEY", "very-secret")
        config = operator(workers={"agent": WorkerAssignment("", "llm", {"api_key": "env:KEY"})})
        text = describe(Experiment([config], ExecutionConfig(3, 40)))
        assert "3 episodes each" in text
        assert "procedural seeds 40 to 42" in text
        assert "agent_0  llm  mosaic_llm_worker  api_key=env:KEY" in text
        assert "very-secret" not in text

    def test_description_of_everything_that_can_be_set(self) -> None:
        player = WorkerAssignment(
            "cleanrl",
            settings={"checkpoint": "m" * 99},
            on_invalid={"retry": 2, "then": "noop"},
            deadline_s=5,
        )
        config = operator(
            display_name="Team",
            env_name="multigrid",
            workers={"a": player, "b": random_player()},
            link_groups=[LinkGroup("a", ["c"])],
            teams={"green": ["a", "c"], "blue": ["b"]},
            seats="swap",
            api="aec",
            env_kwargs={"size": 8},
            max_steps=7,
        )
        run = ExecutionConfig(
            seeds=[9, 1, 2, 3, 4, 5, 6], processes=2, record=RecordConfig(True, True), failure_score=-1.5
        )
        lines = describe(Experiment([config], run)).splitlines()
        seeds = "procedural seeds 9, 1, 2, 3, 4, 5, … (7)"
        assert lines[0] == (
            f"1 operator, 7 episodes each, {seeds}, processes 2, observations recorded, "
            "compressed when it has ended, "
            "a failed episode counts as -1.5"
        )
        assert lines[2] == "a (Team): T-v0 of multigrid, at most 7 steps"
        assert lines[3].startswith("  a  rl  cleanrl_worker  checkpoint=mmm")
        assert lines[3].endswith('mmm...  on_invalid={"retry": 2, "then": "noop"}  deadline_s=5.0')
        assert lines[6:] == [
            "  linked: a, c share one checkpoint",
            "  team green: a, c",
            "  team blue: b",
            "  seats are swapped: every seed is played once per seating",
            "  api: aec",
            '  env_kwargs: {"size": 8}',
        ]
