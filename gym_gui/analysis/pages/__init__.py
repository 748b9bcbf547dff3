"""Renders reports, transcripts and replays of episodes as HTML, and summaries for notebooks."""
