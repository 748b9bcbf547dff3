"""A joint policy, opened into its agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gym_gui.services.policies.policy_library import PolicyLibrary
from gym_gui.services.policies.policy_parts import joint_slots, networks_in_words, parts_of
from gym_gui.services.policies.policy_scores import STANDARD_SEEDS, PolicyScore
from gym_gui.services.policy_files import describe_policy
from gym_gui.services.store import Store
from mosaic_worker.checkpoint import PolicyDescription
from tests.support.joint import AGENTS
from tests.support.policies import PPO


def with_networks(about: PolicyDescription, *weights: str) -> PolicyDescription:
    parts = [replace(part, weights=each) for part, each in zip(about.parts, weights, strict=True)]
    return replace(about, parts=tuple(parts))


def test_each_agent_has_what_is_its_own(joint_policy: Path) -> None:
    parts = parts_of(describe_policy(joint_policy).description)
    assert [part.agent for part in parts] == list(AGENTS)
    assert [(part.sees, part.does, part.prepared_by) for part in parts][1] == (
        "Box(18)",
        "Discrete(5)",
        "append 0 1 0",
    )
    assert parts_of(describe_policy(PPO).description) == ()


def test_who_shares_a_network_is_said(joint_policy: Path) -> None:
    about = describe_policy(joint_policy).description
    said = [
        networks_in_words(parts_of(with_networks(about, *weights)))
        for weights in (("a.", "a.", "a."), ("a.", "b.", "c."), ("a.", "a.", "c."), ("a.", "b.", "b."))
    ]
    assert said == [
        "all 3 share one",
        "each agent has its own",
        "agent_0 and agent_1 share one, agent_2 has its own",
        "agent_0 has its own, agent_1 and agent_2 share one",
    ]
    assert networks_in_words(parts_of(about)[:2]) == "both share one"


def test_slots_play_it_whole(joint_policy: Path) -> None:
    row = {"checkpoint": "x"}
    assert joint_slots(describe_policy(joint_policy).description, row) == {
        "workers": {"agent_0": row},
        "link_groups": [{"primary_agent": "agent_0", "linked_agents": ["agent_1", "agent_2"]}],
    }
    alone = describe_policy(PPO).description
    assert joint_slots(alone, row) == {"workers": {"agent": row}}
    # By self-play one agent of several may have learnt, and no slot there is called agent.
    assert joint_slots(replace(alone, agents=("speaker_0",)), row) == {"workers": {"speaker_0": row}}


def test_a_score_belongs_to_how_every_agent_is_prepared(joint_policy: Path, tmp_path: Path) -> None:
    library = PolicyLibrary(Store(tmp_path / "data", tmp_path / "runs", tmp_path / "cache"))
    file = describe_policy(joint_policy)
    library.scores.save(file, PolicyScore.now([0.0] * len(STANDARD_SEEDS), STANDARD_SEEDS))
    assert library.scores.get(file) is not None
    *others, last = file.description.parts
    otherwise = replace(file.description, parts=(*others, replace(last, preprocessing=())))
    assert library.scores.get(replace(file, description=otherwise)) is None
