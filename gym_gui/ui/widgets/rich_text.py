"""View of Markdown text, with space between paragraphs and pictures as wide as the page."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt, QUrl, QVariant
from PyQt6.QtGui import (
    QFont,
    QImage,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextTable,
)
from PyQt6.QtWidgets import QTextBrowser, QWidget

from gym_gui.ui import theme
from gym_gui.ui.timers import single_shot_timer

_RESIZED_MS: Final = 120
_MARGIN: Final = 12
_PICTURE: Final = "\ufffc"
_SIZES: Final = {1: 20, 2: 16, 3: 14}
"""Font sizes of headings by level, in pixels."""


class Prose(QTextBrowser):
    """Read-only view of Markdown text, which loads pictures only from local files.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bare")
        self._pictures: dict[str, QImage] = {}
        self._width = 0
        self._fit_soon = single_shot_timer(self, _RESIZED_MS, self._fit_pictures)

    def show_markdown(self, markdown: str) -> None:
        """Show a Markdown text, scrolled to its beginning."""
        self._pictures.clear()
        self._width = self._room()
        self.setMarkdown(markdown)
        self._shape()

    def headings(self) -> list[tuple[str, QTextBlock]]:
        """Return the text and the text block of each heading."""
        return [(block.text(), block) for block in _blocks(self.document()) if _heading(block)]

    def show_block(self, block: QTextBlock) -> None:
        """Scroll a text block to the top of the view and put the cursor before it."""
        self.setTextCursor(QTextCursor(block))
        document, bar = self.document(), self.verticalScrollBar()
        layout = document.documentLayout() if document is not None else None
        if layout is not None and bar is not None:
            bar.setValue(int(layout.blockBoundingRect(block).top()))

    def picture(self, url: QUrl) -> QImage:
        """Return a picture of the text at its original size; a null image if it cannot be read."""
        key = url.toString()
        if key not in self._pictures:
            self._pictures[key] = QImage(url.toLocalFile()) if url.isLocalFile() else QImage()
        return self._pictures[key]

    def loadResource(self, type: int, name: QUrl) -> QVariant:
        """Return a picture scaled to at most the view's width; return an invalid value for other
        resources.
        """
        if type == QTextDocument.ResourceType.ImageResource.value:
            return QVariant(self._fitted(name))
        return QVariant()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Scale the pictures after the size of the view has not changed for 120 ms."""
        super().resizeEvent(a0)
        if self._pictures and self._room() != self._width:
            self._fit_soon.start()

    def _room(self) -> int:
        view = self.viewport()
        return max((view.width() if view is not None else 0) - _MARGIN, 80)

    def _fitted(self, url: QUrl) -> QImage:
        picture, ratio = self.picture(url), self.devicePixelRatioF()
        if picture.isNull():
            return picture
        width = min(round(self._width * ratio), round(picture.width() * ratio))
        scaled = picture.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        scaled.setDevicePixelRatio(ratio)
        return scaled

    def _fit_pictures(self) -> None:
        document = self.document()
        if document is None or self._room() == self._width:
            return
        self._width = self._room()
        for key in self._pictures:
            url = QUrl(key)
            document.addResource(
                QTextDocument.ResourceType.ImageResource.value, url, QVariant(self._fitted(url))
            )
        document.markContentsDirty(0, document.characterCount())

    def _shape(self) -> None:
        """Set the paragraph spacing, the font weights and sizes, and the format of tables."""
        document = self.document()
        if document is None:
            return
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for block in _blocks(document):
            shape = QTextBlockFormat()
            level = block.blockFormat().headingLevel()
            shape.setTopMargin((14.0 if block.position() else 0.0) if level else 2.0)
            shape.setBottomMargin(4.0 if block.textList() is not None else 8.0)
            if _PICTURE not in block.text():  # The space would be as high as the picture.
                kind = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
                shape.setLineHeight(125.0, kind)
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(shape)
            for start, length, bold in _strong(block):
                words = QTextCharFormat()
                if level or bold:
                    words.setFontWeight(QFont.Weight.DemiBold)
                if level:
                    words.setProperty(QTextFormat.Property.FontPixelSize, _SIZES.get(level, theme.TEXT_PX))
                    words.clearProperty(QTextFormat.Property.FontSizeAdjustment)
                cursor.setPosition(start)
                cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(words)
        cursor.endEditBlock()
        for frame in document.rootFrame().childFrames():  # type: ignore[union-attr]
            if isinstance(frame, QTextTable):
                _shape_table(frame)


def _blocks(document: QTextDocument | None) -> list[QTextBlock]:
    found: list[QTextBlock] = []
    block = document.begin() if document is not None else QTextBlock()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _heading(block: QTextBlock) -> bool:
    return block.blockFormat().headingLevel() > 0


def _strong(block: QTextBlock) -> list[tuple[int, int, bool]]:
    """Return the start, the length and the boldness of each text fragment of a paragraph."""
    found: list[tuple[int, int, bool]] = []
    pieces = block.begin()
    while not pieces.atEnd():
        piece = pieces.fragment()
        bold = piece.charFormat().fontWeight() > QFont.Weight.Normal.value
        found.append((piece.position(), piece.length(), bold))
        pieces += 1
    return found


def _shape_table(table: QTextTable) -> None:
    """Remove an empty heading row, draw thin lines and fit column widths to the texts."""
    columns, rows = table.columns(), table.rows()
    if rows > 1 and not any(_cell(table, 0, column) for column in range(columns)):
        table.removeRows(0, 1)
        rows -= 1
    shares: list[float] = []
    for column in range(columns):
        texts = [_cell(table, row, column) for row in range(rows)]
        word = max((len(word) for text in texts for word in text.split()), default=1)
        # The longest word has to fit; beyond some lines of text, more width helps little.
        shares.append(max(2.0 * min(word, 16), min(max(map(len, texts), default=1), 40)))
    shape = table.format()
    kind = QTextLength.Type.PercentageLength
    shape.setColumnWidthConstraints([QTextLength(kind, 100 * share / sum(shares)) for share in shares])
    shape.setWidth(QTextLength(kind, 100))
    shape.setBorderCollapse(True)
    shape.setBorder(1)
    shape.setBorderBrush(theme.current().color("line"))
    shape.setCellPadding(4)
    shape.setBottomMargin(10)
    table.setFormat(shape)


def _cell(table: QTextTable, row: int, column: int) -> str:
    cell = table.cellAt(row, column)
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText().strip()
