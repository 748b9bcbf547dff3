"""Replay of recorded episodes: pickers, stages, scrub bar, step table and transcript."""
