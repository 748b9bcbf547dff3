"""Settings of the chess worker."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.server_settings import ServerSettings

HAVE_TOOLS: Final = frozenset({"openai", "openrouter", "anthropic"})
"""Providers whose models can call tools without a special setup of the server."""


class ChessSettings(ServerSettings):
    """Settings of the server, and of the dialogue about a move."""

    dialogue: Literal["auto", "tools", "text"] = Field(
        "auto",
        title="Dialogue",
        description="tools: the model calls functions; text: the model writes commands; auto: tools if "
        "the provider has them.",
    )
    max_turns: int = Field(
        10, ge=1, le=100, title="Turns", description="Largest number of replies of the model for one move."
    )
    max_illegal: int = Field(
        3,
        ge=1,
        le=100,
        title="Illegal moves",
        description="Number of illegal moves after which the answer is unusable.",
    )
    show_position: bool = Field(
        False,
        title="Show position",
        description="The first message contains the board and the legal moves.",
    )
    hide_legal: bool = Field(
        False,
        title="Hide legal moves",
        description="No message lists the legal moves, and no command requests them.",
    )

    @model_validator(mode="after")
    def _check_reasoning_with_tools(self) -> ChessSettings:
        if self.dialogue == "tools" and self._reasons_separately:
            raise ValueError(
                "anthropic's tools require the reasoning of earlier turns, which is not stored: with "
                "reasoning_tokens set dialogue to text"
            )
        return self

    @property
    def _reasons_separately(self) -> bool:
        return self.client_name == "anthropic" and bool(self.reasoning_tokens)

    @property
    def tools(self) -> bool:
        """Whether the model calls functions."""
        has_tools = self.client_name in HAVE_TOOLS and not self._reasons_separately
        return self.dialogue == "tools" or (self.dialogue == "auto" and has_tools)
