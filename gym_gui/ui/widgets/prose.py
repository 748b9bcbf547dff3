"""A page of prose: Markdown with room between its paragraphs, and pictures as wide as the page."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QTimer, QUrl, QVariant, Qt
from PyQt6.QtGui import QImage, QResizeEvent, QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument
from PyQt6.QtWidgets import QTextBrowser, QWidget

_RESIZED_MS: Final = 120
_MARGIN: Final = 12


class Prose(QTextBrowser):
    """See the module. Pictures are read from local files alone.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bare")
        self._pictures: dict[str, QImage] = {}
        self._width = 0
        self._fit_soon = QTimer(self)
        self._fit_soon.setSingleShot(True)
        self._fit_soon.setInterval(_RESIZED_MS)
        self._fit_soon.timeout.connect(self._fit_pictures)

    def show_markdown(self, markdown: str) -> None:
        """Show a text, from its beginning."""
        self._pictures.clear()
        self._width = self._room()
        self.setMarkdown(markdown)
        self._space_out()

    def headings(self) -> list[tuple[str, QTextBlock]]:
        """Headings as they are written, with where they stand."""
        return [(block.text(), block) for block in _blocks(self.document()) if _heading(block)]

    def show_block(self, block: QTextBlock) -> None:
        """Have a paragraph stand at the top, with the cursor before it."""
        self.setTextCursor(QTextCursor(block))
        document, bar = self.document(), self.verticalScrollBar()
        layout = document.documentLayout() if document is not None else None
        if layout is not None and bar is not None:
            bar.setValue(int(layout.blockBoundingRect(block).top()))

    def picture(self, url: QUrl) -> QImage:
        """A picture of the page as it lies on the disk; a null one where it cannot be read."""
        key = url.toString()
        if key not in self._pictures:
            self._pictures[key] = QImage(url.toLocalFile()) if url.isLocalFile() else QImage()
        return self._pictures[key]

    def loadResource(self, type: int, name: QUrl) -> QVariant:
        """Pictures, not wider than the page; nothing else is loaded."""
        if type == QTextDocument.ResourceType.ImageResource.value:
            return QVariant(self._fitted(name))
        return QVariant()

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Pictures follow once the size stays."""
        super().resizeEvent(e)
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
            document.addResource(QTextDocument.ResourceType.ImageResource.value, url, QVariant(self._fitted(url)))
        document.markContentsDirty(0, document.characterCount())

    def _space_out(self) -> None:
        """Room between paragraphs, which Markdown has none of here."""
        document = self.document()
        if document is None:
            return
        cursor = QTextCursor(document)
        for block in _blocks(document):
            shape = QTextBlockFormat()
            shape.setTopMargin(10.0 if _heading(block) else 2.0)
            shape.setBottomMargin(4.0 if block.textList() is not None else 8.0)
            shape.setLineHeight(125.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(shape)


def _blocks(document: QTextDocument | None) -> list[QTextBlock]:
    found: list[QTextBlock] = []
    block = document.begin() if document is not None else QTextBlock()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _heading(block: QTextBlock) -> bool:
    return block.blockFormat().headingLevel() > 0
