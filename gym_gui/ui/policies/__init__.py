"""Trained policies in the window: list, import, details and use."""
