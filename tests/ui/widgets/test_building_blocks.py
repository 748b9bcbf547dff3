"""Cards, buttons, badges, messages, forms: what they say, and that nothing of it is cut."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QColor, QIcon, QImage
from PyQt6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.ui import icons, theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import (
    Card,
    ElidedLabel,
    EmptyHint,
    FactRows,
    FormRows,
    IconButton,
    InlineMessage,
    Inspector,
    KeyCap,
    KindBadge,
    PageBar,
    PrimaryButton,
    QuietButton,
    SeedBox,
    Sparkline,
    StatusDot,
    label,
    section_label,
)
from tests.support.named import named

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def styled(context: AppContext) -> None:
    """Sizes and colors are those of the theme."""


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def colors(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


class TestCard:
    def test_a_click_and_enter_and_space(self, qtbot: QtBot) -> None:
        card = Card(clickable=True)
        qtbot.addWidget(card)
        card.resize(100, 60)
        card.show()
        told: list[int] = []
        card.clicked.connect(lambda: told.append(1))
        qtbot.mouseClick(card, LEFT)
        qtbot.keyClick(card, Qt.Key.Key_Return)
        qtbot.keyClick(card, Qt.Key.Key_Space)
        qtbot.mouseClick(card, Qt.MouseButton.RightButton)
        assert len(told) == 3

    def test_a_plain_one_cannot_be_clicked_by_key(self, qtbot: QtBot) -> None:
        card = Card("Checks")
        qtbot.addWidget(card)
        with qtbot.assertNotEmitted(card.clicked):
            qtbot.keyClick(card, Qt.Key.Key_Return)
        heading = named(card, QLabel, "card-heading")
        assert heading.text() == "CHECKS"
        assert heading.accessibleName() == "Checks"

    def test_the_selected_one_is_outlined(self, qtbot: QtBot) -> None:
        card = Card()
        qtbot.addWidget(card)
        card.resize(100, 60)
        card.show()
        assert theme.LIGHT.accent not in colors(picture(card))
        card.set_selected(True)
        assert theme.LIGHT.accent in colors(picture(card))


class TestButtons:
    def test_it_is_wide_enough_for_its_text_and_key(self, qtbot: QtBot) -> None:
        plain, keyed = QuietButton("Step all"), QuietButton("Step all", key="Space")
        for button in (plain, keyed):
            qtbot.addWidget(button)
            button.ensurePolished()
        assert keyed.sizeHint().width() - plain.sizeHint().width() >= 35
        assert keyed.toolTip() == "Step all (Space)"
        assert keyed.minimumSizeHint() == plain.minimumSizeHint() == plain.sizeHint()

    def test_without_room_its_keycap_goes_and_its_words_stay(self, qtbot: QtBot) -> None:
        plain, keyed = QuietButton("Step all"), QuietButton("Step all", key="Space")
        for button in (plain, keyed):
            qtbot.addWidget(button)
            button.resize(plain.sizeHint())
        assert keyed.grab().toImage() == plain.grab().toImage()
        for button in (plain, keyed):
            button.resize(keyed.sizeHint())
        assert keyed.grab().toImage() != plain.grab().toImage()

    def test_a_menu_is_told_by_a_caret(self, qtbot: QtBot) -> None:
        holder = QWidget()
        qtbot.addWidget(holder)
        menu = QMenu(holder)
        menu.addAction("Save as…")
        button = QuietButton("Presets", menu=menu, parent=holder)
        plain = QuietButton("Presets", parent=holder)
        button.ensurePolished()
        plain.ensurePolished()
        assert button.sizeHint().width() > plain.sizeHint().width()
        for each in (button, plain):
            each.resize(each.sizeHint())
        # The text itself keeps its place: only the right end differs.
        width = plain.width() - 12
        assert picture(button).copy(2, 2, width - 4, 24) == picture(plain).copy(2, 2, width - 4, 24)

    def test_a_click_calls_without_arguments(self, qtbot: QtBot) -> None:
        got: list[tuple[object, ...]] = []
        button = PrimaryButton("Run", icon_name="run", on_click=lambda *a: got.append(a))
        qtbot.addWidget(button)
        qtbot.mouseClick(button, LEFT)
        assert got == [()]
        button.set_text("Pause", "pause")
        assert button.accessibleName() == "Pause"

    def test_one_with_a_picture_alone_has_a_name(self, qtbot: QtBot) -> None:
        button = IconButton("seed", "Draw another seed")
        qtbot.addWidget(button)
        assert button.accessibleName() == button.toolTip() == "Draw another seed"
        assert button.objectName() == "button-draw-another-seed"


class TestMarks:
    @pytest.mark.parametrize(("kind", "word"), [("rl", "RL"), ("llm", "LLM"), ("human", "Human")])
    def test_a_badge_carries_its_word(self, kind: str, word: str, qtbot: QtBot) -> None:
        badge = KindBadge(kind)
        qtbot.addWidget(badge)
        badge.resize(badge.sizeHint())
        assert badge.accessibleName() == f"Kind: {word}"
        fill = theme.fill_for_white(theme.kind_color(kind)).name()
        assert {fill, "#ffffff"} <= colors(picture(badge))

    def test_a_state_has_its_word(self, qtbot: QtBot) -> None:
        state = StatusDot("ok", "Running")
        qtbot.addWidget(state)
        state.show()
        assert theme.LIGHT.ok in colors(picture(state))
        state.set_state("error", "Ended")
        assert (state.text, state.accessibleName()) == ("Ended", "Ended")
        assert theme.LIGHT.error in colors(picture(state))

    def test_a_key_is_drawn_as_people_know_it(self, qtbot: QtBot) -> None:
        key = KeyCap("Ctrl+Left")
        qtbot.addWidget(key)
        assert key.text == "Ctrl ←"
        assert key.accessibleName() == "Key Ctrl+Left"

    def test_a_sparkline_says_its_values(self, qtbot: QtBot) -> None:
        line = Sparkline(QColor("#8b5cf6"), limit=3)
        qtbot.addWidget(line)
        line.resize(90, 26)
        assert picture(line).size().width() == 90
        line.set_values([1.0, float("nan"), 2.0, 3.0, 5.0])
        assert line.values == [2.0, 3.0, 5.0]
        assert line.accessibleName() == "3 past returns, from 2 to 5, last 5"
        assert "#8b5cf6" in colors(picture(line))
        line.set_values([])
        assert line.accessibleName() == "Past returns: none yet"


class TestSelectedCards:
    def test_what_is_in_a_card_stays_where_it_is_when_it_is_outlined(self, qtbot: QtBot) -> None:
        theme.Theme("light").apply()
        card, inside = Card(clickable=True), QLabel("Inside")
        card.add(inside)
        qtbot.addWidget(card)
        card.resize(200, 120)
        card.show()
        before, plain = inside.geometry(), card.grab().toImage()
        accent = theme.current().color("accent")
        card.set_selected(True)
        outlined = card.grab().toImage()
        assert inside.geometry() == before
        assert [outlined.pixelColor(x, 60) == accent for x in range(4)] == [True, True, False, False]
        card.set_selected(False)
        assert card.grab().toImage() == plain
        assert inside.geometry() == before


class TestMessages:
    def test_an_action_and_a_close(self, qtbot: QtBot) -> None:
        done: list[str] = []
        message = InlineMessage("error", "It broke", ("Restart", lambda: done.append("r")), closable=True)
        qtbot.addWidget(message)
        message.show()
        assert message.accessibleName() == "Error: It broke"
        qtbot.mouseClick(named(message, QPushButton, "message-action"), LEFT)
        with qtbot.waitSignal(message.dismissed):
            qtbot.mouseClick(message.findChild(IconButton, "message-close"), LEFT)
        assert done == ["r"]
        assert not message.isVisible()

    @pytest.mark.parametrize("width", [260, 500, 1200])
    def test_a_hint_is_never_cut(self, width: int, qtbot: QtBot) -> None:
        hint = EmptyHint(
            "No runs yet", "Every episode you watch or play is recorded. Start with a card above."
        )
        qtbot.addWidget(hint)
        hint.resize(width, 240)
        hint.show()
        text = named(hint, QLabel, "empty-text")
        assert text.height() >= text.heightForWidth(text.width())
        assert text.geometry().right() <= hint.rect().right()

    def test_a_hint_is_not_cut_when_its_room_changes(self, qtbot: QtBot) -> None:
        hint = EmptyHint("Reading the run…", "The verdict, table and plots appear in a moment.")
        qtbot.addWidget(hint)
        hint.show()
        for width in (952, 1208, 300, 1208, 220):
            hint.resize(width, 300)
            text = named(hint, QLabel, "empty-text")
            asked = text.fontMetrics().boundingRect(
                0, 0, text.width(), 1000, int(Qt.TextFlag.TextWordWrap), text.text()
            )
            assert text.height() >= asked.height()

    def test_the_lines_of_a_hint_are_of_about_one_length(self, qtbot: QtBot) -> None:
        hint = EmptyHint(
            "No operator", "An environment, and who plays in it. Up to eight run on the same seeds."
        )
        qtbot.addWidget(hint)
        hint.resize(1200, 300)
        hint.show()
        text = named(hint, QLabel, "empty-text")
        whole = text.fontMetrics().horizontalAdvance(text.text())
        assert whole / 2 <= text.width() < 0.65 * whole

    def test_a_hint_offers_ways(self, qtbot: QtBot) -> None:
        done: list[str] = []
        hint = EmptyHint("Nothing", "Do this.", ("First", lambda: done.append("1")))
        hint.add_action("Second", lambda: done.append("2"))
        qtbot.addWidget(hint)
        for button in (hint.findChild(PrimaryButton), hint.findChild(QuietButton)):
            qtbot.mouseClick(button, LEFT)
        assert done == ["1", "2"]


class TestForms:
    def test_a_row_names_its_control(self, qtbot: QtBot) -> None:
        form = FormRows()
        qtbot.addWidget(form)
        field = form.add_row("Server", QLineEdit(), tooltip="Where it answers")
        assert field.accessibleName() == "Server"
        assert field.toolTip() == "Where it answers"
        words = next(label for label in form.findChildren(QLabel) if label.buddy() is field)
        form.show()
        form.set_row_visible(field, False)
        assert not words.isVisible()
        form.clear()
        assert not any(label.isVisibleTo(form) for label in form.findChildren(QLabel))

    def test_an_inspector_is_emptied(self, qtbot: QtBot) -> None:
        inspector = Inspector()
        qtbot.addWidget(inspector)
        inspector.add(label("one"))
        inspector.add_section("Keys")
        row = QVBoxLayout()
        row.addWidget(label("two"))
        inspector.add(row)
        assert inspector.body.count() == 5  # one, spacing, heading, row, stretch
        inspector.clear()
        assert inspector.body.count() == 1

    def test_an_inspector_that_scrolls_is_as_wide_as_one_that_does_not(self, qtbot: QtBot) -> None:
        inspector = Inspector()
        qtbot.addWidget(inspector)
        inspector.resize(inspector.width(), 200)
        first = label("one")
        inspector.add(first)
        inspector.show()
        qtbot.waitExposed(inspector)
        qtbot.waitUntil(lambda: 200 < first.width() < inspector.width())
        wide = first.width()
        first.setMinimumWidth(wide)
        for _ in range(20):
            inspector.add(label("more"))
        scroll = inspector.findChild(QScrollArea)
        assert scroll is not None
        upright, sideways = scroll.verticalScrollBar(), scroll.horizontalScrollBar()
        assert upright is not None and sideways is not None
        qtbot.waitUntil(lambda: upright.maximum() > 0 and sideways.maximum() == 0)
        assert first.width() == wide

    def test_an_inspector_scrolls_only_what_does_not_fit(self, qtbot: QtBot) -> None:
        inspector = Inspector()
        qtbot.addWidget(inspector)
        facts = FactRows()
        facts.show_facts({f"Fact {row}": "which takes one line, or two" for row in range(14)})
        inspector.add(facts)
        inspector.add(label("It goes on for long enough that it has to wrap more than once. " * 2, wrap=True))
        inspector.resize(inspector.width(), 700)
        inspector.show()
        qtbot.waitExposed(inspector)
        scroll = inspector.findChild(QScrollArea)
        assert scroll is not None
        upright = scroll.verticalScrollBar()
        assert upright is not None
        last = inspector.content.findChildren(QLabel)[-1]
        qtbot.waitUntil(lambda: 200 < last.width() < inspector.width())
        assert last.geometry().bottom() < 700
        qtbot.waitUntil(lambda: upright.maximum() == 0)
        inspector.resize(inspector.width(), 300)
        qtbot.waitUntil(lambda: upright.maximum() > 0)
        assert last.height() >= last.heightForWidth(last.width())

    def test_a_bar_has_its_note(self, qtbot: QtBot) -> None:
        bar = PageBar("Agents")
        qtbot.addWidget(bar)
        bar.resize(900, 44)
        bar.add_action(QuietButton("Apply"))
        bar.show()
        bar.set_note("simultaneous · 4 agents")
        note = named(bar, QLabel, "page-note")
        assert note.isVisible()
        bar.set_note("")
        assert not note.isVisible()

    def test_what_a_narrow_bar_says_otherwise_goes_before_anything_is_cut(self, qtbot: QtBot) -> None:
        page = QWidget()  # it may be narrower than its bar, which a window may not
        bar, seed = PageBar("Operators", page), SeedBox(42)
        qtbot.addWidget(page)
        page.resize(900, 44)
        bar.add(seed)
        bar.add_action(QuietButton("Apply"))
        bar.resize(900, 44)
        page.show()
        qtbot.waitExposed(page)
        title = next(each for each in bar.findChildren(QLabel) if each.text() == "Operators")
        layout = bar.layout()
        assert layout is not None and title.isVisible() and not seed.compact
        whole = layout.minimumSize().width()
        bar.resize(whole - 5, 44)
        assert seed.compact and title.isVisible()
        bar.resize(whole - seed.words_width - 5, 44)
        assert seed.compact and not title.isVisible()
        qtbot.waitUntil(lambda: seed.width() >= seed.sizeHint().width())
        bar.resize(900, 44)
        assert not seed.compact and title.isVisible()


def test_a_label_without_room_says_all_in_its_tooltip(qtbot: QtBot) -> None:
    text = ElidedLabel("MiniGrid-DoorKey-8x8-v0")
    qtbot.addWidget(text)
    text.show()
    text.resize(60, 20)
    assert text.toolTip() == "MiniGrid-DoorKey-8x8-v0"
    text.resize(text.sizeHint())
    qtbot.waitUntil(lambda: text.toolTip() == "")
    text.resize(60, 20)
    text.setText("MiniGrid-Empty-16x16-v0")  # in the same place
    assert text.toolTip() == "MiniGrid-Empty-16x16-v0"


def test_a_heading_is_read_as_written(qtbot: QtBot) -> None:
    heading = section_label("Who plays")
    qtbot.addWidget(heading)
    assert (heading.text(), heading.accessibleName()) == ("WHO PLAYS", "Who plays")


class TestIcons:
    @pytest.mark.parametrize("name", sorted(icons.NAMES))
    def test_every_name_is_in_the_set(self, name: str, context: AppContext) -> None:
        assert theme.LIGHT.muted in colors(icons.icon(name).pixmap(QSize(24, 24)).toImage())

    def test_it_follows_the_theme(self, context: AppContext) -> None:
        mark = icons.icon("run")
        assert theme.LIGHT.muted in colors(mark.pixmap(QSize(24, 24)).toImage())
        context.theme.set_mode("dark")
        assert theme.DARK.muted in colors(mark.pixmap(QSize(24, 24)).toImage())
        context.theme.set_mode("light")

    def test_checked_and_disabled_differ(self) -> None:
        mark = icons.icon("run")
        on = mark.pixmap(QSize(24, 24), QIcon.Mode.Normal, QIcon.State.On).toImage()
        off = mark.pixmap(QSize(24, 24), QIcon.Mode.Disabled, QIcon.State.Off).toImage()
        assert theme.LIGHT.accent in colors(on)
        assert theme.LIGHT.faint in colors(off)


def test_a_fact_is_copied_as_it_is_though_it_may_wrap_within(qtbot: QtBot) -> None:
    rows = FactRows("fact-")
    qtbot.addWidget(rows)
    rows.show_facts({"Worker": "cleanrl_worker", "Empty": "", "Steps": "1,000"})
    rows.show()
    assert rows.texts == {"Worker": "cleanrl_worker", "Steps": "1,000"}
    value = named(rows, QLabel, "fact-worker")
    value.setSelection(0, len(value.text()))
    qtbot.keyClick(value, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    clipboard = QApplication.clipboard()
    assert clipboard is not None and clipboard.text() == "cleanrl_worker"
    assert not named(rows, QLabel, "fact-empty").isVisible()
    assert value.alignment() & Qt.AlignmentFlag.AlignTop, "beside the first line of a name that wraps"
