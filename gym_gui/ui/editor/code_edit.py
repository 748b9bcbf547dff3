"""Text field for programs with line numbers, syntax colors and error marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PyQt6.QtCore import QRect, QRegularExpression, QSize, Qt
from PyQt6.QtGui import (
    QColor,
    QFontDatabase,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PyQt6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gym_gui.ui import theme
from gym_gui.ui.editor.file_request import Problem
from gym_gui.ui.editor.lexing import Span

_SIDE: Final = 10
_INDENT: Final = 4
_ROLES: Final = {
    "comment": "muted",
    "text": "ok",
    "number": "warning",
    "variable": "bdi",
    "keyword": "accent",
    "goal": "accent",
}
"""Color token for each kind of text that a worker's check or a lexer names."""


class Coloring(QSyntaxHighlighter):
    """Syntax highlighter that colors text by regular expressions or by a lexer's spans, in the colors of
    the theme.
    """

    def __init__(self, document: QTextDocument | None) -> None:
        super().__init__(document)
        self._rules: tuple[tuple[QRegularExpression, str], ...] = ()
        self._spans: Sequence[Sequence[Span]] = ()
        self._make_forms()
        theme.current().changed.connect(self._on_theme_changed)

    def set_rules(self, rules: Sequence[tuple[str, str]]) -> None:
        """Set the coloring rules: regular expression and kind of text; later rules win."""
        made = tuple((QRegularExpression(pattern), role) for pattern, role in rules)
        self._rules = tuple((pattern, role) for pattern, role in made if pattern.isValid() and role in _ROLES)
        self.rehighlight()

    def set_spans(self, spans: Sequence[Sequence[Span]]) -> None:
        """Set the colored spans of the current text, by line; redraw only lines whose spans changed."""
        before, self._spans = self._spans, spans
        document = self.document()
        for number, line in enumerate(spans):
            if number >= len(before) or before[number] != line:
                block = document.findBlockByNumber(number) if document is not None else None
                if block is not None and block.isValid():
                    self.rehighlightBlock(block)

    def highlightBlock(self, text: str | None) -> None:
        """Color one line of the text."""
        number = self.currentBlock().blockNumber()
        for span in self._spans[number] if number < len(self._spans) else ():
            self.setFormat(span.start, span.length, self._forms[span.role])
        for pattern, role in self._rules:
            found = pattern.globalMatch(text or "")
            while found.hasNext():
                match = found.next()
                self.setFormat(match.capturedStart(), match.capturedLength(), self._forms[role])

    def _on_theme_changed(self) -> None:
        self._make_forms()
        self.rehighlight()

    def _make_forms(self) -> None:
        """Create the text formats once per theme, because finding readable colors is slow."""
        self._forms = {role: _form(role) for role in _ROLES}


def _form(role: str) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setForeground(theme.text_on(theme.current().tokens.raised, _color(role)))
    return form


def _color(role: str) -> QColor:
    token = _ROLES[role]
    return theme.kind_color(token) if token == "bdi" else theme.current().color(token)


class CodeEdit(QPlainTextEdit):
    """Text field for programs with line numbers, syntax colors and error marks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(False)
        self.setAccessibleDescription("Tab indents; Ctrl+Tab moves to the next control")
        self.coloring = Coloring(self.document())
        self._wrong: Mapping[int, Problem] = {}
        self._numbers = _Numbers(self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._on_update)
        theme.current().changed.connect(self._mark)
        self.cursorPositionChanged.connect(self._numbers.update)
        self._make_room()

    @property
    def text(self) -> str:
        """Text with every character unchanged; Qt's ``toPlainText`` replaces non-breaking spaces."""
        document = self.document()
        return "" if document is None else document.toRawText().replace("\u2029", "\n")

    @property
    def problems(self) -> Mapping[int, Problem]:
        """Marked problems by line number."""
        return self._wrong

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Mark problems in the text; a line shows only its first problem."""
        self._wrong = {each.line: each for each in reversed(problems) if each.line}
        self._mark(problems)

    def go_to(self, line: int, column: int = 0) -> None:
        """Move the cursor to a line (from 1) and column; for a line past the end, to the last line."""
        document = self.document()
        if document is None:
            return
        block = document.findBlockByNumber(max(min(line, document.blockCount()), 1) - 1)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(max(column - 1, 0), block.length() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus()

    def replace_all(self, words: str) -> None:
        """Replace the whole text, with Undo; keep the cursor's line and the scroll position."""
        line, column = self.textCursor().blockNumber(), self.textCursor().positionInBlock()
        top = self.verticalScrollBar()
        seen = top.value() if top is not None else 0
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(words)
        document = self.document()
        if document is not None:
            block = document.findBlockByNumber(min(line, document.blockCount() - 1))
            cursor.setPosition(block.position() + min(column, block.length() - 1))
            self.setTextCursor(cursor)
        if top is not None:
            top.setValue(seen)

    def keyPressEvent(self, e: QKeyEvent | None) -> None:
        """Indent by four spaces with Tab, keep the indent at Enter, and leave the field with Ctrl+Tab."""
        if e is None:
            return
        modifiers, key = e.modifiers(), e.key()
        if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and modifiers & Qt.KeyboardModifier.ControlModifier:
            self.focusNextPrevChild(key == Qt.Key.Key_Tab)
        elif key == Qt.Key.Key_Tab and not self.textCursor().hasSelection():
            column = self.textCursor().positionInBlock()
            self.insertPlainText(" " * (_INDENT - column % _INDENT))
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._indent(more=key == Qt.Key.Key_Tab)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not modifiers:
            line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
            self.insertPlainText("\n" + line[: len(line) - len(line.lstrip(" \t"))])
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(e)

    def _indent(self, *, more: bool) -> None:
        """Indent or dedent the lines of the selection, or the cursor's line."""
        cursor, document = self.textCursor(), self.document()
        if document is None:
            return
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(max(cursor.selectionEnd() - 1, cursor.selectionStart())).blockNumber()
        cursor.beginEditBlock()
        for number in range(first, last + 1):
            block = document.findBlockByNumber(number)
            edit = QTextCursor(block)
            if more:
                edit.insertText(" " * _INDENT)
            else:
                words = block.text()
                blank = min(len(words) - len(words.lstrip(" ")), _INDENT)
                edit.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, blank)
                edit.removeSelectedText()
        cursor.endEditBlock()

    def _mark(self, problems: Sequence[Problem] | None = None) -> None:
        document, found = self.document(), list[QTextEdit.ExtraSelection]()
        given = problems if problems is not None else list(self._wrong.values())
        for problem in given if document is not None else ():
            block = document.findBlockByNumber(problem.line - 1)  # type: ignore[union-attr]
            if not problem.line or not block.isValid():
                continue
            text = block.text()
            blank = len(text) - len(text.lstrip())
            start = text.find(problem.word) if problem.word else max(blank, problem.column - 1)
            if start >= len(text):
                start = blank  # at the end of the line nothing could be marked
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + max(start, 0))
            move, keep = QTextCursor.MoveOperation, QTextCursor.MoveMode.KeepAnchor
            if problem.word and start >= 0:
                cursor.movePosition(move.Right, keep, len(problem.word))
            else:
                cursor.movePosition(move.EndOfBlock, keep)
            mark = QTextEdit.ExtraSelection()
            mark.cursor = cursor
            mark.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            mark.format.setUnderlineColor(theme.current().color("error"))
            mark.format.setToolTip(problem.text)
            found.append(mark)
        self.setExtraSelections(found)
        self._numbers.update()

    # -- line numbers ------------------------------------------------------------------

    @property
    def numbers_width(self) -> int:
        """Width of the column with line numbers, in pixels."""
        digits = max(2, len(str(self.blockCount())))
        return 2 * _SIDE + digits * self.fontMetrics().horizontalAdvance("9")

    def _make_room(self, _count: int = 0) -> None:
        self.setViewportMargins(self.numbers_width, 0, 0, 0)
        self._place()

    def _place(self) -> None:
        area = self.contentsRect()
        self._numbers.setGeometry(QRect(area.left(), area.top(), self.numbers_width, area.height()))

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Fit the column of line numbers to the new size."""
        super().resizeEvent(e)
        self._place()

    def paint_numbers(self, painter: QPainter, area: QRect) -> None:
        """Draw the visible line numbers; the number of a line with an error is red and has a bar."""
        now, block = theme.current(), self.firstVisibleBlock()
        painter.setFont(self.font())
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            wrong = number in self._wrong
            if wrong:
                painter.fillRect(QRect(0, int(top), 3, int(height)), now.color("error"))
            here = number == self.textCursor().blockNumber() + 1
            color = theme.text_on(now.tokens.raised, now.color("error" if wrong else "muted"))
            if here and not wrong:
                color = now.color("text")
            painter.setPen(color)
            place = QRect(0, int(top), self._numbers.width() - _SIDE, int(height))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number))
            top += height
            block = block.next()


class _Numbers(QWidget):
    """Column of line numbers beside the text."""

    def __init__(self, editor: CodeEdit) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.numbers_width, 0)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        painter = QPainter(self)
        if a0 is not None:
            self._editor.paint_numbers(painter, a0.rect())
