"""Widgets for trained policies: list, import, details and use."""
