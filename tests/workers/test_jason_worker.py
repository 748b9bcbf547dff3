"""Programs in Jason's interpreter: what they see, how they fail, what becomes of one that has no end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.talk import Talk
from tests.support.waiting import LONG_S
from tests.workers.test_bdi_worker import played, slot

MOST_MB = 150


@pytest.fixture
def talk(jason: None, tmp_path: Path) -> Iterator[Talk]:
    talk = Talk(tmp_path)
    yield talk
    talk.close()


def test_a_mistake_is_named_with_its_line_and_what_was_expected(talk: Talk) -> None:
    for text, says in (
        ("!go.\n+!go <- left\n+!stay <- right.", 'mind.asl, line 3: expected one of a variable, "true"'),
        ("+!go : <- left.", 'mind.asl, line 1: expected one of a variable, "true", "false", "not"'),
        ('+!go <- left.\n+!on <- "left.', "mind.asl, line 2: this has no end"),
        ('{ include("../other.asl") }', "mind.asl, line 1: ../other.asl is not included: name a file in"),
        ("+!go <- left;\n  fly.", "mind.asl, line 2: no such action fly, there are: left, right"),
        ("+!go <- if (a) { fly(3) }.", "mind.asl, line 1: no such action fly(3)"),
        ('+!go <- .save_agent("x").', "mind.asl, line 1: no such action .save_agent here"),
        ("{ fly(3) } +!go <- left.", "mind.asl: the interpreter cannot read it"),
        ("+!go : " + "(" * 20000 + "a" + ")" * 20000 + " <- left.", "mind.asl: it is nested too deeply"),
    ):
        assert says in talk.load(text)["error"]


@pytest.mark.parametrize(
    ("directive", "says"),
    [
        ('{ include("/etc/hostname") }', "name a file in the program's own folder"),
        ('{\n include("../other.asl") }', "name a file in the program's own folder"),
        ('{ /* here */ include("http://x/other.asl") }', "name a file in the program's own folder"),
        ('at("http://x"). { include("linked.asl") }', "links are not followed"),
        ('{ include("linked/other.asl") }', "links are not followed"),
        ('{ include("$jasonJar/x.asl") }', "No such file or directory"),
        ('{ include("large.asl") }', "1,000,000 bytes at most"),
        ('{ begin include("other.asl") } { end }', "mind.asl"),
        ('{ register_function("java.lang.Runtime") }', "there is no directive register_function here"),
    ],
)
def test_nothing_outside_its_folder_is_read_because_a_program_names_it(
    talk: Talk, directive: str, says: str, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "other.asl").write_text("+!go <- left.")
    program = tmp_path / "program"
    program.mkdir()
    (program / "linked.asl").symlink_to(other / "other.asl")
    (program / "linked").symlink_to(other)
    (program / "large.asl").write_text("//" + "x" * 1_000_000)
    talk.folder = program
    assert says in talk.load(f"!go. {directive} +!go <- left.")["error"]


def test_a_file_that_is_no_text_is_told_and_a_byte_order_mark_is_none_of_it(talk: Talk) -> None:
    assert "it is not UTF-8" in talk.load("!g\xe9.", encoding="latin-1")["error"]
    assert "error" not in talk.load("!go. +!go <- left.", encoding="utf-8-sig")


@pytest.mark.parametrize(
    "words",
    [
        '.send(green_0, tell, "open)',
        '.send(green_0, tell, a) "',
        f".broadcast(tell, {'f(' * 5000}a{')' * 5000})",
    ],
)
def test_whatever_a_team_mate_says_is_heard(talk: Talk, words: str) -> None:
    agent = talk.agent("+said(green_1, _) <- right. +a <- forward.")
    assert agent.decide(heard=[f"green_1: {words}"])[0] == "right"


@pytest.mark.parametrize(
    ("step", "says"),
    [("act(1.5)", "int64 here, which 1.5 is not"), ("act([north])", "int64 here"), ("act([1])", "right")],
)
def test_numbers_that_are_no_action_are_not_made_into_one(talk: Talk, step: str, says: str) -> None:
    assert says in talk.agent(f"!go. +!go <- {step}.").decide()[0]


def test_quotations_are_sent_and_printed_as_they_are(talk: Talk) -> None:
    agent = talk.agent('!go. +!go <- .send(green_1, tell, note("see _1,_2", _)); left.')
    assert agent.decide()[1]["said"] == '.send(green_1, tell, note("see _1,_2", _))'


def test_words_are_the_same_in_every_country(jason: None, tmp_path: Path) -> None:
    turkish = Talk(tmp_path, "-Duser.language=tr")
    assert (
        turkish.agent("!go. +!go <- pickup.", words=["left", "right", "forward", "PICKUP"]).decide()[0]
        == "pickup"
    )
    turkish.close()


def test_plans_go_on_fail_recover_and_tell_why(talk: Talk) -> None:
    steps = talk.agent("!go. +!go <- left; right; forward; !go.")
    assert [steps.decide()[0] for _ in range(5)] == ["left", "right", "forward", "left", "right"]
    recovers = talk.agent("!day. +!day <- !work; forward. +!work <- left; .fail. -!work <- right.")
    assert [recovers.decide()[0] for _ in range(3)] == ["left", "right", "forward"]
    word, extra = talk.agent("!a. +!a <- !b; left. +!b <- !c. +!c <- .fail. -!a <- pickup.").decide()
    assert word == "pickup"
    assert [each.partition(":")[0] for each in extra["bdi"]["failed"]] == ["c", "b", "a"]


def test_beliefs_are_what_is_seen_now_and_their_changes_are_events(talk: Talk) -> None:
    agent = talk.agent(
        '+key(C) <- !take(C). -key(C) <- .print("gone ", C); left.\n'
        "+!take(yellow) : facing(key)[source(percept)] <- pickup. +!take(_) <- forward."
    )
    word, extra = agent.decide(["key(yellow)", "facing(key)"])
    assert (word, extra["bdi"]["added"]) == ("pickup", ["key(yellow)", "facing(key)"])
    assert extra["bdi"]["goals"][-1] == "take(yellow)"
    assert extra["bdi"]["plan"] == "line 2: +!take(yellow) : facing(key)[source(percept)]"
    word, extra = agent.decide(["facing(key)"])
    assert (word, extra["bdi"]["removed"], extra["bdi"]["printed"]) == (
        "left",
        ["key(yellow)"],
        ["gone yellow"],
    )


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        ("believes(this).", {}, "nothing left to do and chooses no action"),
        ("!go. +!go <- !there.", {}, "no applicable plan for +!there/0"),
        ("!go. +!go <- !go.", {}, "within 10000 steps of the interpreter"),
        ("!go. +!go <- !go.", {"max_cycles": 10**8, "deliberation_s": 0}, "within its deadline"),
        ("on(X) :- on(X). !go. +!go : on(1) <- left.", {}, "rules call each other without end"),
        (
            "n(0). n(N) :- n(M) & N = M + 1. !go. +!go : n(N) & N < 0 <- left.",
            {"deliberation_s": 0},
            "within its deadline",
        ),
        ("!go. +!go <- .wait(60000); left.", {}, "waits and chooses no action"),
        ("!go. +!go <- .send(green_1, tellHow, x); left.", {}, "not tellHow"),
        ("!go. +!go <- act(fly).", {}, "no action 'fly' now"),
    ],
)
def test_a_program_without_an_action_is_told_why(talk: Talk, text: str, settings: Any, says: str) -> None:
    agent = talk.agent(text, **{"deliberation_s": LONG_S, **settings})
    assert says in agent.decide()[0]


def test_what_is_sent_is_heard_by_whom_it_is_for(talk: Talk) -> None:
    sender = talk.agent(
        "!go. +!go <- .send(green_1, tell, ball(2, -3)); .send(green_2, achieve, come); left."
    )
    word, extra = sender.decide()
    assert (word, extra["said"]) == (
        "left",
        ".send(green_1, tell, ball(2, -3))\n.send(green_2, achieve, come)",
    )
    heard = [f"green_0: {extra['said']}"]
    text = "+ball(A, R)[source(green_0)] <- pickup. +!come <- right. +said(_, _) <- forward."
    assert talk.agent(text, "green_1").decide(heard=heard)[0] == "pickup"
    assert talk.agent(text, "green_2").decide(heard=heard)[0] == "right"
    assert "chooses no action" in talk.agent(text, "green_3").decide(heard=heard)[0]
    words = '+said(green_1, "I go left") <- right.'
    assert talk.agent(words).decide(heard=["green_1: I go left"])[0] == "right"


def test_random_numbers_come_from_the_seed_and_the_step(talk: Talk) -> None:
    text = "!go. +!go <- .random(N); .random([a, b], L); .shuffle([1, 2, 3], S); !tell(N, L, S); left; !go."
    text += "+!tell(N, L, S) <- .print(N, L, S, math.random)."

    def drawn(seed: int) -> list[str]:
        agent = talk.agent(text, seed=seed)
        return [agent.decide()[1]["bdi"]["printed"][0] for _ in range(3)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert len(set(drawn(1))) == 3


def test_it_opens_no_port_and_stays_small(talk: Talk) -> None:
    agent = talk.agent("!go. +!go <- .random(N); left; !go.")
    for step in range(300):
        agent.decide([f"at({step + k}, {k})" for k in range(100)])
    proc = Path(f"/proc/{talk.process.pid}")
    held = {str(link.readlink()) for link in (proc / "fd").iterdir()}
    tables = [(proc / "net" / name).read_text().splitlines()[1:] for name in ("tcp", "tcp6", "udp", "udp6")]
    assert not held & {f"socket:[{line.split()[9]}]" for lines in tables for line in lines}
    peak = next(line for line in (proc / "status").read_text().splitlines() if line.startswith("VmHWM:"))
    assert int(peak.split()[1]) < MOST_MB * 1024


@pytest.mark.full
async def test_an_interpreter_that_hangs_is_ended_with_its_reason(jason: None, tmp_path: Path) -> None:
    (tmp_path / "stuck.asl").write_text("!go. +!go : .range(X, 1, 1000000000000) & X < 0 <- left.")
    stuck = slot("jason_worker", tmp_path / "stuck.asl", deliberation_s=0.1)
    log = await played({"agent": stuck}, "MiniGrid-Empty-5x5-v0", range(1))
    assert log.episodes[0]["status"] == "failed"
    assert "one step of the interpreter has no end" in log.episodes[0]["error"]
