"""The guide beside the window."""
