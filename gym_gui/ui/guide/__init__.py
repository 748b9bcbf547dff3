"""The guide beside the pages of the window."""
