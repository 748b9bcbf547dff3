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

    strategy: Strategy = Field("robust", title="Strategy", description="How an answer is asked for.")
    coordination_level: Literal[1, 2, 3] = Field(
        1,
        title="Coordination",
        description="1: nothing is said of playing together; 2: hints; 3: a role for each seat.",
    )
    role: str = Field(
        "",
        title="Role",
        max_length=2000,
        description="At level 3: a role of the game by name, or one in your own words; empty: by seat.",
    )
    observation_mode: Literal["egocentric", "visible_teammates"] = Field(
        "egocentric",
        title="Observation",
        description="egocentric: what the agent sees; visible_teammates: also who of its team it sees.",
    )
    # The host decides by it which rewards the prompt has; the worker only accepts it.
    tell_rewards: Literal["auto", "always", "never"] = Field(
        "auto",
        title="Rewards",
        description="Whether the prompt says what actions earned; auto: where that betrays nothing.",
    )
    # The host tells the game so; the worker leaves out what it would say itself of legal actions.
    hide_legal: bool = Field(
        False,
        title="Hide legal actions",
        description="Neither the prompt nor the form of an answer says which actions are legal.",
    )
    rename: Literal["none", "actions", "objects", "both"] | dict[str, Any] = Field(
        "none",
        title="Other names",
        description="Actions, or things and colours, are called by made-up words throughout the run.",
    )
    rename_seed: int = Field(0, ge=0, title="Seed of names", description="Which other names.")
    samples: int = Field(
        1,
        ge=1,
        le=25,
        title="Samples",
        description="Replies to each question, of which the action that most name is played; of several with "
        "as many votes the one named first.",
    )
    demonstrations: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Demonstrations",
        description="Episodes of a recorded run of the same environment, shown before its own: "
        "{run: PATH, episode: 0}, with operator, agent and turns where they are not plain.",
    )
    history: int = Field(
        0, ge=0, le=200, title="History", description="Earlier turns that the model is shown again; 0: none."
    )
    summary: bool = Field(
        False, title="Notes", description="Every 8 turns the model sums up for itself (a call of its own)."
    )
    talk: bool = Field(
        False, title="Talk", description="The agent may say a sentence to its team-mates with every action."
    )
    prompt_folder: str = Field(
        "",
        title="Prompts",
        max_length=4096,
        description="Folder with texts in place of those that come with the worker; what it lacks is theirs.",
    )

    @property
    def names(self) -> Names:
        """New names for the game's words from the host; empty if the game keeps its own names."""
        return Names.of(self.rename)

    @model_validator(mode="after")
    def _samples_differ(self) -> LlmSettings:
        if self.samples > 1 and self.sent_temperature == _GREEDY:
            raise ValueError(
                "samples at temperature 0 are one reply, paid for several times: set temperature, such as 0.7"
            )
        return self
