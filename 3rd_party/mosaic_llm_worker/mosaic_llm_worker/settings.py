"""Settings of a language model worker."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.server_settings import ServerSettings
from mosaic_worker.renaming import Names

_GREEDY: Final = 0.0
EXAMPLES: Final = "example_turns"
"""Key beside the settings: example turns by agent that the host has played for ``few_shot``."""

Strategy = Literal["naive", "chain_of_thought", "few_shot", "robust", "structured"]


class LlmSettings(ServerSettings):
    """The server, and how the model is talked to."""

    strategy: Strategy = Field(
        "robust", title="Strategy", description="Form in which the prompt requests an answer."
    )
    coordination_level: Literal[1, 2, 3] = Field(
        1,
        title="Coordination",
        description="Text on cooperation in the prompt: 1: none; 2: hints; 3: a role for each seat.",
    )
    role: str = Field(
        "",
        title="Role",
        max_length=2000,
        description="Role at coordination level 3: name of a role of the game, or your own sentence; "
        "empty: by seat.",
    )
    observation_mode: Literal["egocentric", "visible_teammates"] = Field(
        "egocentric",
        title="Observation",
        description="egocentric: the agent's own observation; visible_teammates: also the teammates in view.",
    )
    # The host decides by it which rewards the prompt has; the worker only accepts it.
    tell_rewards: Literal["auto", "always", "never"] = Field(
        "auto",
        title="Rewards",
        description="Whether the prompt contains the rewards of actions; auto: if they reveal nothing "
        "hidden.",
    )
    # The host tells the game so; the worker leaves out what it would say itself of legal actions.
    hide_legal: bool = Field(
        False,
        title="Hide legal actions",
        description="Neither the prompt nor the form of answers lists the legal actions.",
    )
    rename: Literal["none", "actions", "objects", "both"] | dict[str, Any] = Field(
        "none",
        title="Other names",
        description="Replace names of actions, or of objects and colors, by invented words throughout "
        "the run.",
    )
    rename_seed: int = Field(0, ge=0, title="Seed of names", description="Seed of the replaced names.")
    samples: int = Field(
        1,
        ge=1,
        le=25,
        title="Samples",
        description="Replies per decision; the action that most replies name is played, with equal votes "
        "the one named first.",
    )
    demonstrations: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Demonstrations",
        description="Episodes of a recorded run of the same environment, shown before the slot's own "
        "episode: {run: PATH, episode: 0}, with operator, agent and turns if they are "
        "ambiguous.",
    )
    history: int = Field(
        0, ge=0, le=200, title="History", description="Number of earlier turns in the prompt; 0: none."
    )
    summary: bool = Field(
        False,
        title="Notes",
        description="Every 8 turns the model writes a summary for itself (a separate call).",
    )
    talk: bool = Field(
        False, title="Talk", description="The agent may send a sentence to its teammates with every action."
    )
    prompt_folder: str = Field(
        "",
        title="Prompts",
        max_length=4096,
        description="Folder with prompt files that replace those of the worker; for missing files, the "
        "worker's are used.",
    )

    @property
    def names(self) -> Names:
        """New names for the game's words from the host; empty if the game keeps its own names."""
        return Names.of(self.rename)

    @model_validator(mode="after")
    def _samples_differ(self) -> LlmSettings:
        if self.samples > 1 and self.sent_temperature == _GREEDY:
            raise ValueError(
                "samples at temperature 0 are all equal, and each is paid for: set temperature, for "
                "example to 0.7"
            )
        return self
