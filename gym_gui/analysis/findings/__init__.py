"""What was found out, as data: comparisons, standings, cross-play, trainings."""
