"""AgentSpeak agents: what they see, how they fail and recover, what they say, and that they repeat."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agentspeak")

from agentspeak import Literal

from spade_bdi_worker.agent import Episode, words_of
from spade_bdi_worker.agentspeak_agent import NoActionChosen, ReasoningRecord
from spade_bdi_worker.literals import as_text, literal, parsed
from spade_bdi_worker.program import ProgramError, collected_warnings, parse_program, read_program

WORDS = ["left", "right", "forward", "pickup"]


def agent(text: str, name: str = "green_0", seed: int = 1) -> Episode:
    return Episode(parse_program("mind.asl", text), WORDS, (), name, seed)


def decide(
    episode: Episode, facts: Sequence[str] = (), heard: Sequence[str] = (), step: int = 0, **limits: Any
) -> tuple[str, ReasoningRecord, str]:
    how = {"cycles": 2_000, "until": time.monotonic() + 60, **limits}
    action, thought, told = episode.decide(step, facts, heard, **how)
    return as_text(action), thought, told


def test_a_plan_goes_on_where_its_last_action_left_it() -> None:
    episode = agent("!go. +!go <- left; right; forward; !go.")
    assert [decide(episode)[0] for _ in range(5)] == ["left", "right", "forward", "left", "right"]


def test_beliefs_are_what_is_seen_now_and_their_changes_are_events() -> None:
    episode = agent(
        '+key(C) <- !take(C). -key(C) <- .print("gone ", C); left.\n'
        "+!take(yellow) : facing(key) <- pickup. +!take(_) <- forward."
    )
    action, thought, _ = decide(episode, ["key(yellow)", "facing(key)"])
    assert action == "pickup"
    assert thought.added == ["key(yellow)", "facing(key)"]
    assert (thought.goals[-1], thought.plan) == ("take(yellow)", "line 2: +!take(yellow) : facing(key)")
    action, thought, _ = decide(episode, ["facing(key)"])
    assert (action, thought.removed, thought.added) == ("left", ["key(yellow)"], [])
    assert thought.printed == ["gone yellow"]


def test_what_a_plan_waits_for_is_an_event_where_no_plan_is_about_it() -> None:
    episode = agent('!go. +!go <- .wait("+key(_)."); right. +!other <- left.')
    with pytest.raises(NoActionChosen, match="waits"):
        decide(episode, ["free(1, 0)"])
    assert decide(episode, ["key(yellow)"])[0] == "right"


def test_a_goal_that_fails_is_recovered_by_its_own_plan_and_what_follows_goes_on() -> None:
    episode = agent("!day. +!day <- !work; forward. +!work <- left; .fail. -!work <- right.")
    assert [decide(episode)[0] for _ in range(3)] == ["left", "right", "forward"]


def test_recovery_is_sought_from_the_inside_outwards() -> None:
    episode = agent("!a. +!a <- !b; left. +!b <- !c. +!c <- .fail. -!a <- pickup.")
    action, thought, _ = decide(episode)
    assert action == "pickup"
    assert [each.partition(":")[0] for each in thought.failed] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("text", "limits", "says"),
    [
        ("believes(this).", {}, "nothing left to do and chooses no action"),
        ("!go. +!go <- !there.", {}, "no applicable plan for +!there/0"),
        ("!go. +!go <- !go.", {}, "within 2000 steps"),
        ("!go. +!go <- !go.", {"cycles": 10**9, "until": 0.0}, "within its deadline"),
        ("!go. +!go : .range(1000000000000, X) & X < 0 <- left.", {"until": 0.0}, "within its deadline"),
        ("on(X) :- on(X). !go. +!go : on(1) <- left.", {}, "rules call each other without end"),
        ("on(X) :- on(X). !go. +!go <- ?on(1); left.", {}, "rules call each other without end"),
        ("n(0). n(N) :- n(M) & N = M + 1. !go. +!go : n(N) & N < 0 <- left.", {}, "without end"),
        ("!go. +!go <- .nth(9, [a], X); left.", {}, "mind.asl, line 1: "),
    ],
)
def test_a_program_without_an_action_is_told_why(text: str, limits: dict[str, Any], says: str) -> None:
    with pytest.raises(NoActionChosen) as caught:
        decide(agent(text), **limits)
    assert says in str(caught.value)


def test_an_agent_of_which_a_plan_failed_for_good_goes_on_with_its_other_goals() -> None:
    episode = agent("!one. !two. +!one <- .fail. +!two <- right; !two.")
    assert [decide(episode)[0] for _ in range(2)] == ["right", "right"]


def test_what_is_sent_is_heard_by_whom_it_is_for_and_by_nobody_else() -> None:
    sender = agent("!go. +!go <- .send(green_1, tell, ball(2, -3)); .send(green_2, achieve, come); left.")
    action, _, told = decide(sender)
    assert action == "left"
    heard = [f"green_0: {told}"]
    text = "+ball(A, R)[source(green_0)] <- pickup. +!come <- right. +said(_, _) <- forward."
    assert decide(agent(text, "green_1"), heard=heard)[0] == "pickup"
    assert decide(agent(text, "green_2"), heard=heard)[0] == "right"
    with pytest.raises(NoActionChosen):
        decide(agent(text, "green_3"), heard=heard)


def test_words_of_a_team_mate_that_is_no_program_are_heard_as_they_are() -> None:
    text = '+said(green_1, "I go left") <- right.'
    assert decide(agent(text), heard=["green_1: I go left"])[0] == "right"


def test_a_quotation_and_a_list_are_sent_as_they_are() -> None:
    sender = agent('!go. +!go <- .broadcast(tell, seen(["a key", x], 1.5)); left.')
    told = decide(sender)[2]
    hears = agent("+seen([F, x], N) <- act(F).", "green_1")
    assert decide(hears, heard=[f"green_0: {told}"])[0] == 'act("a key")'


def test_random_numbers_come_from_the_seed_and_the_step() -> None:
    text = "!go. +!go <- .random(N); act(N); !go."

    def drawn(seed: int) -> list[str]:
        episode = agent(text, seed=seed)
        return [decide(episode, step=step)[0] for step in range(3)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert len(set(drawn(1))) == 3


@pytest.mark.parametrize(
    ("step", "then"),
    [
        ("-+state(idle, 2)", ["state(idle, 2)"]),
        ("N = 3; -+state(N, [])", ["state(3, [])"]),
        ("if (other) { -+state(idle, 2) }", ["state(idle, 2)"]),
        ("-+flag", ["state(busy, 1)", "flag"]),
    ],
)
def test_a_belief_takes_the_place_of_whatever_there_was_of_its_name(step: str, then: list[str]) -> None:
    episode = agent(f"state(busy, 1). other. !go. +!go <- {step}; left.")
    assert decide(episode)[0] == "left"
    held = [as_text(each) for group in episode.mind.beliefs.values() for each in group]
    assert [each for each in held if each != "other"] == then


def test_where_several_beliefs_fit_the_one_that_came_first_is_taken() -> None:
    names = [f"thing_{i}" for i in range(40)]
    episode = agent("!go. +!go : at(T) <- act(T).")
    assert decide(episode, [f"at({name})" for name in names])[0] == "act(thing_0)"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("!go.\n+!go <- left\n+!stay <- right.", "mind.asl, line 3: expected term, got '!'"),
        ("+!go : <- left.", "mind.asl, line 1: expected term"),
        (
            '{ include("other.asl") }',
            "mind.asl, line 1: other.asl is not included: the folder of the program's own",
        ),
        ('{\tinclude("other.asl") }', "mind.asl, line 1: other.asl is not included"),
        ('at("http://x"). { // now\n include ("other.asl") }', "mind.asl, line 2: other.asl is not included"),
        ("{ begin namespace(a) } !go. { end }", "mind.asl, line 1: the only directive is include"),
        ("+!go : " + "(" * 5000 + "a" + ")" * 5000 + " <- left.", "mind.asl: it is nested too deeply"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_program("mind.asl", text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("/etc/hostname", "name a file in the program's own folder"),
        ("../other.asl", "name a file in the program's own folder"),
        ("linked.asl", "links are not followed"),
        ("linked/other.asl", "is not included"),
        ("pipe", "it is not a file"),
        ("large.asl", "at most 1,000,000 bytes"),
        ("nowhere.asl", "No such file or directory"),
        ("deep/1.asl", "at most 8 levels deep"),
    ],
)
def test_nothing_outside_its_folder_is_read_because_a_program_names_it(
    file: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "other.asl").write_text("+!go <- left.")
    folder = tmp_path / "program"
    (folder / "deep").mkdir(parents=True)
    (folder / "linked.asl").symlink_to(tmp_path / "other.asl")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / "large.asl").write_text("//" + "x" * 1_000_000)
    for number in range(1, 12):
        (folder / "deep" / f"{number}.asl").write_text(f'{{ include("deep/{number + 1}.asl") }}')
    (folder / "mind.asl").write_text(f'{{ include("{file}") }} !go.')
    with pytest.raises(ProgramError) as caught:
        read_program(str(folder / "mind.asl"))
    assert says in str(caught.value)


def test_a_directive_does_not_begin_in_one_file_and_end_in_another(tmp_path: Path) -> None:
    (tmp_path / "half.asl").write_text("+!stay. {")
    (tmp_path / "mind.asl").write_text('{ include("half.asl") } include("/etc/hostname") } !go.')
    with pytest.raises(ProgramError, match="a file must not end within a directive"):
        read_program(str(tmp_path / "mind.asl"))


def test_what_is_said_while_a_plan_waits_goes_with_the_next_action() -> None:
    episode = agent("!go. +!go <- .send(green_1, askOne, ball(_), A); A = ball(N); act(N). +free <- left.")
    with pytest.raises(NoActionChosen, match="waits"):
        decide(episode)
    action, _, told = decide(episode, ["free"])
    assert (action, told) == ("left", ".send(green_1, askOne[id(q1)], ball(_))")
    assert decide(episode, heard=["green_1: .send(green_0, tell[re(q1)], ball(2))"])[0] == "act(2)"


@pytest.mark.parametrize("words", [".send(green_0, askOne, q)", ".send(green_0, tell[id(q1)], q)"])
def test_a_question_without_a_number_is_other_words(words: str) -> None:
    assert decide(agent("+said(green_1, _) <- right."), heard=[f"green_1: {words}"])[0] == "right"


def test_a_file_that_is_none_is_named(tmp_path: Any) -> None:
    with pytest.raises(ProgramError, match=r"nowhere\.asl cannot be read"):
        read_program(str(tmp_path / "nowhere.asl"))


def test_what_is_wrong_with_a_file_is_said_without_numbers_of_the_system(tmp_path: Any) -> None:
    file = tmp_path / "mind.asl"
    file.write_bytes(b"!g\xe9.")
    with pytest.raises(ProgramError, match=r"mind\.asl cannot be read: it is not UTF-8$"):
        read_program(str(file))
    with pytest.raises(ProgramError, match=r"nowhere\.asl cannot be read: No such file or directory$"):
        read_program(str(tmp_path / "nowhere.asl"))


def test_a_byte_order_mark_is_no_part_of_a_program(tmp_path: Any) -> None:
    (tmp_path / "mind.asl").write_text("!go. +!go <- left.", "utf-8-sig")
    assert len(read_program(str(tmp_path / "mind.asl")).tree.plans) == 1


@pytest.mark.parametrize(
    "words", ['.send(green_0, tell, "open)', f".broadcast(tell, {'f(' * 330}a{')' * 330})"]
)
def test_whatever_a_team_mate_says_is_heard(words: str) -> None:
    text = "!wait. +!wait <- left; !wait. +said(green_1, _) <- right."
    assert decide(agent(text), heard=[f"green_1: {words}"])[0] in ("left", "right")


def test_words_of_actions_are_atoms() -> None:
    assert words_of(["Place stone", "up", "2 left"]) == {"place_stone": 0, "up": 1, "n2_left": 2}


def test_the_goals_of_a_loop_are_recorded_once() -> None:
    episode = agent("!go. +!go <- !turn; !go. +!turn <- left.")
    thoughts = [decide(episode, step=step)[1] for step in range(5)]
    assert [thought.goals for thought in thoughts] == [["go", "turn"]] * 5


def test_beliefs_of_its_own_and_those_that_it_was_told_are_recorded_as_those_it_sees() -> None:
    episode = agent("count(0). !go. +!go : count(N) <- -+count(N + 1); +short; -short; left; !go.")
    _, thought, _ = decide(episode, ["free(1, 0)"], heard=["green_1: .send(green_0, tell, ball(2, 3))"])
    assert thought.added == ["free(1, 0)", "ball(2, 3)", "count(1)"]
    assert thought.removed == ["count(0)"]
    _, thought, _ = decide(episode, ["free(1, 0)"], heard=["green_1: .send(green_0, tell, ball(2, 3))"])
    assert (thought.added, thought.removed) == (["count(2)"], ["count(1)"])


def test_beliefs_that_are_abolished_are_recorded_as_lost() -> None:
    episode = agent("seen(1). seen(2). other(1). !go. +!go <- .abolish(seen(_)); left.")
    assert decide(episode)[1].removed == ["seen(1)", "seen(2)"]


def test_no_program_writes_a_file() -> None:
    with collected_warnings() as problems:
        agent("!go. +!go <- .control_flow; left.")
    (problem,) = problems
    assert problem.startswith("mind.asl, line 1: no such action '.control_flow' with 0 arguments")


@pytest.mark.parametrize(
    "text",
    [
        "door(yellow, locked, 2, -1)", "pole_angle(-0.0003)", "x(1.5e-05)", "x(1e-05)", "at(007, 1)",
        "a(true)", "a(b(c), 1)", "day", "x(1,2)", 'mission("go, now")', "true(1)", "a(div)", "a([1, 2])",
        'said(a, "(")',
    ],
)  # fmt: skip
def test_plain_facts_are_what_the_parser_makes_of_them(text: str) -> None:
    try:
        expected = parsed(text)
    except ProgramError:
        with pytest.raises(ProgramError):
            literal(text, "percept")
        return
    got = literal(text, "percept")
    assert got == expected.with_annotation(Literal("source", (Literal("percept"),)))
    assert list(map(type, got.args)) == list(map(type, expected.args))
