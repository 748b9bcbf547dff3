"""Writes the manual page ``mosaic(1)`` from the commands and their help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gym_gui.version import __version__

_ABOUT = (
    "Puts agents of different kinds (trained policies, language models, planners, people, baselines) into "
    "the slots of one environment, plays them on the same seeds, and reports which is better and how sure "
    "that is. Without a command, the window opens."
)
_VARIABLES = {
    "MOSAIC_DATA_DIR": "Folder of workers, policies and environments.",
    "MOSAIC_RUNS_DIR": "Folder of run folders.",
    "MOSAIC_CONFIG_DIR": "Folder of hosts and of code that you have allowed.",
    "MOSAIC_CACHE_DIR": "Folder that may be deleted at any time.",
    "MOSAIC_RUNTIME_DIR": "Folder of sockets.",
}
_STATUS = {
    "0": "Done.",
    "1": "The work failed, or a check found a problem.",
    "2": "The command, a file or the machine must be changed first; the message says how.",
    "130": "Interrupted.",
}


def man_page(program: Any) -> str:
    """Return the manual page in roff.

    Args:
        program: The click command of ``mosaic``.
    """
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Any) -> Iterator[str]:
    yield f'.TH MOSAIC 1 "" "MOSAIC {__version__}" "User commands"'
    yield from (".SH NAME", rf"mosaic \- {_escaped(str(program.help).rstrip('.').lower())}")
    yield from (".SH SYNOPSIS", ".B mosaic", "[\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]]")
    yield from (".SH DESCRIPTION", _escaped(_ABOUT))
    yield ".SH COMMANDS"
    for path, command in _commands(program, "mosaic"):
        yield f".SS {_escaped(path)}"
        yield _escaped(str(command.help or "").split("\n\n", 1)[0])
        yield from _parameters(command)
    for heading, rows in (("EXIT STATUS", _STATUS), ("ENVIRONMENT", _VARIABLES)):
        yield f".SH {heading}"
        for name, meaning in rows.items():
            yield from (".TP", rf"\fB{_escaped(name)}\fR", _escaped(meaning))


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group that are not hidden, with their whole names."""
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        if parameter.param_type_name == "argument":
            names = parameter.metavar or parameter.name.upper()
        elif parameter.metavar:
            names += f" {parameter.metavar}"
        yield from (".TP", rf"\fB{_escaped(names)}\fR", _escaped(str(getattr(parameter, "help", "") or "")))


def _escaped(text: str) -> str:
    """Return text for one line of roff, in which a backslash and a leading dot or quote have a meaning."""
    line = re.sub(r"\s+", " ", text).strip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line
