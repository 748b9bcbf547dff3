"""The command line with which a worker takes over policies that others have trained.

For workers whose ``[import] entry`` is a module that is run with a file, ``--env-id`` and ``--out``.
One JSON line says what was written. Exit status 0: imported. 2: refused, one line says why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, NoReturn, Optional, Sequence

from mosaic_worker.checkpoint import PolicyDescription, holds_checkpoint
from mosaic_worker.plain_files import read_file
from mosaic_worker.preprocessing import PreprocessingError, describe_steps
from mosaic_worker.training_command import ConfigError
from mosaic_worker.worker import LoadError

_JSON_BYTES = 2**20


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
