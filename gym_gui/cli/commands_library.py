"""Defines ``mosaic runs``, ``mosaic policies`` and ``mosaic trust``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import HELP, Json, PolicyName, RunFolder, RunFolders, Submission, Trust
from gym_gui.core.trusted import trust

runs_app = typer.Typer(help="What was played: list, show, label, merge, watch, stop, …", **HELP)
policies_app = typer.Typer(help="Trained policies: list, add, show, score, remove, export.", **HELP)
trust_app = typer.Typer(help="What files may name: list, add, remove.", **HELP)


@runs_app.command("list")
def runs_list(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where the run folders are.  [default: runs]")
    ] = None,
    find: Annotated[
        str,
        typer.Option(metavar="WORDS", help="Those that fit: words, tag:x, agent:x, star, after:2026-11-01 …"),
    ] = "",
    as_json: Json = False,
) -> None:
    """Runs, newest first."""
    from gym_gui.cli.library.runs import list_runs

    list_runs(folder, find=find, as_json=as_json)


@runs_app.command("show")
def runs_show(run: RunFolder, as_json: Json = False) -> None:
    """One run: what was played, by whom, how it stands."""
    from gym_gui.cli.library.runs import show_run

    show_run(run, as_json=as_json)


@runs_app.command("label")
def runs_label(
    runs: RunFolders,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="New name; '' removes the name.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Add a tag; repeatable, or a,b.")
    ] = None,
    untag: Annotated[list[str] | None, typer.Option(metavar="WORD", help="Take a tag away.")] = None,
    group: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it belongs to; '' for nothing.")
    ] = None,
    notes: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Notes, in place of those there are; '' for none.")
    ] = None,
    star: Annotated[bool | None, typer.Option("--star/--no-star", help="Mark it, or no longer.")] = None,
    as_json: Json = False,
) -> None:
    """Name, tag, note and star runs, or show what they have.

    Kept in labels.json in the run folder; run.json stays as recorded.
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
            help="Run folders of mosaic run --shard, or folders of them.",
            autocompletion=completion.runs,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for the run folder.  [default: runs]"),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Merge even if shards are missing; --resume plays them.")
    ] = False,
    allow_differences: Annotated[
        bool, typer.Option("--allow-differences", help="Merge even if versions differ.")
    ] = False,
    as_json: Json = False,
) -> None:
    """One run of the shards of an experiment.

    Shards are left as they are.
    """
    from gym_gui.cli.library.merging import merge_runs

    raise typer.Exit(
        merge_runs(shards, out=out, allow_differences=allow_differences, partial=partial, as_json=as_json)
    )


@runs_app.command("watch")
def runs_watch(submission: Submission, as_json: Json = False) -> None:
    """How far an experiment is that is played elsewhere."""
    from gym_gui.cli.running.watch_submission import watch_submission

    raise typer.Exit(watch_submission(submission, as_json=as_json))


@runs_app.command("stop")
def runs_stop(submission: Submission, as_json: Json = False) -> None:
    """Have what is played elsewhere end; what is done is kept."""
    from gym_gui.cli.running.stop_submission import stop_submission

    raise typer.Exit(stop_submission(submission, as_json=as_json))


@runs_app.command("confirm")
def runs_confirm(submission: Submission, as_json: Json = False) -> None:
    """Look at what a submission would run, and confirm it once.

    It was handed in by another person, on another machine, or was changed since.
    """
    from gym_gui.cli.library.confirm_submission import confirm_submission

    raise typer.Exit(confirm_submission(submission, as_json=as_json))


@runs_app.command("compress")
def runs_compress(
    runs: RunFolders,
    undo: Annotated[bool, typer.Option("--undo", help="Decompress them again.")] = False,
    as_json: Json = False,
) -> None:
    """Compress runs that have ended to a twelfth.

    Everything reads them as before.
    """
    from gym_gui.cli.library.packing import compress_runs

    raise typer.Exit(compress_runs(runs, undo=undo, as_json=as_json))


@policies_app.command("list")
def policies_list(as_json: Json = False) -> None:
    """Every policy there is, trained here or brought."""
    from gym_gui.cli.library.policies import list_policies

    list_policies(as_json=as_json)


@policies_app.command("show")
def policies_show(name: PolicyName, as_json: Json = False) -> None:
    """One policy: what it sees and does, where it comes from."""
    from gym_gui.cli.library.policies import show_policy

    show_policy(name, as_json=as_json)


@policies_app.command("add", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def policies_add(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="An export, a policy's folder, a file of another program."),
    ],
    env: Annotated[
        str,
        typer.Option(
            metavar="ID", help="The environment it was trained in.", autocompletion=completion.environments
        ),
    ] = "",
    worker: Annotated[
        str, typer.Option(metavar="ID", help="Who plays it.  [default: by the file's ending]")
    ] = "",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the policy.  [default: as the file]")
    ] = "",
    licence: Annotated[str, typer.Option("--licence", "--license", metavar="TEXT", help="Its licence.")] = "",
    as_json: Json = False,
) -> None:
    """Take a policy of MOSAIC or another program into the library.

    Options that are not named here go to the worker that reads the file, such as
    --vecnormalize FILE (sb3_worker), --describe FILE (cleanrl_worker), --preprocess JSON (both).
    """
    from gym_gui.cli.library.policies import add
    from gym_gui.services.policies.policy_import import ImportRequest

    request = ImportRequest(file, env, worker, name, licence, tuple(context.args))
    raise typer.Exit(add(request, as_json=as_json))


@policies_app.command("score")
def policies_score(name: PolicyName, trusted: Trust = False, as_json: Json = False) -> None:
    """Play a policy on the 20 standard seeds and keep its score."""
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
        Path | None, typer.Argument(metavar="OUT", help="FILE.zip or a new folder.  [default: NAME.zip]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a policy and its score, to be taken in elsewhere."""
    from gym_gui.cli.library.policies import export

    raise typer.Exit(export(name, out, as_json=as_json))


@policies_app.command("folders")
def policies_folders(
    add: Annotated[Path | None, typer.Option(metavar="DIR", help="Look here as well from now on.")] = None,
    remove: Annotated[Path | None, typer.Option(metavar="DIR", help="Look here no more.")] = None,
    as_json: Json = False,
) -> None:
    """Where policies are looked for."""
    from gym_gui.cli.library.policies import folders

    raise typer.Exit(folders(add, remove, as_json=as_json))


@trust_app.command("list")
def trust_list(as_json: Json = False) -> None:
    """What has been allowed for good."""
    from gym_gui.cli.library.trust import list_trusted

    list_trusted(as_json=as_json)


@trust_app.command("add")
def trust_add(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="An experiment file or run folder, a folder of code, a package, a program, an address.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Allow something for good; other content asks again.

    Of an experiment file or a run, all that it names is allowed.
    """
    from gym_gui.cli.library.trust import add_trusted

    add_trusted(names, as_json=as_json)


@trust_app.command("remove")
def trust_remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="As mosaic trust list shows it.")],
    as_json: Json = False,
) -> None:
    """Take back what has been allowed."""
    from gym_gui.cli.library.trust import remove_trusted

    remove_trusted(names, as_json=as_json)
