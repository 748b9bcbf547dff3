"""Renders the transcript of a run as a single self-contained HTML page.

Replies may contain hostile text, so all text is escaped, there is no script, and nothing is loaded from
elsewhere. Buttons filter the turns by style rules alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gym_gui.analysis.pages.page_style import PAGE_HEAD, STYLE
from gym_gui.analysis.pages.transcript_style import TRANSCRIPT_STYLE, rules
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.transcripts.action_scores import MOST, Score, listed
from gym_gui.analysis.transcripts.bdi_thoughts import BdiChanges
from gym_gui.analysis.transcripts.transcript import Transcript, content_words
from gym_gui.analysis.transcripts.turn import DRY, Message, Turn, repeated
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe, shorten
from gym_gui.core.records import EpisodeRecord

MOST_TURNS = 500
"""Largest number of turns on a page; with more, a browser takes seconds to open the page."""
MOST_CHARACTERS = 3_000_000
MOST_OF_A_TEXT = 6_000
MOST_CHOICES = 60
"""Largest number of agents, and of episodes, that have a filter button."""
_DOT = " \N{MIDDLE DOT} "
_REST_FOR_FAILED = 4
"""Inverse share of the page that is reserved for failed turns of later episodes: a quarter."""
_IN_ITS_PLACE = {
    "noop": "the no-op",
    "default": "the environment's default",
    "random_legal": "a random legal action",
}
"""Description of the action that was played in place of an unusable one, by its source."""


@dataclass(frozen=True)
class _Part:
    """Turns of one operator that the page shows.

    Attributes:
        transcript: Transcript of the operator.
        turns: The turns.
        whole: Indices of episodes that are shown completely.
        cut: Index of the episode that is shown partly; ``None`` if none is.
        later: Number of shown turns of later episodes, without a usable reply.
    """

    transcript: Transcript
    turns: list[Turn]
    whole: tuple[int, ...]
    cut: int | None
    later: int

    @property
    def operator(self) -> OperatorRun:
        return self.transcript.operator


def render_transcript(runs: Sequence[Run], *, most: int = MOST_TURNS) -> str:
    """Return the HTML page with the transcript of runs.

    Args:
        runs: Opened run folders.
        most: Largest number of turns that are shown.

    Raises:
        RunFormatError: A row is damaged.
    """
    found = [t for run in runs for o in run.operators.values() if len(t := Transcript(o))]
    parts = [_chosen(transcript, most // len(found), MOST_CHARACTERS // len(found)) for transcript in found]
    agents = list(dict.fromkeys((p.operator.operator_id, a) for p in parts for a in p.transcript.agents))
    episodes = list(dict.fromkeys((p.operator.operator_id, t.episode) for p in parts for t in p.turns))
    agents, episodes = agents[:MOST_CHOICES], episodes[:MOST_CHOICES]
    title = "Transcript of " + (f"run {runs[0].run_id}" if len(runs) == 1 else f"{len(runs)} runs")
    facts = _facts(runs, sum(len(p.turns) for p in parts), [p.transcript for p in parts])
    nothing = "<p>No model was called, and the policies recorded nothing but actions.</p>"
    style = STYLE + TRANSCRIPT_STYLE + rules(len(agents), len(episodes))
    body = "".join(_operator_part(part, agents, episodes, len(parts) > 1) for part in parts)
    return (
        f"{PAGE_HEAD}<title>{safe(title)}</title>\n<style>{style}</style>\n</head>\n<body><main>"
        f'<header><h1>Transcript</h1><span class="muted">{safe(facts)}</span></header>'
        f"{_choices(agents, episodes, len(parts) > 1)}{body or nothing}"
        "</main></body>\n</html>\n"
    )


def _facts(runs: Sequence[Run], shown: int, transcripts: Sequence[Transcript]) -> str:
    names = ", ".join(f"run {run.run_id}" for run in runs)
    total = sum(map(len, transcripts))
    part = f"{shown:,} of " if shown != total else ""
    return f"{part}{content_words(transcripts)} \N{MIDDLE DOT} {names}"


# ------------------------------------------------------------------------- what is shown


def _chosen(transcript: Transcript, most: int, characters: int) -> _Part:
    """Return the turns to show: the first episodes that fit, then failed turns of later episodes."""
    turns: list[Turn] = []
    whole: list[int] = []
    fits = len(transcript) <= most
    room = most if fits else most - most // _REST_FOR_FAILED
    written, cut = 0, None
    before: dict[str, Turn] = {}
    for episode in transcript.episodes:
        for turn in transcript.turns(episode):
            written += _size(turn, before.get(turn.agent))
            if len(turns) >= room or written > characters:
                cut = episode
                break
            before[turn.agent] = turn
            turns.append(turn)
        if cut is not None:
            break
        whole.append(episode)
    begun = {(t.episode, t.ref, t.agent, t.step, t.attempt, t.turn) for t in turns}
    later = 0
    for episode in transcript.episodes if cut is not None and written <= characters else ():
        if episode < (cut or 0):
            continue
        for turn in transcript.turns(episode, failed=True):
            key = turn.episode, turn.ref, turn.agent, turn.step, turn.attempt, turn.turn
            if len(turns) < most and key not in begun:
                turns.append(turn)
                later += 1
        if len(turns) >= most:
            break
    return _Part(transcript, turns, tuple(whole), cut, later)


def _size(turn: Turn, before: Turn | None) -> int:
    texts = [
        turn.reply,
        turn.thinking,
        turn.error,
        *(m.text for m in turn.messages[repeated(turn, before) :]),
        *(words for _, words in (turn.thought.pieces() if turn.thought is not None else ())),
    ]
    return 600 + 120 * min(len(turn.scores), MOST) + sum(min(len(t), MOST_OF_A_TEXT) for t in texts)


def _renamed(operator: OperatorRun) -> str:
    """Return an HTML note on renamed words in prompts and replies, with their usual names; may be empty."""
    slots: dict[str, list[str]] = {}
    for slot, pairs in operator.renamed.items():
        slots.setdefault(", ".join(pairs), []).append(slot)
    words = (f"Renamed in the prompts of {wording.names(names)}: {pairs}." for pairs, names in slots.items())
    return "".join(f'<p class="note">{safe(each)}</p>' for each in words)


def _left_out(part: _Part) -> str:
    rest = len(part.transcript) - len(part.turns)
    if not rest:
        return ""
    begun = f"whole episodes: {_numbers(part.whole)}; " if part.whole else ""
    begun += f"the beginning of episode {part.cut}; " if part.cut is not None else ""
    failed = wording.count(part.later, "later turn")
    later = f"{failed} without a usable reply; " if part.later else ""
    files = ["calls.jsonl"] * bool(part.transcript.calls) + ["steps.jsonl"] * bool(part.transcript.decisions)
    where = f"{' and '.join(files)} of operators/{part.operator.operator_id}"
    words = f"Shown: {begun}{later}not shown: {wording.count(rest, 'turn')}, in {where}."
    return f'<p class="note">{safe(words)}</p>'


def _numbers(values: Sequence[int]) -> str:
    """Return ascending numbers as text: ``0 to 4``, or a list if they are few or have gaps."""
    if len(values) > 2 and values[-1] - values[0] == len(values) - 1:
        return f"{values[0]} to {values[-1]}"
    listed = ", ".join(str(v) for v in values[:20])
    return listed if len(values) <= 20 else f"{listed}, …"


# --------------------------------------------------------------------------- how it is shown


def _choices(agents: Sequence[tuple[str, str]], episodes: Sequence[tuple[str, int]], named: bool) -> str:
    of_agents = [f"{operator}: {agent}" if named else agent for operator, agent in agents]
    of_episodes = [f"{operator}: {index}" if named else str(index) for operator, index in episodes]
    rows = _radios("Agent", "agent", of_agents) + _radios("Episode", "episode", of_episodes)
    only = '<input type="checkbox" id="failed"><label for="failed">only turns without a usable reply</label>'
    return f'<nav class="panel choices">{rows}<p><b>Turns</b> {only}</p></nav>'


def _radios(title: str, name: str, labels: Sequence[str]) -> str:
    if len(labels) < 2:
        return ""
    keyed = [("all", "all"), *((str(i), label) for i, label in enumerate(labels))]
    buttons = (
        f'<input type="radio" name="{name}" id="{name}-{key}"{" checked" if key == "all" else ""}>'
        f'<label for="{name}-{key}">{safe(label)}</label>'
        for key, label in keyed
    )
    return f"<p><b>{title}</b> {''.join(buttons)}</p>"


def _operator_part(
    part: _Part, agents: Sequence[tuple[str, str]], episodes: Sequence[tuple[str, int]], named: bool
) -> str:
    operator = part.operator
    heading = f"<h2>{safe(operator.name)}</h2>" if named else ""
    records = {e.episode_index: e for e in operator.episodes()}
    places = {agent: i for i, (key, agent) in enumerate(agents) if key == operator.operator_id}
    numbers = {episode: i for i, (key, episode) in enumerate(episodes) if key == operator.operator_id}
    html = [heading, _renamed(operator), _left_out(part)]
    before: dict[str, Turn] = {}
    current: int | None = None
    for turn in part.turns:
        if turn.episode != current:
            html.append("</section>" if current is not None else "")
            current = turn.episode
            before.clear()
            html.append(f'<section class="episode e{numbers.get(current, "x")}">')
            html.append(f"<h3>{safe(_episode(current, records.get(current)))}</h3>")
        html.append(_turn(turn, before.get(turn.agent), places.get(turn.agent)))
        before[turn.agent] = turn
    return "".join(html) + ("</section>" if current is not None else "")


def _episode(index: int, record: EpisodeRecord | None) -> str:
    if record is None:
        return f"Episode {index}, not finished"
    parts = [
        f"Episode {index}",
        f"seed {record.seed}",
        str(record.status),
        wording.count(record.length, "step"),
    ]
    if record.total_reward is not None:
        parts.append(f"return {wording.number(record.total_reward)}")
    if record.error:
        parts.append(shorten(record.error, 200))
    return _DOT.join(parts)


def turn_article(turn: Turn) -> str:
    """Return the HTML of a turn without its prompt, for use beside a replay."""
    classes = f"turn {'failed ' if turn.failed else ''}{_tone(turn)}".rstrip()
    return f'<div class="{classes}"><div class="head">{_head(turn)}</div>{"".join(_body(turn))}</div>'


def turn_articles(turns: Sequence[Turn]) -> tuple[str, int]:
    """Return the HTML of an episode's turns with prompts, and the number of turns left out for lack of space.

    Args:
        turns: Turns of the episode in order.
    """
    html: list[str] = []
    before: dict[str, Turn] = {}
    written = 0
    for number, turn in enumerate(turns):
        written += _size(turn, before.get(turn.agent))
        if number >= MOST_TURNS or written > MOST_CHARACTERS:
            return "".join(html), len(turns) - number
        html.append(_turn(turn, before.get(turn.agent), None))
        before[turn.agent] = turn
    return "".join(html), 0


def _turn(turn: Turn, before: Turn | None, place: int | None) -> str:
    classes = " ".join(
        ["turn", f"a{'x' if place is None else place}", *(["failed"] if turn.failed else []), _tone(turn)]
    ).rstrip()
    return (
        f'<article class="{classes}"><div class="head">{_head(turn)}</div>'
        f"{''.join(_body(turn))}{_prompt(turn, before)}</article>"
    )


def _tone(turn: Turn) -> str:
    return "error" if turn.error else "refused" if turn.refused else ""


def _head(turn: Turn) -> str:
    place = [f"slot {turn.slot}"] if turn.slot not in ("", turn.agent) else []
    place += [f"step {turn.step}"]
    place += [f"retry {turn.attempt}"] if turn.attempt else []
    place += [f"call {turn.turn + 1}"] if turn.turn else []
    facts = [] if turn.is_decision else [*_price(turn)]
    facts += [wording.milliseconds(turn.latency_ms)] if turn.latency_ms is not None else []
    facts += [f"{turn.retries + 1} requests"] if turn.retries else []
    line = _DOT.join(fact for fact in facts if fact)
    return (
        f"<b>{safe(turn.agent or 'agent')}</b> <span>{safe(', '.join(place))}</span>"
        f'<span class="muted facts">{safe(line)}</span>'
    )


def _price(turn: Turn) -> Iterator[str]:
    yield turn.answered_by
    yield f"{turn.input_tokens:,} + {turn.output_tokens:,} tokens"
    if turn.cached_tokens:
        yield f"{turn.cached_tokens:,} of them cached"
    if turn.replayed:
        yield "replayed"
    else:
        yield "price unknown" if turn.usd is None else wording.dollars(turn.usd)


def _body(turn: Turn) -> Iterator[str]:
    if turn.thought is not None:
        yield from _thought(turn, turn.thought)
    elif not turn.is_decision:
        yield from _reply(turn)
    if turn.scores:
        yield _bars(turn)
    if turn.said:
        yield f"<p>Said to the team: <q>{safe(turn.said)}</q></p>"
    if words := _outcome(turn):
        yield f'<p class="outcome">{safe(words)}</p>'


def _thought(turn: Turn, thought: BdiChanges) -> Iterator[str]:
    """Yield the HTML of a BDI agent's thought: intention and plan, failures, messages, folded beliefs."""
    intention = thought.intention or "The agent has no goal."
    plan = f'<span class="muted">{safe(thought.plan)}</span>' if thought.plan else ""
    yield f"<p><b>{safe(intention)}</b> {plan}</p>"
    for failed in thought.failed:
        yield f'<p class="bad">Failed: {safe(failed)}</p>'
    if thought.printed:
        yield _pre("\n".join(thought.printed), "reply")
    for heard in thought.heard:
        yield f'<p class="muted">Received over XMPP: {safe(heard)}</p>'
    changes = [*(f"+ {b}" for b in thought.added), *(f"\N{MINUS SIGN} {b}" for b in thought.removed)]
    if changes:
        yield _details(thought.changes, _pre("\n".join(changes)))


def _bars(turn: Turn) -> str:
    """Return an HTML bar per scored action, best first; the played action is highlighted."""
    shown = listed(turn.scores, turn.word)
    rows = "".join(_bar(score, score.word == turn.word) for score in shown)
    rest = len(turn.scores) - len(shown)
    more = f'<p class="muted">and {wording.count(rest, "action")} with lower scores</p>' if rest else ""
    return f'<table class="scores"><tbody>{rows}</tbody></table>{more}'


def _bar(score: Score, played: bool) -> str:
    kind = ' class="played"' if played else ""
    more = f' <span class="muted">{safe(score.more)}</span>' if score.more else ""
    return (
        f'<tr{kind}><td class="word">{safe(score.word)}{more}</td><td>{safe(score.written)}</td>'
        f'<td><i style="width: {100 * score.share:.1f}%"></i></td></tr>'
    )


def _reply(turn: Turn) -> Iterator[str]:
    if turn.error:
        yield f'<p class="bad">{safe(turn.error)}</p>'
    if turn.thinking:
        yield _details(f"Thinking, {len(turn.thinking):,} characters", _pre(turn.thinking))
    if turn.kind == DRY:
        yield '<p class="muted">Not sent: a dry run.</p>'
    elif turn.reply:
        yield _pre(turn.reply, "reply")
    elif not turn.tools and not turn.error:
        words = "The reply is empty." if turn.messages else "The text of the reply was not recorded."
        yield f'<p class="muted">{words}</p>'
    for tool in turn.tools:
        yield _pre(tool, "tool")
    if turn.finish == "length":
        yield '<p class="muted">Cut off at the limit of tokens.</p>'


def _outcome(turn: Turn) -> str:
    if not turn.source:
        return ("Requested again." if turn.error else "Unusable, requested again.") if turn.refused else ""
    action = shorten(f"{turn.word} ({turn.action})" if turn.word else str(turn.action), 80)
    if turn.refused:
        how = _IN_ITS_PLACE.get(turn.source, turn.source)
        what = "Unusable" if turn.thought is None else "No action was chosen"
        if turn.why_refused:
            return f"{what}: {turn.why_refused}. Played instead: {how}, {action}."
        return f"{what}. Played instead: {how}, {action}."
    return f"Played: {action}"


def _prompt(turn: Turn, before: Turn | None) -> str:
    same = repeated(turn, before)
    fresh = turn.messages[same:] or turn.messages[-1:]
    if not fresh:
        return ""
    count = wording.count(len(turn.messages), "message")
    title = f"Prompt, {count}"
    if skipped := len(turn.messages) - len(fresh):
        title += f", the first {skipped} as in the previous call" if skipped > 1 else ", the first as before"
    return _details(title, "".join(_message(message) for message in fresh))


def _message(message: Message) -> str:
    return f'<p class="role">{safe(message.role or "message")}</p>{_pre(message.text)}'


def _details(title: str, body: str) -> str:
    return f"<details><summary>{safe(title)}</summary>{body}</details>"


def _pre(words: str, kind: str = "") -> str:
    rest = len(words) - MOST_OF_A_TEXT
    shown = words[:MOST_OF_A_TEXT].replace("\r\n", "\n").expandtabs(4)
    lines = "\n".join(safe(line) for line in shown.split("\n"))
    more = f'<p class="muted">and {rest:,} characters more, in the record</p>' if rest > 0 else ""
    # HTML ignores a line break after the tag, so add one that is not part of the text.
    return f'<pre class="{kind}">\n{lines}</pre>{more}'
