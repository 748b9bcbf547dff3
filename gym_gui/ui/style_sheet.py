"""The style sheet of the application, written from color tokens.

A widget states its kind in the dynamic property ``role`` (``panel``, ``muted``, ``section``, ``primary``, …),
so that no other module needs a style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

ASSETS: Final = Path(__file__).parent / "assets"
MARKS: Final = ("caret-down", "caret-up", "check")
"""Names of small pictures that a style sheet can only load from files.

``scripts/pictures/home_pictures.py`` draws these pictures.
"""

_SHEET: Final = """
QWidget {{ color: {text}; outline: none; }}
QMainWindow, QDialog, QWidget[role="window"] {{ background: {window}; }}
QWidget[role="sheet"] {{ background: {panel}; border: none; }}
QWidget[role="rail"] {{ background: {panel}; border: none; border-right: 1px solid {line}; }}
QWidget[role="bar"] {{ background: {panel}; border: none; border-bottom: 1px solid {line}; }}
QWidget[role="status"] {{ background: {panel}; border: none; border-top: 1px solid {line}; }}
QWidget[role="inspector"] {{ background: {panel}; border: none; border-left: 1px solid {line}; }}
QWidget[role="foot"] {{ background: {panel}; border: none; border-top: 1px solid {line}; }}
QWidget[role="panel"] {{ background: {panel}; border: 1px solid {line}; border-radius: 10px; }}
QWidget[role="panel"][selected="true"] {{ border-color: {accent}; }}
QWidget[role="panel"][clickable="true"]:hover {{ border-color: {accent}; }}
QWidget[role="panel"][clickable="true"]:focus {{ border-color: {accent}; }}
QWidget[role="wash"] {{ background: {wash}; border: none; border-radius: 7px; }}
QWidget[role="box"] {{ background: {panel}; border: 1px solid {line}; border-radius: 7px; }}
QWidget[role="divider"] {{ background: {line}; border: none; }}
QLabel {{ background: transparent; border: none; }}
QLabel[role="title"] {{ font-size: 15px; font-weight: 600; }}
QLabel[role="headline"] {{ font-size: 22px; font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[role="fact"] {{ font-size: 15px; font-weight: 600; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="small"] {{ color: {muted}; font-size: 11px; }}
QLabel[role="section"] {{ color: {muted}; font-size: 12px; font-weight: 600; }}
QLabel[role="error"] {{ color: {error}; }}
QLabel:disabled {{ color: {faint}; }}

QPushButton, QToolButton[role="button"] {{
    background: {panel}; border: 1px solid {line}; border-radius: 7px;
    min-height: 28px; padding: 0 11px; }}
QPushButton:hover, QToolButton[role="button"]:hover {{ background: {raised}; }}
QPushButton:pressed, QPushButton:checked {{ background: {wash}; }}
QPushButton:focus, QToolButton[role="button"]:focus {{ border: 1px solid {accent}; }}
QPushButton:disabled, QToolButton[role="button"]:disabled {{ color: {faint}; background: {panel}; }}
QPushButton::menu-indicator, QToolButton::menu-indicator {{ image: none; width: 0; }}
QPushButton[role="primary"] {{ background: {accent}; border-color: {accent}; color: {on_accent};
    font-weight: 500; }}
QPushButton[role="primary"]:hover {{ background: {accent_hover}; border-color: {accent_hover}; }}
QPushButton[role="primary"]:focus {{ border: 2px solid {text}; }}
QPushButton[role="primary"]:disabled {{ background: {raised}; border-color: {line}; color: {faint}; }}
QPushButton[role="link"] {{ background: transparent; border: none; color: {accent_text}; padding: 0;
    min-height: 20px; text-align: left; }}
QPushButton[role="link"]:hover, QPushButton[role="link"]:focus {{ text-decoration: underline; }}
QPushButton[role="link"]:focus {{ border: 1px solid {accent}; border-radius: 4px; }}
QPushButton[role="bare"], QToolButton[role="bare"] {{ background: transparent;
    border: 1px solid transparent; border-radius: 7px; padding: 0; }}
QPushButton[role="bare"] {{ padding: 0 8px; color: {muted}; }}
QPushButton[role="bare"]:hover, QToolButton[role="bare"]:hover {{ background: {raised}; }}
QPushButton[role="bare"]:focus, QToolButton[role="bare"]:focus {{ border-color: {accent}; }}
QPushButton[role="row"] {{ background: transparent; border: 1px solid transparent; border-radius: 7px;
    padding: 0 7px; text-align: left; }}
QPushButton[role="row"]:focus {{ border-color: {accent}; }}
QPushButton[role="row"]:hover, QPushButton[role="row"]:focus {{ background: {wash}; }}
QPushButton[role="picker"] {{ text-align: left; padding-right: 26px; }}
QPushButton[role="search"] {{ text-align: left; color: {muted}; }}
QWidget[role="inspector"] QPushButton[role="picker"] {{ background: {raised}; padding-left: 9px; }}
QWidget[role="inspector"] QPushButton[role="picker"]:hover {{ background: {panel}; }}
QWidget[role="segments"] {{ background: {raised}; border: 1px solid {line}; border-radius: 7px; }}
QPushButton[role="segment"] {{ background: transparent; border: 1px solid transparent; color: {muted};
    min-height: 24px; padding: 0 9px; border-radius: 6px; font-weight: 500; }}
QPushButton[role="segment"]:hover {{ color: {text}; }}
QPushButton[role="segment"]:checked {{ background: {panel}; border-color: {line}; color: {text}; }}
QPushButton[role="segment"]:focus {{ border-color: {accent}; }}

QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit, QTextEdit, QTextBrowser {{
    background: {raised}; border: 1px solid {line}; border-radius: 7px;
    selection-background-color: {accent}; selection-color: {on_accent}; }}
QLineEdit, QAbstractSpinBox {{ min-height: 28px; max-height: 28px; padding: 0 6px; }}
QComboBox {{ min-height: 28px; padding: 0 8px; combobox-popup: 0; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ min-height: 0; padding: 0; border: none;
    background: transparent; }}
QPlainTextEdit, QTextEdit, QTextBrowser {{ padding: 4px; }}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus,
QTextEdit:focus, QTextBrowser:focus {{ border: 1px solid {accent}; }}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {{ color: {faint}; }}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"],
QPlainTextEdit[invalid="true"] {{ border: 1px solid {error}; }}
QLineEdit[role="bare"], QSpinBox[role="bare"], QTextBrowser[role="bare"] {{
    background: transparent; border: none; padding: 0; }}
QAbstractSpinBox {{ padding-right: 22px; }}
QSpinBox[role="bare"] {{ padding: 0; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ subcontrol-origin: border; width: 20px;
    border: none; background: transparent; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; margin: 2px 2px 0 0; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; margin: 0 2px 2px 0; }}
QAbstractSpinBox::up-arrow {{ image: url("{caret_up}"); width: 10px; height: 10px; }}
QAbstractSpinBox::down-arrow {{ image: url("{caret_down}"); width: 10px; height: 10px; }}
QComboBox::drop-down {{ border: none; width: 28px; }}
QComboBox::down-arrow {{ image: url("{caret_down}"); width: 12px; height: 12px; }}
QComboBox:hover:!focus {{ background: {panel}; }}
QComboBox QAbstractItemView {{ background: {panel}; border: 1px solid {line}; padding: 4px; }}
QComboBox QAbstractItemView::item {{ min-height: 22px; }}
QComboBox QAbstractItemView::item:disabled {{ color: {faint}; }}
QCheckBox, QRadioButton {{ spacing: 8px; background: transparent; min-height: 20px; }}
QCheckBox[role="alone"] {{ spacing: 0; }}
QCheckBox::indicator, QListView::indicator {{ width: 16px; height: 16px; border: 1px solid {muted};
    border-radius: 4px; background: {panel}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{check}"); }}
QCheckBox::indicator:focus {{ border: 2px solid {accent}; width: 14px; height: 14px; }}
QCheckBox::indicator:disabled {{ border-color: {line}; background: {raised}; }}
QRadioButton::indicator {{ width: 14px; height: 14px; border: 1px solid {muted}; border-radius: 8px;
    background: {panel}; }}
QRadioButton::indicator:focus {{ border: 2px solid {text}; }}
QRadioButton::indicator:checked {{ border: 5px solid {accent}; width: 6px; height: 6px; }}
QSlider::groove:horizontal {{ height: 4px; background: {line}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -5px 0; border-radius: 7px;
    background: {accent}; border: none; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {text}; }}
QProgressBar {{ background: {raised}; color: transparent; border: none; border-radius: 3px;
    max-height: 6px; min-height: 6px; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}

QScrollArea {{ background: transparent; border: 1px solid transparent; border-radius: 7px; }}
QScrollArea:focus {{ border-color: {accent}; }}
QScrollArea > QWidget > QWidget[role="scrolled"] {{ background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle {{ background: {scroll}; border-radius: 3px; min-height: 28px; min-width: 28px; }}
QScrollBar::handle:hover {{ background: {muted}; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
    background: transparent; border: none; width: 0; height: 0; }}

QAbstractItemView {{ background: {panel}; border: 1px solid transparent; border-radius: 7px;
    alternate-background-color: {panel}; selection-background-color: {wash};
    selection-color: {text}; gridline-color: transparent; }}
QAbstractItemView:focus {{ border-color: {accent}; }}
QTableView::item, QTreeView::item, QListView::item {{ padding: 4px 8px; border: none; }}
QTableView::item {{ padding: 4px 9px; border-bottom: 1px solid {line}; }}
QListView::item, QTreeView::item {{ border-radius: 6px; }}
QListView[role="field"] {{ border: 1px solid {line}; border-radius: 7px; padding: 3px; }}
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {{
    background: {wash}; color: {text}; }}
QListView::item:hover:!selected, QTreeView::item:hover:!selected {{ background: {raised}; }}
QHeaderView {{ background: transparent; border: none; }}
QHeaderView::section {{ background: {panel}; color: {muted}; font-size: 12px; font-weight: 500;
    border: none; border-bottom: 1px solid {line}; padding: 8px 12px; }}
QTableCornerButton::section {{ background: {panel}; border: none; }}

QMenuBar {{ background: {panel}; border-bottom: 1px solid {line}; padding: 2px 8px; }}
QMenuBar::item {{ background: transparent; padding: 4px 10px; border-radius: 6px; }}
QMenuBar::item:selected {{ background: {wash}; }}
QMenu {{ background: {panel}; border: 1px solid {line}; border-radius: 7px; padding: 4px; }}
QMenu::item {{ padding: 6px 24px 6px 12px; border-radius: 5px; }}
QMenu::item:selected {{ background: {wash}; }}
QMenu::item:disabled {{ color: {faint}; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 4px 8px; }}
QMenu::icon {{ padding-left: 10px; }}
QToolTip {{ background: {text}; color: {panel}; border: none; padding: 5px 8px; }}
QSplitter::handle {{ background: transparent; }}
QSplitter::handle:hover {{ background: {line}; }}
QTabWidget::pane {{ border: none; }}
QTabBar {{ background: transparent; }}
QTabBar::tab {{ background: transparent; color: {muted}; padding: 6px 10px; border: none;
    border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {text}; border-bottom: 2px solid {accent}; }}
QTabBar::tab:focus {{ color: {accent_text}; border: 1px solid {accent}; border-radius: 4px; }}
QGroupBox {{ border: 1px solid {line}; border-radius: 10px; margin-top: 10px; padding-top: 8px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; button-layout: 3; }}
QFrame[role="popup"] {{ background: {panel}; border: 1px solid {line}; border-radius: 10px; }}
"""


def style_sheet(tokens: Mapping[str, str], *, dark: bool) -> str:
    """Return the style sheet for a set of colors.

    Args:
        tokens: Colors by the name of the token.
        dark: Whether to use the pictures of carets and ticks for dark colors.
    """
    shade = "dark" if dark else "light"
    marks = {mark: (ASSETS / f"{mark}-{shade}.png").as_posix() for mark in MARKS}
    return _SHEET.format(**tokens, **{mark.replace("-", "_"): path for mark, path in marks.items()})
