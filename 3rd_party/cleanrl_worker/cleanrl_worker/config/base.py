"""What every training can be told, and how a bad setting is said in one sentence."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

Width = Annotated[int, Field(ge=1, le=65_536)]
"""Of a layer."""

MAIN: dict[str, Any] = {"x-group": "main"}
"""Marks the few settings that a form shows first."""


class ConfigError(Exception):
    """A training that cannot be run as asked; the message is one sentence for the person.

    No ``ValueError``, so that pydantic and tyro pass it on as it is.
    """


class TrainingConfig(BaseModel):
    """What every algorithm can be told."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    RESUMABLE: ClassVar[frozenset[str]] = frozenset({"total_steps", "device", "async_envs", "video_every"})
    """Settings that a resumed training may have changed; the rest shape what is being resumed."""

    env_id: str = Field(
        "CartPole-v1",
        title="Environment",
        description="Gymnasium id of the environment (``package:Id-v0`` imports ``package`` first).",
    )
    seed: int = Field(
        1,
        ge=0,
        lt=2**62,
        title="Seed",
        description="The one seed that environments, initialisation, sampling and shuffling derive from.",
    )
    total_steps: int = Field(
        500_000,
        ge=1,
        title="Total steps",
        description="Environment steps of the whole training, over all copies.",
        json_schema_extra=MAIN,
    )
    num_envs: int = Field(
        8,
        ge=1,
        le=1024,
        title="Copies",
        description="Copies of the environment stepped together.",
        json_schema_extra=MAIN,
    )
    gamma: float = Field(
        0.99, ge=0, le=1, title="Discount", description="Discount factor.", json_schema_extra=MAIN
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        title="Device",
        description="Where the network learns; auto takes a GPU for images where there is one: "
        "for vectors a CPU is faster.",
        json_schema_extra=MAIN,
    )
    hidden: tuple[Width, ...] = Field(
        (64, 64),
        title="Hidden widths",
        description="Widths of the hidden layers.",
        min_length=1,
        max_length=16,
    )
    async_envs: bool = Field(
        False,
        title="Environments in processes",
        description="Step each copy in a process of its own; pays where a step takes a millisecond or more.",
    )
    select: str = Field(
        "",
        title="Entry of the observation",
        description="Key to take from a Dict observation; by default image, observation or rgb, "
        "else everything in one vector.",
    )
    grayscale: bool = Field(
        False, title="Grey", description="Turn colour images to grey before anything sees them."
    )
    resize: int = Field(
        0,
        ge=0,
        le=1024,
        title="Resize",
        description="Make images this many pixels high and wide; 0: as they are.",
    )
    frame_stack: int = Field(
        1, ge=1, le=64, title="Frames", description="How many of the last observations are shown together."
    )
    video_every: int = Field(
        0,
        ge=0,
        title="Video every",
        description="Film one episode of the current policy every so many steps; 0: never.",
    )

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
            raise ConfigError("; ".join(map(_sentence, reversed(first.values())))) from error


_BOUNDS = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
}


def _sentence(found: ErrorDetails) -> str:
    name = str(found["loc"][0]) if found["loc"] else ""
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
