"""Settings of a vision worker."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.settings import LlmSettings


class VlmSettings(LlmSettings):
    """As a language worker's, and what of the picture and the words is shown."""

    with_text: bool = Field(
        True,
        title="With words",
        description="The prompt also says in words what the agent sees, "
        "where the environment can be described.",
    )
    # The host renders the image and reads the next three settings; the worker only accepts them.
    image_view: Literal["egocentric", "whole"] = Field(
        "egocentric",
        title="Picture",
        description="What the agent itself sees; or the whole frame, where nothing in it is hidden from it.",
    )
    image_size: int = Field(
        0, ge=0, le=2048, title="Size", description="Longest side in pixels; 0: as it is drawn."
    )
    image_grid: bool = Field(
        False, title="Grid", description="A grid with numbers of rows and columns over the picture."
    )
    image_detail: Literal["auto", "low", "high"] = Field(
        "auto", title="Detail", description="How closely the model looks, where the provider lets one choose."
    )
    image_history: int = Field(
        0,
        ge=0,
        le=50,
        title="Image history",
        description="Earlier turns that have their pictures again; each is paid for again; 0: none.",
    )

    @model_validator(mode="after")
    def _pictures_of_the_history(self) -> VlmSettings:
        if self.image_history > self.history:
            raise ValueError(
                f"image_history {self.image_history} shows pictures of turns that are not told again: set "
                f"history to {self.image_history} or more"
            )
        return self
