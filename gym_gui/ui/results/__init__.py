"""Widgets of the Results page: the list of runs, the comparison and the replay."""
