"""Texts for the inspector panel of a policy."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.services.compatibility import space_words
from gym_gui.services.policies.policy_library import PolicyEntry
from gym_gui.services.policies.policy_parts import AgentPart, networks_in_words, parts_of
from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.ui.numbers import local
from gym_gui.ui.policies.policies_model import evaluated_words, moment_of, score_words
from mosaic_worker.preprocessing import describe_steps


def parts_and_texts(policy: PolicyEntry) -> tuple[Sequence[AgentPart], dict[str, str]]:
    """Return the agents of a joint policy, and the policy's facts by name; ``""`` hides the row of a fact."""
    about = policy.file.description
    parts = parts_of(about)
    moment = moment_of(policy)
    imported = about.origin.get("kind") == "imported"
    origin = f"imported from {about.origin.get('file', 'a file')}" if imported else "trained with MOSAIC"
    alone = {
        "Observes": space_words(about.observation_space),
        "Preprocessing": describe_steps(list(about.preprocessing)) if about.preprocessing else "",
        "Acts in": space_words(about.action_space),
    }
    texts = {
        "Algorithm": algorithm_word(about.algorithm),
        "Environment": about.env_id,
        "Worker": about.worker,
        "Steps": f"{local(about.total_steps):,}" if about.total_steps else "",
        "Score": score_words(policy),
        "Return": evaluated_words(policy),
        **(dict.fromkeys(alone, "") if parts else alone),  # the table has each agent's
        "Networks": networks_in_words(parts) if parts else "",
        "Seed": str(about.seed),
        "Trained": f"{moment:%d %b %Y, %H:%M}" if moment else "",
        "Origin": origin,
        "License": about.licence,
        "Weights": f"sha256 {about.weights_sha256}" if about.weights_sha256 else "",
        "Folder": str(policy.file.path),
    }
    return parts, texts
