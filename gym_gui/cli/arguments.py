"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gym_gui.cli import completion

HELP: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
    # Markup would import rich's Markdown and syntax highlighting, half a second on a slow machine.
    "rich_markup_mode": None,
}
"""Of every group of commands."""
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Gpu = Annotated[bool, typer.Option("--gpu", help="torch with CUDA (several GB).")]
InstallDryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be installed, then end.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Allow, this once, the code and programs that the file names.")
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
PolicyName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a policy.", autocompletion=completion.policies)
]
WorkerId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Worker id, or another name it goes by.", autocompletion=completion.workers
    ),
]
RunsFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for the run folder.  [default: runs]")
]
ShardOf = Annotated[
    str | None,
    typer.Option("--shard", metavar="K/N", help="Play one of N parts, to be merged: mosaic runs merge."),
]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=4096, help="Episodes in flight per process.")
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=256, help="Session processes.  [default: one per core]"),
]
