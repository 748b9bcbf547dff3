"""Keyboard focus: the order in which Tab visits controls, and functions that move the focus."""

from __future__ import annotations

from collections.abc import Iterator

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QLayout, QScrollArea, QWidget


def tab_on(within: QWidget, *, forward: bool) -> bool:
    """Move the focus to the next control of a widget, in the order of the layout; after the last, to the
    first.

    Qt follows the order in which controls were added to the window, so that controls created later come
    last, wherever they are placed.

    Args:
        within: Widget that contains the controls.
        forward: Whether to move to the next control instead of the previous one.

    Returns:
        Whether there was a control to move to.
    """
    here = within.focusWidget()
    stops = [each for each in _stops(within) if each is here or each.isEnabled()]
    if not stops:
        return False
    if here is None:  # A dialog opens.
        stops[0 if forward else -1].setFocus(Qt.FocusReason.TabFocusReason)
        return True
    if here in stops:
        place = (stops.index(here) + (1 if forward else -1)) % len(stops)
    else:  # Tab does not stop at this widget: continue with the controls in it.
        inside = [i for i, each in enumerate(stops) if here.isAncestorOf(each)] or range(len(stops))
        place = inside[0 if forward else -1]
    stops[place].setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
    bring_into_view(stops[place])
    return True


def _stops(widget: QWidget) -> Iterator[QWidget]:
    """Yield the widgets at which Tab stops, from the first to the last."""
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
    """Scroll all scroll areas that contain a widget until the widget is visible."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()


def focus_if_visible(widget: QWidget) -> None:
    """Set the focus to a widget, unless the widget is on a hidden page.

    Qt would also focus a widget of a hidden page, and take the focus from the field that the user
    types into. Background tasks must move the focus with this function.
    """
    if widget.isVisibleTo(widget.window()):
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
