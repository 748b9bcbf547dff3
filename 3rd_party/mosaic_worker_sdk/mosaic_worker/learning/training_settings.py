"""Settings of every training, as a pydantic model, and one-sentence messages for invalid settings.

Only workers that train need pydantic; no other module of the package imports this module.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, FrozenSet, List, Literal, Mapping, Tuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import Annotated

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.training import TrainingRun

Width = Annotated[int, Field(ge=1, le=65_536)]
"""Width of a layer."""


class TrainingSettings(BaseModel):
    """Settings that every algorithm of every worker has."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    RESUMABLE: ClassVar[FrozenSet[str]] = frozenset({"total_steps", "device", "async_envs", "video_every"})
    """Settings that may differ when a training is resumed; the others determine the resumed state."""

    @property
    def rollout(self) -> int:
        """Environment steps, over all parallel environments, after which a training can end."""
        return self.num_envs

    def planned_steps(self, begun: int = 0) -> int:
        """Return the steps after which the training ends: the requested steps, rounded up to whole rollouts.

        Args:
            begun: Steps that were done before this process.
        """
        left = self.total_steps - begun
        return begun + -(-left // self.rollout) * self.rollout

    def start(self, run: TrainingRun, algorithm: str, step: int) -> None:
        """Report in the run folder that this training begins, or continues from ``step``.

        Args:
            run: Writes the reports to the run folder.
            algorithm: Name of the algorithm.
            step: Steps that were done before; 0 for a new training.
        """
        planned = self.planned_steps(step)
        run.start(algorithm, self.env_id, self.seed, planned, step, asked=self.total_steps)

    env_id: str = fields.environment("CartPole-v1")
    seed: int = fields.seed(1)
    total_steps: int = fields.total_steps(500_000)
    num_envs: int = fields.num_envs(8)
    gamma: float = fields.discount(0.99)
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        title="Device",
        description="Device on which the network learns; auto uses a GPU only for images, because "
        "a CPU is faster for vectors.",
        json_schema_extra=fields.MAIN,
    )
    async_envs: bool = Field(
        default=False,
        title="Environments in processes",
        description="Step each environment in its own process, which pays if a step takes 1 ms or more.",
    )
    select: str = Field(
        default="",
        title="Observation keys",
        description="Key of a Dict observation to use, or several with commas between, joined in one vector; "
        "by default image, observation or rgb, else all numeric entries in one vector.",
    )
    grayscale: bool = Field(default=False, title="Grayscale", description="Convert color images to gray.")
    resize: int = Field(
        default=0,
        ge=0,
        le=1024,
        title="Resize",
        description="Height and width to which images are resized, in pixels; 0 keeps their size.",
    )
    frame_stack: int = Field(
        default=1,
        ge=1,
        le=64,
        title="Frame stack",
        description="Number of the last observations that the network gets together.",
    )
    video_every: int = Field(
        default=0,
        ge=0,
        title="Video every",
        description="Steps between videos of an episode; the final policy gets one too. 0 for no videos.",
    )

    @property
    def selected(self) -> List[str]:
        """Keys in the setting ``select``."""
        return [key.strip() for key in self.select.split(",") if key.strip()]

    def __init__(self, **settings: Any) -> None:
        """Check all settings.

        Raises:
            ConfigError: Settings are invalid; the message names each one and the values that it may have.
        """
        try:
            super().__init__(**settings)
        except ValidationError as error:
            # Only the first problem of each setting, because later ones often follow from the first.
            first = {str(found["loc"][:1]): found for found in reversed(error.errors())}
            raise ConfigError("; ".join(map(_sentence, reversed(list(first.values()))))) from error


class LibrarySettings(TrainingSettings):
    """Settings of a training that a third-party library carries out."""

    LIBRARY: ClassVar[Tuple[str, ...]] = ()
    """Names of the settings that are passed to the library unchanged."""

    # Libraries pass the seed to random generators that accept no larger number.
    seed: int = fields.seed(1, lt=2**31)

    def arguments(self) -> Dict[str, Any]:
        """Return the arguments of the library's algorithm by name."""
        return {name: getattr(self, name) for name in self.LIBRARY}


# -- what is wrong with one ----------------------------------------------------------------

_BOUNDS = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
}


def _sentence(found: Mapping[str, Any]) -> str:
    where: Tuple[Any, ...] = found["loc"]
    name = str(where[0]) if where else ""
    name = f"each of {name}" if len(where) > 1 else name
    context, given, kind = found.get("ctx", {}), found["input"], found["type"]
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{name} {words} {context[key]}, not {given}"
    if kind in ("too_short", "too_long"):
        bound = (
            f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        )
        return f"{name} must have {bound} entries, not {context['actual_length']}"
    if kind in _TYPES:
        return f"{name} must be {_TYPES[kind]}, not {given!r}"
    if kind == "literal_error":
        return f"{name} must be {context['expected']}, not {given!r}"
    if kind == "extra_forbidden":
        return f"there is no setting {name!r}"
    if kind == "value_error":
        return str(context["error"])
    return f"{name}: {found['msg']}"
