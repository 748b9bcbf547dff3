"""Repeats recorded actions and parses recorded replies again, and compares the results with the record."""
