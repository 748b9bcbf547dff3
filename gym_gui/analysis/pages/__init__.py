"""Renders reports, transcripts and films as HTML, and summaries for notebooks."""
