"""Data classes for findings: comparisons, standings, cross-play, trainings."""
