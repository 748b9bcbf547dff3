"""Defines the six tours, with a condition for each step that tells when the step is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gym_gui.ui.tours import step_conditions
from gym_gui.ui.tours.step_conditions import Sign


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tour.

    Attributes:
        text: Instruction, in a sentence or two.
        page: Name of the page where the step is done.
        at: Object names of controls to point at; the first visible one is used. On other pages, the tour
            points at the control that leads to ``page``.
        done: Condition that is true when the step is done.
    """

    text: str
    page: str
    at: tuple[str, ...]
    done: Sign


@dataclass(frozen=True, slots=True)
class Tour:
    """A tour: a few steps, at the end of which the user has made a result, such as a recorded episode.

    Attributes:
        name: Key under which the progress is saved.
        title: Title.
        text: Result of the tour for the user.
        guide: Guide page with more details.
        minutes: Approximate duration.
        steps: Steps, in order.
        end: Text shown after the last step.
    """

    name: str
    title: str
    text: str
    guide: str
    minutes: int
    steps: tuple[Step, ...]
    end: str


SEATS: Final = ("policy_green_0", "policy_green_1", "policy_blue_0", "policy_blue_1")
FEW_STEPS: Final = 50_000
"""Maximum number of steps of a training that ends within a tour."""
FEW_QUESTIONS: Final = 20
LAKE: Final = "FrozenLake-v1"

TOURS: Final = (
    Tour(
        "play",
        "Play",
        "A game of yours, recorded under a name",
        "guide/play.md",
        3,
        (
            Step(
                "Choose Play CartPole: click its card, or Tab to it and press Enter.",
                "home",
                ("start-cartpole",),
                step_conditions.shown("play", "stage-card"),
            ),
            Step(
                "Keep the pole up with ← and →. Time stands still until your first key; "
                "the game is recorded when the pole has fallen.",
                "play",
                ("stage-card",),
                step_conditions.played_by("human"),
            ),
            Step(
                "That was recorded, every step of it. Choose Show in Results.",
                "play",
                ("show-in-results",),
                step_conditions.shown("results", "results-report"),
            ),
            Step(
                "Every step can be seen again: choose Replay, and Play (Space) there.",
                "results",
                ("replay-play", "results-replay"),
                step_conditions.shown("results", "replay-play"),
            ),
            Step(
                "Give the run a name, so that you find it again: back to the list (Alt+Left, twice), "
                "then type it under Details, or press F2 in the list.",
                "results",
                ("run-details-name", "run-table", "results-back"),
                step_conditions.named_run,
            ),
        ),
        "The game is yours: its name stands in Results, its record in a folder that any program can read.",
    ),
    Tour(
        "compare",
        "Compare",
        "A comparison of two players, saved as a file",
        "guide/operators.md",
        3,
        (
            Step(
                "Choose PPO against random: a trained policy and random actions, on the same seeds.",
                "home",
                ("start-duel",),
                step_conditions.cards(2),
            ),
            Step(
                "Let each finish five episodes. At 15 steps a second that takes a while: "
                "in the speed menu, As fast as possible.",
                "operators",
                ("operators-speed",),
                step_conditions.side_by_side(5),
            ),
            Step(
                "That is enough to say something. Pause them (Ctrl+R).",
                "operators",
                ("operators-run",),
                step_conditions.at_rest,
            ),
            Step(
                "Who is better? In Results (Ctrl+6), choose the newest run and press Enter.",
                "results",
                ("run-table",),
                step_conditions.says("results-verdict", "."),
            ),
            Step(
                "Keep what you compared: back on Operators (Ctrl+3), save it as a file (Ctrl+S).",
                "operators",
                ("comparison",),
                step_conditions.saved_comparison,
            ),
        ),
        "The comparison is yours: an experiment file that this window and mosaic run play again.",
    ),
    Tour(
        "team",
        "Mix a team",
        "A soccer team of different minds, saved under a name",
        "guide/agents.md",
        4,
        (
            Step(
                "Choose an environment with teams: open the list, type soccer, take Soccer 2v2.",
                "agents",
                ("environment-picker",),
                step_conditions.shown("agents", *SEATS),
            ),
            Step(
                "Every slot plays at random. Give green_0 a policy that knows the game: Soccer chaser.",
                "agents",
                ("policy_green_0",),
                step_conditions.several_kinds(*SEATS),
            ),
            Step(
                "Checks are green. Press Apply (Ctrl+Enter): the team comes to Operators.",
                "agents",
                ("apply",),
                step_conditions.cards(1),
            ),
            Step(
                "Run it (Ctrl+R) until a game is over. As fast as possible, in the speed menu, helps.",
                "operators",
                ("operators-run",),
                step_conditions.mixed_team,
            ),
            Step(
                "Keep the team: back on Agents (Ctrl+4), save it under a name (Ctrl+S).",
                "agents",
                ("presets",),
                step_conditions.saved_preset,
            ),
        ),
        "The team is yours: under Presets on Agents, and as a file in the data folder that you can pass on.",
    ),
    Tour(
        "ask",
        "Ask a model",
        "A transcript of what a language model was asked and said",
        "guide/language_models.md",
        6,
        (
            Step(
                "Begin an empty comparison (Ctrl+N) and add an operator (Ctrl+Shift+N).",
                "operators",
                ("operators-add",),
                step_conditions.cards(1),
            ),
            Step(
                "Choose a small world for it: Environment, type frozen, take FrozenLake.",
                "operators",
                ("operator-environment",),
                step_conditions.chosen("operator-environment", LAKE),
            ),
            Step(
                "Give the seat to a model: Decided by, type language, take Language model.",
                "operators",
                ("player-agent_0",),
                step_conditions.shown("operators", "setting_base_url"),
            ),
            Step(
                "Say where the model is: provider, model and base URL. Test asks the server for its models "
                "and costs nothing. A model on your own machine will do: the guide says how to start one.",
                "operators",
                ("setting_base_url_test", "setting_base_url"),
                step_conditions.told("setting_base_url_said", "ok"),
            ),
            Step(
                "A few questions are enough: set Max steps to 5.",
                "operators",
                ("operator-max-steps",),
                step_conditions.short_episodes(FEW_QUESTIONS),
            ),
            Step(
                "Nothing is asked before you say so: Run (Ctrl+R). "
                "The card says what the model was asked and answered, until its episode is over.",
                "operators",
                ("operators-run",),
                step_conditions.played_by("llm", whole=False),
            ),
            Step(
                "In Results (Ctrl+6), open the newest run and choose Report: "
                "it has the transcript beside it, every question and every answer.",
                "results",
                ("results-report", "run-table"),
                step_conditions.wrote("transcript.html"),
            ),
        ),
        "The transcript is yours: transcript.html in the run's folder, to be read without MOSAIC.",
    ),
    Tour(
        "train",
        "Train",
        "A policy that you have trained",
        "guide/train.md",
        5,
        (
            Step(
                "Train PPO on CartPole-v1, as the form proposes, but shortly: type 20000 as Total steps.",
                "train",
                ("setting_total_steps", "train-new"),
                step_conditions.number_below("setting_total_steps", FEW_STEPS),
            ),
            Step(
                "Start it (Ctrl+Enter).",
                "train",
                ("train-start",),
                step_conditions.training_begun,
            ),
            Step(
                "The curve grows while the policy learns. Wait for the training to end, about half a minute. "
                "It goes on even if you close the window.",
                "train",
                ("train-curves",),
                step_conditions.training_over,
            ),
            Step(
                "See what it has learned: choose the run, then Use in a slot, Watch it in Operators.",
                "train",
                ("train-run-use", "training-runs"),
                step_conditions.cards(1),
            ),
            Step(
                "Run (Ctrl+R) until an episode is over: your policy plays it.",
                "operators",
                ("operators-run",),
                step_conditions.played_by("rl"),
            ),
        ),
        "The policy is yours: under Policies on Train, ready for any slot of CartPole.",
    ),
    Tour(
        "publish",
        "Publish",
        "A verified report and its table, to be passed on",
        "guide/results_and_replay.md",
        3,
        (
            Step(
                "Open a run with two operators: choose it and press Enter. "
                "Where there is none yet, the tour Compare makes one.",
                "results",
                ("run-table",),
                step_conditions.says("results-verdict", "."),
            ),
            Step(
                "Would others get the same? Verify plays every recorded action again and compares.",
                "results",
                ("results-verify", "run-table"),
                step_conditions.job_said("Verified"),
            ),
            Step(
                "Write the report: numbers with their intervals, plots, and episodes to be watched.",
                "results",
                ("results-report", "run-table"),
                step_conditions.wrote("report.html"),
            ),
            Step(
                "Take the numbers along for a paper: Export, Comparison as a table….",
                "results",
                ("results-export", "run-table"),
                step_conditions.job_said("Written"),
            ),
        ),
        "Report and table are yours: report.html opens in any browser, with all that it needs in it.",
    ),
)


def tour(name: str) -> Tour:
    """Return a tour by its name.

    Raises:
        KeyError: No tour has that name.
    """
    return {each.name: each for each in TOURS}[name]
