"""Defines command-line arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gym_gui.cli import completion
from gym_gui.core.errors import UsageError

HELP: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
    # Markup would import rich's Markdown and syntax highlighting: half a second on a slow machine.
    "rich_markup_mode": None,
}
"""Keyword arguments for every ``typer.Typer``."""
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Gpu = Annotated[bool, typer.Option("--gpu", help="Install torch with CUDA (several GB).")]
Given = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="FILE", help="Use this local file instead of a download; repeatable."),
]
Offline = Annotated[
    Path | None,
    typer.Option(
        "--offline", metavar="FOLDER", help="Install from a folder of mosaic wheelhouse, without a network."
    ),
]
InstallDryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be installed, then exit.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Allow the code and programs that the file names, this time only.")
]
CallTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        help="Longest duration of one call of the environment, in seconds.  [default: 120]",
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.", autocompletion=completion.runs)]
RunFolders = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Run folders.", autocompletion=completion.runs)
]
ReportedFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN", help="Run folders, or groups of trainings.", autocompletion=completion.reported
    ),
]
Submission = Annotated[
    Path, typer.Argument(metavar="SUBMISSION", help="Folder that mosaic run --executor printed.")
]
PolicyName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a policy.", autocompletion=completion.policies)
]
WorkerId = Annotated[
    str,
    typer.Argument(metavar="ID", help="Id or alias of a worker.", autocompletion=completion.workers),
]
EnvironmentId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Environment id, or module:factory.", autocompletion=completion.environments
    ),
]
RunsFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for the run folder.  [default: runs]")
]
ShardOf = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Play shard K of N, or several (1-9/64); merge them with mosaic runs merge.",
    ),
]
Executor = Annotated[
    str | None,
    typer.Option("--executor", metavar="NAME", help="Run in parts by local, ssh, slurm or ray."),
]
Profile = Annotated[
    Path | None,
    typer.Option("--profile", metavar="FILE", help="File with the executor's hosts or job options."),
]
Shards = Annotated[
    int | None,
    typer.Option(
        "--shards", metavar="N", min=1, help="Number of parts.  [default: four for each host or job]"
    ),
]
Detach = Annotated[
    bool, typer.Option("--detach", help="With --executor: return at once; a coordinator process goes on.")
]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=4096, help="Episodes in flight per process.")
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=256, help="Session processes.  [default: one per core]"),
]


def uses_executor(
    executor: str | None,
    profile: Path | None,
    shards: int | None,
    resume: Path | None,
    detach: bool = False,
) -> bool:
    """Return whether the options request an executor, or resume a submission.

    Raises:
        UsageError: An option needs an executor, and none is given.
    """
    if executor is not None or (resume is not None and (resume / "submission.json").is_file()):
        return True
    for name, value in (("--profile", profile), ("--shards", shards), ("--detach", detach or None)):
        if value is not None:
            raise UsageError(f"{name} needs --executor", fix="Add --executor local, ssh, slurm or ray")
    return False


def check_no_conflict(**given: object) -> None:
    """Raise an error if an option is set that cannot be combined with ``--executor``.

    Args:
        given: Values by the option's name with underscores; ``None`` if the option is not set.

    Raises:
        UsageError: An option is set.
    """
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} cannot be combined with --executor", fix="Leave one of them out"
            )
