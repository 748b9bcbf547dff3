"""Converts an SVG drawing to a vector PDF; also runs as a program, for callers without Qt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QByteArray, QMarginsF, QSizeF
from PyQt6.QtGui import QGuiApplication, QPageSize, QPainter, QPdfWriter
from PyQt6.QtSvg import QSvgRenderer

_DOTS_PER_INCH = 96
"""Resolution of the drawing, in pixels per inch."""


def write_pdf(svg: bytes, path: Path) -> None:
    """Write a drawing as a PDF of the same size.

    Args:
        svg: Content of the SVG file.
        path: Path of the PDF; an existing file is replaced.

    Raises:
        OSError: The file cannot be written.
    """
    drawing = QSvgRenderer(QByteArray(svg))
    size = QSizeF(drawing.defaultSize())
    writer = QPdfWriter(str(path))
    writer.setCreator("MOSAIC")
    writer.setResolution(_DOTS_PER_INCH)
    inches = QSizeF(size.width() / _DOTS_PER_INCH, size.height() / _DOTS_PER_INCH)
    writer.setPageSize(QPageSize(inches, QPageSize.Unit.Inch, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter()
    if not painter.begin(writer):
        raise OSError(f"{path} cannot be written")
    drawing.render(painter)
    painter.end()


def main(argv: Sequence[str] | None = None) -> int:
    """Convert an SVG file to a PDF file.

    Args:
      argv: Paths of the SVG and the PDF; ``None`` for those of the command line.

    Returns:
      The exit status.
    """
    source, target = map(Path, argv if argv is not None else sys.argv[1:])
    _application = QGuiApplication(["figure", "-platform", "offscreen"])
    write_pdf(source.read_bytes(), target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
