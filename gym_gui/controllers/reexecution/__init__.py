"""Recorded actions and replies once more, compared with the record."""
