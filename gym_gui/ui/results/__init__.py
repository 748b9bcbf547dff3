"""The parts of the Results page: the list of runs, the comparison, the replay."""
