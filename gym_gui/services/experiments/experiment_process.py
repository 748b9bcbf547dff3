"""Starts the process that evaluates an experiment file, and reads its report."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.errors import ExperimentError, FilePosition
from gym_gui.core.experiment.experiment_data import FILE
from gym_gui.core.paths import PACKAGE
from gym_gui.processes.outcome import ChildStatus, from_code
from gym_gui.processes.run_child import run_child_sync

_log = logging.getLogger(__name__)

NAMES: Final = tuple(FILE)
"""Names that a Python file may define. Other names in the file are ignored."""

_SANDBOX: Final = Path(__file__).with_name("experiment_sandbox.py")
_NETWORK: Final = Path(__file__).with_name("experiment_network.py")
_KEPT_VARIABLES: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
_EXIT_MARGIN_S: Final = 5.0
_GRACE_S: Final = 2.0


@dataclass(frozen=True)
class Limits:
    """Limits of the evaluation of an experiment file.

    Attributes:
        time_s: Longest duration in seconds.
        memory_bytes: Largest address space.
        reply_bytes: Largest size of the returned data as JSON.
    """

    time_s: float = 10.0
    memory_bytes: int = 2 * 2**30
    reply_bytes: int = 4 * 2**20


def evaluate_file(path: Path, source: str, limits: Limits, name: str) -> dict[str, object]:
    """Run an experiment file in a separate process.

    Args:
        path: The file. Its imports are searched for in its folder.
        source: Text of the file, already read.
        limits: Limits of the process.
        name: Name of the file in messages.

    Returns:
        The values in :data:`NAMES` that the file defines, as plain data.

    Raises:
        ExperimentError: The file raised an error, ended the process, exceeded a limit, tried to start a
            process or to use the network, or defines a value that is not plain data.
    """
    request = {
        "path": str(path.absolute()),
        "source": source,
        "time_s": limits.time_s,
        "memory_bytes": limits.memory_bytes,
        "reply_bytes": limits.reply_bytes,
        "names": NAMES,
    }
    if not network_is_closed():
        _log.warning("%s is run to be read, and this system cannot keep it off the network", name)
    reply = _run_sandbox(json.dumps(request).encode(), limits)
    if "error" in reply:
        failure = _failure(reply, name, limits)
        failure.place = FilePosition(name, int(reply.get("line", 0)), int(reply.get("column", 0)))
        raise failure
    data = cast("dict[str, object]", reply["data"])
    if not {"operators", "matrix"} & set(data):
        raise missing_operators(name, cast("list[str]", reply.get("names", [])))
    return data


def missing_operators(name: str, defined: list[str]) -> ExperimentError:
    """Return the error for a file that defines neither ``operators`` nor a ``matrix``."""
    shown = f"; it defines {', '.join(sorted(defined)[:8])}" if defined else ""
    return ExperimentError(
        f"{name}: defines no 'operators'{shown}",
        fix="Add operators = [...], a list with one mapping per operator",
    )


@cache
def network_is_closed() -> bool:
    """Return whether this system can cut off experiment files that are programs from the network."""
    command = (sys.executable, "-I", "-S", str(_NETWORK))
    done = run_child_sync(*command, name=_NETWORK.stem, environment=_environment(), tied=False)
    return done.outcome.succeeded


def _run_sandbox(request: bytes, limits: Limits) -> dict[str, Any]:
    done = run_child_sync(
        # -P: neither the working directory nor this folder may shadow the standard library.
        *(sys.executable, "-P", str(_SANDBOX)),
        name=_SANDBOX.stem,
        environment=_environment(),
        text=request,
        within_s=limits.time_s + _EXIT_MARGIN_S,
        grace_s=_GRACE_S,  # on SIGTERM, it first ends the processes that it started
        tied=False,  # it ends with this program by itself
    )
    outcome = done.outcome
    if outcome.status is ChildStatus.TIMED_OUT:
        return {"error": "time"}
    try:
        return json.loads(done.output)
    except (ValueError, RecursionError):
        return {"error": "died", "code": -outcome.signal if outcome.signal else outcome.code}


def _environment() -> dict[str, str]:
    """Return the environment variables that imports need, without keys and tokens."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    root = str(PACKAGE.parent)
    inherited = os.environ.get("PYTHONPATH", "")
    return kept | {
        "PYTHONPATH": os.pathsep.join(part for part in (root, inherited) if part),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Thread pools reserve address space for each core.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _failure(reply: dict[str, Any], name: str, limits: Limits) -> ExperimentError:
    """Return the error that describes the sandbox's report in one line."""
    line = int(reply.get("line", 0))
    where = f"{name}:{line}" if line else name
    message = " ".join(str(reply.get("message", "")).split())[:300]
    fix = " ".join(str(reply.get("fix", "")).split())[:300]
    data_only = "An experiment file only defines 'operators' and 'execution'"
    match reply["error"]:
        case "time":
            return ExperimentError(f"{where}: did not finish within {limits.time_s:g} s", fix=data_only)
        case "memory":
            wanted = f"more than {limits.memory_bytes // 2**20} MiB of memory"
            return ExperimentError(f"{where}: needs {wanted}", fix=data_only)
        case "size":
            return ExperimentError(
                f"{where}: defines more than {limits.reply_bytes // 2**10} KiB of data",
                fix="Give seeds as one integer to count up from, and large data as a file's path",
            )
        case "exit":
            return ExperimentError(f"{where}: ends the program", fix="Remove the call of exit()")
        case "died":
            how = from_code(int(reply.get("code") or 0)).words
            return ExperimentError(f"{where}: the process reading it {how}", fix=data_only)
        case "process":
            return ExperimentError(f"{where}: starts a process, which is not allowed", fix=data_only)
        case "network":
            return ExperimentError(
                f"{where}: uses the network, which is not allowed",
                fix="Download the data beforehand, and read them from a file",
            )
        case "plain":
            return ExperimentError(
                f"{where}: {message}", fix="Use text, numbers, true or false, lists and mappings"
            )
        case _ if reply.get("ours"):
            return ExperimentError(f"{where}: {message}", fix=fix)
        case _:
            return _raised(reply, where, message)


def _raised(reply: dict[str, Any], where: str, message: str) -> ExperimentError:
    kind = str(reply.get("type", "Exception"))
    variable = message.strip("'\"")
    fix = "Correct the file. No episode was started"
    if kind == "KeyError" and variable.isidentifier() and variable.isupper():
        fix = f"Experiment files cannot read environment variables; write the setting as 'env:{variable}'"
    return ExperimentError(f"{where}: {kind}: {message}" if message else f"{where}: {kind}", fix=fix)
