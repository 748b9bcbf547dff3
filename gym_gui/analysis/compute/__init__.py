"""Computes the statistics of reports from recorded runs."""
