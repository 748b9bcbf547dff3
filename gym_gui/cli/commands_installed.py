"""Defines ``mosaic workers`` and ``mosaic envs``: commands on workers and environments."""

from __future__ import annotations

from typing import Annotated

import typer

from gym_gui.cli import completion
from gym_gui.cli.arguments import (
    HELP,
    CallTimeout,
    EnvironmentId,
    Given,
    Gpu,
    InstallDryRun,
    Json,
    Offline,
    WorkerId,
)

workers_app = typer.Typer(help="Workers: list, show, check, install.", **HELP)
envs_app = typer.Typer(help="Environments: list, show, check, install.", **HELP)


@workers_app.command("list")
def workers_list(as_json: Json = False) -> None:
    """List workers and what each one is missing."""
    from gym_gui.cli.listing import list_workers

    list_workers(as_json=as_json)


@workers_app.command("show")
def workers_show(
    worker: WorkerId,
    algo: Annotated[
        str, typer.Option(metavar="NAME", help="Print the training settings of this algorithm instead.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Print the settings of a worker."""
    from gym_gui.cli.listing import show_worker

    show_worker(worker, algo=algo, as_json=as_json)


@workers_app.command("check")
def workers_check(
    worker: WorkerId,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting of the worker's slot; repeatable."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Play a slot of this environment.  [default: one that the worker names, or a made-up slot]",
            autocompletion=completion.environments,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a worker and test it against the protocol."""
    from gym_gui.cli.contract_tests import check_worker

    raise typer.Exit(check_worker(worker, settings or (), env=env, as_json=as_json))


@workers_app.command("install")
def workers_install(
    worker: WorkerId,
    gpu: Gpu = False,
    given: Given = None,
    offline: Offline = None,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install packages and files that a worker needs."""
    from gym_gui.cli.installing.install import install_worker
    from gym_gui.cli.installing.wheelhouse import use_wheelhouse

    use_wheelhouse(offline)
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
    """List families of environments, or the ids of one family."""
    from gym_gui.cli.listing import list_environments

    list_environments(family, as_json=as_json)


@envs_app.command("show")
def envs_show(
    env: EnvironmentId,
    as_json: Json = False,
) -> None:
    """Describe an environment and its env_kwargs."""
    from gym_gui.cli.listing import show_environment

    show_environment(env, as_json=as_json)


@envs_app.command("install")
def envs_install(
    family: Annotated[
        str, typer.Argument(metavar="FAMILY", help="Name of a family, such as crafter, or an environment id.")
    ],
    given: Given = None,
    gpu: Gpu = False,
    offline: Offline = None,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install packages that a family of environments needs."""
    from gym_gui.cli.installing.install_extras import install_environments
    from gym_gui.cli.installing.wheelhouse import use_wheelhouse

    use_wheelhouse(offline)
    files = tuple(given or ())
    raise typer.Exit(install_environments(family, given=files, gpu=gpu, dry_run=dry_run, as_json=as_json))


@envs_app.command("check")
def envs_check(
    env: EnvironmentId,
    api: Annotated[
        str | None, typer.Option(metavar="NAME", help="aec or parallel, if the environment offers both.")
    ] = None,
    timeout: CallTimeout = None,
    as_json: Json = False,
) -> None:
    """Test an environment against the engine's contract.

    The environment runs in a process of its own, so it may hang, crash or print.
    """
    from gym_gui.cli.contract_tests import check_env

    raise typer.Exit(check_env(env, api=api, timeout_s=timeout, as_json=as_json))
