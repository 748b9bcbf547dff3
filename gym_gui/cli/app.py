"""Defines the commands of ``mosaic`` and their options. Each command imports its modules when it is called,
so that ``mosaic --help`` answers at once."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import (
    HELP,
    Concurrency,
    Detach,
    Executor,
    Gpu,
    InstallDryRun,
    Json,
    Offline,
    Processes,
    Profile,
    RunsFolder,
    ShardOf,
    Shards,
    Trust,
    check_no_conflict,
    uses_executor,
)
from gym_gui.cli.commands_installed import envs_app, workers_app
from gym_gui.cli.commands_library import policies_app, runs_app, trust_app
from gym_gui.cli.commands_recorded_runs import export, power, query, reparse, replay, report, rerun, verify
from gym_gui.cli.commands_self import self_app
from gym_gui.cli.commands_training import daemon, train
from gym_gui.cli.errors import DONE, INTERRUPTED, USAGE, print_message, reported
from gym_gui.core.printable_text import visible_streams
from gym_gui.core.trusted import trust
from gym_gui.version import __version__

app = typer.Typer(
    name="mosaic",
    help="Compare agents of different kinds on the same seeds, in the same environment.",
    epilog="Begin with: mosaic envs list, mosaic workers list, then mosaic run FILE.",
    pretty_exceptions_enable=False,
    add_completion=True,
    **HELP,
)
app.add_typer(workers_app, name="workers")
app.add_typer(envs_app, name="envs")
app.add_typer(runs_app, name="runs")
app.add_typer(policies_app, name="policies")
app.add_typer(trust_app, name="trust")
app.add_typer(self_app, name="self")

_COMPLETE = "_MOSAIC_COMPLETE"
"""Environment variable that typer's completion scripts set to request completions."""

# Newer versions of typer contain their own copy of click; this is the class that the installed typer raises.
_CLICK_ERROR: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"mosaic {__version__}\n")
        raise typer.Exit(DONE)


@app.callback()
def mosaic(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare agents of different kinds on the same seeds, in the same environment."""


@app.command("run")
def run_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Experiment file (.py, .yaml, .json).")
    ] = None,
    out: RunsFolder = None,
    episodes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of episodes, in place of the file's.")
    ] = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    money_budget: Annotated[
        float | None, typer.Option(metavar="USD", help="Most that all model calls may cost, in US dollars.")
    ] = None,
    token_budget: Annotated[
        int | None, typer.Option(metavar="N", help="Most tokens that all model calls may use.")
    ] = None,
    time_budget: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds after which no new episode begins.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Resume this run folder.", autocompletion=completion.runs),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Play a run again with its recorded replies of language models."),
    ] = None,
    shard: ShardOf = None,
    executor: Executor = None,
    profile: Profile = None,
    shards: Shards = None,
    detach: Detach = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print episodes, model calls and costs to expect, then exit.")
    ] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Run an experiment and print its comparison.

    --replay RUN plays the run's experiment again without calling a model; to watch a recorded episode, use
    mosaic replay RUN.
    """
    trust.allow_all(trusted)
    if uses_executor(executor, profile, shards, resume, detach):
        from gym_gui.cli.running.executor_commands import ExecutorOptions
        from gym_gui.cli.running.submit import submit_experiment

        check_no_conflict(shard=shard, replay=replay, processes=processes)
        check_no_conflict(time_budget=time_budget)
        budgets = {"money_budget_usd": money_budget, "token_budget": token_budget}
        where = ExecutorOptions(executor, profile, shards, resume, dry_run, detach)
        raise typer.Exit(
            submit_experiment(
                file,
                where,
                out=out,
                episodes=episodes,
                concurrency=concurrency,
                budgets=budgets,
                as_json=as_json,
            )
        )
    from gym_gui.host.prestart import CommandHosts

    with CommandHosts(wanted=not dry_run) as hosts:
        from gym_gui.cli.running.run import run_experiment

        status = run_experiment(
            file,
            out=out,
            episodes=episodes,
            concurrency=concurrency,
            processes=processes,
            budgets={
                "money_budget_usd": money_budget,
                "token_budget": token_budget,
                "time_budget_s": time_budget,
            },
            resume=resume,
            replay=replay,
            shard=shard,
            dry_run=dry_run,
            as_json=as_json,
            hosts=hosts,
        )
    raise typer.Exit(status)


@app.command()
def tournament(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Tournament file (.yaml, .json).")
    ] = None,
    out: RunsFolder = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Resume this run folder; if the file has further policies, play their games.",
            autocompletion=completion.runs,
        ),
    ] = None,
    shard: ShardOf = None,
    executor: Executor = None,
    profile: Profile = None,
    shards: Shards = None,
    detach: Detach = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the pairings, then exit.")] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Let a pool of policies meet, and print ratings and payoffs.

    Every policy meets every other one, or policies meet in Swiss rounds, on the same seeds and from every
    seat. If all agents are on one side, each policy plays with itself and with each other one (cross-play).
    """
    trust.allow_all(trusted)
    if uses_executor(executor, profile, shards, resume, detach):
        from gym_gui.cli.running.executor_commands import ExecutorOptions
        from gym_gui.cli.running.submit import submit_tournament

        check_no_conflict(shard=shard, processes=processes)
        where = ExecutorOptions(executor, profile, shards, resume, dry_run, detach)
        raise typer.Exit(submit_tournament(file, where, out=out, concurrency=concurrency, as_json=as_json))
    from gym_gui.host.prestart import CommandHosts

    with CommandHosts(wanted=not dry_run) as hosts:
        from gym_gui.cli.running.tournament import run_tournament

        status = run_tournament(
            file,
            out=out,
            concurrency=concurrency,
            processes=processes,
            resume=resume,
            shard=shard,
            dry_run=dry_run,
            as_json=as_json,
            hosts=hosts,
        )
    raise typer.Exit(status)


for _command in (verify, rerun, reparse, replay, report, query, export, power):
    app.command()(_command)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(train)
app.command()(daemon)


@app.command()
def gui(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Experiment file or run folder to open.")
    ] = None,
) -> None:
    """Open the window."""
    from gym_gui.cli.window import open_window

    raise typer.Exit(open_window([] if file is None else [str(file)]))


@app.command()
def install(
    extra: Annotated[
        str,
        typer.Argument(
            metavar="EXTRA", help="gui, tournaments, query, tensorboard, minari, wandb, ray or evdev."
        ),
    ],
    offline: Offline = None,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install the packages of an optional part of MOSAIC."""
    from gym_gui.cli.installing.install_extras import install_extra
    from gym_gui.cli.installing.wheelhouse import use_wheelhouse

    use_wheelhouse(offline)
    raise typer.Exit(install_extra(extra, dry_run=dry_run, as_json=as_json))


@app.command()
def wheelhouse(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the wheels.")],
    extra: Annotated[
        list[str] | None, typer.Option(metavar="EXTRA", help="Part of MOSAIC, such as gui; repeatable.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY", help="Family of environments; repeatable.", autocompletion=completion.families
        ),
    ] = None,
    worker: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Worker; repeatable.", autocompletion=completion.workers),
    ] = None,
    gpu: Gpu = False,
    as_json: Json = False,
) -> None:
    """Fetch wheels for machines without a network."""
    from gym_gui.cli.installing.wheelhouse import make_wheelhouse

    raise typer.Exit(
        make_wheelhouse(
            folder,
            extras=extra or (),
            env_families=env or (),
            workers=worker or (),
            gpu=gpu,
            as_json=as_json,
        )
    )


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check this machine for problems, and print fixes."""
    from gym_gui.cli.installing.doctor import examine

    raise typer.Exit(examine(as_json=as_json))


@app.command("session-host", hidden=True)
def session_host() -> None:
    """Run sessions for a window on another machine."""
    from gym_gui.host.keeper import run_host

    raise typer.Exit(run_host())


def run(arguments: Sequence[str]) -> int:
    """Run a command line.

    Returns:
        Exit status: 0 if done, 1 if the work failed, 2 for a problem that the user can fix, 130 if
        interrupted.
    """
    with visible_streams(), _without_broken_worker_warnings():
        return _run(arguments)


@contextlib.contextmanager
def _without_broken_worker_warnings() -> Generator[None, None, None]:
    """Silence warnings of broken workers; `workers list` and commands that name the worker report them."""
    discovery = logging.getLogger("gym_gui.workers.discovery")
    before = discovery.level
    discovery.setLevel(logging.ERROR)
    try:
        yield
    finally:
        discovery.setLevel(before)


@functools.cache
def _program() -> Any:
    """Return the click command with all subcommands, cached because building it is slow."""
    return typer.main.get_command(app)


def _run(arguments: Sequence[str]) -> int:
    trust.begin()
    command = _program()
    try:
        with reported(as_json="--json" in arguments):
            try:
                result = _invoked(command, arguments)
            except _CLICK_ERROR as exc:
                return _print_usage_error(exc)
    except (typer.Abort, KeyboardInterrupt):
        print_message("interrupted")
        return INTERRUPTED
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else 1
    return result if isinstance(result, int) else DONE


def _invoked(command: Any, arguments: Sequence[str]) -> object:
    """Run a command without click's ``main``, which would end the program if the output is closed."""
    if _COMPLETE in os.environ:  # a shell requests completions
        return command.main([], prog_name="mosaic", complete_var=_COMPLETE, standalone_mode=False)
    if {"--install-completion", "--show-completion"} & set(arguments[:1]):
        completion.check_shell()
    try:
        with command.make_context("mosaic", list(arguments)) as context:
            return command.invoke(context)
    except typer.Exit as end:
        return end.exit_code


def _print_usage_error(exc: Any) -> int:
    """Print what is wrong with a command line, in one line, and return the exit status.

    If the command line has no command, print the help instead.
    """
    if type(exc).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{exc.format_message()}\n")
        return DONE
    context = getattr(exc, "ctx", None)
    path = context.command_path if context is not None else "mosaic"
    problem = str(exc.format_message()).rstrip(".")
    print_message(f"{problem}{'' if problem.endswith('?') else '.'} See: {path} --help")
    return USAGE
