"""Tries every family of environments that is installed here, and keeps the results for the pages.

    python scripts/pages/environments.py [FAMILY ...] [--out docs/families]

Of each family: three environments are checked (``mosaic envs check``), one is drawn, and played at random and
by the tiny real language model of the tests, which gets its description: ``mosaic run`` records each run and
``mosaic verify`` plays it again. ``checked.json`` keeps the results and the facts of the first environment,
``index.md`` sums up. Families that are not named, or not installed, keep theirs. ``family_pages.py`` beside
this script writes the pages when the documentation is built.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from family_pages import check_words, has_no_words  # beside this file

from gym_gui import envs
from gym_gui.core.errors import MosaicError
from gym_gui.envs.environment_page import EnvironmentPage
from gym_gui.envs.environment_registry import families
from gym_gui.envs.family import Family
from gym_gui.services.versions import versions_of

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "families"
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
_PAGE = "# {title}\n\n```{{include}} ../_written/families/{name}.md\n```\n"
"""A new family's page, to which people add what is good to know."""
_WIDTH, _KEYS = 480, 40
_OURS = frozenset({"python", "mosaic", "numpy", "gymnasium", "pettingzoo", "protobuf"})
_RANDOM = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}


def main() -> int:
    """Try the families, keep the results; exit status 1 where a check failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="all that are installed by default")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--facts", action="store_true", help="read facts and first texts anew, and try nothing"
    )
    args = parser.parse_args()
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "checked.json"
    rows: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    with ExitStack() as stack:
        model = None if args.facts else _model_server(stack)
        for family in families().values():
            if (args.families and family.name not in args.families) or not family.installed:
                continue
            ids = _chosen(family)
            if ids and model is not None:
                print(f"{family.name}: {', '.join(ids)}", file=sys.stderr)
                try:
                    rows[family.name] = _tried(family, ids, args.out, model)
                except MosaicError as error:  # a simulator whose engine is not here
                    print(f"{family.name} keeps its results: {error}", file=sys.stderr)
                    continue
                kept.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")
            elif ids and family.name in rows:
                rows[family.name] |= _shown(ids[0])
            page = args.out / f"{family.name}.md"
            if family.name in rows and not page.exists():
                page.write_text(_PAGE.format(title=family.title, name=family.name), "utf-8")
    kept.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")
    (args.out / "index.md").write_text(_index(rows), "utf-8")
    failed = [name for name, row in rows.items() if not all(found["ok"] for found in row["checks"])]
    print(f"{args.out}: {len(rows)} families, a check fails in {', '.join(failed) or 'none'}")
    return int(bool(failed))


def _model_server(stack: ExitStack) -> Mapping[str, str]:
    """Settings of a slot that the tiny real model plays."""
    sys.path.insert(0, str(ROOT))
    from tests.support.model_server import ModelServer

    server = stack.enter_context(ModelServer())
    return {"client_name": "transformers", "base_url": server.url, "model_id": server.model}


def _chosen(family: Family) -> Sequence[str]:
    if family.name in _THREE:
        return _THREE[family.name]
    try:
        ids = [spec.id for spec in family.specs()]
    except MosaicError:
        return ()
    places = dict.fromkeys((0, len(ids) // 2, len(ids) - 1))
    return [ids[place] for place in places if 0 <= place < len(ids)]


# -- trying ---------------------------------------------------------------------------


def _tried(family: Family, ids: Sequence[str], out: Path, model: Mapping[str, str]) -> dict[str, Any]:
    reader = {"worker_id": "mosaic_llm_worker", "worker_type": "llm", "settings": dict(model)}
    return {
        "title": family.title,
        "checks": [_checked(env_id) for env_id in ids],
        "random": _played(ids[0], _RANDOM, episodes=2, max_steps=200),
        "described": _played(ids[0], {**reader, "on_invalid": "random_legal"}, episodes=1, max_steps=12),
        "versions": _versions(ids[0]),
        "picture": _drawn(ids[0], out / "pictures" / f"{family.name}.png"),
        **_shown(ids[0]),
        "when": datetime.now(UTC).date().isoformat(),
    }


def _checked(env_id: str) -> dict[str, Any]:
    done = _mosaic("envs", "check", env_id, "--json", within_s=_CHECK_S)
    try:
        report = json.loads(done.stdout)
        failed = [f"{f['name']}: {f['detail']}" for f in report["findings"] if f["status"] == "failed"]
        return {"id": env_id, "ok": not failed, "failed": failed}
    except (ValueError, KeyError, TypeError):
        return {"id": env_id, "ok": False, "failed": [_last(done)]}


def _played(env_id: str, player: Mapping[str, Any], *, episodes: int, max_steps: int) -> str:
    """What became of a run in which all slots are a player's: ``verified``, or what kept it from that."""
    environment = envs.make(env_id)
    agents = environment.adapter.possible_agents
    environment.close()
    experiment = {
        "operators": [{"id": "it", "task": env_id, "workers": dict.fromkeys(agents, player)}],
        "execution": {"num_episodes": episodes, "seeds": 0, "max_steps": max_steps},
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "experiment.json"
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
    """Draw it after ten steps, or before its end; in its own process, since what draws may crash."""
    code = (
        "import sys; from gym_gui import envs; from PIL import Image; import numpy as np\n"
        "from gym_gui.core.spaces import sample_legal, to_space\n"
        "mode = next((m for m in ('rgb_array', 'ansi') if m in envs.render_modes(sys.argv[1])), None)\n"
        "e = envs.make(sys.argv[1], render_mode=mode); a = e.adapter; a.reset(seed=1)\n"
        "rng, text = np.random.default_rng(1), e.ansi() if mode == 'ansi' else ''\n"
        "for _ in range(10):\n"
        "    drawn, board, now = e.picture(), e.board(), a.get_current_agents()\n"
        "    if not now: break\n"
        "    draw = lambda: int(rng.integers(1 << 62))\n"
        "    a.step({g: sample_legal(to_space(a.action_space(g)), a.action_mask(g), draw()) for g in now})\n"
        "    if a.is_episode_done(): break\n"
        "if drawn is None:\n"
        "    from PyQt6.QtWidgets import QApplication; app = QApplication([])\n"
        "    from gym_gui.ui.renderers import BoardView, TextView; from gym_gui.ui.theme import Theme\n"
        "    view = (TextView if board is None else BoardView)(Theme('light'), backdrop='stage')\n"
        "    view.resize(480, 480 if board is not None else 420)\n"
        "    if board is not None: view.show_board(board)\n"
        "    elif text: view.show_text(text)\n"
        "    else: sys.exit(1)\n"
        "    view.grab().save(sys.argv[2]); drawn = np.asarray(Image.open(sys.argv[2]).convert('RGB'))\n"
        "picture = Image.fromarray(drawn); width = int(sys.argv[3])\n"
        "picture = picture.resize((width, max(1, round(picture.height * width / picture.width))))\n"
        "picture.quantize(64).save(sys.argv[2], optimize=True)\n"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code, env_id, str(file), str(_WIDTH)]
    try:
        offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        done = subprocess.run(command, capture_output=True, check=False, timeout=_RUN_S, env=offscreen)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _shown(env_id: str) -> dict[str, Any]:
    """What the page of a family shows of one environment."""
    page = envs.document(env_id)
    facts = {"name": page.title, "summary": page.summary.rstrip("."), "facts": _facts(page)}
    return {**facts, "example": _example(env_id)}


def _example(env_id: str) -> str:
    """What its first agent is told in words as an episode begins; empty where nothing can be said."""
    environment = envs.make(env_id)
    try:
        adapter = environment.adapter
        observations = adapter.reset(seed=1)
        agent = adapter.get_current_agents()[0]
        describer = environment.describer(agent)
        return describer.text(agent, observations[agent]) if describer.can_say(agent) else ""
    finally:
        environment.close()


def _mosaic(*arguments: str | Path, within_s: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gym_gui", *map(str, arguments)]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=within_s)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took longer than {within_s:g} s")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1] if said else f"exit status {done.returncode}"


# -- writing --------------------------------------------------------------------------


def _facts(page: EnvironmentPage) -> dict[str, str]:
    """Who plays, what they see and do, which keys a person has; nothing where it cannot be made."""
    if page.trouble:
        return {}
    first = page.agents[0]
    facts = {
        "agents": f"{len(page.agents)}: "
        + "; ".join(f"{team}: {', '.join(agents)}" for team, agents in page.teams.items()),
        "turns": page.paradigm.name.lower().replace("_", " "),
        "observes": page.sees[first],
        "does": page.does[first],
    }
    if page.max_steps:
        facts["steps at most"] = str(page.max_steps)
    words = dict(page.actions[first])
    scheme = page.keys[first][0]
    pressed = [f"`{key}` {words.get(action, action)}" for key, action in scheme.bindings.items()]
    pressed += [f"`{axis.key}` {axis.word}" for axis in scheme.axes]
    pressed += ["the board, with the mouse"] if scheme.mouse else []
    pressed += ["a number, typed"] if scheme.typed else []
    if pressed:
        facts["keys"] = ", ".join(pressed[:_KEYS])
    return facts


# -- writing --------------------------------------------------------------------------


def _index(rows: Mapping[str, Any]) -> str:
    lines = [
        "# Families of environments",
        "",
        "Each family has a page. The table sums up its checks: three environments held against the",
        "[contract](../environments/your_own.md#the-contract), then two random episodes, and twelve steps",
        "of a tiny language model that reads the description. `mosaic run` records these episodes and",
        "`mosaic verify` plays them again. A cross is a true finding about the environment.",
        "",
        "`scripts/pages/environments.py` runs the checks and writes this page; the build of the",
        "documentation writes a part of the other pages.",
        "",
        "| family | | checked | at random | described |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, row in sorted(rows.items()):
        picture = f"![{row['title']}](pictures/{name}.png)" if row["picture"] else ""
        checks = "<br>".join(check_words(found, brief=True) for found in row["checks"])
        played = f"{_mark(row['random'])} | {_mark(row['described'])}"
        lines.append(f"| [{row['title']}]({name}.md) | {picture} | {checks} | {played} |")
    lines += ["", "```{toctree}", ":hidden:", ":glob:", "", "*", "```"]
    return "\n".join(lines) + "\n"


def _mark(came: str) -> str:
    return "no words" if has_no_words(came) else "✓" if came == "verified" else "✗"


if __name__ == "__main__":
    sys.exit(main())
