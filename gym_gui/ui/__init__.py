"""The PyQt6 window; nothing outside this package imports Qt."""
