"""Settings of the worker."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.server_settings import ServerSettings

FEW_SHOT = "few_shot"
ASKS_NOBODY = "dummy"


class BalrogSettings(ServerSettings):
    """The server, and which of BALROG's agents plays how; what is left out is as in its ``config.yaml``."""

    agent: Literal["naive", "cot", "robust_naive", "robust_cot", "few_shot", "custom", "dummy"] = Field(
        "naive", title="Agent", description="Which of BALROG's agents plays."
    )
    temperature: float | None = Field(
        1.0, ge=0, le=2, title="Temperature", description="0: the likeliest words; none: the server's own."
    )
    max_tokens: int = Field(
        8192, ge=1, le=1_000_000, title="Max reply tokens", description="Tokens that one reply may have."
    )
    max_text_history: int = Field(
        16,
        ge=1,
        le=1000,
        title="Text history",
        description="Observations that its prompt has in words, that of now included.",
    )
    max_cot_history: int = Field(
        1,
        ge=0,
        le=1000,
        title="Chain-of-thought history",
        description="Of how many earlier turns it is shown its thoughts in place of the action.",
    )
    max_icl_history: int = Field(
        1000,
        ge=0,
        le=100_000,
        title="Demonstration steps",
        description="Observations and actions of shown episodes that its prompt has at most.",
    )
    feedback_on_invalid_action: bool = Field(
        True,
        title="Feedback",
        description="The next prompt says that the reply named no action, and which action was played.",
    )
    demonstrations: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Demonstrations",
        description="Episodes of a recorded run of the same environment, for the few-shot agent: "
        "{run: PATH, episode: 0}.",
    )

    @model_validator(mode="after")
    def _shown_to_who_looks(self) -> BalrogSettings:
        if self.agent == FEW_SHOT and not self.demonstrations:
            raise ValueError(
                "the agent few_shot learns from episodes that it is shown: set demonstrations, such as "
                "{run: runs/mine, episode: 0}, or choose another agent"
            )
        if self.demonstrations and self.agent != FEW_SHOT:
            raise ValueError("demonstrations are for the agent few_shot alone: choose it, or leave them out")
        return self
