"""What workers that train share: their command line, settings, reports, state, evaluation, films."""
