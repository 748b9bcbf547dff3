"""Reads experiment files: literal data here, programs in a process of their own."""
