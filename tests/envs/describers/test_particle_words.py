"""Particle worlds in words, against where the world itself has everything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment

WORLDS = (
    "simple_v3",
    "simple_adversary_v3",
    "simple_formation_v1",
    "simple_line_v1",
    "simple_push_v3",
    "simple_reference_v3",
    "simple_speaker_listener_v4",
    "simple_spread_v3",
    "simple_tag_v3",
    "simple_world_comm_v3",
)
SIDES = {"left": (-1, 0), "right": (1, 0), "down": (0, -1), "up": (0, 1)}
COLORS = ("red", "green", "blue")


def point(said: str) -> tuple[float, float]:
    """Where ``0.52 right, 0.31 up`` is."""
    parts = [(float(n), SIDES[side]) for n, side in re.findall(r"(\d+\.\d\d) (left|right|down|up)", said)]
    return sum(n * x for n, (x, _) in parts), sum(n * y for n, (_, y) in parts)


def told(text: str) -> dict[str, tuple[float, float]]:
    """Places by name; of what is out of sight there is none."""
    lines = [line.split(": ", 1) for line in text.splitlines() if re.search(r"away\)|: here", line)]
    assert len({name for name, _ in lines}) == len(lines)
    return {name: point(said.split("(")[0]) for name, said in lines}


def near(told: tuple[float, float], real: Any) -> bool:
    return bool(np.allclose(told, real, atol=0.0051))


def scattered(environment: Environment, rounds: int, spread: float = 1.0) -> Iterator[np.random.Generator]:
    """Everything anew anywhere, moving, with something said; the generator, for more."""
    env, rng = environment.env, np.random.default_rng(5)
    environment.adapter.reset(seed=1)
    for seed in range(rounds):
        env.scenario.reset_world(env.world, np.random.default_rng(seed))
        for thing in env.world.entities:
            thing.state.p_pos = rng.uniform(-spread, spread, 2)
        for body in env.world.agents:
            body.state.p_vel = rng.uniform(-1, 1, 2) * (rng.random() < 0.8)
            if not body.silent and rng.random() < 0.8:
                body.state.c = np.eye(env.world.dim_c)[rng.integers(env.world.dim_c)]
        yield rng


def shown(environment: Environment, agent: str) -> str:
    return environment.describer(agent).text(agent, environment.env.observe(agent))


def inside(world: Any, body: Any) -> set[int]:
    """Forests that a body stands in."""
    return {
        i
        for i, wood in enumerate(world.forests)
        if np.linalg.norm(body.state.p_pos - wood.state.p_pos) < body.size + wood.size
    }


def in_view(name: str, world: Any, body: Any) -> Mapping[str, Any]:
    """Everything that an agent may know the place of, by the name it should have."""
    others = {other.name: other for other in world.agents if other is not body}
    marks = {mark.name: mark for mark in world.landmarks}
    colored = {f"{COLORS[int(np.argmax(mark.color))]} landmark": mark for mark in world.landmarks}
    if name.startswith("simple_v"):
        return {"landmark": world.landmarks[0]}
    if name.startswith("simple_formation"):
        return {"landmark": world.landmarks[0]}
    if name.startswith("simple_line"):
        return dict(zip(("one end of the line", "other end of the line"), world.landmarks, strict=True))
    if name.startswith(("simple_push", "simple_adversary")):
        marks = colored if name.startswith("simple_push") else marks
        if not body.adversary:
            marks = {n: mark for n, mark in marks.items() if mark is not body.goal_a}
            marks["target"] = body.goal_a
        return {**marks, **others}
    if name.startswith("simple_reference"):
        return colored
    if name.startswith("simple_speaker"):
        return colored if body.movable else {}
    if name.startswith("simple_tag"):
        return {**{n.replace("landmark", "obstacle"): mark for n, mark in marks.items()}, **others}
    if name.startswith("simple_world"):
        own = inside(world, body)
        seen = {
            n: other
            for n, other in others.items()
            if body.leader or own & (there := inside(world, other)) or not (own or there)
        }
        return {**{n.replace("landmark", "obstacle"): mark for n, mark in marks.items()}, **seen}
    return {**marks, **others}


@pytest.mark.parametrize("task", WORLDS)
def test_everything_is_told_where_it_is(task: str) -> None:
    environment = envs.make(task)
    world = environment.env.world
    places = hidden = 0
    try:
        for _ in scattered(environment, 60):
            for body in world.agents:
                text = shown(environment, body.name)
                expected = in_view(task, world, body)
                found = told(text)
                assert found.keys() == expected.keys(), text
                for name, thing in expected.items():
                    assert near(found[name], thing.state.p_pos - body.state.p_pos), text
                places, hidden = places + len(found), hidden + text.count("out of sight")
    finally:
        environment.close()
    assert places >= 60 and (hidden > 30) == task.startswith("simple_world")


@pytest.mark.parametrize("task", WORLDS)
def test_velocities_are_those_that_an_agent_may_know(task: str) -> None:
    environment = envs.make(task)
    world = environment.env.world
    moving = 0
    try:
        for _ in scattered(environment, 60):
            for body in world.agents:
                text = shown(environment, body.name)
                own = text.splitlines()[0]
                if own.startswith("You move"):
                    assert near(point(own.split(";")[0]), body.state.p_vel), text
                elif own.startswith("You are at rest"):
                    assert near((0, 0), body.state.p_vel), text
                else:
                    assert task.startswith("simple_adversary") or not body.movable, text
                if "of the middle" in own:
                    assert near(point(own.split("you are")[1]), body.state.p_pos), text
                for line in text.splitlines():
                    if "; moves " in line:
                        other = next(each for each in world.agents if each.name == line.split(":")[0])
                        assert not other.adversary
                        assert near(point(line.split("; moves ")[1]), other.state.p_vel), text
                        moving += 1
    finally:
        environment.close()
    assert (moving > 30) == task.startswith(("simple_tag", "simple_world"))


def test_targets_and_messages_are_told_to_those_who_know_them() -> None:
    for task in ("simple_reference_v3", "simple_speaker_listener_v4"):
        environment = envs.make(task)
        try:
            world = environment.env.world
            for _ in scattered(environment, 60):
                for body in world.agents:
                    text = shown(environment, body.name)
                    (other,) = (each for each in world.agents if each is not body)
                    knows = not task.startswith("simple_speaker") or not body.movable
                    assert ("the target of" in text) == knows
                    if knows:
                        color = COLORS[int(np.argmax(body.goal_b.color))]
                        assert f"the target of {other.name}: the {color} landmark" in text
                    if body.movable and not other.silent:
                        said = "ABCDEFGHIJ"[int(np.argmax(other.state.c))] if any(other.state.c) else None
                        assert f"{other.name} says: {said or 'nothing yet'}" in text
        finally:
            environment.close()


def test_the_code_is_told_as_letters_and_only_to_those_who_have_the_key() -> None:
    environment = envs.make("simple_crypto_v3")
    try:
        world = environment.env.world
        eve, bob, alice = world.agents
        for _ in scattered(environment, 60):
            text = {body.name: shown(environment, body.name) for body in world.agents}
            key, message = ("AB"[int(np.argmax(each))] for each in (alice.key, alice.goal_a.color))
            said = "ABCD"[int(np.argmax(alice.state.c))] if any(alice.state.c) else "nothing yet"
            shared = f"The key that only Alice and Bob know: {key}"
            assert text[alice.name] == f"The message for Bob: {message}\n{shared}"
            assert text[bob.name] == f"{shared}\nAlice says: {said}"
            assert text[eve.name] == f"Alice says: {said}"
    finally:
        environment.close()


def test_treasures_and_what_is_carried() -> None:
    environment = envs.make("collect_treasure_v1")
    kinds = ("blue", "orange")
    carriers = gone = 0
    try:
        world = environment.env.world
        for rng in scattered(environment, 60):
            for body in world.agents:
                body.holding = int(rng.integers(2)) if body.collector and rng.random() < 0.5 else None
            for treasure in world.landmarks:
                treasure.alive = bool(rng.random() < 0.7)
            for body in world.agents:
                lines = shown(environment, body.name).splitlines()
                if body.collector:
                    held = "nothing" if body.holding is None else f"{kinds[body.holding]} treasure"
                    assert lines.pop(1) == f"You carry {held}."
                things = [(f"{kinds[mark.type]} treasure", mark) for mark in world.landmarks if mark.alive]
                for other in (each for each in world.agents if each is not body):
                    load = "" if other.holding is None else f" with {kinds[other.holding]} treasure"
                    name = f"collector{load}" if other.collector else f"{kinds[other.d_i]} deposit"
                    things.append((name, other))
                found = [line.split(": ") for line in lines[1:]]
                for name, thing in things:
                    place = thing.state.p_pos - body.state.p_pos
                    matching = [
                        line
                        for line in found
                        if line[0] == name and near(point(line[1].split("(")[0]), place)
                    ]
                    assert matching, (name, place, lines)
                    found.remove(matching[0])
                assert not found
                carriers, gone = carriers + body.collector, gone + len(world.agents) + 5 - len(things)
    finally:
        environment.close()
    assert carriers > 100 and gone > 100


def test_with_a_limited_view_the_nearest_are_told_without_their_names() -> None:
    limits = {"num_agent_neighbors": 2, "num_landmark_neighbors": 5}
    environment = envs.make("simple_tag_v3", env_kwargs=limits)
    try:
        world = environment.env.world
        for _ in scattered(environment, 60):
            for body in world.agents:
                found = told(shown(environment, body.name))
                others = [other for other in world.agents if other is not body]
                for things, name, count in ((others, "other agent", 2), (world.landmarks, "obstacle", 2)):
                    places = sorted(
                        (thing.state.p_pos - body.state.p_pos for thing in things), key=np.linalg.norm
                    )
                    for i, place in enumerate(places[:count]):
                        assert near(found.pop(f"{name} ({i + 1}. nearest)"), place)
                assert not found
    finally:
        environment.close()


@pytest.mark.parametrize(
    ("task", "agent"), [("simple_reference_v3", "agent_1"), ("simple_world_comm_v3", "leadadversary_0")]
)
def test_who_moves_and_speaks_says_both_in_one_word(task: str, agent: str) -> None:
    environment = envs.make(task)
    try:
        adapter, world = environment.adapter, environment.env.world
        words = environment.action_meanings(agent)
        assert len(words) == adapter.action_space(agent).n == len(set(words))
        body = next(each for each in world.agents if each.name == agent)
        body.collide = False
        for word in ("left, say B", "up, say D", "noop, say A"):
            adapter.reset(seed=2)
            adapter.step(
                {each: words.index(word) if each == agent else 0 for each in adapter.possible_agents}
            )
            move, letter = word.split(", say ")
            assert "ABCD"[int(np.argmax(body.state.c))] == letter
            x, y = SIDES.get(move, (0, 0))
            assert np.allclose(np.sign(body.state.p_vel), (x, y))
        assert 'written like "left, say B"' in environment.describer(agent).briefing(agent)
        assert environment.noop_action(agent) is None
    finally:
        environment.close()


@pytest.mark.parametrize(
    ("agent", "parts"),
    [("agent_0", "nothing, left, right, down, up, letter A, letter B"), ("speaker_0", "A")],
)
def test_continuous_actions_are_named_in_their_order(agent: str, parts: str) -> None:
    task = "simple_reference_v3" if agent == "agent_0" else "simple_speaker_listener_v4"
    environment = envs.make(task, env_kwargs={"continuous_actions": True})
    try:
        briefing = environment.describer(agent).briefing(agent)
        assert parts in briefing.rsplit("how strong each is of ", 1)[1]
    finally:
        environment.close()


def test_the_landmark_is_reached_by_reading_alone() -> None:
    environment = envs.make("simple_v3")
    left: list[float] = []
    try:
        adapter, describer = environment.adapter, environment.describer("agent_0")
        words = environment.action_meanings("agent_0")
        for seed in range(10):
            seen = adapter.reset(seed=seed)["agent_0"]
            while adapter.get_current_agents():
                own, mark = describer.text("agent_0", seen).splitlines()
                dx, dy = np.subtract(point(mark.split("(")[0]), np.multiply(point(own), 0.4))
                across, along = ("right" if dx > 0 else "left"), ("up" if dy > 0 else "down")
                word = "noop" if max(abs(dx), abs(dy)) < 0.05 else across if abs(dx) > abs(dy) else along
                step = adapter.step({"agent_0": words.index(word)})
                seen = step.observations.get("agent_0", seen)
            body, (goal,) = environment.env.world.agents[0], environment.env.world.landmarks
            left.append(float(np.linalg.norm(body.state.p_pos - goal.state.p_pos)))
    finally:
        environment.close()
    assert np.mean(left) < 0.15


def test_a_letter_leads_the_listener_who_reads_what_was_agreed() -> None:
    environment = envs.make("simple_speaker_listener_v4", env_kwargs={"max_cycles": 40})
    letters = dict(zip(COLORS, "ABC", strict=True))
    left: list[float] = []
    try:
        adapter, world = environment.adapter, environment.env.world
        speaker, listener = adapter.possible_agents
        words = {agent: environment.action_meanings(agent) for agent in (speaker, listener)}
        for seed in range(10):
            seen = adapter.reset(seed=seed)
            while adapter.get_current_agents():
                text = {a: environment.describer(a).text(a, seen[a]) for a in (speaker, listener)}
                color = re.search(r"the (\w+) landmark", text[speaker])
                assert color
                heard = text[listener].rsplit("says: ", 1)[1]
                wanted = next((c for c, letter in letters.items() if letter == heard), None)
                word = "noop"
                if wanted:
                    own = point(text[listener].splitlines()[0])
                    place = told(text[listener])[f"{wanted} landmark"]
                    dx, dy = np.subtract(place, np.multiply(own, 0.4))
                    across, along = ("right" if dx > 0 else "left"), ("up" if dy > 0 else "down")
                    if max(abs(dx), abs(dy)) > 0.05:
                        word = across if abs(dx) > abs(dy) else along
                answers = {speaker: f"say {letters[color[1]]}", listener: word}
                step = adapter.step({agent: words[agent].index(say) for agent, say in answers.items()})
                seen = step.observations
            goal, body = world.agents[0].goal_b, world.agents[1]
            left.append(float(np.linalg.norm(body.state.p_pos - goal.state.p_pos)))
    finally:
        environment.close()
    assert np.mean(left) < 0.15


def test_who_plays_with_whom_is_told() -> None:
    environment = envs.make("simple_tag_v3")
    try:
        assert (
            "You are adversary_0, with adversary_1, adversary_2, against agent_0."
            in environment.describer("adversary_0").game("adversary_0")
        )
    finally:
        environment.close()


def test_every_world_tells_every_agent_what_to_do() -> None:
    for spec in envs.list_specs("mpe2"):
        environment = envs.make(spec.id)
        try:
            seen = environment.adapter.reset(seed=1)
            for agent in environment.adapter.possible_agents:
                describer = environment.describer(agent)
                game = describer.game(agent)
                assert f"You are {agent}" in game and describer.limit(agent) == (25, "steps")
                assert re.search(r"costs|gain|lose|brings", game), game
                text = describer.text(agent, seen[agent]) if agent in seen else "-"
                assert text and "between" not in text
        finally:
            environment.close()
