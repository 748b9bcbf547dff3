"""Arguments and options that several commands share."""

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
"""Settings of every group of commands."""
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Gpu = Annotated[bool, typer.Option("--gpu", help="torch with CUDA (several GB).")]
Given = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="FILE", help="A file it needs that is there already; repeatable."),
]
InstallDryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be installed, then end.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Allow, this once, the code and programs that the file names.")
]
CallTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        help="Longest time that the environment may take for one call.  [default: 120]",
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
    Path, typer.Argument(metavar="SUBMISSION", help="Folder that mosaic run --executor has named.")
]
PolicyName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a policy.", autocompletion=completion.policies)
]
WorkerId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Worker id, or another name it goes by.", autocompletion=completion.workers
    ),
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
        help="Play one of N parts, or several (1-9/64); then: mosaic runs merge.",
    ),
]
Executor = Annotated[
    str | None,
    typer.Option("--executor", metavar="NAME", help="Do it in parts: local, ssh, slurm or ray."),
]
Profile = Annotated[
    Path | None, typer.Option("--profile", metavar="FILE", help="Where that is: hosts, or what jobs ask for.")
]
Shards = Annotated[
    int | None,
    typer.Option("--shards", metavar="N", min=1, help="How many.  [default: four for each place]"),
]
Detach = Annotated[bool, typer.Option("--detach", help="With --executor: return, and have it followed.")]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=4096, help="Episodes in flight per process.")
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=256, help="Session processes.  [default: one per core]"),
]


def is_elsewhere(
    executor: str | None,
    profile: Path | None,
    shards: int | None,
    resume: Path | None,
    detach: bool = False,
) -> bool:
    """Return whether something is to be played in parts, by an executor.

    Raises:
        UsageError: The options name places but no executor.
    """
    if executor is not None or (resume is not None and (resume / "submission.json").is_file()):
        return True
    for name, value in (("--profile", profile), ("--shards", shards), ("--detach", detach or None)):
        if value is not None:
            raise UsageError(f"{name} goes with --executor", fix="Add --executor local, ssh, slurm or ray")
    return False


def check_alone(**given: object) -> None:
    """Refuse options that cannot be combined with ``--executor``; the names are the options'."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} does not go with --executor", fix="Leave one of them out"
            )
