"""Settings of self-play."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from cleanrl_worker.config.ppo import OnPolicyConfig
from mosaic_worker.learning import training_fields as fields


class SelfPlayConfig(OnPolicyConfig):
    """Self-play: PPO against past copies of the learner and a pool, or with them in cooperative games.

    The defaults learn connect four in some minutes.
    """

    env_id: str = fields.environment(
        "connect_four_v3", "Id of a game for several agents, who act simultaneously or in turn."
    )
    num_envs: int = fields.num_envs(32, "Number of games played at the same time.", le=4096)
    seat: str = Field(
        "",
        title="Seat",
        description="Agent that the learner plays, in turn with all agents of equal spaces; empty: any.",
    )
    snapshot_every: int = Field(
        25_000,
        ge=0,
        title="Snapshot every",
        description="Decisions of the learner between two copies of itself that join the league; 0: no "
        "copies, only the pool.",
    )
    matchmaking: Literal["rating", "latest", "uniform"] = Field(
        "rating",
        title="Opponents",
        description="Choice of the other players: more often members with ratings near the learner's (in "
        "cooperative games: with the lowest returns) and the latest copy in half of the "
        "games; only the latest copy; or all equally often.",
    )
    pool: str = Field(
        "",
        title="Pool",
        description="Further members of the league, separated by commas: folders of trained policies of "
        "any worker, tournament files (all of their policies), names of behaviors such as "
        "random.",
        json_schema_extra=fields.MAIN,
    )

    @property
    def pool_entries(self) -> list[str]:
        """Entries of ``pool``."""
        return [entry.strip() for entry in self.pool.split(",") if entry.strip()]

    @model_validator(mode="after")
    def _require_opponent(self) -> SelfPlayConfig:
        if self.normalize_observations:
            raise ValueError(
                "normalize_observations cannot be used in self-play, because members would "
                "need different normalizations"
            )
        if not self.snapshot_every and not self.pool_entries:
            raise ValueError(
                "snapshot_every is 0 and pool is empty, so there is no opponent: set one of them"
            )
        if not self.snapshot_every and self.matchmaking == "latest":
            raise ValueError(
                "matchmaking is latest and snapshot_every is 0, so there is no past copy to "
                "play: set snapshot_every"
            )
        return self
