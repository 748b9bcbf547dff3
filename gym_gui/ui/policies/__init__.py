"""Trained policies in the window: listed, imported, opened, used."""
