"""Tries every family of environments that is installed here, and writes down what came of it.

    python scripts/environments.py [FAMILY ...] [--out docs/checked_environments.md]

Of each family: three environments are checked (``mosaic envs check``), one is drawn, and one is played at
random by ``mosaic run``, recorded, and played again by ``mosaic verify``. What is kept stands in a JSON file
beside the page, so that families can be tried one at a time; those that are not named keep their rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from gym_gui import envs
from gym_gui.core.errors import MosaicError
from gym_gui.envs.family import Family
from gym_gui.envs.registry import families
from gym_gui.services.versions import versions_of

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "checked_environments.md"
_THREE: Mapping[str, tuple[str, ...]] = {
    "gymnasium": ("CartPole-v1", "Taxi-v4", "Pendulum-v1"),
    "box2d": ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"),
    "mujoco": ("HalfCheetah-v5", "InvertedPendulum-v5", "Humanoid-v5"),
    "pettingzoo": ("classic/chess_v6", "classic/connect_four_v3", "butterfly/pistonball_v6"),
    "mpe2": ("mpe2/simple_spread_v3", "mpe2/simple_tag_v3", "mpe2/simple_speaker_listener_v4"),
    "minigrid": ("MiniGrid-DoorKey-8x8-v0", "BabyAI-GoToRedBall-v0", "MiniGrid-LavaGapS7-v0"),
    "openspiel": ("open_spiel/tic_tac_toe", "open_spiel/kuhn_poker", "open_spiel/goofspiel"),
    "atari": ("ALE/Pong-v5", "ALE/Breakout-v5", "ALE/SpaceInvaders-v5"),
    "minihack": ("NetHackScore-v0", "MiniHack-Room-5x5-v0", "MiniHack-River-v0"),
    "envpool": ("envpool/Pong-v5", "envpool/CartPole-v1", "envpool/MiniGrid-Empty-8x8-v0"),
    "procgen": ("procgen/coinrun", "procgen/bigfish", "procgen/maze"),
    "overcooked": ("overcooked/cramped_room", "overcooked/coordination_ring", "overcooked/simple_tomato"),
}
"""Environments that stand for their family; of others the first, the middle and the last of its list."""
_CHECK_S, _RUN_S = 900, 300
_WIDTH = 240
_OURS = frozenset({"python", "mosaic", "numpy", "gymnasium", "pettingzoo", "protobuf"})


def main() -> int:
    """Try the families, write the page; exit status 1 where a check failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="all that are installed by default")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    kept = args.out.with_suffix(".json")
    rows: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    failed = False
    for family in families().values():
        if (args.families and family.name not in args.families) or not family.installed:
            continue
        ids = _chosen(family)
        if not ids:
            continue
        print(f"{family.name}: {', '.join(ids)}", file=sys.stderr)
        rows[family.name] = row = _tried(family, ids, args.out.parent / "images" / "environments")
        failed = failed or any(not found["ok"] for found in row["checks"])
    kept.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")
    args.out.write_text(_page(rows), "utf-8")
    Console().print(f"{args.out}: {len(rows)} families")
    return int(failed)


def _chosen(family: Family) -> Sequence[str]:
    if family.name in _THREE:
        return _THREE[family.name]
    try:
        ids = [spec.id for spec in family.specs()]
    except MosaicError:
        return ()
    places = dict.fromkeys((0, len(ids) // 2, len(ids) - 1))
    return [ids[place] for place in places if 0 <= place < len(ids)]


def _tried(family: Family, ids: Sequence[str], pictures: Path) -> dict[str, Any]:
    checks = [_checked(env_id) for env_id in ids]
    return {
        "title": family.title,
        "checks": checks,
        "played": _played(ids[0]),
        "versions": _versions(ids[0]),
        "picture": _drawn(ids[0], pictures / f"{family.name}.png"),
        "when": datetime.now(UTC).date().isoformat(),
    }


def _checked(env_id: str) -> dict[str, Any]:
    done = _mosaic("envs", "check", env_id, "--json", within_s=_CHECK_S)
    try:
        report = json.loads(done.stdout)
        failed = [f"{f['name']}: {f['detail']}" for f in report["findings"] if f["status"] == "failed"]
        return {"id": env_id, "ok": not failed, "failed": failed}
    except (ValueError, KeyError, TypeError):
        said = (done.stderr or done.stdout).strip().splitlines()
        return {"id": env_id, "ok": False, "failed": said[-1:] or [f"exit status {done.returncode}"]}


def _played(env_id: str) -> str:
    """What became of two random episodes, recorded and verified."""
    environment = envs.make(env_id)
    agents = environment.adapter.possible_agents
    environment.close()
    random = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}
    experiment = {
        "operators": [{"id": "random", "task": env_id, "workers": dict.fromkeys(agents, random)}],
        "execution": {"num_episodes": 2, "seeds": 0, "max_steps": 200},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "random.json"
        file.write_text(json.dumps(experiment))
        run = _mosaic("run", file, "--out", f"{folder}/runs", within_s=_RUN_S)
        if run.returncode:
            return f"run: {_last(run)}"
        (made,) = (Path(folder) / "runs").iterdir()
        verified = _mosaic("verify", made, within_s=_RUN_S)
        return "verified" if verified.returncode == 0 else f"verify: {_last(verified)}"


def _versions(env_id: str) -> dict[str, str]:
    class Resolved:
        env_package = envs.resolve(env_id).package

    return {name: version for name, version in versions_of(Resolved()).items() if name not in _OURS}


def _drawn(env_id: str, file: Path) -> bool:
    """Draw it after ten steps, in a process of its own: what draws may bring libraries that crash."""
    code = (
        "import sys; from gym_gui import envs; from PIL import Image; import numpy as np\n"
        "from gym_gui.core.spaces import sample_legal, to_space\n"
        "e = envs.make(sys.argv[1], render_mode='rgb_array'); a = e.adapter; a.reset(seed=1)\n"
        "rng = np.random.default_rng(1)\n"
        "for _ in range(10):\n"
        "    now = a.get_current_agents()\n"
        "    if not now: break\n"
        "    draw = lambda: int(rng.integers(1 << 62))\n"
        "    a.step({g: sample_legal(to_space(a.action_space(g)), a.action_mask(g), draw()) for g in now})\n"
        "picture = Image.fromarray(e.picture()); width = int(sys.argv[3])\n"
        "picture = picture.resize((width, max(1, round(picture.height * width / picture.width))))\n"
        "picture.quantize(64).save(sys.argv[2], optimize=True)\n"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code, env_id, str(file), str(_WIDTH)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_RUN_S)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _mosaic(*arguments: str | Path, within_s: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gym_gui", *map(str, arguments)]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=within_s)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took longer than {within_s:g} s")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1] if said else f"exit status {done.returncode}"


def _page(rows: Mapping[str, Any]) -> str:
    lines = [
        "# Checked environments",
        "",
        "What `scripts/environments.py` found: of each family three environments held against the",
        "[contract](environments.md), and two random episodes of the first recorded by `mosaic run`,",
        "played again by `mosaic verify`. A cross is a true finding about the environment, with what it is.",
        "",
        "| family | | checked | played at random | versions |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, row in sorted(rows.items()):
        picture = f"![{row['title']}](images/environments/{name}.png)" if row["picture"] else ""
        checks = "<br>".join(_check_words(found) for found in row["checks"])
        versions = "<br>".join(f"{package} {version}" for package, version in row["versions"].items())
        lines.append(f"| **{row['title']}** `{name}` | {picture} | {checks} | {row['played']} | {versions} |")
    return "\n".join(lines) + "\n"


def _check_words(found: Mapping[str, Any]) -> str:
    mark = "✓" if found["ok"] else "✗"
    why = "".join(f" ({_plain(text)})" for text in found["failed"])
    return f"{mark} `{found['id']}`{why}"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


if __name__ == "__main__":
    sys.exit(main())
