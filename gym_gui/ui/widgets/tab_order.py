"""Who has the keyboard: the order in which Tab goes through controls, and who is given it."""

from __future__ import annotations

from collections.abc import Iterator

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QLayout, QScrollArea, QWidget


def tab_on(within: QWidget, *, forward: bool) -> bool:
    """Have the keyboard go to the next control of a widget, as they are laid out.

    Qt goes by the order in which controls got their window: what is made later, as the settings of who
    is chosen, comes last, wherever it stands.

    After the last comes the first.

    Args:
        within: Whose controls they are.
        forward: To the next one, not the one before.

    Returns:
        Whether there was one.
    """
    here = within.focusWidget()
    stops = [each for each in _stops(within) if each is here or each.isEnabled()]
    if not stops:
        return False
    if here is None:  # a dialog that opens
        stops[0 if forward else -1].setFocus(Qt.FocusReason.TabFocusReason)
        return True
    if here in stops:
        place = (stops.index(here) + (1 if forward else -1)) % len(stops)
    else:  # nothing that Tab stops at: go on with what is in it
        inside = [i for i, each in enumerate(stops) if here.isAncestorOf(each)] or range(len(stops))
        place = inside[0 if forward else -1]
    stops[place].setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
    bring_into_view(stops[place])
    return True


def _stops(widget: QWidget) -> Iterator[QWidget]:
    """Where Tab stops, from the first to the last."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
        yield widget
    children = dict.fromkeys(_laid_out(widget.layout()))
    children.update(dict.fromkeys(each for each in widget.children() if isinstance(each, QWidget)))
    for child in children:
        if child.isVisible() and not child.isWindow():
            yield from _stops(child)


def _laid_out(layout: QLayout | None) -> Iterator[QWidget]:
    if layout is None:
        return
    places = range(layout.count())
    if isinstance(layout, QGridLayout):
        places = sorted(places, key=lambda i: layout.getItemPosition(i)[:2])
    for place in places:
        item = layout.itemAt(place)
        if item is not None and (widget := item.widget()) is not None:
            yield widget
        elif item is not None:
            yield from _laid_out(item.layout())


def bring_into_view(widget: QWidget) -> None:
    """Have whatever a widget lies in scroll until it is seen."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()


def take_focus(widget: QWidget) -> None:
    """Give a widget the keyboard, unless it stands on a page that is not shown.

    Qt would also give it to a hidden page, and take it from the field that the user types into. Use this
    wherever work in the background (something was read, started or answered) moves the focus.
    """
    if widget.isVisibleTo(widget.window()):
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
