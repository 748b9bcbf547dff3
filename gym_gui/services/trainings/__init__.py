"""Properties of trainings: titles, groups, presets, curves, leagues, films and estimates."""
