"""What language models are told of each environment, as pages to be read by people.

    python scripts/pages/prompts.py [FAMILY ...] [--out docs/_written/prompts]

Writes a page for each family: of an environment of every kind what an agent is told once, what it is
shown at three moments of an episode of random moves, and the whole prompt that ``mosaic_llm_worker``
makes of it by coordination level. The same every time, so that a change of words shows as a change of
these pages. An environment whose package is not installed here is named and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_gui import envs
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.prompt_inputs import Mode, PromptInputs
from gym_gui.core.plain_data import to_plain
from gym_gui.core.spaces import space_to_spec, to_space
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import families

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "_written" / "prompts"
MOMENTS = (0, 5, 20)
"""Decisions of an agent that are shown; of a shorter episode its last ones."""
_SEED, _TRIED = 7, 10
_WORKERS = ("mosaic_llm_worker", "mosaic_worker_sdk")


class Kind(NamedTuple):
    """An environment that stands for others of its kind.

    Attributes:
        task: Its id.
        agents: Whose words are shown; the first agent's where empty.
        mode: Whether team-mates in view are told of.
        options: Keyword arguments of the environment.
    """

    task: str
    agents: tuple[AgentID, ...] = ()
    mode: Mode = "egocentric"
    options: Mapping[str, Any] = {}


KINDS: Mapping[str, tuple[Kind, ...]] = {
    "gymnasium": (
        *map(
            Kind, ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1")
        ),
        *map(Kind, ("FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1")),
    ),
    "box2d": (Kind("LunarLander-v3"), Kind("BipedalWalker-v3")),
    "mujoco": (Kind("HalfCheetah-v5"), Kind("Reacher-v5")),
    "minigrid": (
        *map(Kind, ("MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N1-v0", "MiniGrid-Fetch-8x8-N3-v0")),
        *map(Kind, ("MiniGrid-Dynamic-Obstacles-8x8-v0", "MiniGrid-GoToDoor-8x8-v0")),
        *map(Kind, ("MiniGrid-RedBlueDoors-8x8-v0", "BabyAI-GoToRedBall-v0", "BabyAI-BossLevel-v0")),
    ),
    "multigrid": (
        Kind("MosaicMultiGrid-S-2v2-IndAgObs-v1", ("green_0",), "visible_teammates"),
        Kind("MosaicMultiGrid-BB-3v3-IndAgObs-v1", ("blue_1",)),
        Kind("MosaicMultiGrid-AF-2v2-IndAgObs-v1", ("green_1",)),
        Kind("MosaicMultiGrid-C-2v2-IndAgObs-v1", ("blue_0",)),
    ),
    "ini_multigrid": (
        Kind("MultiGrid-RedBlueDoors-6x6-v0", mode="visible_teammates"),
        Kind("MultiGrid-BlockedUnlockPickup-v0", ("agent_1",)),
        Kind("MultiGrid-LockedHallway-2Rooms-v0"),
    ),
    "pettingzoo": (
        *map(Kind, ("chess_v6", "connect_four_v3", "tictactoe_v3", "rps_v2", "leduc_holdem_v4")),
        Kind("go_v5", options={"board_size": 9}),
        *map(Kind, ("texas_holdem_v4", "texas_holdem_no_limit_v6", "hanabi_v5")),
        Kind("knights_archers_zombies_v11", ("archer_0", "knight_0"), options={"spawn_delay": 8}),
        Kind("pursuit_v5", mode="visible_teammates"),
    ),
    "mpe2": (
        Kind("mpe2/simple_v3"),
        Kind("mpe2/simple_adversary_v3", ("adversary_0", "agent_0")),
        Kind("mpe2/simple_crypto_v3", ("eve_0", "bob_0", "alice_0")),
        Kind("mpe2/simple_push_v3", ("adversary_0", "agent_0")),
        Kind("mpe2/simple_reference_v3"),
        Kind("mpe2/simple_speaker_listener_v4", ("speaker_0", "listener_0")),
        Kind("mpe2/simple_spread_v3"),
        Kind("mpe2/simple_tag_v3", ("adversary_0", "agent_0")),
        Kind("mpe2/simple_world_comm_v3", ("leadadversary_0", "adversary_0", "agent_0")),
    ),
    "openspiel": tuple(
        Kind(f"open_spiel/{name}")
        for name in ("tic_tac_toe", "checkers", "kuhn_poker", "leduc_poker", "liars_dice", "breakthrough")
    ),
    "crafter": (Kind("CrafterReward-v1"),),
    "minihack": tuple(
        map(
            Kind,
            ("MiniHack-KeyRoom-S5-v0", "MiniHack-Room-Monster-5x5-v0", "MiniHack-Eat-v0", "NetHackScore-v0"),
        )
    ),
    "textworld": (Kind("TextWorld/Small-v0", options={"games": 1}),),
    "highway": tuple(
        map(Kind, ("highway-fast-v0", "exit-v1", "roundabout-v1", "u-turn-v1", "racetrack-v1", "parking-v0"))
    ),
    "lbforaging": (
        Kind("Foraging-8x8-2p-2f-coop-v3"),
        Kind("Foraging-2s-8x8-3p-3f-v3", mode="visible_teammates"),
    ),
    "rware": (Kind("rware-tiny-2ag-easy-v2", mode="visible_teammates"),),
    "dm_control": (Kind("dm_control/cartpole-swingup-v0"), Kind("dm_control/walker-walk-v0")),
    "vizdoom": (Kind("VizdoomDefendCenter-v1"),),
    "robotics": (Kind("FetchPush-v4"), Kind("PointMaze_UMaze-v3")),
}
"""By family; Atari shows pixels, which words do not say."""


@dataclass(frozen=True)
class Moment:
    """What an agent is shown when it decides.

    Attributes:
        step: Its decisions before this one.
        text: The observation in words.
        choices: Legal actions in words, where these depend on the position.
        mask: Legal actions, or ``None``.
    """

    step: int
    text: str
    choices: Sequence[tuple[int, str]]
    mask: Sequence[bool] | None


def moments(environment: Environment, wanted: Sequence[AgentID], mode: Mode) -> dict[AgentID, list[Moment]]:
    """What agents are shown in one episode of random legal moves: the first that is not over at once."""
    longest: dict[AgentID, list[Moment]] = {agent: [] for agent in wanted}
    for seed in range(_SEED, _SEED + _TRIED):
        shown = _episode(environment, wanted, mode, seed)
        if min(map(len, shown.values())) > min(map(len, longest.values())):
            longest = shown
        if min(map(len, longest.values())) > MOMENTS[1]:
            break
    return longest


def _episode(
    environment: Environment, wanted: Sequence[AgentID], mode: Mode, seed: int
) -> dict[AgentID, list[Moment]]:
    adapter, rng = environment.adapter, np.random.default_rng(seed)
    seen = adapter.reset(seed=seed)
    shown: dict[AgentID, list[Moment]] = {agent: [] for agent in wanted}
    while (agents := adapter.get_current_agents()) and any(
        len(each) <= MOMENTS[-1] for each in shown.values()
    ):
        moves: dict[AgentID, Any] = {}
        for agent in agents:
            mask = adapter.action_mask(agent)
            if agent in shown:
                what = environment.show(agent, seen[agent], PromptInputs(text=True, mode=mode), mask)
                choices = [(choice.action, choice.word) for choice in what.choices]
                plain = None if mask is None else to_plain(mask)
                shown[agent].append(Moment(len(shown[agent]), what.text, choices, plain))
            moves[agent] = _move(environment, agent, mask, rng)
        seen = adapter.step(moves).observations
    return shown


def _move(environment: Environment, agent: AgentID, mask: Any, rng: np.random.Generator) -> Any:
    space: Any = environment.adapter.action_space(agent)
    if mask is not None and hasattr(space, "n"):
        return int(rng.choice(np.flatnonzero(mask))) + int(getattr(space, "start", 0))
    if to_space(space).kind == "Text":  # of a text adventure, which lists what it understands
        commands: list[str] = environment.env.state.admissible_commands
        return commands[int(rng.integers(len(commands)))]
    space.seed(int(rng.integers(2**31)))
    return space.sample()


def prompt(environment: Environment, agent: AgentID, briefing: str, moment: Moment, level: int) -> str:
    """The whole prompt of a language worker, or why it has none."""
    team, mates, others = environment.team_and_others(agent)
    asked = {
        "settings": {"model_id": "model", "coordination_level": level},
        "slot": {
            "agent": agent,
            "env": environment.spec.id,
            "action_meanings": list(environment.action_meanings(agent)),
            "action_space": space_to_spec(to_space(environment.adapter.action_space(agent))),
            "briefing": briefing,
            "team": team,
            "teammates": mates,
            "opponents": others,
        },
        "decision": {
            "step": moment.step,
            "text": moment.text,
            "choices": moment.choices,
            "mask": moment.mask,
        },
    }
    answer = _previewed()(json.loads(json.dumps(asked)))
    if "error" in answer:
        return f"(no prompt: {answer['error']})"
    parts = [f"[{each['role']}]\n{each['content']}" for each in answer["messages"]]
    return "\n\n".join([*parts, f"(about {answer['tokens']} tokens)"])


@cache
def _previewed() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What makes prompts, of the worker as it lies here."""
    sys.path[:0] = [str(ROOT / "3rd_party" / name) for name in _WORKERS]
    preview: Callable[[dict[str, Any]], dict[str, Any]] = import_module("mosaic_llm_worker.preview").preview
    return preview


def page(family: str) -> str:
    """The page of one family."""
    title = families()[family].title
    lines = [f"# {title}: what a language model is told", ""]
    for kind in KINDS[family]:
        lines += section(kind)
    return "\n".join(lines).rstrip() + "\n"


def section(kind: Kind) -> Iterator[str]:
    """The lines on one environment."""
    try:
        environment = envs.make(kind.task, env_kwargs=kind.options)
    except MosaicError as error:
        yield from (f"## {kind.task}", "", f"Not shown: {error}", "")
        return
    try:
        agents = kind.agents or environment.adapter.possible_agents[:1]
        yield from (f"## {environment.spec.id}", "")
        shown = moments(environment, agents, kind.mode)
        for agent in agents:
            yield from _of_agent(environment, agent, shown[agent], kind)
    finally:
        environment.close()


def _of_agent(environment: Environment, agent: AgentID, shown: Sequence[Moment], kind: Kind) -> Iterator[str]:
    briefing = environment.describer(agent).briefing(agent, kind.mode)
    if len(kind.agents) > 1:
        yield from (f"### {agent}", "")
    yield from _block("Told once:", briefing)
    yield from (_of_rewards(environment), "")
    last = len(shown) - 1
    for index in sorted({min(moment, last) for moment in MOMENTS}):
        moment = shown[index]
        words = moment.text
        if moment.choices:
            words += f"\n\n(choices: {', '.join(word for _, word in moment.choices)})"
        yield from _block(f"At its decision {index + 1}:", words)
    whole = prompt(environment, agent, briefing, shown[min(MOMENTS[1], last)], 1)
    yield from _block("The whole prompt, coordination level 1:", whole)
    if environment.team_and_others(agent)[1] or environment.team_and_others(agent)[2]:
        for level in (2, 3):
            other = prompt(environment, agent, briefing, shown[min(MOMENTS[1], last)], level)
            known = set(whole.splitlines())
            more = [
                line for line in other.splitlines() if line not in known and not line.startswith("(about")
            ]
            yield from _block(f"What level {level} has beyond that:", "\n".join(more) or "(nothing)")


def _of_rewards(environment: Environment) -> str:
    """Whether an agent learns what its actions earned, and why not."""
    if environment.hidden_information:
        return "Rewards are not told: seats hide things from each other, and a reward would name them."
    if environment.rewards_betray:
        return "Rewards are not told: they are shaped, and would point the way."
    return "Rewards are told, with the next question."


def _block(head: str, text: str) -> Iterator[str]:
    yield from (head, "", "```text", text.replace("```", "'''"), "```", "")


def main() -> int:
    """Write the pages."""
    parser = argparse.ArgumentParser(description="Write what language models are told, as pages.")
    parser.add_argument("family", nargs="*", help="a family; all by default")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the pages")
    asked = parser.parse_args()
    unknown = set(asked.family) - set(KINDS)
    if unknown:
        parser.error(f"there are no pages for {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    asked.out.mkdir(parents=True, exist_ok=True)
    for family in asked.family or KINDS:
        file, text = asked.out / f"{family}.md", page(family)
        if not file.is_file() or file.read_text("utf-8") != text:  # Sphinx reads again what is newer
            file.write_text(text, "utf-8")
        print(file.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
