"""bsuite: what is known without it, and its experiments, installed by our command (long)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.environment_registry import families
from tests.support.own_pythons import episode, episode_elsewhere, installed


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"bsuite is not installed.*mosaic envs install bsuite$"):
        envs.resolve("bsuite/catch/0")


@pytest.fixture(scope="module")
def bsuite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed("bsuite", tmp_path_factory.mktemp("bsuite")):
        yield


full = [pytest.mark.full, pytest.mark.timeout(900), pytest.mark.usefixtures("bsuite")]


class TestInstalled:
    pytestmark = full

    def test_one_setting_of_each_experiment_is_listed_and_the_others_are_found(self) -> None:
        family, specs = families()["bsuite"], envs.list_specs("bsuite")
        assert len(specs) == 20 and not [spec for spec in specs if "mnist" in spec.id]
        assert all(family.summary(spec).endswith(".") for spec in specs)
        assert envs.resolve("bsuite/deep_sea/20").id == "bsuite/deep_sea/20"
        assert family.title_of(envs.resolve("bsuite/cartpole_noise/3")).startswith(
            "Cartpole noise, setting 3"
        )

    def test_the_contract_is_kept_by_all(self) -> None:
        failed: list[str] = []
        for spec in envs.list_specs("bsuite"):
            report = envs.check(spec.id, steps=30)
            failed += [] if report.ok else [spec.id, *report.lines()]
        assert not failed, "\n".join(failed)

    @pytest.mark.parametrize("name", ["catch/0", "deep_sea_stochastic/0", "cartpole_noise/0", "bandit/3"])
    def test_a_seed_is_an_episode_in_every_process(self, name: str) -> None:
        told = episode(f"bsuite/{name}", 7)
        assert told == episode(f"bsuite/{name}", 7) == episode_elsewhere(f"bsuite/{name}", 7)

    def test_a_ball_is_caught(self) -> None:
        environment = envs.make("bsuite/catch/0")
        adapter = environment.adapter
        seen, total = adapter.reset(seed=3)["agent_0"], 0.0
        assert environment.action_meanings("agent_0") == ("left", "stay", "right")
        while adapter.get_current_agents():
            paddle, ball = int(seen[-1].argmax()), int(seen[:-1].argmax() % 5)
            result = adapter.step({"agent_0": 0 if ball < paddle else 2 if ball > paddle else 1})
            seen, total = result.observations["agent_0"], total + result.rewards["agent_0"]
        assert total == 1.0
        environment.close()
