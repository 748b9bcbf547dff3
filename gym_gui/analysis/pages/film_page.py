"""Renders replays of episodes as HTML, each with its transcript beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import Films, Scene
from gym_gui.analysis.pages.film_style import in_script, player_script
from gym_gui.analysis.pages.transcript_page import turn_article
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe, shorten

MOST_LISTED: Final = 12
"""Largest number of episodes without a replay that a note lists."""
_MOST_TURNS = 60
_MOST_CHARACTERS = 40_000
"""Largest number of characters in the transcript beside a replay."""
NO_SCRIPT = '<noscript><p class="note">Replays need JavaScript, which is off in this browser.</p></noscript>'
_BOARD_PX = 456
_SPEEDS = (1, 2, 4, 10, 20, 50)


def film_section(scenes: Sequence[Scene], films: Films, runs: Sequence[Run]) -> str:
    """Return the HTML section with the replays of a report, by operator; empty without replays.

    Args:
        scenes: All episodes that the report may show.
        films: Available replays by episode.
        runs: Opened runs that contain the transcripts.
    """
    if not films:
        return ""
    by_operator: defaultdict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        by_operator[scene.operator.key].append(scene)
    said = _Transcripts(runs)
    parts = [_operator_part(of_one, films, said) for of_one in by_operator.values()]
    return f"<h2>Episodes</h2>{''.join(parts)}{closing(films.values())}"


def closing(films: Iterable[Film]) -> str:
    """Return the HTML of the script that plays all replays of a page; empty if no replay has frames."""
    if not any(film.frames for film in films):
        return ""
    return f"{NO_SCRIPT}<script>{player_script()}</script>"


def _operator_part(scenes: Sequence[Scene], films: Films, said: _Transcripts) -> str:
    operator = scenes[0].operator
    shown = [(scene, film) for scene in scenes if (film := films.get(scene.key))]
    played = [film_article(scene, film, said.of(scene)) for scene, film in shown if film.frames]
    whys: defaultdict[str, list[str]] = defaultdict(list)
    for scene, film in shown:
        if not film.frames:
            whys[film.missing].append(f"{scene.title.lower()} ({scene.facts})")
    notes = [f"No replay of {'; '.join(which)}: {why}." for why, which in whys.items()]
    notes.append(_left_out(scenes, films))
    body = "".join(f'<p class="note">{safe(note)}</p>' for note in notes if note)
    return f'<h3>{safe(operator.name)}</h3><div class="films">{"".join(played)}</div>{body}'


def _left_out(scenes: Sequence[Scene], films: Films) -> str:
    """Return a note on episodes without replay, with the command that shows them; empty if there are none."""
    rest = [scene for scene in scenes if scene.key not in films]
    if not rest:
        return ""
    numbers = ", ".join(str(scene.episode_index) for scene in rest[:MOST_LISTED])
    more = f" and {len(rest) - MOST_LISTED:,} more" if len(rest) > MOST_LISTED else ""
    run, operator, _ = rest[0].key
    command = f"mosaic replay {run} --operator {operator} --episode N"
    what = "failed episode" if all(scene.bad for scene in rest) else "episode"
    return (
        f"Left out to keep the page small: {wording.count(len(rest), what)} ({numbers}{more}). See: {command}"
    )


def film_article(scene: Scene, film: Film, turns: Sequence[Turn]) -> str:
    """Return the HTML of one replay with its controls, and with a transcript if there are turns."""
    why = f'<p class="bad">{safe(shorten(scene.bad, 300))}</p>' if scene.bad else ""
    note = f'<p class="note">{safe(film.departs)}</p>' if film.departs else ""
    thinned = f'<p class="muted">Every {film.every}th frame is shown.</p>' if film.every > 1 else ""
    heading = f'<h4>{safe(scene.title)}</h4><p class="facts-of">{safe(scene.facts)}</p>'
    body = f"{heading}{why}{_stage(scene, film)}{_transport(film)}{_acts(film)}{thinned}{note}"
    data = f'<script type="application/json">{in_script(msgspec.to_builtins(film))}</script>'
    label = safe(f"Replay: {scene.title}, {scene.facts}")
    start = f'tabindex="0" role="group" aria-label="{label}" data-film="{film.episode_index}"'
    if not turns:
        return f'<article class="film" {start}>{body}{data}</article>'
    words = "".join(f'<div data-step="{turn.step}">{turn_article(turn)}</div>' for turn in turns)
    return (
        f'<article class="film with-words" {start}><div>{body}</div>'
        f'<div class="said" tabindex="0" aria-label="Transcript">{words}</div>{data}</article>'
    )


def _stage(scene: Scene, film: Film) -> str:
    label = safe(f"{scene.operator.name}, {scene.facts}")
    if film.board[0]:
        _, rows, columns = film.board
        side = _BOARD_PX // max(rows, columns)
        size = f'width="{columns * side + 24}" height="{rows * side + 24}"'
        screen = f'<canvas {size} role="img" aria-label="{label}"></canvas>'
    elif film.width:
        small = ' class="small"' if max(film.width, film.height) <= 200 else ""
        size = f'width="{film.width}" height="{film.height}"'
        screen = f'<canvas{small} {size} role="img" aria-label="{label}"></canvas>'
    else:
        screen = f'<pre class="screen" aria-label="{label}"></pre>'
    return f'<div class="stage">{screen}</div>'


def _transport(film: Film) -> str:
    usual = 2 if film.board[0] else 20 if len(film.frames) > 150 else 10
    speeds = "".join(
        f'<option value="{s}"{" selected" if s == usual else ""}>{s} per second</option>' for s in _SPEEDS
    )
    last = len(film.frames) - 1
    return (
        '<div class="transport">'
        f'<input type="range" min="0" max="{last}" value="0" step="1" aria-label="Position">'
        f"{_button('first', 'Go to the beginning', 'Home', '⏮')}"
        f"{_button('back', 'Go one step back', 'Left', '◀')}"
        '<button type="button" class="play" title="Play or pause (Space)">Play</button>'
        f"{_button('on', 'Go one step forward', 'Right', '▶')}{_button('last', 'Go to the end', 'End', '⏭')}"
        f'<select aria-label="Speed" title="Speed (+ and -)">{speeds}</select>'
        "<output></output></div>"
    )


def _button(name: str, what: str, key: str, sign: str) -> str:
    title = f'title="{what} ({key})" aria-label="{what}"'
    return f'<button type="button" class="{name}" {title}>{sign}\N{VARIATION SELECTOR-15}</button>'


def _acts(film: Film) -> str:
    scores = '<p class="scores-now"></p>' if film.teams else ""
    rows = "".join(f"<tr><td>{safe(agent)}</td><td></td><td></td><td></td></tr>" for agent in film.agents)
    head = "<tr><th>Agent</th><th>Action</th><th>Reward</th><th>Return</th></tr>"
    return f'{scores}<table class="acts"><thead>{head}</thead><tbody>{rows}</tbody></table>'


class _Transcripts:
    """Cache of the transcripts of operators, each of which is opened once."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs: Mapping[str, Run] = {run.run_id: run for run in runs}
        self._transcripts: dict[tuple[str, str], Transcript] = {}

    def of(self, scene: Scene) -> list[Turn]:
        """Return the first turns of an episode, as many as fit beside its replay."""
        run = self._runs.get(scene.operator.run_id)
        if run is None:
            return []
        key = scene.operator.run_id, scene.operator.operator_id
        if key not in self._transcripts:
            self._transcripts[key] = Transcript(run.operators[scene.operator.operator_id])
        return list(fitting(self._transcripts[key].turns(scene.episode_index)))


def fitting(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield the first turns of an episode, as many as fit beside its replay."""
    room = _MOST_CHARACTERS
    for number, turn in enumerate(turns):
        room -= len(turn.reply) + len(turn.thinking) + 300
        if number >= _MOST_TURNS or room < 0:
            return
        yield turn
