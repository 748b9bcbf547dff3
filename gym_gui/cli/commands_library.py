"""Defines the commands ``mosaic runs``, ``mosaic policies`` and ``mosaic trust``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import HELP, Json, PolicyName, RunFolder, RunFolders, Submission, Trust
from gym_gui.core.trusted import trust

runs_app = typer.Typer(help="Recorded runs: list, show, label, merge, watch, stop, …", **HELP)
policies_app = typer.Typer(help="Trained policies: list, add, show, score, remove, export.", **HELP)
trust_app = typer.Typer(help="Allowed code and programs: list, add, remove.", **HELP)


@runs_app.command("list")
def runs_list(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder that contains run folders.  [default: runs]")
    ] = None,
    find: Annotated[
        str,
        typer.Option(
            metavar="WORDS", help="Runs that match: words, tag:x, agent:x, star, after:2026-11-01 …"
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    from gym_gui.cli.library.runs import list_runs

    list_runs(folder, find=find, as_json=as_json)


@runs_app.command("show")
def runs_show(run: RunFolder, as_json: Json = False) -> None:
    """Print a run's status, operators and failures."""
    from gym_gui.cli.library.runs import show_run

    show_run(run, as_json=as_json)


@runs_app.command("label")
def runs_label(
    runs: RunFolders,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="New name; '' removes the name.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Add a tag; repeatable, or a,b.")
    ] = None,
    untag: Annotated[list[str] | None, typer.Option(metavar="WORD", help="Remove a tag.")] = None,
    group: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of the run's group; '' removes it.")
    ] = None,
    notes: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Replace the notes; '' removes them.")
    ] = None,
    star: Annotated[bool | None, typer.Option("--star/--no-star", help="Add or remove the star.")] = None,
    as_json: Json = False,
) -> None:
    """Name, tag, group and star runs, or print their labels.

    Labels are stored in labels.json in the run folder; run.json stays unchanged.
    """
    from gym_gui.cli.library.labelling import label_runs

    given = {"name": name, "group": group, "notes": notes, "star": star}
    changes = {key: value for key, value in given.items() if value is not None}
    raise typer.Exit(label_runs(runs, changes, add=tag or [], remove=untag or [], as_json=as_json))


@runs_app.command("merge")
def runs_merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHARD",
            help="Run folders of mosaic run --shard, or folders that contain them.",
            autocompletion=completion.runs,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for the run folder.  [default: runs]"),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Merge even if shards are missing; mosaic run --resume plays the rest."
        ),
    ] = False,
    allow_differences: Annotated[
        bool, typer.Option("--allow-differences", help="Merge even if the shards' program versions differ.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Merge the shards of an experiment into one run.

    The shards stay unchanged.
    """
    from gym_gui.cli.library.merging import merge_runs

    raise typer.Exit(
        merge_runs(shards, out=out, allow_differences=allow_differences, partial=partial, as_json=as_json)
    )


@runs_app.command("watch")
def runs_watch(submission: Submission, as_json: Json = False) -> None:
    """Show the progress of a submission."""
    from gym_gui.cli.running.watch_submission import watch_submission

    raise typer.Exit(watch_submission(submission, as_json=as_json))


@runs_app.command("stop")
def runs_stop(submission: Submission, as_json: Json = False) -> None:
    """Stop a submission; finished episodes are kept."""
    from gym_gui.cli.running.stop_submission import stop_submission

    raise typer.Exit(stop_submission(submission, as_json=as_json))


@runs_app.command("confirm")
def runs_confirm(submission: Submission, as_json: Json = False) -> None:
    """Show what a submission would run, and confirm it once.

    A submission needs this if it comes from another user or machine, or was changed afterwards.
    """
    from gym_gui.cli.library.confirm_submission import confirm_submission

    raise typer.Exit(confirm_submission(submission, as_json=as_json))


@runs_app.command("compress")
def runs_compress(
    runs: RunFolders,
    undo: Annotated[bool, typer.Option("--undo", help="Decompress the runs instead.")] = False,
    as_json: Json = False,
) -> None:
    """Compress finished runs to a twelfth of their size.

    Every command reads compressed runs.
    """
    from gym_gui.cli.library.packing import compress_runs

    raise typer.Exit(compress_runs(runs, undo=undo, as_json=as_json))


@policies_app.command("list")
def policies_list(as_json: Json = False) -> None:
    """List all policies, trained here or imported."""
    from gym_gui.cli.library.policies import list_policies

    list_policies(as_json=as_json)


@policies_app.command("show")
def policies_show(name: PolicyName, as_json: Json = False) -> None:
    """Print a policy's spaces, training, score and origin."""
    from gym_gui.cli.library.policies import show_policy

    show_policy(name, as_json=as_json)


@policies_app.command("add", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def policies_add(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Exported policy, policy folder, or file of another program."),
    ],
    env: Annotated[
        str,
        typer.Option(
            metavar="ID", help="Environment of its training.", autocompletion=completion.environments
        ),
    ] = "",
    worker: Annotated[
        str, typer.Option(metavar="ID", help="Worker that plays it.  [default: by the file's ending]")
    ] = "",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the policy.  [default: the file's name]")
    ] = "",
    licence: Annotated[
        str, typer.Option("--licence", "--license", metavar="TEXT", help="License of the policy.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Import a policy of MOSAIC or another program.

    Options that are not named here go to the worker that reads the file, such as
    --vecnormalize FILE (sb3_worker), --describe FILE (cleanrl_worker), --preprocess JSON (both).
    """
    from gym_gui.cli.library.policies import add
    from gym_gui.services.policies.policy_import import ImportRequest

    request = ImportRequest(file, env, worker, name, licence, tuple(context.args))
    raise typer.Exit(add(request, as_json=as_json))


@policies_app.command("score")
def policies_score(name: PolicyName, trusted: Trust = False, as_json: Json = False) -> None:
    """Play a policy on the 20 standard seeds; store its score."""
    from gym_gui.cli.library.policies import score

    trust.allow_all(trusted)
    raise typer.Exit(score(name, as_json=as_json))


@policies_app.command("remove")
def policies_remove(name: PolicyName, as_json: Json = False) -> None:
    """Move a policy to the trash."""
    from gym_gui.cli.library.policies import remove

    raise typer.Exit(remove(name, as_json=as_json))


@policies_app.command("export")
def policies_export(
    name: PolicyName,
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="New FILE.zip or folder.  [default: NAME.zip]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Export a policy and its score for another machine."""
    from gym_gui.cli.library.policies import export

    raise typer.Exit(export(name, out, as_json=as_json))


@policies_app.command("folders")
def policies_folders(
    add: Annotated[Path | None, typer.Option(metavar="DIR", help="Search this folder, too.")] = None,
    remove: Annotated[Path | None, typer.Option(metavar="DIR", help="Stop searching this folder.")] = None,
    as_json: Json = False,
) -> None:
    """List or change the folders searched for policies."""
    from gym_gui.cli.library.policies import folders

    raise typer.Exit(folders(add, remove, as_json=as_json))


@trust_app.command("list")
def trust_list(as_json: Json = False) -> None:
    """List permanently allowed code, programs and addresses."""
    from gym_gui.cli.library.trust import list_trusted

    list_trusted(as_json=as_json)


@trust_app.command("add")
def trust_add(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="Experiment file or run folder, folder of code, package, program or address.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Allow code, programs or addresses permanently.

    If the content changes later, it must be allowed again. For an experiment file or a run, everything that
    the file or run names is allowed.
    """
    from gym_gui.cli.library.trust import add_trusted

    add_trusted(names, as_json=as_json)


@trust_app.command("remove")
def trust_remove(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Name in the output of `mosaic trust list`.")
    ],
    as_json: Json = False,
) -> None:
    """Revoke permissions."""
    from gym_gui.cli.library.trust import remove_trusted

    remove_trusted(names, as_json=as_json)
