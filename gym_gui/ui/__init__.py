"""The window (PyQt6). Nothing outside this package imports Qt."""
