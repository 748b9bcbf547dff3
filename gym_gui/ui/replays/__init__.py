"""Recorded episodes in the window: picked, scrubbed, with their steps and transcripts beside them."""
