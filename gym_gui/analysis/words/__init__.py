"""Formats results as text: verdicts as sentences, and numbers for reading."""
