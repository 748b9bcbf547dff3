"""Workers that decide without a network of ours, as ``mosaic workers install`` makes them ready."""

from __future__ import annotations

import importlib
import os
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.apart import apart
from tests.support.commands import Mosaic
from tests.support.jason import JAR, why_not
from tests.support.processes import Offspring
from tests.support.tiny_clip import build_clip

PROGRAM = "!go.\n+!go : legal(A) <- act(A); !go.\n+!go <- forward; !go.\n"
"""It keeps to what is legal, as not every program does."""
MINIGRID = "MiniGrid-Empty-5x5-v0"


def _pip(name: str) -> list[str] | None:
    """What a worker asks for, where it has to be of the session's version."""
    if name != "mujoco_mpc_worker":
        return None
    return [f"mujoco=={metadata.version('mujoco')}", "numpy>=1.26", "scipy>=1.11"]


@pytest.mark.parametrize(
    ("name", "env", "settings", "needs"),
    [
        ("spade_bdi_worker", MINIGRID, {"program": "legal.asl"}, ["minigrid"]),
        pytest.param("control_worker", "CartPole-v1", {}, ["gymnasium"], marks=pytest.mark.full),
        ("openspiel_worker", "classic/tictactoe_v3", {"simulations": 20}, ["pettingzoo"]),
        pytest.param(
            *("mujoco_mpc_worker", "InvertedPendulum-v5", {"rollouts": 8, "horizon": 8}, ["mujoco"]),
            marks=pytest.mark.full,
        ),
        pytest.param(  # some gigabytes
            "clip_worker",
            MINIGRID,
            {"model": "clip"},
            ["minigrid", "torch", "transformers"],
            marks=pytest.mark.full,
        ),
    ],
)
def test_it_is_installed_and_keeps_the_contract(
    name: str, env: str, settings: dict[str, object], needs: list[str], tmp_path: Path, offspring: Offspring
) -> None:
    for package in needs:
        try:
            importlib.import_module(package)
        except ImportError:
            pytest.skip(f"{name} plays {env}, for which {package} is not installed here")
    mosaic = Mosaic(tmp_path, offspring)
    (tmp_path / "legal.asl").write_text(PROGRAM)
    if "model" in settings:
        build_clip(tmp_path / "clip")
    other = apart(name, tmp_path / "data" / "workers", _pip(name))
    assert mosaic("workers", "check", other).status == 2, "it plays without being installed"
    done = mosaic("workers", "install", other, "--json")
    assert done.status == 0, done.err
    assert done.json()["versions"]["numpy"]
    given = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    checked = mosaic("workers", "check", other, "--env", env, *given)
    assert checked.status == 0, checked.out


def test_jason_is_fetched_built_and_keeps_the_contract(tmp_path: Path, offspring: Offspring) -> None:
    if reason := why_not():
        pytest.skip(reason)
    mosaic = Mosaic(tmp_path, offspring)
    (tmp_path / "legal.asl").write_text(PROGRAM)
    assert mosaic("workers", "check", "jason_worker").status == 2, "it plays without being installed"
    done = mosaic("workers", "install", "jason_worker", "--from", os.environ[JAR], "--json")
    assert done.status == 0, done.err
    assert done.json()["versions"]["jason-interpreter.jar"]
    checked = mosaic("workers", "check", "jason_worker", "--env", MINIGRID, "--set", "program=legal.asl")
    assert checked.status == 0, checked.out
