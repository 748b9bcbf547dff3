"""What trainings of this worker can be told; read without torch."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import model_validator

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import TrainingSettings, Width


class ReinforceSettings(TrainingSettings):
    """REINFORCE with a baseline (Williams 1992): whole episodes, each action by what followed it."""

    total_steps: int = fields.total_steps(100_000)
    num_envs: int = fields.num_envs(8, "Episodes that are played side by side for each update.")
    learning_rate: float = fields.learning_rate(3e-3)
    hidden: tuple[Width, ...] = fields.hidden((64, 64), min_length=1)
    ent_coef: float = fields.entropy_weight(0.01)
    vf_coef: float = fields.value_weight(0.5, "Weight of the baseline's loss, half the squared error.")
    max_grad_norm: float = fields.gradient_norm(0.5)

    @model_validator(mode="after")
    def _check_processes(self) -> ReinforceSettings:
        if self.async_envs:
            raise ValueError("reinforce plays its episodes in one process; leave async_envs out")
        return self


@dataclass(frozen=True)
class Algorithm:
    """What the worker learns with; forms and ``mosaic train`` read these."""

    name: str = "reinforce"
    title: str = "REINFORCE"
    config_class: type[ReinforceSettings] = ReinforceSettings
    actions: tuple[str, ...] = ("discrete",)
    observations: tuple[str, ...] = ("vector",)
    masks: bool = True
    recurrent: bool = False
    paradigms: tuple[str, ...] = ("SINGLE_AGENT",)


ALGORITHMS = {"reinforce": Algorithm()}
