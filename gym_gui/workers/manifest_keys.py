"""Declares all keys of ``worker.toml``, with the type, meaning and check of each value."""

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
"""Function that checks a value; returns a description of valid values, or ``""`` if the value is valid."""

ID_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,62}[a-z0-9]")
ENTRY_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_LARGEST = 10**9
MODULE_PATTERN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def one_of(*words: str) -> Check:
    """Return a check for a string that must be one of ``words``."""
    wrong = f"one of {', '.join(words)}"
    return OneOf(words, lambda v: "" if isinstance(v, str) and v in words else wrong)


def matching(pattern: re.Pattern[str], what: str) -> Check:
    """Return a check for a string that must match ``pattern`` as a whole; ``what`` describes valid values."""
    return lambda v: "" if isinstance(v, str) and pattern.fullmatch(v) else what


def listing(check: Check, what: str) -> Check:
    """Return a check for a list whose items must all pass ``check``; ``what`` names the items."""

    def run(value: Any) -> str:
        if not isinstance(value, list):
            return f"a list of {what}"
        for item in cast("list[Any]", value):
            if wrong := check(item):
                return f"a list of {what}: {item!r} should be {wrong}"
        return ""

    return run


def text(value: Any) -> str:
    """Check for a non-empty string; return ``""`` or a description of valid values."""
    ok = isinstance(value, str) and value.strip() and "\0" not in value
    return "" if ok else "a non-empty string"


def inside(value: Any) -> str:
    """Check for a path inside the worker's folder; return ``""`` or a description of valid values."""
    wrong = bool(text(value)) or PurePath(value).is_absolute() or ".." in PurePath(value).parts
    return "a path within the worker's folder" if wrong else ""


boolean: Check = OneOf((True, False), lambda v: "" if isinstance(v, bool) else "true or false")
"""Check for ``true`` or ``false``."""


def count(value: Any) -> str:
    """Check for a whole number of at least 1; return ``""`` or a description of valid values."""
    ok = isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
    return "" if ok else "a whole number from 1"


def amount(value: Any) -> str:
    """Check for a whole number of at least 0; return ``""`` or a description of valid values."""
    ok = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return "" if ok else "a whole number from 0"


def positive(value: Any) -> str:
    """Check for a finite number above 0; return ``""`` or a description of valid values."""
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    # The comparison also refuses NaN, infinity and integers too long for a float.
    return "" if ok and 0 < value <= _LARGEST else "a number above 0"


need: Check = OneOf(
    (True, False, "optional"),
    lambda v: "" if isinstance(v, bool) or v == "optional" else 'true, false or "optional"',
)
"""Check for ``true`` (required), ``"optional"`` or ``false``."""


def limit(value: Any) -> str:
    """Check for a finite number; return ``""`` or a description of valid values."""
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if ok and -(2**63) <= value <= 2**64 else "a number"


def anything(value: Any) -> str:
    """Check for a TOML value that a setting can hold: any but a table, date or time."""
    return (
        "" if isinstance(value, str | bool | int | float | list) else "text, a number, true, false or a list"
    )


def table(value: Any) -> str:
    """Check for a TOML table; return ``""`` or a description of valid values."""
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
    """Check for a list of names of environment variables; names that look like secrets are refused."""
    if problem := listing(text, "strings")(value):
        return problem
    secret = next((name for name in value if looks_secret(name)), "")
    return f"a list without {secret!r}: keys are settings of type `secret`" if secret else ""


_PARADIGM = one_of(*SteppingParadigm.__members__)
_ID = matching(ID_PATTERN, "a name of 2 to 64 lower-case letters, digits and underscores")
_TEXTS = listing(text, "strings")
_FAMILY = matching(ID_PATTERN, "the name of a family of environments")

TOP: Mapping[str, Key[Check]] = {
    "id": Key(_ID, "The worker's id in experiments, usually also the name of its folder.", required=True),
    "name": Key(text, "Name in the window and in reports; the id by default."),
    "kind": Key(
        one_of(*WorkerKind),
        f"Kind of agent: {', '.join(f'`{k}`' for k in WorkerKind)}.",
        required=True,
    ),
    "version": Key(text, "The worker's own version, written to `run.json`."),
    "description": Key(text, "One sentence."),
    "aliases": Key(listing(_ID, "names"), "Other ids that experiments may use for the worker."),
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
            "Transport for `entry`: `socket` (default) or `jsonl`; a `command` always uses `jsonl`.",
        ),
        "python": Key(
            text,
            "The worker's own interpreter or virtual environment, relative to its folder; `{data}` is the "
            "user's data folder.",
        ),
        "family": Key(
            _FAMILY,
            "Instead of `python`: the interpreter of this environment family, which `mosaic workers install` "
            "installs with the worker.",
        ),
        "env": Key(variables, "Environment variables added to the worker's process."),
        "inherits": Key(
            names, "Further variables of the user's environment that the process inherits; no secrets."
        ),
        "heartbeat_s": Key(positive, "Seconds of silence after which the worker counts as hung."),
        "session_secret": Key(
            boolean,
            "Whether the worker's slots get a secret, `session`, that all such workers of a session on this "
            "machine share, for workers that exchange messages directly.",
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
            "Module run with `python -m` to import a policy of another program.",
        ),
        "formats": Key(_TEXTS, "Suffixes of the files that the module reads, such as `.zip`."),
    },
    "record": {
        "reread": Key(
            matching(MODULE_PATTERN, '"package.module"'),
            "Module run with `python -m` that parses recorded replies again, for `mosaic reparse`.",
        ),
    },
    "requires": {
        "pip": Key(_TEXTS, "Requirement strings, checked against the worker's interpreter."),
        "no_deps": Key(
            _TEXTS,
            "Requirement strings that are installed last, without their dependencies, which `pip` lists.",
        ),
        "system": Key(_TEXTS, "Programs that must be on the path, as `command` or `command:debian-package`."),
        "extra": Key(text, "Extra of `mosaic-gym-gui` that installs the worker's dependencies."),
        "requirements": Key(text, "Requirements file, relative to the folder."),
        "workers": Key(
            listing(_ID, "names of workers"),
            "Workers whose packages this worker imports; they are beside its folder or come with MOSAIC.",
        ),
    },
    "build": {
        "command": Key(_TEXTS, "Command line that builds the worker's program, run in its folder."),
        "sources": Key(
            listing(inside, "paths"),
            "Source files and folders of the program; when they change, it is built again.",
        ),
    },
    "inputs": {
        "text": Key(need, "The observation as text."),
        "image": Key(need, "A PNG picture of what the slot observes."),
        "messages": Key(need, "Messages from team-mates."),
        "facts": Key(need, "The observation as ground facts: `door(yellow, locked, 2, -1)`."),
        "state": Key(
            need, "The full state of the environment's simulator; tables mark the operators that get it."
        ),
        "legal_actions": Key(need, "The list of legal actions."),
    },
    "capabilities": {
        "worker_type": Key(text, "Name in capability checks; the id by default."),
        "paradigm": Key(_PARADIGM, "Primary stepping model in training."),
        "supported_paradigms": Key(
            listing(_PARADIGM, "paradigms"), "All stepping models; the primary by default."
        ),
        "env_types": Key(_TEXTS, "Interfaces: `gymnasium`, `pettingzoo`, …, `any`."),
        "action_spaces": Key(
            listing(one_of(*ACTION_KINDS), "action spaces"),
            f"Kinds among {', '.join(f'`{k}`' for k in ACTION_KINDS)}.",
        ),
        "observation_spaces": Key(
            listing(one_of(*OBSERVATION_KINDS), "observation spaces"),
            f"Kinds among {', '.join(f'`{k}`' for k in OBSERVATION_KINDS)}.",
        ),
        "environments": Key(
            _TEXTS,
            "Patterns of the environments that it can play or train in (`*chess*`); all by default. "
            "`mosaic workers check` plays the first that is installed.",
        ),
        "max_agents": Key(count, "Most agents that are trained together; 1 by default."),
        "supports_self_play": Key(boolean, "Whether it can train against itself."),
        "supports_population": Key(boolean, "Whether it can train a population."),
        "requires_gpu": Key(boolean, "Whether it prefers a GPU."),
        "gpu_memory_mb": Key(amount, "Requested GPU memory in MB."),
        "cpu_cores": Key(count, "Requested cores for training; 1 by default."),
    },
    "limits": {
        "memory_mb": Key(count, "Resident memory in MB above which the process is ended."),
        "cpu_cores": Key(positive, "Number of cores that the process may use."),
    },
    "defaults": {
        "policy_id": Key(text, "Policy id registered for the worker, for example `cleanrl_ppo`."),
        "settings": Key(
            table, "Values of settings that an experiment leaves out, in place of each `default`."
        ),
    },
}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ADDRESS = re.compile(r"https://[^\s/?#]+/\S+")
_SHA256 = re.compile(r"[0-9a-f]{64}|published")
file_name = matching(_NAME, "a file's name: letters, digits, `.`, `_` and `-`")

FILE: Mapping[str, Key[Check]] = {
    "url": Key(matching(_ADDRESS, "an address with https://"), "Address of the file.", required=True),
    "sha256": Key(
        matching(_SHA256, 'a SHA-256 of 64 hexadecimal digits, or "published"'),
        "SHA-256 that the file must have; `published` for the checksum at `URL.sha256` or `URL.sha1`.",
        required=True,
    ),
    "version": Key(text, "Version of the file; an archive that contains another version is refused."),
    "holds": Key(_TEXTS, "Members that the file must contain, if it is an archive."),
    "places": Key(
        _TEXTS, "Paths at which systems install the file; a copy there is used without a download."
    ),
    "package": Key(text, "System package that installs the file in `places`; named if the download fails."),
}
"""Keys of a ``[files.NAME]`` table in ``worker.toml``."""

OPTION: Mapping[str, Key[Check]] = {
    "value": Key(text, "Value in experiment files.", required=True),
    "title": Key(text, "Title in forms; the value by default."),
    "meaning": Key(text, "One sentence."),
    "environments": Key(
        _TEXTS, "Patterns of the environments of this option, such as `MiniGrid-*`; all by default."
    ),
    "agents": Key(_TEXTS, "Patterns of the slots of this option, such as `*/goal`; all by default."),
    "needs": Key(
        listing(one_of(*SLOT_NEEDS), "words"),
        "Properties of a slot: `manager` (a manager sets its goals), `measurements` (its observation is "
        "numbers that have names), `one_control` (its action is one number, or one of a list); nothing by "
        "default.",
    ),
    "turns": Key(
        count,
        "Number of turns, played at random in the slot's environment, that the worker gets with this option "
        "in its setting `example_turns`, by seat.",
    ),
}
"""Keys of an entry in the ``options`` of a setting in ``worker.toml``."""

_ENVIRONMENTS = Key(_TEXTS, "Patterns of the environments of this setting (`MiniGrid-*`); all by default.")
SETTING: Mapping[str, Key[Check]] = {
    "type": Key(one_of(*TYPES), f"Type of the value: {', '.join(f'`{t}`' for t in TYPES)}.", required=True),
    "title": Key(text, "Label in forms; the name by default."),
    "meaning": Key(
        text,
        "One sentence for the tooltip; then the words for special values in the field: `; 0: no limit`.",
    ),
    "default": Key(anything, "Value if none is given; the form shows it, and the worker gets it."),
    "options": Key(listing(table, "tables"), "Values of a `choice`.", each=OPTION),
    "minimum": Key(limit, "Smallest number."),
    "maximum": Key(limit, "Largest number."),
    "required": Key(boolean, "Whether the worker cannot play without a value."),
    "policies": Key(boolean, "Whether each option of this choice is listed as a separate policy."),
    "only_with": Key(
        _TEXTS,
        "Options of the choice of policies with which the setting has an effect; forms hide it with others.",
    ),
    "environments": _ENVIRONMENTS,
    "group": Key(
        text, "Heading under which forms show the setting; without a heading, it is above all headings."
    ),
    "advanced": Key(boolean, "Whether forms show the setting only on request."),
    "module": Key(
        matching(MODULE_PATTERN, '"package.module"'),
        "Module run with `python -m` to try a `server`, to list its `model`s, to preview `prompts`, "
        "or to check a `file` while it is edited.",
    ),
    "command": Key(
        _TEXTS, "Command line in any language that replaces a `file`'s module; run in the worker's folder."
    ),
    "provider": Key(text, "Name of the choice of providers to which a `secret` belongs."),
}
"""Keys of a ``[settings.NAME]`` table in ``worker.toml``."""
WORKER_TOML: Mapping[str, Key[Check]] = {
    **TOP,
    "files": Key(table, "A file that the worker needs, and its address.", each=FILE),
    "settings": Key(table, "A setting of the worker: its type, label and meaning.", each=SETTING),
}
"""Top-level keys of ``worker.toml`` besides :data:`SECTIONS`."""
