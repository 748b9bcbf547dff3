"""The page of an environment; every one that is listed has one."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from gymnasium.spaces import Box

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.envs import EnvSpec, document, list_specs, make, trouble
from gym_gui.envs.documents.markdown import clean, first_sentence, title
from gym_gui.envs.environment_page import in_words
from gym_gui.envs.environment_registry import family_of

_ALL = """
import json, sys
from gym_gui.envs import document, list_specs, make, trouble
rows = []
for spec in list_specs()[:: int(sys.argv[2])]:
    page = document(spec)
    rows.append({
        "id": spec.id, "quick": trouble(spec), "trouble": page.trouble, "title": page.title,
        "summary": page.summary, "text": page.text, "url": page.doc_url, "agents": len(page.agents),
        "keys": all(first.playable and second.playable for first, second in page.keys.values()),
        "spaces": all([*page.sees.values(), *page.does.values()]),
    })
json.dump(rows, open(sys.argv[1], "w"))
"""


@pytest.mark.parametrize("every", [48, pytest.param(1, marks=pytest.mark.full)])
def test_every_listed_environment_has_a_page_and_can_be_made_or_says_why(
    every: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All of them, in a process of their own: packages that cannot be made may also crash."""
    answer = tmp_path_factory.mktemp("pages") / "all.json"
    command = [sys.executable, "-W", "ignore", "-c", _ALL, str(answer), str(every)]
    subprocess.run(command, check=True, timeout=240, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = json.loads(answer.read_text())
    assert [row["id"] for row in rows] == [spec.id for spec in list_specs()[::every]]
    for row in rows:
        assert row["title"] and len(row["summary"].split()) > 2, row
        assert row["summary"].endswith((".", "!", "?")), row
        assert row["trouble"] == row["quick"], row
        assert bool(row["agents"]) != bool(row["trouble"]), row
        # A text adventure is answered in sentences, and one of Doom turns by numbers beside numbered
        # buttons: for these there are no keys.
        keyless = row["id"].startswith("TextWorld/") or row["id"] == "VizdoomDeathmatch-v1"
        assert row["keys"] != keyless and row["spaces"], row
        assert row["url"].startswith("https://") or "/" in row["id"], row
        # Documentation reads as text: no directives, links into web pages or import tables are left.
        assert not any(mark in row["text"] for mark in ("```{", "<a ", "<img", "| Creation", "| Import")), row


def test_a_page_of_one_agent() -> None:
    page = document("CartPole-v1")
    assert (page.id, page.title, page.family) == ("CartPole-v1", "CartPole", "Gymnasium")
    assert page.summary == "Push the cart left and right so that the pole on it stays upright."
    assert page.text.startswith("This environment corresponds to the version of the cart-pole problem")
    assert "| 0   | Cart Position " in page.text, "tables are kept"
    assert page.doc_url == "https://gymnasium.farama.org/environments/classic_control/cart_pole/"
    assert page.paradigm is SteppingParadigm.SINGLE_AGENT
    assert page.actions == {"agent_0": ((0, "left"), (1, "right"))}
    assert (page.sees, page.does) == ({"agent_0": "4 numbers"}, {"agent_0": "one of 2"})
    assert (page.max_steps, page.trouble, page.board, page.render_modes) == (500, "", False, ("rgb_array",))
    assert page.keys["agent_0"][1].bindings == {"A": 0, "D": 1}
    assert pickle.loads(pickle.dumps(page)) == page
    at_hand = make("CartPole-v1")
    assert document(at_hand) == page
    at_hand.adapter.reset(seed=0)


def test_a_page_of_teams() -> None:
    page = document("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    assert page.title == "Soccer 2v2"
    expected = "Carry the ball into the other side's goal. 2 green agents against 2 blue agents."
    assert page.summary == expected
    assert page.agents == ("green_0", "green_1", "blue_0", "blue_1")
    assert page.teams == {"green": ("green_0", "green_1"), "blue": ("blue_0", "blue_1")}
    assert page.paradigm is SteppingParadigm.SIMULTANEOUS
    assert page.max_steps == 256
    assert "First to 2 goals wins" in page.text and "Multi-agent soccer game" in page.text
    assert document("MosaicMultiGrid-S-2v2-IndAgObs-v1", api="aec").paradigm is SteppingParadigm.SEQUENTIAL


def test_a_page_of_a_board_game() -> None:
    page = document("chess_v6")
    assert (page.title, page.board, page.actions["player_0"]) == ("Chess", True, ())
    assert page.text.startswith("Chess is one of the oldest studied games in AI.")
    assert page.does == {"player_0": "one of 4672", "player_1": "one of 4672"}


def test_a_page_from_what_openspiel_states() -> None:
    page = document("open_spiel/leduc_poker")
    assert page.summary == (
        "Leduc Poker: a game for 2 to 10 players with chance; something is hidden; "
        "one wins what the other loses."
    )
    assert page.actions["player_1"] == ((0, "fold"), (1, "call"), (2, "raise"))
    assert "| `players` | 2 |" in page.text


def test_what_cannot_be_made_has_a_page_that_says_so() -> None:
    page = document("CartPole-v1", env_kwargs={"no_such": 1})
    assert page.trouble.startswith("CartPole-v1 could not be made") and "no_such" in page.trouble
    assert page.agents == () and page.keys == {} and page.text and page.max_steps == 500
    with pytest.raises(UsageError, match="CartPol-v1"):
        document("CartPol-v1")


class Shop:
    """Sells apples.

    And pears.
    """

    metadata = {"render_modes": ["human", "ansi"]}  # noqa: RUF012  # as Gymnasium has it


def test_an_environment_of_ones_own_is_documented_by_its_class() -> None:
    spec = EnvSpec("my/Shop-v2", "custom", "gymnasium", ("gymnasium",), "tests", entry_point=Shop)
    family = family_of(spec)
    assert family.title_of(spec) == "my/Shop"
    assert family.documentation(spec) == "Sells apples.\n\nAnd pears."
    assert family.render_modes(spec) == ("ansi",)


def test_what_is_known_to_be_missing_is_said_without_trying() -> None:
    known = {spec.id: trouble(spec) for spec in list_specs()}
    assert known["CartPole-v1"] == known["classic/chess_v6"] == ""
    jax = known["phys2d/CartPole-v1"]
    assert jax in ("", "jax is not installed. Run: mosaic envs install phys2d/CartPole-v1")


def test_cleaning_takes_out_what_does_not_belong_in_a_narrow_column() -> None:
    text = clean("""
    # Tag

    ```{figure} tag.gif
    :width: 140px
    ```

    This environment is part of the <a href='..'>particle worlds</a>. Please read that page first.

    | Import    | `from x import tag` |
    |-----------|---------------------|
    | Actions   | Discrete            |

    See <a href="https://x.y">the paper</a> by A. Nobody.<br>Then ![a picture](x.png)play :class:`~x.Tag`.

    | a | b |
    |---|---|
    | 1 | 2 |

    Parameters
    ----------
    size : int or None
        Grid size
        (if square).
    """)
    assert text == (
        "See the paper by A. Nobody. Then play `x.Tag`.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "## Parameters\n- `size` (int or None): Grid size (if square)."
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Walk to the goal. Then stop.", "Walk to the goal."),
        ("## Rules\n\n- one\n- two\n\n| a |\n\nWalk to *the* `goal`, e.g. by [foot](x).", None),
        ("```python\nimport this. now\n```\n\nGo home now!", "Go home now!"),
        (
            "From the work of P. Wawrzyński in\n[a paper](x). More.",
            "From the work of P. Wawrzyński in a paper.",
        ),
        ("A world:\n\n- of lists", ""),
        ("Nothing but this line", "Nothing but this line."),
        ("", ""),
    ],
)
def test_the_first_sentence(text: str, sentence: str | None) -> None:
    wanted = "Walk to the goal, e.g. by foot." if sentence is None else sentence
    assert first_sentence(text) == wanted


def test_the_title_is_the_first_heading() -> None:
    assert title("\n    # Connect Four\n\n    text") == "Connect Four"
    assert title("Text first\n\n# Later") == title("## Second level") == title("") == ""


def test_bounds_are_told_where_there_are_any() -> None:
    def told(low: float, high: float, dtype: type) -> str:
        return in_words(Box(low, high, (2,), dtype))

    float32, int64 = np.finfo(np.float32), np.iinfo(np.int64)
    assert told(-1, 1, np.float32) == "2 numbers from -1 to 1"
    assert told(0, 255, np.uint8) == "2 whole numbers from 0 to 255"
    assert told(float(float32.min), float(float32.max), np.float32) == "2 numbers"
    assert told(0, int(int64.max), np.int64) == "2 whole numbers"
    assert told(-np.inf, np.inf, np.float64) == "2 numbers"
