"""Definitions of the six tours: their steps, and the condition under which each step is done."""

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
        page: Name of the page on which the step is done.
        at: Object names of controls to highlight; the first visible one is used. While another page is shown,
            the navigation entry of ``page`` is highlighted.
        done: Condition that is true when the step is done.
    """

    text: str
    page: str
    at: tuple[str, ...]
    done: Sign


@dataclass(frozen=True, slots=True)
class Tour:
    """Guided tour of a few steps, which ends with a result such as a recorded episode.

    Attributes:
        name: Key under which the progress is saved.
        title: Title that the user reads.
        text: Result of the tour for the user.
        guide: Page of the user guide with more details.
        minutes: Approximate duration, in minutes.
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
"""Largest number of training steps that the Train tour accepts, so that the training ends soon."""
FEW_QUESTIONS: Final = 20
LAKE: Final = "FrozenLake-v1"

TOURS: Final = (
    Tour(
        "play",
        "Play",
        "A recorded game of your own, with a name",
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
                "Keep the pole up with ← and →. The game waits for your first key "
                "and is recorded after the pole has fallen.",
                "play",
                ("stage-card",),
                step_conditions.played_by("human"),
            ),
            Step(
                "MOSAIC has recorded every step of the game. Choose Show in Results.",
                "play",
                ("show-in-results",),
                step_conditions.shown("results", "results-report"),
            ),
            Step(
                "To replay every step, choose Replay, then Play (Space).",
                "results",
                ("replay-play", "results-replay"),
                step_conditions.shown("results", "replay-play"),
            ),
            Step(
                "Give the run a name, so that you can find it later: return to the list (Alt+Left, twice), "
                "then type a name under Details, or press F2 in the list.",
                "results",
                ("run-details-name", "run-table", "results-back"),
                step_conditions.named_run,
            ),
        ),
        "The game is in the list of Results, and its record is in a folder that any program can read.",
    ),
    Tour(
        "compare",
        "Compare",
        "A comparison of two policies, saved as a file",
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
                "Let both operators finish five episodes. To speed this up, "
                "choose As fast as possible in the speed menu.",
                "operators",
                ("operators-speed",),
                step_conditions.side_by_side(5),
            ),
            Step(
                "Five episodes are enough for a first result. Pause the operators (Ctrl+R).",
                "operators",
                ("operators-run",),
                step_conditions.at_rest,
            ),
            Step(
                "To see which policy is better, open Results (Ctrl+6), choose the newest run and press "
                "Enter.",
                "results",
                ("run-table",),
                step_conditions.says("results-verdict", "."),
            ),
            Step(
                "Save the comparison: return to Operators (Ctrl+3) and save it as a file (Ctrl+S).",
                "operators",
                ("comparison",),
                step_conditions.saved_comparison,
            ),
        ),
        "The comparison is saved as an experiment file that this window and mosaic run can play again.",
    ),
    Tour(
        "team",
        "Mix a team",
        "A soccer team of different policies, saved under a name",
        "guide/agents.md",
        4,
        (
            Step(
                "Choose an environment with teams: open the list, type soccer and choose Soccer 2v2.",
                "agents",
                ("environment-picker",),
                step_conditions.shown("agents", *SEATS),
            ),
            Step(
                "Every slot acts randomly. Give green_0 a policy made for the game: Soccer chaser.",
                "agents",
                ("policy_green_0",),
                step_conditions.several_kinds(*SEATS),
            ),
            Step(
                "The checks are green. Press Apply (Ctrl+Enter) to open the team in Operators.",
                "agents",
                ("apply",),
                step_conditions.cards(1),
            ),
            Step(
                "Press Run (Ctrl+R) and wait until a game ends. For speed, choose As fast as possible in "
                "the speed menu.",
                "operators",
                ("operators-run",),
                step_conditions.mixed_team,
            ),
            Step(
                "Save the team: return to Agents (Ctrl+4) and save it under a name (Ctrl+S).",
                "agents",
                ("presets",),
                step_conditions.saved_preset,
            ),
        ),
        "The team is saved under Presets on Agents, and as a file in the data folder that you can share.",
    ),
    Tour(
        "ask",
        "Ask a model",
        "A transcript of the prompts and replies of a language model",
        "guide/language_models.md",
        6,
        (
            Step(
                "Create an empty comparison (Ctrl+N) and add an operator (Ctrl+Shift+N).",
                "operators",
                ("operators-add",),
                step_conditions.cards(1),
            ),
            Step(
                "Choose a small environment: open Environment, type frozen and choose FrozenLake.",
                "operators",
                ("operator-environment",),
                step_conditions.chosen("operator-environment", LAKE),
            ),
            Step(
                "Assign the slot to a model: open Decided by, type language and choose Language model.",
                "operators",
                ("player-agent_0",),
                step_conditions.shown("operators", "setting_base_url"),
            ),
            Step(
                "Enter provider, model and base URL. Test requests the list of models from the server "
                "and costs nothing. The guide explains how to run a model on your own machine.",
                "operators",
                ("setting_base_url_test", "setting_base_url"),
                step_conditions.told("setting_base_url_said", "ok"),
            ),
            Step(
                "A few model calls are enough: set Max steps to 5.",
                "operators",
                ("operator-max-steps",),
                step_conditions.short_episodes(FEW_QUESTIONS),
            ),
            Step(
                "No model is called until you press Run (Ctrl+R). "
                "The card shows the prompts and replies until the episode ends.",
                "operators",
                ("operators-run",),
                step_conditions.played_by("llm", whole=False),
            ),
            Step(
                "In Results (Ctrl+6), open the newest run and choose Report, "
                "which also writes the transcript with every prompt and reply.",
                "results",
                ("results-report", "run-table"),
                step_conditions.wrote("transcript.html"),
            ),
        ),
        "The transcript is transcript.html in the run's folder; you can read it without MOSAIC.",
    ),
    Tour(
        "train",
        "Train",
        "A policy that you have trained yourself",
        "guide/train.md",
        5,
        (
            Step(
                "Train PPO on CartPole-v1 with the proposed settings, but type 20000 as Total steps.",
                "train",
                ("setting_total_steps", "train-new"),
                step_conditions.number_below("setting_total_steps", FEW_STEPS),
            ),
            Step(
                "Press Start to begin the training (Ctrl+Enter).",
                "train",
                ("train-start",),
                step_conditions.training_begun,
            ),
            Step(
                "The curve grows while the policy learns. Wait about half a minute for the training to end. "
                "The training continues even if you close the window.",
                "train",
                ("train-curves",),
                step_conditions.training_over,
            ),
            Step(
                "Watch the trained policy: choose the run, then Use in a slot, then Watch in Operators.",
                "train",
                ("train-run-use", "training-runs"),
                step_conditions.cards(1),
            ),
            Step(
                "Press Run (Ctrl+R) and wait until your policy finishes an episode.",
                "operators",
                ("operators-run",),
                step_conditions.played_by("rl"),
            ),
        ),
        "The policy is under Policies on Train, ready for any slot of CartPole.",
    ),
    Tour(
        "publish",
        "Publish",
        "A verified report and its table, ready to share",
        "guide/results_and_replay.md",
        3,
        (
            Step(
                "Open a run with two operators: choose the run and press Enter. "
                "If there is no such run, take the tour Compare first.",
                "results",
                ("run-table",),
                step_conditions.says("results-verdict", "."),
            ),
            Step(
                "Check that the run is reproducible: Verify executes every recorded action again and "
                "compares.",
                "results",
                ("results-verify", "run-table"),
                step_conditions.job_said("Verified"),
            ),
            Step(
                "Press Report to write a page with numbers, their intervals, plots and replays of episodes.",
                "results",
                ("results-report", "run-table"),
                step_conditions.wrote("report.html"),
            ),
            Step(
                "Export the numbers for a paper: choose Export, then Comparison as a table….",
                "results",
                ("results-export", "run-table"),
                step_conditions.job_said("Written"),
            ),
        ),
        "Report and table are written; report.html opens in any browser and needs no other files.",
    ),
)


def tour(name: str) -> Tour:
    """Return a tour by its name.

    Raises:
        KeyError: No tour has that name.
    """
    return {each.name: each for each in TOURS}[name]
