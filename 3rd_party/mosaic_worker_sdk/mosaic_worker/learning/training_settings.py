"""The settings of every training, as a pydantic model, and how a bad setting is said in one sentence.

Only workers that train need pydantic; nothing else of the package imports this.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, FrozenSet, List, Literal, Mapping, Tuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import Annotated

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.training import TrainingRun

Width = Annotated[int, Field(ge=1, le=65_536)]
"""Of a layer."""


class TrainingSettings(BaseModel):
    """Settings of every algorithm of every worker."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    RESUMABLE: ClassVar[FrozenSet[str]] = frozenset({"total_steps", "device", "async_envs", "video_every"})
    """Settings that a resumed training may have changed; the rest shape what is being resumed."""

    @property
    def rollout(self) -> int:
        """Steps of all copies after which a training can end."""
        return self.num_envs

    def planned_steps(self, begun: int = 0) -> int:
        """Steps after which it ends: as many as were asked for, and what is left of the last rollout.

        Args:
            begun: Steps that it has had already.
        """
        left = self.total_steps - begun
        return begun + -(-left // self.rollout) * self.rollout

    def start(self, run: TrainingRun, algorithm: str, step: int) -> None:
        """Tell a run folder that this training begins, or goes on from ``step``.

        Args:
            run: The run folder.
            algorithm: Its name.
            step: Steps that it has had already.
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
        description="Where the network learns; auto takes a GPU for images where there is one: "
        "for vectors a CPU is faster.",
        json_schema_extra=fields.MAIN,
    )
    async_envs: bool = Field(
        default=False,
        title="Environments in processes",
        description="Step each in a process of its own; pays where a step takes a millisecond or more.",
    )
    select: str = Field(
        default="",
        title="Observation keys",
        description="Key to take from a Dict observation, or several with commas between, in one vector; "
        "by default image, observation or rgb, else everything in one vector.",
    )
    grayscale: bool = Field(
        default=False, title="Grayscale", description="Turn color images to grey before anything sees them."
    )
    resize: int = Field(
        default=0,
        ge=0,
        le=1024,
        title="Resize",
        description="Make images this many pixels high and wide; 0: as they are.",
    )
    frame_stack: int = Field(
        default=1,
        ge=1,
        le=64,
        title="Frame stack",
        description="How many of the last observations are shown together.",
    )
    video_every: int = Field(
        default=0,
        ge=0,
        title="Video every",
        description="Film an episode of the policy every so many steps, and of the finished one; 0: never.",
    )

    @property
    def selected(self) -> List[str]:
        """The keys of ``select``."""
        return [key.strip() for key in self.select.split(",") if key.strip()]

    def __init__(self, **settings: Any) -> None:
        """Check settings.

        Raises:
            ConfigError: Naming each setting that cannot be, and what it must be.
        """
        try:
            super().__init__(**settings)
        except ValidationError as error:
            # The first problem of each setting: what follows is often its echo.
            first = {str(found["loc"][:1]): found for found in reversed(error.errors())}
            raise ConfigError("; ".join(map(_sentence, reversed(list(first.values()))))) from error


class LibrarySettings(TrainingSettings):
    """Settings of a training that a library carries out."""

    LIBRARY: ClassVar[Tuple[str, ...]] = ()
    """Settings that the library gets under their own names."""

    # Libraries hand it to generators that take no more.
    seed: int = fields.seed(1, lt=2**31)

    def arguments(self) -> Dict[str, Any]:
        """The settings that the library gets, by its own names."""
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
