"""Declarations of all keys of ``worker.toml``: type, meaning and check of the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast

from gym_gui.core.declared_keys import Key, OneOf
from gym_gui.core.enums import SteppingParadigm, WorkerKind
from gym_gui.core.inherited_environment import looks_secret
from gym_gui.workers.capabilities import ACTION_KINDS, OBSERVATION_KINDS
from gym_gui.workers.settings.settings_schema import SLOT_NEEDS
from gym_gui.workers.settings.settings_table import TYPES

Check = Callable[[Any], str]
"""Function that returns what a value should have been, or an empty string if it is valid."""

ID_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,62}[a-z0-9]")
ENTRY_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_LARGEST = 10**9
MODULE_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def one_of(*words: str) -> Check:
    """Return a check for a string among ``words``."""
    wrong = f"one of {', '.join(words)}"
    return OneOf(words, lambda v: "" if isinstance(v, str) and v in words else wrong)


def matching(pattern: re.Pattern[str], what: str) -> Check:
    """Return a check for a string that ``pattern`` matches as a whole."""
    return lambda v: "" if isinstance(v, str) and pattern.fullmatch(v) else what


def listing(check: Check, what: str) -> Check:
    """Return a check for a list whose items all pass ``check``."""

    def run(value: Any) -> str:
        if not isinstance(value, list):
            return f"a list of {what}"
        for item in cast("list[Any]", value):
            if wrong := check(item):
                return f"a list of {what}: {item!r} should be {wrong}"
        return ""

    return run


def text(value: Any) -> str:
    """Check for a non-empty string."""
    ok = isinstance(value, str) and value.strip() and "\0" not in value
    return "" if ok else "a non-empty string"


def inside(value: Any) -> str:
    """Check for a path that does not lead out of the worker's folder."""
    wrong = bool(text(value)) or PurePath(value).is_absolute() or ".." in PurePath(value).parts
    return "a path within the worker's folder" if wrong else ""


boolean: Check = OneOf((True, False), lambda v: "" if isinstance(v, bool) else "true or false")
"""Check for ``true`` or ``false``."""


def count(value: Any) -> str:
    """Check for a whole number of at least 1."""
    ok = isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
    return "" if ok else "a whole number from 1"


def amount(value: Any) -> str:
    """Check for a whole number of at least 0."""
    ok = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return "" if ok else "a whole number from 0"


def positive(value: Any) -> str:
    """Check for a finite number above 0."""
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    # The comparison also refuses NaN, infinity and integers too long for a float.
    return "" if ok and 0 < value <= _LARGEST else "a number above 0"


need: Check = OneOf(
    (True, False, "optional"),
    lambda v: "" if isinstance(v, bool) or v == "optional" else 'true, false or "optional"',
)
"""Check for ``true`` (required), ``"optional"`` or ``false``."""


def limit(value: Any) -> str:
    """Check for a finite number."""
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if ok and -(2**63) <= value <= 2**64 else "a number"


def anything(value: Any) -> str:
    """Check for any TOML value but a table, date or time, which no setting can hold."""
    return (
        "" if isinstance(value, str | bool | int | float | list) else "text, a number, true, false or a list"
    )


def table(value: Any) -> str:
    """Check for a table."""
    return "" if isinstance(value, dict) else "a table"


def variables(value: Any) -> str:
    """Check for a table of strings that can be environment variables."""
    if not isinstance(value, dict):
        return "a table of strings"
    for name, content in cast("dict[str, Any]", value).items():
        if not name or "=" in name or "\0" in name or not isinstance(content, str) or "\0" in content:
            return f"a table of strings: {name!r} is not"
    return ""


def names(value: Any) -> str:
    """Check for a list of names of environment variables, none of which looks like a secret's."""
    if problem := listing(text, "strings")(value):
        return problem
    secret = next((name for name in value if looks_secret(name)), "")
    return f"a list without {secret!r}: keys are settings of type `secret`" if secret else ""


_PARADIGM = one_of(*SteppingParadigm.__members__)
_ID = matching(ID_PATTERN, "a name of 2 to 64 lower-case letters, digits and underscores")
_TEXTS = listing(text, "strings")
_FAMILY = matching(ID_PATTERN, "the name of a family of environments")

TOP: Mapping[str, Key[Check]] = {
    "id": Key(_ID, "The worker's name in experiments; its folder usually bears it too.", required=True),
    "name": Key(text, "Name shown to people; the id by default."),
    "kind": Key(
        one_of(*WorkerKind),
        f"What sort of decision-maker this is: {', '.join(f'`{k}`' for k in WorkerKind)}.",
        required=True,
    ),
    "version": Key(text, "The worker's own version, written to `run.json`."),
    "description": Key(text, "One sentence."),
    "aliases": Key(listing(_ID, "names"), "Other names under which experiments may ask for it."),
}

SECTIONS: Mapping[str, Mapping[str, Key[Check]]] = {
    "launch": {
        "entry": Key(
            matching(ENTRY_PATTERN, '"package.module:Class"'),
            "`package.module:Class` of a `mosaic_worker.Worker`.",
        ),
        "command": Key(_TEXTS, "Command line of a worker in any language, run in the worker's folder."),
        "carrier": Key(
            one_of("socket", "jsonl"),
            "`socket` (default) or `jsonl`, for `entry`; a `command` always speaks `jsonl`.",
        ),
        "python": Key(
            text,
            "Its own interpreter or virtual environment, relative to the folder; `{data}` is the "
            "user's data folder.",
        ),
        "family": Key(
            _FAMILY,
            "In place of `python`: the own interpreter of this family of environments; `mosaic "
            "workers install` installs both.",
        ),
        "env": Key(variables, "Environment variables added for the process."),
        "inherits": Key(
            names, "The user's environment variables that it gets besides the usual ones; no secrets."
        ),
        "heartbeat_s": Key(positive, "Seconds of silence after which it counts as hung."),
        "session_secret": Key(
            boolean,
            "Its slots get a secret, `session`, which all such workers of a session on this machine "
            "share, so that they can talk with each other directly.",
        ),
    },
    "train": {
        "entry": Key(matching(MODULE_PATTERN, '"package.module"'), "Module run with `python -m` to train."),
        "algorithms": Key(_TEXTS, "Names that `--algo` accepts."),
        "schema": Key(
            text, "JSON file that declares the settings of each algorithm; relative to the folder."
        ),
    },
    "import": {
        "entry": Key(
            matching(MODULE_PATTERN, '"package.module"'),
            "Module run with `python -m` that imports a policy of another program.",
        ),
        "formats": Key(_TEXTS, "Endings of the files that it reads, such as `.zip`."),
    },
    "record": {
        "reread": Key(
            matching(MODULE_PATTERN, '"package.module"'),
            "Module run with `python -m` that reads recorded replies anew, for `mosaic reparse`.",
        ),
    },
    "requires": {
        "pip": Key(_TEXTS, "Requirement strings, checked against the worker's interpreter."),
        "no_deps": Key(
            _TEXTS,
            "Requirement strings, installed last and without their dependencies; list those in `pip`.",
        ),
        "system": Key(_TEXTS, "Programs on the path, as `command` or `command:debian-package`."),
        "extra": Key(text, "Extra of `mosaic-gym-gui` that installs what it needs."),
        "requirements": Key(text, "Requirements file, relative to the folder."),
        "workers": Key(
            listing(_ID, "names of workers"),
            "Workers whose packages it imports; they lie beside it or come with MOSAIC.",
        ),
    },
    "build": {
        "command": Key(_TEXTS, "Command line of the build, run in the worker's folder."),
        "sources": Key(
            listing(inside, "paths"), "Sources of the build; when they change, the program is built again."
        ),
    },
    "inputs": {
        "text": Key(need, "The observation in words."),
        "image": Key(need, "A picture of what the slot may see (PNG)."),
        "messages": Key(need, "Messages from team-mates."),
        "facts": Key(need, "The observation as ground facts: `door(yellow, locked, 2, -1)`."),
        "state": Key(
            need, "The full state of the environment's simulator. Tables mark the players that get it."
        ),
        "legal_actions": Key(need, "The list of legal actions."),
    },
    "capabilities": {
        "worker_type": Key(text, "The id by default."),
        "paradigm": Key(_PARADIGM, "Primary stepping model in training."),
        "supported_paradigms": Key(
            listing(_PARADIGM, "paradigms"), "All stepping models; the primary by default."
        ),
        "env_types": Key(_TEXTS, "`gymnasium`, `pettingzoo`, …, `any`."),
        "action_spaces": Key(
            listing(one_of(*ACTION_KINDS), "action spaces"),
            f"Of {', '.join(f'`{k}`' for k in ACTION_KINDS)}.",
        ),
        "observation_spaces": Key(
            listing(one_of(*OBSERVATION_KINDS), "observation spaces"),
            f"Of {', '.join(f'`{k}`' for k in OBSERVATION_KINDS)}.",
        ),
        "environments": Key(
            _TEXTS,
            "Patterns of the environments it can play or train in (`*chess*`); all by default. "
            "`mosaic workers check` plays the first that is installed.",
        ),
        "max_agents": Key(count, "Agents trained at once; 1 by default."),
        "supports_self_play": Key(boolean, "Trains against itself."),
        "supports_population": Key(boolean, "Trains a population."),
        "requires_gpu": Key(boolean, "Prefers a GPU."),
        "gpu_memory_mb": Key(amount, "GPU memory wanted, MB."),
        "cpu_cores": Key(count, "Cores wanted in training; 1 by default."),
    },
    "limits": {
        "memory_mb": Key(count, "Resident memory at which the process is stopped, MB."),
        "cpu_cores": Key(positive, "Cores it may use."),
    },
    "defaults": {
        "policy_id": Key(text, "Policy id registered for it, for example `cleanrl_ppo`."),
        "settings": Key(table, "Settings for slots that give none; they replace the `default` of each."),
    },
}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ADDRESS = re.compile(r"https://[^\s/?#]+/\S+")
_SHA256 = re.compile(r"[0-9a-f]{64}|published")
file_name = matching(_NAME, "a file's name: letters, digits, `.`, `_` and `-`")

FILE: Mapping[str, Key[Check]] = {
    "url": Key(matching(_ADDRESS, "an address with https://"), "Where it is published.", required=True),
    "sha256": Key(
        matching(_SHA256, 'a SHA-256 of 64 hexadecimal digits, or "published"'),
        "Its checksum; `published`: that in the file `URL.sha256` or `URL.sha1`.",
        required=True,
    ),
    "version": Key(text, "Its version; an archive that names another version is refused."),
    "holds": Key(_TEXTS, "Members that an archive must have."),
    "places": Key(_TEXTS, "Places where systems keep the file; the first that exists replaces the download."),
    "package": Key(text, "The system's package with the file; an error names it where the download fails."),
}
"""Keys of a ``[files.NAME]`` table."""

OPTION: Mapping[str, Key[Check]] = {
    "value": Key(text, "As experiments write it.", required=True),
    "title": Key(text, "As people read it; the value by default."),
    "meaning": Key(text, "One sentence."),
    "environments": Key(
        _TEXTS, "Patterns of the environments it is for, such as `MiniGrid-*`; all by default."
    ),
    "agents": Key(_TEXTS, "Patterns of the slots it is for, such as `*/goal`; all by default."),
    "needs": Key(
        listing(one_of(*SLOT_NEEDS), "words"),
        "What a slot must have: `manager` (a manager sets its goals), `measurements` (its observation is "
        "numbers that have names), `one_control` (its action is one number, or one of a list); nothing by "
        "default.",
    ),
    "turns": Key(
        count,
        "Number of example turns that the worker gets in its setting `example_turns`, by seat: "
        "random play in the slot's own environment.",
    ),
}
"""Keys of an entry in ``options``."""

_ENVIRONMENTS = Key(_TEXTS, "Patterns of the environments it is for (`MiniGrid-*`); all by default.")
SETTING: Mapping[str, Key[Check]] = {
    "type": Key(one_of(*TYPES), f"What it takes: {', '.join(f'`{t}`' for t in TYPES)}.", required=True),
    "title": Key(text, "Its label in forms; the name by default."),
    "meaning": Key(
        text,
        "One sentence, its tooltip; then the meaning of special values, shown in the field too: "
        "`; 0: no limit`.",
    ),
    "default": Key(anything, "The value where none is given; the form shows it, and the worker gets it."),
    "options": Key(listing(table, "tables"), "Values of a `choice`.", each=OPTION),
    "minimum": Key(limit, "Least number."),
    "maximum": Key(limit, "Greatest number."),
    "required": Key(boolean, "The worker cannot play without it."),
    "policies": Key(boolean, "Each option of this choice is listed as a policy of its own."),
    "only_with": Key(
        _TEXTS, "Options of that choice for which the setting has a meaning; with others forms leave it out."
    ),
    "environments": _ENVIRONMENTS,
    "group": Key(text, "Its heading in forms; settings without one come first."),
    "advanced": Key(boolean, "Shown in forms on request only."),
    "module": Key(
        matching(MODULE_PATTERN, '"package.module"'),
        "Module run with `python -m` to try a `server`, to list its `model`s, to preview `prompts`, "
        "or to check a `file` while it is edited.",
    ),
    "command": Key(
        _TEXTS, "Command line in the place of a `file`'s module, in any language; run in the worker's folder."
    ),
    "provider": Key(text, "The choice that names the provider of a `secret`."),
}
"""Keys of a ``[settings.NAME]`` table."""
WORKER_TOML: Mapping[str, Key[Check]] = {
    **TOP,
    "files": Key(table, "A file that the worker needs, and where it is published.", each=FILE),
    "settings": Key(table, "A setting of the worker: its type, its label and what it means.", each=SETTING),
}
"""Top-level keys of the file besides :data:`SECTIONS`."""
