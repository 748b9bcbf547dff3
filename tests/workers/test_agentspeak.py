"""One suite of AgentSpeak programs in both interpreters, and every difference between them on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import ROOT
from tests.support.jason import installed_jason
from tests.support.talk import WORDS, Agent, Talk
from tests.support.waiting import LONG_S

SUITE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("agentspeak.yaml").read_text("utf-8"))
PROGRAMS: list[dict[str, Any]] = SUITE["programs"]
PAGE = ROOT / "docs" / "bdi" / "interpreters.md"


@pytest.fixture(scope="module", params=["spade_bdi_worker", "jason_worker"])
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A process of each interpreter, for all programs."""
    if request.param == "spade_bdi_worker":
        pytest.importorskip("agentspeak")
    with pytest.MonkeyPatch.context() as monkeypatch:
        if request.param == "jason_worker":
            installed_jason(monkeypatch, tmp_path_factory.getbasetemp())
        talk = Talk(tmp_path_factory.mktemp(request.param), worker=request.param)
        yield talk
        talk.close()


def played(agent: Agent, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the agent does in each turn, as the suite writes it."""
    found: list[dict[str, Any]] = []
    for turn in turns:
        word, extra = agent.decide(turn.get("facts", ()), turn.get("heard", ()))
        row: dict[str, Any] = {"does": word if word in WORDS else None}
        # Jason's own plans for messages say what they could not find.
        printed = extra.get("bdi", {}).get("printed", ())
        if lines := [line for line in printed if not line.startswith("kqml_received")]:
            row["prints"] = lines
        if extra.get("said"):
            row["says"] = extra["said"].split("\n")
        found.append(row)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=[each["name"] for each in PROGRAMS])
def test_a_program_does_in_each_interpreter_what_the_suite_says(talk: Talk, program: dict[str, Any]) -> None:
    here = talk.name == "spade_bdi_worker"
    for name, text in program.get("files", {}).items():
        file = talk.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    loaded = talk.load(program["program"], max_cycles=program.get("cycles", 2000), deliberation_s=LONG_S)
    refused = program.get("python_refused") if here and "because" in program else program.get("refused")
    if refused:
        assert refused in loaded["error"]
        return
    assert "error" not in loaded
    turns: list[dict[str, Any]] = program["turns"]
    expected = program["python"] if here and "because" in program else turns
    keys = ("does", "prints", "says")
    told = [{key: row[key] for key in keys if key in row} for row in expected]
    assert played(talk.loaded_agent(), turns) == told


def test_every_difference_is_shown_by_a_program_and_stands_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    differences: dict[str, str] = SUITE["differences"]
    assert {each["because"] for each in PROGRAMS if "because" in each} == set(differences)
    assert [row for row in differences.values() if row not in page] == []


def test_the_page_lists_the_internal_actions_of_the_python_interpreter() -> None:
    pytest.importorskip("agentspeak")
    from spade_bdi_worker.internal_actions import standard_actions

    actions = standard_actions()
    names = {name for name, _ in actions.actions} | set(actions.variadic_actions)
    listed = PAGE.read_text("utf-8").partition("(internal-actions)=")[2].partition("\n\n(")[0]
    assert sorted(set(re.findall(r"`(\.\w+)`", listed))) == sorted(names)
