"""A package brings environments with one module, which its entry point names."""

from __future__ import annotations

import json

from gym_gui.analysis import open_run
from tests.support.commands import Mosaic, experiment

MODULE = '''
from gym_gui.envs import Family
from gymnasium.spaces import Discrete


class Corridor:
    """Three steps to the east."""

    metadata = {"render_modes": []}
    observation_space, action_space, render_mode, spec = Discrete(4), Discrete(2), None, None

    @property
    def unwrapped(self):
        return self

    def reset(self, *, seed=None, options=None):
        self.at = 0
        return self.at, {}

    def step(self, action):
        self.at += int(action)
        return self.at, float(action), self.at == 3, False, {}

    def close(self):
        pass


class Corridors(Family):
    name, title, modules, prefixes, closed = "corridors", "Corridors", ("corridors",), ("Corridor-",), True

    def specs(self):
        return [self.spec("Corridor-Short-v0", "corridors:Corridor", max_episode_steps=9)]

    def build(self, spec, *, render_mode, env_kwargs):
        return Corridor()

    def action_meanings(self, environment, agent):
        return ("stay", "east")


FAMILY = Corridors()
'''


def test_a_package_brings_a_family(mosaic: Mosaic) -> None:
    site = mosaic.home / "site"
    info = site / "corridors-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: corridors\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mosaic.families]\ncorridors = corridors:FAMILY\n")
    (site / "corridors.py").write_text(MODULE)
    installed = {"PYTHONPATH": str(site)}

    listed = mosaic.process("envs", "list", "corridors", "--json", **installed)
    assert [spec["id"] for spec in json.loads(listed.out)] == ["Corridor-Short-v0"], listed.err

    turns = {"type": "baseline", "worker_id": "operators_worker", "settings": {"behavior": "cycle"}}
    slot = {"task": "Corridor-Short-v0", "workers": {"agent": turns}}
    played = mosaic.process("run", experiment(mosaic.home, slot), "--json", **installed)
    assert played.status == 0, played.err
    operator = open_run(mosaic.home / played.json()["run"]).operators["op_0"]
    assert [(each.length, each.returns["agent_0"]) for each in operator.episodes()] == [(6, 3.0)] * 2
