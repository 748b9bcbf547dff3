"""Draws the small pictures the window carries: the control marks and the cards of the Home page.

The cards show real positions: what a card starts is played with a fixed seed, recorded, and one
step of the recording is drawn, at twice the size at which it is shown. Run it after a change of
an environment's looks: ``python scripts/pictures/home_pictures.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PyQt6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF
from PyQt6.QtWidgets import QApplication

from gym_gui.analysis import open_run
from gym_gui.controllers.replays.replay_session import EpisodeReplay, ReplayFrame, ReplayOrder
from gym_gui.core.config import OperatorConfig
from gym_gui.services.runs.recorded_episode import load_episode
from gym_gui.ui.home_examples import SEED, connect_four, soccer_teams
from gym_gui.ui.operators.examples import trained_against_random
from gym_gui.ui.renderers import BoardView
from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.theme import DARK, LIGHT, Theme, kind_color

_MARKS = {
    "caret-down": [(0.19, 0.375), (0.5, 0.685), (0.81, 0.375)],
    "caret-up": [(0.19, 0.625), (0.5, 0.315), (0.81, 0.625)],
    "check": [(0.18, 0.52), (0.42, 0.76), (0.84, 0.26)],
}
"""Carets as the icons' own, so that a combo box and a picker look alike."""
_MARK_PX = 12
_CARD = QSize(616, 400)


def draw_marks(folder: Path) -> None:
    """Carets and ticks in both themes, at one and two pixels per point."""
    for shade, tokens in (("light", LIGHT), ("dark", DARK)):
        for mark, points in _MARKS.items():
            color = tokens.on_accent if mark == "check" else tokens.muted
            for scale, suffix in ((1, ""), (2, "@2x")):
                pixels = _MARK_PX * scale
                width = pixels / (7.5 if mark == "check" else 12)
                _mark(points, color, pixels, width).save(str(folder / f"{mark}-{shade}{suffix}.png"))


def _mark(points: list[tuple[float, float]], color: str, size: int, width: float) -> QImage:
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(color), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF([QPointF(x * size, y * size) for x, y in points]))
    painter.end()
    return image


def draw_logo(path: Path, size: int = 256) -> None:
    """The program's icon: four seats, four kinds."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    side, step = size * 0.44, size * 0.5
    for i, kind in enumerate(("rl", "llm", "human", "bdi")):
        painter.setBrush(kind_color(kind))
        corner = QPointF(size * 0.03 + step * (i % 2), size * 0.03 + step * (i // 2))
        painter.drawRoundedRect(QRectF(corner, QSizeF(side, side)), size * 0.1, size * 0.1)
    painter.end()
    image.save(str(path))


def draw_cards(folder: Path) -> None:
    """The four pictures of the Home page."""
    trained, wandering = trained_against_random()
    with tempfile.TemporaryDirectory() as place:
        upright = _recording(trained, place)[60]
        falling = _recording(wandering, place)[-2]
        soccer = _recording(soccer_teams(), place)[24]
        game = _recording(_two_heuristics(), place)[14]
    _card([_cart(falling, _CARD)]).save(str(folder / "home-cartpole.png"))
    half = QSize(_CARD.width() // 2 - 1, _CARD.height())
    _card([_cart(upright, half), _cart(falling, half)]).save(str(folder / "home-duel.png"))
    _card([_image(soccer)]).save(str(folder / "home-soccer.png"))
    _card([_board(game)]).save(str(folder / "home-connect_four.png"))


def _two_heuristics() -> OperatorConfig:
    config = connect_four()
    return replace(config, workers=dict.fromkeys(config.workers, config.workers["player_1"]))


def _recording(config: OperatorConfig, place: str) -> list[ReplayFrame]:
    """An episode as the engine recorded it, step by step."""
    experiment = Path(place, f"{config.operator_id}.json")
    record = {"operators": [config.to_record()], "execution": {"num_episodes": 1, "seeds": [SEED]}}
    experiment.write_text(json.dumps(record), encoding="utf-8")
    out = Path(place, config.operator_id)
    command = [sys.executable, "-m", "gym_gui", "run", str(experiment), "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (run,) = out.iterdir()
    replay = EpisodeReplay(ReplayOrder.of(load_episode(open_run(run))), render=True)
    replay.open()
    try:
        return list(replay.frames())
    finally:
        replay.close()


def _image(frame: ReplayFrame) -> QImage:
    assert frame.picture is not None
    picture = np.ascontiguousarray(frame.picture)
    height, width, _ = picture.shape
    return QImage(picture.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def _cart(frame: ReplayFrame, size: QSize) -> QImage:
    """The part of CartPole's picture around the cart, in the proportions of ``size``."""
    assert frame.picture is not None
    dark = np.max(frame.picture, axis=2) < 40
    dark &= dark.sum(axis=1, keepdims=True) < dark.shape[1] / 2  # the track goes all the way
    middle = int(np.argwhere(dark).mean(axis=0)[1])
    height = 270
    width = height * size.width() // size.height()
    left = min(max(middle - width // 2, 0), dark.shape[1] - width)
    return _image(frame).copy(left, 90, width, height)


def _board(frame: ReplayFrame) -> QImage:
    assert frame.board is not None
    view = BoardView(Theme("dark"), backdrop="stage")
    view.resize(_CARD.width() // 2, _CARD.height() // 2)
    view.show_board(frame.board)
    image = QImage(_CARD, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(2.0)
    image.fill(QColor(DARK.stage))
    view.render(image, QPoint(0, 0))
    image.setDevicePixelRatio(1.0)
    view.deleteLater()
    return image


def _card(images: list[QImage]) -> QImage:
    """Images side by side, each filling its part: what juts out a little is cut off."""
    card = QImage(_CARD, QImage.Format.Format_RGB32)
    card.fill(QColor(LIGHT.line))
    painter = QPainter(card)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    room = QSize((_CARD.width() - 2 * (len(images) - 1)) // len(images), _CARD.height())
    for i, image in enumerate(images):
        scaled = image.scaled(
            room, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
        )
        cut = QPoint((scaled.width() - room.width()) // 2, (scaled.height() - room.height()) // 2)
        painter.drawImage(QPoint(i * (room.width() + 2), 0), scaled, QRect(cut, room))
    painter.end()
    return card


def main() -> int:
    """Draw everything into the package."""
    app = QApplication(sys.argv)
    ASSETS.mkdir(exist_ok=True)
    draw_marks(ASSETS)
    draw_logo(ASSETS / "logo.png")
    draw_cards(ASSETS)
    del app
    return 0


if __name__ == "__main__":
    sys.exit(main())
