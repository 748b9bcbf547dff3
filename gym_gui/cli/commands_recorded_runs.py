"""Defines the commands on recorded runs: verify, rerun, reparse, replay, report, query, export and power."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import (
    CallTimeout,
    Json,
    Processes,
    ReportedFolders,
    RunFolder,
    RunFolders,
    RunsFolder,
    Trust,
)
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.trusted import trust


def verify(
    runs: RunFolders, trusted: Trust = False, timeout: CallTimeout = None, as_json: Json = False
) -> None:
    """Re-execute the actions of runs and compare every step."""
    from gym_gui.cli.recorded_runs.verify import verify_runs

    trust.allow_all(trusted)
    raise typer.Exit(verify_runs(runs, timeout_s=timeout, as_json=as_json))


def rerun(
    run: RunFolder,
    episodes: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Only these episodes, such as 0,3,5-9.  [default: all recorded]"),
    ] = None,
    out: RunsFolder = None,
    processes: Processes = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Let a run's policies decide again; compare with the record.

    Prints where and why decisions differ. Language models are called again, which may cost money.
    """
    from gym_gui.host.prestart import CommandHosts

    trust.allow_all(trusted)
    with CommandHosts() as hosts:
        from gym_gui.cli.recorded_runs.rerun import rerun_run

        status = rerun_run(run, episodes=episodes, out=out, processes=processes, as_json=as_json, hosts=hosts)
    raise typer.Exit(status)


def reparse(run: RunFolder, trusted: Trust = False, as_json: Json = False) -> None:
    """Parse a run's recorded model replies again.

    Prints which decisions would differ with the current parser. Calls no model, and does not change the run.
    """
    from gym_gui.cli.recorded_runs.reparse import reparse_run

    trust.allow_all(trusted)
    raise typer.Exit(reparse_run(run, as_json=as_json))


def replay(
    run: RunFolder,
    operator: Annotated[
        str, typer.Option(metavar="ID", help="Operator of the episode.  [default: the first]")
    ] = "",
    episode: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Index of the episode.  [default: the first]")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(metavar="FILE.mp4", help="Write a video; no window opens.")
    ] = None,
    fps: Annotated[float, typer.Option(metavar="N", min=0.5, max=240, help="Steps per second.")] = 10.0,
    as_python: Annotated[
        bool, typer.Option("--as-python", help="Print a program that plays the episode without MOSAIC.")
    ] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Watch a recorded episode again, step by step.

    With --json and without --video, the recorded actions are played without images.
    """
    trust.allow_all(trusted)
    if as_python:
        from gym_gui.cli.recorded_runs.replay import print_loop

        if video is not None or as_json:
            raise UsageError("--as-python cannot be combined with --video or --json", fix="Leave them out")
        print_loop(run, operator=operator, episode=episode)
        raise typer.Exit(DONE)
    from gym_gui.cli.recorded_runs.replay import replay_episode

    raise typer.Exit(
        replay_episode(run, operator=operator, episode=episode, video=video, fps=fps, as_json=as_json)
    )


def report(
    runs: ReportedFolders,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="Output folder, or a file: .md .tex .csv .parquet .svg .pdf"
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Write this instead of the page: md, tex, csv, parquet, svg, pdf.",
        ),
    ] = "",
    reference: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="With several environments: algorithm whose scores count as 1.  [default: the first]",
        ),
    ] = "",
    site: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a site of all episodes instead of the page.")
    ] = None,
    replays: Annotated[
        bool, typer.Option("--replays/--no-replays", help="Include playable episodes in the page.")
    ] = True,
    all_replays: Annotated[
        bool, typer.Option("--all-replays", help="With --site: make every episode playable.")
    ] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Print which operator is better, and how sure that is.

    For runs, writes summary.json and report.html, and games.pgn if chess was played; the page replays the
    best, the median, the worst and failed episodes. For groups of trainings (mosaic train --seeds), writes
    algorithms.json and algorithms.html.
    """
    if site is not None and (out is not None or form):
        raise UsageError("--site cannot be combined with --out or --format", fix="Leave them out")
    if all_replays and (site is None or not replays):
        what = "needs --site" if site is None else "cannot be combined with --no-replays"
        raise UsageError(f"--all-replays {what}", fix="Add --site DIR" if site is None else "Leave one out")
    from gym_gui.cli.recorded_runs.report_files import format_of, refuse_file, write_format

    refuse_file(out)
    found = [find_run(run) for run in runs]
    if not all((run / "run.json").exists() for run in found):
        from gym_gui.cli.recorded_runs.algorithms import are_groups, report_algorithms

        if are_groups(runs, found):
            if site is not None:
                raise UsageError("--site is for runs, not for groups of trainings", fix="Leave it out")
            report_algorithms(runs, reference=reference, out=out, as_json=as_json)
            return
    if reference:
        raise UsageError("--reference is for groups of trainings", fix="Leave it out")
    if wanted := format_of(out, form):
        summary = write_format(found, wanted, out)
    elif site is not None:
        from gym_gui.cli.recorded_runs.site import report_site

        trust.allow_all(trusted)
        which = "all" if all_replays else "some" if replays else "none"
        summary = report_site(found, site, replays=which, as_json=as_json)
    else:
        from gym_gui.cli.recorded_runs.report import report_runs

        trust.allow_all(trusted)
        summary = report_runs(found, out=out, replays=replays, as_json=as_json)
    raise typer.Exit(WORK_FAILED if summary.unread or summary.unverified else DONE)


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SQL statement that only reads.")],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            help="Run folders, or folders of runs.  [default: runs]",
            autocompletion=completion.runs,
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, csv, json, markdown or parquet.  [default: by the file's ending]",
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write to a file.")] = None,
    as_json: Json = False,
) -> None:
    """Query any number of runs in SQL.

    The tables are runs, episodes and steps; list columns with: mosaic query "describe episodes".
    """
    from gym_gui.cli.recorded_runs.query import query_runs

    query_runs(sql, runs or (), form="json" if as_json else form, out=out)


def export(
    run: RunFolder,
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help="Format: parquet, csv, tensorboard, minari or wandb."),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="Output folder.  [default: RUN-FORMAT]")
    ] = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Export a run to a format of other programs."""
    from gym_gui.cli.recorded_runs.export import export_run

    trust.allow_all(trusted)
    export_run(run, to=to, out=out, as_json=as_json)


def power(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="RUN", help="Pilot run that gives the spread.", autocompletion=completion.runs
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(metavar="D", help="True difference to detect.  [default: the pilot's]"),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(metavar="S", help="Standard deviation over seeds of the difference between operators."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Print the power of this number of seeds instead.")
    ] = None,
    wanted: Annotated[
        float,
        typer.Option(
            "--power", metavar="P", min=0.01, max=0.999, help="Probability of detecting the difference."
        ),
    ] = 0.8,
    comparisons: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of comparisons.  [default: the pilot's]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute how many seeds detect a difference."""
    from gym_gui.cli.recorded_runs.power import print_power

    raise typer.Exit(
        print_power(
            run,
            difference=difference,
            spread=spread,
            seeds=seeds,
            power=wanted,
            comparisons=comparisons,
            as_json=as_json,
        )
    )
