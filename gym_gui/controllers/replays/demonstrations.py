"""Turns recorded episodes into demonstrations for a policy's prompt, with the texts that its slot would get.

A run records actions, not texts. So the episode is replayed in the slot's own environment, and the text of
each turn is collected. Nothing that the run names is imported or started.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from gym_gui import envs
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.replays.replayed_episode import ReplayedEpisode
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import EpisodeError, ExperimentError, UsageError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import is_pattern, slot_for
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.types import AgentID
from gym_gui.services.runs.recorder import COMPLETED

SETTING: Final = "episode"
"""Kind of the worker settings whose value names recorded episodes."""
EPISODES: Final = "episodes"
"""Key in a setting's value under which a worker finds the turns of the named episodes."""
MOST_TURNS: Final = 500
MOST_CHARACTERS: Final = 200_000
_FORM: Final = "Write demonstrations as {run: PATH, episode: 0}; operator, agent and turns may be given too"


@dataclass(frozen=True)
class RecordedEpisodes:
    """Recorded episodes named by a worker setting, for use as demonstrations.

    Attributes:
        run: The run folder.
        episodes: Indices of the episodes.
        operator: Operator that played the episodes; ``""`` for the run's only operator in this environment.
        agent: Agent whose turns are shown; ``""`` for the agent of the slot.
        turns: Most turns of each episode, from its beginning; 0 for all.
    """

    run: Path
    episodes: tuple[int, ...]
    operator: str = ""
    agent: AgentID = ""
    turns: int = 0

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RecordedEpisodes:
        """Return the recorded episodes that a setting's value names.

        Raises:
            ExperimentError: The value does not have the expected keys and types.
        """
        unknown = sorted(given.keys() - {"run", "episode", "operator", "agent", "turns"})
        run, chosen, turns = given.get("run"), given.get("episode", 0), given.get("turns", 0)
        operator, agent = given.get("operator", ""), given.get("agent", "")
        numbers = cast("list[object]", chosen if isinstance(chosen, list) else [chosen])
        right = (
            not unknown
            and isinstance(run, str)
            and bool(run)
            and isinstance(operator, str)
            and isinstance(agent, str)
            and all(_is_index(number) for number in (*numbers, turns))
            and bool(numbers)
        )
        if not right:
            what = f"has no key {unknown[0]!r}" if unknown else "does not have the expected form"
            raise ExperimentError(f"a recorded episode {what}", fix=_FORM)
        return cls(Path(str(run)).expanduser(), tuple(cast("list[int]", numbers)), operator, agent, turns)


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def with_turns(resolved: ResolvedOperator, agent: AgentID, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a slot's settings with the turns of the recorded episodes that the settings name.

    Raises:
        ExperimentError: An episode cannot serve as a demonstration for this slot.
    """
    result = dict(settings)
    for setting in resolved.workers[agent].settings_schema:
        given = settings.get(setting.name)
        if setting.kind == SETTING and isinstance(given, Mapping) and given:
            recorded = RecordedEpisodes.of(cast("Mapping[str, Any]", given))
            told = list(_turns_of_episodes(resolved, recorded, agent))
            _check_size(told)
            result[setting.name] = {**given, EPISODES: told}
    return result


def _check_size(told: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    turns = sum(map(len, told))
    characters = sum(len(str(turn["text"])) for episode in told for turn in episode)
    if turns > MOST_TURNS or characters > MOST_CHARACTERS:
        raise ExperimentError(
            f"the demonstrations have {turns:,} turns and {characters:,} characters, which every prompt "
            f"would repeat; {MOST_TURNS} turns and {MOST_CHARACTERS:,} characters are the most",
            fix="Write turns: 50 beside run, or choose shorter episodes",
        )


def _turns_of_episodes(
    resolved: ResolvedOperator, recorded: RecordedEpisodes, slot: AgentID
) -> Iterator[list[dict[str, Any]]]:
    """Yield the list of turns of each episode, for use as demonstrations."""
    # Few slots have demonstrations, and every session process imports this module.
    from gym_gui.analysis import open_run
    from gym_gui.analysis.records.compare import EpisodeRows
    from gym_gui.core.experiment.experiment_data import experiment_from_data

    run = open_run(recorded.run)
    origin = Origin(str(run.path / "run.json"), str(run.path))
    experiment = experiment_from_data(dict(run.record.experiment), complete=False, origin=origin)
    config = _operator(resolved, recorded, experiment)
    rows = EpisodeRows(run.operators[config.operator_id])
    agent, view = recorded.agent or slot, resolved.views.get(slot)
    if is_pattern(agent):
        raise ExperimentError(
            f"{agent} stands for agents that appear: a demonstration shows what one of them saw",
            fix="Write agent: the name of one beside run, as the episode's record has it",
        )
    seat = slot_for(agent, resolved.slots)
    if seat is None:
        raise ExperimentError(
            f"no agent of {resolved.env_id} is called {agent!r}",
            fix=f"Its agents: {', '.join(resolved.slots)}",
        )
    if "text" not in resolved.slots[seat].offers:
        raise ExperimentError(
            f"observations of {agent} in {resolved.env_id} have no text, so they cannot be demonstrations",
            fix="Leave the setting for demonstrations out",
        )
    shown = replace(view or PromptInputs(), text=True, image=False, messages=False)
    for index in recorded.episodes:
        line = rows.rows.get(index)
        if line is None or line.get("status") != COMPLETED:
            whole = [i for i, row in sorted(rows.rows.items()) if row["status"] == COMPLETED]
            done = ", ".join(str(i) for i in whole if not rows.rows[i].get("taken_back"))
            raise ExperimentError(
                f"{recorded.run} has no completed episode {index} of operator {config.operator_id!r}",
                fix=f"It has: {done[:200]}" if done else "Choose a run with a completed episode",
            )
        if line.get("taken_back"):
            raise ExperimentError(
                f"episode {index} of {recorded.run} begins after moves that were taken back, so its first "
                "moves are recorded in another episode",
                fix="Choose an episode that was played from its beginning",
            )
        steps = list(rows.steps(index))
        turns = _replayed_turns(resolved, agent, shown, line, steps, experiment.max_steps(config))
        yield turns[: recorded.turns or None]


def _operator(
    resolved: ResolvedOperator, recorded: RecordedEpisodes, experiment: Experiment
) -> OperatorConfig:
    """Return the operator that played the named episodes in the same environment as the slot's."""
    known = {operator.operator_id: operator for operator in experiment.operators}
    if recorded.operator and recorded.operator not in known:
        raise ExperimentError(
            f"{recorded.run} has no operator {recorded.operator!r}", fix=f"It has: {', '.join(known)}"
        )
    asked = [known[recorded.operator]] if recorded.operator else list(known.values())
    fitting = [operator for operator in asked if _same_environment(resolved, operator)]
    if not fitting:
        played = ", ".join(sorted({operator.task for operator in asked}))
        raise ExperimentError(
            f"{recorded.run} was played in another environment ({played}, or with other settings of it) than "
            f"{resolved.env_id}",
            fix="Choose a run of the same environment with the same env_kwargs",
        )
    if len(fitting) > 1:
        names = ", ".join(operator.operator_id for operator in fitting)
        raise ExperimentError(f"{recorded.run} has several operators", fix=f"Write operator: one of {names}")
    return fitting[0]


def _same_environment(resolved: ResolvedOperator, other: OperatorConfig) -> bool:
    own = resolved.config
    try:
        spec = envs.resolve(other.task, env_name=other.env_name or None, api=other.api, origin=other.origin)
    except UsageError:
        return False
    same = (other.env_kwargs, other.api, set(other.manager)) == (own.env_kwargs, own.api, set(own.manager))
    return same and spec.id == resolved.env_id


def _replayed_turns(
    resolved: ResolvedOperator,
    agent: AgentID,
    view: PromptInputs,
    line: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    max_steps: int | None,
) -> list[dict[str, Any]]:
    """Replay an episode and return an agent's turns: text, choices, action and reward."""
    recorded = {(row.get("step_index"), row.get("agent_id")): row for row in steps}
    turns: list[dict[str, Any]] = []
    environment = resolved.make_environment()
    try:
        tells = environment.tells_rewards(view)
        plan = EpisodePlan(int(line["episode_index"]), int(line["seed"]), 0)
        seat = slot_for(agent, resolved.slots) or agent
        again = ReplayedEpisode(plan, environment, resolved.slots, steps, max_steps, views={seat: view})
        again.open()
        for answers in again.rounds():
            for decision in (answer.decision for answer in answers):
                if decision.agent_id == agent and decision.shown is not None:
                    row = recorded[decision.step, agent]
                    reward = float(row.get("reward") or 0.0) if tells else None
                    shown = {"text": decision.shown.text, "choices": list(map(list, decision.shown.choices))}
                    turns.append({"step": decision.step, **shown, "action": row["action"], "reward": reward})
        *_, digest = again.episode.trajectory.lines(plan.seed)
        same = digest == line.get("trajectory_sha256")
    except (KeyError, ValueError, EpisodeError):
        same = False
    finally:
        environment.close()
    if not same:
        raise ExperimentError(
            f"episode {line['episode_index']} differs from its record when it is replayed",
            fix="Try `mosaic verify` on its run: it names the first difference and the versions",
        )
    return turns
