"""Defines ``mosaic workers`` and ``mosaic envs``: commands on workers and environments."""

from __future__ import annotations

from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import HELP, CallTimeout, EnvironmentId, Given, Gpu, InstallDryRun, Json, WorkerId

workers_app = typer.Typer(help="What can play a slot: list, show, check, install.", **HELP)
envs_app = typer.Typer(help="What can be played: list, show, check, install.", **HELP)


@workers_app.command("list")
def workers_list(as_json: Json = False) -> None:
    """What can play a slot, and what each lacks."""
    from gym_gui.cli.listing import list_workers

    list_workers(as_json=as_json)


@workers_app.command("show")
def workers_show(
    worker: WorkerId,
    algo: Annotated[
        str, typer.Option(metavar="NAME", help="Settings of a training with this algorithm instead.")
    ] = "",
    as_json: Json = False,
) -> None:
    """What a worker can be set to."""
    from gym_gui.cli.listing import show_worker

    show_worker(worker, algo=algo, as_json=as_json)


@workers_app.command("check")
def workers_check(
    worker: WorkerId,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of its slot; repeatable."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Play a slot of this environment.  [default: made up]",
            autocompletion=completion.environments,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a worker and hold it against the protocol."""
    from gym_gui.cli.contract_tests import check_worker

    raise typer.Exit(check_worker(worker, settings or (), env=env, as_json=as_json))


@workers_app.command("install")
def workers_install(
    worker: WorkerId,
    gpu: Gpu = False,
    given: Given = None,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install what a worker needs."""
    from gym_gui.cli.installing.install import install_worker

    raise typer.Exit(install_worker(worker, gpu=gpu, given=given or (), dry_run=dry_run, as_json=as_json))


@envs_app.command("list")
def envs_list(
    family: Annotated[
        str | None,
        typer.Argument(
            metavar="FAMILY", help="List the ids of this family.", autocompletion=completion.families
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Families of environments, or the ids of one family."""
    from gym_gui.cli.listing import list_environments

    list_environments(family, as_json=as_json)


@envs_app.command("show")
def envs_show(
    env: EnvironmentId,
    as_json: Json = False,
) -> None:
    """What an environment is about, and what env_kwargs may say."""
    from gym_gui.cli.listing import show_environment

    show_environment(env, as_json=as_json)


@envs_app.command("install")
def envs_install(
    family: Annotated[
        str, typer.Argument(metavar="FAMILY", help="A family, for example crafter, or an environment's id.")
    ],
    given: Given = None,
    gpu: Gpu = False,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install what a family of environments needs."""
    from gym_gui.cli.installing.install_extras import install_environments

    files = tuple(given or ())
    raise typer.Exit(install_environments(family, given=files, gpu=gpu, dry_run=dry_run, as_json=as_json))


@envs_app.command("check")
def envs_check(
    env: EnvironmentId,
    api: Annotated[
        str | None, typer.Option(metavar="NAME", help="aec or parallel, where there is a choice.")
    ] = None,
    timeout: CallTimeout = None,
    as_json: Json = False,
) -> None:
    """Hold an environment against what the engine relies on.

    It runs in a process of its own: one that hangs, crashes or prints spoils nothing.
    """
    from gym_gui.cli.contract_tests import check_env

    raise typer.Exit(check_env(env, api=api, timeout_s=timeout, as_json=as_json))
