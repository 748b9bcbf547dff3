"""Settings of self-play."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from cleanrl_worker.config.ppo import OnPolicyConfig
from mosaic_worker.learning import training_fields as fields


class SelfPlayConfig(OnPolicyConfig):
    """Self-play: PPO against its own past selves and a pool, or with them where all are on one side.

    The defaults learn connect four in some minutes.
    """

    env_id: str = fields.environment(
        "connect_four_v3", "A game of several agents, who act at once or in turn."
    )
    num_envs: int = fields.num_envs(32, "Games that are played side by side.", le=4096)
    seat: str = Field(
        "",
        title="Seat",
        description="Agent that learns, and in turn all that see and act alike; left out, all take turns.",
    )
    snapshot_every: int = Field(
        25_000,
        ge=0,
        title="Snapshot every",
        description="Decisions of the learner between two members that it leaves in its league; 0: it meets "
        "the pool alone.",
    )
    matchmaking: Literal["rating", "latest", "uniform"] = Field(
        "rating",
        title="Opponents",
        description="Whom it meets: members rated near it more often (where all are on one side: with whom "
        "it earns least), the latest past self in half of the games; the latest alone; or all alike.",
    )
    pool: str = Field(
        "",
        title="Pool",
        description="Others who are members from the beginning, with commas between: folders of "
        "trained policies of any worker, tournament files (all of their policies), names of behaviors "
        "such as random.",
        json_schema_extra=fields.MAIN,
    )

    @property
    def pool_entries(self) -> list[str]:
        """Entries of ``pool``."""
        return [entry.strip() for entry in self.pool.split(",") if entry.strip()]

    @model_validator(mode="after")
    def _see_that_there_is_an_opponent(self) -> SelfPlayConfig:
        if self.normalize_observations:
            raise ValueError("normalize_observations is not for self-play, whose members would see otherwise")
        if not self.snapshot_every and not self.pool_entries:
            raise ValueError("snapshot_every is 0, and pool is empty: there is no opponent to meet")
        if not self.snapshot_every and self.matchmaking == "latest":
            raise ValueError("matchmaking is latest, and snapshot_every is 0: there is no past self to meet")
        return self
