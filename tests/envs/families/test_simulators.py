"""Simulators without an engine or an interpreter of theirs: coordinates, settings, spaces, keys, refusals."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.interpreters import note_complete
from gym_gui.envs.families.airsim import AirSimFamily
from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.families.smac import SmacFamily
from gym_gui.envs.families.unreal import UnrealFamily
from mosaic_env_server.shims import ned, simulators
from mosaic_env_server.shims.airsim import Car, Drone
from mosaic_env_server.shims.simulators import SimulatorError
from mosaic_env_server.shims.smac import Battle
from mosaic_env_server.shims.unreal import MOVES, Map, centimetres, metres
from mosaic_worker.gymnasium_spaces import build
from tests.support.png import png

FAMILIES = (AirSimFamily(), UnrealFamily())
SMAC = SmacFamily()
_LENGTHS = st.floats(-1e4, 1e4)
_POINTS = st.tuples(_LENGTHS, _LENGTHS, _LENGTHS)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))


# -- coordinates -------------------------------------------------------------------------


@given(_POINTS, st.sampled_from(ned.FRAMES))
def test_points_and_velocities_come_back(point: tuple[float, float, float], frame: str) -> None:
    assert np.allclose(ned.point(ned.point(point, frame), frame), point)
    assert np.allclose(ned.along(ned.along(point, frame), frame), point)
    assert np.allclose(metres(centimetres(point)), point)
    assert np.linalg.norm(ned.point(point, frame)) == pytest.approx(np.linalg.norm(point))


def test_east_north_and_up_are_where_they_should_be() -> None:
    assert ned.point([1, 0, 0], "enu").tolist() == [0, 1, 0]
    assert ned.point([0, 0, -3], "enu").tolist() == [0, 0, 3]
    assert ned.along([0, 1, 1], "enu").tolist() == [0, -1, -1]
    assert metres([100, 200, 300]).tolist() == [1, -2, 3]


@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1), _POINTS)
def test_an_orientation_turns_the_same_in_both_frames(quaternion: Any, vector: Any) -> None:
    """A direction along the vehicle is the same direction of the world, whichever way it is calculated."""
    turned = tuple(np.array(quaternion) / math.hypot(*quaternion))
    other = ned.orientation(turned, "enu")
    assert other[0] >= 0
    assert np.linalg.norm(other) == pytest.approx(1.0)
    by_ned = ned.point(_rotate(turned, vector), "enu")
    by_enu = _rotate(other, ned.along(vector, "enu"))
    assert np.allclose(by_ned, by_enu, atol=1e-6 * (1 + np.linalg.norm(vector)))
    back = ned.orientation(other, "enu")
    assert abs(float(np.dot(back, turned))) == pytest.approx(1.0)


def _rotate(quaternion: Any, vector: Any) -> Any:
    w, x, y, z = quaternion
    turned = ned.product(ned.product(quaternion, (0.0, *vector)), (w, -x, -y, -z))
    return np.array(turned[1:])


def test_a_heading_is_clockwise_from_north() -> None:
    quarter = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    assert ned.heading(quarter) == pytest.approx(90)
    assert ned.bearing([0, 0, 0], [0, 5, -1]) == pytest.approx(90)
    assert ned.bearing([0, 0, 0], [-1, -1, 0]) == pytest.approx(225)
    # Facing north is facing along y where x is east: a quarter turn to the left of x.
    assert np.allclose(ned.orientation((1, 0, 0, 0), "enu"), quarter)
    assert simulators.between(270) == -90
    assert simulators.sideways(-90) == "90 degrees to the left of where you face"
    assert simulators.sideways(0.4) == "straight ahead"


# -- pictures and settings ---------------------------------------------------------------


def test_pictures_are_decoded_and_their_size_is_held_against_what_was_asked() -> None:
    picture = simulators.decoded(png(2, 3, (1, 2, 3)), "it", (2, 3), "Mend it")
    assert picture.shape == (2, 3, 3)
    assert picture[1, 2].tolist() == [1, 2, 3]
    with pytest.raises(
        SimulatorError, match=r"it sends pictures of 2 x 3 .* 4 x 4\. Mend it, or make it with"
    ):
        simulators.decoded(png(2, 3, (1, 2, 3)), "it", (4, 4), "Mend it")
    with pytest.raises(SimulatorError, match="cannot be read"):
        simulators.decoded(png(2, 3, (1, 2, 3))[:40], "it", None, "")
    for nothing in (b"\0", "", None, b"GIF89a"):
        with pytest.raises(SimulatorError, match="it sent no picture"):
            simulators.decoded(nothing, "it", None, "")


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        (Drone, {"frame": "xyz"}, "frame is ned or enu"),
        (Drone, {"axes": "both"}, "axes is world or body"),
        (Drone, {"goal": [1, 2]}, "goal is three numbers"),
        (Drone, {"goal": ["a", 2, 3]}, "goal is three numbers"),
        (Car, {"step_s": 0}, "step_s is a number above 0"),
        (Car, {"timeout_s": "soon"}, "timeout_s is a number above 0"),
        (Car, {"image": [0, 3]}, "image is a height and a width"),
        (Map, {"image": None}, "image is a height and a width"),
        (Map, {"start": [1, 2, 3]}, "start is x, y, z and a yaw"),
        (Map, {"radius": -1}, "radius is a number above 0"),
    ],
)
def test_settings_that_are_none_are_refused(kind: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kind(**settings)


def test_spaces_follow_from_the_settings_and_need_no_engine() -> None:
    drone = build(Drone(goal=(1, 2, 3), image=(4, 5)).observation_space)
    assert list(drone.spaces) == ["goal", "image", "orientation", "position", "velocity"]
    assert drone["image"].shape == (4, 5, 3)
    assert list(build(Car().observation_space).spaces) == ["orientation", "position", "velocity"]
    assert build(Car().action_space).shape == (2,)
    walker = build(Map(image=(4, 5), depth=True, mask=True, goal="Lamp").observation_space)
    assert list(walker.spaces) == ["depth", "goal", "heading", "image", "mask", "position"]
    assert walker["depth"].shape == (4, 5)
    for env in (Drone(), Car(), Map()):
        with pytest.raises(SimulatorError, match="it has no episode: call reset first"):
            env.step(0)
        env.close()


# -- the families ------------------------------------------------------------------------


@pytest.mark.parametrize("family", (*FAMILIES, SMAC), ids=lambda family: family.name)
def test_without_its_interpreter_it_says_the_line_that_installs_it(family: SimulatorFamily) -> None:
    with pytest.raises(MissingDependencyError, match=f"mosaic envs install {family.name}"):
        family.specs()


def _specs(family: SimulatorFamily) -> Any:
    python = family.interpreter
    python.parent.mkdir(parents=True)
    python.touch()
    note_complete(family.name, {})
    return family.specs()


def test_ids_and_what_they_are() -> None:
    airsim, unreal = FAMILIES
    assert [spec.id for spec in _specs(airsim)] == ["airsim/Drone-v0", "airsim/Car-v0"]
    (spec,) = _specs(unreal)
    assert spec.id == "unreal/Map-v0"
    assert unreal.lookup(["airsim/Drone-v0"]) is None
    assert [airsim.title_of(spec) for spec in airsim.specs()] == ["AirSim: drone", "AirSim: car"]


def test_battles_are_known_without_starcraft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SC2PATH", "/opt/sc2")
    specs = {spec.id: spec for spec in _specs(SMAC)}
    assert len(specs) == 23
    zealots = specs["smac/2s3z"]
    assert SMAC.summary(zealots) == "5 units fight 5 of the built-in player's in StarCraft II."
    asked = SMAC.wanted(zealots, {"difficulty": 3})
    facts = {key: asked.arguments[key] for key in ("map_name", "agents", "race", "sc2_path", "difficulty")}
    assert facts == {
        "map_name": "2s3z",
        "agents": 5,
        "race": "Protoss",
        "sc2_path": "/opt/sc2",
        "difficulty": 3,
    }
    assert asked.begin_s >= 120
    assert SMAC.world(zealots, {}) == "", "each environment starts one of its own"
    assert SMAC.world(zealots, {"port": 5000}) == "smac 127.0.0.1:5000"
    fight = Battle("5m_vs_6m", 5, 6, 70, "Terran", "Terran")
    assert fight.action_space("unit_0").n == 12
    assert fight.metadata["action_meanings"][:7] == [
        *("noop", "stop", "move north", "move south", "move east", "move west", "target 0"),
    ]
    with pytest.raises(SimulatorError, match="it has no episode: call reset first"):
        fight.step({})
    with pytest.raises(ValueError, match="difficulty is 1 to 10"):
        Battle("3m", 3, 3, 60, "Terran", "Terran", difficulty=11)


def test_a_server_has_the_time_in_which_it_says_what_does_not_answer() -> None:
    airsim = FAMILIES[0]
    spec = _specs(airsim)[0]
    assert airsim.wanted(spec, {}).step_s == 60
    assert airsim.wanted(spec, {"timeout_s": 60, "step_s": 2}).step_s == 8 * 62
    assert airsim.wanted(spec, {"timeout_s": "soon"}).step_s == 60


def test_an_engine_is_one_world() -> None:
    airsim, unreal = FAMILIES
    drone, car = _specs(airsim)
    assert airsim.world(drone, {}) == airsim.world(car, {"vehicle": "Car1"}) == "airsim 127.0.0.1:41451"
    assert airsim.world(drone, {"port": 41452}) != airsim.world(drone, {})
    assert unreal.world(_specs(unreal)[0], {"host": "box"}) == "unreal box:9000"


@pytest.mark.parametrize("frame", ned.FRAMES)
@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("player", [0, 1])
def test_a_person_flies_the_same_way_in_each_frame(frame: str, axes: str, player: int) -> None:
    airsim = FAMILIES[0]
    drone = Drone(frame=frame, axes=axes)
    environment: Any = SimpleNamespace(env=drone, spec=_specs(airsim)[0])
    scheme = airsim.keys(environment, "agent", player)
    assert scheme.realtime
    convert = ned.point if axes == "world" else ned.along
    ways = {
        axis.word: convert([axis.value * (axis.component == i) for i in range(3)], frame).tolist()
        for axis in scheme.axes
        if axis.component < 3
    }
    ahead, right = ("north", "east") if axes == "world" else ("forward", "right")
    assert ways[ahead] == [1, 0, 0]
    assert ways[right] == [0, 1, 0]
    assert ways["up"] == [0, 0, -1]
    turn = next(axis for axis in scheme.axes if axis.word == "turn right")
    assert turn.value == (1 if frame == "ned" else -1)
    assert len({axis.key for axis in scheme.axes}) == 8


@pytest.mark.parametrize("player", [0, 1])
def test_a_person_walks_with_arrows_and_two_letters(player: int) -> None:
    unreal = FAMILIES[1]
    environment: Any = SimpleNamespace(env=Map(), action_meanings=lambda agent: MOVES)
    keys = unreal.keys(environment, "agent", player).bindings
    assert set(keys.values()) == set(range(len(MOVES) - 1))
    if player == 0:
        assert keys["Up"] == MOVES.index("forward")
        assert keys["Left"] == MOVES.index("turn left")
        assert keys["N"] == MOVES.index("left")
