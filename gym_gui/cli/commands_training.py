"""Defines the commands ``mosaic train`` and ``mosaic daemon``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import Detach, Executor, Json, Profile, Trust, check_no_conflict, uses_executor
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted import trust


def train(
    context: typer.Context,
    env: Annotated[
        str,
        typer.Option(metavar="ID", help="Environment to train in.", autocompletion=completion.environments),
    ] = "",
    worker: Annotated[
        str,
        typer.Option(
            metavar="ID",
            help="Worker that trains.  [default: the best for algorithm and environment]",
            autocompletion=completion.workers,
        ),
    ] = "",
    algo: Annotated[
        str,
        typer.Option(
            *("--algo", "--algorithm"),
            metavar="NAME",
            help="Algorithm of the worker.  [default: ppo, for several agents ippo]",
        ),
    ] = "",
    steps: Annotated[int | None, typer.Option(metavar="N", min=1, help="Environment steps in all.")] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seed of a single training.  [default: 1]")
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Train a group: N trainings one after another, or one per seed of a list (1,2,5).",
        ),
    ] = "",
    group: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the group.  [default: the algorithm]")
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Setting of the algorithm; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Run folder.  [default: runs/ALGO_ENV_seedN; for a group runs/ALGO_ENV]"
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Resume a training by its run folder, or a submission."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the policy in the run folder, if there is one.")
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Queue the training at the daemon and return.")
    ] = False,
    priority: Annotated[
        int, typer.Option(metavar="N", help="With --background: higher numbers start first.")
    ] = 0,
    executor: Executor = None,
    profile: Profile = None,
    detach: Detach = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --executor: check each host, and train nothing.")
    ] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Train a policy, or with --seeds one policy per seed.

    Other options are settings of the algorithm: --learning-rate 0.001 means --set learning_rate=0.001.
    """
    from gym_gui.cli.training.train import train_policy

    trust.allow_all(trusted)
    elsewhere = None
    if uses_executor(executor, profile, None, resume, detach):
        from gym_gui.cli.running.executor_commands import ExecutorOptions

        check_no_conflict(background=background or None, priority=priority or None)
        elsewhere = ExecutorOptions(executor, profile, None, resume, dry_run, detach)
    elif dry_run:
        raise UsageError("--dry-run needs --executor", fix="Add --executor local, ssh, slurm or ray")
    raise typer.Exit(
        train_policy(
            worker,
            algo=algo,
            env=env,
            seed=seed,
            seeds=seeds,
            group=group,
            steps=steps,
            settings=settings or (),
            out=out,
            resume=resume,
            overwrite=overwrite,
            background=background,
            priority=priority,
            elsewhere=elsewhere,
            extra=context.args,
            as_json=as_json,
        )
    )


def daemon(
    status: Annotated[
        bool, typer.Option("--status", help="Print the daemon's state and its trainings.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the daemon; running trainings go on.")] = False,
    cancel: Annotated[
        str, typer.Option(metavar="RUN", help="Cancel a training; its files and checkpoints stay.")
    ] = "",
    tcp: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Also listen here, with TLS; needs --cert and --key.")
    ] = "",
    cert: Annotated[Path | None, typer.Option(metavar="FILE", help="TLS certificate, as PEM.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Key of the certificate, as PEM.")] = None,
    idle: Annotated[
        float,
        typer.Option(
            metavar="MINUTES", min=0, help="Exit after so long without training or client; 0: never."
        ),
    ] = 10.0,
    queue: Annotated[int, typer.Option(metavar="N", min=1, help="Most trainings that may wait.")] = 1000,
    as_json: Json = False,
) -> None:
    """Manage trainings, with or without a window.

    The daemon starts by itself when a training is queued. It exits when it has had no training and no client
    for the time of --idle.
    """
    from gym_gui.cli.training.daemon import cancel_run, run_daemon, show_status
    from gym_gui.cli.training.daemon import stop as stop_it

    if sum(map(bool, (status, stop, cancel))) > 1:
        raise typer.BadParameter("--status, --stop and --cancel cannot be combined: give one of them")
    if cancel:
        raise typer.Exit(cancel_run(cancel, as_json=as_json))
    if status or stop:
        raise typer.Exit((show_status if status else stop_it)(as_json=as_json))
    from gym_gui.services.trainer.daemon import DaemonSettings

    raise typer.Exit(run_daemon(DaemonSettings(idle * 60, queue, tcp, cert, key)))
