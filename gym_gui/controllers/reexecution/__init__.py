"""Plays recorded actions and reads recorded replies again, and compares the results with the record."""
