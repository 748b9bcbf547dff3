"""Settings of self-play."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN
from cleanrl_worker.config.ppo import PPOConfig


class SelfPlayConfig(PPOConfig):
    """Self-play: PPO against its own past selves and a pool, in games in which every agent is for itself.

    Values are those with which connect four is learnt in some minutes.
    """

    env_id: str = Field(
        "connect_four_v3",
        title="Environment",
        description="A game whose agents see and act alike and are each a side of their own.",
    )
    num_envs: int = Field(
        32,
        ge=1,
        le=4096,
        title="Copies",
        description="Games that are played side by side.",
        json_schema_extra=MAIN,
    )
    snapshot_every: int = Field(
        25_000,
        ge=1,
        title="Member every",
        description="Decisions of the learner between two members that it leaves in its league.",
        json_schema_extra=MAIN,
    )
    matchmaking: Literal["rating", "latest", "uniform"] = Field(
        "rating",
        title="Opponents",
        description="Whom it meets: members rated near it more often, the latest one in half of the games; "
        "the latest alone; or all alike.",
    )
    pool: str = Field(
        "",
        title="Pool",
        description="Folders of trained policies of this worker that are members from the beginning, with "
        "commas between.",
    )

    @property
    def pool_folders(self) -> list[str]:
        """The folders of ``pool``."""
        return [folder.strip() for folder in self.pool.split(",") if folder.strip()]

    @model_validator(mode="after")
    def _see_that_statistics_stand_still(self) -> SelfPlayConfig:
        if self.normalize_observations:
            raise ValueError("normalize_observations is not for self-play, whose members would see otherwise")
        return self
