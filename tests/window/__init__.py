"""The real program on a real display, used with keys and mouse alone."""
