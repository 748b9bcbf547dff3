"""Settings of the BALROG worker."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.server_settings import ServerSettings

FEW_SHOT = "few_shot"
ASKS_NOBODY = "dummy"


class BalrogSettings(ServerSettings):
    """Settings of the server and of the BALROG agent; the defaults are those of BALROG's ``config.yaml``."""

    agent: Literal["naive", "cot", "robust_naive", "robust_cot", "few_shot", "custom", "dummy"] = Field(
        "naive", title="Agent", description="The BALROG agent that plays."
    )
    temperature: float | None = Field(
        1.0,
        ge=0,
        le=2,
        title="Temperature",
        description="Temperature of sampling; 0: always the likeliest token; none: the server's default.",
    )
    max_tokens: int = Field(
        8192, ge=1, le=1_000_000, title="Max reply tokens", description="Largest number of tokens of a reply."
    )
    max_text_history: int = Field(
        16,
        ge=1,
        le=1000,
        title="Text history",
        description="Number of observations in the prompt as text, including the current one.",
    )
    max_cot_history: int = Field(
        1,
        ge=0,
        le=1000,
        title="Chain-of-thought history",
        description="Number of earlier turns whose reasoning the prompt contains in place of the action.",
    )
    max_icl_history: int = Field(
        1000,
        ge=0,
        le=100_000,
        title="Demonstration steps",
        description="Largest number of demonstrated observations and actions in the prompt.",
    )
    feedback_on_invalid_action: bool = Field(
        True,
        title="Feedback",
        description="After a reply without an action, the next prompt names the action that was played "
        "instead.",
    )
    demonstrations: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        title="Demonstrations",
        description="Episodes of a recorded run of the same environment, for the few-shot agent: "
        "{run: PATH, episode: 0}.",
    )

    @model_validator(mode="after")
    def _check_demonstrations(self) -> BalrogSettings:
        if self.agent == FEW_SHOT and not self.demonstrations:
            raise ValueError(
                "the agent few_shot needs demonstrated episodes: set demonstrations, for example "
                "{run: runs/mine, episode: 0}, or choose another agent"
            )
        if self.demonstrations and self.agent != FEW_SHOT:
            raise ValueError(
                "demonstrations are only for the agent few_shot: choose this agent, or leave them out"
            )
        return self
