"""Pictures of the window: those that pages show into ``docs/images``, or every scene into a folder.

    python scripts/pictures/screenshots.py [--out DIR] [--only NAME …] [--size 1280x800 …] [--theme light …]
                                  [--scale 200] [--locale de_DE] [--spoken]

Without ``--out`` only pictures that a page of the documentation shows are written, with 256 colors.

Real things are shown: the quickstart experiment is played first, and sessions play while
they are photographed. ``xvfb-run -a`` shows the window as X11 draws it; without a display
set ``QT_QPA_PLATFORM=offscreen``.

Beside the pictures, what does not fit is told: words that are cut without a tooltip that has them, and
places that scroll sideways. With ``--spoken``, what a screen reader is told of each scene is written
beside its pictures, and what is wrong with it; this needs a display, ``dbus`` and ``at-spi2-core``.
With ``--check``, whatever is told makes the exit status 1.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import screen_reader  # beside this file, as the next
from by_keyboard import closes_on_escape, wrong_by_keyboard
from PIL import Image
from screenshots_dialogs import DialogScenes
from screenshots_elsewhere import ElsewhereScenes
from screenshots_submissions import SubmissionScenes
from screenshots_waiting import until  # beside this file
from what_fits import does_not_fit

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
QUICKSTART = ROOT / "docs/examples/quickstart.py"
MORE_RUNS = (("--episodes", "8"), ("--episodes", "8"), ("--episodes", "5"))
LABELS = (
    (
        "--name",
        "Baseline of the paper",
        "--tag",
        "paper,final",
        "--star",
        "--notes",
        "Figure 2 is made from this.",
    ),
    ("--group", "Short ones", "--tag", "draft"),
)
"""Of the quickstart, and of the run after it."""
POOL = ROOT / "docs/examples/tournaments/connect_four.yaml"
EVERYONE = ROOT / "docs/examples/everyone/everyone.yaml"
SOCCER, MINIGRID = "MosaicMultiGrid-S-2v2-IndAgObs-v1", "MiniGrid-DoorKey-8x8-v0"
SIZES, THEMES = ("1280x800", "1920x1080"), ("light", "dark")
SPREAD = "mpe2/simple_spread_v3"
JOINT = {"total_steps": 40_000, "gamma": 0.9, "video_every": 10_000}
CONNECT_FOUR = "classic/connect_four_v3"
LEAGUE = {"total_steps": 120_000, "snapshot_every": 20_000, "pool": "random,connect_four_one_ply"}
QUICK = {"total_steps": 20_000}
LONGER = {"total_steps": 1_000_000, "video_every": 20_000}
TRAINED = 40_000
"""Steps of the trainings that are photographed while they go on."""
TRAINING_S = 400.0
LANGUAGE_SEED, ASKED = 3, 10
"""Of the episode that a language model plays, and after how many calls it is photographed."""
_SETTLE_S = 1.2
_PATIENCE_S = 240.0
_STEPS = 25
"""Sessions are photographed after so many steps."""


def pictures_on_pages() -> set[str]:
    """Names, without suffix, of the pictures on pages; those of the guide in both themes, for the window."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    names: set[str] = set()
    for page in pages:
        shown = re.findall(r"images/([\w-]+)\.webp", page.read_text("utf-8"))
        names.update(shown)
        if page.parent.name == "guide":
            names.update(name.replace("-light-", "-dark-") for name in shown)
    return names


def compress(picture: Path) -> None:
    """Replace a PNG by a lossless WebP of 256 colors, which takes a third of the bytes."""
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE).convert("RGB")
    few.save(picture.with_suffix(".webp"), lossless=True, quality=100, method=4)
    picture.unlink()


def prepare(home: Path, *, bare: bool = False) -> Path:
    """Give the window folders of its own, and a run to show if it is not ``bare``; returns its folder."""
    os.environ["MOSAIC_DATA_DIR"] = str(home / "data")
    os.environ["MOSAIC_CACHE_DIR"] = str(home / "cache")
    os.environ["MOSAIC_RUNS_DIR"] = str(home / "runs")
    if bare:
        return home / "runs/none"
    command = [sys.executable, "-m", "gym_gui", "run", str(QUICKSTART), "--out", str(home / "runs")]
    subprocess.run(command, check=True, capture_output=True)
    return next((home / "runs").iterdir())


class Scenes:
    """What is photographed.

    Args:
        window: The main window, shown.
        run: A run folder.
        model_url: Where a model is served.
    """

    def __init__(self, window: Any, run: Path, model_url: str) -> None:
        self._window, self._context, self._run = window, window.context, run
        self._model_url = model_url
        self._elsewhere = ElsewhereScenes(window)
        self._dialogs = DialogScenes(window)
        self._submissions = SubmissionScenes(window)
        self._labeled: list[Path] | None = None

    def by_name(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Scenes by the name of their pictures."""
        return {
            "home": self.home,
            "play": self.play,
            "play-board": self.play_board,
            "operators": self.operators,
            "operators-plots": self.operators_plots,
            "operators-script": self.operators_script,
            "operators-tournament": self.operators_tournament,
            "operators-language": self.operators_language,
            "operators-resume": self.operators_resume,
            "operators-transcript": self.operators_transcript,
            "operators-program": self.operators_program,
            "operators-one-agent": self.operators_one_agent,
            "operators-search": self.operators_search,
            "play-clock": self.play_clock,
            "operators-two-levels": self.operators_two_levels,
            "operators-planner": self.operators_planner,
            "operators-everyone": self.operators_everyone,
            "operators-plan": self.operators_plan,
            "operators-apart": self.operators_apart,
            "operators-joint": self.operators_joint,
            "prompts": self.prompts,
            "program": self.program,
            "agents": self.agents,
            "train": self.train,
            "train-policies": self.train_policies,
            "train-joint": self.train_joint,
            "train-joint-policy": self.train_joint_policy,
            "train-league": self.train_league,
            "agents-joint": self.agents_joint,
            "results-list": self.results_list,
            "results-unfinished": self.results_unfinished,
            "results-compared": self.results_compared,
            "results": self.results,
            "results-tournament": self.results_tournament,
            "replay": self.replay,
            "replay-transcript": self.replay_transcript,
            "settings": self.settings,
            **self._elsewhere.by_name(),
            **self._dialogs.by_name(),
            **self._submissions.by_name(),
            "guide": self.guide,
            "tour": self.tour,
        }

    def close(self) -> None:
        """End what was begun for the pictures alone."""
        self._elsewhere.close()
        self._submissions.close()

    def _page(self, name: str) -> Any:
        return self._window.pages[name]

    @staticmethod
    async def _until(
        condition: Callable[[], object],
        what: str,
        patience_s: float = _PATIENCE_S,
        settle_s: float = _SETTLE_S,
    ) -> None:
        await until(condition, what, patience_s, settle_s)

    async def home(self) -> None:
        self._context.go("home")
        await asyncio.sleep(0)
        home = self._page("home")
        await self._until(
            lambda: home._reading and home._reading.done(), "the recent runs with their verdicts"
        )

    async def tour(self) -> None:
        """A step of a tour that points at one of Home's cards."""
        from PyQt6.QtWidgets import QDockWidget, QWidget

        for dock in self._window.findChildren(QDockWidget):
            dock.hide()
        await self.home()
        self._window.tours.start("compare")
        strip = self._window.findChild(QWidget, "tour-strip")
        await self._until(strip.isVisible, "the tour")

    async def guide(self) -> None:
        """The guide beside Home."""
        await self.home()
        self._window.show_guide("guide/first_steps.md")

    async def play(self) -> None:
        """Soccer: a person in one of four slots."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment
        from gym_gui.ui.home_examples import soccer_teams

        others = dict(soccer_teams().workers)
        slots = {**others, "green_0": WorkerAssignment("human_worker", "human")}
        operator = OperatorConfig.multi_agent(
            operator_id="you", display_name="You and a mate", task=SOCCER, player_workers=slots
        )
        self._context.settings.set("everything_shown", True)  # the field, not the nine cells before green_0
        self._context.go("play", operator=operator, seed=7)
        await asyncio.sleep(0)
        game = self._page("play").game
        await self._until(lambda: _is_on(game.operator, "green_0"), "soccer")

    async def play_board(self) -> None:
        from gym_gui.ui.home_examples import connect_four

        self._context.go("play", operator=connect_four(), seed=7)
        await self._until(lambda: _is_on(self._page("play").game.operator, "player_0"), "connect four")

    async def play_clock(self) -> None:
        """Chess on the clock: White, who is to move, has little time left."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment
        from gym_gui.core.experiment.execution import TimeControl
        from gym_gui.ui.renderers.board_view import BoardView
        from gym_gui.ui.widgets.message_panels import IconLabel

        person = WorkerAssignment("human_worker", "human")
        config = OperatorConfig.multi_agent(
            operator_id="you",
            display_name="You",
            task="classic/chess_v6",
            player_workers={"player_0": person, "player_1": person},
        )
        self._context.go("play", operator=config, seed=7)
        await asyncio.sleep(0)
        page = self._page("play")
        await self._until(lambda: page.env_info is not None and page.input.questions, "chess", settle_s=0)
        page.side.time.set_value(TimeControl(15))
        page.game.set_time_control(TimeControl(15))
        for step, played in enumerate(("e2e4", "e7e5")):
            await self._until(
                lambda at=step: page.input.questions and page.view is not None and page.view.step == at,
                "whose move it is",
                settle_s=0,
            )
            move = next(move for move in page.view.board.moves if move.label == played)
            page.findChild(BoardView, "boardView").move_chosen.emit(move.action)
        await self._until(
            lambda: (
                page.env_info is not None
                and any(not each.isHidden() for each in page.findChildren(IconLabel, "side-low"))
            ),
            "little time",
        )

    async def operators(self) -> None:
        """Four ways through a door, the last of them random."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment

        def one(name: str, title: str, **settings: Any) -> OperatorConfig:
            player = WorkerAssignment("operators_worker", "baseline", settings)
            return OperatorConfig.multi_agent(
                operator_id=name, display_name=title, task=MINIGRID, player_workers={"agent_0": player}
            )

        configs = [
            one("path", "Path-finder", behavior="minigrid_path"),
            one("random", "Random", behavior="random"),
            one("cycling", "Cycling", behavior="cycle"),
            one("noop", "Does nothing", behavior="noop"),
        ]
        self._context.go("operators", operators=configs, seed=42, run=True)
        await asyncio.sleep(0)
        deck = self._page("operators").deck
        await self._until(lambda: all(_has_played(o) for o in deck.operators), "four operators")

    async def operators_script(self) -> None:
        self._context.go("operators", script=QUICKSTART)
        await asyncio.sleep(0)
        self._page("operators").manual.set_plots_wanted(False)
        script = self._page("operators").script
        file, work = script.file, script.work
        await self._until(lambda: file.plan or (work.message and work.message.button), "the file")
        if file.plan is None:  # a program: agree that it is run to be read
            work.message.button.click()
            await self._until(lambda: script.file.plan, "the plan")
        script.play.toggle()
        await self._until(lambda: any(row.bar.value() for row in script.card.rows.values()), "some episodes")

    async def operators_tournament(self) -> None:
        """A tournament in mid-play: its matrix filling in."""
        self._context.go("operators", script=POOL)
        await asyncio.sleep(0)
        script = self._page("operators").script
        await self._until(lambda: script.file.plan and not script.work.busy, "the plan")
        if script.play.job is None or not script.play.job.running:
            script.play.toggle()
        standings = script.play.standings
        await self._until(lambda: standings.view and standings.view.view.analysis, "the standings")
        view = standings.view.view
        await self._until(lambda: view.analysis.standings.games > 160, "some games", settle_s=0)
        script.play.stop()
        await self._until(lambda: not script.work.busy, "its end", settle_s=0)
        played = lambda: sum(each.played for each in view.analysis.standings.fixtures)  # noqa: E731
        await self._until(lambda: played() == script.play.job.result.episodes, "what was played till then")

    async def operators_plots(self) -> None:
        await self.operators()
        self._page("operators").manual.set_plots_wanted(True)
        await asyncio.sleep(4 * _SETTLE_S)

    async def operators_language(self) -> None:
        """A language model beside a rule that knows the way, and chance."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment
        from gym_gui.core.experiment.assignment import OnInvalid

        def one(name: str, title: str, player: WorkerAssignment) -> OperatorConfig:
            return OperatorConfig.multi_agent(
                operator_id=name, display_name=title, task=MINIGRID, player_workers={"agent_0": player}
            )

        def rule(behavior: str) -> WorkerAssignment:
            return WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})

        import example_model  # beside this file

        server = {"client_name": "vllm", "base_url": self._model_url, "model_id": example_model.NAME}
        model = WorkerAssignment("mosaic_llm_worker", "llm", server, on_invalid=OnInvalid(2, "noop"))
        configs = [
            one("model", "Language model", model),
            one("path", "Path-finder", rule("minigrid_path")),
            one("random", "Random", rule("random")),
        ]
        self._context.go("operators", operators=configs, seed=LANGUAGE_SEED, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        page.manual.transcript.show(False)
        first = page.deck.operators[0]
        player = first.player
        asked = lambda: player.tally.calls is not None and len(player.tally.calls) >= ASKED  # noqa: E731
        await self._until(asked, "some calls", settle_s=0)
        page.deck.play.pause()
        page.manual.select(first)
        await self._until(lambda: page.config.panel and page.config.panel.form, "the model's settings")

    async def _stopped_run(self) -> Any:
        """A run of the quickstart that was stopped after a few episodes."""
        from gym_gui.services.runs.run_library import RunLibrary

        await self.operators_script()
        script = self._page("operators").script
        script.play.stop()
        await self._until(lambda: not script.work.busy, "its end", settle_s=0)
        found = RunLibrary(script.play.job.folder.parent).one(script.play.job.folder)
        assert found is not None
        return found

    async def operators_resume(self) -> None:
        """A run that was left, as a restart offers it."""
        run = await self._stopped_run()
        script = self._page("operators").script
        script.file.resume(run, begin=False)
        await self._until(lambda: script.file.plan is not None and not script.work.busy, "what is left")

    async def operators_transcript(self) -> None:
        await self.operators_language()
        manual = self._page("operators").manual
        manual.transcript.show()
        await asyncio.sleep(_SETTLE_S)

    async def operators_program(self) -> None:
        """A program on its way to the key, beside chance, with what it thinks."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment

        def one(name: str, title: str, player: WorkerAssignment) -> OperatorConfig:
            return OperatorConfig.multi_agent(
                operator_id=name, display_name=title, task=MINIGRID, player_workers={"agent_0": player}
            )

        program = {"program": str(ROOT / "docs/examples/bdi/doorkey.asl")}
        configs = [
            one("program", "Program", WorkerAssignment("spade_bdi_worker", "bdi", program)),
            one("random", "Random", WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})),
        ]
        self._context.go("operators", operators=configs, seed=LANGUAGE_SEED, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        first = page.deck.operators[0]
        page.deck.play.set_pace(4.0, lock_step=False)
        tally = first.player.tally
        await self._until(
            lambda: tally.calls is not None and len(tally.calls) >= ASKED, "thoughts", settle_s=0
        )
        page.deck.play.pause()
        page.manual.select(first)
        page.manual.transcript.show()
        await asyncio.sleep(_SETTLE_S)

    async def operators_one_agent(self) -> None:
        """What the program sees and believes, beside the whole."""
        from gym_gui.ui.agent_snapshots import AgentSnapshotView

        await self.operators_program()
        manual = self._page("operators").manual
        manual.show_mind()
        picture = manual.findChild(AgentSnapshotView, "mind").picture
        await self._until(lambda: picture.isVisible() and picture.image() is not None, "what it sees")

    async def operators_search(self) -> None:
        """The tree of what a search thought of its move, beside the game."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment
        from gym_gui.ui.agent_snapshots import AgentSnapshotView

        search = WorkerAssignment("openspiel_worker", "planner", {"simulations": 1000})
        rule = WorkerAssignment("operators_worker", "baseline", {"behavior": "connect_four_one_ply"})
        config = OperatorConfig.multi_agent(
            operator_id="search",
            display_name="Search",
            task="classic/connect_four_v3",
            player_workers={"player_0": search, "player_1": rule},
        )
        self._context.go("operators", operators=[config], seed=3, run=False)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        first = page.deck.operators[0]
        for step in range(1, 4):
            first.player.step()
            await self._until(
                lambda wanted=step: (
                    first.player.last_view is not None and first.player.last_view.step >= wanted
                ),
                "a move",
                settle_s=0,
            )
        page.manual.select(first)
        page.manual.show_mind()
        mind = page.manual.findChild(AgentSnapshotView, "mind")
        mind.choose("player_0")
        await self._until(mind.tree.isVisible, "what it searched")

    async def operators_two_levels(self) -> None:
        """A program that asks skills for one thing after another, and a person who is to choose the next."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment

        def managed(name: str, title: str, manager: WorkerAssignment) -> OperatorConfig:
            skills = WorkerAssignment("operators_worker", "baseline", {"behavior": "minigrid_skills"})
            return OperatorConfig.multi_agent(
                operator_id=name,
                display_name=title,
                task=MINIGRID,
                player_workers={"agent_0": skills},
                manager={"agent_0": manager},
            )

        program = {"program": str(ROOT / "docs/examples/bdi/doorkey_manager.asl")}
        configs = [
            managed("program", "A program manages", WorkerAssignment("spade_bdi_worker", "bdi", program)),
            managed("person", "A person manages", WorkerAssignment("human_worker", "human")),
        ]
        self._context.go("operators", operators=configs, seed=LANGUAGE_SEED, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        one, other = (each.player for each in page.deck.operators)
        page.deck.play.set_pace(2.0, lock_step=False)
        await self._until(lambda: one.last_view and one.last_view.step >= 3, "moves", settle_s=0)
        await self._until(lambda: other.questions, "a question")

    async def operators_planner(self) -> None:
        """A planner and where its plan leads, beside chance."""
        from gym_gui.core.config import OperatorConfig

        def one(name: str, title: str, worker: str, **settings: Any) -> OperatorConfig:
            return OperatorConfig.single_agent(
                operator_id=name, display_name=title, task="Hopper-v5", worker_id=worker, settings=settings
            )

        configs = [
            one("planner", "Planner", "mujoco_mpc_worker"),
            one("random", "Random", "operators_worker", behavior="random"),
        ]
        self._context.go("operators", operators=configs, seed=0, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        first = page.deck.operators[0]
        page.deck.play.set_pace(30.0, lock_step=False)
        await self._until(
            lambda: first.player.last_view and first.player.last_view.step >= 25, "hops", settle_s=0
        )
        page.deck.play.pause()
        page.manual.select(first)
        await asyncio.sleep(_SETTLE_S)

    async def operators_plan(self) -> None:
        """What a planner's plan is expected to earn, beside the whole."""
        await self.operators_planner()
        self._page("operators").manual.transcript.toggle_agent()
        await asyncio.sleep(6 * _SETTLE_S)

    async def operators_everyone(self) -> None:
        """A match in which each slot is played by another kind."""
        from dataclasses import replace

        import example_model  # beside this file

        from gym_gui.core.trusted.trust import TYPED
        from gym_gui.services.experiment_file import load_experiment

        (match,) = load_experiment(EVERYONE, allow_code=False).operators
        own = {
            "green_0": {"checkpoint": str(EVERYONE.parent / "soccer_policy")},
            "green_1": {"program": str(ROOT / "docs/examples/bdi/soccer.asl")},
            "blue_1": {"client_name": "vllm", "base_url": self._model_url, "model_id": example_model.NAME},
        }
        workers = {
            slot: replace(player, settings=own.get(slot, player.settings))
            for slot, player in match.workers.items()
        }
        match = replace(match, workers=workers, origin=TYPED)
        self._context.settings.set("everything_shown", True)
        self._context.go("operators", operators=[match], seed=LANGUAGE_SEED, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        page.manual.set_plots_wanted(False)
        page.manual.transcript.show(False)
        await self._until(lambda: _has_played(page.deck.operators[0]), "some moves", settle_s=0)
        page.deck.play.pause()

    async def operators_apart(self) -> None:
        """The picture of a card, and the transcript, in windows of their own."""
        await self.operators()
        manual = self._page("operators").manual
        manual.select(self._page("operators").deck.operators[0])
        self._context.commands.run("operators.apart")
        manual.transcript.toggle_window()
        await asyncio.sleep(_SETTLE_S)

    async def operators_joint(self) -> None:
        """Three agents that one policy plays together, beside one that is played with strangers."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment
        from gym_gui.core.experiment.assignment import LinkGroup

        agents = ("agent_0", "agent_1", "agent_2")
        teams = [ROOT / "docs/examples/zero_shot" / name for name in ("seed1", "seed2")]
        first, other = (WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(t)}) for t in teams)
        configs = [
            OperatorConfig.multi_agent(
                operator_id="team",
                display_name="One team",
                task="mpe2/simple_spread_v3",
                player_workers=dict.fromkeys(agents, first),
                link_groups=[LinkGroup(agents[0], agents[1:], str(teams[0]))],
            ),
            OperatorConfig.multi_agent(
                operator_id="stranger",
                display_name="With a stranger",
                task="mpe2/simple_spread_v3",
                player_workers={**dict.fromkeys(agents[:2], first), agents[2]: other},
                link_groups=[LinkGroup(agents[0], agents[1:2], str(teams[0]))],
            ),
        ]
        self._context.go("operators", operators=configs, seed=3, run=True)
        await asyncio.sleep(0)
        page = self._page("operators")
        await self._until(lambda: all(_has_played(o) for o in page.deck.operators), "two teams")
        page.manual.transcript.toggle_agent()
        await asyncio.sleep(4 * _SETTLE_S)

    async def prompts(self) -> None:
        """The model's prompts, and what becomes of them."""
        from PyQt6.QtWidgets import QAbstractButton, QApplication

        await self.operators_language()
        page = self._page("operators")
        edit = lambda: page.findChild(QAbstractButton, "setting_prompt_folder_edit")  # noqa: E731
        if edit() is None:  # it is among those that few need
            page.config.panel.findChild(QAbstractButton, "settings_more").click()
        await self._until(edit, "the model's settings")
        edit().click()
        editor: Any = QApplication.activeModalWidget()
        await self._until(lambda: "tokens" in editor.state.text(), "the prompt")

    async def program(self) -> None:
        """A program with two mistakes."""
        from PyQt6.QtWidgets import QAbstractButton

        from gym_gui.core.config import OperatorConfig, WorkerAssignment

        text = (ROOT / "docs/examples/bdi/doorkey.asl").read_text()
        wrong = text.replace("<- toggle;", "<- togle;").replace("<- pickup;", "<- .pickup;")
        file = Path(os.environ["MOSAIC_DATA_DIR"]) / "doorkey.asl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wrong)
        player = WorkerAssignment("spade_bdi_worker", "bdi", {"program": str(file)})
        config = OperatorConfig.multi_agent(
            operator_id="program", display_name="Program", task=MINIGRID, player_workers={"agent_0": player}
        )
        self._context.go("operators", operators=[config], seed=LANGUAGE_SEED)
        await asyncio.sleep(0)
        button = lambda: self._page("operators").findChild(QAbstractButton, "setting_program_edit")  # noqa: E731
        await self._until(button, "the program's settings")
        button().click()
        await self._until(_on_top, "the editor")
        editor = _on_top()
        await self._until(lambda: "mistake" in editor.state.text(), "the check")

    async def agents(self) -> None:
        from gym_gui.ui.home_examples import soccer_teams

        self._context.go("agents", operator=soccer_teams())
        await self._until(lambda: self._page("agents")._is_ready(), "the configuration")
        await asyncio.sleep(4 * _SETTLE_S)  # the preview plays meanwhile

    async def train(self) -> None:
        """Two runs of PPO that go on, one more that waits or runs, and one that is done."""
        from gym_gui.services.trainings.training_presets import TrainingPreset

        page = await self._trainer()
        if not page.link.runs:
            await self._train_one(page, TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", QUICK))
            await self._until(
                lambda: page.link.runs and page.link.runs[0].over, "the first training", TRAINING_S
            )
            for rate in (0.0025, 0.00025):
                settings = {**LONGER, "learning_rate": rate}
                await self._train_one(page, TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1", settings))
            await self._until(
                lambda: all(run.over or (run.step >= TRAINED and run.video) for run in page.link.runs),
                "trainings with films",
                TRAINING_S,
            )
            page.form.fill(TrainingPreset("cleanrl_worker", "ppo", "CartPole-v1"), 1)
        page.new_run()
        await asyncio.sleep(2 * _SETTLE_S)

    async def _train_one(self, page: Any, preset: Any) -> None:
        before = len(page.link.runs)
        page.form.fill(preset, 1)
        await self._until(page.form.start.isEnabled, "a form that can be started")
        page.form.submit()
        await self._until(lambda: len(page.link.runs) > before, "a run")

    async def _end_others(self, page: Any) -> None:
        """Trainings of scenes before, that go on for their pictures alone, have no one wait for them."""
        from gym_gui.core.errors import UsageError

        for run in page.link.runs:
            if not run.over:
                with contextlib.suppress(UsageError):  # over since it was looked at
                    await page.link.client.cancel(run.run_id)

    async def train_policies(self) -> None:
        self._context.go("train", policies=True)
        page = self._page("train")
        await self._until(lambda: page.policies.model.rowCount(), "policies")
        page.policies.table.selectRow(0)
        await asyncio.sleep(_SETTLE_S)

    async def train_joint(self) -> None:
        """Three agents that learn together: what one of them earns, and the form of another such run."""
        await self._joint_runs()
        page = self._page("train")
        for card, series in (
            (page.runs.content.board.first, "return"),
            (page.runs.content.board.second, "agents/agent_1"),
        ):
            card.choice.set_value(series)
            card.choice.chosen.emit(series)
        page.new_run()
        await asyncio.sleep(4 * _SETTLE_S)

    async def _trainer(self) -> Any:
        """The Train page with its runs, and a trainer that answers."""
        from gym_gui.ui.pages.train import RUNS

        self._context.go("train")
        page = self._page("train")
        page.show_view(RUNS)  # the scene before may have left its policies
        await self._until(lambda: page.form.ready and page.link.client, "the trainer")
        return page

    async def _joint_runs(self) -> None:
        from gym_gui.services.trainings.training_presets import TrainingPreset

        page = await self._trainer()
        joint = TrainingPreset("cleanrl_worker", "ippo", SPREAD, JOINT)
        if not any(run.algorithm == joint.algorithm for run in page.link.runs):
            await self._end_others(page)
            await self._train_one(page, joint)
            await self._until(lambda: page.link.runs[0].over, "a training of several agents", TRAINING_S)
        page.form.fill(joint, 2)

    async def train_joint_policy(self) -> None:
        await self._joint_runs()
        page = self._page("train")
        kept = self._context.store.data / "policies" / "spread"
        if not kept.exists():
            (run,) = [run for run in page.link.runs if run.algorithm == "ippo"]
            kept.mkdir(parents=True)
            for name in ("policy.json", "model.safetensors"):
                shutil.copy(Path(run.policy) / name, kept)
        self._context.go("train", policies=True)
        page.policies.refresh()
        await self._until(lambda: page.policies.model.row_of(kept) >= 0, "a joint policy")
        page.policies.table.select(kept)
        await asyncio.sleep(_SETTLE_S)

    async def train_league(self) -> None:
        """Connect four, learnt against itself: the learner's rating, and who plays against it."""
        from gym_gui.services.trainings.training_presets import TrainingPreset

        page = await self._trainer()
        league = TrainingPreset("cleanrl_worker", "self_play", CONNECT_FOUR, LEAGUE)
        if not any(run.algorithm == league.algorithm for run in page.link.runs):
            await self._end_others(page)
            await self._train_one(page, league)
            await self._until(lambda: page.link.runs[0].over, "a training against itself", TRAINING_S)
        run = next(run for run in page.link.runs if run.algorithm == league.algorithm)
        self._context.go("train", run=run.run_id)
        await self._until(lambda: page.runs.data.league(run.run_id), "its league")
        page.runs.content.show_league()
        await asyncio.sleep(4 * _SETTLE_S)

    async def agents_joint(self) -> None:
        """Three agents that play the parts of one file."""
        from gym_gui.ui.policies.use_policy_menu import operator_of

        await self.train_joint_policy()
        row = self._page("train").policies.table.current
        about = row.entry.file.description
        operator = operator_of(row.path, worker_id=about.worker, env_id=about.env_id, title=row.title)
        self._context.go("agents", operator=operator)
        await self._until(lambda: self._page("agents")._is_ready(), "the configuration")
        await asyncio.sleep(4 * _SETTLE_S)

    async def results_list(self) -> None:
        """The quickstart four times, two of them alike; named, tagged, and one bare."""
        if self._labeled is None:
            self._labeled = [await self._play_again(*more) for more in MORE_RUNS]
            command = [sys.executable, "-m", "gym_gui", "runs", "label"]
            for run, labels in zip((self._run, *self._labeled), LABELS, strict=False):
                await asyncio.to_thread(subprocess.run, [*command, str(run), *labels], check=True)
        self._context.go("results")
        await asyncio.sleep(0)
        page = self._page("results")
        page.show_library()
        await self._until(lambda: page.reader.complete and len(page.reader.runs) > 3, "the list of runs")

    async def results_unfinished(self) -> None:
        """A run of the list that can be resumed."""
        from gym_gui.ui.results.library_view import LibraryView

        run = await self._stopped_run()
        await self.results_list()
        page = self._page("results")
        await self._until(lambda: any(each.path == run.path for each in page.reader.runs), "its row")
        page.findChild(LibraryView, "run-library").select(run.path)

    async def results_compared(self) -> None:
        """Three runs of it side by side, of which one has fewer seeds."""
        await self.results_list()
        page = self._page("results")
        assert self._labeled is not None
        page.compare_runs([self._run, *self._labeled[:2]])
        await asyncio.sleep(0)
        await self._until(lambda: page.run_controller.comparison.analysis is not None, "the comparison")

    async def _play_again(self, *more: str) -> Path:
        before = set(self._run.parent.iterdir())
        command = [sys.executable, "-m", "gym_gui", "run", str(QUICKSTART), "--out", str(self._run.parent)]
        await asyncio.to_thread(subprocess.run, [*command, *more], check=True, capture_output=True)
        (run,) = set(self._run.parent.iterdir()) - before
        return run

    async def results(self) -> None:
        self._context.go("results", run=self._run)
        await asyncio.sleep(0)
        comparison = self._page("results").run_controller.comparison
        await self._until(lambda: comparison.analysis is not None, "the comparison")

    async def results_tournament(self) -> None:
        """Five policies at connect four, rated."""
        command = [sys.executable, "-m", "gym_gui", "tournament", str(POOL), "--out", str(self._run.parent)]
        before = set(self._run.parent.iterdir())
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
        (run,) = set(self._run.parent.iterdir()) - before
        self._context.go("results", run=run)
        await asyncio.sleep(0)
        comparison = self._page("results").run_controller.comparison
        await self._until(lambda: comparison.ratings.isVisible(), "the ratings")

    async def replay(self) -> None:
        operator = "ppo"  # the others fall over at once
        self._context.go("results", replay=(self._run, operator, 0))
        await asyncio.sleep(0)
        replay = self._page("results").run_controller.replay
        await self._until(lambda: replay.image() is not None, "the replay")
        replay.transport.set_playing(True)
        await self._until(lambda: replay.transport.position > _STEPS, "some steps of it")
        replay.transport.set_playing(False)

    async def replay_transcript(self) -> None:
        """What the model was asked and answered, beside its episode."""
        await self.operators_language()
        deck = self._page("operators").deck
        first = deck.operators[0]
        deck.play.run()
        await self._until(lambda: first.player.tally.episodes, "an episode of the model")
        deck.stop_all()
        await self._until(lambda: not first.player.alive, "its end")
        await deck.close()
        # What was stopped for other pictures is there too.
        whole = first.player.tally.episodes_done[-1]["episode_index"]
        self._context.go("results", replay=(first.player.recording.folder, "model", whole))
        await asyncio.sleep(0)
        replay = self._page("results").run_controller.replay
        asked = replay.aside.choice
        await self._until(lambda: replay.image() is not None and replay.aside.calls, "the replay")
        asked.set_value("transcript")
        asked.chosen.emit("transcript")
        await self._until(lambda: replay.current.over, "all of it")
        replay.transport.go(ASKED)
        await asyncio.sleep(_SETTLE_S)

    async def settings(self) -> None:
        self._context.go("settings")
        await asyncio.sleep(_SETTLE_S)


def end_trainings() -> None:
    """Trainings outlive the window, and the trainer does: not these."""
    from gym_gui.core.errors import UsageError
    from gym_gui.services.store import Store
    from gym_gui.services.trainer.daemon_address import find
    from gym_gui.services.trainer.starting import stop_daemon
    from gym_gui.services.trainer.trainer_client import TrainerClient

    async def cancel_all() -> None:
        client = await TrainerClient.connect(Store(), start=False)
        # Those elsewhere end with the command that follows them.
        while going := [run for run in await client.runs() if not run.has_ended and not run.place]:
            for run in going:
                with contextlib.suppress(UsageError):  # over since it was looked at
                    await client.cancel(run.run_id)
            await asyncio.sleep(1.0)
        await client.close()

    if find(Store()) is not None:
        asyncio.run(cancel_all())
        stop_daemon(Store())


def _has_played(operator: Any) -> bool:
    view = operator.player.last_view
    return view is not None and (view.step >= _STEPS or bool(operator.player.tally.episodes_done))


def _is_on(operator: Any, agent: str) -> bool:
    view = operator and operator.player.last_view
    return bool(view) and agent in view.turn


def _on_top() -> Any:
    """The dialog or list that lies over the window, if any."""
    from PyQt6.QtWidgets import QApplication, QDialog

    dialogs = [
        each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()
    ]
    return QApplication.activePopupWidget() or QApplication.activeModalWidget() or next(iter(dialogs), None)


async def photograph(
    window: Any, run: Path, model_url: str, options: argparse.Namespace, bus: Any = None
) -> list[str]:
    """Take every picture asked for, then close the window; returns what is wrong with what is seen."""
    from PyQt6.QtWidgets import QAbstractButton, QWidget

    from gym_gui.ui.window.palette import CommandPalette

    pictures = Scenes(window, run, model_url)
    scenes = pictures.by_name()
    scale = "" if options.scale == 100 else f"-at-{options.scale}"
    wanted = pictures_on_pages() if options.out == IMAGES else None
    found: list[str] = []

    def tell(where: str, sentences: Sequence[str]) -> None:
        found.extend(f"{where}: {sentence}" for sentence in sentences)
        for sentence in sentences:
            print(f"  {sentence}", flush=True)

    def take(shown: QWidget, file: Path) -> None:
        if wanted is not None and file.stem not in wanted:
            return
        shown.grab().save(str(file))
        print(file, flush=True)
        if wanted is not None:
            compress(file)

    try:
        for name in options.only or scenes:
            try:
                await scenes[name]()
            except Exception as error:
                tell(name, [f"not photographed: {error or type(error).__name__}"])
                continue  # the others are
            if name != "palette" and (palette := window.findChild(CommandPalette)).isVisible():
                palette.shut()
            for button in window.findChildren(QAbstractButton, "message-close"):
                button.click()  # what the scene before has left is told in no picture
            if bus is not None:
                tree = await asyncio.to_thread(bus.application, os.getpid())
                (options.out / f"{name}.txt").write_text(screen_reader.spoken(tree))
                tell(name, screen_reader.wrong(tree))
            for size in options.size:
                width, height = (int(part) for part in size.split("x"))
                window.resize(width, height)
                for theme in options.theme:
                    window.context.theme.set_mode(theme)
                    await asyncio.sleep(_SETTLE_S)
                    file = options.out / f"{name}-{theme}-{width}{scale}.png"
                    shown = _on_top() or window
                    take(shown, file)
                    tell(file.stem, does_not_fit(shown))
                    for number, own in enumerate(window.context.detached_windows.shown, 1):
                        take(own, file.with_name(f"{name}-{number}-{theme}{scale}.png"))
                if (dialog := _on_top()) is not None:
                    tell(name, wrong_by_keyboard(dialog) if dialog.isModal() else [])
                    if not closes_on_escape(dialog):
                        tell(name, ["Esc does not close it"])
                        dialog.close()
                    break  # whose size is its own
    finally:
        window.close()
        pictures.close()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Take the pictures; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=IMAGES)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--size", nargs="+", default=SIZES, metavar="WxH")
    parser.add_argument("--theme", nargs="+", default=THEMES, choices=THEMES)
    parser.add_argument("--scale", type=int, default=100, metavar="PERCENT")
    parser.add_argument("--locale", help="whose numbers are shown, as de_DE")
    parser.add_argument("--spoken", action="store_true", help="tell what a screen reader is told")
    parser.add_argument("--check", action="store_true", help="exit status 1 where something is wrong")
    parser.add_argument("--bare", action="store_true", help="play no run first: for scenes that show none")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    import example_model  # beside this file

    os.environ["QT_SCALE_FACTOR"] = str(options.scale / 100)
    if options.locale:
        os.environ["LC_ALL"] = f"{options.locale}.UTF-8"
    bus = screen_reader.Bus() if options.spoken else None
    if bus is not None:
        os.environ.update(bus.variables)

    with tempfile.TemporaryDirectory() as home, example_model.server() as models:
        run = prepare(Path(home), bare=options.bare)
        from gym_gui.ui.app import create_window, end

        app, window = create_window(["mosaic"])
        window.show()
        task = window.context.spawn(photograph(window, run, models.url, options, bus), "Taking pictures")
        app.exec()
        end(window)
        end_trainings()
        if bus is not None:
            bus.close()
        if task.done() and not task.cancelled() and task.exception() is None:
            return int(bool(options.check and task.result()))
        print(
            f"stopped: {task.exception() if task.done() and not task.cancelled() else 'closed'!r}",
            file=sys.stderr,
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
