"""Operators side by side: their cards, their settings, and experiments from a file."""
