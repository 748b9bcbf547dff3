"""Command line with which a worker imports policies that other programs have trained.

This is for workers whose ``[import] entry`` is a module that is run with a file, ``--env-id`` and ``--out``.
On success, the program prints one JSON line with what it wrote and ends with exit status 0. If the file
cannot be imported, it prints one line with the reason and ends with exit status 2.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, NoReturn, Optional, Sequence, cast

import numpy as np

from mosaic_worker.checkpoint import PolicyDescription, holds_checkpoint
from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.limits import LARGEST_SPACE, Budget, size_of
from mosaic_worker.plain_files import read_file
from mosaic_worker.preprocessing import PreprocessingError, describe_steps
from mosaic_worker.spaces import Space
from mosaic_worker.unpickling import Record
from mosaic_worker.worker import LoadError

_JSON_BYTES = 2**20


class ImportRefused(ConfigError):
    """A file cannot be imported; the message is one sentence that says why and what to do."""


class ImportParser(argparse.ArgumentParser):
    """Parser of the options of every import; a worker adds its own options.

    Args:
        module: Module that is run with ``python -m``, for the help.
        description: Purpose of the program, for the help.
        algorithm: Help text of ``--algorithm``.
    """

    def __init__(self, module: str, description: str, algorithm: str) -> None:
        super().__init__(prog=f"python -m {module}", description=description)
        self.add_argument("file", type=Path)
        self.add_argument("--env-id", required=True, help="environment whose spaces the policy must fit")
        self.add_argument("--out", type=Path, required=True, help="folder of the policy")
        self.add_argument("--algorithm", default="", help=algorithm)
        self.add_argument("--preprocess", default="", help="all steps from observation to network, as JSON")
        self.add_argument("--licence", default="", help="license of the policy, recorded with it")
        self.add_argument("--overwrite", action="store_true", help="replace the policy in the folder")

    def error(self, message: str) -> NoReturn:
        """Raise :class:`ConfigError` for a wrong option, so that it is reported like any other error."""
        raise ConfigError(f"{message}. See --help")


@dataclass(frozen=True)
class ImportMain:
    """Callable that a worker's ``importing`` module uses as its ``main``.

    Attributes:
        package: Name of the worker's package.
        about: Docstring of the module; its first line is the help text.
        algorithm: Help text of ``--algorithm``.
        bring: Reads the file, checks it against the environment, and writes the policy.
        options: Options of this worker: keyword arguments of ``add_argument`` by flag.
    """

    package: str
    about: Optional[str]
    algorithm: str
    bring: Callable[[argparse.Namespace], PolicyDescription]
    options: Mapping[str, Mapping[str, Any]]

    def __call__(self, argv: Optional[Sequence[str]] = None) -> int:
        """Import one file and print the result.

        Args:
            argv: Arguments of the command line; ``None`` for those of the process.

        Returns:
            The exit status.
        """
        what = (self.about or "").partition("\n")[0]
        parser = ImportParser(f"{self.package}.importing", what, self.algorithm)
        for flag, keywords in self.options.items():
            parser.add_argument(flag, **keywords)
        return imported(parser, argv, self.bring)


def imported(
    parser: ImportParser,
    argv: Optional[Sequence[str]],
    bring: Callable[[argparse.Namespace], PolicyDescription],
) -> int:
    """Import one file and print the result as a JSON line, or the reason why it cannot be imported.

    Args:
        parser: Parser of the options.
        argv: Arguments of the command line; ``None`` for those of the process.
        bring: Reads the file, checks it against the environment, and writes the policy.

    Returns:
        The exit status.
    """
    try:
        args = parser.parse_args(argv)
        if holds_checkpoint(args.out) and not args.overwrite:
            raise ConfigError(f"{args.out} already holds a policy. Choose another --out, or add --overwrite")
        description = bring(args)
    except (ConfigError, LoadError, PreprocessingError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename or error} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    written = {
        "out": str(args.out),
        "algorithm": description.algorithm,
        "env_id": description.env_id,
        "total_steps": description.total_steps,
        "preprocessing": describe_steps(description.preprocessing),
        "sha256": description.weights_sha256,
    }
    print(json.dumps(written))
    return 0


def space_of(found: Any, what: str, room: Optional[Budget] = None) -> Space:
    """Build a space from the fields of a Gymnasium space that was read out of a pickle.

    Args:
        found: Value returned by :func:`mosaic_worker.unpickling.read_pickle`.
        what: Name of the space, for messages.
        room: Budget of bytes for the bounds; by default :data:`~mosaic_worker.limits.LARGEST_SPACE`.

    Raises:
        ImportRefused: ``found`` is no space, is too large, or is of a kind that policies cannot have.
    """
    if not isinstance(found, Record):
        raise ImportRefused(f"its {what} is a {type(found).__name__} , not a space")
    kind, state = found.name.rpartition(".")[2], found.state
    if room is None:
        room = Budget(LARGEST_SPACE, "its bytes are")
    try:
        if kind == "Box":
            low = np.asarray(state["low"])
            room.take(low.nbytes)
            return Space(kind, np.dtype(low.dtype), low.shape, low, np.asarray(state["high"], low.dtype))
        if kind == "Discrete":
            return Space(kind, np.dtype(np.int64), n=int(state["n"]), start=int(state.get("start", 0)))
        if kind == "MultiDiscrete":
            nvec = np.asarray(state["nvec"], np.int64)
            starts = np.broadcast_to(np.asarray(state.get("start", 0), np.int64), nvec.shape)
            return Space(kind, np.dtype(np.int64), nvec.shape, nvec=nvec, starts=starts)
        if kind == "MultiBinary":
            shape = tuple(int(n) for n in np.atleast_1d(np.asarray(state["n"], np.int64)))
            room.take(size_of(shape, np.dtype(np.int8)))
            return Space(kind, np.dtype(np.int8), shape)
        if kind == "Dict":
            children = cast(Dict[str, Any], state["spaces"])
            return Space(
                kind, spaces={str(key): space_of(child, what, room) for key, child in children.items()}
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ImportRefused(f"its {what} cannot be read ({one_line(error)})") from error
    raise ImportRefused(f"its {what} is a {found.name}, which cannot be imported")


def origin_of(file: Path, format: str, limit: int) -> Dict[str, Any]:
    """Return the entry ``origin`` of ``policy.json`` for a policy that was imported from ``file``.

    Args:
        file: The imported file.
        format: Name of the file's format.
        limit: Largest size of the file in bytes.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        digest = hashlib.sha256(read_file(file, links=True, limit=limit)).hexdigest()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    return {"kind": "imported", "file": file.name, "sha256": digest, "format": format}


def json_of(text: str, option: str) -> Any:
    """Return the value of an option that is JSON text, or the path of a JSON file.

    Raises:
        ConfigError: The text is no JSON, or the file cannot be read; the message names the option.
    """
    try:
        if not text.lstrip().startswith(("[", "{")):
            text = read_file(Path(text), links=True, limit=_JSON_BYTES).decode("utf-8")
        return json.loads(text)
    except OSError as error:
        raise ConfigError(f"{option} {text} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{option} is not JSON: {error}") from error
