"""Calls of language models beside what was played: joined, searched, added up, shown without harm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run, report, summarize
from gym_gui.analysis.exports.export import episode_rows, operator_rows
from gym_gui.analysis.pages.transcript_page import render_transcript
from gym_gui.analysis.terminal_report import text_of
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import turn_of
from gym_gui.analysis.words import wording

HOSTILE = "</pre></article><script>alert(1)</script><style>*{display:none}</style>\"'>&\x1b[31m\u202e"
LLM = {"worker_id": "mosaic_llm_worker", "worker_type": "llm", "policy": "gpt"}


def call(episode: int, step: int, agent: str = "green_1", **changes: Any) -> dict[str, Any]:
    """A row of ``calls.jsonl``."""
    attempt, turn = changes.get("attempt", 0), changes.get("turn", 0)
    row: dict[str, Any] = {
        "kind": "chat",
        "ref": f"{agent}/{episode}/{step}/{attempt}/{turn}",
        "agent": agent,
        "episode": episode,
        "step": step,
        "attempt": attempt,
        "turn": turn,
        "provider": "openai",
        "model": "gpt",
        "model_reported": "gpt-2026",
        "messages": [
            {"role": "system", "content": "You play football.\nAnswer with one action."},
            {"role": "user", "content": f"Step {step}: the ball is ahead of you."},
        ],
        "reply": "<action>forward</action>",
        "finish": "stop",
        "tokens": {"input": 100, "output": 10},
        "usd": 0.001,
        "latency_ms": 420.0,
        "error": "",
        "retries": 0,
        "replayed": False,
    }
    return row | changes


def steps(episode: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Three steps of two agents; green_1's second answer was not usable, not even asked again."""
    sources = ["policy", "random_legal", "retry"]
    return [
        {
            "episode_index": episode["episode_index"],
            "step_index": step,
            "seed": 1,
            "agent_id": agent,
            "action": step,
            "reward": 0.0,
            "terminated": False,
            "truncated": False,
            "action_source": sources[step] if agent == "green_1" else "policy",
            "state_sha": "00",
            "latency_ms": 1.0,
            **({"said": "I take the left."} if (agent, step) == ("green_1", 0) else {}),
        }
        for step in range(3)
        for agent in ("green_0", "green_1")
    ]


CALLS = [
    call(0, 0),
    call(0, 1, reply="I cannot decide."),
    call(0, 1, attempt=1, reply=HOSTILE, thinking="hm " * 9),
    call(0, 2, error="the server did not answer within 60 s", reply="", usd=None, tokens={}, retries=3),
    call(0, 2, attempt=1),
    call(1, 0, usd=None, reply="Ich gehe nach LINKS."),
    call(1, 2, replayed=True, usd=0.001),
]


def written(home: Path, runs: Any, rows: Iterable[Mapping[str, Any]] = CALLS, **changes: Any) -> Path:
    """A run of two episodes with calls."""
    agents = {"green_0": runs.agent("ppo"), "green_1": LLM}
    fields = {"agents": agents, "returns": dict.fromkeys(agents, 0.0), "length": 3, **changes}
    episodes = [runs.episode_row("team", i, **fields) for i in range(2)]
    words = {"actions": {"team": {"green_1": ["noop", HOSTILE, "forward"]}}}
    folder = runs.write_run(home, runs.Plan({"team": episodes}, steps=steps, extra=words))
    (folder / "operators" / "team" / "calls.jsonl").write_bytes(runs.dump(list(rows)))
    return folder


@pytest.fixture
def run(tmp_path: Path, runs: Any) -> Path:
    return written(tmp_path, runs)


def transcript(folder: Path) -> Transcript:
    (operator,) = open_run(folder).operators.values()
    return Transcript(operator)


def test_every_call_stands_beside_what_was_played(run: Path) -> None:
    found = transcript(run)
    assert (found.agents, found.episodes, len(found)) == (("green_1",), (0, 1), len(CALLS))
    turns = list(found.turns(0))
    assert [(t.step, t.attempt, t.source, t.action, t.refused) for t in turns] == [
        (0, 0, "policy", 0, False),
        (1, 0, "", None, True),  # asked again
        (1, 1, "random_legal", 1, True),  # and then given up
        (2, 0, "", None, True),
        (2, 1, "retry", 2, False),
    ]
    assert [t.word for t in turns] == ["noop", "", HOSTILE, "", "forward"]
    assert [t.said for t in turns] == ["I take the left.", "", "", "", ""]
    assert [t.failed for t in turns] == [False, True, True, True, False]
    assert turns[0].messages[1].text == "Step 0: the ball is ahead of you."
    assert (turns[3].input_tokens, turns[3].usd, turns[3].retries) == (0, None, 3)


def test_a_dialogue_is_refused_in_its_last_call_alone(tmp_path: Path, runs: Any) -> None:
    rows = [call(0, 1, turn=0), call(0, 1, turn=1), call(0, 1, turn=2)]
    turns = list(transcript(written(tmp_path, runs, rows)).turns())
    assert [(t.turn, t.refused, t.source) for t in turns] == [
        (0, False, ""),
        (1, False, ""),
        (2, True, "random_legal"),
    ]


def test_of_several_replies_the_row_says_which_was_played(tmp_path: Path, runs: Any) -> None:
    def rows(*refs: str) -> list[dict[str, Any]]:
        return [call(0, 0, turn=turn, ref=ref) for turn, ref in enumerate(refs)]

    folder = written(tmp_path, runs, rows("a", "b", "c"))
    file = folder / "operators" / "team" / "steps.jsonl"
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    for line in lines:
        line["call_ref"] = "b"
    file.write_bytes(runs.dump(lines))
    turns = list(transcript(folder).turns(0))
    assert [(t.ref, t.source, t.refused) for t in turns] == [
        ("a", "", False),
        ("b", "policy", False),
        ("c", "", False),
    ]


def test_notes_that_were_written_before_the_answer_are_not_the_answer(tmp_path: Path, runs: Any) -> None:
    turns = list(transcript(written(tmp_path, runs, [call(0, 0, turn=1), call(0, 0, turn=0)])).turns())
    assert [(t.turn, t.source) for t in turns] == [(1, ""), (0, "policy")]


def test_calls_in_swapped_seats_are_those_of_the_slot_that_sat_there(tmp_path: Path, runs: Any) -> None:
    seats = {"green_0": {**LLM, "slot": "green_1"}, "green_1": runs.agent("ppo", "green_0")}
    folder = written(tmp_path, runs, [call(0, 1, "green_0")], agents=seats)
    (turn,) = transcript(folder).turns()
    # green_0's row, not that of the other seat, in which nothing of this was played
    assert (turn.agent, turn.slot, turn.source, turn.word) == ("green_0", "green_1", "policy", HOSTILE)
    assert "slot green_1, step 1" in render_transcript([open_run(folder)])
    slots = {s.slot: s.calls for s in summarize(open_run(folder)).operators[0].slots}
    assert slots["green_1"] is not None and slots["green_0"] is None


def test_turns_are_found_by_agent_failure_and_words(run: Path) -> None:
    found = transcript(run)
    assert [(t.episode, t.step) for t in found.turns(words="nach links")] == [(1, 0)]
    assert [(t.step, t.attempt) for t in found.turns(0, failed=True)] == [(1, 0), (1, 1), (2, 0)]
    assert [t.step for t in found.turns(0, words="DID NOT answer")] == [2]
    assert [t.step for t in found.turns(0, words="step 1: the ball")] == [1, 1]
    assert not list(found.turns(agent="green_0")) and not list(found.turns(words="no such words"))


def test_calls_of_an_unfinished_episode_and_of_nobody_are_no_trouble(tmp_path: Path, runs: Any) -> None:
    folder = written(tmp_path, runs, [call(7, 0), {"model": "m-1", "usd": 0.5}])
    with (folder / "operators" / "team" / "calls.jsonl").open("ab") as file:
        file.write(b'{"kind": "chat", "episode": 8, "rep')  # the writer is in the middle of it
    found = transcript(folder)
    assert [(t.episode, t.source) for t in found.turns()] == [(7, "")]
    assert "not finished" in render_transcript([open_run(folder)])
    (operator,) = summarize(open_run(folder)).operators
    assert operator.calls is not None
    assert (operator.calls.total, operator.calls.usd) == (2, 0.501)


def test_rows_of_any_shape_are_read() -> None:
    picture = {"image": {"sha256": "ab" * 32, "width": 320, "height": 240}}
    asked = {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "make_move", "arguments": '{"m": 1}'}}],
    }
    turn = turn_of(
        {
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Look:"}, picture]}, asked, 5],
            "tool_calls": [{"id": "1", "name": "get_legal_moves", "arguments_json": "{}"}],
            "tokens": "many",
            "step": -1,
            "reply": None,
        }
    )
    assert [m.text for m in turn.messages] == [
        "Look:\n[picture, 320 x 240, sha256 abababababab]",
        '[make_move {"m": 1}]',
        "",
    ]
    assert (turn.tools, turn.input_tokens, turn.step, turn.reply) == (("[get_legal_moves {}]",), 0, 0, "")


# ------------------------------------------------------------------------------ the figures


def test_tokens_and_price_are_added_up_and_unknown_is_not_nothing(run: Path) -> None:
    summary = summarize(open_run(run))
    (operator,) = summary.operators
    calls = operator.calls
    assert calls is not None
    assert (calls.total, calls.failed, calls.replayed, calls.unpriced) == (7, 1, 1, 1)
    # The one that was replayed was not paid; the one of unknown price is not in the sum.
    assert calls.usd == pytest.approx(0.004)
    assert (calls.input_tokens, calls.output_tokens) == (600, 60)
    assert wording.price(calls) == "at least $0.0040"
    assert {slot.slot: slot.calls is not None for slot in operator.slots} == {
        "green_0": False,
        "green_1": True,
    }
    assert "of 7 calls: 1 without a reply" in " ".join(str(summary).split())
    (row,) = operator_rows(summary)
    assert (row["calls"], row["failed_calls"], row["unpriced_calls"], row["input_tokens"]) == (7, 1, 1, 600)
    first, second = episode_rows(open_run(run))
    assert (first["input_tokens"], first["usd"], first["usd.green_1"]) == (
        400,
        pytest.approx(0.004),
        first["usd"],
    )
    assert (second["usd"], second["unpriced_calls"]) == (None, 1)


@pytest.mark.parametrize(
    ("usd", "words"),
    [(None, "unknown"), (0.0, "$0"), (0.00001, "<$0.0001"), (0.0123, "$0.0123"), (12, "$12.00")],
)
def test_prices_in_words(usd: float | None, words: str) -> None:
    assert wording.dollars(usd) == words


def test_a_run_without_calls_says_nothing_of_them(tmp_path: Path, runs: Any) -> None:
    folder = runs.write_run(tmp_path, runs.Plan({"a": [runs.single("a", 0, 1.0)]}))
    summary = report([folder])
    assert "Cost" not in str(summary) and summary.operators[0].calls is None
    assert not (folder / "transcript.html").exists()
    assert "transcript" not in (folder / "report.html").read_text().lower()


# --------------------------------------------------------------------------------- the page


class _Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    VOID = frozenset({"meta", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_is_whole_and_a_reply_is_nothing_but_text(run: Path) -> None:
    html = render_transcript([open_run(run)])
    page = _Page(html)
    tags = [tag for tag, _ in page.found]
    assert tags.count("article") == len(CALLS)
    assert "script" not in tags and tags.count("style") == 1
    assert "</pre></article><script>alert(1)</script>" in page.words
    assert "\x1b" not in html and "\u202e" not in html
    assert not [a for _, attributes in page.found for a in attributes if a.startswith("on")]
    assert not re.search(r"(?:src|href)=|url\(", html)
    for part in (
        "Played: noop (0)",
        "Unusable, requested again.",
        "Played instead: a random legal action, </pre>",
        "Said to the team: I take the left.",
        "the server did not answer within 60 s",
        "price unknown",
        "replayed",
        "Thinking, 27 characters",
        "the first as before",
    ):
        assert part in page.words, part
    # What stood in the prompt before is not written again: once in each of the two episodes.
    assert page.words.count("Answer with one action.") == 2


def test_what_is_chosen_is_shown_by_rules_without_words_of_the_run(tmp_path: Path, runs: Any) -> None:
    folder = written(tmp_path, runs, [call(0, 0, HOSTILE), call(0, 0), call(1, 0)])
    html = render_transcript([open_run(folder)])
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert "alert" not in style
    page = _Page(html)
    radios = {a["id"] for tag, a in page.found if tag == "input" and a["type"] == "radio"}
    assert radios == {"agent-all", "agent-0", "agent-1", "episode-all", "episode-0", "episode-1"}
    classes = [a["class"] for tag, a in page.found if tag == "article"]
    for i in range(2):
        assert f"main:has(#agent-{i}:checked) .turn:not(.a{i})" in style
        assert any(f"a{i}" in str(c).split() for c in classes)


def test_a_large_run_has_a_bounded_page_that_says_what_is_left_out(tmp_path: Path, runs: Any) -> None:
    rows = [call(e, s) for e in range(30) for s in range(10)] + [
        call(29, 11, error="busy"),
        call(3, 5, attempt=1),
    ]
    folder = written(tmp_path, runs, sorted(rows, key=lambda row: row["episode"]))
    page = _Page(render_transcript([open_run(folder)], most=40))
    shown = [a for tag, a in page.found if tag == "article"]
    assert 30 < len(shown) <= 40
    words = " ".join(page.words.split())
    assert "Shown: whole episodes: 0 to 2; the beginning of episode 3; " in words
    assert re.search(
        r"later turns? without a usable reply; not shown: \d+ turns, in calls.jsonl of operators/team", words
    )
    assert "busy" in words  # far behind, but wanted
    assert f"{len(shown)} of 302 calls to models" in words


def test_the_model_that_answered_stands_where_another_was_asked(tmp_path: Path, runs: Any) -> None:
    asked = {"model": "gpt-4o", "tokens": {"input": 100, "output": 10, "cached": 60}}
    rows = [
        *(call(0, step, **asked, model_reported="gpt-4o-2026") for step in range(3)),
        call(1, 0, **asked, model_reported="", fallback="gpt-4o-mini"),
        call(1, 1, **asked, model_reported=""),
        call(1, 2, **asked, error="no answer", model_reported="", reply=""),
    ]
    folder = written(tmp_path, runs, rows)
    summary = summarize(open_run(folder))
    (operator,) = summary.operators
    words = "gpt-4o, answered by gpt-4o-2026 (3); gpt-4o, answered by gpt-4o-mini (1); gpt-4o (1)"
    assert wording.models(operator.calls) == words
    assert operator_rows(summary)[0]["models"] == words
    assert operator_rows(summary)[0]["cached_tokens"] == 360
    assert "answered by gpt-4o-2026" in text_of(summary, 200)
    report([folder])
    page = (folder / "report.html").read_text()
    assert words in page and "360 cached" in page
    (read,) = json.loads((folder / "summary.json").read_text())["operators"]
    assert read["calls"]["models"][0] == {"asked": "gpt-4o", "by": "gpt-4o-2026", "calls": 3}
    html = (folder / "transcript.html").read_text()
    assert html.count("gpt-4o, answered by gpt-4o-2026") == 3 and "gpt-4o, answered by gpt-4o-mini" in html


def test_a_model_that_answers_as_it_was_asked_is_named_once(tmp_path: Path, runs: Any) -> None:
    rows = [call(0, step, model="m", model_reported="m") for step in range(2)]
    (operator,) = summarize(open_run(written(tmp_path, runs, rows))).operators
    assert wording.models(operator.calls) == "m"
    chosen = [call(0, 0, model="", model_reported="tiny")]
    (operator,) = summarize(open_run(written(tmp_path / "b", runs, chosen))).operators
    assert wording.models(operator.calls) == "tiny"


def test_one_long_reply_does_not_fill_the_page(tmp_path: Path, runs: Any) -> None:
    folder = written(tmp_path, runs, [call(0, 0, reply="x" * 1_000_000)])
    html = render_transcript([open_run(folder)])
    assert len(html) < 40_000
    assert "994,000 characters more" in html


def test_the_report_leads_to_it(run: Path) -> None:
    report([run])
    assert re.search(r'<a href="transcript.html">Transcript of 7 calls', (run / "report.html").read_text())
    assert (run / "transcript.html").exists()
    (operator,) = json.loads((run / "summary.json").read_text())["operators"]
    assert operator["calls"]["unpriced"] == 1


def thinking(episode: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Three steps of two agents; ``green_0`` is a program, whose last step was not its own choice."""
    thoughts: list[dict[str, Any]] = [
        {
            "added": ["door(yellow, locked, 2, -1)", HOSTILE],
            "goals": ["solve", "solve", "approach(2, -1)"],
            "plan": "line 4: +!a",
        },
        {"removed": ["free(1, 0)"], "goals": ["solve"], "plan": "line 9: +!solve", "printed": ["I turn"]},
        {
            "failed": ["solve: no applicable plan for +!solve/0"],
            "heard": ["green_2: tell on(<b>), sent at step 1"],
        },
    ]
    rows = steps(episode)
    for row in rows:
        if row["agent_id"] == "green_0":
            row |= {"bdi": thoughts[row["step_index"]], "action": 2}
            row["action_source"] = "noop" if row["step_index"] == 2 else "policy"
    return rows


def of_programs(home: Path, runs: Any, calls: Iterable[Mapping[str, Any]]) -> Path:
    agents = {
        "green_0": {"worker_id": "any_worker", "worker_type": "bdi", "policy": "mind.asl"},
        "green_1": LLM,
    }
    fields = {"agents": agents, "returns": dict.fromkeys(agents, 0.0), "length": 3}
    episodes = [runs.episode_row("team", i, **fields) for i in range(2)]
    words = {"actions": {"team": {"green_0": ["noop", "left", "forward"]}}}
    folder = runs.write_run(home, runs.Plan({"team": episodes}, steps=thinking, extra=words))
    if calls:
        (folder / "operators" / "team" / "calls.jsonl").write_bytes(runs.dump(list(calls)))
    return folder


def test_what_programs_thought_is_in_the_transcript_beside_the_calls_of_models(
    tmp_path: Path, runs: Any
) -> None:
    found = transcript(of_programs(tmp_path, runs, CALLS))
    assert (found.calls, found.decisions, len(found)) == (len(CALLS), 6, len(CALLS) + 6)
    assert set(found.agents) == {"green_1", "green_0"}
    thoughts = list(found.turns(0, "green_0"))
    assert [(t.step, t.word, t.source, t.refused) for t in thoughts] == [
        (0, "forward", "policy", False),
        (1, "forward", "policy", False),
        (2, "forward", "noop", True),
    ]
    assert thoughts[0].thought is not None and thoughts[0].thought.goals == ("solve", "approach(2, -1)")
    assert [t.step for t in found.turns(0, words="DOOR(yellow")] == [0]
    assert [t.step for t in found.turns(1, "green_0", failed=True)] == [2]
    assert [t.step for t in found.turns(0, words="on(<b>)")] == [2]
    # Calls stand beside what was played as they do without programs.
    assert [t.source for t in found.turns(0, "green_1")] == ["policy", "", "random_legal", "", "retry"]


def test_the_page_shows_intention_plan_beliefs_and_failed_goals_of_programs(
    tmp_path: Path, runs: Any
) -> None:
    folder = of_programs(tmp_path, runs, ())
    html = render_transcript([open_run(folder)])
    page = _Page(html)
    words = " ".join(page.words.split())
    assert "6 decisions" in words and "to models" not in words
    assert "solve \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} approach(2, -1) line 4: +!a" in words
    assert "2 beliefs added" in words and "\N{MINUS SIGN} free(1, 0)" in words and "I turn" in words
    assert "Failed: solve: no applicable plan" in words
    assert "Received over XMPP: green_2: tell on(<b>), sent at step 1" in words
    assert "No action was chosen. Played instead: the no-op" in words
    assert "price" not in words and "tokens" not in words
    assert not {tag for tag, _ in page.found} & {"script", "img"}
    report([folder])
    assert "Transcript of 6 decisions" in (folder / "report.html").read_text()
    assert (folder / "transcript.html").is_file()


def scoring(scores: Any, **row: Any) -> dict[str, Any]:
    """A row whose actions were scored."""
    told = {"agent_id": "green_0", "episode_index": 0, "step_index": 4, "action": 2, "word": "forward"}
    return {**told, "action_source": "policy", "scores": scores, **row}


def test_scores_of_actions_are_a_turn_with_a_bar_for_each(tmp_path: Path, runs: Any) -> None:
    folder = of_programs(tmp_path, runs, CALLS)
    file = folder / "operators/team/steps.jsonl"
    scores = {"noop": 0.09, "left": 0.2, "forward": 0.71}
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        if row.pop("bdi", None) or row["agent_id"] == "green_1":
            row["scores"] = scores
        if row["agent_id"] == "green_1":
            row["call_ref"] = f"green_1/{row['episode_index']}/{row['step_index']}/0/0"
    file.write_bytes(runs.dump(rows))
    found = transcript(folder)
    # What an agent scored that asked a model stands with its call.
    assert (found.calls, found.decisions) == (len(CALLS), 6)
    assert next(t.scores for t in found.turns(0, "green_1") if t.source)[0].word == "forward"
    (turn, *_) = found.turns(0, "green_0")
    assert turn.thought is None and turn.word == "forward"
    assert [(s.word, s.written, s.share) for s in turn.scores] == [
        ("forward", "0.710", 0.71),
        ("left", "0.200", 0.2),
        ("noop", "0.090", 0.09),
    ]
    assert [t.step for t in found.turns(0, "green_0", words="FORWARD")] == [0, 1, 2]
    page = _Page(render_transcript([open_run(folder)]))
    assert page.words.count("0.710") == sum(bool(t.scores) for t in found.turns()) > 6
    widths = [given["style"] for tag, given in page.found if tag == "i" and "style" in given]
    assert widths[:3] == ["width: 71.0%", "width: 20.0%", "width: 9.0%"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"a": 3.0, "b": -1, "c": 1}, [("a", 1.0), ("c", 0.5), ("b", 0.0)]),
        ({"a": 5, "b": 5}, [("a", 1.0), ("b", 1.0)]),
        ({"a": 1.7e308, "b": -1.7e308}, [("a", 1.0), ("b", 0.0)]),
        ({"a": 0, "b": 0}, [("a", 0.0), ("b", 0.0)]),
        ({"a": "much", "b": None, "c": True, "d": 0.5}, [("d", 0.5)]),
    ],
)
def test_scores_of_any_size_have_bars(given: Any, told: list[tuple[str, float]]) -> None:
    assert [(s.word, s.share) for s in turn_of(scoring(given)).scores] == told


@pytest.mark.parametrize("given", [None, 3, [0.1], {}, {"a": "much"}])
def test_scores_that_are_none_make_no_turn(given: Any) -> None:
    assert not turn_of(scoring(given)).is_decision


def test_of_many_actions_the_best_are_listed_and_the_one_that_was_played(tmp_path: Path, runs: Any) -> None:
    folder = of_programs(tmp_path, runs, ())
    file = folder / "operators/team/steps.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        if row.pop("bdi", None):
            row["scores"] = {**{f"go {i}": 1 - i / 100 for i in range(90)}, "forward": 0.01}
    file.write_bytes(runs.dump(rows))
    html = render_transcript([open_run(folder)])
    assert "go 9<" in html and "go 10<" not in html and ">forward<" in html
    assert "and 80 actions with lower scores" in html


def test_why_an_answer_was_not_played_stands_with_what_was(tmp_path: Path, runs: Any) -> None:
    folder = of_programs(tmp_path, runs, CALLS)
    file = folder / "operators/team/steps.jsonl"
    why = "go to(yellow key) cannot start: what can start now is explore"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        if row["action_source"] in ("noop", "random_legal"):
            row["refused"] = why
    file.write_bytes(runs.dump(rows))
    refused = [turn for turn in transcript(folder).turns() if turn.why_refused]
    assert {turn.agent for turn in refused} == {"green_0", "green_1"}
    assert all(turn.refused and turn.why_refused == why for turn in refused)
    words = " ".join(_Page(render_transcript([open_run(folder)])).words.split())
    assert f"Unusable: {why}. Played instead: a random legal action, " in words
    assert f"No action was chosen: {why}. Played instead: the no-op, " in words


def test_damaged_thoughts_are_shown_as_far_as_they_go(tmp_path: Path, runs: Any) -> None:
    folder = of_programs(tmp_path, runs, ())
    file = folder / "operators/team/steps.jsonl"
    text = (
        file.read_text()
        .replace('"goals":["solve"]', '"goals":7')
        .replace('"plan":"line 9: +!solve"', '"plan":[1]')
    )
    file.write_text(text)
    turns = list(transcript(folder).turns(0))
    assert (
        turns[1].thought is not None
        and turns[1].thought.goals == ()
        and turns[1].thought.printed == ("I turn",)
    )
