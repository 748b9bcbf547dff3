"""Settings of a worker or a training as JSON Schema (2020-12), one property for each setting.

Forms, checks and lists are made from the schema. A manifest's ``[settings.NAME]`` tables are converted to
such properties (:mod:`gym_gui.workers.settings.settings_table`); a pydantic model and a
``train_schema.json`` contain them already. Properties that JSON Schema lacks are in ``x-`` keys:

====================  =================================================================================
``x-kind``            Meaning of a text or an object: one of :data:`KINDS`.
``x-group``           Heading under which a form shows the setting. ``main``: first, ``more``: on request.
``x-advanced``        Whether a form shows the setting only on request.
``x-environments``    Patterns of the environments for which the setting, or an option of it, is made.
``x-agents``          Patterns of the slots for which an option is made.
``x-needs``           What a slot must have for an option, from :data:`SLOT_NEEDS`.
``x-turns``           Number of example turns of the environment that the worker receives with an option.
``x-policies``        Whether people see each option as a separate policy.
``x-only-with``       Policies of the worker for which the setting has an effect.
``x-module``          Module that runs for the user who fills in the form: tries a server, lists models,
                      previews prompts, checks a file.
``x-command``         Command that replaces a file's module, for a worker in another language.
``x-provider``        Name of the choice of providers to which a secret belongs.
====================  =================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from gym_gui.core.seeding import SEED
from gym_gui.workers.patterns import either, made_for_others, matches
from gym_gui.workers.settings.settings_check import first_problem, wanted
from gym_gui.workers.settings.settings_text import text_of

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
KINDS: Final = ("policy", "file", "program", "secret", "episode", "server", "model", "prompts")
SLOT_NEEDS: Final[Mapping[str, str]] = {
    "manager": "a manager that sets its goals, and this slot has none: add one under Two levels, or choose "
    "another policy",
    "measurements": "numbers that have names, and this slot's observation has none",
    "one_control": "an action that is one number or one of a list, and this slot's has several numbers",
}
"""Properties of a slot that an option may need, each with text for the message if the slot lacks it."""

_SAID: Final = re.compile(r"(?:^|[;,] )(?P<value>-?\d[\d.]*|none|empty): (?P<words>[^;]+?)(?=;|\. |\.?$)")
_BY_DEFAULT: Final = re.compile(r"(?:^|[;,] )by default (?P<words>[^;]+?)(?=;|\. |\.?$)")


@dataclass(frozen=True)
class SettingOption:
    """One option of a setting that is a choice.

    Attributes:
        value: The value in experiment files.
        title: Title for people.
        meaning: A sentence about the option.
        environments: Patterns (``MiniGrid-*``) of the environments for which it is made; empty for all.
        agents: Patterns of the slots for which it is made (``*/goal``); empty for all.
        needs: Properties that a slot must have, from :data:`SLOT_NEEDS`.
        turns: Number of example turns of the slot's environment that the worker receives with the option.
    """

    value: Any
    title: str = ""
    meaning: str = ""
    environments: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    turns: int = 0

    @property
    def label(self) -> str:
        """Title of the option; without a title, its value as text."""
        return self.title or text_of(self.value)

    def incompatibility(self, env_id: str, agent: str = "", offers: Collection[str] | None = None) -> str:
        """Return why the option does not fit a slot, as a sentence without a full stop; ``""`` if it fits.

        Args:
            env_id: Canonical id of the environment; ``""`` if it is not known yet.
            agent: The slot; ``""`` if it is not known yet.
            offers: Properties and inputs that the slot has; ``None`` if they are not known yet.
        """
        if others := made_for_others(env_id, self.environments):
            return f"{self.label} is {others}"
        if agent and not matches(agent, self.agents):
            return f"{self.label} is for slots named {either(self.agents)}, not for {agent}"
        missing = next((need for need in self.needs if offers is not None and need not in offers), "")
        return f"{self.label} needs {SLOT_NEEDS[missing]}" if missing else ""


@dataclass(frozen=True)
class Setting:
    """One setting of a worker: a property of a JSON Schema, with accessors for its parts.

    Attributes:
        name: Key of the setting in experiment files.
        schema: JSON Schema of the setting.
        required: Whether the worker needs the setting.
    """

    name: str
    schema: Mapping[str, Any]
    required: bool = False

    def with_default(self, value: Any) -> Setting:
        """Return the setting with another default value."""
        return Setting(self.name, {**self.schema, "default": value}, self.required)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """JSON types of the setting without ``null``; empty if every type is allowed."""
        given = self.schema.get("type", ())
        return tuple(each for each in ((given,) if isinstance(given, str) else given) if each != "null")

    @property
    def nullable(self) -> bool:
        """Whether ``None`` is a valid value of the setting."""
        return "null" in self.schema.get("type", ())

    @cached_property
    def kind(self) -> str:
        """Editor that a form uses: one of :data:`KINDS`, ``choice``, or the JSON type."""
        if said := self.schema.get("x-kind"):
            return str(said)
        return "choice" if self.options else next(iter(self.types), "string")

    @property
    def label(self) -> str:
        """Title of the setting; without a title, its name as words."""
        return str(self.schema.get("title") or self.name.replace("_", " ").capitalize())

    @property
    def meaning(self) -> str:
        """Description of the setting, for the tooltip and the documentation."""
        return str(self.schema.get("description", ""))

    @cached_property
    def _special_words(self) -> dict[str, str]:
        found = {match["value"]: match["words"] for match in _SAID.finditer(self.meaning)}
        usual = _BY_DEFAULT.search(self.meaning)
        return {"empty": usual["words"], **found} if usual is not None else found

    def said_of(self, value: object) -> str:
        """Return the words that the setting's description gives a special value: ``no limit`` for 0.

        The description has the form ``…; 0: no limit``. In it, ``empty:``, ``none:`` and ``by default``
        precede the words for a missing value.
        """
        if value in (None, ""):
            return self._special_words.get("none" if value is None else "empty") or self._special_words.get(
                "empty", ""
            )
        return self._special_words.get(text_of(value), "")

    @property
    def default(self) -> Any:
        """Value that applies if none is given; ``None`` leaves the choice to the worker."""
        return self.schema.get("default")

    @cached_property
    def options(self) -> tuple[SettingOption, ...]:
        """Options of a choice, without ``null``."""
        titled = [option for option in self.schema.get("oneOf", ()) if "const" in option]
        return tuple(
            SettingOption(
                option["const"],
                option.get("title", ""),
                option.get("description", ""),
                tuple(option.get("x-environments", ())),
                tuple(option.get("x-agents", ())),
                tuple(option.get("x-needs", ())),
                int(option.get("x-turns", 0)),
            )
            for option in titled or [{"const": value} for value in self.schema.get("enum", ())]
            if option["const"] is not None
        )

    @property
    def policies(self) -> bool:
        """Whether each option is listed as a separate policy."""
        return bool(self.schema.get("x-policies"))

    @property
    def environments(self) -> tuple[str, ...]:
        """Patterns of the environments for which the setting is made; empty for all."""
        return tuple(self.schema.get("x-environments", ()))

    @property
    def group(self) -> str:
        """Heading under which a form shows the setting with others.

        ``""`` for settings above all headings.
        """
        said = str(self.schema.get("x-group", ""))
        return "" if said in ("main", "more") else said

    @property
    def advanced(self) -> bool:
        """Whether a form shows the setting only on request."""
        return bool(self.schema.get("x-advanced")) or self.schema.get("x-group") == "more"

    @property
    def module(self) -> str:
        """Module that a form runs with ``python -m`` in the worker's environment to check or list values."""
        return str(self.schema.get("x-module", ""))

    @property
    def command(self) -> tuple[str, ...]:
        """Command that a form runs to check a file, in place of a module."""
        return tuple(self.schema.get("x-command", ()))

    @property
    def checked(self) -> bool:
        """Whether the setting names a file that is checked while the user edits it."""
        return self.kind == "file" and bool(self.module or self.command)

    @property
    def provider(self) -> str:
        """Name of the choice of providers to which a ``secret`` belongs."""
        return str(self.schema.get("x-provider", ""))

    @property
    def only_with(self) -> tuple[str, ...]:
        """Policies of the worker for which the setting has an effect; empty for all."""
        return tuple(self.schema.get("x-only-with", ()))

    def concerns(self, env_id: str, policy: str = "") -> bool:
        """Return whether the setting has an effect in this environment for this policy.

        An empty id or policy, which is not known yet, excludes no setting.

        Args:
            env_id: Canonical id of the environment.
            policy: Value of the worker's choice of policies.
        """
        here = not env_id or matches(env_id, self.environments)
        return here and (not policy or not self.only_with or policy in self.only_with)

    def option(self, value: object) -> SettingOption | None:
        """Return the option with this value; ``None`` if there is none."""
        return next((option for option in self.options if option.value == value), None)

    @property
    def wanted(self) -> str:
        """Valid values as text, such as ``a number, more than 0 and at most 1``."""
        return wanted(self.schema)

    @property
    def explanation(self) -> str:
        """Meaning, default and valid values of the setting, as whole sentences."""
        meaning = self.meaning and f"{self.meaning.removesuffix('.')}."
        default = "" if self.default in (None, "") else f"Default: {text_of(self.default)}."
        words = self.wanted if self.kind in ("integer", "number", "array") else ""
        return " ".join(filter(None, [meaning, default, words and f"{words[:1].upper()}{words[1:]}."]))

    def problem(self, value: object) -> str:
        """Return why ``value`` is not valid, as a sentence without a full stop; ``""`` if it is valid.

        ``None`` and an empty text count as a missing value.
        """
        if value is None or value == "":
            return f"{self.label} is missing" if self.required and self.default is None else ""
        return first_problem(self.schema, value, self.label)


def problems(schema: Sequence[Setting], values: Mapping[str, object]) -> dict[str, str]:
    """Return the errors of ``values`` by setting.

    Values for settings that are not in ``schema`` are ignored.
    """
    found = {setting.name: setting.problem(values.get(setting.name)) for setting in schema}
    return {name: sentence for name, sentence in found.items() if sentence}


def chosen_policy(schema: Sequence[Setting], values: Mapping[str, object]) -> str:
    """Return the worker's policy that ``values`` select; ``""`` if the worker has no choice of policies."""
    choice = next((setting for setting in schema if setting.policies), None)
    return "" if choice is None else str(values.get(choice.name) or choice.default or "")


def grouped(schema: Sequence[Setting]) -> tuple[Setting, ...]:
    """Return settings in the order in which a form shows them.

    Settings without a heading come first, the main ones before the others. Then follow the headings, in the
    order in which they first occur.
    """
    groups = list(dict.fromkeys(["", *(setting.group for setting in schema)]))
    return tuple(sorted(schema, key=lambda s: (groups.index(s.group), s.schema.get("x-group") == "more")))


SEED_OF_SLOT: Final = Setting(
    SEED,
    {
        "type": "integer",
        "title": "Seed",
        "description": "Mixed into its random numbers: players with different seeds are independent; "
        "empty: they come from the episode alone",
        "minimum": 0,
        "x-advanced": True,
    },
)
"""Setting for a seed, which the engine adds to every worker that does not declare one itself."""


def json_schema(settings: Sequence[Setting], title: str = "") -> dict[str, Any]:
    """Return settings as the JSON Schema of one object."""
    return {
        "$schema": DIALECT,
        **({"title": title} if title else {}),
        "type": "object",
        "properties": {setting.name: dict(setting.schema) for setting in settings},
        "required": [setting.name for setting in settings if setting.required],
    }


def settings_from_schema(schema: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return the settings that the JSON Schema of an object describes."""
    needed: Sequence[str] = schema.get("required") or ()
    definitions: Mapping[str, Any] = schema.get("$defs") or {}
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties") or {}
    return tuple(
        Setting(name, _flat(entry, definitions), required=name in needed)
        for name, entry in properties.items()
    )


def _flat(entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property without references, and with "a value or null" as one type."""
    flat = _resolved(entry, definitions)
    choices = [
        _resolved(choice, definitions)
        for choice in cast("Sequence[Mapping[str, Any]]", flat.get("anyOf", ()))
    ]
    values = [choice for choice in choices if choice.get("type") != "null"]
    if len(values) == 1 and len(choices) == 2:
        flat.pop("anyOf")
        flat = {**values[0], **flat}
        if "enum" in flat:
            flat["enum"] = [*flat["enum"], None]
        flat["type"] = [flat.get("type", "string"), "null"]
    return {**flat, "$defs": definitions} if "$ref" in str(flat) else flat


def _resolved(entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    name = str(entry.get("$ref", "")).removeprefix("#/$defs/")
    target = definitions.get(name)
    return dict(entry) if target is None else {**target, **{k: v for k, v in entry.items() if k != "$ref"}}


def settings_from_values(values: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return one setting for each default value, with the value's name and type."""
    types: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return tuple(
        Setting(name, {"type": types.get(type(value), "array"), "default": value})
        for name, value in values.items()
        if not isinstance(value, dict)
    )
