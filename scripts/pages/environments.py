"""Tries every family of environments that is installed here, and writes a page about each.

    python scripts/pages/environments.py [FAMILY ...] [--out docs/families]

Of each family: three environments are checked (``mosaic envs check``), one is drawn, and played at random and
by the tiny real language model of the tests, which gets its description: ``mosaic run`` records each run and
``mosaic verify`` plays it again. The family's page gets the results, the environments and how they are
played, above the text that was written there by hand; ``index.md`` sums up. ``checked.json`` beside the pages
keeps the results, so that families can be tried one at a time; those that are not named, or not installed,
keep their pages.
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

from gym_gui import envs
from gym_gui.core.errors import MosaicError
from gym_gui.envs.describers.information_losses import losses_of
from gym_gui.envs.environment_page import EnvironmentPage
from gym_gui.envs.environment_registry import families
from gym_gui.envs.family import Family
from gym_gui.services.versions import versions_of

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs" / "families"
KNOWN = "## Good to know"
"""Where on a page begins what is written by hand, to its end."""
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
_WIDTH, _LISTED, _TOLD = 480, 40, 1200
_WITHOUT_WORDS = "needs text"
_OURS = frozenset({"python", "mosaic", "numpy", "gymnasium", "pettingzoo", "protobuf"})
_RANDOM = {"worker_id": "operators_worker", "worker_type": "baseline", "settings": {"behavior": "random"}}


def main() -> int:
    """Try the families, write their pages; exit status 1 where a check failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="all that are installed by default")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--pages", action="store_true", help="write the pages and what is told anew, and try nothing"
    )
    args = parser.parse_args()
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    args.out.mkdir(parents=True, exist_ok=True)
    kept = args.out / "checked.json"
    rows: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    with ExitStack() as stack:
        model = None if args.pages else _model_server(stack)
        for family in families().values():
            if (args.families and family.name not in args.families) or not family.installed:
                continue
            ids = _chosen(family)
            if ids and model is not None:
                print(f"{family.name}: {', '.join(ids)}", file=sys.stderr)
                try:
                    rows[family.name] = _tried(family, ids, args.out, model)
                except MosaicError as error:  # a simulator whose engine is not here
                    print(f"{family.name} keeps its page: {error}", file=sys.stderr)
                    continue
                kept.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")
            if family.name in rows:
                if model is None and ids:
                    rows[family.name]["example"] = _example(ids[0])
                _write_page(args.out / f"{family.name}.md", family, rows[family.name])
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
        "example": _example(ids[0]),
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


def _write_page(file: Path, family: Family, row: Mapping[str, Any]) -> None:
    before = file.read_text("utf-8") if file.is_file() else ""
    known = before[before.index(KNOWN) :].rstrip() if KNOWN in before else ""
    file.write_text("\n".join([*_page(family, row), known]).rstrip() + "\n", "utf-8")


def _page(family: Family, row: Mapping[str, Any]) -> list[str]:
    """The lines of a family's page, without what is written by hand."""
    shown = envs.document(row["checks"][0]["id"])
    title = _plain(shown.title)
    lines = [f"# {row['title']}", ""]
    if row["picture"]:
        lines += [f"![{title}](pictures/{family.name}.png)", ""]
    if family.install:
        lines += ["```bash", family.install, "```", ""]
    lines += [
        f"## {title}",
        "",
        f"`{shown.id}`: {_plain(shown.summary).rstrip('.')}.",
        "",
        *_facts(shown),
        "",
    ]
    if row["example"]:
        told = row["example"] if len(row["example"]) <= _TOLD else f"{row['example'][:_TOLD].rstrip()} …"
        lines += ["The first text of an episode, for agents that read:", "", "```text", told, "```", ""]
    if losses := list(losses_of(family.name)):
        lines += ["What words leave out of what a seat observes:", ""]
        lines += [*(f"- `{loss.environments}`: {loss.sentence}" for loss in losses), ""]
    versions = ", ".join(f"{package} {version}" for package, version in row["versions"].items())
    lines += ["## Environments", "", *_listed(family), ""]
    lines += ["## Checked", "", f"On {row['when']}{f', with {versions}' if versions else ''}:", ""]
    lines += [f"- {_check_words(found)}" for found in row["checks"]]
    lines += [f"- two episodes at random: {_plain(row['random'])}"]
    described = "it has no words" if _WITHOUT_WORDS in row["described"] else _plain(row["described"])
    lines += [f"- twelve steps by a tiny language model: {described}", ""]
    return lines


def _listed(family: Family) -> list[str]:
    """What there is: with what each is about, where that tells them apart."""
    specs = family.specs()
    about = {spec.id: _plain(family.summary(spec) or family.title_of(spec)) for spec in specs}
    if len(specs) <= _LISTED and len(set(about.values())) == len(specs):
        return ["| id | |", "| --- | --- |", *(f"| `{env_id}` | {text} |" for env_id, text in about.items())]
    ids = ", ".join(f"`{env_id}`" for env_id in list(about)[:_LISTED])
    more = f", and {len(specs) - _LISTED} more" if len(specs) > _LISTED else ""
    return [f"{ids}{more}: `mosaic envs list {family.name}`."]


def _facts(page: EnvironmentPage) -> list[str]:
    """Who plays, what they see and do, which keys a person has."""
    if page.trouble:
        return [_plain(page.trouble)]
    first = page.agents[0]
    teams = "; ".join(f"{team}: {', '.join(agents)}" for team, agents in page.teams.items())
    lines = [
        "| | |",
        "| --- | --- |",
        f"| agents | {len(page.agents)}: {_plain(teams)} |",
        f"| turns | {page.paradigm.name.lower().replace('_', ' ')} |",
        f"| observes | {_plain(page.sees[first])} |",
        f"| does | {_plain(page.does[first])} |",
    ]
    if page.max_steps:
        lines.append(f"| steps at most | {page.max_steps} |")
    words = dict(page.actions[first])
    scheme = page.keys[first][0]
    pressed = [f"`{key}` {words.get(action, action)}" for key, action in scheme.bindings.items()]
    pressed += [f"`{axis.key}` {axis.word}" for axis in scheme.axes]
    pressed += ["the board, with the mouse"] if scheme.mouse else []
    pressed += ["a number, typed"] if scheme.typed else []
    if pressed:
        lines.append(f"| keys | {_plain(', '.join(pressed[:_LISTED]))} |")
    return lines


def _index(rows: Mapping[str, Any]) -> str:
    lines = [
        "# Families of environments",
        "",
        "A page for each family, written by `scripts/pages/environments.py` where it was installed: three",
        "environments held against the [contract](../environments/your_own.md#the-contract), two random",
        "episodes, and twelve steps by a tiny language model, to which it was described, recorded by",
        "`mosaic run` and played again by `mosaic verify`. A cross is a true finding about the environment.",
        "",
        "| family | | checked | at random | described |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, row in sorted(rows.items()):
        picture = f"![{row['title']}](pictures/{name}.png)" if row["picture"] else ""
        checks = "<br>".join(_check_words(found, brief=True) for found in row["checks"])
        played = f"{_mark(row['random'])} | {_mark(row['described'])}"
        lines.append(f"| [{row['title']}]({name}.md) | {picture} | {checks} | {played} |")
    lines += ["", "```{toctree}", ":hidden:", ":glob:", "", "*", "```"]
    return "\n".join(lines) + "\n"


def _mark(came: str) -> str:
    return "no words" if _WITHOUT_WORDS in came else "✓" if came == "verified" else "✗"


def _check_words(found: Mapping[str, Any], *, brief: bool = False) -> str:
    mark = "✓" if found["ok"] else "✗"
    why = "" if brief else "".join(f" ({_plain(text)})" for text in found["failed"])
    return f"{mark} `{found['id']}`{why}"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


if __name__ == "__main__":
    sys.exit(main())
