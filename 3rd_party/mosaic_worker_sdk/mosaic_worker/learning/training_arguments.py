"""Command line of a training: the options of every training, and every setting of its algorithm.

This is for workers whose ``[train] entry`` is a module with the command line in
``docs/training_protocol.md``, and whose algorithms declare their settings in a pydantic model.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    Dict,
    Generic,
    List,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    TypeVar,
)

from mosaic_worker.learning.training_command import ConfigError, named
from mosaic_worker.learning.training_schema import DescribedAlgorithm, schema_of

_OWN = {
    "algo": "NAME  name of the algorithm",
    "env_id": "ID  id of the environment",
    "seed": "N  seed of all random numbers",
    "out": "DIR  the run folder; runs/<algo>_<env>_seed<seed> by default",
    "resume": "resume the training in --out, with its settings",
    "overwrite": "replace a policy that is already in the folder",
    "checkpoint_every": "S  seconds between two checkpoints (30)",
}
_FLAGS = ("resume", "overwrite", "help")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Algorithm(DescribedAlgorithm, Protocol):
    """An algorithm that the user selects by its name."""

    @property
    def name(self) -> str: ...


_Algorithm = TypeVar("_Algorithm", bound=Algorithm)


def check_actions_learnt(
    algorithm: _Algorithm, algorithms: Mapping[str, _Algorithm], kind: str, space: object, where: str
) -> None:
    """Check that an algorithm can learn a kind of actions.

    Args:
        algorithm: The algorithm.
        algorithms: Algorithms to suggest in the message.
        kind: ``discrete``, ``multi_discrete``, ``continuous`` or another name that the worker uses.
        space: The action space, for the message.
        where: Agent or environment with this action space, for the message.

    Raises:
        ConfigError: The algorithm cannot learn them; the message names algorithms that can.
    """
    if kind in algorithm.actions:
        return
    others = [other.name for other in algorithms.values() if kind in other.actions]
    raise ConfigError(
        f"{algorithm.name} learns {' and '.join(algorithm.actions)} actions; {where} has {space}. "
        f"Algorithms for these actions: {', '.join(others) or 'none'}"
    )


class HelpRequested(Exception):
    """The user requested help; the message lists algorithms, options and settings."""


@dataclass(frozen=True)
class Arguments(Generic[_Algorithm]):
    """Parsed command line of a training.

    Attributes:
        algorithm: The algorithm.
        given: Given settings by name, including environment and seed.
        out: The run folder; ``None`` for the default.
        resume: Whether to continue the training in the folder.
        overwrite: Whether to replace the training in the folder.
        checkpoint_every: Seconds between two checkpoints.
    """

    algorithm: _Algorithm
    given: Mapping[str, Any]
    out: Optional[Path] = None
    resume: bool = False
    overwrite: bool = False
    checkpoint_every: float = 30.0


def parse(
    args: Sequence[str], algorithms: Mapping[str, _Algorithm], module: str, first: str
) -> Arguments[_Algorithm]:
    """Parse the command line of a training.

    Args:
        args: Arguments of the command line.
        algorithms: Available algorithms by name.
        module: Module that is run with ``python -m``, for the help.
        first: Name of the default algorithm.

    Raises:
        ConfigError: An option is unknown or its value is invalid; the message is one sentence.
        HelpAsked: ``--help`` was given.
    """
    words = _values_by_option(args)
    found = named(_single_value("algo", words.pop("algo", [first])), algorithms)
    properties: Dict[str, Any] = {
        "env_id": {"type": "string"},
        "seed": {"type": "integer"},
        **schema_of(found)["properties"],
    }
    if "help" in words:
        raise HelpRequested(_help(f"{module} --algo {first}", list(algorithms), found, properties))
    out = words.pop("out", None)
    flags = {name: _flag(name, words.pop(name)) for name in ("resume", "overwrite") if name in words}
    every = _number("checkpoint_every", words.pop("checkpoint_every", ["30"]))
    if not every > 0:
        raise ConfigError(f"checkpoint_every must be a positive number of seconds, not {every:g}")
    if all(flags.get(name) for name in ("resume", "overwrite")):
        raise ConfigError(
            "give either --resume or --overwrite: one continues the training that the other replaces"
        )
    given: Dict[str, Any] = {}
    for name, values in words.items():
        spelled = name
        if name not in properties and name.startswith("no_") and name[3:] in properties and not values:
            spelled, values = name[3:], ["false"]
        if spelled not in properties:
            near = difflib.get_close_matches(name, [*properties, *_OWN], 1)
            hint = f"Did you mean --{_dashed(near[0])}?" if near else "See --help"
            raise ConfigError(f"{found.name} has no option --{_dashed(name)}. {hint}")
        given[spelled] = _value(spelled, values, properties[spelled])
    return Arguments(
        found,
        given,
        None if out is None else Path(_single_value("out", out)).expanduser(),
        flags.get("resume", False),
        flags.get("overwrite", False),
        every,
    )


def out_of(args: Sequence[str]) -> Optional[Path]:
    """Return the run folder of a command line that may contain errors; ``None`` if it names none."""
    try:
        words = _values_by_option(args)
        return Path(_single_value("out", words["out"])) if "out" in words else None
    except ConfigError:
        return None


def _values_by_option(args: Sequence[str]) -> Dict[str, List[str]]:
    """Return the values of each option as typed, for example ``--hidden 64 64``, ``--seed=3``,
    ``--no-anneal-lr``.
    """
    found: Dict[str, List[str]] = {}
    name = ""
    for word in args:
        if word in ("-h", "--help"):
            found["help"] = []
        elif word.startswith("--"):
            flag, equals, value = word[2:].partition("=")
            name = flag.replace("-", "_")
            found[name] = [value] if equals else []
        elif not name:
            raise ConfigError(f"{word!r} is not an option: give settings as --name VALUE. See --help")
        else:
            found[name].append(word)
    return found


def _single_value(name: str, values: Sequence[str]) -> str:
    if len(values) != 1:
        raise ConfigError(f"--{_dashed(name)} needs one value, not {len(values)}")
    return values[0]


def _flag(name: str, values: Sequence[str]) -> bool:
    text = (values[0] if values else "true").lower()
    if len(values) > 1 or text not in _TRUE + _FALSE:
        raise ConfigError(f"--{_dashed(name)} must be true or false, not {' '.join(values)!r}")
    return text in _TRUE


def _number(name: str, values: Sequence[str]) -> float:
    text = _single_value(name, values)
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name} must be a number, not {text!r}") from None


def _value(name: str, values: Sequence[str], spec: Mapping[str, Any]) -> Any:
    """Convert the values of an option to its type; a value that cannot be converted stays text, which the
    model rejects.
    """
    types = [spec["type"]] if isinstance(spec["type"], str) else list(spec["type"])
    if "null" in types and [value.lower() for value in values] in (["none"], ["null"]):
        return None
    if not values and types != ["boolean"]:
        raise ConfigError(f"--{_dashed(name)} needs a value")
    if "array" in types:
        parts = " ".join(values).strip("[]()").replace(",", " ").split()
        return [_value(name, [part], spec["items"]) for part in parts]
    if "boolean" in types:
        return _flag(name, values)
    text = _single_value(name, values)
    if "integer" in types:
        try:
            number = float(text.replace("_", ""))
            return int(number) if number.is_integer() and "." not in text else text
        except (ValueError, OverflowError):
            return text
    return text


def _help(
    program: str, algorithms: Sequence[str], found: Algorithm, properties: Mapping[str, Mapping[str, Any]]
) -> str:
    default_env = found.config_class.model_fields["env_id"].default
    lines = [
        f"python -m {program} --env-id {default_env} [options]",
        "",
        f"algorithms: {', '.join(algorithms)}",
        "",
        *(f"  --{_dashed(name)} {words}" for name, words in _OWN.items()),
        "",
        f"settings of {found.name}:",
    ]
    for name, spec in properties.items():
        if name not in _OWN:
            default = spec.get("default")
            lines.append(f"  --{_dashed(name)} ({'none' if default is None else default})")
            lines.append(f"      {spec['description']}")
    return "\n".join(lines)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
