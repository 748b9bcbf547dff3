"""Data classes for results: summaries, comparisons, standings, cross-play, trainings."""
