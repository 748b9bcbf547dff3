"""View of one turn in full: a model call with its prompt, or a program's decision with its beliefs.

Replies are untrusted text and are never interpreted as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from PyQt6.QtGui import QFont, QGuiApplication, QTextCharFormat, QTextCursor
from PyQt6.QtWidgets import QTextEdit, QWidget

from gym_gui.analysis.transcripts.action_scores import listed
from gym_gui.analysis.transcripts.bdi_thoughts import FAILED, BdiChanges
from gym_gui.analysis.transcripts.turn import DRY, Turn, repeated
from gym_gui.controllers.live_play.call_log import dollars
from gym_gui.ui import theme
from gym_gui.ui.language.turn_list import facts_of
from gym_gui.ui.numbers import count, in_sentences, local
from gym_gui.ui.widgets import ElidedLabel, LinkButton
from gym_gui.ui.widgets.layouts import column_layout, row_layout

MOST: Final = 40_000
"""Largest number of characters of one text that are shown; the Copy button copies the whole text."""
_MARKS: Final = 500
_BAR: Final = 12
"""Length of the longest score bar in characters, short enough to leave space for the action beside it."""
_ROLES: Final = {
    "system": "System",
    "user": "User",
    "assistant": "Assistant",
    "tool": "Tool result",
}

_ROW_OF_A_BOARD: Final = re.compile(r"\s*(\d+ )?\S( \S){2,}\s*")
"""Regular expression of a row of a text board such as ``8 r n b q k b n r``, which needs a monospaced
font.
"""

SCORES: Final = "Scores"
"""Heading of the section with action scores."""
Section = tuple[str, str, str]
"""Section of a turn's text: heading, text, and color token of the text."""


class TurnView(QWidget):
    """View of a model call or program decision, which marks searched words.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("turn-view")
        self._turn: Turn | None = None
        self._before: Turn | None = None
        self._words = ""
        self._all = False
        self.action_words: Callable[[Turn], str] | None = None
        """Returns the words for a turn's action; by default the turn's own word or the action's number."""
        self._facts = ElidedLabel("", "muted", name="turn-facts")
        self.one_episode = False
        """Whether the view leaves out the episode of a turn."""
        self.one_agent = False
        """Whether the view leaves out the agent of a turn."""
        self.copy = LinkButton(
            "Copy", name="turn-copy", tooltip="Copy the complete text", on_click=self._on_copy
        )
        self._whole = LinkButton("", name="turn-whole", on_click=self._on_whole)
        self._whole.hide()
        self.text = QTextEdit(self)
        self.text.setObjectName("turn-text")
        self.text.setAccessibleName("The turn")
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setAcceptRichText(False)
        head = row_layout()
        head.addWidget(self._facts, 1)
        head.addWidget(self._whole)
        head.addWidget(self.copy)
        column = column_layout(self, spacing=theme.STEP)
        column.addLayout(head)
        column.addWidget(self.text, 1)
        self.copy.hide()
        theme.current().changed.connect(self._fill)

    @property
    def turn(self) -> Turn | None:
        """Model call or decision that is shown, or ``None``."""
        return self._turn

    @property
    def words(self) -> str:
        """Words that are marked in the text."""
        return self._words

    def mark(self, words: str) -> None:
        """Mark other words in the shown turn."""
        self._words = words
        self._mark()

    def show_turn(self, turn: Turn | None, before: Turn | None = None, words: str = "") -> None:
        """Show a turn.

        Args:
            turn: The turn; ``None`` for nothing.
            before: The same agent's previous turn; messages that both turns contain are hidden.
            words: Words to mark in the text.
        """
        place = self.text.verticalScrollBar()
        same = turn is not None and self._turn is not None and turn.ref == self._turn.ref
        at = place.value() if place is not None and same else 0
        self._turn, self._before, self._words, self._all = turn, before, words, self._all and same
        self._fill()
        if place is not None and same:
            place.setValue(at)  # the shown turn has grown: keep the user's place in it

    def refresh(self) -> None:
        """Write the turn again after the words for actions have become known."""
        self._fill()

    def _fill(self) -> None:
        turn = self._turn
        self.copy.setVisible(turn is not None)
        self._facts.setText(self._facts_of(turn) if turn is not None else "")
        old = 0 if turn is None or self._all else repeated(turn, self._before)
        # The last message is always shown, even if an earlier call had the same one.
        old = min(old, len(turn.messages) - 1) if turn is not None and turn.messages else 0
        self._whole.setVisible(old > 0)
        self._whole.set_text(f"{old} earlier message{'' if old == 1 else 's'}")
        self._whole.setToolTip("Show the messages that the previous call contained too")
        write_sections(self.text, sections(turn, old, action=self._action(turn)) if turn is not None else ())
        self._mark()

    def _facts_of(self, turn: Turn) -> str:
        return _facts(turn, agent=not self.one_agent, episode=not self.one_episode)

    def _action(self, turn: Turn) -> str:
        return turn.word or str(turn.action) if self.action_words is None else self.action_words(turn)

    def _mark(self) -> None:
        found: list[QTextEdit.ExtraSelection] = []
        document = self.text.document()
        if self._words and document is not None:
            now = theme.current()
            cursor = document.find(self._words)
            while not cursor.isNull() and len(found) < _MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = cursor
                mark.format.setBackground(now.color("accent"))
                mark.format.setForeground(now.color("on_accent"))
                found.append(mark)
                cursor = document.find(self._words, cursor)
            if found:
                first = QTextCursor(found[0].cursor)
                first.clearSelection()
                self.text.setTextCursor(first)
                self.text.ensureCursorVisible()
        self.text.setExtraSelections(found)

    def _on_whole(self) -> None:
        self._all = True
        self._fill()

    def _on_copy(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None and self._turn is not None:
            parts = [f"{heading}\n{text}" for heading, text, _ in sections(self._turn, 0, cut=False)]
            clipboard.setText("\n\n".join(parts))


def sections(turn: Turn, old: int = 0, *, cut: bool = True, action: str = "") -> Iterator[Section]:
    """Yield the sections of text that describe a model call or decision, in order.

    Args:
        turn: The model call or decision.
        old: Number of messages at the start of the prompt to leave out.
        cut: Whether long texts are shortened.
        action: Words for the action that was played.
    """

    def fit(text: str) -> str:
        if not cut or len(text) <= MOST:
            return text
        return f"{text[:MOST]}\n… {local(len(text) - MOST):,} more characters; Copy copies the whole text"

    if turn.is_decision:
        yield from _decision(turn, fit, action)
        return
    if turn.error:
        yield "No reply", fit(turn.error), "error"
    elif turn.kind == DRY:
        yield "Not sent", "In this dry run the prompt was not sent.", "muted"
    if turn.reply or not (turn.error or turn.tools or turn.kind == DRY):
        heading = "Unusable reply" if turn.refused else "Reply"
        yield heading, fit(turn.reply) or "(nothing)", "error" if turn.refused else "text"
    if turn.why_refused:
        yield "Reason", turn.why_refused, "error"
    if turn.tools:
        yield "Tool calls", fit("\n".join(turn.tools)), "text"
    if turn.said:
        yield "Message to the team", fit(turn.said), "text"
    if turn.source:
        yield "Played", _played(turn, action or str(turn.action)), "text"
    yield from _scores(turn)
    if turn.thinking:
        yield "Thinking", fit(turn.thinking), "muted"
    for message in turn.messages[old:]:
        yield _ROLES.get(message.role, message.role.capitalize()), fit(message.text), "text"


def _decision(turn: Turn, fit: Callable[[str], str], action: str) -> Iterator[Section]:
    """Yield the sections of a program's decision: action and intention, then its beliefs, which may be
    long.
    """
    if turn.source:
        yield "Played", _played(turn, action or _short(turn.action)), "error" if turn.refused else "text"
    if turn.why_refused:
        yield "Reason for the replacement", turn.why_refused, "error"
    if turn.said:
        yield "Message to the team", fit(turn.said), "text"
    yield from _scores(turn)
    if turn.planned is not None and turn.planned.earned:
        with in_sentences():
            earns = turn.planned.words
        yield "Expected reward of the plan", earns, "text"
    for heading, words in (turn.thought or BdiChanges()).pieces():
        yield heading, fit(words), "error" if heading == FAILED else "text"


def _scores(turn: Turn) -> Iterator[Section]:
    """Yield a section with one line per action: score, bar and action, and below it the search's result."""
    shown = listed(turn.scores, turn.word)
    if not shown:
        return
    rows: list[str] = []
    for score in shown:
        with in_sentences():
            written = score.written
        rows.append(f"{written}  {'▇' * round(_BAR * score.share)} {score.word}")
        rows += [f"        {score.more}"] if score.more else []
    if rest := len(turn.scores) - len(shown):
        rows.append(f"and {count(rest, 'action')} with lower scores")
    yield SCORES, "\n".join(rows), "text"


def _short(action: Any) -> str:
    """Return an action as text, with floating-point numbers rounded to four digits."""
    if isinstance(action, float):
        return f"{local(action):.4g}"
    if isinstance(action, list):
        return f"[{', '.join(map(_short, action))}]"
    return str(action)


def _played(turn: Turn, action: str) -> str:
    missing = "its own action" if turn.is_decision else "the reply"
    how = {
        "policy": "",
        "retry": "after a retry",
        "noop": f"no-op, in place of {missing}",
        "default": f"the environment's default, in place of {missing}",
        "random_legal": f"a random legal action, in place of {missing}",
    }
    words = how.get(turn.source, turn.source)
    return f"{action} ({words})" if words else action


def _facts(turn: Turn, *, agent: bool, episode: bool) -> str:
    parts = [
        turn.agent if agent else "",
        f"episode {turn.episode + 1}, step {turn.step}" if episode else f"step {turn.step}",
        turn.answered_by,
    ]
    parts += [facts_of(turn), dollars(turn.usd) if turn.usd is not None else ""]
    if turn.cached_tokens:
        parts.append(f"{local(turn.cached_tokens):,} tokens cached")
    if turn.retries:
        parts.append(f"sent {turn.retries + 1} times")
    if turn.finish and turn.finish not in ("stop", "end_turn"):
        parts.append(f"finish reason {turn.finish}")
    words = " \N{MIDDLE DOT} ".join(part for part in parts if part)
    return words if agent else words[:1].upper() + words[1:]


def write_sections(where: QTextEdit, told: Iterable[Section]) -> None:
    """Replace the content of a text field by sections of heading and text."""
    where.clear()
    document = where.document()
    if document is None:
        return
    document.setDocumentMargin(10)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for heading, text, color in told:
        _section(cursor, heading, text, color)
    cursor.endEditBlock()
    where.moveCursor(QTextCursor.MoveOperation.Start)  # inserted text moves the widget's own cursor


def _section(cursor: QTextCursor, heading: str, text: str, color: str) -> None:
    now = theme.current()
    head = QTextCharFormat()
    head.setFontWeight(QFont.Weight.DemiBold)
    head.setProperty(QTextCharFormat.Property.FontPixelSize, theme.SMALL_PX + 1)
    head.setForeground(now.color("muted"))
    body = QTextCharFormat()
    # Pure red is too dark or too bright for text: take a shade that contrasts with the background.
    body.setForeground(theme.text_on(now.tokens.raised, now.color(color)))
    body.setProperty(QTextCharFormat.Property.FontPixelSize, theme.TEXT_PX)
    if not cursor.atStart():
        cursor.insertBlock()
        cursor.insertText("", body)
        cursor.insertBlock()
    cursor.insertText(heading.upper(), head)
    cursor.insertBlock()
    board = QTextCharFormat(body)
    board.setFontFamilies([theme.mono_font().family()])
    for on_board, lines in groupby(text.splitlines(keepends=True), _is_row):
        cursor.insertText("".join(lines), board if on_board else body)


def _is_row(line: str) -> bool:
    return _ROW_OF_A_BOARD.fullmatch(line) is not None
