"""Shared code of workers that train: command line, settings, reports, state, evaluation, videos."""
