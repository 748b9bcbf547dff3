"""What is known of trainings: names, groups, presets, curves, leagues, films."""
