"""ViZDoom as a family of environments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

pytest.importorskip("vizdoom")

from gym_gui import envs
from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.envs import document
from gym_gui.envs.environment_registry import family_of


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The engine leaves a folder where it is started."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_scenarios_are_listed_and_maps_found() -> None:
    specs = envs.list_specs("vizdoom")
    ids = {spec.id for spec in specs}
    assert {"VizdoomBasic-v1", "VizdoomDeathmatch-MultiBinary-v1"} <= ids and len(ids) < 40
    assert all(family_of(spec).summary(spec).endswith(".") for spec in specs)
    found = envs.resolve("VizdoomFreedoom2MAP07-S4-v0")
    assert found.family == "vizdoom" and family_of(found).title_of(found) == "Freedoom 2 MAP07, skill 4"


OTHERS = ("VizdoomBasic-v1", "VizdoomFreedoom1E1M1-S3-v0")


@pytest.mark.parametrize(
    "task",
    ["VizdoomDefendCenter-MultiBinary-v1", *(pytest.param(task, marks=pytest.mark.full) for task in OTHERS)],
)
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=20)
    assert report.ok, "\n".join(report.lines())
    assert report["rendering"].status is CheckStatus.PASSED


def test_time_that_is_up_is_a_cut_and_observations_last() -> None:
    environment = envs.make("VizdoomBasic-v1", env_kwargs={"frame_skip": 30})
    adapter = environment.adapter
    try:
        first = adapter.reset(seed=1)["agent_0"]["screen"]
        kept = first.copy()
        for _ in range(10):
            result = adapter.step({"agent_0": 0})
            if adapter.is_episode_done():
                break
        assert result.truncated["agent_0"] and not result.terminated["agent_0"]
        assert (first == kept).all() and kept.std() > 5
    finally:
        environment.close()


def test_nothing_is_left_where_one_stands(elsewhere: Path) -> None:
    environment = envs.make("VizdoomFreedoom1E1M1-S3-v0")
    environment.adapter.reset(seed=1)
    environment.close()
    environment.close()
    assert list(elsewhere.iterdir()) == []


def test_buttons_and_pairs_of_them_have_keys() -> None:
    one = envs.make("VizdoomMyWayHome-v1")
    two = envs.make("VizdoomBasic-v1", env_kwargs={"max_buttons_pressed": 2})
    try:
        words = one.action_meanings("agent_0")
        assert words[0] == "noop" and one.noop_action("agent_0") == 0
        by_word = {words[action]: key for key, action in one.keys("agent_0").bindings.items()}
        assert by_word == {
            "turn left": "Left",
            "turn right": "Right",
            "move forward": "Up",
            "move left": "J",
            "move right": "L",
        }
        assert one.keys("agent_0").realtime and one.keys("agent_0").idle == 0
        pairs = two.action_meanings("agent_0")
        assert two.keys("agent_0").bindings["Left+Space"] == pairs.index("move left + attack")
        assert two.keys("agent_0", 1).bindings["A+E"] == pairs.index("move left + attack")
    finally:
        one.close()
        two.close()


@pytest.mark.parametrize(("delta", "kind"), [(None, spaces.Dict), (10, spaces.Dict), (0, spaces.Discrete)])
def test_what_is_turned_by_numbers_can_be_bounded(delta: float | None, kind: type) -> None:
    environment = envs.make("VizdoomDeathmatch-v1", env_kwargs={} if delta is None else {"delta": delta})
    adapter = environment.adapter
    try:
        space = adapter.action_space("agent_0")
        assert isinstance(space, kind)
        if delta:
            assert space["continuous"].high.tolist() == [delta] * 3
        adapter.reset(seed=1)
        adapter.step({"agent_0": space.sample()})
        assert environment.keys("agent_0").playable == (delta == 0)
    finally:
        environment.close()


BASIC = "VizdoomBasic-v1"


@pytest.mark.parametrize(
    ("chosen", "kind", "count"),
    [
        ({"actions": "buttons"}, spaces.MultiBinary, 3),
        ({"actions": "numbered"}, spaces.Discrete, 4),
        ({"actions": "combinations"}, spaces.Discrete, 7),
        ({"actions": "combinations", "max_buttons_pressed": 3}, spaces.Discrete, 8),
    ],
)
def test_what_an_action_is_can_be_chosen(chosen: dict[str, object], kind: type, count: int) -> None:
    environment = envs.make(BASIC, env_kwargs=chosen)
    try:
        space = environment.adapter.action_space("agent_0")
        assert isinstance(space, kind) and space.n == count
        assert environment.keys("agent_0").playable
        environment.adapter.reset(seed=1)
        environment.adapter.step({"agent_0": space.sample()})
    finally:
        environment.close()


def test_a_scenario_can_be_given_numbers_to_turn_and_look_by() -> None:
    given = {"actions": "buttons", "deltas": ["turn_left_right", "look up down"], "delta": 20}
    environment = envs.make(BASIC, env_kwargs={**given, "available_game_variables": ["ANGLE", "PITCH"]})
    adapter = environment.adapter
    try:
        space = adapter.action_space("agent_0")
        assert environment.env.deltas == ("turn left right", "look up down")
        assert environment.env.buttons == ("move left", "move right", "attack")
        assert space["continuous"].high.tolist() == [20, 20]
        adapter.reset(seed=1)
        turn = {"binary": np.zeros(3, np.int8), "continuous": np.array([10, 6], np.float32)}
        seen = adapter.step({"agent_0": turn}).observations["agent_0"]["gamevariables"]
        assert seen == pytest.approx([350, -6], abs=0.1)  # to the right, and up
        told = environment.describer("agent_0").briefing("agent_0")
        assert "3. attack" in told and "1. turn left or right, in degrees" in told
    finally:
        environment.close()


def test_people_hold_several_buttons_and_turn_with_the_mouse() -> None:
    environment = envs.make(BASIC, env_kwargs={"actions": "buttons", "deltas": ["turn left right"]})
    try:
        keys, second = environment.keys("agent_0"), environment.keys("agent_0", 1)
        assert {axis.key: (axis.component, axis.value) for axis in keys.axes} == {
            "J": (0, 1.0),
            "L": (1, 1.0),
            "Space": (2, 1.0),
            "Left": (3, -5.0),
            "Right": (3, 5.0),
        }
        assert {axis.key: axis.component for axis in keys.pointer} == {"MouseLeft": 2, "MouseX": 3}
        assert second.playable and not second.pointer
    finally:
        environment.close()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"actions": "keys"}, "buttons, numbered, combinations"),
        ({"actions": "numbered", "max_buttons_pressed": 2}, "Leave one of the two out"),
        ({"deltas": ["turn round"]}, "turn left right"),
        ({"deltas": "turn left right"}, "a list"),
    ],
)
def test_an_action_space_that_there_is_not_says_which_there_are(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        envs.make(BASIC, env_kwargs=wrong)


def test_what_cannot_be_made_says_why() -> None:
    with pytest.raises(UsageError, match=r"doom\.wad"):
        envs.make("VizdoomDoomE1M1-S1-v0")
    with pytest.raises(UsageError, match="at least 0"):
        envs.make("VizdoomDeathmatch-v1", env_kwargs={"delta": -1})


def test_numbers_are_told_and_the_screen_is_shown() -> None:
    environment = envs.make(
        "VizdoomDeathmatch-v1",
        render_mode="rgb_array",
        env_kwargs={"delta": 0, "labels_buffer_enabled": True},
    )
    describer = environment.describer("agent_0")
    try:
        seen = environment.adapter.reset(seed=1)["agent_0"]
        assert describer.text("agent_0", seen).splitlines() == [
            *("kills: 0", "health: 100", "armor: 0", "selected weapon: 2", "ammunition of that weapon: 50")
        ]
        assert "health(100.0)" in map(str, describer.facts("agent_0", seen))
        own, whole = environment.seat_picture("agent_0", seen), environment.picture()
        assert own is not None and whole is not None
        assert (own == seen["screen"]).all() and whole.shape[1] == 2 * own.shape[1]
        assert describer.can_say("agent_0") and document(environment).title == "Doom, deathmatch"
    finally:
        environment.close()
    blind = envs.make("VizdoomMyWayHome-v1")
    try:
        assert not blind.describer("agent_0").can_say("agent_0")
        assert np.prod(blind.adapter.observation_space("agent_0")["screen"].shape) == 240 * 320 * 3
    finally:
        blind.close()


def _shared() -> set[Path]:
    return set(Path("/dev/shm").glob("ViZDoom*"))


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="shared memory is elsewhere")
def test_what_an_engine_left_that_was_killed_is_removed(elsewhere: Path) -> None:
    # In folders of its own: other tests play Doom at the same time.
    begun = (
        "import sys, json, os, signal, tempfile; from pathlib import Path; tempfile.tempdir = sys.argv[1]\n"
        "from gym_gui import envs\n"
        "game = envs.make('VizdoomBasic-v1'); game.adapter.reset(seed=1)\n"
        "(folder,) = [f for f in Path(sys.argv[1]).glob('mosaic-doom-*') if (f / 'arguments').exists()]\n"
        "words = (folder / 'arguments').read_text().splitlines()\n"
        "number = words[words.index('+viz_instance_id') + 1]\n"
        "print(number, flush=True)\n"
        "if sys.argv[2] == 'itself': os.kill(os.getpid(), signal.SIGKILL)\n"
        "if sys.argv[2] == 'engine': os.kill(int((folder / 'pid').read_text()), signal.SIGKILL)\n"
        "game.close()\n"
    )

    def left(killed: str) -> set[Path]:
        command = [sys.executable, "-c", begun, str(elsewhere), killed]
        number = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout
        return {file for file in _shared() if file.name.endswith(number.strip() or "?")}

    assert left("engine") == set()
    orphans = left("itself")
    assert left("nobody") == set() and not orphans & _shared()
    assert list(elsewhere.glob("mosaic-doom-*")) == []
