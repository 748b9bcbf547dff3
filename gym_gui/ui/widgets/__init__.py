"""Reusable widgets of the window that do not depend on environments or agents."""

from gym_gui.ui.widgets.badges import Dot, KeyCap, KindBadge, StatusDot
from gym_gui.ui.widgets.buttons import IconButton, LinkButton, PrimaryButton, QuietButton
from gym_gui.ui.widgets.card import Card, Divider, restyle
from gym_gui.ui.widgets.fact_rows import FactRows
from gym_gui.ui.widgets.form import FormRows, all_settings
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.labels import ElidedLabel, label, muted_label, section_label, title_label
from gym_gui.ui.widgets.message_panels import EmptyHint, IconLabel, InlineMessage
from gym_gui.ui.widgets.page_bar import PageBar
from gym_gui.ui.widgets.picker import PickerButton
from gym_gui.ui.widgets.picker_list import PickerItem
from gym_gui.ui.widgets.seed import SeedBox
from gym_gui.ui.widgets.segments import SegmentedControl
from gym_gui.ui.widgets.sparkline import Sparkline
from gym_gui.ui.widgets.tab_order import focus_if_visible

__all__ = [
    "Card",
    "Divider",
    "Dot",
    "ElidedLabel",
    "EmptyHint",
    "FactRows",
    "FormRows",
    "IconButton",
    "IconLabel",
    "InlineMessage",
    "Inspector",
    "KeyCap",
    "KindBadge",
    "LinkButton",
    "PageBar",
    "PickerButton",
    "PickerItem",
    "PrimaryButton",
    "QuietButton",
    "SeedBox",
    "SegmentedControl",
    "Sparkline",
    "StatusDot",
    "all_settings",
    "focus_if_visible",
    "label",
    "muted_label",
    "restyle",
    "section_label",
    "title_label",
]
