"""Commands and their options. Each command's work is imported when it is called, so that
``mosaic --help`` answers at once."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gym_gui.cli import completion
from gym_gui.cli.errors import DONE, INTERRUPTED, USAGE, reported, tell
from gym_gui.core import trust
from gym_gui.core.visible import visible_streams

_HELP: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
    # Markup would import rich's Markdown and syntax highlighting, half a second on a slow machine.
    "rich_markup_mode": None,
}
app = typer.Typer(
    name="mosaic",
    help="Compare agents of different kinds on the same seeds, in the same environment.",
    epilog="Begin with: mosaic envs list, mosaic workers list, then mosaic run FILE.",
    pretty_exceptions_enable=False,
    add_completion=True,
    **_HELP,
)
workers_app = typer.Typer(help="What can play a slot: list, show, check, install.", **_HELP)
envs_app = typer.Typer(help="What can be played: list, check, install.", **_HELP)
runs_app = typer.Typer(help="What was played: list, show.", **_HELP)
trust_app = typer.Typer(help="What files may name: list, add, remove.", **_HELP)
policies_app = typer.Typer(help="Trained policies: list, add, show, score, remove, export.", **_HELP)
app.add_typer(workers_app, name="workers")
app.add_typer(envs_app, name="envs")
app.add_typer(runs_app, name="runs")
app.add_typer(policies_app, name="policies")
app.add_typer(trust_app, name="trust")

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
PolicyName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a policy.", autocompletion=completion.policies)
]
WorkerId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Worker id, or another name it goes by.", autocompletion=completion.workers
    ),
]

_COMPLETE = "_MOSAIC_COMPLETE"
"""Variable by which typer's completion scripts ask."""

# typer carries its own copy of click from some version on: ask it for the class that it raises.
_CLICK_ERROR: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _say_version(wanted: bool) -> None:
    if wanted:
        from gym_gui.version import __version__

        sys.stdout.write(f"mosaic {__version__}\n")
        raise typer.Exit(DONE)


@app.callback()
def mosaic(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare agents of different kinds on the same seeds, in the same environment."""


@app.command("run")
def run_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Experiment file (.py, .yaml, .json).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the run folder.  [default: runs]")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Play this many, not what the file says.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=4096, help="Episodes in flight per process.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=256, help="Session processes.  [default: one per core]"),
    ] = None,
    money_budget: Annotated[
        float | None, typer.Option(metavar="USD", help="What calls to models may cost in all, in US dollars.")
    ] = None,
    token_budget: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens that they may take in all.")
    ] = None,
    time_budget: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds after which no episode is begun.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Go on with this run folder.", autocompletion=completion.runs),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Play a run again with its recorded replies of language models."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, asked and paid, then end.")
    ] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Run an experiment and print its comparison.

    --replay RUN plays its experiment anew and asks no model; to watch a recorded episode, see
    mosaic replay RUN.
    """
    from gym_gui.cli.run import run_experiment

    trust.allow_all(trusted)
    raise typer.Exit(
        run_experiment(
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
            dry_run=dry_run,
            as_json=as_json,
        )
    )


@app.command()
def tournament(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Tournament file (.yaml, .json).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the run folder.  [default: runs]")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=4096, help="Episodes in flight per process.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=256, help="Session processes.  [default: one per core]"),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Go on with this run folder; with a file that has more policies, play their games.",
            autocompletion=completion.runs,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say who would meet whom, then end.")] = False,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Let a pool of policies meet, and print ratings and payoffs.

    Everybody meets everybody, or in Swiss rounds, on the same seeds and from every seat.
    """
    from gym_gui.cli.tournament import run_tournament

    trust.allow_all(trusted)
    raise typer.Exit(
        run_tournament(
            file,
            out=out,
            concurrency=concurrency,
            processes=processes,
            resume=resume,
            dry_run=dry_run,
            as_json=as_json,
        )
    )


@app.command()
def verify(runs: RunFolders, trusted: Trust = False, as_json: Json = False) -> None:
    """Re-execute the actions of runs and compare every step."""
    from gym_gui.cli.verify import verify_runs

    trust.allow_all(trusted)
    raise typer.Exit(verify_runs(runs, as_json=as_json))


@app.command()
def replay(
    run: RunFolder,
    operator: Annotated[
        str, typer.Option(metavar="ID", help="Whose episode.  [default: the first operator]")
    ] = "",
    episode: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Which episode.  [default: the first]")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(metavar="FILE.mp4", help="Write it as a video; no window opens.")
    ] = None,
    fps: Annotated[float, typer.Option(metavar="N", min=0.5, max=240, help="Steps per second.")] = 10.0,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Watch a recorded episode again, step by step.

    With --json and no video, its actions are played without pictures.
    """
    from gym_gui.cli.replay import replay_episode

    trust.allow_all(trusted)
    raise typer.Exit(
        replay_episode(run, operator=operator, episode=episode, video=video, fps=fps, as_json=as_json)
    )


@app.command()
def report(
    runs: RunFolders,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for summary.json and report.html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print who is better, and how sure that is.

    Writes summary.json and report.html, and games.pgn where chess was played.
    """
    from gym_gui.analysis import report as make_report
    from gym_gui.cli.games import write_games
    from gym_gui.cli.runs import find_run

    found = [find_run(run) for run in runs]
    make_report(found, as_json=as_json, out=out)
    write_games(found, out, as_json=as_json)


@app.command()
def power(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", help="A pilot: its spread is taken.", autocompletion=completion.runs),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(metavar="D", help="True difference to be found.  [default: the pilot's]"),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(metavar="S", help="Standard deviation of differences from seed to seed."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Say how often so many find it.")
    ] = None,
    wanted: Annotated[
        float, typer.Option("--power", metavar="P", min=0.01, max=0.999, help="How often it is to be found.")
    ] = 0.8,
    comparisons: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="In the family.  [default: the pilot's]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say beforehand how many seeds a difference needs."""
    from gym_gui.cli.power import tell_power

    raise typer.Exit(
        tell_power(
            run,
            difference=difference,
            spread=spread,
            seeds=seeds,
            power=wanted,
            comparisons=comparisons,
            as_json=as_json,
        )
    )


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
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
            help="Worker that trains.  [default: the best that fits]",
            autocompletion=completion.workers,
        ),
    ] = "",
    algo: Annotated[str, typer.Option(metavar="NAME", help="One of its algorithms.  [default: ppo]")] = "",
    steps: Annotated[int | None, typer.Option(metavar="N", min=1, help="Environment steps in all.")] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The one seed of the training.  [default: 1]")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the algorithm; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run folder.  [default: runs/ALGO_ENV_seedN]"),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Go on with the training of a run folder.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a policy that is in the run folder.")
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Queue it and return: it needs no terminal.")
    ] = False,
    priority: Annotated[int, typer.Option(metavar="N", help="In the background: higher runs first.")] = 0,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Train a policy.

    Further options are settings as well: --learning-rate 0.001 is --set learning_rate=0.001.
    """
    from gym_gui.cli.train import train_policy

    trust.allow_all(trusted)
    raise typer.Exit(
        train_policy(
            worker,
            algo=algo,
            env=env,
            seed=seed,
            steps=steps,
            settings=settings or (),
            out=out,
            resume=resume,
            overwrite=overwrite,
            background=background,
            priority=priority,
            extra=context.args,
            as_json=as_json,
        )
    )


@app.command()
def daemon(
    status: Annotated[bool, typer.Option("--status", help="Say how it is and what it trains.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End it; trainings that run go on.")] = False,
    cancel: Annotated[str, typer.Option(metavar="RUN", help="End a training, which keeps what it has.")] = "",
    tcp: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Listen here as well, with TLS; needs --cert and --key.")
    ] = "",
    cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate, as PEM.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, as PEM.")] = None,
    idle: Annotated[
        float, typer.Option(metavar="MINUTES", min=0, help="End after so long without need; 0: never.")
    ] = 10.0,
    queue: Annotated[int, typer.Option(metavar="N", min=1, help="Trainings that may wait.")] = 1000,
    as_json: Json = False,
) -> None:
    """Keep trainings, with or without a window.

    It is started by itself when a training is asked for, and ends when nobody needs it.
    """
    from gym_gui.cli.daemon import cancel_run, run_daemon, show_status
    from gym_gui.cli.daemon import stop as stop_it

    if sum(map(bool, (status, stop, cancel))) > 1:
        raise typer.BadParameter("--status, --stop and --cancel are different things: ask for one")
    if cancel:
        raise typer.Exit(cancel_run(cancel, as_json=as_json))
    if status or stop:
        raise typer.Exit((show_status if status else stop_it)(as_json=as_json))
    from gym_gui.services.trainer.daemon import DaemonSettings

    raise typer.Exit(run_daemon(DaemonSettings(idle * 60, queue, tcp, cert, key)))


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
    extra: Annotated[str, typer.Argument(metavar="EXTRA", help="gui, tournaments or evdev.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be installed, then end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Install what the window, keyboards or tournaments need."""
    from gym_gui.cli.install_extras import install_extra

    raise typer.Exit(install_extra(extra, dry_run=dry_run, as_json=as_json))


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
    given: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="FILE", help="A file it needs that is there already; repeatable."),
    ] = None,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install what a worker needs."""
    from gym_gui.cli.install import install_worker

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


@envs_app.command("install")
def envs_install(
    family: Annotated[
        str, typer.Argument(metavar="FAMILY", help="A family, for example crafter, or an environment's id.")
    ],
    gpu: Gpu = False,
    dry_run: InstallDryRun = False,
    as_json: Json = False,
) -> None:
    """Install what a family of environments needs."""
    from gym_gui.cli.install_extras import install_environments

    raise typer.Exit(install_environments(family, gpu=gpu, dry_run=dry_run, as_json=as_json))


@envs_app.command("check")
def envs_check(
    env: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Environment id, or module:factory.", autocompletion=completion.environments
        ),
    ],
    api: Annotated[
        str | None, typer.Option(metavar="NAME", help="aec or parallel, where there is a choice.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold an environment against what the engine relies on."""
    from gym_gui.cli.contract_tests import check_env

    raise typer.Exit(check_env(env, api=api, as_json=as_json))


@runs_app.command("list")
def runs_list(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where the run folders are.  [default: runs]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Runs, newest first."""
    from gym_gui.cli.runs import list_runs

    list_runs(folder, as_json=as_json)


@runs_app.command("show")
def runs_show(run: RunFolder, as_json: Json = False) -> None:
    """One run: what was played, by whom, how it stands."""
    from gym_gui.cli.runs import show_run

    show_run(run, as_json=as_json)


@policies_app.command("list")
def policies_list(as_json: Json = False) -> None:
    """Every policy there is, trained here or brought."""
    from gym_gui.cli.policies import list_policies

    list_policies(as_json=as_json)


@policies_app.command("show")
def policies_show(name: PolicyName, as_json: Json = False) -> None:
    """One policy: what it sees and does, where it comes from."""
    from gym_gui.cli.policies import show_policy

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
    name: Annotated[str, typer.Option(metavar="NAME", help="What to call it.  [default: as the file]")] = "",
    licence: Annotated[str, typer.Option("--licence", "--license", metavar="TEXT", help="Its licence.")] = "",
    as_json: Json = False,
) -> None:
    """Take a policy into the library, whoever has written it.

    Options that are not named here go to the worker that reads the file, such as
    --vecnormalize FILE (sb3_worker), --describe FILE (cleanrl_worker), --preprocess JSON (both).
    """
    from gym_gui.cli.policies import add
    from gym_gui.services.policy_import import ImportRequest

    request = ImportRequest(file, env, worker, name, licence, tuple(context.args))
    raise typer.Exit(add(request, as_json=as_json))


@policies_app.command("score")
def policies_score(name: PolicyName, trusted: Trust = False, as_json: Json = False) -> None:
    """Play a policy on the 20 standard seeds and keep its score."""
    from gym_gui.cli.policies import score

    trust.allow_all(trusted)
    raise typer.Exit(score(name, as_json=as_json))


@policies_app.command("remove")
def policies_remove(name: PolicyName, as_json: Json = False) -> None:
    """Move a policy to the trash."""
    from gym_gui.cli.policies import remove

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
    from gym_gui.cli.policies import export

    raise typer.Exit(export(name, out, as_json=as_json))


@policies_app.command("folders")
def policies_folders(
    add: Annotated[Path | None, typer.Option(metavar="DIR", help="Look here as well from now on.")] = None,
    remove: Annotated[Path | None, typer.Option(metavar="DIR", help="Look here no more.")] = None,
    as_json: Json = False,
) -> None:
    """Where policies are looked for."""
    from gym_gui.cli.policies import folders

    raise typer.Exit(folders(add, remove, as_json=as_json))


@trust_app.command("list")
def trust_list(as_json: Json = False) -> None:
    """What has been allowed for good."""
    from gym_gui.cli.trust import list_trusted

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
    from gym_gui.cli.trust import add_trusted

    add_trusted(names, as_json=as_json)


@trust_app.command("remove")
def trust_remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="As mosaic trust list shows it.")],
    as_json: Json = False,
) -> None:
    """Take back what has been allowed."""
    from gym_gui.cli.trust import remove_trusted

    remove_trusted(names, as_json=as_json)


def run(arguments: Sequence[str]) -> int:
    """Run a command line.

    Returns:
        0 done; 1 the work failed; 2 something the person can fix; 130 interrupted.
    """
    with visible_streams():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    # A broken worker is shown by `workers list`, and told to whoever asks for it; not to everyone.
    logging.getLogger("gym_gui.workers.discovery").setLevel(logging.ERROR)
    trust.begin()
    command = typer.main.get_command(app)
    try:
        with reported(as_json="--json" in arguments):
            result = _invoked(command, arguments)
    except _CLICK_ERROR as exc:
        return _refuse(exc)
    except (typer.Abort, KeyboardInterrupt):
        tell("interrupted")
        return INTERRUPTED
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else 1
    return result if isinstance(result, int) else DONE


def _invoked(command: Any, arguments: Sequence[str]) -> object:
    """Run a command; its ``main`` would end the program where the reader of the output is gone."""
    if _COMPLETE in os.environ:  # a shell asks what may come next
        return command.main([], prog_name="mosaic", complete_var=_COMPLETE, standalone_mode=False)
    if {"--install-completion", "--show-completion"} & set(arguments[:1]):
        completion.check_shell()
    try:
        with command.make_context("mosaic", list(arguments)) as context:
            return command.invoke(context)
    except typer.Exit as end:
        return end.exit_code


def _refuse(exc: Any) -> int:
    """Say on one line what is wrong with a command line; without any command, help."""
    if type(exc).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{exc.format_message()}\n")
        return DONE
    context = getattr(exc, "ctx", None)
    path = context.command_path if context is not None else "mosaic"
    problem = str(exc.format_message()).rstrip(".")
    tell(f"{problem}{'' if problem.endswith('?') else '.'} See: {path} --help")
    return USAGE
