"""What a worker's settings are: the source of the form a person fills in, and of its checks.

A worker says them in ``[settings.NAME]`` tables of its ``worker.toml``. One that was
registered from code may give a pydantic model instead (``config_schema``); where there is
neither, the form has what the worker's default settings show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast, get_args

from gym_gui.core.errors import UsageError
from gym_gui.core.secret_refs import parse_reference
from gym_gui.core.seeding import SEED
from gym_gui.workers.patterns import either, made_for_others, matches

SettingType = Literal[
    "text",
    "choice",
    "whole",
    "number",
    "flag",
    "policy",
    "file",
    "program",
    "secret",
    "list",
    "object",
    "episode",
    "server",
    "model",
    "prompts",
]
TYPES: Final[tuple[str, ...]] = get_args(SettingType)
_WORDS: Final = {
    "text": "text",
    "choice": "one of its options",
    "whole": "a whole number",
    "number": "a number",
    "flag": "yes or no",
    "policy": "the path of a policy",
    "file": "the path of a file",
    "program": "the path of a program",
    "secret": "env:NAME or keyring:NAME",
    "list": "a list",
    "object": 'a JSON object, such as {"top_k": 20}',
    "episode": 'a recorded episode, such as {"run": "runs/mine", "episode": 0}',
    "server": "an address such as http://localhost:8000/v1",
    "model": "the name of a model",
    "prompts": "the path of a folder",
}
_CONTAINERS: Final[Mapping[str, type]] = {"list": list, "object": dict, "episode": dict}
_ADDRESS: Final = re.compile(r"https?://[^\s/?#]+\S*")
ASKING: Final = ("server", "model", "prompts")
"""Types whose ``module`` is run for whoever fills in the form."""


@dataclass(frozen=True)
class SettingOption:
    """One value of a choice.

    Attributes:
        value: As experiment files write it.
        title: As people read it.
        meaning: A sentence.
        environments: Patterns (``MiniGrid-*``) of the environments it is for; empty: all.
        agents: Patterns of the slots it is for (``*/goal``); empty: all.
    """

    value: str
    title: str = ""
    meaning: str = ""
    environments: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What people read."""
        return self.title or self.value

    def incompatibility(self, env_id: str, agent: str = "") -> str:
        """Why it is not for this slot, as a sentence without a full stop; empty when it is.

        Args:
            env_id: Canonical id of the environment; empty: not known yet.
            agent: The slot; empty: not known yet.
        """
        if others := made_for_others(env_id, self.environments):
            return f"{self.label} is {others}"
        if agent and not matches(agent, self.agents):
            return f"{self.label} is for slots named {either(self.agents)}, not for {agent}"
        return ""


@dataclass(frozen=True)
class Setting:
    """One setting of a worker.

    Attributes:
        name: Its key in experiment files.
        type: What kind of value it takes.
        title: Its label; the name by default.
        meaning: One sentence for the tooltip and the documentation.
        default: What holds where nothing is said; ``None``: the worker's own choice.
        options: Values of a choice.
        minimum: Least number.
        maximum: Greatest number.
        required: Whether the worker cannot play without.
        policies: Whether each option of this choice is a policy of its own to people.
        environments: Patterns of the environments it is for; empty: all.
        group: The heading under which a form shows it with others; empty: above them.
        advanced: Whether a form shows it on request only.
        module: Run with ``python -m`` in the worker's environment for whoever fills in the form:
            it tries a ``server``, lists its models, or shows what ``prompts`` make of a decision.
        provider: The choice that says whose key a ``secret`` is.
    """

    name: str
    type: SettingType = "text"
    title: str = ""
    meaning: str = ""
    default: Any = None
    options: tuple[SettingOption, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = False
    policies: bool = False
    environments: tuple[str, ...] = ()
    group: str = ""
    advanced: bool = False
    module: str = ""
    provider: str = ""

    def concerns(self, env_id: str) -> bool:
        """Whether it means anything in this environment; where it is not known yet, all do."""
        return not env_id or matches(env_id, self.environments)

    @property
    def label(self) -> str:
        """What people read."""
        return self.title or self.name.replace("_", " ").capitalize()

    def option(self, value: object) -> SettingOption | None:
        """The option of that value."""
        return next((option for option in self.options if option.value == value), None)

    def problem(self, value: object) -> str:
        """Why ``value`` cannot stand here, as a sentence without a full stop; empty when it can."""
        if value is None or value == "":
            return f"{self.label} is missing" if self.required and self.default is None else ""
        if not self._fits(value):
            # What was typed in the place of a key may be the key itself.
            instead = "" if self.type == "secret" else f", not {_short(value)}"
            return f"{self.label} must be {self._wanted()}{instead}"
        return ""

    def _fits(self, value: object) -> bool:
        if self.type == "choice":
            return self.option(value) is not None
        if self.type == "flag":
            return isinstance(value, bool)
        if self.type in _CONTAINERS:
            return isinstance(value, _CONTAINERS[self.type])
        if self.type in ("whole", "number"):
            kinds = int if self.type == "whole" else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds):
                return False
            low = -math.inf if self.minimum is None else self.minimum
            high = math.inf if self.maximum is None else self.maximum
            return low <= value <= high
        if not isinstance(value, str):
            return False
        if self.type == "server":
            return _ADDRESS.fullmatch(value) is not None
        return self.type != "secret" or parse_reference(value) is not None

    def _wanted(self) -> str:
        if self.type == "choice":
            return either([option.value for option in self.options])
        low, high = self.minimum, self.maximum
        if self.type in ("whole", "number") and (low is not None or high is not None):
            word = _WORDS[self.type]
            if low is not None and high is not None:
                return f"{word} from {low:g} to {high:g}"
            return f"{word} from {low:g}" if low is not None else f"{word} up to {high:g}"
        return _WORDS[self.type]


def problems(schema: Sequence[Setting], values: Mapping[str, object]) -> dict[str, str]:
    """What is wrong with ``values``, by setting; settings that the schema does not know are left alone."""
    found = {setting.name: setting.problem(values.get(setting.name)) for setting in schema}
    return {name: sentence for name, sentence in found.items() if sentence}


def grouped(schema: Sequence[Setting]) -> tuple[Setting, ...]:
    """Settings as a form shows them: those without a group, then group by group, as each was first named."""
    groups = list(dict.fromkeys(["", *(setting.group for setting in schema)]))
    return tuple(sorted(schema, key=lambda setting: groups.index(setting.group)))


SEED_OF_SLOT: Final = Setting(
    SEED,
    "whole",
    title="Seed",
    meaning="Mixed into its random numbers: players with different seeds are independent; without one, "
    "they come from the episode alone",
    minimum=0,
    advanced=True,
)
"""The setting that the engine gives every worker that does not name it itself."""


def read_settings(table: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings of a manifest whose keys have been checked already.

    Args:
        table: ``[settings]``: name to its table.

    Raises:
        UsageError: A choice without options, a default that its own setting refuses, limits
            that contradict each other.
    """
    settings = tuple(_read(name, entry) for name, entry in table.items())
    choices = {setting.name for setting in settings if setting.type == "choice"}
    for setting in settings:
        if setting.provider and setting.provider not in choices:
            raise UsageError(
                f"settings.{setting.name}.provider is {setting.provider!r}, which is none of its choices",
                fix=f"Name one: {either(sorted(choices))}" if choices else "Leave it out",
            )
    return settings


def _read(name: str, entry: Mapping[str, Any]) -> Setting:
    given = dict(entry)
    given["options"] = tuple(_option(option) for option in entry.get("options", ()))
    given["environments"] = tuple(entry.get("environments", ()))
    setting = Setting(name=name, **given)
    where, options = f"settings.{name}", setting.options
    if (setting.type == "choice") != bool(options):
        missing = f"has options, but is of type {setting.type}" if options else "is a choice without options"
        raise UsageError(f"{where} {missing}", fix='Give options = [{value = "…"}] to a choice, to it alone')
    if len({option.value for option in options}) < len(options):
        raise UsageError(f"{where} has an option twice", fix="Give every value once")
    if setting.module and setting.type not in ASKING:
        raise UsageError(
            f"{where} has a module, but is of type {setting.type}", fix=f"Give module to {either(ASKING)}"
        )
    if setting.provider and setting.type != "secret":
        raise UsageError(
            f"{where} has a provider, but is of type {setting.type}", fix="Give provider to a secret"
        )
    low, high = setting.minimum, setting.maximum
    if low is not None and high is not None and low > high:
        raise UsageError(f"{where}: the minimum {low:g} is above the maximum {high:g}", fix="Swap the two")
    if setting.default is not None and (wrong := setting.problem(setting.default)):
        raise UsageError(
            f"{where}: its default does not fit: {wrong}", fix="Change the default or the limits"
        )
    return setting


def _option(entry: Mapping[str, Any]) -> SettingOption:
    given = dict(entry)
    for key in ("environments", "agents"):
        given[key] = tuple(entry.get(key, ()))
    return SettingOption(**given)


def settings_from_model(model: type) -> tuple[Setting, ...]:
    """The settings that a pydantic model describes; what it cannot say in a form is text."""
    schema: dict[str, Any] = cast("Any", model).model_json_schema()
    needed: list[str] = schema.get("required") or []
    found: list[Setting] = []
    for name, entry in schema.get("properties", {}).items():
        shapes: list[dict[str, Any]] = [entry, *entry.get("anyOf", ())]
        shape = next((s for s in shapes if "enum" in s or s.get("type") in _JSON_TYPES), entry)
        kind = "choice" if "enum" in shape else _JSON_TYPES.get(shape.get("type", ""), "text")
        found.append(
            Setting(
                name,
                cast(SettingType, kind),
                entry.get("title", ""),
                entry.get("description", ""),
                entry.get("default"),
                tuple(SettingOption(str(value)) for value in shape.get("enum", ())),
                shape.get("minimum"),
                shape.get("maximum"),
                name in needed,
            )
        )
    return tuple(found)


_JSON_TYPES: Final[Mapping[str, str]] = {
    "string": "text",
    "integer": "whole",
    "number": "number",
    "boolean": "flag",
    "array": "list",
    "object": "object",
}


def settings_from_values(values: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings that default values show: their names, and types by the values."""

    def kind(value: object) -> SettingType:
        if isinstance(value, bool):
            return "flag"
        if isinstance(value, int):
            return "whole"
        return "number" if isinstance(value, float) else "text" if isinstance(value, str) else "list"

    return tuple(
        Setting(name, kind(value), default=value)
        for name, value in values.items()
        if not isinstance(value, dict)
    )


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}…"
