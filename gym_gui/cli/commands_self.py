"""Defines the commands ``mosaic self``, which concern this installation of MOSAIC."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from gym_gui.cli.arguments import HELP

self_app = typer.Typer(help="This installation: how to update it, desktop entry, manual page.", **HELP)


@self_app.command("update")
def self_update() -> None:
    """Print how MOSAIC was installed, and how to update it."""
    from gym_gui.cli.installing.how_installed import print_update

    print_update()


@self_app.command("desktop")
def self_desktop(
    context: typer.Context,
    remove: Annotated[bool, typer.Option("--remove", help="Delete these files again.")] = False,
) -> None:
    """Add MOSAIC to the menu of a Linux desktop.

    Icon, file type *.mosaic.yaml and manual page come along.
    """
    from gym_gui.cli.installing import desktop_files

    act = desktop_files.remove_desktop_files if remove else desktop_files.install_desktop_files
    act(_program(context))


@self_app.command("man")
def self_man(context: typer.Context) -> None:
    """Print the manual page mosaic(1)."""
    from gym_gui.cli.installing.man_page import man_page

    sys.stdout.write(man_page(_program(context)))


def _program(context: typer.Context) -> Any:
    return context.find_root().command
