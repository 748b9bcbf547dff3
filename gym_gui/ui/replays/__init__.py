"""Replay of recorded episodes: pickers, pictures, scrub bar, table of steps and transcript."""
