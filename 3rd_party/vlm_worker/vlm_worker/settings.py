"""Settings of the vision-language model worker."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from mosaic_llm_worker.settings import LlmSettings


class VlmSettings(LlmSettings):
    """Settings of the language model worker, and settings of the image and the text in prompts."""

    with_text: bool = Field(
        True,
        title="With words",
        description="The prompt also describes the observation as text, if the environment can be described.",
    )
    # The host renders the image and reads the next three settings; the worker only accepts them.
    image_view: Literal["egocentric", "whole"] = Field(
        "egocentric",
        title="Picture",
        description="The agent's own observation; or the whole frame, if it shows nothing that is hidden "
        "from the agent.",
    )
    image_size: int = Field(
        0, ge=0, le=2048, title="Size", description="Longest side of the image in pixels; 0: unchanged size."
    )
    image_grid: bool = Field(
        False, title="Grid", description="Draw a grid with numbers of rows and columns over the image."
    )
    image_detail: Literal["auto", "low", "high"] = Field(
        "auto",
        title="Detail",
        description="Detail with which the model sees the image, if the provider has a choice.",
    )
    image_history: int = Field(
        0,
        ge=0,
        le=50,
        title="Image history",
        description="Number of earlier turns that are shown with their images, each of which is paid for "
        "again; 0: none.",
    )

    @model_validator(mode="after")
    def _check_image_history(self) -> VlmSettings:
        if self.image_history > self.history:
            raise ValueError(
                f"image_history {self.image_history} repeats images of turns that are not in the history: "
                f"set history to {self.image_history} or more"
            )
        return self
