"""The command line with which a worker takes over policies that others have trained.

For workers whose ``[import] entry`` is a module that is run with a file, ``--env-id`` and ``--out``.
One JSON line says what was written. Exit status 0: imported. 2: refused, one line says why.
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
    """A file that cannot be imported; the message is one sentence with the way out."""


class ImportParser(argparse.ArgumentParser):
    """The options that all have; a worker adds its own.

    Args:
        module: What is run with ``python -m``.
        description: What it does.
        algorithm: What ``--algorithm`` is for.
    """

    def __init__(self, module: str, description: str, algorithm: str) -> None:
        super().__init__(prog=f"python -m {module}", description=description)
        self.add_argument("file", type=Path)
        self.add_argument("--env-id", required=True, help="environment whose spaces it has to fit")
        self.add_argument("--out", type=Path, required=True, help="folder of the policy")
        self.add_argument("--algorithm", default="", help=algorithm)
        self.add_argument("--preprocess", default="", help="all steps from observation to network, as JSON")
        self.add_argument("--licence", default="", help="for the record")
        self.add_argument("--overwrite", action="store_true", help="replace a policy in the folder")

    def error(self, message: str) -> NoReturn:
        """A bad option is refused like anything else."""
        raise ConfigError(f"{message}. See --help")


@dataclass(frozen=True)
class ImportMain:
    """The ``main`` of a worker's ``importing`` module.

    Attributes:
        package: The worker's package.
        about: The documentation of the module; its first line is the help.
        algorithm: What ``--algorithm`` is for.
        bring: Reads the file, checks it against the environment, writes the policy.
        options: Those of the worker's own, by flag: keywords of ``add_argument``.
    """

    package: str
    about: Optional[str]
    algorithm: str
    bring: Callable[[argparse.Namespace], PolicyDescription]
    options: Mapping[str, Mapping[str, Any]]

    def __call__(self, argv: Optional[Sequence[str]] = None) -> int:
        """Import one file, and say what became of it.

        Args:
            argv: The words of the command line; ``None``: those of the process.

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
    """Import one file, and say what became of it.

    Args:
        parser: Reads the options.
        argv: The options; by default, those of this program.
        bring: Reads the file, checks it against the environment, writes the policy.

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
    """A space that was read out of a pickle as data, rebuilt from the fields that its class is known to have.

    Args:
        found: What :func:`mosaic_worker.unpickling.read_pickle` gave.
        what: What it is called, for the message.
        room: Bytes that its values may have; by default those of a whole space.

    Raises:
        ImportRefused: It is none, too large, or of a kind that nothing here sees or does.
    """
    if not isinstance(found, Record):
        raise ImportRefused(f"its {what} is a {type(found).__name__} and no space")
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
    """What a checkpoint says of the file that it was imported from.

    Args:
        file: That file.
        format: What it is.
        limit: Bytes that it may have.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        digest = hashlib.sha256(read_file(file, links=True, limit=limit)).hexdigest()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    return {"kind": "imported", "file": file.name, "sha256": digest, "format": format}


def json_of(text: str, option: str) -> Any:
    """JSON as it stands, or that of a file.

    Raises:
        ConfigError: It is none, or the file cannot be read; names the option.
    """
    try:
        if not text.lstrip().startswith(("[", "{")):
            text = read_file(Path(text), links=True, limit=_JSON_BYTES).decode("utf-8")
        return json.loads(text)
    except OSError as error:
        raise ConfigError(f"{option} {text} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{option} is no JSON: {error}") from error
