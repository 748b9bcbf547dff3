"""What every training of this worker can be told, and settings that several algorithms share."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mosaic_worker.learning.training_settings import TrainingSettings, num_envs_field, rate, steps

Width = Annotated[int, Field(ge=1, le=65_536)]
"""Of a layer."""


def first_rate(default: float) -> Any:
    """``learning_rate``."""
    return rate(default, "Step size of the optimizer at the start.")


def minibatch(default: int) -> Any:
    """``batch_size``."""
    return Field(
        default, ge=2, le=1_000_000, title="Minibatch size", description="Steps of one gradient step."
    )


class TrainingConfig(TrainingSettings):
    """What every algorithm can be told."""

    OWN: ClassVar[frozenset[str]] = frozenset()
    """Settings handed to the library's constructor under their own names."""

    # The library hands it to generators that take no more.
    seed: int = Field(1, ge=0, lt=2**31, title="Seed", description="Everything random derives from it.")
    total_steps: int = steps(100_000)
    num_envs: int = num_envs_field(1)
    learning_rate: float = first_rate(3e-4)
    anneal_lr: bool = Field(
        False,
        title="Anneal the learning rate",
        description="Let the learning rate fall linearly, by the steps played, to zero (cleanrl_worker: "
        "whole for the first rollout, one step above zero for the last).",
    )
    hidden: tuple[Width, ...] | None = Field(
        None,
        title="Hidden layer sizes",
        description="Widths of the hidden layers; none: the library's own choice.",
        max_length=16,
    )
    activation: Literal["default", "tanh", "relu", "elu"] = Field(
        "default", title="Activation", description="Between layers; default: the library's own choice."
    )
    normalize_observations: bool = Field(
        False,
        title="Normalise observations",
        description="Divide vectors by their running deviation; the statistics stay with the policy.",
    )
    normalize_rewards: bool = Field(
        False, title="Normalise rewards", description="Divide rewards by the deviation of the return."
    )

    def arguments(self) -> dict[str, Any]:
        """Arguments of the library's constructor that are the algorithm's own."""
        return {name: getattr(self, name) for name in sorted(self.OWN)}
